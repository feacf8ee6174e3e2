"""Dependency tree -> tense, voice, modal verb, negation and particle of a predicate."""

from __future__ import annotations

from doxa.language.syntax import Tree, base
from doxa.language.words import MODALS, Tense

__all__ = ["NEGATIONS", "forms_of_passive", "is_negated", "modal_of", "particle_of", "tense_of", "third_person"]

NEGATIONS = frozenset("not n't never no neither nor hardly rarely seldom without nobody none".split())
UNCHANGED = frozenset("put let cut set hit quit hurt shut split spread bet cast upset".split())
"""Verbs whose past is their base form."""
PARTICLES = frozenset("back away up down off out over along together around".split())


def tense_of(tree: Tree, head: int) -> tuple[Tense, bool, bool]:
    """Return tense, whether progressive, whether passive."""
    auxiliaries = [*tree.kids(head, "aux"), *tree.kids(head, "cop")]
    forms = [tree.form(aux) for aux in auxiliaries]
    verb = tree.upos(head) == "VERB"
    passive = tree.kid(head, "aux:pass", "nsubj:pass") is not None
    progressive = verb and tree.form(head).endswith("ing") and not passive
    progressive = progressive or "getting" in forms_of_passive(tree, head)
    if any(form in ("will", "shall", "'ll", "wo") for form in forms):
        return "future", progressive, passive
    if any(tree.lemma(aux) == "have" and tree.relation(aux) != "cop" for aux in auxiliaries):
        return ("past" if "had" in forms else "perfect"), progressive, passive
    if {"was", "were", "did", "had"} & set(forms) or "got" in forms_of_passive(tree, head):
        return "past", progressive, passive
    if forms or not verb:
        return "present", progressive, passive
    if _same_in_past(tree, head):
        return "past", progressive, passive
    if tree.form(head) in (tree.lemma(head), "am", "are") or third_person(tree, head) or progressive:
        return "present", progressive, passive
    if base(tree.relation(head)) == "acl" and tree.kid(head, "nsubj") is None:
        return "present", progressive, True
    return "past", progressive, passive


def _same_in_past(tree: Tree, head: int) -> bool:
    """Tell whether a form that is base and past alike is the past: after "she", or a verb for what happens once."""
    form, subject = tree.form(head), tree.kid(head, "nsubj")
    if form not in UNCHANGED or subject is None:
        return False
    alone = tree.form(subject) in ("he", "she", "it") or tree.upos(subject) == "PROPN"
    singular = tree.upos(subject) == "NOUN" and tree.form(subject) == tree.lemma(subject)
    return form in ("quit", "split") or ((alone or singular) and tree.kid(subject, "conj") is None)


def forms_of_passive(tree: Tree, head: int) -> list[str]:
    """Return the auxiliaries of a passive: "is" in "is sold", "getting" in "getting married"."""
    return [tree.form(aux) for aux in tree.kids(head, "aux:pass")]


def third_person(tree: Tree, head: int) -> bool:
    """Tell whether a verb stands in the third person of the present ("tastes")."""
    form, stem = tree.form(head), tree.lemma(head)[:-1].rstrip("e")
    if form in ("is", "has", "does", "goes"):
        return True
    return tree.upos(head) == "VERB" and form.endswith("s") and form != tree.lemma(head) and form.startswith(stem)


def is_negated(tree: Tree, head: int) -> bool:
    """Tell whether a predicate carries a negation of its own, or one of its arguments "neither ... nor"."""
    if any(tree.form(kid) in NEGATIONS for kid in tree.kids(head, "advmod", "det", "cc", "aux")):
        return True
    pairs = [pair for kid in tree.kids(head, "nsubj", "obj", "obl") for pair in tree.kids(kid, "cc")]
    return any(tree.form(pair) == "neither" for pair in pairs)


def modal_of(tree: Tree, head: int) -> str:
    """Return the modal verb of a predicate; empty when there is none."""
    return next((tree.form(aux) for aux in tree.kids(head, "aux") if tree.form(aux) in MODALS), "")


def particle_of(tree: Tree, head: int) -> int | None:
    """Return the particle of a phrasal verb, also where it was parsed as an adverb right behind its verb."""
    found = tree.kid(head, "compound:prt")
    if found is not None and not tree.words[found].form.islower():
        return None  # "Spirited Away"
    if found is None and tree.upos(head) == "VERB":
        found = next((k for k in tree.kids(head, "advmod") if k == head + 1 and tree.form(k) in PARTICLES), None)
    return found
