"""What is said on a condition, or of everybody of a kind -> rules, off the dependency tree.

The tree tells which clause is the condition and who the subject is; both halves are read by `atoms_of`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import permutations

from doxa.backends.parser import Parse, Parser
from doxa.core.values import Atom, Rule, Term, Turn
from doxa.language.inflection import tense_of
from doxa.language.syntax import Tree, trees
from doxa.memory import relation_type
from doxa.understand.atoms import VARIABLE, AtomReader, atoms_of
from doxa.understand.referents import Referents, clean, kin_of, term
from doxa.understand.scene import owner_of, possessed
from doxa.understand.text import words

__all__ = ["find_rules"]

PIECES = re.compile(r"\s*;\s*|:\s+|\s+[-—–]+\s+|\.\s+|,? (?:and|but) (?=(?:if|unless|when|whenever) )")
CONDITIONS = frozenset("if unless when whenever".split())
QUANTIFIERS = frozenset("every each all no".split())
EVERYBODY = frozenset("everyone everybody anyone anybody nobody one".split())
"""Subjects that are a kind by themselves; "one" is that of "no one"."""
DENIALS = frozenset(["no", "nobody"])
OPENING = frozenset("and but so that then".split())
"""What opens a result, or joins it to what stands before."""
ONE_OF = re.compile(r"^(?P<how>exactly|only|at most) one of ", re.IGNORECASE)
MOST_MEMBERS = 6
"""Alternatives of which the pairs are told; more make no rule."""
HEDGED = re.compile(
    r"\b(?:maybe|perhaps|probably|apparently|possibly|I (?:think|guess|suppose|believe))\b", re.IGNORECASE
)
ANYBODY = re.compile(r"(?=.*\byou\b)(?!.*\b(?:I|me|we|us|mine|ours)\b)", re.IGNORECASE)
"""A sentence in which "you" is anybody: it speaks of nobody who is there."""
POLITE = re.compile(
    r"(?:I (?:remember|recall|am not mistaken|may|might|understand|am honest|am right|heard|had to|could|can help|"
    r"know)\b|I (?:can|were)$|you (?:like|want|wish|ask|do not mind|know what|see what|think about|ask me|must know|"
    r"ever want|are (?:interested|curious|wondering))\b|you (?:can|could|will|get (?:a|the) chance|"
    r"have (?:a|any|some) (?:time|question|questions|moment|minute|doubts|idea))$|you need (?:me|anything|help|more)\b|"
    r"that (?:is|was|makes|works|helps)\b|it (?:helps|makes|were)\b|"
    r"it is (?:ok|okay|all right|fine|possible|convenient)\b|"
    r"(?:necessary|possible|needed|any|so|not|need be|memory serves|God|anything)\b|"
    r"all goes well|everything goes|anyone asks|there is anything)",
    re.IGNORECASE,
)
"""A condition that is only polite, or comments on the words themselves."""

Halves = tuple[tuple[Atom, ...], tuple[Atom, ...]]
"""What is on condition of what."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a sentence that may be a rule."""

    text: str
    referents: Referents
    at: datetime
    generic: bool
    """"You" is anybody."""

    def reader(self) -> AtomReader:
        """Return what reads one rule of it; all start from the same referents."""
        return AtomReader(referents=self.referents, at=self.at, generic=self.generic)


def find_rules(
    text: str, turn: Turn, context: Sequence[Turn], referents: Referents, parser: Parser | None
) -> tuple[tuple[Rule, ...], str]:
    """Return the rules that a sentence states, and what is left of it for the reading of claims.

    Args:
        text: a written-out sentence.
        turn: the turn that it stands in.
        context: earlier turns; where they are spoken to no person, "you" is anybody.
        referents: who is who.
        parser: gives the trees; without one no rule is found.

    Deterministic. Cost: the parses of sentences with a conjunction or quantifier that may make a rule.

    Raises:
        BackendError: the parser failed.
    """
    if parser is None:
        return (), text
    person = next((other.role == "user" for other in reversed(context) if other.speaker != turn.speaker), False)
    rules: list[Rule] = []
    left: list[str] = []
    for part in filter(None, (part.strip(" ,") for part in PIECES.split(text))):
        piece = _Piece(part, referents, turn.at, generic=not person and bool(ANYBODY.match(part)))
        found = [pair for pair in _read(piece, parser) if pair[0] and pair[1] and pair[0] != pair[1]]
        rules.extend(_rule(pair, turn, text, hedged=bool(HEDGED.search(part))) for pair in dict.fromkeys(found))
        if not found:
            left.append(part)
    return tuple(dict.fromkeys(rules)), "; ".join(left) if rules else text


