"""Open information extraction: what an extractor gives back, in the tokens of the sentence that it read.

The published scorers compare tokens exactly, as the benchmark writes them ("Ana 's car", "did n't"), while an
extractor reads and writes plain text. So a sentence is joined before it is read, and what was extracted is split again
before it is scored; neither adds a word or takes one away.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from doxa_bench.readings import lemma

__all__ = ["Extraction", "Extractor", "in_forms_of", "in_words_of", "plain"]

TIGHT_BEFORE = re.compile(r" (?=[,.;:!?%)\]}]|'s\b|n't\b|'(?:re|ve|ll|d|m)\b|'(?: |$))")
TIGHT_AFTER = re.compile(r"(?<=[(\[{$£€]) ")
QUOTED = re.compile(r'" (.*?) "')
WRITTEN = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
TOKEN = re.compile(r"\w+(?=n't\b)|n't\b|'(?:s|re|ve|ll|d|m)\b|\w+(?:[-.,/]\w+)*(?:\.(?=\w))?|[^\w\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """An n-ary proposition of a sentence: `arg1`, `relation`, and the other arguments, the object first."""

    arg1: str
    relation: str
    args: tuple[str, ...] = ()
    confidence: float = 1.0
    """Above 0, at most 1; only its order matters."""


class Extractor(Protocol):
    """Reads one sentence of plain text, and gives back its propositions."""

    def __call__(self, sentence: str) -> Sequence[Extraction]: ...


def plain(tokens: Sequence[str]) -> str:
    """Return a tokenised sentence as people write it: `Ana 's car -LRB- red -RRB- .` -> `Ana's car (red).`"""
    text = QUOTED.sub(r'"\1"', " ".join(WRITTEN.get(token, token) for token in tokens))
    return TIGHT_AFTER.sub("", TIGHT_BEFORE.sub("", text)).strip()


def in_words_of(tokens: Sequence[str], extraction: Extraction) -> Extraction:
    """Return an extraction in the tokens of its sentence, parted by single blanks. Cost O(words).

    A word that the sentence has only in another case takes that case; the case of its first word, which is no sign of a
    name, goes to the first argument alone.
    """
    exact = frozenset(tokens)
    inner, whole = _by_plain_form(tokens[1:]), _by_plain_form(tokens)
    return replace(
        extraction,
        arg1=_put(extraction.arg1, exact, whole),
        relation=_put(extraction.relation, exact, inner),
        args=tuple(_put(arg, exact, inner) for arg in extraction.args),
    )


def in_forms_of(sentence: str, relation: str) -> str:
    """Return a relation with its words as a sentence has them: "lives in" -> "lived in", if that is what it says."""
    forms = TOKEN.findall(sentence)
    lemmas = {lemma(form.casefold()): form for form in reversed(forms)}
    words = TOKEN.findall(relation)
    return " ".join(word if word in forms else lemmas.get(lemma(word.casefold()), word) for word in words)


def _by_plain_form(tokens: Sequence[str]) -> dict[str, str]:
    """Return the tokens by what stands for them in plain text, in lower case; the first one counts."""
    return {WRITTEN.get(token, token).casefold(): token for token in reversed(tokens)}


def _put(text: str, exact: Collection[str], folded: Mapping[str, str]) -> str:
    # What the sentence writes as one token ("U.S.", "anti-war") stays one.
    pieces = [p for chunk in text.split() for p in ([chunk] if chunk in exact else TOKEN.findall(chunk))]
    return " ".join(piece if piece in exact else folded.get(piece.casefold(), piece) for piece in pieces)
