"""The built-in parser: MiniLM-L6 fine-tuned on UD English, int8 weights, run by ONNX Runtime on the CPU.

Source: Dozat and Manning 2017 (biaffine attention), Kondratyuk and Straka 2019 (one model for all tasks), Wang et
al. 2020 (MiniLM). How it was made: `training/parser`.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.onnx import BuiltinModel, card_of, encodable, folder_of, open_session, open_tokenizer
from doxa.backends.parser import Parse
from doxa.backends.parser.features import features
from doxa.backends.parser.lemmas import lemma
from doxa.backends.parser.tree import best_tree

__all__ = ["OnnxParser", "open_parser"]

MODEL: Final = "minilm-l6-ud-int8"
MAX_WORDS: Final = 120
"""Words of one call; a longer sentence is cut, at punctuation where there is some, and its parts are joined."""
MAX_PIECES_PER_WORD: Final = 12
MAX_PIECES: Final = 400
MAX_WORD_CHARS: Final = 100
MAX_KNOWN: Final = 50_000  # words whose pieces are remembered
CLS, SEP, UNKNOWN = 101, 102, 100  # in the vocabulary of BERT, uncased
CUT_BEHIND: Final = frozenset(".!?;:,…") | {"...", "--", "-", ")", "–", "—"}
NEVER: Final = -1e4  # the score of a word's arc to itself
UNPARSED: Final = Parse(forms=(), lemmas=(), upos=(), heads=(), deprels=(), tags=(), confidences=())

Run = Callable[[Sequence[str]], Parse]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What `model.json` says about a model that ships with Doxa: its classes in the order of its outputs."""

    name: str
    upos: tuple[str, ...]
    deprels: tuple[str, ...]
    scripts: tuple[str, ...]
    tags: tuple[str, ...]
    exceptions: Mapping[str, str]
    """Lemmas of irregular words, by `form|UPOS`."""
    folder: Path


def open_parser(name: str, *, threads: int | None = None) -> "OnnxParser":
    """Gives back the built-in parser; its model is read on the first call of `parse`.

    Args:
        name: Empty or `minilm-l6-ud-int8`.
        threads: Sentences parsed side by side; by default one per core, four at most.

    Raises:
        ConfigError: Another name, or fewer than one thread.
        BackendError: The files of the model are not there.
    """
    return OnnxParser(_read_card(folder_of(name, MODEL, Path(__file__).parent, "parser")), threads=threads)


class OnnxParser(BuiltinModel[Sequence[str], Parse]):
    """A sentence has one parse."""

    def __init__(self, card: ModelCard, *, threads: int | None) -> None:
        """Takes note of the model; nothing is loaded yet."""
        super().__init__(card.name, partial(_load, card), threads=threads, what="parser")

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """Gives back one parse per sentence, in order. One call to the model per sentence of up to 120 words.

        Raises:
            BackendError: The model cannot be loaded or run.
            ClosedError: The parser was closed.
        """
        return self._run(sentences)


def _load(card: ModelCard) -> Run:
    session = open_session(card.folder / "model.onnx", "parser")
    tokenizer = open_tokenizer(card.folder / "tokenizer.json", "parser")
    pieces = _pieces(tokenizer)
    words = frozenset(word for word in tokenizer.get_vocab() if len(word) > 2 and word.isalpha())

    def run(sentence: Sequence[str]) -> Parse:
        forms = tuple(sentence)
        ids = [pieces(form) for form in forms]
        about = f"a sentence of {len(forms)} words"
        parts = []
        for start, end in _cuts(forms, [len(one) for one in ids]):
            scores = session.run(None, _feed(forms[start:end], ids[start:end]), about=about)
            parts.append(_decode(card, words, forms[start:end], scores))
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


