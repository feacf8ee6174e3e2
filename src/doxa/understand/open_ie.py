"""Sentence -> open propositions: (subject, relation phrase, arguments), whatever the verb and however it is meant.

Open information extraction in the sense of Banko et al. 2007, read off the dependency tree clause by clause (ClausIE,
Del Corro and Gemulla 2013). Nothing is left out for being hypothetical or denied: this shows what a sentence is
about; what a memory may believe of it is decided by `understand`.
"""

from __future__ import annotations

from collections.abc import Iterator

from doxa.backends.parser import Parser
from doxa.core.values import OpenProposition
from doxa.language.syntax import Tree, base, trees
from doxa.understand.arguments import is_predicate

__all__ = ["open_propositions"]

ADJUNCTS = ("obl", "iobj")
CUT = frozenset(["advcl", "parataxis", "discourse", "vocative", "punct", "cc"])


def open_propositions(text: str, parser: Parser) -> list[OpenProposition]:
    """Return the propositions of a text, in order. Cost: one parse a sentence.

    Raises:
        BackendError: the parser failed.
    """
    found = (told for tree in trees(text, parser) for told in _of_sentence(tree))
    return [told for told in found if told.subject and all(told.arguments)]


def _of_sentence(tree: Tree) -> Iterator[OpenProposition]:
    for head in range(len(tree.words)):
        if not is_predicate(tree, head) or base(tree.relation(head)) in ("aux", "cop"):
            continue
        subject = _subject(tree, head)
        if subject is None or tree.upos(subject) == "DET":
            continue
        arguments = list(_arguments(tree, head))
        if not arguments:
            continue
        relation = _relation(tree, head)
        sure = tree.parse.confidences[head] * tree.parse.confidences[subject]
        for member in tree.conjuncts(subject):
            yield OpenProposition(
                subject=_full(tree, member), relation=relation, arguments=tuple(arguments), confidence=sure
            )
    for place in range(len(tree.words)):
        for kid in tree.kids(place, "appos"):
            yield OpenProposition(
                subject=_full(tree, place, without=(kid,)), relation="is", arguments=(_full(tree, kid),),
                confidence=tree.parse.confidences[kid] * 0.8,
            )  # fmt: skip


def _subject(tree: Tree, head: int, depth: int = 0) -> int | None:
    """Return the subject of a predicate: its own, that of the clause it goes on from, or the noun that it describes."""
    own = tree.kid(head, "nsubj", "csubj")
    relation, above = tree.relation(head), tree.head(head)
    if own is not None:
        relative = tree.form(own) in ("who", "which", "that") and relation == "acl:relcl"
        return above if relative else own
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
    """Return the verb group as it stands, with its negation; a noun or adjective keeps only its copula."""
    kids = [kid for kid in tree.kids(head) if base(tree.relation(kid)) in ("aux", "cop")]
    kids += tree.kids(head, "compound:prt")
    kids += [kid for kid in tree.kids(head, "advmod") if tree.form(kid) in ("not", "n't", "never")]
    verbal = tree.upos(head) in ("VERB", "AUX")
    place, words = head, sorted([*kids, *([head] if verbal else [])])
    while base(tree.relation(place)) == "xcomp" and tree.head(place) >= 0 and tree.upos(tree.head(place)) == "VERB":
        place = tree.head(place)
        group = [kid for kid in tree.kids(place) if base(tree.relation(kid)) in ("aux", "cop")]
        to = [kid for kid in tree.kids(head, "mark") if tree.form(kid) == "to"]
        words = sorted({*group, place, *to, *words})
    return tree.spell(words) or "is"


def _arguments(tree: Tree, head: int) -> Iterator[str]:
    """Yield the direct object or predicate nominal first, then the adjuncts with their prepositions."""
    if tree.upos(head) not in ("VERB", "AUX"):
        drop = [k for k in tree.kids(head) if base(tree.relation(k)) in ("nsubj", "cop", "aux", "mark", "obl", "csubj")]
        yield _full(tree, head, without=drop)
    for kid in tree.kids(head, "obj", "ccomp"):
        yield _full(tree, kid)
    if tree.kid(head, "obj", "ccomp") is None:
        for kid in tree.kids(head, "xcomp"):
            yield _full(tree, kid)
    for kid in tree.kids(head, *ADJUNCTS):
        yield _full(tree, kid)


def _full(tree: Tree, place: int, without: tuple[int, ...] | list[int] = ()) -> str:
    """Return a phrase with all that belongs to it, less clauses that only comment and marks at its ends."""
    cut = {kid for kid in tree.kids(place) if base(tree.relation(kid)) in CUT or kid in without}
    cut |= {kid for kid in tree.kids(place, "conj") if is_predicate(tree, kid)}
    tokens = tree.under(place, cut)
    while tokens and tree.upos(tokens[-1]) == "PUNCT":
        tokens.pop()
    while tokens and tree.upos(tokens[0]) == "PUNCT":
        tokens.pop(0)
    return tree.spell(tokens)
