"""The built-in grader: the NLI model's trunk with adapters and a head for each task, int8, on the CPU.

Its own files are small; the weights of the trunk are read out of the NLI model's file.

Source: Hu et al. 2021, LoRA (the adapters); Guo et al. 2017 (temperature scaling). How it was taught, and how good it
is: `training/trust`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from doxa.backends.grader import GRADES, Grades, Pair, Task
from doxa.backends.onnx import BuiltinModel, TrunkCard, encodable, encoded_pair, folder_of, shared

__all__ = ["OnnxGrader", "open_grader"]

MODEL: Final = "minilm-l6-grade-int8"
MAX_CHARS: Final = 1_600
"""Longest turn that is read; about twice what fits into the tokens of the model."""
MAX_TEXT_CHARS: Final = 300
"""Longest text that is graded."""
MAX_TOKENS: Final = 192


def open_grader(name: str, *, threads: int | None = None, folder: Path | None = None) -> "OnnxGrader":
    """Gives back the built-in grader; its weights are read on the first call of `grade`.

    Args:
        name: Empty or `minilm-l6-grade-int8`.
        threads: Pairs graded side by side; by default one per core, four at most.
        folder: Other weights of the same kind, as `training/trust` writes them.

    Raises:
        ConfigError: Another name, or fewer than one thread.
        BackendError: The files of the model are not there.
    """
    own = folder_of(name, MODEL, Path(__file__).parent, "grader")
    return OnnxGrader(folder or own, threads=threads)


class OnnxGrader(BuiltinModel[tuple[Task, Pair], Grades]):
    """A pair has one row."""

    def __init__(self, folder: Path, *, threads: int | None) -> None:
        """Reads the card of the model and nothing else yet."""
        card = TrunkCard.read(folder, "grader", recipe="training/trust", needs="temperatures")
        super().__init__(card.name, shared(_load, card, card.folder), threads=threads, what="grader")

    def grade(self, task: Task, pairs: Sequence[Pair]) -> Grades:
        """Gives back calibrated probabilities, one row per pair. One call to the model per pair.

        Raises:
            BackendError: The model cannot be loaded or run.
            ClosedError: It was closed.
        """
        rows = self._run([(task, pair) for pair in pairs])
        return np.stack(rows) if rows else np.empty((0, len(GRADES[task])), dtype=np.float32)


def _load(card: TrunkCard) -> Callable[[tuple[Task, Pair]], Grades]:
    session, tokenizer = card.open("grader", max_tokens=MAX_TOKENS, direction="left")
    temperatures = card.fitted  # by which the scores of each task are divided

    def run(asked: tuple[Task, Pair]) -> Grades:
        task, (text, turn) = asked
        text, turn = encodable(text)[:MAX_TEXT_CHARS], encodable(turn)[-MAX_CHARS:]
        _, feed = encoded_pair(tokenizer, text, turn)
        about = f"a pair of {len(text) + len(turn)} characters"
        scores: Grades = session.run([task], feed, about=about)[0][0] / temperatures[task]
        shares: Grades = np.exp(scores - np.logaddexp.reduce(scores))
        return shares

    return run
