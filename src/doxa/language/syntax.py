"""The dependency tree of a sentence: its words with their places in the text, their heads, and phrases as text."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from doxa.backends.parser import Parse, Parser, Word, split
from doxa.language.verbs import Form, base_of

__all__ = ["CLAUSES", "FORMS", "Tree", "base", "trees"]

CLAUSES = frozenset(["acl", "advcl", "ccomp", "csubj", "parataxis", "xcomp"])
"""Relations whose dependent opens a clause of its own (Universal Dependencies)."""
ASIDE = frozenset(["appos", "parataxis", "discourse", "vocative", "punct", "dislocated", "reparandum"])
"""Dependents that are no part of a noun phrase when it names something."""
TITLES = frozenset("Mr Mrs Ms Dr Prof Miss Madame Herr Frau Sir".split())
DOUBLED = re.compile(r"(.*[aeiou]([bdgkmnprtv]))\2")
"""A stem with the consonant that only stands before "-ed" and "-ing" ("pinn")."""
FORMS: tuple[Form, ...] = ("base", "third", "past", "participle", "gerund")


def base(relation: str) -> str:
    """Return a dependency relation without its subtype ("acl:relcl" -> "acl")."""
    return relation.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed sentence; tokens are meant by their index.

    `text` is the sentence, `words` its tokens with character offsets, `parse` the tree over them.
    """

    text: str
    words: Sequence[Word]
    parse: Parse
    _kids: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._kids.extend([] for _ in self.words)
        for place, head in enumerate(self.parse.heads):
            if head >= 0:
                self._kids[head].append(place)

    @property
    def roots(self) -> list[int]:
        return [place for place, head in enumerate(self.parse.heads) if head < 0]

    def form(self, place: int) -> str:
        return self.words[place].form.casefold()

    def lemma(self, place: int) -> str:
        """Return the base form; the list of common verbs knows better than the parser's guess."""
        lemma = self.parse.lemmas[place].casefold()
        if self.upos(place) != "VERB":
            return lemma
        doubled = DOUBLED.fullmatch(lemma) if self.form(place).startswith(lemma) and self.form(place) != lemma else None
        return base_of(self.form(place), *FORMS) or (doubled[1] if doubled else lemma)

    def upos(self, place: int) -> str:
        return self.parse.upos[place]

    def relation(self, place: int) -> str:
        return self.parse.deprels[place]

    def head(self, place: int) -> int:
        return self.parse.heads[place]

    def kids(self, place: int, *relations: str) -> list[int]:
        """Return the dependents in order; of these relations only, with or without a subtype, when any is given."""
        found = self._kids[place]
        if not relations:
            return found
        return [kid for kid in found if self.relation(kid) in relations or base(self.relation(kid)) in relations]

    def kid(self, place: int, *relations: str) -> int | None:
        """Return the first dependent of these relations."""
        return next(iter(self.kids(place, *relations)), None)

    def conjuncts(self, place: int) -> list[int]:
        """Return a token and those coordinated with it."""
        return [place, *(kid for kid in self.kids(place, "conj"))]

    def under(self, place: int, without: Collection[int] = ()) -> list[int]:
        """Return the tokens below and at a place, in order, leaving out whole subtrees. Cost O(their number)."""
        found: list[int] = []
        open_places = [place]
        while open_places:
            here = open_places.pop()
            found.append(here)
            open_places.extend(kid for kid in self._kids[here] if kid not in without)
        return sorted(found)

    def is_name(self, place: int) -> bool:
        """Tell whether a token heads a name; "our GP" is none, although it is written like one."""
        return self.upos(place) == "PROPN" and self.kid(place, "nmod:poss") is None

    def members(self, place: int) -> list[int]:
        """Return the heads of what is coordinated; a noun with names in apposition stands for those.

        "my twins, Ada and Max" gives Ada and Max; "the nurse and Max" gives the nurse and Max.
        """
        found: list[int] = []
        for member in self.conjuncts(place):
            name = None
            if not self.is_name(member):
                name = next((kid for kid in self.kids(member, "appos") if self.is_name(kid) and kid > member), None)
                name = self._called(member) if name is None else name
            found.extend([member] if name is None else self.conjuncts(name))
        return found

    def _called(self, noun: int) -> int | None:
        """Return the name in "a firm called Hartley"."""
        for clause in self.kids(noun, "acl"):
            if self.form(clause) in ("called", "named") and self.form(noun) not in ("someone", "somebody"):
                named = [kid for kid in self.kids(clause) if self.words[kid].form[:1].isupper() and kid > clause]
                return named[0] if named else None
        return None

    def phrase(self, place: int, *, drop: Collection[int] = ()) -> str:
        """Return a noun phrase as text, without its case, clauses, asides and what is coordinated with it."""
        return self.spell(self.phrase_tokens(place, drop=drop))

    def phrase_tokens(self, place: int, *, drop: Collection[int] = (), conjuncts: bool = False) -> list[int]:
        """Return the tokens of `phrase`."""
        cut = {kid for kid in self._kids[place] if self._outside(kid, conjuncts) or kid in drop}
        cut.update(kid for kid in self.kids(place, "nummod") if kid > place + 1 and self.upos(kid - 1) != "SYM")
        tokens = self.under(place, cut)
        inner = {
            kid
            for token in tokens
            for kid in self._kids[token]
            if token != place and (self.relation(kid) in ("acl:relcl", "appos", "parataxis") or kid in drop)
        }
        kept = self._whole(self._up_to_comma(place, self.under(place, cut | inner) if inner else tokens))
        while kept and self.upos(kept[-1]) == "PUNCT":
            kept.pop()
        while kept and self.upos(kept[0]) == "PUNCT":
            kept.pop(0)
        return kept

    def _up_to_comma(self, place: int, tokens: list[int]) -> list[int]:
        """Leave out what follows a comma behind the head: "60 members, 25 of them women"."""
        comma = next((token for token in range(place + 1, tokens[-1]) if self.form(token) == ","), None)
        return tokens if comma is None else [token for token in tokens if token < comma]

    def _whole(self, tokens: list[int]) -> list[int]:
        """Add what is joined to the last token, by a hyphen or as a number, and may hang elsewhere ("A-1234")."""
        last = tokens[-1] if tokens else -1
        while 0 <= last < len(self.words) - 1 and self.upos(last) == self.upos(last + 1) == "NUM":
            last += 1
            tokens = [*tokens, last]  # "0171 3920047"
        while 0 <= last < len(self.words) - 1 and self._goes_on(last):
            last += 1
            tokens = [*tokens, last]  # "Spirited Away"
        while 0 <= last < len(self.words) - 2 and self.words[last + 1].form in ("-", "/"):
            joint, tail = self.words[last + 1], self.words[last + 2]
            if self.words[last].end != joint.start or joint.end != tail.start:
                break
            tokens = [*tokens, last + 1, last + 2]
            last += 2
        return tokens

    def _goes_on(self, place: int) -> bool:
        """Tell whether the word behind a name is a part of it that the parser takes for a particle."""
        after = self.words[place + 1].form
        title = self.is_name(place) and after[:1].isupper() and after[1:].islower()
        return title and self.upos(place + 1) in ("ADP", "ADV", "ADJ", "VERB")

    def _outside(self, kid: int, conjuncts: bool) -> bool:
        kind = base(self.relation(kid))
        if kind in ("conj", "cc"):
            return not conjuncts
        if kind == "appos" and self.upos(kid) == "NUM" and kid == self.head(kid) + 1:
            return False  # "Python 3.12"
        if self.relation(kid) in ("nmod:desc", "flat") and self.kid(kid, "nmod:poss", "det") is not None:
            return True  # "my partner Kim"
        return kind in ("case", "mark", "cop", "aux", "nsubj", "expl") or kind in CLAUSES or kind in ASIDE

    def spell(self, tokens: Sequence[int]) -> str:
        """Return tokens as text; those that touch in the sentence touch here.

        Names get their capital; the first word of the sentence loses it, unless it is one.
        """
        pieces: list[str] = []
        for order, place in enumerate(tokens):
            if order and self.words[tokens[order - 1]].end != self.words[place].start:
                pieces.append(" ")
            pieces.append(self._spelt(place))
        return "".join(pieces)

    def _spelt(self, place: int) -> str:
        word = self.text[self.words[place].start : self.words[place].end]
        if self.upos(place) == "PROPN":
            lower = word.islower() and word.replace("-", "").isalpha()  # no address
            head = self.head(place) if self.relation(place) == "compound" else place
            return word.title() if lower and self.kid(head, "det") is None else word  # nor "the post office"
        title = (
            place + 1 < len(self.words)
            and self.relation(place) in ("nmod:desc", "compound")
            and self.is_name(place + 1)
        )
        opens = place == 0 and word[1:].islower() and self.upos(place) != "PRON" and not title
        return word[:1].casefold() + word[1:] if opens else word

    def sure(self, tokens: Sequence[int]) -> float:
        """Return the geometric mean of what the parser gives the arcs of tokens, 0 to 1."""
        given = [max(self.parse.confidences[token], 1e-6) for token in tokens if self.upos(token) != "PUNCT"]
        return math.exp(sum(map(math.log, given)) / len(given)) if given else 1.0

    def covered(self, start: int, end: int) -> list[int]:
        """Return the tokens that lie inside a stretch of characters."""
        return [place for place, word in enumerate(self.words) if word.start >= start and word.end <= end]

    def top(self, tokens: Collection[int]) -> int:
        """Return the token of a set whose head lies outside it; the first when there are several."""
        return next(place for place in sorted(tokens) if self.head(place) not in tokens)

    def above(self, place: int) -> Iterator[int]:
        """Yield the heads of a token, from the nearest up to the root."""
        here = self.head(place)
        while here >= 0:
            yield here
            here = self.head(here)


def trees(text: str, parser: Parser) -> Iterator[Tree]:
    """Yield the tree of every sentence of a text. Cost: one parse a sentence.

    Raises:
        BackendError: the parser failed.
    """
    for words in split(text):
        if words:
            yield Tree(text, words, _titled(parser.parse([[word.form for word in words]])[0], words))


def _titled(parse: Parse, words: Sequence[Word]) -> Parse:
    """Hang what the parser hangs on a title on the name that it belongs to ("the lawyer is Mr Stephens")."""
    titles = [i for i, word in enumerate(words) if word.form.rstrip(".") in TITLES and parse.heads[i] == i + 1]
    if not titles:
        return parse
    above = {title: parse.heads[title] for title in titles}
    heads = [above.get(head, head) if place not in above.values() else head for place, head in enumerate(parse.heads)]
    return replace(parse, heads=type(parse.heads)(heads))
