"""Reply and reference -> how many words they share: word F1 and BLEU. Neither knows what is right.

Source: Lei et al., D-SMART, "Lexical Metrics", which names both and defines neither. Word F1 here is over bags of
lower-cased words, as in SQuAD but with articles; BLEU is sacrebleu's, whose signature the report names, of each reply
by itself (`effective_order`, since replies may have fewer than four words) and averaged. Published numbers may differ.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

from doxa.core.errors import MissingDependencyError
from doxa_bench.metrics import f1_of_counts

__all__ = ["bleu", "bleu_signature", "has_bleu", "word_f1"]

WORD = re.compile(r"\w+(?:['’]\w+)*")


def word_f1(reply: str, reference: str) -> float:
    """Return the F1 of the words of a reply against those of a reference, 0 to 1; 1 where both have none."""
    said, wanted = _bag(reply), _bag(reference)
    if not said and not wanted:
        return 1.0
    shared = sum((said & wanted).values())
    return f1_of_counts(shared, said.total(), shared, wanted.total()) or 0.0


def bleu(reply: str, reference: str) -> float:
    """Return the BLEU of a reply, 0 to 1 (sacrebleu's sentence score / 100).

    Raises:
        MissingDependencyError: sacrebleu is not installed.
    """
    return float(_scorer().sentence_score(reply, [reference]).score) / 100


def bleu_signature() -> str:
    """Return how BLEU is computed, as sacrebleu writes it; empty before the first score."""
    return str(_scorer().get_signature())


def has_bleu() -> bool:
    """Tell whether BLEU can be computed here."""
    try:
        _scorer()
    except MissingDependencyError:
        return False
    return True


def _bag(text: str) -> Counter[str]:
    return Counter(WORD.findall(text.casefold()))


@cache
def _scorer() -> Any:
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as exc:
        raise MissingDependencyError("sacrebleu", purpose="BLEU") from exc
    return BLEU(effective_order=True)
