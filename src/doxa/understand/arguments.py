"""Dependency tree -> what a predicate is said with: subjects, objects and prepositional phrases, as text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from doxa.language.inflection import NEGATIONS, particle_of
from doxa.language.syntax import Tree, base
from doxa.language.words import ADVERBS, HEDGES
from doxa.understand.clauses import Complement

__all__ = ["UNNAMED", "Arguments", "is_predicate", "listed"]

UNNAMED = frozenset("that which who whom whose what".split())
ASIDES = frozenset(["instead of", "because of", "due to", "except", "apart from", "thanks to", "as well as"])
FOCUS = re.compile(
    r"^(?:and|or|but|nor|only|just|even|also|especially|mainly|mostly|exactly|almost|nearly|about|around) ",
    re.IGNORECASE,
)
GIVING = frozenset("cost charge give lend send hand offer show teach owe pass feed bring promise mail email".split())
"""Verbs with a receiver and a thing, both without a preposition."""
LOOSE_ADVERBS = NEGATIONS | ADVERBS | HEDGES | frozenset("so when where how why as".split())
MOST_PHRASES = 6


def is_predicate(tree: Tree, place: int) -> bool:
    """Tell whether a token may head a clause."""
    if tree.upos(place) in ("VERB", "AUX"):
        return True
    return tree.kid(place, "cop") is not None or tree.kid(place, "nsubj") is not None


def listed(texts: Sequence[str]) -> str:
    """Return "a, b and c"."""
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


@dataclass(frozen=True, slots=True)
class Arguments:
    """The noun phrases of a sentence as the arguments of its predicates; `adjuncts` are the tops of its times."""

    tree: Tree
    adjuncts: Collection[int]

    def subjects(self, subject: int) -> Iterator[str]:
        """Yield the coordinated subjects."""
        tree = self.tree
        for place in tree.members(subject):
            if tree.form(place) in UNNAMED and base(tree.relation(place)) in ("nsubj", "obj"):
                continue
            yield re.sub(r" (?:all|both|each)$", "", self.phrase(place))

    def complement(self, head: int) -> tuple[Complement, tuple[str, ...]]:
        tree = self.tree
        objects: list[int] = []
        receivers = self._receivers(head)
        for kid in tree.kids(head, "obj"):
            if kid in receivers:
                continue
            objects.extend(self._told_positively(tree.members(kid)))
        if not objects:
            loose = [kid for kid in tree.kids(head, "obl") if tree.relation(kid) == "obl" and not self.case(kid)]
            loose = [k for k in loose if k > head and k not in self.adjuncts]
            objects = [k for k in loose if tree.kid(k, "det") is not None or tree.upos(k) == "PROPN"][:1]
        if not objects:  # a name behind its verb, whatever the parser calls it ("I quit Brightside last week")
            objects = [kid for kid in tree.kids(head, "advmod") if kid == head + 1 and tree.is_name(kid)]
        towards = [kid for kid in tree.kids(head, "xcomp") if tree.is_name(kid) and self._mark(kid) == "to"]
        if not objects:
            kinds = ("NOUN", "PROPN", "ADJ", "VERB", "NUM")
            objects = [kid for kid in tree.kids(head, "xcomp") if tree.upos(kid) in kinds and kid not in towards][:1]
        texts = tuple(
            self.phrase(place) for place in objects if place not in self.adjuncts and tree.form(place) not in UNNAMED
        )
        phrases = list(self._obliques(head))
        phrases += [
            ("to", listed([self.phrase(place) for place in tree.members(kid)])) for kid in [*receivers, *towards]
        ]
        if not texts and any(tree.form(kid) in ("here", "there") for kid in tree.kids(head, "advmod")):
            texts = ("here",)  # the place that was spoken of
        if tree.relation(head) == "acl:relcl":
            texts, phrases = self._relativised(head, texts, phrases)
        return Complement(direct=listed(texts), phrases=tuple(phrases[:MOST_PHRASES])), texts

    def _mark(self, place: int) -> str:
        return next((self.tree.form(mark) for mark in self.tree.kids(place, "mark")), "")

    def _receivers(self, head: int) -> list[int]:
        """Return the first of two bare objects, whatever the parser calls it ("gave [Anton] a guitar")."""
        tree = self.tree
        if tree.lemma(head) not in GIVING:
            return []
        objects = [kid for kid in tree.kids(head, "iobj", "obj") if kid > head and tree.form(kid) not in UNNAMED]
        return objects[:1] if len(objects) == 2 else []

    def _relativised(
        self, head: int, texts: tuple[str, ...], phrases: list[tuple[str, str]]
    ) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
        """Put the noun that a relative clause hangs on where the clause has its gap."""
        tree = self.tree
        noun = tree.phrase(tree.head(head))
        gap = next((kid for kid in tree.kids(head, "obj", "obl") if tree.form(kid) in UNNAMED), None)
        subject = tree.kid(head, "nsubj")
        if gap is not None and base(tree.relation(gap)) == "obl":
            return texts, [*phrases, (self.case(gap), noun)]
        if gap is not None or (subject is not None and tree.form(subject) not in UNNAMED and not texts):
            return (noun,), phrases
        return texts, phrases

    def nominal_complement(self, head: int) -> tuple[Complement, tuple[str, ...]]:
        tree = self.tree
        obliques = tuple(self._obliques(head))[:MOST_PHRASES]
        if tree.upos(head) == "AUX" or head in self.adjuncts:
            return Complement(phrases=obliques), ()
        case = self.case(head)
        members = [place for place in tree.conjuncts(head) if not is_predicate(tree, place) or place == head]
        if not any(tree.kid(place, "cc") is not None for place in members):
            members = members[:1]  # "our dentist, small town": an afterthought
        members = self._told_positively(members)
        if case:
            members = [name for place in members for name in tree.members(place)[:1]]
        texts = tuple(self.phrase(place, loose=self._loose(place)) for place in members)
        if case:
            return Complement(phrases=((case, listed(texts)), *obliques)), ()
        return Complement(direct=listed(texts), phrases=obliques), texts

    def _loose(self, place: int) -> list[int]:
        """Return the dependents of a predicate noun or adjective that are complements of the clause."""
        tree = self.tree
        adverbs = [k for k in tree.kids(place, "advmod") if k > place or tree.form(k) in LOOSE_ADVERBS]
        measures = tree.kids(place, "obl:unmarked", "obl:npmod")
        obliques = [k for k in tree.kids(place, "obl") if k not in measures or k > place]
        obliques = [k for k in obliques if self.case(k) != "than"]  # "taller than Piet" is one adjective
        return [*obliques, *adverbs, *tree.kids(place, "aux", "cc", "obj")]

    def _obliques(self, head: int) -> Iterator[tuple[str, str]]:
        tree = self.tree
        receivers = self._receivers(head)
        for kid in tree.kids(head, "obl", "iobj"):
            if kid in receivers:
                continue
            measure = tree.relation(kid) in ("obl:unmarked", "obl:npmod") and kid < head and tree.upos(head) == "ADJ"
            if kid in self.adjuncts or tree.form(kid) in UNNAMED or measure:
                continue
            if tree.upos(head) == "ADJ" and self.case(kid) == "than":
                continue
            preposition = "by" if tree.relation(kid) == "obl:agent" else self.case(kid)
            yield preposition, listed([self.phrase(place) for place in tree.members(kid)])
        for adverb in tree.kids(head, "advmod", "compound:prt"):
            for kid in tree.kids(adverb, "obl"):
                case = self.case(kid)
                if case == "than" and kid not in self.adjuncts:
                    yield f"{tree.form(adverb)} than", self.phrase(kid)
                elif adverb == particle_of(tree, head) and kid not in self.adjuncts:
                    yield case, self.phrase(kid)

    def case(self, place: int) -> str:
        tree = self.tree
        marks = [kid for kid in tree.kids(place, "case") if tree.form(kid) != "'s"]
        tokens = [token for mark in marks for token in [mark, *tree.kids(mark, "fixed")]]
        return " ".join(tree.form(token) for token in sorted(tokens))

    def _told_positively(self, places: Sequence[int]) -> list[int]:
        """Leave out what is coordinated with a "not" or "no" of its own ("in red, not in blue")."""
        tree = self.tree
        denied = [p for p in places[1:] if any(tree.form(k) in ("not", "no") for k in tree.kids(p, "advmod", "det"))]
        return [place for place in places if place not in denied]

    def phrase(self, place: int, *, loose: Collection[int] = ()) -> str:
        """Return a noun phrase without its times; "whose" is written out ("Anselm's parents")."""
        tree = self.tree
        drop = [kid for kid in tree.kids(place, "nmod") if tree.form(kid) in ("life", "moment", "way")]
        drop += [kid for kid in tree.kids(place, "nmod:unmarked", "nmod:tmod") if self._dated(kid)]
        drop += [kid for kid in tree.kids(place, "nmod") if self.case(kid) in ASIDES]
        text = FOCUS.sub("", tree.phrase(place, drop=[*self._timed_kids(place), *drop, *loose]))
        if not re.match(r"whose\b", text, re.IGNORECASE):
            return text
        clause = next((up for up in (place, *tree.above(place)) if tree.relation(up) == "acl:relcl"), None)
        owner = tree.phrase(tree.members(tree.head(clause))[0]) if clause is not None else ""
        return f"{owner}'s {text[6:]}" if owner else text

    def _dated(self, place: int) -> bool:
        """Tell whether a bare noun names a time by its determiner ("this term"), not a rate ("a day")."""
        words = {self.tree.form(kid) for kid in self.tree.kids(place, "det", "amod")}
        return bool(words & {"this", "that", "these", "last", "next", "every", "each", "all"})

    def _timed_kids(self, place: int) -> list[int]:
        return [kid for kid in self.tree.under(place) if kid in self.adjuncts and kid != place]
