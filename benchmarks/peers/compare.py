"""Doxa beside mem0 on the same turns and questions, one after the other on the same machine.

    python benchmarks/peers/compare.py LOCOMO --python PEER/bin/python [--conversations 2] [--json]

Recall@10 and nDCG@10 of LoCoMo's evidence, the time of a search (encoding included), turns a second, and how often a
default search gives back a turn that a later one superseded: the dialogues of `benchmarks/revision`, questions about
now, a turn that says what is wrong by then. See README.md for the environment of the peer.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from doxa.core.config import Config
from doxa.engine import Doxa
from doxa_bench.dialogues import ASSISTANT, read_dialogues
from doxa_bench.locomo import read_samples
from doxa_bench.metrics import mean, ndcg_at, percentile, recall_at
from doxa_bench.wording import words

K = 10
HERE = Path(__file__).parent
REVISION = HERE.parent / "revision"
CHANGING = ("update", "correction", "retraction", "refinement")
"""Kinds of dialogue in which something said stops being right."""


@dataclass(kw_only=True)
class Job:
    """Turns and questions by user, and what counts as found, or as superseded, for every question."""

    turns: dict[str, list[dict]] = field(default_factory=dict)
    queries: dict[str, list[str]] = field(default_factory=dict)
    wanted: dict[str, list[frozenset[str]]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many turns there are."""
        return sum(map(len, self.turns.values()))


@dataclass(kw_only=True)
class Ran:
    """What a system made of a job."""

    found: dict[str, list[list[str]]]
    ms: list[float]
    ingest_s: float
    outdated: dict[str, set[str]] = field(default_factory=dict)
    """User -> turns that support facts, none of which is believed any more; known to Doxa alone."""


def main() -> None:
    """Run both and print them side by side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=Path, help="a file in the shape of locomo10.json")
    parser.add_argument("--python", type=Path, help="the interpreter of the environment with mem0")
    parser.add_argument("--conversations", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.python is None or not options.python.exists():
        print(f"skipped: no mem0 at --python {options.python}; {HERE / 'README.md'} says how to install it")
        return
    evidence, changes = locomo(options.locomo, options.conversations), superseded()
    runs = {"doxa": (ours(evidence), ours(changes))}
    (first, told), (second, _) = (theirs(job, options.python) for job in (evidence, changes))
    runs[f"mem0 {told['version']}"] = (first, second)
    known = runs["doxa"][1].outdated
    report = {name: measured(evidence, one, changes, other, known) for name, (one, other) in runs.items()}
    report["ratios"] = ratios(*report.values())
    report |= {
        "turns": evidence.size,
        "left_out_of_mem0": told["left_out"],
        "doxa": report["doxa"] | {"version": version("doxa")},
    }
    print(json.dumps(report, indent=2) if options.json else table(report))


def locomo(path: Path, conversations: int) -> Job:
    """Return the turns and questions of the first conversations of LoCoMo; a turn is "speaker: text" for the peer."""
    job = Job()
    for sample in read_samples(path)[:conversations]:
        job.turns[sample.user] = [
            turn(line.turn_id, line.role, line.speaker, line.text, line.at and line.at.isoformat(), line.session)
            for line in sample.conversation.lines
            if line.turn_id is not None
        ]
        job.queries[sample.user] = [question.text for question in sample.questions]
        job.wanted[sample.user] = [question.evidence for question in sample.questions]
    return job


def turn(turn_id: str, role: str, speaker: str, said: str, at: str | None, session: str | None) -> dict:
    """Return a turn as plain data, with `text` as the peer gets it."""
    return {
        "id": turn_id,
        "role": role,
        "speaker": speaker,
        "said": said,
        "text": f"{speaker}: {said}",
        "at": at,
        "session": session,
    }


def superseded() -> Job:
    """Return dialogues in which facts change, the questions about now, and the turns that are wrong by then."""
    job = Job()
    for path in sorted(REVISION.glob("set*.jsonl")):
        for dialogue in read_dialogues(path):
            if dialogue.kind not in CHANGING:
                continue
            user, texts = f"{path.stem}-{dialogue.id}", [turn.text for turn in dialogue.turns]
            job.turns[user] = [
                turn(
                    str(n), "assistant" if one.speaker == ASSISTANT else "user", one.speaker, one.text, one.day, one.day
                )
                for n, one in enumerate(dialogue.turns)
            ]
            asked = [(probe.question, stale(texts, probe.wrong, probe.answer)) for probe in dialogue.probes
                     if probe.after == len(texts) and not probe.about_history and probe.type == "value"]  # fmt: skip
            job.queries[user] = [question for question, wrong in asked if wrong]
            job.wanted[user] = [wrong for _, wrong in asked if wrong]
    return job


def stale(texts: list[str], wrong: tuple[str, ...], right: tuple[str, ...]) -> frozenset[str]:
    """Return the places of the turns that first say what is wrong by now, and nothing that is right.

    Later ones may speak of it as past ("they sacked him"); the last turn never counts.
    """
    places = set()
    for form in wrong:
        first = next((place for place, text in enumerate(texts[:-1]) if says(text, form)), None)
        if first is not None and not any(says(texts[first], one) for one in right):
            places.add(str(first))
    return frozenset(places)


def says(text: str, form: str) -> bool:
    """Tell whether a text holds a form, word by word."""
    return f" {' '.join(words(form))} " in f" {' '.join(words(text))} "


def ours(job: Job) -> Ran:
    """Run a job here."""
    found, ms, old = {}, [], {}
    with Doxa.open(":memory:", config=Config()) as doxa:
        start = time.perf_counter()
        for user, turns in job.turns.items():
            for turn in turns:
                chat = doxa.dialogue(user=user, session=turn["session"] or "default")
                chat.absorb(turn["said"], speaker=turn["speaker"], role=turn["role"], at=turn["at"], turn_id=turn["id"])
        doxa.flush()
        ingest_s = time.perf_counter() - start
        for user, queries in job.queries.items():
            found[user], old[user] = [], outdated(doxa, user)
            for query in queries:
                start = time.perf_counter()
                evidence = doxa.memory(user=user).search(query, k=K)
                ms.append((time.perf_counter() - start) * 1000)
                found[user].append([turn_id for item in evidence for turn_id in item.turn_ids])
    return Ran(found=found, ms=ms, ingest_s=ingest_s, outdated=old)


def outdated(doxa: Doxa, user: str) -> set[str]:
    """Return the turns that support facts, none of which is believed any more."""
    memory = doxa.memory(user=user)
    now = {turn_id for fact in memory.facts() for turn_id in fact.turn_ids}
    return {turn_id for fact in memory.facts(current=False) for turn_id in fact.turn_ids} - now


def theirs(job: Job, python: Path) -> tuple[Ran, dict]:
    """Run a job in the peer's environment."""
    with tempfile.TemporaryDirectory() as folder:
        task, out = Path(folder) / "job.json", Path(folder) / "out.json"
        task.write_text(json.dumps({"users": job.turns, "queries": job.queries, "k": K}), encoding="utf-8")
        subprocess.run([python, HERE / "mem0_side.py", task, out], check=True, stdout=sys.stderr)
        told = json.loads(out.read_text(encoding="utf-8"))
    return Ran(found=told["found"], ms=told["ms"], ingest_s=told["ingest_s"]), told


