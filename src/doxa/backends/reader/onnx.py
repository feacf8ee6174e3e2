"""The built-in reader: the NLI model's trunk with adapters and a head for both ends of an answer, int8, on the CPU.

The files of the reader are small (1.3 MB): the weights of the trunk are read out of the NLI model's file.

Source: Devlin et al. 2019, BERT, section 4.3 (the head of spans and the score of no answer); Hu et al. 2021, LoRA (the
adapters). How it was trained, and how good it is: `training/reader`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.onnx import BuiltinModel, TrunkCard, encodable, encoded_pair, folder_of, shared
from doxa.backends.reader import Pair, Reading, Span

__all__ = ["OnnxReader", "open_reader", "spans_of"]

MODEL: Final = "minilm-l6-read-int8"
MAX_CHARS: Final = 1_600
"""Longest passage that is read; about twice what fits into the 256 tokens of the model."""
MAX_QUESTION_CHARS: Final = 200
"""Longest question that is read; one that has a token for every character still leaves room for a passage."""
MAX_TOKENS: Final = 256
OUTPUTS: Final = ("ends", "answerable")
LONGEST: Final = 30
"""Tokens of the longest answer."""
KEPT: Final = 3
"""Spans that are given back."""

Scores = NDArray[np.float32]


def open_reader(name: str, *, threads: int | None = None, folder: Path | None = None) -> "OnnxReader":
    """Gives back the built-in reader; its weights are read on the first call of `read`.

    Args:
        name: Empty or `minilm-l6-read-int8`.
        threads: Passages read side by side; by default one per core, four at most.
        folder: Other weights of the same kind, as `training/reader` writes them.

    Raises:
        ConfigError: Another name, or fewer than one thread.
        BackendError: The files of the model are not there.
    """
    own = folder_of(name, MODEL, Path(__file__).parent, "reader")
    return OnnxReader(folder or own, threads=threads)


class OnnxReader(BuiltinModel[Pair, Reading]):
    """A pair has one reading."""

    def __init__(self, folder: Path, *, threads: int | None) -> None:
        """Reads the card of the model and nothing else yet."""
        card = TrunkCard.read(folder, "reader", recipe="training/reader", needs="calibration")
        super().__init__(card.name, shared(_load, card, card.folder), threads=threads, what="reader")

    def read(self, pairs: Sequence[Pair]) -> list[Reading]:
        """Gives back one reading per pair, in order. One call to the model per pair.

        Raises:
            BackendError: The model cannot be loaded or run.
            ClosedError: It was closed.
        """
        return self._run(pairs)


def spans_of(ends: Scores, offsets: Sequence[tuple[int, int]], passage: str) -> tuple[Span, ...]:
    """Return the likeliest spans that do not overlap, best first.

    Args:
        ends: `(n, 2) float32`, the score of every token of the passage as the first and as the last one.
        offsets: the characters of each token in the passage.
        passage: what was read.

    O(n * longest answer).
    """
    count = len(offsets)
    if not count:
        return ()
    scores = ends[:, 0][:, None] + ends[:, 1][None, :]
    allowed = np.triu(np.ones((count, count), dtype=bool)) & ~np.triu(np.ones((count, count), dtype=bool), LONGEST)
    scores = np.where(allowed, scores, -np.inf)
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    found: list[Span] = []
    while len(found) < KEPT:
        place = int(shares.argmax())
        first, last = divmod(place, count)
        if shares[first, last] <= 0.0:
            break
        start, end = offsets[first][0], offsets[last][1]
        found.append(Span(start=start, end=end, text=passage[start:end], score=float(shares[first, last])))
        shares[: last + 1, first:] = 0.0  # every span that shares a token with this one
    return tuple(found)


def _load(card: TrunkCard) -> Callable[[Pair], Reading]:
    scale, shift = map(float, card.fitted)  # of the score that there is an answer
    session, tokenizer = card.open("reader", max_tokens=MAX_TOKENS)

    def run(pair: Pair) -> Reading:
        question, passage = encodable(pair[0]), encodable(pair[1])[:MAX_CHARS]
        tokens, feed = encoded_pair(tokenizer, question[:MAX_QUESTION_CHARS], passage)
        about = f"a pair of {len(question) + len(passage)} characters"
        ends, there = session.run(list(OUTPUTS), feed, about=about)
        inside = [at for at, part in enumerate(tokens.sequence_ids) if part == 1]
        spans = spans_of(ends[0][inside], [tokens.offsets[at] for at in inside], passage)
        score = scale * float(there[0]) + shift
        return Reading(answerable=float(1.0 / (1.0 + np.exp(-score))), spans=spans)

    return run
