"""Sixty days of one user whose taste and wording change: is it noticed, is it mended, and is there no false alarm?

    python benchmarks/scale/drift.py --turned 4 --mild 2 --calm 20 --jobs 2

A user has talked of films and of food (or the other way round): of each thing something is said in words of the user's
own, something in answer to a question of the assistant's, and others mention it. There are four such pasts; from there
on every run draws for itself. Every fourth day another thing comes up, and every day 20 to 40 questions are asked of
the first subject. Every two weeks what was learned is refreshed (setting `drift.every`). On the day of the change the
user turns to the other subject, and asks in other words after another kind of turn:

* `own`: by name, after a statement that has the name in it;
* `answers`: in the words of the assistant's question, after the reply to it, which shares no word with either.

`turned` seeks own statements before and answers after, `mild` the other way round, which costs less. Calm runs have no
change; half of them ask after answers.

The memory, search, the sample, the windows, the test, the refresh and its replays are the engine's. What answers is
simulated, since a language model would be asked 45,000 times: where the evidence is among the first ten it is cited and
verified with a chance of 0.95; else there is no answer, and the user says what was needed with a chance of 0.5. The
monitor sees those alone; the report is by the true evidence of every question. The sentences are those of the training
split of the implicit benchmark. Recall@10 is the mean over days: `before` the change (from day 10 on), `drifted` from
the change to the refresh, `after` from the refresh to the end. Windows are counted from the change on.
"""

import argparse
import hashlib
import json
import shutil
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

DAYS, CHANGE, SETTLED, EVERY = 60, 30, 10, 14
"""From the day SETTLED on recall is what it was before the change; EVERY so many days it is refreshed."""
PASTS, PAST, NEW_EVERY, MENTIONS = 4, (20, 10), 4, 8
"""Pasts, the things of either subject in one, the days until another comes up, and who mentions it besides."""
ASKED = (20, 40)
VERIFIED, TOLD = 0.95, 0.5
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
KNOWN: dict[bytes, Any] = {}

Turns = list[tuple[str, str, str]]
"""Id, role and text of each."""


@dataclass(slots=True)
class Life:
    """One user, and what search should find."""

    rng: Random
    topics: list[tuple[Workload, Concept, str]]
    """Those of the past, of the first subject and the second; then those that come up later, of either."""
    later: tuple[int, int]
    """Where those begin."""
    said: int = 0
    gold: dict[tuple[int, str], str] = field(default_factory=dict)
    asks: dict[int, int] = field(default_factory=dict)

    def turns(self, topic: int) -> Turns:
        """Return what is said of a topic."""
        rng, (home, _, thing) = self.rng, self.topics[topic]
        polarity = rng.choice(("like", "dislike"))
        manners = {name: texts for name, texts in home.frames[polarity].items() if name != "choice"}
        own = self._filled(topic, rng.choice(manners[rng.choice(sorted(manners))]))
        self.asks[topic] = rng.randrange(len(ASKS))
        asked = fill(ASKS[self.asks[topic]][0], {"thing": thing})
        answer = rng.choice(home.hints[rng.choice(sorted(home.hints))][polarity])
        units = [("own", [("user", own)]), ("answers", [("assistant", asked), ("user", answer)])]
        near = home.frames["near"]
        for _ in range(MENTIONS):
            manner = rng.choice(sorted(near))
            role = "assistant" if manner == "assistant" else "user"
            units.append(("", [(role, self._filled(topic, rng.choice(near[manner])))]))
        rng.shuffle(units)
        turns: Turns = []
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


def past(number: int) -> Life:
    """Return a user with two subjects, of which nothing is said yet."""
    rng = Random(f"drift/past/{number}")
    things = []
    for name in rng.sample(("films", "food"), 2):
        home = workload(name, "train")
        found = [(home, concept, thing) for concept in home.concepts for thing in concept.things]
        things.append(rng.sample(found, len(found)))
    first, second = (some[:count] for some, count in zip(things, PAST, strict=True))
    later, other = (some[count:] for some, count in zip(things, PAST, strict=True))
    begin = len(first) + len(second)
    return Life(rng=rng, topics=[*first, *second, *later, *other], later=(begin, begin + len(later)))


def lived(number: int, folder: Path) -> Life:
    """Return a user with a past, which is absorbed into a database of the folder where it is not there yet."""
    life = past(number)
    said = [life.turns(topic) for topic in range(sum(PAST))]
    path = folder / f"{number}.db"
    if not path.exists():
        with remembering(), Doxa.open(path, config=settings()) as doxa:
            for topic, turns in enumerate(said):
                tell(doxa.dialogue(user=USER), turns, START - timedelta(days=2 * (len(said) - topic)))
    return life


def settings() -> Config:
    """Return settings without the models that answers take: none is written."""
    return Config.from_tree(
        {**{name: {"name": "none"} for name in ("grader", "reader", "nli")}, "drift": {"every": EVERY}}
    )


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


