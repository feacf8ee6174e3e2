"""What doors share: what they are, what a fault is, and an engine whose models cost next to nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any, Protocol

from doxa.backends.parser import Heard, Line, Parse, Place, Told, cached
from doxa.core.config import Config
from doxa.core.errors import DoxaError
from doxa.engine import Doxa

__all__ = ["Door", "Fault", "Light", "decoded", "Renewed", "encoded", "light", "ours"]


class Fault(Exception):
    """Something came out of an entrance that must not; it is told apart from others by its message."""


class Door(Protocol):
    """An entrance, open."""

    seeds: Sequence[bytes]
    """What comes in on other days."""
    words: Sequence[str]
    """What that is made of."""

    def __call__(self, data: bytes) -> None:
        """Let something in.

        Raises:
            Exception: it is a fault.
        """

    def close(self) -> None:
        """Close it."""


class Renewed:
    """A door whose engine is emptied every so many inputs, and opened anew after many more."""

    reset, anew = 25, 2000
    _count = 0
    _doxa: Doxa

    def _begin(self) -> None:
        """Open the engine, and what is around it."""
        raise NotImplementedError

    def _end(self) -> None:
        """Close them."""
        raise NotImplementedError

    def _renew(self) -> None:
        """Count an input."""
        self._count += 1
        if self._count % self.anew == 0:
            self._end()
            self._begin()
        elif self._count % self.reset == 0:
            self._doxa.memory(user="ana").forget(everything=True)


@contextmanager
def ours() -> Iterator[None]:
    """Pass over errors that Doxa tells of."""
    try:
        yield
    except DoxaError as exc:
        str(exc)


def encoded(*values: Any) -> list[bytes]:
    """Return values as inputs."""
    return [json.dumps(value).encode() for value in values]


def decoded(data: bytes) -> Any:
    """Return the value of an input; what is no JSON is a text."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def light(**groups: Any) -> Config:
    """Return settings under which no model is loaded; the parser is left to `Light`."""
    plain = {"encoder": {"name": "hash"}, "grader": {"name": "none"}, "reader": {"name": "none"}}
    return Config.from_tree({**plain, "nli": {"name": "none"}, "recall": {"promote": False}, **groups})


def opened(models: bool, location: str = ":memory:", **groups: Any) -> Doxa:
    """Return an engine: light, or with the models of the default settings."""
    if models:
        return Doxa.open(location, config=Config.from_tree(groups))
    engine = Doxa.open(location, config=light(**groups))
    engine.parts.parser.close()
    engine.parts.parser = cached(Light())
    return engine


UPOS = "NOUN PROPN VERB AUX ADP DET PRON ADJ ADV NUM CCONJ SCONJ PART PUNCT INTJ SYM X".split()
RELATIONS = (
    "nsubj obj iobj obl advmod amod det case mark conj cc cop aux nmod nmod:poss compound appos xcomp ccomp acl:relcl "
    "advcl punct nummod flat obl:unmarked nsubj:pass aux:pass parataxis vocative discourse expl fixed"
).split()
TAGS = "O O O O O O B-TIME B-PERSON B-PLACE B-ORG B-NAME B-QUANTITY".split()
RELATED = ("", "", "lives_in", "works_at", "likes", "sister")
FLAGS = ("not", "plan", "wish", "maybe", "over", "withdraw", "minor", "correct")


class Light:
    """A parser without a model: the words of a sentence draw its tree, so that the same words have the same one.

    Its trees are whole, and mostly nonsense: what reads them has to live with any.
    """

    name = "light"

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """Return one parse a sentence."""
        return [_tree(tuple(words)) for words in sentences]

    def hear(self, turns: Sequence[Sequence[Line]]) -> list[Heard]:
        """Return what each turn says: for every other one nothing, else a claim of words drawn."""
        return [_heard(lines) for lines in turns]

    def close(self) -> None:
        """Give nothing back."""


def _tree(words: tuple[str, ...]) -> Parse:
    random, size = Random("\x1f".join(words).encode("utf-8", "replace")), len(words)
    order = random.sample(range(size), size)
    heads = [-1] * size
    for place, word in enumerate(order[1:], start=1):
        heads[word] = order[random.randrange(place)]
    relations = [random.choice(RELATIONS) if head >= 0 else "root" for head in heads]
    return Parse(
        forms=words,
        lemmas=tuple(word.casefold() or "_" for word in words),
        upos=tuple(random.choice(UPOS) for _ in words),
        heads=tuple(heads),
        deprels=tuple(relations),
        tags=tuple(random.choice(TAGS) for _ in words),
        confidences=(0.9,) * size,
    )


def _heard(lines: Sequence[Line]) -> Heard:
    text, last = lines[-1].text, len(lines) - 1
    random = Random(text.encode("utf-8", "replace"))
    places, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        places.append(Place(last, at, at + len(word)))
        at += len(word)
    if not places or random.random() < 0.5:
        return Heard(claims=(), meant=(), parses=())
    subject = random.choice((Place(last, -1, -1), random.choice(places)))
    anchor, thing = random.choice(places), random.choice(places)
    told = Told(
        anchor=anchor,
        subject=subject,
        relation=random.choice(RELATED),
        words=(anchor,),
        object=thing,
        times=(("from", random.choice(places)),) if random.random() < 0.3 else (),
        flags=frozenset(random.sample(FLAGS, 1)) if random.random() < 0.3 else frozenset(),
        p=0.9,
    )
    return Heard(claims=(told,), meant=(), parses=())
