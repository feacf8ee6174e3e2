"""Arithmetic over what a dialogue states: how many questions are answered right, and how many with a wrong number.

    python benchmarks/reasoning/compute.py [--alone] [--json] [--show] [FILE ...]

Data: one dialogue a line: `turns` as they are said (a text, or `speaker` and `say`), and questions between them (`ask`)
with the value that is right (`gold`; null where nothing that was said gives one). `compute_dev.jsonl` is what the rules
were written with, `compute_heldout.jsonl` was held out once and developed on later, `compute_heldout2.jsonl` is
held out. `--alone` asks COMPUTE itself, else the whole memory answers, turn by turn.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from doxa import Doxa
from doxa.backends.parser import CachedParser, Parser
from doxa.backends.registry import load
from doxa.core.values import Turn
from doxa.reason import concerns, work_out

HERE = Path(__file__).parent
TODAY = "2026-06-01"
"""Of dialogues that name no day."""
SIGNS = {"$": "dollars", "€": "euros", "£": "pounds", "%": "percent"}
SHORT = {
    "kilometre": "km", "kilometer": "km", "metre": "m", "meter": "m", "centimetre": "cm", "centimeter": "cm",
    "kilo": "kg", "kilogram": "kg", "gram": "g", "litre": "l", "liter": "l", "hour": "h", "minute": "min",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Given:
    """What was answered to a question; an empty value is none."""

    dialogue: str
    question: str
    gold: str | None
    value: str
    milliseconds: float

    @property
    def outcome(self) -> str:
        """Return "right", "wrong" or "silent"."""
        if not self.value:
            return "right" if self.gold is None else "silent"
        return "right" if self.gold is not None and same(self.value, self.gold) else "wrong"


def main() -> None:
    """Print the shares of right and wrong answers of each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(HERE.glob("compute_*.jsonl")))
    parser.add_argument("--alone", action="store_true", help="ask COMPUTE alone, not the whole memory")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--show", action="store_true", help="print what was not answered right")
    options = parser.parse_args()
    answers = computed if options.alone else remembered
    report: dict[str, Any] = {}
    for path in options.files:
        worlds = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        given = [one for world in worlds for one in answers(world)]
        report[path.stem] = summed_up(given)
        for one in given if options.show else ():
            if one.outcome != "right":
                print(
                    f"{one.dialogue} {one.outcome}: {one.question} -> {one.value or '-'}, not {one.gold or 'anything'}"
                )
        if not options.json:
            print(path.stem, *(f"{name} {value}" for name, value in report[path.stem].items()), sep="  ")
    if options.json:
        print(json.dumps(report))


def summed_up(given: list[Given]) -> dict[str, float]:
    """Return the shares of right and wrong answers, of all questions and of those without an answer."""
    outcomes = Counter(one.outcome for one in given)
    unknown = [one for one in given if one.gold is None]
    return {
        "questions": len(given),
        "right": round(outcomes["right"] / len(given), 3),
        "wrong": round(outcomes["wrong"] / len(given), 3),
        "unknown": len(unknown),
        "unknown_right": round(sum(one.outcome == "right" for one in unknown) / max(1, len(unknown)), 3),
        "ms": round(statistics.median(one.milliseconds for one in given), 1),
    }


def remembered(world: dict[str, Any]) -> Iterator[Given]:
    """Yield the answers of a memory that hears the dialogue turn by turn."""
    day = datetime.fromisoformat(world.get("today", TODAY)).replace(hour=10, tzinfo=UTC)
    with Doxa.open(":memory:") as doxa:
        chat = doxa.dialogue(user="ana", speaker="Ana")
        for minute, turn in enumerate(world["turns"]):
            at = day + timedelta(minutes=minute)
            if isinstance(turn, str):
                chat.absorb(turn, at=at)
            elif "say" in turn:
                chat.absorb(turn["say"], speaker=turn["speaker"], at=at)
            else:
                chat.flush()
                start = time.perf_counter()
                reply = chat.respond(turn["ask"], at=at)
                took = (time.perf_counter() - start) * 1000
                value = "" if reply.abstained else reply.value or reply.text
                yield Given(world["id"], turn["ask"], turn["gold"], value, took)


def computed(world: dict[str, Any]) -> Iterator[Given]:
    """Yield the answers of COMPUTE alone, to the questions that are for it."""
    day = datetime.fromisoformat(world.get("today", TODAY)).replace(hour=10, tzinfo=UTC)
    told: list[Turn] = []
    for place, turn in enumerate(world["turns"]):
        text = turn if isinstance(turn, str) else turn.get("say") or turn["ask"]
        speaker = turn.get("speaker", "Ana") if isinstance(turn, dict) else "Ana"
        own = Turn(
            turn_id=f"t{place}", user="ana", session="s", speaker=speaker, role="user", text=text, at=day, ordinal=place
        )
        if isinstance(turn, dict) and "ask" in turn and not turn.get("not_computed"):
            start = time.perf_counter()
            draft = work_out(text, told, _parser(), asker=own, today=day.date()) if concerns(text) else None
            took = (time.perf_counter() - start) * 1000
            value = "" if draft is None or draft.abstained else draft.value or draft.text
            yield Given(world["id"], text, turn["gold"], value, took)
        told.append(own)


_PARSERS: list[Parser] = []


def _parser() -> Parser:
    if not _PARSERS:
        _PARSERS.append(CachedParser(load("parser", "builtin")))
    return _PARSERS[0]


def same(value: str, gold: str) -> bool:
    """Tell whether an answer gives the value that is right: the same numbers, and no other unit or name.

    An answer may leave a unit out that the question names, or put the name of what is counted behind a number.
    """
    said, wanted = _words(value), _words(gold)
    numbers = [word for word in wanted if word[0].isdigit()]
    found = [word for word in said if word[0].isdigit()]
    if len(numbers) != len(found) or not all(map(_rounds, found, numbers)):
        return False
    names, others = set(wanted) - set(numbers), set(said) - set(found)
    return names <= others or (bool(numbers) and not (others and names))


def _rounds(number: str, wanted: str) -> bool:
    """Tell whether a number is the one that is wanted, to as many places as that has."""
    places = len(wanted.partition(".")[2])
    return number == wanted or f"{round(float(number), places):g}" == wanted


def _words(text: str) -> list[str]:
    """Return the words of a value, numbers without needless zeros and units in one form."""
    for sign, word in SIGNS.items():
        text = re.sub(rf"{re.escape(sign)}\s?([\d.,]+)|([\d.,]+)\s?{re.escape(sign)}", rf"\1\2 {word}", text)
    words = re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?|[a-z]+", text.casefold())
    return [_plain(word) for word in words if word not in ("and", "the", "a", "my", "your")]


def _plain(word: str) -> str:
    if word[0].isdigit():
        return f"{float(word.replace(',', '')):g}" if float(word.replace(",", "")) < 1e6 else word
    bare = word.removesuffix("s")
    return SHORT.get(bare, bare)


if __name__ == "__main__":
    main()
