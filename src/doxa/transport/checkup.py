"""Settings -> what is installed, works or is missing, and what to do; `doxa doctor` and a page tell it."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import TYPE_CHECKING, Any, Literal

from doxa.core.access import without_password
from doxa.core.errors import BackendError, BackendUnavailableError, DoxaError, MissingDependencyError

if TYPE_CHECKING:
    from doxa.backends.encoder import Encoder
    from doxa.core.config import Config

__all__ = ["Check", "checked", "guarded", "lesser", "unless_told"]

NEEDED = ("numpy", "onnxruntime", "openai", "pydantic", "PyStemmer", "rich", "SQLAlchemy", "tokenizers", "typer")
EXTRAS = {
    "amr": ("amrlib", "AMR from a local model (DOXA_AMR=amrlib:FOLDER)"),
    "cluster": ("ray", "replicas of the server and workers that take in many users (doxa cluster)"),
    "dl": ("owlready2", "checks by OWL 2 DL (doxa verify --dl), with Java"),
    "encrypted": ("sqlcipher3", "a memory that is encrypted on disk (DOXA_STORE_KEY_FILE=FILE)"),
    "hf": (
        "sentence-transformers",
        "encoders and sequence-to-sequence models from the Hugging Face hub (DOXA_ENCODER=hf:NAME)",
    ),
    "learn": ("scipy", "learning from feedback (doxa learn)"),
    "postgres": ("psycopg", "a memory in Postgres (--db postgresql://...)"),
    "server": ("fastapi", "one process for clients in any language (doxa serve)"),
}
PING_TIMEOUT_S = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at. `off` is not needed as things are configured."""

    name: str
    state: Literal["ok", "off", "failed"]
    detail: str
    fix: str = ""


def checked(config: Config, *, offline: bool) -> list[Check]:
    """Return all that can be told of some settings: models are loaded and used once, and servers asked.

    Args:
        config: the settings.
        offline: ask no server.
    """
    checks = [
        _packages(),
        *(_extra(extra, package, purpose) for extra, (package, purpose) in EXTRAS.items()),
        guarded("encoder", lambda: _encoder(config)),
        guarded("parser", lambda: _parser(config)),
        *(guarded(SHIPPED[kind][0], partial(_shipped, config, kind)) for kind in SHIPPED),
        Check(name="languages", state="ok", detail="English is read; turns in others are kept, searched and not read"),
        guarded("language model", lambda: _model(config, offline=offline)),
        *_roles(config),
        _shared(config),
        guarded("ontology", lambda: _ontology(config)),
        guarded("AMR parser", lambda: _amr(config, offline=offline)),
        guarded("WordNet", lambda: _lexicon(config)),
        _reasoner(),
        *([guarded("key", lambda: _key(config))] if config.store.key or config.store.key_file else []),
    ]
    return [*checks, unless_told(guarded("knowledge", lambda: _knowledge(config)), checks)]


def lesser(config: Config) -> list[Check]:
    """Return what runs on a lesser path, or cannot run, by the settings alone; nothing is loaded."""
    without = [found for kind in SHIPPED if (found := _unwanted(config, kind)) is not None]
    missing = [one for one in _roles(config) if one.state == "failed"]
    return [*missing, *without, *([_no_model()] if config.llm.name is None else [])]


def _key(config: Config) -> Check:
    """Read the key of the memory, and see who else may."""
    config.store.secret()
    path = config.store.key_file
    if path is None:
        return Check(name="key", state="ok", detail="of the memory, in store.key")
    mode = path.stat().st_mode & 0o777
    if os.name != "nt" and mode & 0o077:
        detail = f"of the memory, in {path}, which others than its owner may use (mode {mode:o})"
        return Check(name="key", state="failed", detail=detail, fix=f"chmod 600 {shlex.quote(str(path))}")
    return Check(name="key", state="ok", detail=f"of the memory, in {path}, its owner's alone")


