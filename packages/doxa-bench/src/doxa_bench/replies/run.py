"""Replies to memories that are known -> how many contradictions are found, how many are seen where there are none.

    catch rate       replies with a planted contradiction that are called contradicted / such replies
    false alarms     replies without one that are called contradicted / such replies
    precision        of what is called contradicted
    support          of the replies that only repeat what is right, how many are called supported
    latency          of one check in milliseconds, by the clock and by the processor; the reply that is checked first
                     after a memory was filled counts like any other

Intervals are Wilson's at 95%.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from doxa.core.config import Config
from doxa.core.values import Role
from doxa.engine import Doxa
from doxa_bench.dialogues import ASSISTANT, DialogueTurn
from doxa_bench.metrics import percentile, wilson_interval
from doxa_bench.record import environment, models_of
from doxa_bench.replies.generate import PLANTED, Case, draw_cases, read_cases

__all__ = ["Checked", "RepliesReport", "run"]

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A reply and what was found of it."""

    id: str
    kind: str
    planted: bool
    reply: str
    label: str
    by: str
    """What decided that it is contradicted: logic, wording, nli, ...; empty where it is not."""
    reason: str
    ms: float
    cpu_ms: float

    @property
    def right(self) -> bool:
        """Whether it was called contradicted exactly if it is."""
        return (self.label == "contradicted") == self.planted


@dataclass(frozen=True, slots=True, kw_only=True)
class RepliesReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    seed: int | None
    checked: Sequence[Checked]
    environment: Mapping[str, Any]

    @property
    def models(self) -> Mapping[str, str | None]:
        """The models that took part, by role."""
        found: Mapping[str, str | None] = self.environment.get("models", {})
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the measures, by kind as well, with their counts."""
        planted = [one for one in self.checked if one.planted]
        clean = [one for one in self.checked if not one.planted]
        caught, alarms = sum(one.right for one in planted), sum(not one.right for one in clean)
        true = [one for one in clean if one.kind == "true"]
        times, work = sorted(one.ms for one in self.checked), sorted(one.cpu_ms for one in self.checked)
        return {
            "data": self.data,
            "seed": self.seed,
            "replies": len(self.checked),
            "catch_rate": _share(caught, len(planted)),
            "catch_rate_95": list(wilson_interval(caught, len(planted))),
            "false_alarms": _share(alarms, len(clean)),
            "false_alarms_95": list(wilson_interval(alarms, len(clean))),
            "precision": _share(caught, caught + alarms),
            "support": _share(sum(one.label == "supported" for one in true), len(true)),
            "found_by": dict(Counter(one.by for one in planted if one.right).most_common()),
            "kinds": _kinds(self.checked),
            "latency_ms": {f"p{part}": percentile(times, part) for part in (50, 95)} if times else {},
            "processor_ms": {f"p{part}": percentile(work, part) for part in (50, 95)} if work else {},
            **self.environment,
        }

    def mistakes(self) -> list[dict[str, Any]]:
        """Return the replies that were called wrongly."""
        return [asdict(one) for one in self.checked if not one.right]


def run(
    data: Path, *, config: Config, seed: int = 0, count: int = 400, progress: Progress | None = None
) -> RepliesReport:
    """Return what is found of replies: drawn from a folder of gold data, or those of a file.

    Args:
        data: a folder with `revision` and `understanding`, or a JSON Lines file of replies.
        config: the settings; the database is in memory whatever they say.
        seed: of what is drawn.
        count: how many are drawn.
        progress: told what is done, how much of it, of how much.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a file is no such data.
    """
    drawn = data.is_dir()
    cases = draw_cases(data, count=count, seed=seed) if drawn else read_cases(data)
    ordered = sorted(enumerate(cases), key=lambda pair: (str(pair[1].turns), pair[0]))
    found: dict[int, Checked] = {}
    with Doxa.open(":memory:", config=config) as doxa:
        models = doxa.describe()
        for number, (_, group) in enumerate(groupby(ordered, key=lambda pair: str(pair[1].turns))):
            some, user = list(group), f"u{number}"
            _told(doxa, user, some[0][1])
            for place, case in some:
                found[place] = _checked(doxa, user, case)
                if progress is not None:
                    progress("replies", len(found), len(cases))
    about = {**environment(), "models": models_of(models)}
    checked = [found[place] for place in range(len(cases))]
    return RepliesReport(data=str(data), seed=seed if drawn else None, checked=checked, environment=about)


def _told(doxa: Doxa, user: str, case: Case) -> None:
    """Fill a memory with the turns of a case."""
    dialogue = doxa.dialogue(user=user, speaker=case.person, agent=ASSISTANT)
    for turn in case.turns:
        dialogue.absorb(turn.text, speaker=turn.speaker, role=_role(turn), at=turn.day)
    dialogue.flush()


def _role(turn: DialogueTurn) -> Role:
    return "assistant" if turn.speaker == ASSISTANT else "user"


def _checked(doxa: Doxa, user: str, case: Case) -> Checked:
    memory = doxa.memory(user=user)
    clock, work = time.perf_counter(), time.process_time()
    verdict = memory.check(case.reply, agent=ASSISTANT, speaker=case.person)
    ms, cpu_ms = 1000 * (time.perf_counter() - clock), 1000 * (time.process_time() - work)
    wrong = next((one for one in verdict.sentences if one.label == "contradicted"), None)
    return Checked(
        id=case.id, kind=case.kind, planted=case.planted, reply=case.reply, label=verdict.label,
        by=wrong.by if wrong else "", reason=verdict.reason, ms=ms, cpu_ms=cpu_ms,
    )  # fmt: skip


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _kinds(checked: Sequence[Checked]) -> dict[str, Any]:
    rows: dict[str, list[Checked]] = defaultdict(list)
    for one in checked:
        rows[one.kind].append(one)
    order = [kind for kind in PLANTED if kind in rows] + sorted(kind for kind in rows if kind not in PLANTED)
    return {
        kind: {"replies": len(rows[kind]), "contradicted": sum(one.label == "contradicted" for one in rows[kind])}
        for kind in order
    }
