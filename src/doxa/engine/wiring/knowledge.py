"""Files of sentences -> a base of background knowledge, by the configured models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from os import PathLike
from pathlib import Path

from doxa.backends import load
from doxa.backends.nli import Nli
from doxa.commonsense import Card, KnowledgeBase, build, is_remote, open_base, send
from doxa.core.config import Config
from doxa.core.errors import InputError
from doxa.engine.wiring.parts import encoder_options

__all__ = ["build_base", "show_base"]

TO_DATABASE = (
    "Expected the folder of a finished base alone, which is sent to the database as it is. Build it first: "
    "doxa kb build FILE --to FOLDER; then: doxa kb build FOLDER --to postgresql://..."
)


def build_base(
    files: Sequence[str | PathLike[str]],
    folder: str | PathLike[str],
    *,
    config: Config | None = None,
    inferences: Sequence[str | PathLike[str]] = (),
    groups: int | None = None,
    seed: int = 0,
    force: bool = False,
    tell: Callable[[str, int, int], None] | None = None,
) -> Card:
    """Build a base of knowledge, or go on with a build of the same that was interrupted; a finished one is left alone.

    Args:
        files: of sentences: lines, tables with tabs, or JSON Lines; `.gz` as well.
        folder: where it is put; or a database that many read (`postgresql://...`), to which a finished base is sent:
            `files` is its folder, and nothing else is given.
        config: names encoder, parser and NLI model; by default the built-in ones.
        inferences: files of events and what follows from them (ATOMIC 2020, ConceptNet), for the built-in reasoner.
        groups, seed: of concepts; by default one group for every 100.
        force: build it from the start, also where it is finished or was begun.
        tell: is told the step, how much of it is done, and how much there is; never, where it is finished already.

    Raises:
        InputError: a file cannot be read or holds no sentence, none has a concept, or the folder holds something else.
        StoreError: the folder cannot be written, its disk is full, or the database failed; what was done is kept.
        BackendError: a model failed or is not there; what was done is kept.

    Cost: see `doxa.commonsense.build`; about 220 sentences a second on two cores.
    """
    if isinstance(files, (str, PathLike)):
        raise InputError(f"Expected a list of files of sentences, got {files!r} alone.")
    config = config or Config()
    if is_remote(folder):
        return _sent(files, str(folder), plain=not (inferences or groups or seed or force))
    with (
        closing(load("encoder", config.encoder.name, **encoder_options(config))) as encoder,
        closing(load("parser", config.parser.name)) as parser,
        _nli(config) as nli,
    ):
        return build(
            [Path(one) for one in files], Path(folder), encoder=encoder, parser=parser, nli=nli,
            inferences=[Path(one) for one in inferences], groups=groups, seed=seed, force=force, tell=tell,
        )  # fmt: skip


def _sent(files: Sequence[str | PathLike[str]], place: str, *, plain: bool) -> Card:
    """Put a finished base into a database."""
    if not plain or len(files) != 1 or not Path(files[0]).is_dir():
        raise InputError(TO_DATABASE)
    base = KnowledgeBase(Path(files[0]))
    send(base, place)
    return base.card


def _nli(config: Config) -> AbstractContextManager[Nli | None]:
    """Open the NLI model, if one is configured."""
    if config.nli.name in ("", "none"):
        return nullcontext()
    return closing(load("nli", config.nli.name, **config.nli.options))


def show_base(folder: str | PathLike[str]) -> Card:
    """Return what a base of knowledge is made of; it is opened, so that a broken one is found.

    Args:
        folder: its folder, or the address of its database.

    Raises:
        InputError: there is none, or it is broken.
        StoreError: the database cannot be reached.
    """
    base = open_base(str(folder))
    try:
        return base.card
    finally:
        base.close()
