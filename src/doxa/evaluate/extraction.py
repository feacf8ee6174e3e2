"""Open information extraction: what an extractor gives back, in the words of the sentence that it read.

The published scorers compare words exactly, as the sentence writes them, while an engine writes names and verbs for
people ("lives in" for "lived in"). So an extraction is put back into the sentence's own words before it is scored: a
word becomes the word of the sentence that is the same in another case, or another form of the same verb or noun.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from doxa.evaluate.readings import lemma

__all__ = ["Extraction", "Extractor", "in_words_of", "plain"]

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
    """Return an extraction in the words of its tokenised sentence, parted by single blanks. Cost O(words)."""
    forms = _Forms.of(tokens)
    return replace(
        extraction,
        arg1=forms.put(extraction.arg1),
        relation=forms.put(extraction.relation),
        args=tuple(forms.put(arg) for arg in extraction.args),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Forms:
    """The words of a sentence, by themselves, in lower case and by lemma; the first one counts."""

    exact: frozenset[str]
    folded: dict[str, str]
    lemmas: dict[str, str]

    @classmethod
    def of(cls, tokens: Sequence[str]) -> _Forms:
        backwards = list(reversed(tokens))
        return cls(
            exact=frozenset(tokens),
            folded={token.casefold(): token for token in backwards},
            lemmas={lemma(token.casefold()): token for token in backwards},
        )

    def put(self, text: str) -> str:
        # What the sentence writes as one token ("U.S.", "anti-war") stays one.
        pieces = [p for chunk in text.split() for p in ([chunk] if chunk in self.exact else TOKEN.findall(chunk))]
        return " ".join(self._word(piece) for piece in pieces)

    def _word(self, word: str) -> str:
        if word in self.exact:
            return word
        folded = word.casefold()
        return self.folded.get(folded) or self.lemmas.get(lemma(folded), word)
