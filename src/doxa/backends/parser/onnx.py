"""The built-in parser, which reads turns as well: MiniLM-L6, int8 weights, run by ONNX Runtime on the CPU."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from doxa.backends.onnx import BuiltinModel, SideBySide, folder_of, shared, threads_of
from doxa.backends.parser import Heard, Line, Parse
from doxa.backends.parser.decoding import ANCHORS, heard_in
from doxa.backends.parser.network import ModelCard, Network, open_network, read_card
from doxa.backends.parser.sequences import Sequenced, sequenced

__all__ = ["OnnxParser", "open_parser"]

MODEL: Final = "minilm-l6-frames-int8"
MAX_WORDS: Final = 120
"""Words of one call; a longer sentence is cut, at punctuation where there is some, and its parts are joined."""
MAX_PIECES: Final = 400
CUT_BEHIND: Final = frozenset(".!?;:,…") | {"...", "--", "-", ")", "–", "—"}
UNPARSED: Final = Parse(forms=(), lemmas=(), upos=(), heads=(), deprels=(), tags=(), confidences=())


def open_parser(name: str, *, threads: int | None = None) -> "OnnxParser":
    """Gives back the built-in parser; its model is read on the first call of `parse` or `hear`.

    Args:
        name: Empty or `minilm-l6-frames-int8`.
        threads: Sentences parsed side by side; by default one per core, four at most.

    Raises:
        ConfigError: Another name, or fewer than one thread.
        BackendError: The files of the model are not there.
    """
    return OnnxParser(read_card(folder_of(name, MODEL, Path(__file__).parent, "parser")), threads=threads)


class OnnxParser(BuiltinModel[Sequence[str], Parse]):
    """A sentence has one parse, and a turn behind those before it one meaning."""

    def __init__(self, card: ModelCard, *, threads: int | None) -> None:
        """Takes note of the model; nothing is loaded yet."""
        opened = shared(open_network, card, card.folder)
        super().__init__(card.name, partial(_parsing, opened), threads=threads, what="parser")
        self._hear = SideBySide(partial(_hearing, opened), threads=threads_of(threads), what="parser")

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """Gives back one parse per sentence, in order. One call to the model per sentence of up to 120 words.

        Raises:
            BackendError: The model cannot be loaded or run.
            ClosedError: The parser was closed.
        """
        return self._run(sentences)

    def hear(self, turns: Sequence[Sequence[Line]]) -> list[Heard]:
        """Gives back what each turn says, in order. One call to the model per turn.

        Raises:
            BackendError: The model cannot be loaded or run.
            ClosedError: The parser was closed.
        """
        return self._hear(turns)

    def close(self) -> None:
        """Ends the threads and lets go of the model."""
        super().close()
        self._hear.close()


def _hearing(opened: Callable[[], Network]) -> Callable[[Sequence[Line]], Heard]:
    network = opened()

    def run(lines: Sequence[Line]) -> Heard:
        found = _fitting(sequenced(lines), network)
        forms = [word.form for word in found.words]
        scores = network.scores(forms, about=f"a turn of {len(lines[-1].text)} characters", least=ANCHORS)
        return heard_in(network, found, scores, lines[-1].text)

    return run


def _fitting(found: Sequenced, network: Network) -> Sequenced:
    """Return as many words of a sequence as the model takes; those before the turn's own always fit."""
    total = np.cumsum([len(network.pieces(word.form)) for word in found.words])
    return replace(found, words=found.words[: int(np.searchsorted(total, MAX_PIECES, side="right"))])


def _parsing(opened: Callable[[], Network]) -> Callable[[Sequence[str]], Parse]:
    network = opened()

    def run(sentence: Sequence[str]) -> Parse:
        forms = tuple(sentence)
        about = f"a sentence of {len(forms)} words"
        parts = []
        for start, end in _cuts(forms, [len(network.pieces(form)) for form in forms]):
            some = forms[start:end]
            parts.append(network.parse(some, network.scores(some, about=about)))
        return _join(parts)

    return run


def _cuts(forms: Sequence[str], sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Where a long sentence is cut: the last punctuation in the second half of what fits, else where it is full."""
    cuts: list[tuple[int, int]] = []
    start = 0
    while start < len(forms):
        end, used = start, 0
        while end < len(forms) and end - start < MAX_WORDS and used + sizes[end] <= MAX_PIECES:
            used += sizes[end]
            end += 1
        if end < len(forms):
            middle = (start + end) // 2
            end = next((at for at in range(end, middle, -1) if forms[at - 1] in CUT_BEHIND), end)
        cuts.append((start, end))
        start = end
    return cuts


def _join(parts: Sequence[Parse]) -> Parse:
    """One tree of several: each later part hangs on the first one's root as `parataxis`."""
    if len(parts) < 2:
        return parts[0] if parts else UNPARSED
    root = parts[0].heads.index(-1)
    heads: list[int] = []
    deprels: list[str] = []
    for at, part in enumerate(parts):
        offset = len(heads)
        heads += [head + offset if head >= 0 else (root if at else -1) for head in part.heads]
        deprels += ["parataxis" if at and label == "root" else label for label in part.deprels]
    return Parse(
        forms=tuple(form for part in parts for form in part.forms),
        lemmas=tuple(one for part in parts for one in part.lemmas),
        upos=tuple(tag for part in parts for tag in part.upos),
        heads=tuple(heads),
        deprels=tuple(deprels),
        tags=tuple(tag for part in parts for tag in part.tags),
        confidences=tuple(share for part in parts for share in part.confidences),
    )
