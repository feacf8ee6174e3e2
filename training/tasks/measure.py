"""Plays scenarios that nothing was fitted to, and prints how the classifier and the confidence hold there.

    python training/tasks/measure.py SCENARIOS.jsonl ... [--ask-below 0.2]

A step that changes something is right when every judged slot whose value changes is right after it, no other that was
right is wrong, and none has a new wrong value; one that changes nothing, when no judged slot's value changes. With
`--ask-below`, the scenarios are played again with changes asked about: by a user who never answers, and by one who says
"yes" where the change asked about is right and "no" where it is not.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from fit import calibration, reliability, report_steps

from doxa.core.config import Config
from doxa.core.tasks import TaskCommit
from doxa.engine.wiring.parts import wire
from doxa.memory import TaskForest
from doxa.tasks import Step, take
from doxa.tasks.clearing import UNREAD
from doxa.tasks.intents import CLASSES, class_of, known_words, likely
from doxa.tasks.reading import read_clauses
from doxa_bench.tasks.scenarios import Scenario, read_scenarios
from doxa_bench.tasks.scoring import Played, score
from doxa_bench.tasks.slots import check_state

AT = datetime(2026, 11, 22, 12)  # noqa: DTZ001  the day that scenarios are told on


@dataclass(frozen=True, slots=True)
class Seen:
    """One judged turn: the odds of its classes, its step, whether that is right, the classes that it may be."""

    odds: dict[str, float]
    step: Step
    right: bool
    wanted: frozenset[str]


def main() -> None:
    """Read the arguments, and print what is measured of each file."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("paths", type=Path, nargs="+")
    arguments.add_argument("--ask-below", type=float, nargs="*", default=[])
    given = arguments.parse_args()
    parts = wire(":memory:", Config.load())
    parser, reads = parts.parser, partial(take, encode=parts.own_vectors)
    for path in given.paths:
        scenarios = read_scenarios(path)
        report(path.name, [one for scenario in scenarios for one in seen(scenario, parser, reads)])
        for below in (0.0, *given.ask_below):
            for answers in (False, True) if below else (False,):
                total: Counter[str] = Counter()
                for scenario in scenarios:
                    total += talked(scenario, parser, reads, below, answers=answers)
                shown = {name: total[name] for name in ("hallucinations", "confusions", "slots_ok", "slots_n", "asked")}
                print(f"  asked below {below}, user {'answers' if answers else 'is silent'}: {shown}", flush=True)


def told(forest: TaskForest, text: str, step: Step) -> None:
    """Put a turn and what it did on a forest."""
    forest.apply(
        TaskCommit(
            number=forest.next_number, at=AT, text=text, intents=step.intents, edits=step.edits, reply=step.reply,
            focus=step.focus, undoes=step.undoes, asked=step.asked, confidence=step.confidence,
        )
    )  # fmt: skip


def seen(scenario: Scenario, parser: Any, reads: Any) -> Iterator[Seen]:
    """Yield the judged turns of a scenario, with nothing asked about a change."""
    forest, gold, said = TaskForest(), {}, ""
    for number, text in enumerate(scenario.turns, 1):
        before, clauses = forest.state(), read_clauses(text, parser, AT)
        odds = likely(clauses, said_before=said, known=known_words(forest), empty=not forest.nodes)
        step = reads(text, forest, parser, AT)
        told(forest, text, step)
        said = step.reply
        expected = scenario.expect.get(number)
        if expected is not None:
            right = is_right(scenario, gold, expected.state, before, forest.state())
            gold = expected.state
            yield Seen(odds, step, right, frozenset(map(class_of, expected.intents)))


def is_right(scenario: Scenario, was: Any, gold: Any, before: Any, after: Any) -> bool:
    """Tell whether a step did what its turn asks for, by the judged slots."""
    now, then = check_state(gold, after, scenario), check_state(gold, before, scenario)
    moved = all(now[slot].right for slot in gold if gold[slot] != was.get(slot))
    kept = all(now[slot].right or not then[slot].right for slot in gold)
    return moved and kept and all(set(now[slot].wrong) <= set(then[slot].wrong) for slot in gold)


def talked(scenario: Scenario, parser: Any, reads: Any, below: float, *, answers: bool) -> Counter[str]:
    """Return the counts of a scenario with changes asked about, and how many were."""
    forest, gold, played, asked = TaskForest(), {}, [], 0
    for number, text in enumerate(scenario.turns, 1):
        expected, before = scenario.expect.get(number), forest.state()
        step = reads(text, forest, parser, AT, ask_below=below)
        could = reads(text, forest, parser, AT) if step.asked and step.asked != UNREAD else step
        told(forest, text, step)
        if could.edits and not step.edits:
            asked += 1
            if answers and expected is not None:
                tried = TaskForest(forest.commits[:-1])
                told(tried, text, could)
                answer = "Yes." if is_right(scenario, gold, expected.state, before, tried.state()) else "No."
                step = reads(answer, forest, parser, AT, ask_below=below)
                told(forest, answer, step)
        gold = expected.state if expected is not None else gold
        history = {path: list(values) for path, values in forest.past().items()}
        played.append(Played(intents=step.intents, state=forest.state(), history=history, reply=step.reply))
    return score(scenario, played).counts + Counter(asked=asked)


def report(name: str, found: list[Seen]) -> None:
    """Print accuracy and calibration of the classifier, and of the confidence by kind of step."""
    judged = [one for one in found if one.wanted]
    top = np.array([max(one.odds.values()) for one in judged])
    right = np.array([float(max(one.odds, key=one.odds.__getitem__) in one.wanted) for one in judged])
    grammar = np.mean([bool(set(map(class_of, one.step.intents)) & one.wanted) for one in judged])
    changing = set(CLASSES[:2])
    claimed = np.array([one.odds["new"] + one.odds["update"] for one in judged])
    truly = np.array([float(bool(one.wanted & changing)) for one in judged])
    print(f"{name}: {len(judged)} turns, classifier {right.mean():.3f} (ECE {calibration(top, right):.3f}), ", end="")
    print(f"grammar {grammar:.3f}; changes or not {((claimed > 0.5) == (truly > 0)).mean():.3f}")
    reliability(top, right)
    for kind, changed in (("changing", True), ("keeping", False)):
        steps = [one for one in found if bool(one.step.edits) is changed]
        print(f"{kind}:", end="")
        report_steps(np.array([one.step.confidence for one in steps]), np.array([float(one.right) for one in steps]))
    overlooked = [one for one in found if one.step.asked == UNREAD]
    needless = sum(one.right for one in overlooked)
    print(f"asked for other words: {len(overlooked)}; {needless} with nothing to change")


if __name__ == "__main__":
    main()
