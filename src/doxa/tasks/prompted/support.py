"""support: what a model writes -> whether the turn, or the forest, says it.

Nothing that a model makes up gets into the tasks: a value stands in the turn, or in the forest now or earlier, or is
what the turn's own shift makes of the value before; a name is in the words of either; a quote stands in the turn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from doxa.core.tasks import NodeKind, TaskValue
from doxa.memory import stems
from doxa.tasks.adding import value_of
from doxa.tasks.amounts import Typed, read_values
from doxa.tasks.asking import asks
from doxa.tasks.changing import coerced
from doxa.tasks.moving import same_value, shifted
from doxa.tasks.phrases import Element, words_of
from doxa.tasks.scene import Scene
from doxa.tasks.shifts import Shift, number_in
from doxa.tasks.verbs import lexicon

__all__ = ["Refusal", "Support"]

LONGEST = 200
"""Characters of a name, a value or a condition."""
PROPOSING = re.compile(
    r"(?:(?:and|so|ok|okay|well|hmm|then|maybe) )*"
    r"(?:how about|what about|shall (?:we|i)|should we|why don't (?:we|you)|why not|(?:do you )?mind \w+ing|"
    r"is it ok(?:ay)? (?:if|to)|would it be (?:ok|okay|possible)|(?:can|could|may) i)\b"
)
"""A question that proposes a change: it is asked back, since it may be meant as one."""
DISTANCE = re.compile(r"\b(half an|\d+(?:\.\d+)?|[a-z]+) (minute|hour|day|night|week|month|year)s?\b", re.IGNORECASE)
LEAST_SHARED, MOSTLY = 4, 0.6
"""Letters, and share of the longer stem, in which two forms of a word agree."""
ARTICLE = re.compile(r"^(?:a|an|the|my|our)\s+(?=\S)", re.IGNORECASE)
PLAIN = "start end destination note topic by for company return arrival departure per person".split()
"""Names of slots that nobody says, beside those of the lexicon."""


class Refusal(Exception):
    """An act of a model is not carried out. The reason repeats nothing that the model wrote."""


@dataclass(slots=True)
class Support:
    """What a turn and the forest before it say."""

    scene: Scene
    texts: list[str]
    """The turn, and what it may take its words from."""
    _names: frozenset[str] | None = field(default=None)

    def said(self, text: str) -> bool:
        """Tell whether all words of a text are in the turn."""
        words = words_of(text)
        known = {word for said in self.texts for word in words_of(said)}
        return bool(words) and set(words) <= known

    def quoted(self, quote: str) -> tuple[int, int]:
        """Return where a quote stands in the turn, whatever its marks, spaces and case.

        Raises:
            Refusal: it stands nowhere.
        """
        wanted = re.findall(r"\w+", quote.casefold().replace("’", "'"))
        words = [(found[0], *found.span()) for found in re.finditer(r"\w+", self.scene.text.casefold())]
        for at in range(len(words) - len(wanted) + 1 if wanted else 0):
            if [word for word, _, _ in words[at : at + len(wanted)]] == wanted:
                return words[at][1], words[at + len(wanted) - 1][2]
        raise Refusal("its quote is not in the turn")

    def wanted(self, quote: str) -> bool:
        """Hold the words of a changing act against the turn; tell whether they ask for it, and do not only propose it.

        Raises:
            Refusal: they are not in it, or are those of a question, which never changes anything.
        """
        start, end = self.quoted(quote)
        clauses = [one for one in self.scene.clauses if one.tokens]
        over = [one for one in clauses if one.tokens[0].start < end and start < one.tokens[-1].end] or clauses
        if not over or not all(asks(clause) for clause in over):
            return True
        if not any(PROPOSING.match(clause.lowered) for clause in over):
            raise Refusal("a question changes nothing")
        return False

    def name(self, text: object, kind: NodeKind) -> str:
        """Return a name for something new, or another name for something that is there.

        Args:
            text: what the model calls it.
            kind: of what it names: a slot may have a plain word for a name, and that of a slot or task may be another
                form of a word ("application" of "I am applying").

        Raises:
            Refusal: it is empty, too long, or in words that nobody said.
        """
        name = ARTICLE.sub("", _line(text).strip(" .,;:"))
        words = set(words_of(name))
        if not words:
            raise Refusal("a name is missing")
        if self.said(name):
            return name
        plain = _slot_words() if kind is NodeKind.SLOT else frozenset[str]()
        odd = words - self._known() - plain - {word for said in self.texts for word in words_of(said)}
        if odd and (kind is NodeKind.ITEM or not all(self._akin(word) for word in odd)):
            raise Refusal("a name is neither in the turn nor in the tasks")
        return name

    def _akin(self, word: str) -> bool:
        """Tell whether a word is another form of one that was said: "application", "departure"."""
        own = {stem for said in self.texts for stem in stems(said)}
        return any(_alike(one, other) for one in stems(word) for other in own)

    def value(self, text: object, old: TaskValue | None) -> TaskValue:
        """Return a value as the turn or the forest has it, or as a shift of the turn makes it of the old one.

        Raises:
            Refusal: nothing of this gives it.
        """
        said = _line(text)
        if not said:
            raise Refusal("a value is missing")
        typed = _whole(said, read_values(said, self.scene.at))
        if typed is not None and typed.shift is not None:
            return self._moved(typed.shift, old)
        value = self._in_turn(said, typed, old) or self._computed(typed, old) or self._in_forest(said)
        if value is None:
            raise Refusal("a value is neither in the turn nor in the tasks")
        return coerced(old, value)

    def distance(self, text: object) -> Shift:
        """Return how far what follows something is from it: "a day after", "two hours before", "".

        Raises:
            Refusal: no such distance is in the turn.
        """
        said = _line(text)
        if not said:
            return Shift(amount=0.0)
        if not self.said(said):
            raise Refusal("a distance is not in the turn")
        found = DISTANCE.search(said)
        number = number_in("one" if found[1].lower() == "the" else found[1]) if found is not None else None
        if found is None or number is None:
            raise Refusal("a distance is no length of time")
        back = re.search(r"\b(?:before|earlier|ahead|prior|sooner)\b", said, re.IGNORECASE)
        return Shift(amount=-number if back else number, unit=found[2].lower())

    def _moved(self, shift: Shift, old: TaskValue | None) -> TaskValue:
        told = (one.shift for one in self.scene.typed if one.shift is not None)
        if not any(_agree(shift, one) for one in told):
            raise Refusal("an amount is not in the turn")
        moved = shifted(old, shift) if old is not None and shift.sure else None
        if moved is None:
            raise Refusal("there is nothing that could be moved by that amount")
        return moved

    def _in_turn(self, said: str, typed: Typed | None, old: TaskValue | None) -> TaskValue | None:
        """Return a value in the form that the turn has it; a part of it may be that of the old one ("Mill Lane 81")."""
        words = set(words_of(said))
        for one in self.scene.typed:
            if one.value is None:
                continue
            alike = typed is not None and same_value(typed.value, one.value)
            if alike or words == set(words_of(self.scene.text[one.start : one.end])):
                return one.value
        if not self.said(said) and not words <= self._words(old):
            return None
        return typed.value if typed is not None and typed.value is not None else value_of(Element(text=said))

    def _words(self, old: TaskValue | None) -> set[str]:
        """Return the words of the turn and of an old value."""
        return {word for said in (*self.texts, old.text if old is not None else "") for word in words_of(said)}

    def _computed(self, typed: Typed | None, old: TaskValue | None) -> TaskValue | None:
        """Return the old value moved by a shift of the turn, where that is what the model says."""
        if typed is None or typed.value is None or old is None:
            return None
        moved = (shifted(old, one.shift) for one in self.scene.typed if one.shift is not None and one.shift.sure)
        return next((value for value in moved if value is not None and same_value(value, typed.value)), None)

    def _in_forest(self, said: str) -> TaskValue | None:
        """Return the value of that text that stands somewhere, or stood there."""
        wanted = said.casefold()
        for commit in reversed(self.scene.editor.forest.commits):
            for edit in commit.edits:
                value = edit.after.value if edit.after is not None else None
                if value is not None and value.text.casefold() == wanted:
                    return value
        return None

    def _known(self) -> frozenset[str]:
        """Return the words of all names in the forest. Cost: O(nodes), once a turn."""
        if self._names is None:
            nodes = self.scene.editor.forest.nodes.values()
            names = (name for node in nodes for name in (node.name, *node.aliases))
            self._names = frozenset(word for name in names for word in words_of(name))
        return self._names


def _alike(one: str, other: str) -> bool:
    """Tell whether two stems open alike, for most of their length."""
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= LEAST_SHARED and shared >= MOSTLY * max(len(one), len(other))


@cache
def _slot_words() -> frozenset[str]:
    """Return the words that name a slot without being said."""
    known = lexicon()
    names = [*known["slot_words"], *known["verb_slots"].values(), *PLAIN]
    names += [phrase for phrases in known["slot_words"].values() for phrase in phrases]
    return frozenset(word for name in names for word in words_of(name))


def _whole(said: str, found: Sequence[Typed]) -> Typed | None:
    """Return the one typed value that a text is, but for a small word before it."""
    if len(found) != 1:
        return None
    rest = f"{said[: found[0].start]} {said[found[0].end :]}".split()
    small = {"at", "on", "by", "to", "the", "for", "in", "a", "an"}
    return found[0] if all(word.lower() in small for word in rest) else None


def _agree(one: Shift, told: Shift) -> bool:
    """Tell whether two shifts are the same; one whose direction is not said has either."""
    same = one.unit.rstrip("s") == told.unit.rstrip("s") and abs(one.amount) == abs(told.amount)
    return same and (not told.sure or one.amount == told.amount)


def _line(text: object) -> str:
    if not isinstance(text, str):
        return ""
    line = " ".join(text.split())
    if len(line) > LONGEST:
        raise Refusal(f"a text is longer than {LONGEST} characters")
    return line
