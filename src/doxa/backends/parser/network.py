"""The network of the built-in parser, open: words -> scores, and the parse that they say.

Source: Dozat and Manning 2017 (biaffine attention), Kondratyuk and Straka 2019 (one model for all tasks), Wang et
al. 2020 (MiniLM). How it was made: `training/parser`, `training/frames`.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.onnx import Session, card_of, encodable, open_session, open_tokenizer, trunk_weights
from doxa.backends.parser import Parse
from doxa.backends.parser.features import features
from doxa.backends.parser.lemmas import lemma
from doxa.backends.parser.tree import best_tree

__all__ = ["ModelCard", "Network", "open_network", "read_card"]

MAX_PIECES_PER_WORD: Final = 12
MAX_WORD_CHARS: Final = 100
MAX_KNOWN: Final = 50_000  # words whose pieces are remembered
CLS, SEP, UNKNOWN = 101, 102, 100  # in the vocabulary of BERT, uncased
NEVER: Final = -1e4  # the score of a word's arc to itself
NOWHERE: Final = (1.0, 1.0)
"""Of probabilities, what no word is beyond: a parse needs no word to be looked from."""
ENCODERS: Final = Path(__file__).parents[1] / "encoder"
"""Where the file lies that lends its table of words."""

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What `model.json` says of a model that ships with Doxa: its classes in the order of its outputs."""

    name: str
    outputs: tuple[str, ...]
    upos: tuple[str, ...]
    deprels: tuple[str, ...]
    scripts: tuple[str, ...]
    tags: tuple[str, ...]
    parts: tuple[str, ...]
    """What words of a claim are to it."""
    relations: tuple[str, ...]
    claim_flags: tuple[str, ...]
    exceptions: Mapping[str, str]
    """Lemmas of irregular words, by `form|UPOS`."""
    table: Mapping[str, str]
    """The encoder whose table of words it stands on: its name, and the digest of its file."""
    folder: Path


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Network:
    """The open model."""

    card: ModelCard
    session: Session
    pieces: Callable[[str], Sequence[int]]
    words: Set[str]
    """The words of the vocabulary."""

    def scores(
        self, forms: Sequence[str], *, about: str, least: tuple[float, float] = NOWHERE
    ) -> dict[str, NDArray[Any]]:
        """Gives back the outputs for some words by their names.

        Args:
            forms: The words.
            about: What they are, in messages.
            least: How likely a word has to be a predicate, or the anchor of a claim, for the model to look from it at
                all others. The likeliest one is always looked from. Looking costs as much as reading for every six.

        Raises:
            BackendError: The model failed.
        """
        feed = _feed(forms, [self.pieces(form) for form in forms]) | {"least": np.array(least, dtype=np.float32)}
        return dict(zip(self.card.outputs, self.session.run(None, feed, about=about), strict=True))

    def parse(self, forms: Sequence[str], scores: Mapping[str, NDArray[Any]], first: int = 0) -> Parse:
        """Gives back the parse of words out of the scores of a sequence in which they are from `first` on."""
        own = slice(first, first + len(forms))
        heads = scores["label_head"][0]
        arcs = scores["arcs"][0][own]
        arcs = np.concatenate([arcs[:, :1], arcs[:, first + 1 : first + 1 + len(forms)]], axis=1)
        label_head = np.concatenate([heads[:1], heads[first + 1 : first + 1 + len(forms)]])
        label_dep, upos, scripts, tags = (scores[name][0][own] for name in ("label_dep", "upos", "scripts", "tags"))
        rows = np.arange(len(forms))
        arcs[rows, rows + 1] = NEVER
        tree = best_tree(arcs)
        labels = np.einsum("nld,nd->nl", label_dep, label_head[tree + 1])
        chosen_upos = [self.card.upos[at] for at in upos.argmax(axis=1)]
        chosen_scripts = [self.card.scripts[at] for at in scripts.argmax(axis=1)]
        return Parse(
            forms=tuple(forms),
            lemmas=tuple(
                lemma(form, tag, script, self.card.exceptions, self.words)
                for form, tag, script in zip(forms, chosen_upos, chosen_scripts, strict=True)
            ),
            upos=tuple(chosen_upos),
            heads=tuple(tree.tolist()),
            deprels=_labels(self.card, labels, tree),
            tags=_bio([self.card.tags[at] for at in tags.argmax(axis=1)]),
            confidences=tuple(np.round(_softmax(arcs)[rows, tree + 1], 4).tolist()),
        )


def open_network(card: ModelCard) -> Network:
    """Gives back the model of a card.

    Raises:
        BackendError: Its files are not there, or not those of the encoder on whose words it stands.
    """
    lender = ENCODERS / card.table["name"]
    weights = {lender.name: trunk_weights(lender / "model.onnx", card.table["sha256"], "parser")}
    tokenizer = open_tokenizer(card.folder / "tokenizer.json", "parser")
    return Network(
        card=card,
        session=open_session(card.folder / "model.onnx", "parser", weights=weights),
        pieces=_pieces(tokenizer),
        words=frozenset(word for word in tokenizer.get_vocab() if len(word) > 2 and word.isalpha()),
    )


def read_card(folder: Path) -> ModelCard:
    """Gives back what a folder says of its model.

    Raises:
        BackendError: It holds no such file, or another one.
    """
    names = ("outputs", "upos", "deprels", "scripts", "tags", "parts", "relations", "claim_flags")
    with card_of(folder, "parser") as card:
        lists = {name: tuple(card[name]) for name in names}
        return ModelCard(name=card["name"], exceptions=card["exceptions"], table=card["table"], folder=folder, **lists)


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


def _softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: NDArray[np.float32] = raised / raised.sum(axis=-1, keepdims=True)
    return shares


def _pieces(tokenizer: Any) -> Callable[[str], Sequence[int]]:
    """A function from a word to the ids of its pieces, one at least.

    It remembers words of the vocabulary alone: others may be names, and the model outlives what is erased.
    """
    known: dict[str, tuple[int, ...]] = {}

    def pieces(form: str) -> tuple[int, ...]:
        found = known.get(form)
        if found is None:
            clean = encodable(form[:MAX_WORD_CHARS])
            ids = tokenizer.encode(clean, add_special_tokens=False).ids[:MAX_PIECES_PER_WORD]
            found = tuple(ids) or (UNKNOWN,)
            if len(found) == 1 and found[0] != UNKNOWN and len(known) < MAX_KNOWN:
                known[form] = found
        return found

    return pieces
