"""Work on the memories of many users at once, through Ray Data: taking in, folding anew, training.

One user's work is one row, and so in one worker and in order; a worker has an engine of its own on the same database,
and one user in memory at a time. What a worker was at when it died is done again by another: a turn that is stored
under its id already is no second turn, and neither folding nor training depends on what was done before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from doxa.core.config import Config
from doxa.core.errors import DoxaError, InputError, NotFoundError

if TYPE_CHECKING:
    from doxa.backends.transcripts import Line
    from doxa.engine import Dialogue, Doxa

__all__ = ["Work", "everybody", "ingest", "over_users", "taken_in"]

BLOCK = 256
"""Turns that are received before their processing is waited for; with them a worker's memory is bounded."""
PROBLEMS = 20
"""That are told of one claim."""
Act = Literal["fold", "learn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What came of one claim: of one user, or of the files of one."""

    users: tuple[str, ...]
    new: int = 0
    known: int = 0
    failed: int = 0
    turns: int = 0
    """Of the memory, where it was folded."""
    told: str = ""
    """What was learned, in words."""
    problems: tuple[str, ...] = ()
    seconds: float = 0.0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Work:
        """Return what a row of Ray Data says."""
        return cls(**{**row, "users": tuple(row["users"]), "problems": tuple(row["problems"])})

    def row(self) -> dict[str, Any]:
        """Return it as a row of Ray Data."""
        return {name: getattr(self, name) for name in self.__slots__} | {
            "users": list(self.users),
            "problems": list(self.problems),
        }


def ingest(
    config: Config, files: Sequence[Path], *, user: str | None = None, format: str = "auto", workers: int | None = None
) -> Iterator[Work]:
    """Take transcripts in, and give what came of each user's as it is done.

    The turns of a file are those of the user whom it names (LoCoMo), else of `user`, else of the file's name. Files of
    one user are read in the given order. Every machine of the cluster must see the files under the same names.

    Args:
        config: the settings; their database takes the turns.
        files: transcripts, as `doxa ingest` reads them.
        user: whose all of them are.
        format: as in `doxa ingest`.
        workers: how many at once; by default one for each `cluster.cpus` of the cluster.

    Raises:
        NotFoundError: a file is not there.
    """
    return _over(_claims(files, user, format), _Reader, config, workers)


def taken_in(config: Config, files: Sequence[Path], *, user: str | None = None, format: str = "auto") -> Iterator[Work]:
    """Do what `ingest` does in this process, without Ray: what workers are measured against."""
    claims = _claims(files, user, format)
    worker = _Reader(config)
    try:
        for claim in claims:
            yield Work.of(worker(claim))
    finally:
        worker.close()


def _claims(files: Sequence[Path], user: str | None, format: str) -> list[dict[str, Any]]:
    claims: dict[str, list[str]] = {}
    for file in files:
        if not file.is_file():
            raise NotFoundError(f"There is no file {file}. Name transcripts, as for `doxa ingest`.")
        claims.setdefault(user or file.stem, []).append(str(file.absolute()))
    return [{"user": name, "files": of_user, "format": format} for name, of_user in claims.items()]


def over_users(config: Config, act: Act, users: Sequence[str], *, workers: int | None = None) -> Iterator[Work]:
    """Do something with the memory of each user, and give what came of it as it is done.

    Args:
        config: the settings.
        act: `fold` processes what waits and folds the log anew; `learn` has search learn from verified answers.
        users: whose memories.
        workers: as in `ingest`.
    """
    rows = [{"user": user, "act": act} for user in users]
    return _over(rows, _Folder, config, workers)


def everybody(config: Config) -> list[str]:
    """Return every user of the database."""
    from doxa.engine import Doxa

    doxa = Doxa.open(config.db, config=config)
    try:
        return doxa.users()
    finally:
        doxa.close(limit_s=0.0)


class _Worker:
    """One worker: an engine that takes one user after the other."""

    def __init__(self, config: Config) -> None:
        from doxa.engine import Doxa

        one = config.engine.model_copy(update={"memory_mb": 1})
        self._doxa: Doxa = Doxa.open(config.db, config=config.model_copy(update={"engine": one}))

    def __call__(self, claim: Mapping[str, Any]) -> dict[str, Any]:
        began = perf_counter()
        try:
            done = self._do(claim)
        except DoxaError as exc:  # one user's trouble is not another's
            done = Work(users=(claim["user"],), problems=(f"{claim['user']}: {exc}",))
        return {**done.row(), "seconds": round(perf_counter() - began, 3)}

    def close(self) -> None:
        """End the engine."""
        self._doxa.close()

    def _do(self, claim: Mapping[str, Any]) -> Work:
        raise NotImplementedError


class _Reader(_Worker):
    """Takes in the files of one user."""

    def _do(self, claim: Mapping[str, Any]) -> Work:
        from doxa.backends.transcripts import read

        new = known = 0
        problems: list[str] = []
        users: list[str] = []
        for file in map(Path, claim["files"]):
            transcript = read(file, format=claim["format"], session=file.stem)
            problems += [str(one) for one in transcript.problems]
            for conversation in transcript.conversations:
                user = conversation.name or claim["user"]
                users.append(user)
                added, there, failed = self._absorb(user, conversation.lines)
                new, known, problems = new + added, known + there, problems + failed
        return Work(
            users=tuple(dict.fromkeys(users)),
            new=new,
            known=known,
            failed=len(problems),
            problems=tuple(problems[:PROBLEMS]),
        )

    def _absorb(self, user: str, lines: Sequence[Line]) -> tuple[int, int, list[str]]:
        """Return how many turns were new and how many known, and what is wrong with the others."""
        new = known = 0
        problems: list[str] = []
        now, told = datetime.now(UTC), iter(lines)
        dialogues: dict[str, Dialogue] = {}
        while block := list(islice(told, BLOCK)):
            for line in block:
                name = line.session or "default"
                dialogue = dialogues.get(name) or dialogues.setdefault(
                    name, self._doxa.dialogue(user=user, session=name)
                )
                try:
                    receipt = dialogue.absorb(
                        line.text, speaker=line.speaker, role=line.role, at=line.at or now, turn_id=line.turn_id
                    )
                except InputError as exc:
                    problems.append(f"{user}: {exc}")
                    continue
                new, known = new + (not receipt.duplicate), known + receipt.duplicate
            self._doxa.wait(user, rest_s=0.0)
        return new, known, problems


class _Folder(_Worker):
    """Folds the memory of one user, or has it learn."""

    def _do(self, claim: Mapping[str, Any]) -> Work:
        user = claim["user"]
        memory = self._doxa.memory(user=user)
        if claim["act"] == "learn":
            return Work(users=(user,), told=memory.learn().reason)
        self._doxa.wait(user)
        self._doxa.parts.log.forget_state(user)
        return Work(users=(user,), turns=memory.stats()["turns"])


def _over(
    rows: Sequence[Mapping[str, Any]], worker: Callable[[Config], _Worker], config: Config, workers: int | None
) -> Iterator[Work]:
    """Give what workers make of rows, each as it is done."""
    import ray

    if not rows:
        return
    cpus = config.cluster.cpus
    there = max(1, int(float(ray.cluster_resources().get("CPU", 1.0)) // cpus))
    ray.data.DataContext.get_current().enable_progress_bars = False  # whoever asked is told user by user
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    claims = ray.data.from_items(list(rows), override_num_blocks=len(rows))
    done = claims.map(
        worker,
        fn_constructor_args=(config,),
        compute=ray.data.ActorPoolStrategy(size=min(workers or there, len(rows))),
        num_cpus=cpus,
    )
    for row in done.iter_rows():
        yield Work.of(row)
