"""Sixty days of one user whose taste and wording change: is it noticed, is it mended, and is there no false alarm?

    python benchmarks/scale/drift.py --turned 4 --mild 2 --calm 20 --jobs 2

A user talks of films (or food) day by day: something is liked or not in words of the user's own, something is judged in
answer to a question of the assistant's, and others mention the same things. Every day 20 to 40 questions are asked of
what was said so far. On day 10 what was learned is refreshed by hand, as a schedule would do it. On the day of the
change the user turns to the other subject, and asks in other words after another kind of turn:

* `own`: by name, after a statement that has the name in it;
* `answers`: in the words of the assistant's question, after the reply to it, which shares no word with either.

`turned` seeks own statements before and answers after: what was learned on the one is wrong for the other. `mild` is the
other way round, which costs little. A tenth of the questions is of the other kind all the time. Calm runs have no
change; every other one asks after answers.

The memory, search, the sample, the windows, the test, the refresh and its replays are the engine's. What answers is
simulated, since a language model would be asked 40,000 times: where the evidence is among the first ten it is cited and
verified with a chance of 0.95; else there is no answer, and the user says what was needed with a chance of 0.5. The
monitor sees those alone; the report is by the true evidence of every question. The sentences are those of the training
split of the implicit benchmark. Recall@10 is the mean over days: `before` the change (from day 10 on), `drifted` from
the change to the refresh, `after` from the refresh to the end.
"""

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from doxa.backends import onnx
from doxa.core.config import Config
from doxa.core.drift import Drift
from doxa.core.trace import Step
from doxa.engine import Dialogue, Doxa
from doxa.engine.absorb.replaying import encoded_queries
from doxa.engine.answer.feedback import shadow_of
from doxa.recall import apart, evidence_of, look_up, read_query
from doxa_bench.implicit.material import Concept, Workload, fill, workload

DAYS, CHANGE, FIRST_REFRESH, MENTIONS = 60, 30, 10, 8
ASKED = (20, 40)
OTHER, VERIFIED, TOLD = 0.1, 0.95, 0.5
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
USER = "ana"
ASKS = (
    ("What is the verdict on {thing}?", "What was the verdict on {thing}?"),
    ("And, was {thing} worth the evening?", "Was {thing} worth the evening?"),
    ("Did {thing} keep its promise?", "Did {thing} keep its promise?"),
    ("So, marks out of ten for {thing}?", "How many marks out of ten did {thing} get?"),
)
"""What the assistant asks, and how the user comes back to it."""
BY_NAME = (
    "What is my opinion of {thing}?",
    "What did I say about {thing}?",
    "How do I find {thing}?",
    "Do I care for {thing}?",
)


@dataclass(slots=True)
class Day:
    """How the questions of a day went."""

    found: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Life:
    """One user, and what search should find."""

    rng: Random
    topics: list[tuple[Workload, Concept, str]]
    said: int = 0
    gold: dict[tuple[int, str], str] = field(default_factory=dict)
    asks: dict[int, int] = field(default_factory=dict)

    def turns(self, topic: int) -> list[tuple[str, str, str]]:
        """Return what is said of a topic, in units that are shuffled: (id, role, text)."""
        rng, (home, _, thing) = self.rng, self.topics[topic]
        polarity = rng.choice(("like", "dislike"))
        manners = {name: texts for name, texts in home.frames[polarity].items() if name != "choice"}
        own = self._filled(topic, rng.choice(manners[rng.choice(sorted(manners))]))
        self.asks[topic] = rng.randrange(len(ASKS))
        asked = fill(ASKS[self.asks[topic]][0], {"thing": thing})
        answer = rng.choice(home.hints[rng.choice(sorted(home.hints))][polarity])
        units: list[tuple[str, list[tuple[str, str]]]] = [
            ("own", [("user", own)]),
            ("answers", [("assistant", asked), ("user", answer)]),
        ]
        near = home.frames["near"]
        for _ in range(MENTIONS):
            manner = rng.choice(sorted(near))
            units.append(
                (
                    "",
                    [("assistant" if manner == "assistant" else "user", self._filled(topic, rng.choice(near[manner])))],
                )
            )
        rng.shuffle(units)
        turns = []
        for kind, unit in units:
            for role, text in unit:
                self.said += 1
                turns.append((f"t{self.said}", role, text))
            if kind:
                self.gold[topic, kind] = turns[-1][0]
        return turns

    def question(self, topic: int, kind: str) -> tuple[str, str]:
        """Return a question, and the id of the turn that answers it."""
        text = ASKS[self.asks[topic]][1] if kind == "answers" else self.rng.choice(BY_NAME)
        return fill(text, {"thing": self.topics[topic][2]}), self.gold[topic, kind]

    def _filled(self, topic: int, frame: str) -> str:
        home, concept, thing = self.topics[topic]
        others = [other for one in home.concepts if one.name != concept.name for other in one.things]
        slots = {"thing": thing, "aspect": self.rng.choice(concept.aspects), "label": concept.label}
        slots |= {"other": self.rng.choice(others), "alias": concept.aliases.get(thing, thing)}
        return fill(frame, slots, several=home.several(thing))