def _rule(halves: Halves, turn: Turn, span: str, *, hedged: bool) -> Rule:
    return Rule(
        if_=halves[0], then=halves[1], turn_id=turn.turn_id, speaker=turn.speaker, role=turn.role, span=span,
        known_at=turn.at, confidence=0.5 if hedged else 0.8,
    )  # fmt: skip


def _read(piece: _Piece, parser: Parser) -> list[Halves]:
    """Return what the first way of reading a piece makes of it: members, a condition, a quantified subject."""
    members = ONE_OF.match(piece.text)
    if not members and not {token.casefold() for token in words(piece.text)} & (CONDITIONS | QUANTIFIERS | EVERYBODY):
        return []
    for tree in trees(f"{piece.text[:1].upper()}{piece.text[1:]}", parser):
        if members is not None:
            return _one_of(tree, piece, left=members["how"].casefold() == "exactly")
        found = [*_conditional(tree, piece)] or [*_quantified(tree, piece)]
        if found:
            return found
    return []


def _one_of(tree: Tree, piece: _Piece, *, left: bool) -> list[Halves]:
    """Read "exactly one of Tom, Ida and Raj has the key": no two do, and (`left`) one does when the others do not."""
    subject = tree.kid(next(iter(tree.roots), 0), "nsubj")
    of = tree.kid(subject, "nmod") if subject is not None else None
    members = [tree.phrase(member) for member in tree.conjuncts(of)][:MOST_MEMBERS] if of is not None else []
    found = [atoms_of(tree, piece.reader(), who=_who(name, piece)) for name in members]
    if len(found) < 2 or any(len(atoms) != 1 for atoms in found):
        return []
    atoms = [replace(one, deontic="" if one.deontic == "may" else one.deontic) for (one,) in found]
    apart: list[Halves] = [((one,), (_negated(other),)) for one, other in permutations(atoms, 2)]
    if left:
        apart += [(tuple(_negated(other) for other in atoms if other is not atom), (atom,)) for atom in reversed(atoms)]
    return apart


def _who(name: str, piece: _Piece) -> Term:
    return piece.referents.resolve(name) or term(clean(name))


def _negated(atom: Atom) -> Atom:
    return replace(atom, polarity=not atom.polarity)


def _conditional(tree: Tree, piece: _Piece) -> Iterator[Halves]:
    """Yield what follows from each condition of a sentence ("I walk unless Odd drives")."""
    for head in range(len(tree.words)):
        for clause in tree.kids(head, "advcl"):
            mark = next((one for one in tree.kids(clause, "mark", "advmod") if tree.form(one) in CONDITIONS), None)
            if mark is not None and _is_general(tree, mark, clause, head):
                yield from _halves(tree, mark, clause, head, piece)


def _is_general(tree: Tree, mark: int, clause: int, head: int) -> bool:
    """Tell whether a condition may come true again: "when I was a child" and "if I had known" may not."""
    before, (after, under_way, passive) = tense_of(tree, clause)[0], tense_of(tree, head)
    if tree.form(mark) != "when":
        return before != "past"
    return before == after == "present" and (passive or not under_way)


def _halves(tree: Tree, mark: int, clause: int, head: int, piece: _Piece) -> Iterator[Halves]:
    inside = tree.under(clause)
    only = mark > 0 and tree.form(mark - 1) == "only"
    condition = [token for token in inside if token > mark]
    if POLITE.match(tree.spell(condition).strip(" ,.")):
        return
    opening = [token for token in tree.kids(head, "cc", "discourse", "mark", "advmod") if tree.form(token) in OPENING]
    result = [token for token in tree.under(head, opening) if token not in inside and not (only and token == mark - 1)]
    reader = piece.reader()
    reader.denied = tree.form(mark) == "unless"
    if result and result[0] < mark:
        then, if_ = _half(tree, result, reader, follows=True), _half(tree, condition, reader, follows=False)
    else:
        if_, then = _half(tree, condition, reader, follows=False), _half(tree, result, reader, follows=True)
    if reader.denied:
        yield from (((_negated(atom),), then) for atom in if_)
    else:
        yield (then, if_) if only else (if_, then)