def _feed(forms: Sequence[str], ids: Sequence[Sequence[int]]) -> dict[str, NDArray[Any]]:
    """The inputs of the model: piece ids, first piece and share of pieces of each word, spelling."""
    sizes = [len(one) for one in ids]
    firsts = np.cumsum([1, *sizes])[:-1]
    length = 2 + sum(sizes)
    pool = np.zeros((1, len(forms) + 1, length), dtype=np.float32)
    pool[0, 0, 0] = 1.0
    for at, (first, size) in enumerate(zip(firsts, sizes, strict=True), start=1):
        pool[0, at, first : first + size] = 1.0 / size
    spelt = np.zeros((1, len(forms) + 1, 4), dtype=np.int64)
    spelt[0, 1:] = features(forms)
    return {
        "ids": np.array([[CLS, *(piece for one in ids for piece in one), SEP]], dtype=np.int64),
        "first": np.array([[0, *firsts]], dtype=np.int64),
        "pool": pool,
        "features": spelt,
    }


def _decode(card: ModelCard, words: Set[str], forms: Sequence[str], scores: Sequence[NDArray[np.float32]]) -> Parse:
    arcs, label_dep, label_head, upos, scripts, tags = (one[0] for one in scores)
    rows = np.arange(len(forms))
    arcs[rows, rows + 1] = NEVER
    heads = best_tree(arcs)
    labels = np.einsum("nld,nd->nl", label_dep, label_head[heads + 1])
    chosen_upos = [card.upos[at] for at in upos.argmax(axis=1)]
    chosen_scripts = [card.scripts[at] for at in scripts.argmax(axis=1)]
    return Parse(
        forms=tuple(forms),
        lemmas=tuple(
            lemma(form, tag, script, card.exceptions, words)
            for form, tag, script in zip(forms, chosen_upos, chosen_scripts, strict=True)
        ),
        upos=tuple(chosen_upos),
        heads=tuple(heads.tolist()),
        deprels=_labels(card, labels, heads),
        tags=_bio([card.tags[at] for at in tags.argmax(axis=1)]),
        confidences=tuple(np.round(_softmax(arcs)[rows, heads + 1], 4).tolist()),
    )


def _labels(card: ModelCard, scores: NDArray[np.float32], heads: NDArray[np.int64]) -> tuple[str, ...]:
    """The best label of each arc; `root` belongs to the root alone."""
    root = card.deprels.index("root")
    free = scores.copy()
    free[:, root] = -np.inf
    chosen = free.argmax(axis=1)
    return tuple("root" if head < 0 else card.deprels[at] for head, at in zip(heads, chosen, strict=True))


def _bio(tags: Sequence[str]) -> tuple[str, ...]:
    """Well-formed tags: an I- that continues nothing of its type becomes a B-."""
    mended: list[str] = []
    for tag in tags:
        before = mended[-1] if mended else "O"
        mended.append("B-" + tag[2:] if tag.startswith("I-") and before[2:] != tag[2:] else tag)
    return tuple(mended)


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


def _softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: NDArray[np.float32] = raised / raised.sum(axis=-1, keepdims=True)
    return shares


def _pieces(tokenizer: Any) -> Callable[[str], Sequence[int]]:
    """A function from a word to the ids of its pieces, one at least, that remembers common words."""
    known: dict[str, tuple[int, ...]] = {}

    def pieces(form: str) -> tuple[int, ...]:
        found = known.get(form)
        if found is None:
            clean = encodable(form[:MAX_WORD_CHARS])
            ids = tokenizer.encode(clean, add_special_tokens=False).ids[:MAX_PIECES_PER_WORD]
            found = tuple(ids) or (UNKNOWN,)
            if len(known) < MAX_KNOWN:
                known[form] = found
        return found

    return pieces


def _read_card(folder: Path) -> ModelCard:
    with card_of(folder, "parser") as card:
        lists = {name: tuple(card[name]) for name in ("upos", "deprels", "scripts", "tags")}
        return ModelCard(name=card["name"], exceptions=card["exceptions"], folder=folder, **lists)
