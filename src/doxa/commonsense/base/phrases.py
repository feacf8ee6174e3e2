"""A parse -> the concepts it speaks of, and its content words."""

from __future__ import annotations

from collections.abc import Sequence

from doxa.backends.parser import Parse, Parser, split

__all__ = ["Phrases", "phrases_of"]

NAMING = ("NOUN", "PROPN")
CONTENT = (*NAMING, "VERB", "ADJ", "ADV")
MODIFIERS = {"compound", "amod", "flat", "nmod"}
"""Dependents in front of a noun that make it another concept: "fire truck", "red wine"."""
MOST_WORDS = 4

Phrases = tuple[tuple[str, ...], tuple[str, ...]]
"""Concepts and content words of a text, lemmas in lower case, in order and each once."""


def phrases_of(texts: Sequence[str], parser: Parser) -> list[Phrases]:
    """Return the concepts (noun phrases without determiners) and the content words of each text.

    A text without content words ("How are you?") keeps all its words, so that its distance to another is defined.
    Cost: one call of the parser for each sentence.
    """
    sentences = [[[word.form for word in sentence] for sentence in split(text)] for text in texts]
    parses = iter(parser.parse([words for text in sentences for words in text]))
    return [_phrases([next(parses) for _ in text]) for text in sentences]


def _phrases(parses: Sequence[Parse]) -> Phrases:
    concepts = dict.fromkeys(concept for parse in parses for concept in _concepts(parse))
    tagged = ((lemma, upos) for parse in parses for lemma, upos in zip(parse.lemmas, parse.upos, strict=True))
    words = dict.fromkeys(lemma.lower() for lemma, upos in tagged if upos in CONTENT)
    if not words:
        words = dict.fromkeys(lemma.lower() for parse in parses for lemma in parse.lemmas if lemma.isalnum())
    return tuple(concepts), tuple(words)


def _concepts(parse: Parse) -> list[str]:
    """A noun with the modifiers that stand right before it; a noun that only modifies is none of its own."""
    found = []
    for place, upos in enumerate(parse.upos):
        relation = parse.deprels[place].partition(":")[0]
        if upos not in NAMING or (relation in ("compound", "flat") and parse.heads[place] > place):
            continue
        first = place
        while first and parse.heads[first - 1] >= first and _modifies(parse, first - 1, place):
            first -= 1
        words = parse.lemmas[max(first, place - MOST_WORDS + 1) : place + 1]
        found.append(" ".join(words).lower())
    return [concept for concept in found if any(letter.isalpha() for letter in concept)]


def _modifies(parse: Parse, place: int, noun: int) -> bool:
    relation, upos = parse.deprels[place].partition(":")[0], parse.upos[place]
    return relation in MODIFIERS and upos in (*NAMING, "ADJ") and parse.heads[place] <= noun
