"""A turn -> its sentences, each with what it says: frames read off the dependency tree.

Nothing is rewritten: places are those of the turn as it was typed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

from doxa.backends.parser import Parse, Parser, Word, split
from doxa.core.values import Interval, Turn
from doxa.language.amounts import Number, numbers_of, unit_named
from doxa.language.sentence import Argument, Frame, Sentence
from doxa.language.stemming import stems
from doxa.language.syntax import Tree, base
from doxa.language.times import Clock, TimeSpan, find_times, read_times
from doxa.language.words import PRONOUNS, QUANTIFIERS

__all__ = ["read_sentences"]

OPENS = frozenset(["conj", "advcl", "ccomp", "parataxis", "acl:relcl", "acl", "xcomp"])
"""Relations whose verb opens a clause of its own."""
OUTSIDE = frozenset(
    "conj acl:relcl acl parataxis cc appos nsubj cop nsubj:pass aux aux:pass advcl obl expl csubj obj".split()
)
"""Relations whose dependents are no part of a noun phrase."""
EACH = frozenset(["each", "every", "per", "a", "an", "any"])
MORE, FEWER = frozenset(["more", "extra", "additional", "another", "further"]), frozenset(["less", "fewer"])
NOMINAL = frozenset("obj iobj obl nmod appos dep conj dislocated parataxis nummod".split())
"""Relations whose dependents may be arguments."""
MODIFYING = frozenset("advmod amod compound flat".split())
"""Those whose dependents are arguments only as numbers."""
VAGUE = frozenset(["some", "few", "many", "several", "lot", "lots", "most", "all", "any", "enough", "various", "much"])
FUTURE = frozenset(["will", "shall", "'ll", "going"])
NOT = frozenset(["not", "n't", "never", "no"])
IN_A_WEEK = re.compile(
    r"(?:in|after|within) (?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|\d+) \w+", re.I
)
DEFINITE = frozenset("the my our his her its their these those".split())
PARTICLES = frozenset("away off up out back in down on over".split())


def read_sentences(turn: Turn, parser: Parser) -> list[Sentence]:
    """Return the sentences of a turn with their frames. Cost: one parse of the turn, which a caching parser keeps.

    Raises:
        BackendError: the parser failed.
    """
    text = " ".join(turn.text.split("\n"))
    sentences = [words for words in split(text) if words]
    parses = parser.parse([[word.form for word in words] for words in sentences])
    found: list[Sentence] = []
    for number, (words, parse) in enumerate(zip(sentences, parses, strict=True)):
        start, end = words[0].start, words[-1].end
        own = text[start:end]
        moved = [Word(word.form, word.start - start, word.end - start) for word in words]
        reader = _Reader(turn, Tree(own, moved, _repaired(parse)), start)
        found.append(
            Sentence(
                turn=turn,
                text=own,
                start=start,
                number=number,
                frames=tuple(reader.frames()),
                question=own.rstrip().endswith("?"),
            )
        )
    return found


@cache
def _quantifiers() -> frozenset[str]:
    """Return stems that tell nothing of what a phrase names."""
    return frozenset(stems(" ".join(QUANTIFIERS)))


def _repaired(parse: Parse) -> Parse:
    """Return a tree in which a clause has one subject, and a number belongs to the unit behind it.

    A second subject right behind the first is its name ("my cousin Jonas"), as in `nsubj(born, cousin)`,
    `nsubj(born, Jonas)`; a number and a unit of one head are a measure ("1.90 m").
    """
    heads, rels = list(parse.heads), list(parse.deprels)
    for place in range(1, len(heads)):
        before = place - 1
        if heads[before] != heads[place] or heads[place] in (before, place):
            continue
        if rels[before].startswith("nsubj") and rels[place].startswith("nsubj") and parse.upos[before] == "NOUN":
            if parse.upos[place] == "PROPN":
                heads[place], rels[place] = before, "appos"
        elif parse.upos[before] == "NUM" and rels[before] == rels[place] and unit_named(parse.forms[place]):
            heads[before], rels[before] = place, "nummod"
    return replace(parse, heads=tuple(heads), deprels=tuple(rels))


@dataclass(slots=True)
class _Reader:
    """A parsed sentence on its way to frames; words are meant by their index."""

    turn: Turn
    tree: Tree
    start: int
    """Where the sentence begins in the turn."""
    numbers: dict[int, Number] = field(default_factory=dict)
    """The number that each word belongs to."""
    timed: set[int] = field(default_factory=set)
    """The words of dates and clock times."""
    when: Interval | None = None
    clock_min: int | None = None

    def __post_init__(self) -> None:
        text, words = self.tree.text, self.tree.words
        for span in find_times(text, self.turn.at):
            if (span.kind == "duration" and not re.search(r"\bago\b", span.text)) or self._is_no_date(span):
                continue
            if span.kind == "clock" or span.valid.start is not None or span.valid.end is not None:
                self.timed.update(self._within(span))
                if span.kind != "clock" and self.when is None:
                    self.when = span.valid
        for time in read_times(text, self.turn.at):
            if isinstance(time.value, Clock) and self.clock_min is None:
                self.clock_min = time.value.hour * 60 + time.value.minute
        for number in numbers_of(text):
            for i, word in enumerate(words):
                held = number.start <= word.start < number.end or word.start <= number.start < word.end
                if held and i not in self.timed and not (word.form == "one" and self.tree.upos(i) != "NUM"):
                    self.numbers.setdefault(i, number)

    def _within(self, span: TimeSpan) -> list[int]:
        return [i for i, word in enumerate(self.tree.words) if span.start <= word.start < span.end]

    def _is_no_date(self, span: TimeSpan) -> bool:
        """Tell whether what looks like a date is a name ("Jan has") or a length of time ("in a week")."""
        tree = self.tree
        if IN_A_WEEK.fullmatch(span.text):
            return True
        inside = self._within(span)
        return len(inside) == 1 and (
            self._base(inside[0]) in ("nsubj", "appos")
            or (
                tree.form(inside[0] - 1) in ("than", "and", "or", ",")
                and tree.form(inside[0]) in ("jan", "may", "april", "june", "august")
                and tree.upos(inside[0]) == "PROPN"
            )
        )

    def _base(self, place: int) -> str:
        return base(self.tree.relation(place))

    def _related(self, relations: Collection[str]) -> list[int]:
        tree = self.tree
        return [i for i in range(len(tree.words)) if tree.relation(i) in relations]

    def frames(self) -> Iterator[Frame]:
        """Yield the clauses, that of the root first."""
        for place, head in enumerate(self.tree.parse.heads):
            if head < 0 or (self._base(place) in OPENS and self._is_predicate(place)):
                yield self._frame(place)

    def _is_predicate(self, place: int) -> bool:
        tree = self.tree
        if tree.upos(place) == "VERB":
            return True
        return any(self._base(kid) in ("cop", "nsubj") or tree.relation(kid) == "aux:pass" for kid in tree.kids(place))

    def _frame(self, place: int) -> Frame:
        tree = self.tree
        kids, subject = tree.kids(place), self._subject(place)
        forms = {tree.form(kid) for kid in kids}
        copula = any(self._base(kid) == "cop" for kid in kids)
        verbal = tree.upos(place) in ("VERB", "AUX")
        verb = "be" if copula or not verbal else f"{tree.lemma(place)}{self._particle(place)}"
        state = tree.form(place) if (copula or not verbal) and tree.upos(place) in ("ADJ", "VERB", "ADV") else ""
        arguments: list[Argument] = []
        named = tree.upos(place) not in ("ADJ", "ADV", "VERB") or place in self.numbers
        if (copula or not verbal) and named:
            arguments.append(self._argument(place, "predicate"))
        for kid in kids:
            arguments.extend(self._arguments(kid, place, subject))
        words = frozenset(s for i in tree.under(place) if i not in self.numbers for s in stems(tree.lemma(i)))
        sign = 1 if forms & MORE and verbal else -1 if forms & FEWER and verbal else 0
        return Frame(
            start=self.start + tree.words[place].start,
            end=self.start + tree.words[place].end,
            verb=verb,
            state=state,
            subject=self._argument(subject, "subject") if subject is not None else None,
            arguments=tuple(arguments),
            negative=bool(forms & NOT),
            future=bool(forms & FUTURE)
            or (tree.form(place).endswith("ing") and bool(forms & {"am", "is", "are", "'re", "'m"})),
            passive=any(tree.relation(kid) in ("aux:pass", "nsubj:pass") for kid in kids),
            conditional=any(tree.relation(k) == "mark" and tree.form(k) in ("if", "unless") for k in kids),
            words=words,
            when=self.when,
            clock_min=self.clock_min,
            more=sign,
        )

    def _subject(self, place: int) -> int | None:
        """Return the subject of a predicate, that of the clause before where it has none of its own."""
        tree = self.tree
        kids = tree.kids(place)
        beside = [k for kid in kids if self._base(kid) == "cop" for k in tree.kids(kid)]
        subject = next((kid for kid in [*kids, *beside] if self._base(kid) == "nsubj"), None)
        expletive = any(self._base(kid) == "expl" for kid in kids)
        while subject is None and not expletive and self._base(place) in ("conj", "xcomp", "advcl"):
            place = tree.head(place)
            subject = next((kid for kid in tree.kids(place) if self._base(kid) == "nsubj"), None)
        return subject

    def _particle(self, place: int) -> str:
        """Return the particle of a verb with a blank before it; empty where it has none."""
        tree = self.tree
        for kid in tree.kids(place):
            if tree.relation(kid) == "compound:prt" or (self._base(kid) == "advmod" and tree.form(kid) in PARTICLES):
                return f" {tree.form(kid)}"
        return ""

    def _arguments(self, kid: int, place: int, subject: int | None) -> Iterator[Argument]:
        """Yield the noun phrases that a dependent of a predicate is or holds, with those that belong to it."""
        relation = self._base(kid)
        if kid in self.timed:
            return
        if relation == "nsubj":
            if kid == subject:
                yield from self._belonging(kid)
                for other in self._conjuncts(kid):
                    yield replace(self._argument(other, "subject"), role="and")
            return
        if relation not in NOMINAL | MODIFYING or not self._is_argument(kid, place):
            return
        if relation in MODIFYING and kid not in self.numbers:
            yield from self._belonging(kid)
            return
        role = {"obj": "object", "iobj": "to"}.get(relation) or self._case(kid)
        for other in [kid, *self._conjuncts(kid)]:
            yield self._argument(other, role)
            yield from self._belonging(other)

    def _is_argument(self, kid: int, place: int) -> bool:
        """Tell whether a dependent is no clause of its own, and no number that counts its head."""
        tree = self.tree
        relation, upos = self._base(kid), tree.upos(kid)
        if relation in ("conj", "parataxis", "appos"):
            return not self._is_predicate(kid) and upos in ("NOUN", "NUM", "PROPN", "SYM")
        counts = relation == "nummod" and kid in self.numbers
        return not counts or tree.upos(place) in ("ADJ", "VERB", "ADV")

    def _conjuncts(self, place: int) -> list[int]:
        found: list[int] = []
        for kid in self.tree.kids(place):
            if self._base(kid) == "conj" and not self._is_predicate(kid):
                found.extend([kid, *self._conjuncts(kid)])
        return found

    def _belonging(self, place: int) -> Iterator[Argument]:
        """Yield the noun phrases inside one: "22 seats in each row", "3 sets of 20 push-ups", "5 letters a day"."""
        tree = self.tree
        for kid in tree.kids(place):
            if kid not in self.timed and self._base(kid) in ("nmod", "obl") and tree.relation(kid) != "nmod:poss":
                yield self._argument(kid, self._case(kid))
                yield from self._belonging(kid)
                for other in self._conjuncts(kid):
                    yield self._argument(other, self._case(kid))

    def _case(self, place: int) -> str:
        tree = self.tree
        marks = [tree.form(kid) for kid in tree.kids(place) if self._base(kid) in ("case", "mark")]
        return " ".join(marks)

    def _argument(self, place: int, role: str) -> Argument:
        tree = self.tree
        kids, counted = tree.kids(place), self._counted(place)
        number = self.numbers.get(counted) if counted is not None else None
        forms = {tree.form(kid) for kid in kids}
        of = next((kid for kid in kids if self._base(kid) == "nmod" and self._case(kid) == "of"), None)
        noun, named, head = self._noun(place, of)
        tokens = self._own(place, named)
        after = self._after(place)
        words = frozenset(s for i in tokens if i not in self.numbers or i > noun for s in stems(self._word(i)))
        if named != place and self._base(named) == "appos" and noun == place:
            words |= frozenset(stems(tree.lemma(place)))  # "my cousin Jonas" is a cousin
        every = bool(forms & EACH) and counted is None
        known = of is not None and (tree.form(of) in PRONOUNS or any(tree.form(k) in DEFINITE for k in tree.kids(of)))
        said = [*tokens, *after, place, *([] if counted is None else [counted])]
        return Argument(
            start=self.start + min(tree.words[i].start for i in said),
            end=self.start + max(tree.words[i].end for i in said),
            head=head,
            words=(words - _quantifiers()) | {tree.form(i) for i in after},
            label=self._label(tokens, named, after),
            role=role,
            name=tree.upos(named) == "PROPN",
            each=every and (bool(forms & {"each", "every", "per"}) or role in ("", "per")),
            definite="the" in forms or known,
            indefinite=bool(forms & {"a", "an"}),
            owner=next((tree.form(kid) for kid in kids if tree.relation(kid) == "nmod:poss"), ""),
            number=number,
            more=self._sign(place, counted),
            vague=number is None and bool(forms & VAGUE),
        )

    def _counted(self, place: int) -> int | None:
        """Return the word of the number that counts a noun; the noun itself where it is a bare number."""
        tree = self.tree
        kids = tree.kids(place)
        before = [kid for kid in kids if kid in self.numbers and kid < place]
        plain = next((kid for kid in before if tree.relation(kid) == "nummod"), None)
        if plain is not None or place in self.numbers:
            return plain if plain is not None else place
        loose = next((kid for kid in before if self._base(kid) in ("advmod", "amod", "det", "compound")), None)
        if loose is not None:
            return loose
        inner = (k for kid in kids if self._base(kid) in ("amod", "det", "advmod", "nummod") for k in tree.kids(kid))
        return next((k for k in inner if k in self.numbers), None)

    def _noun(self, place: int, of: int | None) -> tuple[int, int, str]:
        """Return the noun of a phrase, the word that names it, and its base form: "10 of the pears", "brother Tim"."""
        tree = self.tree
        noun, head = place, self._head(place)
        part = unit_named(head) is None and tree.form(place) in ("half", "lot", "couple", "rest")
        if place in self.numbers or part:
            noun, head = (of, self._head(of)) if of is not None else (place, "")
        appos = next((kid for kid in tree.kids(place) if self._names(kid, place)), None)
        return (noun, noun, head) if appos is None else (noun, appos, self._head(appos))

    def _own(self, place: int, named: int) -> list[int]:
        """Return the words that name what a phrase is of, without its number, case and clauses."""
        tree = self.tree
        if named != place and self._base(named) == "appos":
            return [named, *tree.under(named, self._related({"conj", "cc"}))]
        inner = tree.under(place, self._related(OUTSIDE))
        return [
            i for i in inner
            if i == named or (i not in self.numbers and self._base(i) not in ("case", "mark", "punct", "det"))
        ]  # fmt: skip

    def _after(self, place: int) -> list[int]:
        """Return the numbers behind a noun that are part of its name ("Room 3")."""
        tree = self.tree
        kids = tree.kids(place)
        found = [i for i in kids if i == place + 1 and tree.upos(i) in ("NUM", "X")]
        noun = tree.upos(place) in ("NOUN", "PROPN")
        return found or [i for i in kids if tree.relation(i) == "nummod" and i > place and noun]

    def _sign(self, place: int, counted: int | None) -> int:
        """Return 1 for "3 more pears", -1 for "3 fewer"."""
        tree = self.tree
        forms = {tree.form(kid) for kid in tree.kids(place)}
        if counted is not None and counted != place:
            near = {tree.form(k) for k in tree.kids(counted)}
            near |= {tree.form(counted + 1)} if counted + 1 < len(tree.words) else set()
            if near & (MORE | FEWER):
                return 1 if near & MORE else -1
        return 1 if forms & MORE else -1 if forms & FEWER else 0

    def _names(self, kid: int, place: int) -> bool:
        """Tell whether a name stands right behind its noun ("her brother Tim")."""
        tree = self.tree
        apart = any(tree.form(i) in ",:;" for i in range(place + 1, kid))
        return self._base(kid) == "appos" and tree.upos(kid) == "PROPN" and tree.upos(place) != "PROPN" and not apart

    def _word(self, place: int) -> str:
        tree = self.tree
        return tree.form(place) if tree.upos(place) == "PROPN" else tree.lemma(place)

    def _head(self, place: int) -> str:
        """Return the noun in its base form; "push-ups" is one word."""
        tree = self.tree
        start = place
        while start >= 2 and tree.form(start - 1) == "-" and tree.words[start - 1].end == tree.words[start].start:
            start -= 2
        front = "".join(tree.form(i) for i in range(start, place))
        if tree.upos(place) in ("PRON",) or (not front and unit_named(tree.form(place)) is not None):
            return tree.form(place)  # "m" has no base form that a lemmatiser knows
        return front + (tree.form(place) if tree.upos(place) == "PROPN" else tree.lemma(place))

    def _label(self, tokens: Sequence[int], noun: int, after: Sequence[int]) -> str:
        tree = self.tree
        chosen = sorted({*(i for i in tokens if i <= noun and i not in self.numbers), noun, *after})
        chosen = [i for i in chosen if self._base(i) not in ("det", "case", "mark")]
        if not chosen:
            return ""
        first = next((i for i in chosen if noun - i <= 4), noun)
        kept = [i for i in chosen if i >= first]
        text = tree.words[kept[0]].form
        for before, i in pairwise(kept):
            gap = "" if tree.words[before].end == tree.words[i].start else " "
            text += gap + tree.words[i].form
        return text
