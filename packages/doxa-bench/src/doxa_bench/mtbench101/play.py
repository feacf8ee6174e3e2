"""System + dialogue -> replies, kept in a journal as they come, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from doxa.core.errors import BackendUnavailableError
from doxa_bench.mtbench101.dialogues import BenchDialogue
from doxa_bench.mtbench101.journal import Journal, key_of
from doxa_bench.mtbench101.systems import Said, System

__all__ = ["DIALOGUES_AT_ONCE", "Played", "Progress", "play_all"]

GIVE_UP_AFTER = 20
"""Replies of which none came, after which a run stops: a server that is away would fail thousands more."""
DIALOGUES_AT_ONCE = 8
"""Dialogues that a language model holds at a time."""
Progress = Callable[[str, int, int], None]


class Played(NamedTuple):
    """What one system said in one dialogue of one run."""

    system: str
    run: int
    dialogue: BenchDialogue
    said: tuple[Said, ...]


def play_all(
    system: System,
    dialogues: Sequence[BenchDialogue],
    runs: int,
    journal: Journal,
    tell: Progress,
    *,
    parallel: int = DIALOGUES_AT_ONCE,
) -> Iterator[Played]:
    """Yield what a system says in every dialogue of every run, in order; one run of a system that repeats itself.

    The protocol is autoregressive: the messages are those of the data, the replies before them the system's own. What
    asks a model holds `parallel` dialogues at a time.

    Raises:
        BackendUnavailableError: none of the first 20 replies came.
    """
    runs = 1 if system.repeatable else runs
    asked = [(dialogue, run) for run in range(runs) for dialogue in dialogues]
    watch = _Watch(system.name)

    def play(one: tuple[BenchDialogue, int]) -> Played:
        dialogue, run = one
        key = key_of(*system.fingerprint, run, dialogue.id, *(turn.user for turn in dialogue.turns))
        kept = journal.get(key)
        if kept is not None:
            return Played(system.name, run, dialogue, tuple(Said.of(said) for said in kept))
        speaker = system.begin(dialogue, run)
        said = tuple(watch.seen(speaker.reply(turn.user)) for turn in dialogue.turns)
        if not any(one.failed for one in said):  # a failure is tried again by the next run
            journal.put({key: [one.to_data() for one in said]})
        return Played(system.name, run, dialogue, said)

    with ThreadPoolExecutor(1 if system.repeatable else parallel) as pool:
        for done, played in enumerate(pool.map(play, asked), start=1):
            tell(f"{system.name}: replies", done, len(asked))
            yield played


class _Watch:
    """Stops a run whose first replies all failed."""

    def __init__(self, name: str) -> None:
        self._name, self._seen, self._failed, self._guard = name, 0, 0, threading.Lock()

    def seen(self, said: Said) -> Said:
        with self._guard:
            self._seen += 1
            self._failed += bool(said.failed)
            if self._failed == self._seen >= GIVE_UP_AFTER:
                raise BackendUnavailableError(
                    f"bench mtbench101: none of the first {self._seen} replies of {self._name!r} came; the last: "
                    f"{said.failed}. What was measured before is kept; run the same command again to go on."
                )
        return said