def drawn(rng: Random, change: int) -> Life:
    """Return a user with a topic for every second day, of one subject before the change and of another after it."""
    subjects = rng.sample(("films", "food"), 2)
    topics = []
    for name, days in zip(subjects, (change, DAYS - change), strict=True):
        home = workload(name, "train")
        things = [(home, concept, thing) for concept in home.concepts for thing in concept.things]
        rng.shuffle(things)
        topics += things[: -(-days // 2)]
    return Life(rng=rng, topics=topics)


@contextmanager
def remembering() -> Iterator[None]:
    """Let every network say the same of the same input without running again: sentences come back from run to run."""
    run = onnx.Session.run

    def remembered(self: onnx.Session, outputs: Sequence[str] | None, feed: dict[str, Any], **rest: Any) -> Any:
        key = hashlib.sha1(f"{self._what} {outputs}".encode())
        for name, value in sorted(feed.items()):
            key.update(f"{name} {value.shape}".encode() + value.tobytes())
        if (found := key.digest()) not in KNOWN:
            KNOWN[found] = run(self, outputs, feed, **rest)
        return KNOWN[found]

    onnx.Session.run = remembered  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        onnx.Session.run = run  # type: ignore[method-assign]


KNOWN: dict[bytes, Any] = {}


def play(seed: int, kind: str) -> dict[str, object]:
    """Live one life and return what became of it; `kind` is turned, mild or calm."""
    rng, begun = Random(f"drift/{kind}/{seed}"), time.perf_counter()
    change = DAYS if kind == "calm" else CHANGE + rng.randrange(-3, 4)
    before, after = ("own", "answers") if kind == "turned" or (kind == "calm" and not seed % 2) else ("answers", "own")
    life = drawn(rng, change)
    settings = {"grader": {"name": "none"}, "reader": {"name": "none"}, "nli": {"name": "none"}}
    days: list[Day] = []
    first_alarm = refreshed = None
    config = Config.from_tree(settings)
    with (
        tempfile.TemporaryDirectory() as folder,
        remembering(),
        Doxa.open(Path(folder) / "memory.db", config=config) as doxa,
    ):
        chat, memory = doxa.dialogue(user=USER), doxa.memory(user=USER)
        for day in range(DAYS):
            at = START + timedelta(days=day)
            if day % 2 == 0 or day == change:
                tell(chat, life, min((day + 1) // 2, len(life.topics) - 1), at)
            if day == FIRST_REFRESH:
                memory.drift(refresh=True)
            wording = before if day < change else after
            known = [topic for topic in life.asks if day < change or topic >= -(-change // 2)]
            days.append(ask_all(doxa, life, known or [*life.asks], wording, at))
            doxa.wait(USER, rest_s=120)
            now = memory.drift()
            if first_alarm is None and (now.alarms or len(now.refreshes) > 1):
                first_alarm = day
            if refreshed is None and len(now.refreshes) > 1:
                refreshed = day
        now = memory.drift()
    return told(seed, kind, change, days, now, first_alarm, refreshed, time.perf_counter() - begun)


def tell(chat: Dialogue, life: Life, topic: int, at: datetime) -> None:
    """Have what is said of a topic absorbed."""
    if topic in life.asks:
        return
    for place, (turn_id, role, text) in enumerate(life.turns(topic)):
        speaker = "Ana" if role == "user" else "assistant"
        chat.absorb(text, at=at + timedelta(minutes=place), turn_id=turn_id, speaker=speaker)
    chat.flush()


def ask_all(doxa: Doxa, life: Life, topics: list[int], wording: str, at: datetime) -> Day:
    """Ask the questions of a day."""
    rng, day, parts = life.rng, Day(), doxa.parts
    other = "own" if wording == "answers" else "answers"
    for number in range(rng.randint(*ASKED)):
        text, gold = life.question(rng.choice(topics), other if rng.random() < OTHER else wording)
        when = at + timedelta(hours=10, minutes=number)
        with parts.log.user(USER) as state:
            query = read_query(text, state, at=when)
        (query,) = encoded_queries([query], parts)
        start = time.perf_counter()
        with parts.log.user(USER) as state:
            looked = look_up(query, state, spec=parts.recall, weights=parts.learned.of(USER))
            evidence = evidence_of(looked)
        ms = (time.perf_counter() - start) * 1000
        found = any(gold in item.turn_ids for item in evidence)
        day.found.append(float(found))
        verified = found and rng.random() < VERIFIED
        outcome = "used" if verified else "missed" if rng.random() < TOLD else "abstained"
        step = Step(name="recall", ms=ms, detail={**looked.note, "apart": apart(looked.proposed)})
        needed = () if outcome == "abstained" else (gold,)
        parts.shadows.add(
            USER, shadow_of(outcome, at=when, query=text, asked="", needed=needed, evidence=evidence, step=step)
        )
    return day


def told(
    seed: int, kind: str, change: int, days: list[Day], now: Drift, alarm: int | None, refreshed: int | None,
    seconds: float,
) -> dict[str, object]:  # fmt: skip
    """Return one run as a row."""

    def mean(first: int, last: int) -> float | None:
        found = [one for day in days[first:last] for one in day.found]
        return round(sum(found) / len(found), 3) if found else None

    row: dict[str, object] = {"seed": seed, "kind": kind, "seconds": round(seconds)}
    if kind == "calm":
        false = alarm is not None
        return row | {
            "alarm": false,
            "recall": mean(FIRST_REFRESH, DAYS),
            "why": now.refreshes[-1].why if false else "",
        }
    before, after = mean(FIRST_REFRESH, change), mean(refreshed + 1, DAYS) if refreshed is not None else None
    done = now.refreshes[min(1, len(now.refreshes) - 1)]
    return row | {
        "windows_to_alarm": None if alarm is None else alarm - change,
        "windows_to_refresh": None if refreshed is None else refreshed - change,
        "before": before,
        "drifted": mean(change, DAYS if refreshed is None else refreshed + 1),
        "after": after,
        "back": after is not None and before is not None and after >= before - 0.02,
        "held_back": [round(done.lesson.before.get("recall", 0), 3), round(done.lesson.after.get("recall", 0), 3)],
        "refreshes": len(now.refreshes),
        "why": done.why,
    }


def runs(options: argparse.Namespace) -> Iterator[tuple[int, str]]:
    """Yield what is to be run."""
    for kind in ("turned", "mild", "calm"):
        for seed in range(getattr(options, kind)):
            yield seed, kind


def main() -> None:
    """Run, print a row for each run and then the sum."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--turned", type=int, default=4)
    arguments.add_argument("--mild", type=int, default=2)
    arguments.add_argument("--calm", type=int, default=20)
    arguments.add_argument("--jobs", type=int, default=1)
    options = arguments.parse_args()
    rows = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for done in [pool.submit(play, *one) for one in runs(options)]:
            rows.append(done.result())
            print(json.dumps(rows[-1]), flush=True)
    moved, calm = ([row for row in rows if row["kind"] == kind] for kind in ("turned", "calm"))
    print(
        json.dumps(
            {
                "found_within_3": f"{sum(r['windows_to_alarm'] in (0, 1, 2, 3) for r in moved)} of {len(moved)}",
                "back_within_0.02": f"{sum(bool(r['back']) for r in moved)} of {len(moved)}",
                "false_alarms": f"{sum(bool(r['alarm']) for r in calm)} of {len(calm)}",
            }
        )
    )


if __name__ == "__main__":
    main()
