"""Ties the classes of a translation to a lexicon and to DOLCE+DnS Ultralite.

Source: D-SMART, appendix A, Algorithm 1, lines 7 to 20: synset by `owl:equivalentClass`, supersense and DUL class by
`rdfs:subClassOf`. Three departures. A frame is PropBank's already, so its synset stands above it. Two nodes of one
word with two senses get a class each, else the synsets would be equal. A DUL class that is disjoint from what AMR
itself says (an event that the lexicon takes for a quality) is left out, with a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode, Triple

from doxa.logic.amr.translate import Translation
from doxa.logic.amr.triples import CLASS, LABEL, SUBCLASS, TYPE
from doxa.logic.amr.vocabulary import expand, local, prefixes, table

__all__ = ["WordSense", "enrich"]

SAME = expand("owl:equivalentClass")


@dataclass(frozen=True, slots=True, kw_only=True)
class WordSense:
    """What a word means: names without namespace, as Framester writes them."""

    synset: str
    """Such as "synset-picture-noun-1"."""
    supersense: str
    """Such as "noun.artifact"."""
    dul: str
    """Such as "DesignedArtifact"; empty where the table knows none."""
    gloss: str = ""


def enrich(translation: Translation, senses: Mapping[str, WordSense]) -> Translation:
    """Return a translation with synset, supersense and DUL class of its nodes; O(triples).

    Args:
        translation: what a graph became.
        senses: the sense of each variable that has one; variables without a class of their own are left out.
    """
    triples = dict.fromkeys(translation.triples)
    warnings = list(translation.warnings)
    meant: dict[str, str] = {}
    for variable, sense in senses.items():
        name = translation.classes.get(variable)
        if name is None:
            continue
        kind = NamedNode(name)
        if meant.setdefault(name, sense.synset) != sense.synset:
            narrow = NamedNode(f"{name}_{local(sense.synset)}")
            new = (Triple(narrow, SUBCLASS, kind), Triple(NamedNode(translation.nodes[variable]), TYPE, narrow))
            triples.update(dict.fromkeys((Triple(narrow, TYPE, CLASS), *new)))
            kind = narrow
        frame = translation.graph.nodes[variable].frame
        triples.update(dict.fromkeys(_lexical(kind, sense, frame=frame)))
        warnings += _align(triples, kind, NamedNode(name), sense)
    return replace(translation, triples=tuple(triples), warnings=tuple(dict.fromkeys(warnings)))


def _lexical(kind: NamedNode, sense: WordSense, *, frame: bool) -> list[Triple]:
    synset = NamedNode(prefixes()["wn30"] + local(sense.synset))
    above = NamedNode(prefixes()["wn30"] + local(f"supersense-{sense.supersense.replace('.', '_')}"))
    found = [Triple(name, TYPE, CLASS) for name in (synset, above)]
    found += [Triple(kind, SUBCLASS if frame else SAME, synset), Triple(kind, SUBCLASS, above)]
    found.append(Triple(above, LABEL, Literal(sense.supersense)))
    return found + ([Triple(synset, expand("rdfs:comment"), Literal(sense.gloss))] if sense.gloss else [])


def _align(triples: dict[Triple, None], kind: NamedNode, word: NamedNode, sense: WordSense) -> list[str]:
    """Add the DUL class, unless it is disjoint from the one that the class already stands under."""
    if not sense.dul:
        return []
    wide = expand(f"dul:{sense.dul}")
    for triple in (t for t in triples if t.subject == word and t.predicate == SUBCLASS):
        there = str(triple.object.value) if isinstance(triple.object, NamedNode) else ""
        name = there.removeprefix(prefixes()["dul"])
        if name != there and _branch(name) and _branch(sense.dul) and _branch(name) != _branch(sense.dul):
            return [f"dul:{sense.dul} was left out for {word.value}: it is disjoint from dul:{name}."]
    triples.update(dict.fromkeys((Triple(wide, TYPE, CLASS), Triple(kind, SUBCLASS, wide))))
    return []


def _branch(name: str) -> str:
    """Return the top-level branch of a DUL class; branches are disjoint from each other."""
    return next((branch for branch, names in table("branches").items() if name in names), "")