def measured(evidence: Job, one: Ran, changes: Job, other: Ran, known: dict[str, set[str]]) -> dict:
    """Return the measures of a system."""
    pairs = [(ranking, wanted) for user in evidence.queries
             for ranking, wanted in zip(one.found[user], evidence.wanted[user], strict=True)]  # fmt: skip
    wrong = [bool(set(ranking[:K]) & stale) for user in changes.queries
             for ranking, stale in zip(other.found[user], changes.wanted[user], strict=True)]  # fmt: skip
    named = [bool(set(ranking[:K]) & stale & known[user]) for user in changes.queries
             for ranking, stale in zip(other.found[user], changes.wanted[user], strict=True)]  # fmt: skip
    return {
        "questions": len(pairs),
        "recall@10": round(mean([recall_at(ranking, wanted, K) for ranking, wanted in pairs]), 4),
        "ndcg@10": round(mean([ndcg_at(ranking, wanted, K) for ranking, wanted in pairs]), 4),
        "search_p50_ms": round(percentile(one.ms, 50), 2),
        "search_p95_ms": round(percentile(one.ms, 95), 2),
        "turns_per_s": round(evidence.size / one.ingest_s, 1),
        "questions_about_now": len(wrong),
        "superseded_returned": sum(wrong),
        "superseded_as_doxa_believes": sum(named),
    }


def ratios(us: dict, peer: dict) -> dict:
    """Return how many times better we are, by what is better when it is less or more."""
    less, more = ("search_p50_ms", "search_p95_ms"), ("recall@10", "ndcg@10", "turns_per_s")
    return {name: round(peer[name] / us[name], 2) for name in less} | {
        name: round(us[name] / peer[name], 2) for name in more
    }


def table(report: dict) -> str:
    """Return a report as lines of text."""
    systems = [
        name for name, row in report.items() if isinstance(row, dict) and "recall@10" in row and name != "ratios"
    ]
    rows = [["", *systems, "times better"]]
    rows += [[name, *(str(report[system][name]) for system in systems), str(report["ratios"].get(name, ""))]
             for name in report[systems[1]]]  # fmt: skip
    lines = ["  ".join(cell.ljust(22) for cell in row).rstrip() for row in rows]
    return "\n".join([*lines, f"left out of mem0, not installed: {', '.join(report['left_out_of_mem0']) or 'nothing'}"])


if __name__ == "__main__":
    main()
