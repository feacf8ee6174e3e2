"""lexicon: word -> senses.

Loaded by name through `doxa.backends.load("lexicon", name)`:

| name | what it is |
|---|---|
| `wordnet` | WordNet 3.x from the system package (`apt install wordnet-base`) or an NLTK data folder |
| `wordnet:FOLDER` | the same from a folder, or from NLTK's `wordnet.zip` |
| `scripted` | a few words given in Python; a double for tests |
"""

from dataclasses import dataclass
from typing import Literal, Protocol

__all__ = ["Lexicon", "PartOfSpeech", "Synset"]

PartOfSpeech = Literal["n", "v", "a", "r"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Synset:
    """One sense of a word: a set of synonyms with a definition."""

    name: str
    """Such as "synset-picture-noun-1": the first of its words and the number of the sense among that word's."""
    pos: PartOfSpeech
    words: tuple[str, ...]
    definition: str
    examples: tuple[str, ...] = ()
    supersense: str = ""
    """Its lexicographer's file, such as "noun.artifact"."""
    count: int = 0
    """How often the word that was looked up has this sense in the sense-tagged texts of the lexicon."""
    broader: tuple[str, ...] = ()
    """The first word of each synset above it."""


class Lexicon(Protocol):
    """Knows the senses of words; safe to share between threads, deterministic."""

    @property
    def name(self) -> str:
        """Which lexicon this is and where, such as `wordnet 3.0 (/usr/share/wordnet)`."""

    def senses(self, word: str, pos: PartOfSpeech) -> tuple[Synset, ...]:
        """Gives back the senses of a base form, the most usual one first; none for an unknown word.

        Raises:
            BackendError: The files are damaged.
            ClosedError: The lexicon was closed.
        """

    def close(self) -> None:
        """Lets go of the files; may be called twice."""
