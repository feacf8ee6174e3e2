"""A working backend from its name: `load("encoder", "builtin")`, `load("llm", "openai:gpt-x", api_key=...)`.

A name is `scheme` or `scheme:rest`; what stands after the colon goes to the factory of the scheme. Modules are
imported when a name is loaded, never before, so an unused backend costs nothing and may miss its packages.

Other packages add backends through the entry-point group `doxa.backends`: the entry point is called
`kind.scheme` and points to a factory of the same shape, `factory(rest: str, **options)`.
"""

import importlib
import inspect
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from doxa.core.errors import BackendError, ConfigError

__all__ = ["GROUP", "load", "names"]

GROUP: Final = "doxa.backends"

Factory = Callable[..., Any]

_BUILT_IN: Final[Mapping[tuple[str, str], str]] = {
    ("amr", "amrlib"): "doxa.backends.amr.local:open_parser",
    ("amr", "llm"): "doxa.backends.amr.prompted:open_parser",
    ("amr", "scripted"): "doxa.backends.amr.scripted:open_parser",
    ("amr", "spring"): "doxa.backends.amr.spring:open_parser",
    ("collections", "postgresql"): "doxa.backends.collections.postgres:open_shelves",
    ("encoder", "builtin"): "doxa.backends.encoder.onnx:open_encoder",
    ("encoder", "hash"): "doxa.backends.encoder.hashing:open_encoder",
    ("encoder", "hf"): "doxa.backends.encoder.huggingface:open_encoder",
    ("encoder", "openai"): "doxa.backends.encoder.openai:open_encoder",
    ("grader", "builtin"): "doxa.backends.grader.onnx:open_grader",
    ("grader", "scripted"): "doxa.backends.grader.scripted:open_grader",
    ("lexicon", "scripted"): "doxa.backends.lexicon.scripted:open_lexicon",
    ("lexicon", "wordnet"): "doxa.backends.lexicon.wordnet:open_lexicon",
    ("llm", "openai"): "doxa.backends.llm.openai:open_model",
    ("llm", "recorded"): "doxa.backends.llm.recorded:open_model",
    ("llm", "scripted"): "doxa.backends.llm.scripted:open_model",
    ("nli", "builtin"): "doxa.backends.nli.onnx:open_nli",
    ("nli", "hf"): "doxa.backends.nli.huggingface:open_nli",
    ("nli", "scripted"): "doxa.backends.nli.scripted:open_nli",
    ("parser", "builtin"): "doxa.backends.parser.onnx:open_parser",
    ("queue", "polled"): "doxa.backends.queue.polled:open_queue",
    ("queue", "postgres"): "doxa.backends.queue.postgres:open_queue",
    ("reader", "builtin"): "doxa.backends.reader.onnx:open_reader",
    ("reader", "scripted"): "doxa.backends.reader.scripted:open_reader",
    ("seq2seq", "hf"): "doxa.backends.seq2seq.huggingface:open_seq2seq",
    ("seq2seq", "scripted"): "doxa.backends.seq2seq.scripted:open_seq2seq",
    ("hold", "sql"): "doxa.backends.store.hold:open_hold",
    ("store", "sql"): "doxa.backends.store.sql:open_store",
    ("transfer", "sql"): "doxa.backends.store.transfer:open_transfer",
    ("salvage", "sql"): "doxa.backends.store.salvage:open_salvage",
    ("upstream", "http"): "doxa.backends.upstream.http:open_upstream",
    ("upstream", "scripted"): "doxa.backends.upstream.scripted:open_upstream",
}


def load(kind: str, name: str, **options: object) -> Any:
    """Gives back a new backend; the caller closes it.

    Args:
        kind: What it does: `amr`, `collections`, `encoder`, `grader`, `lexicon`, `llm`, `nli`, `parser`, `reader`,
            `seq2seq`, `upstream`, or one of a package.
        name: `scheme` or `scheme:rest`, such as `builtin` or `openai:text-embedding-3-small`.
        options: Keyword arguments of the factory, such as `base_url` or `timeout_s`.

    Returns:
        What the factory made; it satisfies the Protocol of its kind.

    Raises:
        ConfigError: The kind, the scheme or an option is unknown.
        MissingDependencyError: The backend needs a package that is not installed.
        BackendError: An installed package announces the backend but cannot be imported.
    """
    scheme, _, rest = name.partition(":")
    factory = _find(kind, scheme)
    _check_options(factory, name, options)
    return factory(rest, **options)


def names(kind: str) -> tuple[str, ...]:
    """Gives back the schemes of one kind, sorted: ours and those of installed packages."""
    ours = {scheme for of_kind, scheme in _BUILT_IN if of_kind == kind}
    theirs = {entry.name.partition(".")[2] for entry in _entry_points() if entry.name.partition(".")[0] == kind}
    return tuple(sorted(ours | theirs))


def _find(kind: str, scheme: str) -> Factory:
    # Ours come first, so that an installed package cannot silently replace one.
    target = _BUILT_IN.get((kind, scheme))
    if target is not None:
        return _import(target)
    for entry in _entry_points():
        if entry.name == f"{kind}.{scheme}":
            return _load_entry(entry)
    raise ConfigError(_unknown(kind, scheme))


def _import(target: str) -> Factory:
    module, _, attribute = target.partition(":")
    factory: Factory = getattr(importlib.import_module(module), attribute)
    return factory


def _load_entry(entry: EntryPoint) -> Factory:
    try:
        factory: Factory = entry.load()
    except (ImportError, AttributeError) as exc:
        raise BackendError(
            f"The installed package behind {entry.name!r} ({entry.value}) cannot be imported: {exc}. "
            "Reinstall or update that package."
        ) from exc
    return factory


def _entry_points() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


def _check_options(factory: Factory, name: str, options: Mapping[str, object]) -> None:
    parameters = list(inspect.signature(factory).parameters.values())
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = [parameter.name for parameter in parameters[1:]]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise ConfigError(
            f"{name!r} does not know the option {', '.join(map(repr, unknown))}; "
            f"it takes {', '.join(known) or 'no options'}."
        )


def _unknown(kind: str, scheme: str) -> str:
    there = names(kind)
    if there:
        return f"There is no {kind} called {scheme!r}; there is {', '.join(there)}. Write one of them, or scheme:rest."
    kinds = {of_kind for of_kind, _ in _BUILT_IN} | {entry.name.partition(".")[0] for entry in _entry_points()}
    return f"There is no kind of backend called {kind!r}; there is {', '.join(sorted(kinds))}."