def _half(tree: Tree, tokens: Sequence[int], reader: AtomReader, *, follows: bool) -> tuple[Atom, ...]:
    reader.follows = follows
    return atoms_of(_part(tree, tokens), reader) if tokens else ()


def _part(tree: Tree, tokens: Sequence[int]) -> Tree:
    """Return a part of a tree as a tree of its own."""
    places = {token: place for place, token in enumerate(tokens)}
    parse = tree.parse
    heads = tuple(places.get(parse.heads[token], -1) for token in tokens)
    return Tree(
        tree.text,
        [tree.words[token] for token in tokens],
        Parse(
            forms=tuple(parse.forms[token] for token in tokens),
            lemmas=tuple(parse.lemmas[token] for token in tokens),
            upos=tuple(parse.upos[token] for token in tokens),
            heads=heads,
            deprels=tuple("root" if head < 0 else parse.deprels[t] for head, t in zip(heads, tokens, strict=True)),
            tags=tuple(parse.tags[token] for token in tokens),
            confidences=tuple(parse.confidences[token] for token in tokens),
        ),
    )


def _quantified(tree: Tree, piece: _Piece) -> Iterator[Halves]:
    """Yield what holds of everybody of a kind, or of nobody ("every trainee gets a locker", "no dogs are allowed")."""
    head = next(iter(tree.roots), 0)
    subject = tree.kid(head, "nsubj", "nsubj:pass")
    if subject is None or tense_of(tree, head)[:2] != ("present", False) or tree.kids(subject, "acl", "nummod"):
        return
    det = next((one for one in tree.kids(subject, "det") if tree.form(one) in QUANTIFIERS), None)
    anybody = tree.form(subject) in EVERYBODY
    if det is None and (not anybody or tree.form(subject) == "one"):
        return
    reader = piece.reader()
    class_ = _people(tree, subject, reader) if anybody else _class(tree, subject, det, reader.referents)
    reader.subjects.append(VARIABLE)
    then = atoms_of(tree, reader, who=VARIABLE)
    if anybody and class_.object.key == "person" and not any(atom.deontic for atom in then):
        return  # "everyone was tired", "everybody likes Max": those who are spoken of
    denied = tree.form(subject if det is None else det) in DENIALS
    yield (class_,), tuple(replace(atom, polarity=atom.polarity != denied) for atom in then)


def _people(tree: Tree, subject: int, reader: AtomReader) -> Atom:
    """Return what narrows "everyone" or "nobody" down ("nobody in my family"), else that it is a person."""
    where = tree.kid(subject, "nmod")
    case = tree.kid(where, "case") if where is not None else None
    if where is None or case is None:
        return Atom(subject=VARIABLE, relation=relation_type("is_a").relation, object=term("person"), span="person")
    noun = tree.phrase(where)
    place = reader.referents.resolve(noun) or term(clean(noun))
    return Atom(subject=VARIABLE, relation=relation_type(f"be_{tree.form(case)}").relation, object=place, span=noun)


def _class(tree: Tree, subject: int, det: int | None, referents: Referents) -> Atom:
    """Return that the variable is of the class which a noun phrase names, in the singular."""
    tokens = [token for token in tree.under(subject) if token != det]
    noun = " ".join(tree.lemma(token) if token == subject else tree.spell([token]) for token in tokens)
    noun = noun.replace(" 's ", "'s ")
    owner, thing = owner_of(noun, referents), possessed(noun)
    label = f"{owner.label}'s {kin_of(thing) or thing}" if owner is not None else clean(noun)
    return Atom(subject=VARIABLE, relation=relation_type("is_a").relation, object=term(label), span=label)
