"""intents: clauses of a turn -> how likely it asks for something new, for a change, for an answer, or for nothing.

A linear softmax over hashed features of the clauses: mood, class of the verb, and words and pairs of words, in which
nouns and names stand for their kind, so that what is learned of restaurants and meetings says something of gardens. Of
the forest it knows which of the words are in names that stand there.

Weights (int8, one scale), temperature and how they were fitted: `intents.npz`, `training/tasks`.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from doxa.memory import TaskForest
from doxa.tasks.phrases import words_of
from doxa.tasks.reading import Clause
from doxa.tasks.verbs import Token, lexicon, request_verbs, verbs_of

__all__ = ["CLASSES", "class_of", "features", "known_words", "likely", "row_of"]

CLASSES = ("new", "update", "check", "chat")
SIZE = 8192
"""Rows of weights; a feature is the row of its hash."""
KEPT = frozenset("DET PRON ADP AUX PART CCONJ SCONJ INTJ ADV".split())
"""Kinds of words that stand for themselves."""
NAMING = frozenset("NOUN PROPN ADJ NUM VERB X".split())
KNOWN = "KNOWN"
"""Stands for a word of a name that the tasks have."""
RECENT, LONG = 200, 60
"""How many nodes are looked at, and how many characters of a value are no longer one that is called by its words."""
VERB_KINDS = (
    "add",
    "remove",
    "change",
    "replace",
    "keep",
    "restore",
    "undo",
    "split",
    "merge",
    "done",
    "check",
    "move",
)


def class_of(intent: str) -> str:
    """Return the class of an intent: checks and closing summaries ask, all that changes what is there updates."""
    return {"new": "new", "check": "check", "finalize": "check", "chat": "chat"}.get(intent, "update")


def likely(clauses: Sequence[Clause], *, said_before: str, known: Collection[str], empty: bool) -> dict[str, float]:
    """Return class -> its calibrated probability. Cost O(words); deterministic.

    Args:
        clauses: the turn.
        said_before: what the assistant said just before.
        known: words of the names that the tasks have (see `known_words`).
        empty: whether there are no tasks yet.
    """
    weights, scale = _model()
    rows = [row_of(name) for name in features(clauses, said_before=said_before, known=known, empty=empty)]
    scores = weights[rows].sum(axis=0, dtype=np.int32) * scale
    odds = np.exp(scores - scores.max())
    return dict(zip(CLASSES, (odds / odds.sum()).tolist(), strict=True))


def row_of(feature: str) -> int:
    """Return the row of the weights of a feature."""
    return zlib.crc32(feature.encode()) % SIZE


def known_words(forest: TaskForest) -> set[str]:
    """Return the words of the names, and of short values, of what was changed last. Cost O(`RECENT`)."""
    found: set[str] = set()
    for key in forest.recent(RECENT):
        node = forest.nodes[key]
        for text in (node.name, *node.aliases, node.value.text if node.value is not None else ""):
            if len(text) < LONG:
                found.update(_words(text))
    return found


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    return words_of(text)


def features(clauses: Sequence[Clause], *, said_before: str, known: Collection[str], empty: bool) -> list[str]:
    """Return the features of a turn, each once; the arguments are those of `likely`."""
    found = dict.fromkeys(["bias"])
    found["empty" if empty else "under way"] = None
    found[f"asked {said_before.rstrip().endswith('?')} {empty}"] = None
    found[f"clauses {min(len(clauses), 4)}"] = None
    for place, clause in enumerate(clauses):
        words = ["^", *(_word(token, known) for token in clause.tokens), "$"]
        named = min(words.count(KNOWN), 2)
        found.update(dict.fromkeys(_of_clause(clause, named=named, last=place == len(clauses) - 1)))
        found.update(dict.fromkeys(f"1 {word}" for word in words))
        found.update(dict.fromkeys(f"2 {a} {b}" for a, b in pairwise(words)))
    return list(found)


def _of_clause(clause: Clause, *, named: int, last: bool) -> Iterator[str]:
    verb = f"{clause.verb} {clause.particle}".strip()
    kinds = [kind for kind in VERB_KINDS if verb in verbs_of(kind)] or ["other" if verb else "none"]
    yield f"mood {clause.mood}"
    yield f"named {named} {clause.mood}"
    yield f"wrapped {clause.wrapped}"
    yield f"mark {clause.mark}"
    for kind in kinds:
        yield f"verb {kind} {clause.mood}"
        yield f"verb {kind} {named > 0}"
        if clause.negated:
            yield f"not {kind}"
    if last:
        yield f"last {clause.mood}"
    for flag in ("negated", "question", "label", "listed"):
        if getattr(clause, flag):
            yield f"{flag} {clause.mood}"
    for typed in clause.values:
        said = "shift" if typed.shift is not None else typed.value.kind if typed.value is not None else "none"
        yield f"value {said}"
        yield f"value {said} {clause.mood}"


def _word(token: Token, known: Collection[str]) -> str:
    """Return what stands for a word: itself where it belongs to the grammar, else its kind."""
    if token.upos in NAMING and any(word in known for word in _words(token.lower)):
        return KNOWN
    if token.upos in KEPT or (token.upos in ("VERB", "NOUN", "ADJ") and token.lemma in request_verbs()):
        return token.lemma if token.upos == "VERB" else token.lower
    if token.upos in ("NOUN", "ADJ") and token.lemma in _task_words():
        return token.lemma
    return token.upos


@cache
def _task_words() -> frozenset[str]:
    """Return the nouns and adjectives that say something of a task in any domain."""
    groups = (*lexicon()["slot_words"].values(), *lexicon()["cues"].values())
    return frozenset(word for group in groups for text in group for word in (*text.split(), *words_of(text)))


@cache
def _model() -> tuple[NDArray[np.int8], float]:
    with files("doxa.tasks").joinpath("intents.npz").open("rb") as file, np.load(file) as data:
        return data["weights"], float(data["scale"])
