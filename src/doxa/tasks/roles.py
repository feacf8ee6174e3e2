"""roles: clause -> its parts by what they do: verb class, object, subject, places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import ValueKind
from doxa.tasks.phrases import Element, elements, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.scene import Scene
from doxa.tasks.verbs import lexicon, verbs_of

__all__ = ["REPLACING", "everywhere", "numbered", "objects", "split_of", "subject", "verb_in"]

REPLACING = ("instead of", "rather than", "in place of")


def verb_in(clause: Clause, kind: str) -> bool:
    """Tell whether a clause's verb, with its particle, is of a class."""
    known = verbs_of(kind)
    if clause.particle:
        return f"{clause.verb} {clause.particle}" in known
    return clause.verb in known


def objects(scene: Scene, clause: Clause) -> list[Element]:
    """Return the elements behind the verb of a clause; all of them where it has none."""
    rest = clause.rest
    if len(rest) > 1 and rest[0].lower in ("me", "us", "myself", "ourselves") and rest[1].upos != "ADP":
        rest = rest[1:]  # "book me a table" is about a table
    while len(rest) > 1 and clause.verb and (rest[0].upos in ("VERB", "CCONJ") and not rest[0].form.endswith("ing")):
        rest = rest[1:]  # "peel and chop shrimp" is about shrimp
    clause = replace(clause, rest=rest)
    return [numbered(scene, one) for one in elements(clause.rest, scene.text, scene.typed)]


def numbered(scene: Scene, one: Element) -> Element:
    """Take a number into a name where something is called so: "project 40"."""
    one = replace(one, attached=tuple((prep, numbered(scene, inner)) for prep, inner in one.attached))
    inner = next((inner for prep, inner in one.attached if prep == ""), None)
    if inner is None or inner.value is None or inner.value.kind is not ValueKind.NUMBER or inner.each or not one.words:
        return one
    name = f"{one.text} {inner.value.text}"
    if not any(words_of(scene.editor.node(key).name) == words_of(name) for key in scene.editor.find(name)[:8]):
        return one
    kept = tuple(pair for pair in one.attached if pair[1] is not inner)
    return replace(one, text=name, words=words_of(name), attached=kept, end=inner.end)


def subject(scene: Scene, clause: Clause) -> Element | None:
    """Return what a clause says something of."""
    if clause.wrapped:
        return Element(text="", pronoun=clause.wrapped.split()[0])
    found = [one for one in elements(clause.subject, scene.text, scene.typed) if one.text or one.pronoun]
    return found[-1] if len(found) == 1 else found[0] if found else None


def everywhere(clause: Clause) -> bool:
    """Tell whether a change is said to be one of all lists."""
    return bool(clause.has(lexicon()["cues"]["everywhere"][:16])) or bool(
        clause.has(("let's all", "all use", "anywhere", "everywhere", "throughout"))
    )


def split_of(found: Sequence[Element], *preps: str) -> tuple[list[Element], list[Element]]:
    """Part elements from what is attached to them by some prepositions; bare ones that follow go with the latter."""
    left: list[Element] = []
    right: list[Element] = []
    for element in found:
        inner = element.with_prep(*preps)
        if inner:
            right += inner
            kept = tuple(pair for pair in element.attached if pair[0] not in preps)
            if element.text or element.value is not None or kept:
                left.append(replace(element, attached=kept))
        elif right and not element.first and not element.attached:
            right.append(element)
        else:
            left.append(element)
    return left, right
