"""Questions that ask through other questions: "Where does the man who owns Rex live?" asks first who owns Rex.

A question is read by its words and their classes, not by its tree: parsers lose their way in clauses that stand inside
a question. Where such a clause may end at several words, several plans are given; the memory tells which was meant,
since it has no answer to the others.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.backends.parser import Parser
from doxa.core.plans import HOLE, Join, Plan
from doxa.language.syntax import Tree, trees
from doxa.language.verbs import base_of, forms_of
from doxa.language.words import SUBJECTS
from doxa.understand.comparisons import compared
from doxa.understand.referents import kin_of
from doxa.understand.text import sentences

__all__ = ["plans_of"]

MOST = 6
"""Plans that are given of one question."""
NAMING = re.compile(r"(?:who|what|which one) (?:is|are|was|were) \{\}\?", re.IGNORECASE)
"""Asks for nothing but what is described."""
THIRD = frozenset("he she it they".split())
ATTRIBUTES = frozenset(["name", "names", "age", "birthday", "first", "last"])
"""Nouns for what is asked of somebody, who is none himself."""
OWNERS = {"my": "my", "your": "your", "his": "his", "her": "her", "our": "our", "their": "their", "its": "its"}


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("parts.toml").read_text(encoding="utf-8"))


@cache
def _words(kind: str) -> frozenset[str]:
    return frozenset(_table()["words"][kind].split())


def plans_of(text: str, parser: Parser) -> tuple[Plan, ...]:
    """Return the ways to answer a question by others, the likeliest first; none for one that asks for one thing.

    Args:
        text: the question.
        parser: tells the classes of its words.

    Cost: one parse, which is remembered. Plans are guesses: each is worth what the memory answers to it.

    Raises:
        BackendError: the parser failed.
    """
    written = next((s.text for s in sentences(text) if s.text), text).strip().rstrip("?").strip()
    found = list(compared(written))
    tree = next(trees(f"{written[:1].upper()}{written[1:]}?", parser), None)
    if tree is not None and tree.words:
        asked = _Asked(tree, [place for place in range(len(tree.words)) if tree.upos(place) != "PUNCT"])
        found += [*asked.described(), *asked.timed(), *asked.roles()]
    return tuple(dict.fromkeys(found))[:MOST]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question as words; `tokens` are the places of those that are no punctuation, in order."""

    tree: Tree
    tokens: list[int]

    def described(self) -> Iterator[Plan]:
        """Yield plans for what a clause describes ("the company where Leo works"), the innermost clause first."""
        for start, end in reversed(list(self._phrases())):
            after = end + 1
            marker = self.form(after) if after < len(self.tokens) and self.form(after) in _words("markers") else ""
            clause = after + 1 if marker else after
            if clause >= len(self.tokens) or (not marker and not self._opens_clause(clause)):
                yield from self._put_off(start, end)
                continue
            verb = self._verb(clause, len(self.tokens))
            if marker and (verb is None or self._goes_on(clause, verb)):
                verb = self._spoken(clause) or verb
            if verb is None:
                continue
            for stop in self._ends(start, verb):
                query = self._query(start, end, marker, clause, stop)
                rest = _asked(f"{self.text(0, start)} {HOLE} {self.text(stop, len(self.tokens))}")
                if query:
                    yield Plan(
                        kind="chain", asks=(query,), rest=HOLE if NAMING.fullmatch(rest) else rest, noun=self.form(end)
                    )

    def _put_off(self, start: int, end: int) -> Iterator[Plan]:
        """Yield the plan for a clause that stands behind the verb ("is the company based where Leo works")."""
        for place in range(end + 2, len(self.tokens) - 1):
            marker = self.form(place)
            if marker in _words("markers") and self.tree.upos(self.tokens[place - 1]) == "VERB":
                if any(first > end for first, _ in self._phrases() if first < place):
                    return
                query = self._query(start, end, marker, place + 1, len(self.tokens))
                rest = f"{self.text(0, start)} {HOLE} {self.text(end + 1, place)}"
                if query and self._verb(place + 1, len(self.tokens)) is not None:
                    yield Plan(kind="chain", asks=(query,), rest=_asked(rest))
                return

    def timed(self) -> Iterator[Plan]:
        """Yield the plan for a time that a clause tells ("when I worked at Mareluz")."""
        for place in range(2, len(self.tokens) - 2):
            marker, before = self.form(place), self.form(place - 1)
            if marker not in _words("times") or before in ("or", "the", "right", "and") or self.form(place + 1) == "or":
                continue
            verb = self._verb(place + 1, len(self.tokens))
            if verb is None or verb == place + 1:
                continue
            subject = self._subject()
            clause = self.text(place + 1, len(self.tokens))
            if self.form(place + 1) in THIRD and subject:
                rest = self.text(place + 2, len(self.tokens))
                inverted = self._inverted(place + 1, len(self.tokens), subject=subject)
            else:
                rest, inverted = clause, self._inverted(place + 1, len(self.tokens))
            join: Join = "before" if marker == "before" else "after" if marker == "after" else "during"
            if inverted and rest:
                yield Plan(kind="chain", asks=(f"When {inverted}?",), rest=_asked(self.text(0, place)), join=join)
            return

    def roles(self) -> Iterator[Plan]:
        """Yield plans for what is only named by its role ("Leo's employer", "the owner of Rex")."""
        for start, end in reversed(list(self._phrases(bare=True))):
            noun, end = self._noun(end)
            owner, first = self._owner(start, end)
            if not owner:
                continue
            whole = end + 1
            if self.form(end + 1) == "of":
                whole = self._name_end(end + 2)
            rest = _asked(f"{self.text(0, first)} {HOLE} {self.text(whole, len(self.tokens))}")
            if not re.sub(r"\W|\b(?:who|what|is|are|was|were)\b", "", rest.casefold()):
                continue  # nothing else is asked
            vague = owner.split()[0] in ("the", "a", "an")
            known = () if vague else _table()["roles"].get(noun, ())
            asks = [_agreeing(_about(query, owner)) for query in known]
            if not vague and noun not in ATTRIBUTES and owner not in ("I", "we") and (kin_of(noun) or not known):
                asks.insert(0, f"Who is {_owned(owner)} {self._called(start, end)}?")
            if vague and self.form(end + 1) == "of":
                asks.append(f"Who is {self.text(start, whole)}?")
            for query in asks:
                yield Plan(kind="chain", asks=(query,), rest=rest, needed=False)

    def _noun(self, end: int) -> tuple[str, int]:
        """Return the noun that ends a phrase, and where it ends ("sister-in-law" is one)."""
        if (self.form(end + 1), self.form(end + 2)) == ("in", "law"):
            return f"{self.form(end)}-in-law", end + 2
        return self.form(end), end

    def _called(self, start: int, end: int) -> str:
        """Return the noun of a role with what stands before it ("best friend")."""
        first = start + 1 if self.form(start) in _words("determiners") else start
        return self.text(first, end + 1)

    def _owner(self, start: int, end: int) -> tuple[str, int]:
        """Return whose a noun is, and where the phrase with its owner begins; empty for nobody's."""
        opening = self.form(start)
        if opening in OWNERS and end > start:
            return ("I" if opening == "my" else "we" if opening == "our" else "", start)
        if self.form(end + 1) == "of" and opening == "the":
            stop = self._name_end(end + 2)
            return (self.text(end + 2, stop), start) if stop > end + 2 else ("", start)
        if start >= 2 and self.form(start - 1) in ("'s", "’s", "'"):
            first = start - 2
            while first > 0 and self.tree.upos(self.tokens[first - 1]) == "PROPN":
                first -= 1
            if first > 0 and self.form(first - 1) in OWNERS:
                first -= 1
            return self.text(first, start - 1), first
        return "", start

    def _name_end(self, place: int) -> int:
        """Return where a name or a possession that begins at a place ends."""
        while place < len(self.tokens) and self.tree.upos(self.tokens[place]) in ("PROPN", "DET", "PRON", "ADJ"):
            if place and self._is_title(place - 1) and not self._is_title(place):
                break
            place += 1
        if (
            place < len(self.tokens)
            and self.form(place - 1) in (*OWNERS, "the")
            and self.tree.upos(self.tokens[place]) in ("NOUN", "PROPN")
        ):
            place += 1
        return place

    def _is_title(self, place: int) -> bool:
        """Tell whether a word inside the question begins with a capital: "The Salt Road" is one name."""
        return place > 0 and self.tree.spell([self.tokens[place]])[:1].isupper()

    def _phrases(self, *, bare: bool = False) -> Iterator[tuple[int, int]]:
        """Yield first and last word of noun phrases with an article or owner; `bare`: behind "'s" as well."""
        for place in range(1, len(self.tokens)):
            if self._is_title(place) and self.form(place) in _words("determiners"):
                continue  # "The Salt Road"
            if self.form(place) in _words("determiners") or (bare and self.form(place - 1) in ("'s", "’s", "'")):
                last = place if self.form(place) not in _words("determiners") else place + 1
                while last < len(self.tokens) and self.tree.upos(self.tokens[last]) in ("ADJ", "NUM"):
                    last += 1
                while last + 1 < len(self.tokens) and self._compound(last):
                    last += 1
                if last < len(self.tokens) and self.tree.upos(self.tokens[last]) in ("NOUN", "PRON", "PROPN"):
                    yield place, last

    def _compound(self, place: int) -> bool:
        """Tell whether a noun and the next make one name ("roof garden")."""
        both = (self.tree.upos(self.tokens[place]), self.tree.upos(self.tokens[place + 1]))
        return both == ("NOUN", "NOUN") and base_of(self.form(place + 1), "base") is None

    def _opens_clause(self, place: int) -> bool:
        """Tell whether a clause without a marker begins here: "(the man) | my sister lives with"."""
        here = self.tree.upos(self.tokens[place])
        if self.form(place) in SUBJECTS:
            return self._is_verb(place + 1)
        if here == "PROPN" or self.form(place) in OWNERS:
            verb = self._verb(place, min(place + 5, len(self.tokens)))
            return verb is not None and verb > place
        return False

    def _verb(self, start: int, stop: int) -> int | None:
        """Return the first verb from a place on."""
        return next((place for place in range(start, stop) if self._is_verb(place)), None)

    def _spoken(self, clause: int, stop: int | None = None) -> int | None:
        """Return the word behind the subject of a clause that is a verb by its form ("that Rafi | coaches")."""
        end = len(self.tokens) if stop is None else stop
        forms = (place for place in range(clause + 1, end) if self.tree.upos(self.tokens[place]) == "NOUN")
        return next((place for place in forms if base_of(self.form(place), "third", "past") is not None), None)

    def _goes_on(self, clause: int, verb: int) -> bool:
        """Tell whether the first verb is that of the question, so that a noun before it is the clause's own verb."""
        auxiliary = next((place for place in range(min(clause, 7)) if self._auxiliary(place)), None)
        last = verb == len(self.tokens) - 1
        return last and auxiliary is not None and self.form(auxiliary) in _words("weak")

    def _is_verb(self, place: int) -> bool:
        if place >= len(self.tokens):
            return False
        return self.tree.upos(self.tokens[place]) in ("VERB", "AUX")

    def _ends(self, start: int, verb: int) -> list[int]:
        """Return where a clause whose first verb is known may end, the likeliest first.

        A description behind the verb of the question goes to its end; one between the auxiliary and the verb goes up to
        the verb, which is in the base form after "do" and a participle or an adjective after "be".
        """
        end = len(self.tokens)
        auxiliary = next((place for place in range(min(start, 7)) if self._auxiliary(place)), None)
        main = auxiliary is not None and any(
            self.tree.upos(self.tokens[place]) == "VERB" for place in range(auxiliary + 1, start)
        )
        if auxiliary is None or main:
            return [end]
        after = verb + 1
        while after < end and self.tree.upos(self.tokens[after]) in ("AUX", "PART"):
            after += 1
        found = [place for place in range(after, end) if self._may_be_main(auxiliary, verb, place)]
        found.sort(key=lambda place: self.form(place - 1) == "to" and base_of(self.form(place - 2), "base") is not None)
        return [*found[:2], end] if self.form(auxiliary) not in _words("weak") else found[:3] or [end]

    def _auxiliary(self, place: int) -> bool:
        return any(self.form(place) in _words(kind) for kind in ("weak", "be", "have", "modal"))

    def _may_be_main(self, auxiliary: int, verb: int, place: int) -> bool:
        """Tell whether the question may go on with its main verb here."""
        form, upos = self.form(place), self.tree.upos(self.tokens[place])
        if self.form(auxiliary) in _words("be"):
            return upos == "ADJ" or (upos == "VERB" and base_of(form, "participle", "gerund") is not None)
        if self.form(auxiliary) in _words("have"):
            return base_of(form, "participle") is not None
        if form == self.form(verb) and place == verb:
            return False
        return base_of(form, "base") is not None or (upos == "VERB" and self.tree.lemma(self.tokens[place]) == form)

    def _query(self, start: int, end: int, marker: str, clause: int, stop: int) -> str:
        """Return what asks for the thing that a clause describes; empty where the clause cannot be read."""
        if stop <= clause:
            return ""
        noun = self.text(start + 1, end + 1)
        person = marker in ("who", "whom") or self.form(end) in _words("people") or kin_of(self.form(end)) is not None
        asking = "Who" if person else f"Which {noun}"
        if marker == "whose":
            called = re.fullmatch(r"(.+?) (?:is|was) (?:called|named) (.+)", self.text(clause, stop))
            return f"Who has a {called[1]} called {called[2]}?" if called else f"Whose {self.text(clause, stop)}?"
        if self._is_verb(clause) or (marker and self.tree.upos(self.tokens[clause]) == "ADV"):
            return f"{asking} {self.text(clause, stop)}?"
        if marker == "where":
            asking = "Where"
        inverted = self._inverted(clause, stop)
        return f"{asking} {inverted}?" if inverted else ""

    def _inverted(self, start: int, stop: int, subject: str = "") -> str:
        """Return a clause as it stands in a question ("Leo works for" -> "does Leo work for")."""
        verb = self._verb(start, stop)
        if verb is None:
            verb = self._spoken(start, stop)
        if verb is None or verb == start:
            return ""
        who = subject or self.text(start, verb)
        form, behind = self.form(verb), self.text(verb + 1, stop)
        plain = self._auxiliary(verb) and form not in _words("have") | _words("weak")
        if plain or (self._auxiliary(verb) and self._is_verb(verb + 1) and verb + 1 < stop):
            return f"{form} {who} {behind}".strip()
        forms = {kind: base for base, kind in forms_of(form)}
        base = self.tree.lemma(self.tokens[verb])
        if "past" in forms or (not forms and form.endswith("ed")):
            return f"did {who} {forms.get('past', base)} {behind}".strip()
        if "third" in forms or (not forms and form.endswith("s")):
            return f"does {who} {forms.get('third', base)} {behind}".strip()
        return f"do {who} {forms.get('base', base)} {behind}".strip()

    def _subject(self) -> str:
        """Return whom the question speaks of: the words between its auxiliary and its verb."""
        auxiliary = next((place for place in range(min(4, len(self.tokens))) if self._auxiliary(place)), None)
        verb = None if auxiliary is None else self._verb(auxiliary + 1, len(self.tokens))
        if auxiliary is None or verb is None or self.form(auxiliary + 1) in SUBJECTS:
            return ""
        return self.text(auxiliary + 1, verb)

    def form(self, place: int) -> str:
        return self.tree.form(self.tokens[place]) if 0 <= place < len(self.tokens) else ""

    def text(self, start: int, stop: int) -> str:
        """Return words as text, with the hyphens between them."""
        if start >= stop:
            return ""
        places = range(self.tokens[start], self.tokens[stop - 1] + 1)
        return self.tree.spell([place for place in places if place in self.tokens or self.tree.form(place) in "-/&"])


def _asked(text: str) -> str:
    """Return words as a question."""
    text = re.sub(r"\s+", " ", text).strip()
    return f"{text[:1].upper()}{text[1:]}?"


def _owned(owner: str) -> str:
    return {"I": "my", "we": "our"}.get(owner, f"{owner}'s")


def _about(query: str, owner: str) -> str:
    """Return a question about somebody ("{}") or somebody's ("{'s}")."""
    return query.replace("{'s}", _owned(owner)).replace(HOLE, owner)


def _agreeing(query: str) -> str:
    """Return a question whose subject may be "I" with the right form of its verb."""
    query = re.sub(r"\bdoes (I|we)\b", r"do \1", query)
    query = re.sub(r"\bis I\b", "am I", query)
    return re.sub(r"\bwas we\b", "were we", query)
