"""amr: sentences -> AMR graphs in PENMAN notation.

Loaded by name through `doxa.backends.load("amr", name)`:

| name | what it is |
|---|---|
| `spring:URL` | a SPRING service over HTTP (Bevilacqua et al. 2021), or another that answers like it |
| `amrlib`, `amrlib:FOLDER` | a local model of the library amrlib (extra `amr`) |
| `llm` | the language model, asked for PENMAN; what does not parse is mended or asked for again |
| `scripted` | graphs given in Python; a double for tests |
"""

from collections.abc import Sequence
from typing import Protocol

__all__ = ["AmrParser"]


class AmrParser(Protocol):
    """Turns sentences into Abstract Meaning Representation; safe to share between threads."""

    @property
    def name(self) -> str:
        """Which parser this is, such as `spring:http://localhost:8080`; it goes into traces and run records."""

    def parse(self, sentences: Sequence[str]) -> list[str]:
        """Gives back one graph per sentence, in order, in PENMAN notation that can be read.

        Raises:
            BackendUnavailableError: The service or model is away.
            BackendReplyError: A sentence came back as something that is no AMR graph.
            ClosedError: The parser was closed.
        """

    def close(self) -> None:
        """Lets go of the model or the connection; may be called twice."""