def _packages() -> Check:
    there, missing = [], []
    for name in NEEDED:
        try:
            there.append(f"{name} {version_of(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return Check(name="packages", state="failed", detail=f"missing: {', '.join(missing)}", fix=_pip(*missing))
    return Check(name="packages", state="ok", detail=", ".join(there))


def _extra(extra: str, package: str, purpose: str) -> Check:
    try:
        return Check(name=f"extra {extra}", state="ok", detail=f"{package} {version_of(package)}: {purpose}")
    except PackageNotFoundError:
        fix = MissingDependencyError.command_for(extra)
        return Check(name=f"extra {extra}", state="off", detail=f"not installed; for {purpose}", fix=fix)


def _pip(*packages: str) -> str:
    return f"pip install {' '.join(packages)}"


def guarded(name: str, look: Callable[[], Check]) -> Check:
    """Return what a look tells, or that it failed and why."""
    try:
        return look()
    except DoxaError as exc:
        return Check(name=name, state="failed", detail=str(exc), fix=getattr(exc, "command", ""))


def unless_told(check: Check, before: list[Check]) -> Check:
    """Return a failure without what an earlier check has said in the same words."""
    told = next((one.name for one in before if "failed" == one.state == check.state and one.detail == check.detail), "")
    return replace(check, detail=f"not opened; see {told}") if told else check


def _opened_encoder(config: Config) -> closing[Encoder]:
    """Return the configured encoder, to be closed after its block."""
    from doxa.backends import load
    from doxa.engine import encoder_options

    return closing(load("encoder", config.encoder.name, **encoder_options(config)))


def _encoder(config: Config) -> Check:
    """Load the configured encoder and encode one text."""
    start = time.perf_counter()
    with _opened_encoder(config) as encoder:
        dims = encoder.encode(["Where do I live?"]).shape[1]
        detail = f"{encoder.name}, {dims} dimensions, loaded and one text encoded in {_ms_since(start)}"
    return Check(name="encoder", state="ok", detail=detail)


def _parser(config: Config) -> Check:
    """Load the configured parser and parse one sentence."""
    from doxa.backends import load

    start = time.perf_counter()
    with closing(load("parser", config.parser.name)) as parser:
        parser.parse([["I", "live", "here", "."]])
        detail = f"{parser.name}, loaded and one sentence parsed in {_ms_since(start)}"
    return Check(name="parser", state="ok", detail=detail)


def _ms_since(start: float) -> str:
    return f"{(time.perf_counter() - start) * 1000:.0f} ms"


def _nli(nli: Any) -> str:
    start = time.perf_counter()
    rows = nli.classify([("I live in Oslo.", "You live in Rome.")])
    return f"{nli.name}, loaded and one pair judged in {_ms_since(start)}: contradiction {rows[0, 2]:.2f}"


def _reader(reader: Any) -> str:
    (found,) = reader.read([("Where do I live?", "I live in Oslo.")])
    return f"{reader.name}, loaded, and read “{found.spans[0].text}”"


def _grader(grader: Any) -> str:
    (row,) = grader.grade("claim", [("Ana | lives in | Oslo", "Ana: I live in Oslo.")])
    return f"{grader.name}, loaded, and trusts a plain statement: {row[0]:.2f}"


SHIPPED: Mapping[str, tuple[str, str, Callable[[Any], str]]] = {
    "nli": ("NLI model", "replies are checked by logic alone", _nli),
    "reader": ("reader", "answers are not weighed, and whole sentences are quoted", _reader),
    "grader": ("grader", "all that is read is believed", _grader),
}
"""Models that can be left out, by the group of their settings: what they are, what is without one, a use of one."""


def _unwanted(config: Config, kind: str) -> Check | None:
    """Return what is without a model that the settings leave out; None where it is wanted."""
    name, without, _ = SHIPPED[kind]
    if getattr(config, kind).name not in ("", "none"):
        return None
    return Check(name=name, state="off", detail=f"not wanted ({kind}.name); {without}")


def _shipped(config: Config, kind: str) -> Check:
    """Load a model that can be left out, and use it once."""
    from doxa.backends import load

    name, _, use = SHIPPED[kind]
    settings = getattr(config, kind)
    if (unwanted := _unwanted(config, kind)) is not None:
        return unwanted
    with closing(load(kind, settings.name, **settings.options)) as model:
        return Check(name=name, state="ok", detail=use(model))


def _no_model() -> Check:
    detail = "none is configured; answers are built from facts and quotes"
    return Check(name="language model", state="off", detail=detail, fix="export DOXA_LLM=openai:NAME")


def _model(config: Config, *, offline: bool) -> Check:
    """Ask the configured language model for one word."""
    group = config.llm
    name = "language model"
    if group.name is None:
        return _no_model()
    if offline:
        return Check(name=name, state="off", detail=f"{group.name}, not called (offline)")
    from doxa.backends import load
    from doxa.backends.llm import Message

    where = {"base_url": group.base_url, "api_key": config.secret("llm")}
    model = load("llm", group.name, timeout_s=min(group.timeout_s, PING_TIMEOUT_S), max_retries=0, **where)
    if group.name.startswith("recorded:"):
        return Check(name=name, state="ok", detail=f"{model.name}: it answers what was recorded, and nothing else")
    try:
        done = model.complete([Message(role="user", content="Say: ok")], max_tokens=16)
    finally:
        model.close()
    return Check(name=name, state="ok", detail=f"{group.name} answered in {done.seconds:.1f} s")


def _roles(config: Config) -> list[Check]:
    """Say which profile is set, and who plays each role, and whether that can be."""
    from doxa.engine import played

    limits = f"at most {config.reason.calls} calls and {config.reason.seconds:g} s a question"
    more = {"judge": f"the policy {config.revise.policy} settles it", "reason": limits}
    checks = [Check(name="profile", state="ok", detail=f"{config.profile} (offline, writer or full)")]
    for one in played(config):
        name = f"role {one.role}"
        if one.missing:
            checks.append(Check(name=name, state="failed", detail=one.missing, fix=one.fix))
            continue
        falls = f"where it fails, {one.falls_to}, and the trace says so" if one.falls_to else ""
        own = more.get(one.role, "") if one.role == "judge" or one.falls_to else ""
        detail = "; ".join(filter(None, (f"{one.does}: {one.by or 'nobody'}", own, falls)))
        checks.append(Check(name=name, state="ok" if one.by else "off", detail=detail))
    return checks


def _ontology(config: Config) -> Check:
    """Read the Turtle files that add to the built-in ontology."""
    from doxa.engine import relation_counts

    counts = relation_counts(config)
    said = ", ".join(
        f"{number} {where if where == 'built in' else f'from {where}'}" for where, number in counts.items()
    )
    return Check(name="ontology", state="ok", detail=f"relations: {said}")


def _amr(config: Config, *, offline: bool) -> Check:
    """Parse one sentence with the configured AMR parser; a language model was asked already."""
    name, model = config.amr.name, config.llm.name
    if name is None:
        detail = "none is configured; `doxa amr` reads graphs, and no sentences"
        return Check(name="AMR parser", state="off", detail=detail, fix="export DOXA_AMR=spring:URL")
    if name.partition(":")[0] == "llm":
        if model is None:
            detail, fix = "the language model is to parse, and none is configured", "export DOXA_LLM=openai:NAME"
            return Check(name="AMR parser", state="failed", detail=detail, fix=fix)
        return Check(name="AMR parser", state="ok", detail=f"{model} parses sentences for `doxa amr`")
    if offline and name.startswith("spring"):
        return Check(name="AMR parser", state="off", detail=f"{name}, not called (offline)")
    from doxa.engine import extract_graph

    extract_graph("I live here.", config=config, senses=False)
    return Check(name="AMR parser", state="ok", detail=f"{name}, one sentence parsed")


def _lexicon(config: Config) -> Check:
    """Look a word up in the configured lexicon; without one, `doxa amr` leaves out what words mean."""
    from doxa.backends import load

    name = config.lexicon.name
    if name in ("", "none"):
        return Check(name="WordNet", state="off", detail="not wanted (lexicon.name); words have no senses")
    try:
        lexicon = load("lexicon", name)
    except BackendUnavailableError:
        if name != "wordnet":
            raise
        fix = "apt install wordnet-base, brew install wordnet, or python -m nltk.downloader wordnet"
        return Check(name="WordNet", state="off", detail="not found; for word senses in `doxa amr`", fix=fix)
    try:
        senses = len(lexicon.senses("bank", "n"))
    finally:
        lexicon.close()
    return Check(name="WordNet", state="ok", detail=f"{lexicon.name}, {senses} senses of the noun bank")


def _reasoner() -> Check:
    """See whether there is what `doxa verify --dl` needs; nothing else needs it."""
    from doxa.engine import find_reasoner

    try:
        return Check(name="OWL 2 DL", state="ok", detail=find_reasoner())
    except BackendError as exc:
        return Check(name="OWL 2 DL", state="off", detail=str(exc), fix=getattr(exc, "command", ""))


def _shared(config: Config) -> Check:
    """Say which memories everybody reads."""
    names = config.memory.shared
    if not names:
        fix = "export DOXA_MEMORY_SHARED=NAME"
        return Check(name="shared memories", state="off", detail="everybody reads their own memory alone", fix=fix)
    detail = f"{', '.join(names)}: read by everybody beneath their own, written under their own names"
    return Check(name="shared memories", state="ok", detail=detail)


def _knowledge(config: Config) -> Check:
    """Open the base of knowledge, if one is set, and see whether the configured encoder made it."""
    from doxa.engine import show_base

    name, folder = "knowledge", config.commonsense.base
    if folder is None:
        fix = "doxa kb build FILE --to FOLDER; export DOXA_COMMONSENSE_BASE=FOLDER"
        return Check(name=name, state="off", detail="no base of knowledge is set; there is no background", fix=fix)
    card = show_base(folder)
    place = without_password(str(folder))
    folder = "FOLDER" if "://" in place else place
    with _opened_encoder(config) as encoder:
        mine = encoder.name
    if mine != card.encoder:
        detail = f"{place} was made by the encoder {card.encoder}, and {mine} is configured, which cannot use it"
        fix = (
            f"set the encoder that made it (DOXA_ENCODER), or build it again of the files it was made of "
            f"({', '.join(card.sources)}): doxa kb build FILE --inferences FILE --to {folder} --force"
        )
        return Check(name=name, state="failed", detail=detail, fix=fix)
    made = f"{card.sentences:,} sentences, {card.concepts:,} concepts, {card.inferences:,} inferences"
    detail = f"{place}: {made}; by the encoder {card.encoder}{_inferring(config.roles.infer)}"
    return Check(name=name, state="ok", detail=detail)


def _inferring(reasoner: str) -> str:
    """Return what infers where it is not the base; a checkpoint is loaded and asked once."""
    from doxa.backends import load

    if not reasoner.startswith("hf:"):
        return f"; {reasoner} reasoner" if reasoner != "builtin" else ""
    start = time.perf_counter()
    with closing(load("seq2seq", reasoner)) as model:
        model.generate(["PersonX eats lunch xWant [GEN]"], n=1, max_tokens=4)
        return f"; {model.name}, loaded and asked once in {(time.perf_counter() - start) * 1000:.0f} ms"
