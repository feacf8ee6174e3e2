"""Word senses: a node of a graph in its sentence -> synset, supersense, class of DOLCE+DnS Ultralite.

Source: the step that D-SMART gives to EWISER and Framester (appendix A, Algorithm 1, lines 8 to 19). Ours works
offline: the gloss that is most like the sentence (Lesk's idea, with a sentence encoder in place of common words; Lesk
1986, Basile et al. 2014), helped by how usual the sense is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder import Encoder
from doxa.backends.lexicon import Lexicon, PartOfSpeech, Synset
from doxa.logic import AmrGraph, AmrNode, WordSense, amr_terms

__all__ = ["Choice", "Target", "choose_senses", "likely_pos", "senses_of", "senses_of_all"]

MOST_SENSES = 24
"""Senses of one word that are weighed; later ones make up 0.1% of the uses that WordNet counted."""
MOST_WORDS = 4
OWN = ("pronouns", "quantifiers", "determiners")
"""Words that AMR's own vocabulary explains."""


@dataclass(frozen=True, slots=True)
class Target:
    """A word to disambiguate: its base form and the parts of speech that it may be, likeliest first."""

    lemma: str
    pos: tuple[PartOfSpeech, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The sense that was chosen, with its score; scores are comparable within one word only."""

    synset: Synset
    score: float


def senses_of(graph: AmrGraph, text: str, lexicon: Lexicon, encoder: Encoder) -> dict[str, WordSense]:
    """Return the sense of every node that is a word: not a name, a pronoun, a date or another type of AMR's own.

    Args:
        graph: the nodes.
        text: the sentence; the graph's own if empty, else its words.
        lexicon: where the senses come from.
        encoder: what compares the sentence with the glosses.

    Raises:
        BackendError: The lexicon or the encoder failed.

    Cost: one encoding per gloss (about six per word) and one for the sentence; deterministic.
    """
    return senses_of_all([(graph, text)], lexicon, encoder)[0]


def senses_of_all(
    graphs: Sequence[tuple[AmrGraph, str]], lexicon: Lexicon, encoder: Encoder
) -> list[dict[str, WordSense]]:
    """Return `senses_of` of many graphs; every text is encoded once."""
    asked = [(graph, _targets(graph)) for graph, _ in graphs]
    sentences = [text or graph.text or " ".join(n.lemma for n in graph.nodes.values()) for graph, text in graphs]
    pairs = [
        (target, sentence)
        for (_, targets), sentence in zip(asked, sentences, strict=True)
        for target in targets.values()
    ]
    chosen = iter(choose_senses(pairs, lexicon, encoder))
    found: list[dict[str, WordSense]] = []
    for _, targets in asked:
        choices = {variable: next(chosen) for variable in targets}
        found.append({variable: _word_sense(choice.synset) for variable, choice in choices.items() if choice})
    return found


def choose_senses(pairs: Sequence[tuple[Target, str]], lexicon: Lexicon, encoder: Encoder) -> list[Choice | None]:
    """Return the best sense of each `(word, sentence)`; None for a word that the lexicon does not know."""
    candidates = [_candidates(target, lexicon) for target, _ in pairs]
    glosses = {_gloss(synset) for synsets in candidates if len(synsets) > 1 for synset in synsets}
    sentences = {text for (_, text), synsets in zip(pairs, candidates, strict=True) if len(synsets) > 1}
    rows = _encoded(sorted(glosses | sentences), encoder)
    chosen: list[Choice | None] = []
    for (_, text), synsets in zip(pairs, candidates, strict=True):
        if len(synsets) < 2:
            chosen.append(Choice(synsets[0], 0.0) if synsets else None)
            continue
        likeness = np.array([float(rows[_gloss(synset)] @ rows[text]) for synset in synsets])
        scores = likeness + _weights()["prior"] * np.log(_usual(synsets))
        best = int(np.argmax(scores))  # the first of equals: the more usual sense
        chosen.append(Choice(synsets[best], float(scores[best])))
    return chosen


def likely_pos(word: str, lexicon: Lexicon) -> str | None:
    """Return the part of speech that a word has most often, by the lexicon's counts; None when it is unknown."""
    counts = {
        pos: (sum(synset.count for synset in synsets), len(synsets))
        for pos in get_args(PartOfSpeech)
        if (synsets := lexicon.senses(word, pos))
    }
    return max(counts, key=lambda pos: counts[pos]) if counts else None


def _targets(graph: AmrGraph) -> dict[str, Target]:
    """Return the words of a graph by their variables."""
    return {v: _target(graph, node) for v, node in graph.nodes.items() if _is_word(graph, node)}


def _is_word(graph: AmrGraph, node: AmrNode) -> bool:
    concept = node.concept
    if node.special or concept in ("name", "amr-unknown", "amr-choice", "and", "or", "slash", "multi-sentence"):
        return False
    if concept.endswith(("-entity", "-quantity", "-interval")) or any(concept in amr_terms(table) for table in OWN):
        return False
    return not graph.name(node.variable)


def _target(graph: AmrGraph, node: AmrNode) -> Target:
    roles = {edge.role for edge in graph.into(node.variable)}
    if node.frame:
        position = "frame"
    elif roles & {"manner", "degree", "frequency"}:
        position = "manner"
    elif "mod" in roles:
        position = "modifier"
    else:
        position = "thing"
    return Target(node.lemma.replace("-", " "), tuple(_table()["positions"][position].split()))


def _candidates(target: Target, lexicon: Lexicon) -> tuple[Synset, ...]:
    """Return the senses under the first part of speech that has any; a common word does not mean a proper name."""
    for pos in target.pos:
        found = lexicon.senses(target.lemma, pos)
        common = tuple(synset for synset in found if not _proper(synset, target.lemma))
        if found:
            return (common or found)[:MOST_SENSES]
    return ()


def _proper(synset: Synset, lemma: str) -> bool:
    written = next((word for word in synset.words if word.casefold() == lemma.casefold()), lemma)
    return lemma.islower() and not written.islower()


def _gloss(synset: Synset) -> str:
    broader = f" ({synset.broader[0]})" if synset.broader else ""
    return f"{', '.join(synset.words[:MOST_WORDS])}{broader}: {synset.definition}"


def _usual(synsets: Sequence[Synset]) -> NDArray[np.float64]:
    """Return P(sense | word), `(n,)`."""
    counts = np.array([synset.count + _weights()["unseen"] for synset in synsets])
    return np.asarray(counts / counts.sum(), dtype=np.float64)


def _encoded(texts: Iterable[str], encoder: Encoder) -> dict[str, NDArray[np.float32]]:
    listed = list(texts)
    return dict(zip(listed, encoder.encode(listed), strict=True)) if listed else {}


def _word_sense(synset: Synset) -> WordSense:
    return WordSense(
        synset=synset.name,
        supersense=synset.supersense,
        dul=_table()["dul"].get(synset.supersense, ""),
        gloss=synset.definition,
    )


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("disambiguate.toml").read_text(encoding="utf-8"))


def _weights() -> Mapping[str, float]:
    found: Mapping[str, float] = _table()["weights"]
    return found
