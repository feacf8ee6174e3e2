"""support: what a model writes -> whether the turn, or the forest, says it.

Nothing that a model makes up gets into the tasks. Every word and number of a value stands in the turn, in what was said
just before, or in the value before, or the value stands in the forest as a whole, or is what the turn's own shift makes
of the value before. A name is in the words of all these; what a slot is called is a plain word of the model's. The form
may be another one: what counts are words and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from doxa.core.tasks import NodeKind, TaskCommit, TaskNode, TaskValue, ValueKind
from doxa.language import stems
from doxa.language.times import Amount, read_numbers, read_times
from doxa.tasks.adding import value_of
from doxa.tasks.amounts import CURRENCY, Typed, read_values
from doxa.tasks.changing import coerced
from doxa.tasks.moving import same_value, shifted
from doxa.tasks.phrases import Element, words_of
from doxa.tasks.prompted.shapes import UNITS
from doxa.tasks.scene import Scene
from doxa.tasks.shifts import FACTORS, Shift, number_in

__all__ = ["Refusal", "Support"]

LONGEST_ANSWER = 1000
"""Characters of an answer."""
LOOKED_BACK = 200
"""Commits whose values an answer may name."""
LONGEST = 200
"""Characters of a name, a value or a condition."""
LEAST_SHARED, MOSTLY = 4, 0.6
"""Letters, and share of the longer stem, in which two forms of a word agree."""
ARTICLE = re.compile(r"^(?:a|an|the|my|our)\s+(?=\S)", re.IGNORECASE)
LABEL = re.compile(r"[a-z]+(?:[ -][a-z]+){0,3}")
"""What a slot may be called though nobody said it: a few words in small letters, so no name and no number."""


TIMES = {**FACTORS, "doubled": 2.0, "twice": 2.0, "tripled": 3.0, "halved": 0.5}
"""Values that are so many times the one before."""
TIMED = frozenset((*UNITS, "fortnight"))
FREE = frozenset(("am", "pm", "me"))
"""Words of values that a model may say in place of others: the half of the day, and who speaks."""
MORE = re.compile(r".+\s(?P<way>more|less|fewer)", re.IGNORECASE)
"""Changes by any number, also by one of several words."""
REQUESTING = frozenset("can could may might will would".split())
"""What a question opens with that may be a request."""
HALF = re.compile(r"\d\s*[ap]\.?m\b|morning|evening|night|noon", re.IGNORECASE)


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
        """Tell whether all words and numbers of a text are in the turn, or in what it may take its words from."""
        return self._drawn(text, self.texts)

    def quoted(self, quote: str) -> tuple[int, int]:
        """Return where a quote stands in the turn, whatever its marks, spaces and case; words may be left out of it.

        Raises:
            Refusal: it stands nowhere.
        """
        wanted = _tokens(quote)
        found: list[tuple[int, int]] = []
        rest = [(word[0], *word.span()) for word in re.finditer(r"\w+", self.scene.text.casefold())]
        for word in wanted:
            at = next((place for place, (said, _, _) in enumerate(rest) if said == word), None)
            if at is None:
                raise Refusal("its quote is not in the turn")
            found.append(rest[at][1:])
            rest = rest[at + 1 :]
        if not found:
            raise Refusal("it has no quote")
        return found[0][0], found[-1][1]

    def asked(self, quote: str) -> bool:
        """Tell whether the words of a changing act are those of a question with its mark, which changes nothing.

        Whether one that opens with a modal is a request ("May I have two?") is for the model to say.

        Raises:
            Refusal: they are not in the turn.
        """
        start, end = self.quoted(quote)
        clauses = [one for one in self.scene.clauses if one.tokens]
        over = [one for one in clauses if one.tokens[0].start < end and start < one.tokens[-1].end] or clauses
        marked = "?" in self.scene.text[start : over[-1].tokens[-1].end + 2] if over else False
        return marked and all(one.mood == "question" and one.tokens[0].lower not in REQUESTING for one in over)

    def borne_out(self, answer: str) -> bool:
        """Tell whether all numbers and names of an answer are in the tasks, now or earlier, or in what was said."""
        forest = self.scene.editor.forest
        nodes = [
            *forest.nodes.values(),
            *(node for commit in forest.commits[-LOOKED_BACK:] for node in _touched(commit)),
        ]
        values = [node.value.text for node in nodes if node.value is not None]
        told = [*self.texts, *(node.name for node in nodes), *values]
        known, figures = _words(told), _figures(told)
        inner = re.findall(r"(?<![.!?:] )(?<!^)\b[A-Z]\w+", answer)
        named = {word for name in inner for word in words_of(name)}
        return named <= known and _figures([answer]) <= figures and len(answer) <= LONGEST_ANSWER

    def name(self, text: object, kind: NodeKind) -> str:
        """Return a name for something new, or another name for something that is there.

        Args:
            text: what the model calls it.
            kind: of what it names: a slot may have a plain word for a name, and a task another form of a word that
                was said ("application" of "I am applying").

        Raises:
            Refusal: it is empty, too long, or in words that nobody said.
        """
        name = ARTICLE.sub("", line(text).strip(" .,;:"))
        if not words_of(name):
            raise Refusal("a name is missing")
        if self.said(name) or (kind is NodeKind.SLOT and LABEL.fullmatch(name)):
            return name
        odd = self._odd(name, _words(self.texts) | self._known(), _figures(self.texts))
        if odd and (kind is NodeKind.ITEM or not all(self._akin(word) for word in odd)):
            raise Refusal("a name is neither in the turn nor in the tasks")
        return name

    def value(self, text: object, old: TaskValue | None) -> TaskValue:
        """Return a value as the turn or the forest has it, or as a shift of the turn makes it of the old one.

        Args:
            text: what the model says.
            old: the value before; its words and numbers may stay.

        Raises:
            Refusal: nothing of this gives it.
        """
        said = line(text)
        if not said:
            raise Refusal("a value is missing")
        typed = _whole(said, read_values(said, self.scene.at))
        if (shift := _shift_of(said, typed)) is not None and shift.unit != "factor":
            return self._moved(shift, old)
        if (factor := TIMES.get(said.casefold())) is not None and self.said(said):
            return self._moved(Shift(amount=factor, unit="factor"), old)
        value = self._in_turn(said, typed) or self._computed(typed, old) or self._in_forest(said)
        value = value or self._drawn_together(said, typed, old)
        if value is None:
            raise Refusal("a value is neither in the turn nor in the tasks")
        return coerced(old, value)

    def distance(self, amount: float, unit: str) -> Shift:
        """Return how far what follows something is from it, as far as the turn says that number, or so long a time.

        Raises:
            Refusal: it does not.
        """
        shift = Shift(amount=amount, unit=unit)
        if abs(amount) not in {0.0, 1.0, *_figures(self.texts)} and not self._lasts(shift):
            raise Refusal("a distance is not in the turn")
        return shift

    def _lasts(self, shift: Shift) -> bool:
        """Tell whether a length of time is said: two weeks are "a fortnight"."""
        if shift.unit.rstrip("s") not in TIMED:
            return False
        own = Amount(parts=((abs(shift.amount), shift.unit.rstrip("s")),)).seconds
        said = (one.value for text in self.texts for one in read_times(text, self.scene.at))
        return any(isinstance(one, Amount) and one.seconds == own for one in said)

    def _moved(self, shift: Shift, old: TaskValue | None) -> TaskValue:
        told = (one.shift for one in self.scene.typed if one.shift is not None)
        known = shift.unit == "factor" or abs(shift.amount) in _figures(self.texts) or self._lasts(shift)
        if not known and not any(_agree(shift, one) for one in told):
            raise Refusal("an amount is not in the turn")
        same = old is None or not _other_money(old, shift)
        moved = shifted(_counted(old), shift) if old is not None and shift.sure and same else None
        if moved is None:
            raise Refusal("there is nothing that could be moved by that amount")
        return moved

    def _in_turn(self, said: str, typed: Typed | None) -> TaskValue | None:
        """Return a value in the form that the turn has it."""
        words, figures = set(words_of(said)), _figures([said])
        spans = [(one, self.scene.text[one.start : one.end]) for one in self.scene.typed if one.value is not None]
        for one, own in spans:
            if words == set(words_of(own)):
                return one.value
        for one, own in spans:
            if typed is None or not figures <= _figures([own]):
                continue
            if same_value(typed.value, one.value):
                return one.value
            if _same_hour(typed.value, one.value, own):  # half of the day is for the model to say
                return typed.value
        return _plain(said, typed) if self.said(said) else None

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

    def _drawn_together(self, said: str, typed: Typed | None, old: TaskValue | None) -> TaskValue | None:
        """Return a value put together of words that were said: "Friday 5 pm" of "Friday 3 pm" and "make it 5".

        Its numbers are those of the turn or of the value before; its words may be those of the tasks as well.
        """
        told = [*self.texts, old.text if old is not None else ""]
        odd = self._odd(said, _words(told) | self._known() | FREE, _figures(told))
        return None if odd else _plain(said, typed)

    def _drawn(self, text: str, told: Sequence[str]) -> bool:
        words = words_of(text)
        known = _words(told)
        return bool(words) and (set(words) <= known or not self._odd(text, known, _figures(told)))

    def _odd(self, text: str, known: Iterable[str], figures: Iterable[float]) -> list[str]:
        """Return the words and numbers of a text that are not among others; small words are free beside others."""
        known, figures = set(known), set(figures)
        words = words_of(text)
        telling = [word for word in words if stems(word)]
        return [word for word in telling or words if word not in known and _figure(word) not in figures]

    def _akin(self, word: str) -> bool:
        """Tell whether a word is another form of one that was said: "application", "departure"."""
        own = {stem for said in self.texts for stem in stems(said)}
        return any(_alike(one, other) for one in stems(word) for other in own)

    def _known(self) -> frozenset[str]:
        """Return the words of all names and values in the forest, no numbers. Cost: O(nodes), once a turn."""
        if self._names is None:
            nodes = self.scene.editor.forest.nodes.values()
            names = [name for node in nodes for name in (node.name, *node.aliases)]
            values = [node.value.text for node in nodes if node.value is not None]
            self._names = _words(names) | {word for word in _words(values) if _figure(word) is None}
        return self._names


def line(text: object) -> str:
    """Return a text as one line.

    Raises:
        Refusal: it is too long.
    """
    if not isinstance(text, str):
        return ""
    found = " ".join(text.split())
    if len(found) > LONGEST:
        raise Refusal(f"a text is longer than {LONGEST} characters")
    return found


def _plain(said: str, typed: Typed | None) -> TaskValue:
    return typed.value if typed is not None and typed.value is not None else value_of(Element(text=said))


def _tokens(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold().replace("’", "'"))


def _touched(commit: TaskCommit) -> Iterator[TaskNode]:
    """Give what a commit changed, as it was before and after."""
    for edit in commit.edits:
        yield from (node for node in (edit.before, edit.after) if node is not None)


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for said in texts for word in words_of(said))


def _figures(texts: Iterable[str]) -> frozenset[float]:
    """Return the numbers of texts, in digits or words."""
    found = {number for text in texts for _, _, number in read_numbers(text)}
    return frozenset(found | {figure for word in _words(texts) if (figure := _figure(word)) is not None})


def _figure(word: str) -> float | None:
    """Return the number that a word is; None for a word."""
    return number_in(word) if word[:1].isdigit() or read_numbers(word) else None


def _alike(one: str, other: str) -> bool:
    """Tell whether two stems open alike, for most of their length."""
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= LEAST_SHARED and shared >= MOSTLY * max(len(one), len(other))


def _whole(said: str, found: Sequence[Typed]) -> Typed | None:
    """Return the one typed value that a text is, but for a small word before it."""
    if len(found) != 1:
        return None
    rest = f"{said[: found[0].start]} {said[found[0].end :]}".split()
    small = {"at", "on", "by", "to", "the", "for", "in", "a", "an"}
    return found[0] if all(word.lower() in small for word in rest) else None


def _shift_of(said: str, typed: Typed | None) -> Shift | None:
    """Return the change by an amount that a value is: its number is the whole one ("ten thousand less")."""
    shift = typed.shift if typed is not None else None
    more = MORE.fullmatch(said)
    numbers = read_numbers(said)
    if more is None or len(numbers) != 1 or numbers[0][0] or (shift is not None and shift.unit in TIMED):
        return shift
    sign = -1.0 if more["way"].lower() in ("less", "fewer") else 1.0
    return Shift(amount=sign * numbers[0][2], unit=said[numbers[0][1] : more.start("way")].strip())


def _other_money(value: TaskValue, shift: Shift) -> bool:
    """Tell whether an amount is in another currency than a price, or in its hundredths."""
    own, other = value.unit.rstrip("s"), shift.unit.casefold().rstrip("s")
    return bool(own) and own != other and re.fullmatch(CURRENCY, shift.unit, re.IGNORECASE) is not None


def _same_hour(one: TaskValue | None, other: TaskValue | None, said: str) -> bool:
    """Tell whether two hours are the same but for the half of the day, of which the turn says nothing."""
    if one is None or other is None or not one.kind is other.kind is ValueKind.CLOCK or HALF.search(said):
        return False
    return ((one.amount or 0.0) - (other.amount or 0.0)) % 720 == 0


def _counted(value: TaskValue) -> TaskValue:
    """Return words that begin with a number as that many of something: "10 tables"."""
    numbers = read_numbers(value.text) if value.amount is None else []
    if not numbers or numbers[0][0]:
        return value
    _, end, amount = numbers[0]
    return replace(value, kind=ValueKind.QUANTITY, amount=float(amount), unit=value.text[end:].strip())


def _agree(one: Shift, told: Shift) -> bool:
    """Tell whether two shifts are the same; one whose direction is not said has either."""
    same = one.unit.rstrip("s") == told.unit.rstrip("s") and abs(one.amount) == abs(told.amount)
    return same and (not told.sure or one.amount == told.amount)
