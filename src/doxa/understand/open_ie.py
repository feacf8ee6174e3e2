"""Sentence -> open propositions: (subject, relation phrase, arguments), whatever the verb and however it is meant.

Open information extraction in the sense of Banko et al. 2007, read off the dependency tree clause by clause (ClausIE,
Del Corro and Gemulla 2013). What is coordinated is told one by one. Nothing is left out for being hypothetical or
denied: this shows what a sentence is about; what a memory may believe of it is decided by `understand`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product

from doxa.backends.parser import Parser
from doxa.core.values import OpenProposition
from doxa.language.syntax import Tree, base, trees
from doxa.understand.arguments import is_predicate

__all__ = ["open_propositions"]

ADJUNCTS = ("obl", "iobj")
RELATIVE = ("who", "which", "that")
CUT = frozenset(["advcl", "appos", "parataxis", "discourse", "vocative", "punct", "cc", "conj"])
"""Dependents that are no part of a phrase that is told by itself."""
OF_CLAUSES = frozenset(["nsubj", "csubj", "cop", "aux", "mark", "obl", "expl", "advmod"])
"""Dependents of a noun or adjective that belong to the clause of which it is the predicate."""
NEAR = 2
"""How far from its verb an adverb may stand that is told with it."""
MOST = 4
"""Members of a coordination that are told one by one."""
BESIDE = 0.8
"""Confidence of what an apposition says, beside that of its arc."""


def open_propositions(text: str, parser: Parser) -> list[OpenProposition]:
    """Return the propositions of a text, in order. Cost: one parse a sentence.

    A clause without an auxiliary of its own does not say when it holds: its relation begins with "be" ("be launched",
    "be retaining"), and so does an apposition.

    Raises:
        BackendError: the parser failed.
    """
    found = (told for tree in trees(text, parser) for told in _of_sentence(tree))
    return [told for told in found if told.subject and all(told.arguments)]


def _of_sentence(tree: Tree) -> Iterator[OpenProposition]:
    for head in range(len(tree.words)):
        if is_predicate(tree, head) and base(tree.relation(head)) not in ("aux", "cop"):
            yield from _of_clause(tree, head)
    for place in range(len(tree.words)):
        for kid in tree.kids(place, "appos"):
            sure = tree.parse.confidences[kid] * BESIDE
            yield OpenProposition(
                subject=_noun(tree, place), relation="be", arguments=(_noun(tree, kid),), confidence=sure
            )


def _of_clause(tree: Tree, head: int) -> Iterator[OpenProposition]:
    subject = _subject(tree, head)
    if subject is None or tree.form(subject) in RELATIVE:
        return
    relation, verbal = _relation(tree, head), tree.upos(head) in ("VERB", "AUX")
    arguments = _arguments(tree, head)
    options = [[_full(tree, one)] for one in arguments]
    if not verbal:
        drop = [kid for kid in tree.kids(head) if base(tree.relation(kid)) in OF_CLAUSES]
        options.insert(0, [_full(tree, head, drop)])
    elif arguments:
        first = arguments[0]
        if base(tree.relation(first)) in ADJUNCTS:
            case = [token for kid in tree.kids(first, "case") for token in tree.under(kid)]
            relation = f"{relation} {tree.spell(sorted(case))}".strip()
            options[0] = [_noun(tree, one) for one in _members(tree, first)]
        else:
            options[0] += [_noun(tree, one) for one in _members(tree, first)[1:]]
    if not options:
        return
    sure = tree.parse.confidences[head] * tree.parse.confidences[subject]
    subjects = [_noun(tree, one) for one in _members(tree, subject)]
    for one, *others in product(subjects, *options):
        yield OpenProposition(subject=one, relation=relation, arguments=tuple(others), confidence=sure)


def _subject(tree: Tree, head: int, depth: int = 0) -> int | None:
    """Return the subject of a predicate: its own, that of the clause it goes on from, or the noun that it describes."""
    own = tree.kid(head, "nsubj", "csubj")
    relation, above = tree.relation(head), tree.head(head)
    if own is not None:
        return above if tree.form(own) in RELATIVE and base(relation) == "acl" else own
    if depth > 6 or above < 0:
        return None
    if base(relation) == "acl":
        return above
    if base(relation) == "xcomp":
        controller = tree.kid(above, "obj", "iobj")
        return controller if controller is not None else _subject(tree, above, depth + 1)
    if base(relation) in ("conj", "advcl", "parataxis"):
        return _subject(tree, above, depth + 1)
    return None


def _relation(tree: Tree, head: int) -> str:
    """Return the verb group as it stands, with the adverbs beside it; a noun or adjective keeps only its copula."""
    verbal = tree.upos(head) in ("VERB", "AUX")
    kids = [*tree.kids(head, "aux", "cop", "compound:prt")]
    kids += [kid for kid in tree.kids(head, "advmod") if abs(kid - head) <= NEAR]
    place, words = head, sorted([*kids, *([head] if verbal else [])])
    while base(tree.relation(place)) == "xcomp" and tree.head(place) >= 0 and tree.upos(tree.head(place)) == "VERB":
        place = tree.head(place)
        to = [kid for kid in tree.kids(head, "mark") if tree.form(kid) == "to"]
        words = sorted({*tree.kids(place, "aux", "cop"), place, *to, *words})
    told = tree.spell(words)
    bare = base(tree.relation(head)) in ("acl", "advcl") and not tree.kids(head, "aux", "cop", "nsubj", "csubj")
    return f"be {told}".strip() if bare or not told else told


def _arguments(tree: Tree, head: int) -> list[int]:
    """Return the heads of the direct object, else of what complements the verb, and of the adjuncts."""
    found = tree.kids(head, "obj", "ccomp")
    if not found:
        found = [kid for kid in tree.kids(head, "xcomp") if not is_predicate(tree, kid)]
    return [*found, *tree.kids(head, *ADJUNCTS)]


def _members(tree: Tree, place: int) -> list[int]:
    return tree.conjuncts(place)[:MOST]


def _noun(tree: Tree, place: int) -> str:
    """Return a noun phrase without its preposition and the clauses on it."""
    drop = [kid for kid in tree.kids(place) if base(tree.relation(kid)) in ("case", "acl", *OF_CLAUSES)]
    return _full(tree, place, drop)


def _full(tree: Tree, place: int, without: Collection[int] = ()) -> str:
    """Return a phrase with all that belongs to it, less what comments on it and marks at its ends."""
    cut = {kid for kid in tree.kids(place) if base(tree.relation(kid)) in CUT or kid in without}
    tokens = tree.under(place, cut)
    while tokens and tree.upos(tokens[-1]) == "PUNCT":
        tokens.pop()
    while tokens and tree.upos(tokens[0]) == "PUNCT":
        tokens.pop(0)
    return tree.spell(tokens)
