"""Sentences -> clauses: who does what with how many of what, read off the dependency tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from doxa.backends.parser import Parse, Parser, Word, split
from doxa.core.values import Interval, Turn
from doxa.language import base_forms, stems
from doxa.language.times import Clock, TimeSpan, find_times, read_times
from doxa.reason.compute.numbers import Number, numbers_of
from doxa.reason.compute.units import unit_named

__all__ = ["Clause", "Phrase", "Sentence", "read_sentences"]

OPENS = frozenset(["conj", "advcl", "ccomp", "parataxis", "acl:relcl", "acl", "xcomp"])
"""Relations whose verb opens a clause of its own."""
OUTSIDE = frozenset(
    "conj acl:relcl acl parataxis cc appos nsubj cop nsubj:pass aux aux:pass advcl obl expl csubj obj".split()
)
"""Relations whose dependents are no part of a noun phrase."""
EACH = frozenset(["each", "every", "per", "a", "an", "any"])
MORE, FEWER = frozenset(["more", "extra", "additional", "another", "further"]), frozenset(["less", "fewer"])
VAGUE = frozenset(["some", "few", "many", "several", "lot", "lots", "most", "all", "any", "enough", "various", "much"])
FUTURE = frozenset(["will", "shall", "'ll", "going"])
NOT = frozenset(["not", "n't", "never", "no"])
EMPTY = frozenset(
    stems("how many much more most fewer less few several total altogether lot not n't now then still very just a")
)
"""Stems that tell nothing of what a phrase names."""
IN_A_WEEK = re.compile(
    r"(?:in|after|within) (?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|\d+) \w+", re.I
)
PRONOUNS = frozenset(
    "i me we us you he him she her it they them who this that these those there one mine yours".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A noun phrase in its clause, with the number that counts or measures it."""

    head: str
    """Base form of its noun; empty for a bare number."""
    words: frozenset[str]
    """Stems of its words, of what belongs to it as well ("classrooms on the upper floor")."""
    label: str
    role: str
    """"subject", "object", "predicate", "than", or its preposition ("on"); "" for a time without one ("every day")."""
    name: bool = False
    each: bool = False
    definite: bool = False
    """It speaks of what is known: "the pears", "10 of the pears", "half of them"."""
    indefinite: bool = False
    """It has the article "a"."""
    owner: str = ""
    """Pronoun or name before it ("my", "Ana")."""
    number: Number | None = None
    more: int = 0
    """1 for "3 more", -1 for "3 fewer"."""
    vague: bool = False
    place: int = 0

    @property
    def value(self) -> Fraction | None:
        """Return the number as it stands."""
        return self.number.value if self.number else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A verb with its noun phrases, in the order in which they are said."""

    verb: str
    """Base form, with its particle ("fly away"); "be" beside an adjective, which `state` names then."""
    state: str
    subject: Phrase | None
    phrases: tuple[Phrase, ...]
    """All but the subject; those of an "of" follow the phrase that they belong to."""
    negative: bool = False
    future: bool = False
    passive: bool = False
    participle: str = ""
    """Of a passive verb, as it is said ("occupied")."""
    conditional: bool = False
    words: frozenset[str] = frozenset()
    when: Interval | None = None
    clock_min: int | None = None
    """Minutes after midnight of a clock time that is named."""
    more: int = 0
    """1 or -1 where "more" or "less" belongs to the verb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a turn with its clauses."""

    turn: Turn
    text: str
    number: int
    clauses: tuple[Clause, ...]
    question: bool
    numbers: tuple[Number, ...] = ()
    order: int = 0


def read_sentences(turn: Turn, parser: Parser) -> list[Sentence]:
    """Return the sentences of a turn with their clauses. Cost: one parse of the turn, which a caching parser keeps.

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
        tree = _Tree(turn, own, moved, parse)
        asks = own.rstrip().endswith("?")
        found.append(
            Sentence(
                turn=turn,
                text=own,
                number=number,
                clauses=tuple(tree.clauses()),
                question=asks,
                numbers=tuple(numbers_of(own)),
            )
        )
    return found


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
class _Tree:
    """A parsed sentence; words are meant by their index."""

    turn: Turn
    text: str
    words: Sequence[Word]
    parse: Parse
    numbers: dict[int, Number] = field(default_factory=dict)
    """The number that each word belongs to."""
    timed: set[int] = field(default_factory=set)
    """The words of dates and clock times."""
    when: Interval | None = None
    clock_min: int | None = None

    def __post_init__(self) -> None:
        self.parse = _repaired(self.parse)
        for span in find_times(self.text, self.turn.at):
            if (span.kind == "duration" and not re.search(r"\bago\b", span.text)) or self._is_no_date(span):
                continue
            if span.kind == "clock" or span.valid.start is not None or span.valid.end is not None:
                inside = [i for i, w in enumerate(self.words) if span.start <= w.start < span.end]
                self.timed.update(inside)
                if span.kind != "clock" and self.when is None:
                    self.when = span.valid
        for time in read_times(self.text, self.turn.at):
            if isinstance(time.value, Clock) and self.clock_min is None:
                self.clock_min = time.value.hour * 60 + time.value.minute
        for number in numbers_of(self.text):
            for i, word in enumerate(self.words):
                held = number.start <= word.start < number.end or word.start <= number.start < word.end
                if held and i not in self.timed and not (word.form == "one" and self.parse.upos[i] != "NUM"):
                    self.numbers.setdefault(i, number)

    def _is_no_date(self, span: TimeSpan) -> bool:
        """Tell whether what looks like a date is a name ("Jan has") or a length of time ("in a week")."""
        if IN_A_WEEK.fullmatch(span.text):
            return True
        inside = [i for i, w in enumerate(self.words) if span.start <= w.start < span.end]
        return len(inside) == 1 and (
            self.base(inside[0]) in ("nsubj", "appos")
            or (
                self.form(inside[0] - 1) in ("than", "and", "or", ",")
                and self.form(inside[0]) in ("jan", "may", "april", "june", "august")
                and self.parse.upos[inside[0]] == "PROPN"
            )
        )

    def kids(self, place: int) -> list[int]:
        return [i for i, head in enumerate(self.parse.heads) if head == place]

    def rel(self, place: int) -> str:
        return self.parse.deprels[place]

    def base(self, place: int) -> str:
        return self.rel(place).partition(":")[0]

    def form(self, place: int) -> str:
        return self.words[place].form.casefold()

    def lemma(self, place: int) -> str:
        form = self.form(place)
        if self.parse.upos[place] in ("VERB", "AUX"):
            return base_forms().get(form, self.parse.lemmas[place].casefold())
        return self.parse.lemmas[place].casefold()

    def under(self, place: int, skip: frozenset[str] = frozenset()) -> list[int]:
        found, open_ = [], [place]
        while open_:
            here = open_.pop()
            found.append(here)
            open_.extend(kid for kid in self.kids(here) if self.rel(kid) not in skip)
        return sorted(found)

    def clauses(self) -> Iterator[Clause]:
        """Yield the clauses, that of the root first."""
        for place, head in enumerate(self.parse.heads):
            if head < 0 or (self.base(place) in OPENS and self._is_predicate(place)):
                yield self._clause(place)

    def _is_predicate(self, place: int) -> bool:
        if self.parse.upos[place] == "VERB":
            return True
        return any(self.base(kid) in ("cop", "nsubj") or self.rel(kid) == "aux:pass" for kid in self.kids(place))

    def _clause(self, place: int) -> Clause:
        kids = self.kids(place)
        beside = [k for kid in kids if self.base(kid) == "cop" for k in self.kids(kid)]
        subject = next((kid for kid in [*kids, *beside] if self.base(kid) == "nsubj"), None)
        expletive = next((kid for kid in kids if self.base(kid) == "expl"), None)
        inherited = None
        above = place
        while subject is None and expletive is None and self.base(above) in ("conj", "xcomp", "advcl"):
            above = self.parse.heads[above]
            inherited = next((kid for kid in self.kids(above) if self.base(kid) == "nsubj"), None)
            subject = inherited
        forms = {self.form(kid) for kid in kids}
        copula = any(self.base(kid) == "cop" for kid in kids)
        verbal = self.parse.upos[place] in ("VERB", "AUX")
        particle = next(
            (
                f" {self.form(k)}"
                for k in kids
                if self.rel(k) == "compound:prt" or (self.base(k) == "advmod" and self.form(k) in PARTICLES)
            ),
            "",
        )
        verb = "be" if copula or not verbal else f"{self.lemma(place)}{particle}"
        state = self.form(place) if (copula or not verbal) and self.parse.upos[place] in ("ADJ", "VERB", "ADV") else ""
        phrases: list[Phrase] = []
        named = self.parse.upos[place] not in ("ADJ", "ADV", "VERB") or place in self.numbers
        if (copula or not verbal) and named:
            phrases.append(self._phrase(place, "predicate"))
        for kid in kids:
            phrases.extend(self._phrases(kid, place, subject))
        words = frozenset(s for i in self.under(place) if i not in self.numbers for s in stems(self.lemma(i)))
        sign = 1 if forms & MORE and verbal else -1 if forms & FEWER and verbal else 0
        return Clause(
            verb=verb,
            state=state,
            subject=self._phrase(subject, "subject") if subject is not None else None,
            phrases=tuple(phrases),
            negative=bool(forms & NOT),
            future=bool(forms & FUTURE)
            or (self.form(place).endswith("ing") and bool(forms & {"am", "is", "are", "'re", "'m"})),
            participle=self.form(place) if any(self.rel(kid) == "aux:pass" for kid in kids) else "",
            passive=any(self.rel(kid) in ("aux:pass", "nsubj:pass") for kid in kids),
            conditional=any(self.rel(k) == "mark" and self.form(k) in ("if", "unless") for k in kids),
            words=words,
            when=self.when,
            clock_min=self.clock_min,
            more=sign,
        )

    def _phrases(self, kid: int, place: int, subject: int | None) -> Iterator[Phrase]:
        """Yield the noun phrases that a dependent of a predicate is or holds, with those that belong to it."""
        base = self.base(kid)
        if kid in self.timed:
            return
        if base == "nsubj":
            if kid == subject:
                yield from self._belonging(kid)
                for other in self._conjuncts(kid):
                    yield replace(self._phrase(other, "subject"), role="and")
            return
        if base not in (
            "obj",
            "iobj",
            "obl",
            "nmod",
            "advmod",
            "appos",
            "dep",
            "conj",
            "dislocated",
            "parataxis",
            "flat",
            "compound",
            "nummod",
            "amod",
        ):
            return
        if base in ("advmod", "amod", "compound", "flat") and kid not in self.numbers:
            yield from self._belonging(kid)
            return
        if base in ("conj", "parataxis", "appos") and (
            self._is_predicate(kid) or self.parse.upos[kid] not in ("NOUN", "NUM", "PROPN", "SYM")
        ):
            return
        if base == "nummod" and kid in self.numbers and self.parse.upos[place] not in ("ADJ", "VERB", "ADV"):
            return
        role = {"obj": "object", "iobj": "to"}.get(base) or self._case(kid)
        yield self._phrase(kid, role)
        yield from self._belonging(kid)
        for other in self._conjuncts(kid):
            yield self._phrase(other, role)
            yield from self._belonging(other)

    def _conjuncts(self, place: int) -> list[int]:
        found: list[int] = []
        for kid in self.kids(place):
            if self.base(kid) == "conj" and not self._is_predicate(kid):
                found.extend([kid, *self._conjuncts(kid)])
        return found

    def _belonging(self, place: int) -> Iterator[Phrase]:
        """Yield the noun phrases inside one: "22 seats in each row", "3 sets of 20 push-ups", "5 letters a day"."""
        for kid in self.kids(place):
            if kid not in self.timed and self.base(kid) in ("nmod", "obl") and self.rel(kid) != "nmod:poss":
                yield self._phrase(kid, self._case(kid))
                yield from self._belonging(kid)
                for other in self._conjuncts(kid):
                    yield self._phrase(other, self._case(kid))

    def _case(self, place: int) -> str:
        marks = [self.form(kid) for kid in self.kids(place) if self.base(kid) in ("case", "mark")]
        return " ".join(marks)

    def _phrase(self, place: int, role: str) -> Phrase:
        kids, counted = self.kids(place), self._counted(place)
        number = self.numbers.get(counted) if counted is not None else None
        forms = {self.form(kid) for kid in kids}
        of = next((kid for kid in kids if self.base(kid) == "nmod" and self._case(kid) == "of"), None)
        noun, named, head = self._noun(place, of)
        tokens = self._own(place, named)
        after = self._after(place)
        words = frozenset(s for i in tokens if i not in self.numbers or i > noun for s in stems(self._word(i)))
        if named != place and self.base(named) == "appos" and noun == place:
            words |= frozenset(stems(self.lemma(place)))  # "my cousin Jonas" is a cousin
        every = bool(forms & EACH) and counted is None
        known = of is not None and (self.form(of) in PRONOUNS or any(self.form(k) in DEFINITE for k in self.kids(of)))
        return Phrase(
            head=head,
            words=(words - EMPTY) | {self.form(i) for i in after},
            label=self._label(tokens, named, after),
            role=role,
            name=self.parse.upos[named] == "PROPN",
            each=every and (bool(forms & {"each", "every", "per"}) or role in ("", "per")),
            definite="the" in forms or known,
            indefinite=bool(forms & {"a", "an"}),
            owner=next((self.form(kid) for kid in kids if self.rel(kid) == "nmod:poss"), ""),
            number=number,
            more=self._sign(place, counted),
            vague=number is None and bool(forms & VAGUE),
            place=place,
        )

    def _counted(self, place: int) -> int | None:
        """Return the word of the number that counts a noun; the noun itself where it is a bare number."""
        kids = self.kids(place)
        before = [kid for kid in kids if kid in self.numbers and kid < place]
        plain = next((kid for kid in before if self.rel(kid) == "nummod"), None)
        if plain is not None or place in self.numbers:
            return plain if plain is not None else place
        loose = next((kid for kid in before if self.base(kid) in ("advmod", "amod", "det", "compound")), None)
        if loose is not None:
            return loose
        inner = (k for kid in kids if self.base(kid) in ("amod", "det", "advmod", "nummod") for k in self.kids(kid))
        return next((k for k in inner if k in self.numbers), None)

    def _noun(self, place: int, of: int | None) -> tuple[int, int, str]:
        """Return the noun of a phrase, the word that names it, and its base form: "10 of the pears", "brother Tim"."""
        noun, head = place, self._head(place)
        part = unit_named(head) is None and self.form(place) in ("half", "lot", "couple", "rest")
        if place in self.numbers or part:
            noun, head = (of, self._head(of)) if of is not None else (place, "")
        appos = next((kid for kid in self.kids(place) if self._names(kid, place)), None)
        return (noun, noun, head) if appos is None else (noun, appos, self._head(appos))

    def _own(self, place: int, named: int) -> list[int]:
        """Return the words that name what a phrase is of, without its number, case and clauses."""
        if named != place and self.base(named) == "appos":
            return [named, *self.under(named, frozenset(["conj", "cc"]))]
        inner = self.under(place, OUTSIDE)
        return [
            i for i in inner
            if i == named or (i not in self.numbers and self.base(i) not in ("case", "mark", "punct", "det"))
        ]  # fmt: skip

    def _after(self, place: int) -> list[int]:
        """Return the numbers behind a noun that are part of its name ("Room 3")."""
        kids = self.kids(place)
        found = [i for i in kids if i == place + 1 and self.parse.upos[i] in ("NUM", "X")]
        noun = self.parse.upos[place] in ("NOUN", "PROPN")
        return found or [i for i in kids if self.rel(i) == "nummod" and i > place and noun]

    def _sign(self, place: int, counted: int | None) -> int:
        """Return 1 for "3 more pears", -1 for "3 fewer"."""
        forms = {self.form(kid) for kid in self.kids(place)}
        if counted is not None and counted != place:
            near = {self.form(k) for k in self.kids(counted)}
            near |= {self.form(counted + 1)} if counted + 1 < len(self.words) else set()
            if near & (MORE | FEWER):
                return 1 if near & MORE else -1
        return 1 if forms & MORE else -1 if forms & FEWER else 0

    def _names(self, kid: int, place: int) -> bool:
        """Tell whether a name stands right behind its noun ("her brother Tim")."""
        apart = any(self.form(i) in ",:;" for i in range(place + 1, kid))
        return (
            self.base(kid) == "appos"
            and self.parse.upos[kid] == "PROPN"
            and self.parse.upos[place] != "PROPN"
            and not apart
        )

    def _word(self, place: int) -> str:
        return self.form(place) if self.parse.upos[place] == "PROPN" else self.lemma(place)

    def _head(self, place: int) -> str:
        """Return the noun in its base form; "push-ups" is one word."""
        start = place
        while start >= 2 and self.form(start - 1) == "-" and self.words[start - 1].end == self.words[start].start:
            start -= 2
        front = "".join(self.form(i) for i in range(start, place))
        if self.parse.upos[place] in ("PRON",) or (not front and unit_named(self.form(place)) is not None):
            return self.form(place)  # "m" has no base form that a lemmatiser knows
        return front + (self.form(place) if self.parse.upos[place] == "PROPN" else self.lemma(place))

    def _label(self, tokens: Sequence[int], noun: int, after: Sequence[int]) -> str:
        chosen = sorted({*(i for i in tokens if i <= noun and i not in self.numbers), noun, *after})
        chosen = [i for i in chosen if self.base(i) not in ("det", "case", "mark")]
        if not chosen:
            return ""
        first = next((i for i in chosen if noun - i <= 4), noun)
        kept = [i for i in chosen if i >= first]
        text = self.words[kept[0]].form
        for before, i in pairwise(kept):
            gap = "" if self.words[before].end == self.words[i].start else " "
            text += gap + self.words[i].form
        return text


DEFINITE = frozenset("the my our his her its their these those".split())
PARTICLES = frozenset("away off up out back in down on over".split())
