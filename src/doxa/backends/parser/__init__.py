"""parser: words -> parse.

`split` turns a text into sentences of words; a `Parser` gives each sentence its lemmas, parts of speech, dependency
tree and tagged spans, in Universal Dependencies. Loaded by name through `doxa.backends.load("parser", name)`:

| name | what it is |
|---|---|
| `builtin` | MiniLM-L6 fine-tuned on UD English and on annotated turns, int8, in the wheel; offline, CPU |

The built-in one is a `TurnReader` as well: it gives a turn, read with those before it, the claims that it makes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from doxa.backends.parser.caching import CachedParser, cached
from doxa.backends.parser.sentences import split
from doxa.backends.parser.turns import Heard, Line, Place, Told, TurnReader
from doxa.backends.parser.words import Word

__all__ = ["CachedParser", "Heard", "Line", "Parse", "Parser", "Place", "Told", "TurnReader", "Word", "cached", "split"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parse:
    """The analysis of one sentence: seven tuples with one entry per word.

    `heads` form a tree: exactly one word has head -1, and every other word reaches it.
    """

    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    upos: tuple[str, ...]
    """Universal parts of speech: NOUN, PROPN, VERB, AUX ..."""
    heads: tuple[int, ...]
    """The word that each depends on, counted from 0; -1 for the root."""
    deprels: tuple[str, ...]
    """UD relations with subtypes: nsubj, nsubj:pass, obl:unmarked, acl:relcl ..."""
    tags: tuple[str, ...]
    """BIO: B-TIME, I-TIME, B-PERSON, B-PLACE, B-ORG, B-NAME, B-QUANTITY ..., or O."""
    confidences: tuple[float, ...]
    """How likely the model finds each head, 0 to 1."""


class Parser(Protocol):
    """Analyses sentences; the built-in one is deterministic: a sentence has one parse, whatever else is in the call."""

    @property
    def name(self) -> str:
        """Which model this is, such as `builtin:minilm-l6-ud-int8`."""

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """Gives back one parse per sentence, in order; a sentence is its words, and may be empty.

        Raises:
            BackendError: The model failed or is not installed.
            ClosedError: The parser was closed.
        """

    def close(self) -> None:
        """Lets go of the model; may be called twice."""
