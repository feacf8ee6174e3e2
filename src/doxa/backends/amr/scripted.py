"""An AMR parser that knows a few sentences, for tests and examples."""

from collections.abc import Mapping, Sequence

from doxa.core.errors import BackendError, ClosedError

__all__ = ["ScriptedParser", "open_parser"]


class ScriptedParser:
    """Gives back the graph that it was given for a sentence, and keeps what it was asked."""

    def __init__(self, graphs: Mapping[str, str], name: str = "scripted") -> None:
        """Takes graphs by sentence."""
        self._graphs = dict(graphs)
        self._name = name
        self._closed = False
        self.asked: list[str] = []

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    def parse(self, sentences: Sequence[str]) -> list[str]:
        """Gives back one graph per sentence; raises BackendError for a sentence that is not in the script."""
        if self._closed:
            raise ClosedError("The AMR parser was closed; open a new one.")
        self.asked.extend(sentences)
        missing = next((sentence for sentence in sentences if sentence not in self._graphs), None)
        if missing is not None:
            raise BackendError(f"The script of the AMR parser {self._name!r} has no graph for {missing!r}. Add one.")
        return [self._graphs[sentence] for sentence in sentences]

    def close(self) -> None:
        """Takes no more sentences."""
        self._closed = True


def open_parser(name: str = "", *, graphs: Mapping[str, str] | None = None) -> ScriptedParser:
    """Gives back a parser for some sentences."""
    return ScriptedParser(graphs or {}, name or "scripted")
