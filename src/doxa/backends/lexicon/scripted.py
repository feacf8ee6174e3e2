"""A lexicon of a few words, for tests and examples."""

from collections.abc import Mapping, Sequence

from doxa.backends.lexicon import PartOfSpeech, Synset
from doxa.core.errors import ClosedError

__all__ = ["ScriptedLexicon", "open_lexicon"]


class ScriptedLexicon:
    """Knows the words that it was given."""

    def __init__(self, words: Mapping[str, Sequence[Synset]], name: str = "scripted") -> None:
        """Takes senses by word, the most usual one first."""
        self._words = {word: tuple(senses) for word, senses in words.items()}
        self._name = name
        self._closed = False

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    def senses(self, word: str, pos: PartOfSpeech) -> tuple[Synset, ...]:
        """Gives back the senses of a word with this part of speech."""
        if self._closed:
            raise ClosedError("The lexicon was closed; open a new one.")
        return tuple(sense for sense in self._words.get(word, ()) if sense.pos == pos)

    def close(self) -> None:
        """Takes no more words."""
        self._closed = True


def open_lexicon(name: str = "", *, words: Mapping[str, Sequence[Synset]] | None = None) -> ScriptedLexicon:
    """Gives back a lexicon of some words."""
    return ScriptedLexicon(words or {}, name or "scripted")
