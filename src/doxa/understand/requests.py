"""A message -> what it asks of the memory itself: what is known, what is coming up, that something be forgotten.

"What do you know about me?", "anything on saturday", "can you forget my number": such messages speak of the memory, not
of the world, and are said in so many ways that no list holds them. A linear softmax over the sentence vector of the
built-in encoder and over hashed words and pairs of words, taught on examples that were written by hand, knows them.

Source: ours. The examples, how the weights were fitted and how well they hold out: `training/requests`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from doxa.backends.parser import Parse, Parser, Word, split

__all__ = ["LONGEST", "REQUESTS", "Request", "hashed", "kept_words", "request_of"]

Request = Literal["other", "overview", "recap", "agenda", "abilities", "erase", "erase_all", "remember", "yes", "no"]
REQUESTS: Final[tuple[Request, ...]] = get_args(Request)
LONGEST: Final = 240
"""Characters of the longest message that is taken for a request; what is longer tells something."""
HASHED: Final = 4096
"""Rows of weights for words and pairs of words; one is the row of its hash."""
TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[?!]")
Weights = tuple[NDArray[np.float32], NDArray[np.float32], float]


def request_of(text: str, vector: NDArray[np.float32]) -> Request:
    """Return what a message asks of the memory; "other" where it asks nothing of it, or that is not sure.

    Args:
        text: the message.
        vector: the same `(dims,) float32` by the built-in encoder.

    Deterministic. O(words), and one product of a matrix and a vector.
    """
    weights, bias, least = _model()
    scores = np.r_[vector, hashed(text)] @ weights + bias
    shares = np.exp(scores - np.logaddexp.reduce(scores))
    best = int(shares.argmax())
    return REQUESTS[best] if shares[best] >= least else "other"


def hashed(text: str) -> NDArray[np.float32]:
    """Return the words of a text and its pairs of words as a vector `(HASHED,)` of length one at most."""
    words = [word if word.isalpha() else "0" if word.isdigit() else word
             for word in TOKEN.findall(text.casefold().replace("\u2019", "'"))]  # fmt: skip
    found = {
        *words,
        *(f"{one} {two}" for one, two in pairwise(["^", *words, "$"])),
        *(f"<{word}" for word in words[:3]),
    }
    row = np.zeros(HASHED, dtype=np.float32)
    row[[zlib.crc32(feature.encode()) % HASHED for feature in found]] = 1 / max(len(found), 1) ** 0.5
    return row


def kept_words(text: str, parser: Parser) -> str:
    """Return what a message that wants something remembered says is so: the clause under its verb, else all of it.

    Raises:
        BackendError: the parser failed.
    """
    sentences = split(text)
    parses = parser.parse([[word.form for word in words] for words in sentences])
    told = [clause for words, parse in zip(sentences, parses, strict=True) for clause in _clauses(text, words, parse)]
    return " ".join(told) or text


def _clauses(text: str, words: Sequence[Word], parse: Parse) -> Iterator[str]:
    """Yield the first clause that is governed in a sentence, without its "that", as a sentence of its own."""
    root = parse.heads.index(-1) if -1 in parse.heads else 0
    heads = [at for at, rel in enumerate(parse.deprels) if at > root and rel.partition(":")[0] in ("ccomp", "acl")]
    if not heads:
        return
    inside = sorted(at for at in range(len(words)) if _under(at, heads[0], parse))
    while inside and parse.deprels[inside[0]] in ("mark", "punct", "cc"):
        del inside[0]
    while inside and parse.upos[inside[-1]] == "PUNCT":
        del inside[-1]
    if inside:
        clause = text[words[inside[0]].start : words[inside[-1]].end]
        yield f"{clause[0].upper()}{clause[1:]}."


def _under(at: int, head: int, parse: Parse) -> bool:
    """Tell whether a word is in the subtree of another."""
    while at not in (head, -1):
        at = parse.heads[at]
    return at == head


@cache
def _model() -> Weights:
    with files("doxa.understand").joinpath("requests.npz").open("rb") as file, np.load(file) as data:
        return data["weights"] * data["scale"], data["bias"], float(data["least"])