def play(kind: str, seed: int, pasts: Path) -> dict[str, object]:
    """Live on from a past and return what became of it; `kind` is turned, mild or calm."""
    begun, number = time.perf_counter(), seed % PASTS
    life = lived(number, pasts)
    life.rng = rng = Random(f"drift/{kind}/{seed}")
    change = DAYS if kind == "calm" else CHANGE + rng.randrange(-3, 4)
    own = kind == "turned" or (kind == "calm" and seed // PASTS % 2 == 0)
    before, after = ("own", "answers") if own else ("answers", "own")
    subjects = [set(range(PAST[0])), set(range(PAST[0], sum(PAST)))]
    days: list[list[float]] = []
    states: list[Drift] = []
    with tempfile.TemporaryDirectory() as folder, remembering():
        shutil.copy(pasts / f"{number}.db", Path(folder) / "memory.db")
        with Doxa.open(Path(folder) / "memory.db", config=settings()) as doxa:
            chat, memory = doxa.dialogue(user=USER), doxa.memory(user=USER)
            for day in range(DAYS):
                at, now = START + timedelta(days=day), day >= change
                if day % NEW_EVERY == 0:
                    topic = life.later[now] + day // NEW_EVERY
                    tell(chat, life.turns(topic), at)
                    subjects[now].add(topic)
                days.append(ask_all(doxa, life, sorted(subjects[now]), after if now else before, at))
                doxa.wait(USER, rest_s=120)
                states.append(memory.drift())
    return {"kind": kind, "seed": seed} | told(kind, change, days, states) | {"s": round(time.perf_counter() - begun)}


def tell(chat: Dialogue, turns: Turns, at: datetime) -> None:
    """Have what is said absorbed."""
    for place, (turn_id, role, text) in enumerate(turns):
        speaker = "Ana" if role == "user" else "assistant"
        chat.absorb(text, at=at + timedelta(minutes=place), turn_id=turn_id, speaker=speaker)
    chat.flush()


def ask_all(doxa: Doxa, life: Life, topics: list[int], wording: str, at: datetime) -> list[float]:
    """Ask the questions of a day, and return for each whether search found its evidence."""
    rng, parts, results = life.rng, doxa.parts, list[float]()
    for number in range(rng.randint(*ASKED)):
        text, gold = life.question(rng.choice(topics), wording)
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
        results.append(float(found))
        verified = found and rng.random() < VERIFIED
        outcome = "used" if verified else "missed" if rng.random() < TOLD else "abstained"
        step = Step(name="recall", ms=ms, detail={**looked.note, "apart": apart(looked.proposed)})
        needed = () if outcome == "abstained" else (gold,)
        shadow = shadow_of(outcome, at=when, query=text, asked="", needed=needed, evidence=evidence, step=step)
        parts.shadows.add(USER, (state.ordinal, shadow))
    return results


def told(kind: str, change: int, days: list[list[float]], states: list[Drift]) -> dict[str, object]:
    """Return what one run was like."""

    def mean(first: int, last: int) -> float | None:
        found = [one for day in days[first:last] for one in day]
        return round(sum(found) / len(found), 3) if found else None

    def first(of: list[bool]) -> int | None:
        return of.index(True) if any(of) else None

    done = [[one for one in state.refreshes if one.alarmed] for state in states]
    alarm = first([bool(state.alarms or some) for state, some in zip(states, done, strict=True)])
    refreshed = first([bool(some) for some in done])
    why = " ".join(dict.fromkeys(one.text for state in states for one in state.alarms)) or (
        done[-1][0].why if done[-1] else ""
    )
    row: dict[str, object] = {"refreshes": len(states[-1].refreshes), "why": why}
    if kind == "calm":
        return {"alarm": alarm is not None, "recall": mean(SETTLED, DAYS), **row}
    before, after = mean(SETTLED, change), mean(refreshed + 1, DAYS) if refreshed is not None else None
    return {
        "windows_to_alarm": None if alarm is None else alarm - change,
        "windows_to_refresh": None if refreshed is None else refreshed - change,
        "before": before,
        "drifted": mean(change, DAYS if refreshed is None else refreshed + 1),
        "after": after,
        "back": after is not None and before is not None and after >= before - 0.02,
        "held_back": [round(of.get("recall", 0), 3) for of in (done[-1][0].lesson.before, done[-1][0].lesson.after)]
        if done[-1]
        else None,
        "alarmed_refreshes": len(done[-1]),
        **row,
    }


def main() -> None:
    """Run, print a row for each run and then the sum."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"turned": 4, "mild": 2, "calm": 20}
    for kind, count in kinds.items():
        arguments.add_argument(f"--{kind}", type=int, default=count)
    arguments.add_argument("--jobs", type=int, default=1)
    options = arguments.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(options.jobs) as pool:
        list(pool.map(lived, range(PASTS), [Path(folder)] * PASTS))
        runs = [(kind, seed) for kind in kinds for seed in range(getattr(options, kind))]
        for done in [pool.submit(play, *one, Path(folder)) for one in runs]:
            rows.append(done.result())
            print(json.dumps(rows[-1]), flush=True)
    moved, calm = ([row for row in rows if row["kind"] == kind] for kind in ("turned", "calm"))
    found = sum(row["windows_to_alarm"] in (0, 1, 2, 3) for row in moved)
    print(f"turned: found within 3 windows {found} of {len(moved)}, recall back {sum(bool(r['back']) for r in moved)}")
    print(f"calm: alarms in {sum(bool(row['alarm']) for row in calm)} of {len(calm)}")


if __name__ == "__main__":
    main()
