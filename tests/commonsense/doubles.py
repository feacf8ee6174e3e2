"""Models that count what they are asked, and fail when a test wants it."""

import numpy as np

from doxa.backends import load
from doxa.backends.parser import Parse
from doxa.core.errors import BackendError


class CountingEncoder:
    """The encoder of hashed words; `texts` is what it was asked, and after `calls` calls it fails."""

    def __init__(self, *, calls=None, dims=32):
        self.inner, self.left, self.texts = load("encoder", f"hash:{dims}"), calls, []
        self.name, self.dims = self.inner.name, dims

    def encode(self, texts):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise BackendError("the encoder was cut off")
        self.texts += texts
        return self.inner.encode(texts)

    def close(self):
        self.inner.close()


class CountingParser:
    """Takes words of four letters and more for nouns; `sentences` counts, and after `calls` calls it fails."""

    name = "double"

    def __init__(self, *, calls=None):
        self.left, self.sentences = calls, 0

    def parse(self, sentences):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise BackendError("the parser was cut off")
        self.sentences += len(sentences)
        return [parse_of(words) for words in sentences]

    def close(self):
        pass


class CountingNli:
    """Finds a text the more entailed the longer it is; `pairs` is what it was asked, and after `calls` it fails."""

    def __init__(self, *, calls=None, name="double"):
        self.left, self.pairs, self.name = calls, [], name

    def classify(self, pairs):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise BackendError("the NLI model was cut off")
        self.pairs += pairs
        entailed = np.array([min(len(text) / 64, 1.0) for _, text in pairs], dtype=np.float32)
        return np.stack([entailed, 1 - entailed, np.zeros_like(entailed)], axis=1)

    def close(self):
        pass


def parse_of(words):
    count = len(words)
    return Parse(
        forms=tuple(words),
        lemmas=tuple(word.lower() for word in words),
        upos=tuple("NOUN" if len(word) > 3 else "DET" for word in words),
        heads=tuple(-1 if place == 0 else 0 for place in range(count)),
        deprels=tuple("root" if place == 0 else "dep" for place in range(count)),
        tags=("O",) * count,
        confidences=(1.0,) * count,
    )


def rows_of(rows):
    """Return lists of ids as lists."""
    return [np.asarray(rows[place]).tolist() for place in range(len(rows))]
