"""What each learned part of search adds: the same memories, searched with one part on or off at a time.

    python benchmarks/recall/parts.py implicit --data $DOXA_DATA --count 60
    python benchmarks/recall/parts.py long --data $DOXA_DATA --count 20 --turns 400
    python benchmarks/recall/parts.py prefeval --data $DOXA_DATA --count 80
    python benchmarks/recall/parts.py locomo --data $DOXA_DATA
    python benchmarks/recall/parts.py everyday --half dev

Every memory is made once and asked in all ways, so the gains are paired; intervals are 95%, from 10,000 resamples of
dialogues (`implicit`, `long`), items (`prefeval`), questions (`locomo`) or chats (`everyday`). Dialogues of `implicit`
and `long` are asked at their end. `prefeval` counts the first five, `everyday` the answers that are right (first) and
that are not wrong (second); all others are Recall@10 and nDCG@10.

`--store FILE` keeps the memories, and asks them again the next time without telling them anything.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from doxa import Config, Doxa, Reply
from doxa_bench import prefeval
from doxa_bench.distractors import draw, read_distractors
from doxa_bench.everyday.chats import Chat, read_chats
from doxa_bench.everyday.chats import Query as ChatQuery
from doxa_bench.everyday.marks import mark_answer
from doxa_bench.implicit import draw_dialogues, read_chatter
from doxa_bench.implicit.ablations import PARTS, Variant
from doxa_bench.locomo import ingest, read_samples
from doxa_bench.metrics import ndcg_at, recall_at
from doxa_bench.prefeval import keep_readings

RESAMPLES = 10_000
K = 10
FIRST = 5
LOCOMO = Path("measure") / "locomo" / "locomo_dev6.json"
CHATS = Path(__file__).parents[1] / "everyday"

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: the unit that it is resampled with, its group, and two measures of every way to search."""

    unit: str
    group: str
    found: Mapping[str, Pair]


Ask = Callable[[Doxa], Pair]


def in_all_ways(doxa: Doxa, ways: Sequence[Variant], ask: Ask) -> dict[str, Pair]:
    """Return what is measured with the settings that ship, and with each part changed."""
    found = {"shipped": ask(doxa)}
    for way in ways:
        with way.on(doxa):
            found[way.name] = ask(doxa)
    return found


def searched(user: str, text: str, gold: frozenset[str], recent: Sequence[tuple[str, str]] = ()) -> Ask:
    """Return what searches a memory and measures what is found of the gold turns."""

    def ask(doxa: Doxa) -> Pair:
        evidence = doxa.memory(user=user).search(text, k=K, recent=recent)
        found = list(dict.fromkeys(turn_id for item in evidence for turn_id in item.turn_ids))
        return recall_at(found, gold, K), ndcg_at(found, gold, K)

    return ask


def is_new(doxa: Doxa, user: str) -> bool:
    """Tell whether a user has told nothing yet."""
    return not doxa.memory(user=user).turns(limit=1)


def implicit(doxa: Doxa, options: argparse.Namespace, ways: Sequence[Variant]) -> Iterator[Asked]:
    """Yield the questions of drawn dialogues, at their end."""
    long = options.turns if options.set == "long" else 0
    chatter = read_chatter(options.data, options.split)
    for dialogue in draw_dialogues(options.count, seed=options.seed, split=options.split, chatter=chatter, long=long):
        if is_new(doxa, dialogue.user):
            for turn in dialogue.turns:
                role: Any = turn.role
                chat = doxa.dialogue(user=dialogue.user, session=turn.session)
                chat.absorb(turn.text, speaker=turn.speaker, role=role, at=turn.at, turn_id=turn.turn_id)
            doxa.flush()
        promoted = len(doxa.memory(user=dialogue.user).promotions())
        whole = sum(turn.part != "lead" for turn in dialogue.turns)
        for query in dialogue.queries:
            if query.after >= whole and query.kind != "explicit":
                recent = [(dialogue.speaker, query.lead)] if query.lead else []
                ask = searched(dialogue.user, query.text, query.gold, recent)
                group = "with promotions" if promoted else "without promotions"
                yield Asked(dialogue.user, group, in_all_ways(doxa, ways, ask))


def preferences(doxa: Doxa, options: argparse.Namespace, ways: Sequence[Variant]) -> Iterator[Asked]:
    """Yield the items of PrefEval."""
    folder = options.data / "measure" / "prefeval"
    sessions = read_distractors(options.data / "open", seed=prefeval.SEED)
    for item in prefeval.sample(prefeval.read_prefeval(folder), options.count):
        user = f"{item.form}-{item.topic}-{item.number}"
        if is_new(doxa, user):
            between = draw(sessions, turns=prefeval.DISTRACTORS, seed=prefeval.SEED + item.number)
            prefeval.absorb(user, [list(item.turns), *between], doxa)
        gold = f"s0:{prefeval.stating(item, doxa.parts.encoder)}"

        def ask(doxa: Doxa, user: str = user, text: str = item.question, gold: str = gold) -> Pair:
            found = [one for item in doxa.memory(user=user).search(text, k=K) for one in item.turn_ids]
            return float(gold in found[:FIRST]), ndcg_at(found, frozenset([gold]), K)

        yield Asked(user, "explicit" if item.form == "explicit" else "implicit", in_all_ways(doxa, ways, ask))


def locomo(doxa: Doxa, options: argparse.Namespace, ways: Sequence[Variant]) -> Iterator[Asked]:
    """Yield the questions of LoCoMo."""
    for sample in read_samples(options.data / LOCOMO)[: options.count]:
        if is_new(doxa, sample.user):
            ingest(sample, doxa, lambda what, done, total: None)
        for number, question in enumerate(sample.questions):
            group = "implicit slice" if question.implicit else "other"
            ask = searched(sample.user, question.text, question.evidence)
            yield Asked(f"{sample.user}/{number}", group, in_all_ways(doxa, ways, ask))


def everyday(doxa: Doxa, options: argparse.Namespace, ways: Sequence[Variant]) -> Iterator[Asked]:
    """Yield the questions of everyday chats, by whether they are answered right."""
    for chat in read_chats(CHATS / options.half)[: options.count]:
        dialogue = doxa.dialogue(user=chat.id, agent=chat.assistant, speaker=chat.user)
        if is_new(doxa, chat.id):
            for turn in chat.turns:
                dialogue.absorb(turn.text, speaker=turn.speaker, role=turn.role, at=turn.at, turn_id=turn.id)
            dialogue.flush()
        doxa.memory(user=chat.id).promotions()
        now = datetime.fromisoformat(chat.turns[-1].at)
        for query in chat.queries:
            question = partial(dialogue.ask, query.probe.question, as_of=query.probe.as_of, at=now)
            yield Asked(chat.id, "all", in_all_ways(doxa, ways, partial(answered, chat, query, question)))


def answered(chat: Chat, query: ChatQuery, question: Callable[[], Reply], doxa: Doxa) -> Pair:
    """Return whether a question is answered right, and whether it is answered right or not at all."""
    mark = mark_answer(chat, query, question()).mark
    return float(mark == "right"), float(mark != "wrong")


SETS = {"implicit": implicit, "long": implicit, "prefeval": preferences, "locomo": locomo, "everyday": everyday}


def figures(asked: Sequence[Asked]) -> dict[str, Any]:
    """Return both measures of every way, and how far each is above the settings that ship, with paired intervals."""
    units: dict[str, list[Asked]] = defaultdict(list)
    for one in asked:
        units[one.unit].append(one)
    counts = np.array([len(some) for some in units.values()], dtype=np.float64)
    sums = {
        name: np.array([np.sum([one.found[name] for one in some], axis=0) for some in units.values()])
        for name in asked[0].found
    }
    picks = np.random.default_rng(0).integers(len(counts), size=(RESAMPLES, len(counts)))
    drawn = counts[picks].sum(axis=1)[:, None]
    rows: dict[str, Any] = {}
    for name, values in sums.items():
        rows[name] = {"mean": np.round(values.sum(axis=0) / counts.sum(), 4).tolist()}
        if name != "shipped":
            apart = values - sums["shipped"]
            low, high = np.percentile(apart[picks].sum(axis=1) / drawn, [2.5, 97.5], axis=0)
            rows[name]["above"] = np.round(apart.sum(axis=0) / counts.sum(), 4).tolist()
            rows[name]["above_95"] = [[round(a, 4), round(b, 4)] for a, b in zip(low, high, strict=True)]
    return {"questions": len(asked), "units": len(units), "ways": rows}


def main() -> None:
    """Measure one set and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=sorted(SETS))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--count", type=int, help="Dialogues, items of each form, conversations or chats.")
    parser.add_argument("--turns", type=int, default=400, help="Of a dialogue of `long`.")
    parser.add_argument("--split", choices=("train", "test"), default="test")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--half", choices=("dev", "held_out"), default="dev")
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    if options.set in ("implicit", "long", "prefeval") and options.count is None:
        options.count = 60
    start = time.perf_counter()
    with Doxa.open(options.store or ":memory:", config=Config.load()) as doxa:
        keep_readings(doxa)
        ways = [one for one in PARTS if one.fits(doxa)]
        asked = list(SETS[options.set](doxa, options, ways))
    groups = {one.group: [other for other in asked if other.group == one.group] for one in asked}
    told = {
        "all": figures(asked),
        **({name: figures(some) for name, some in groups.items()} if len(groups) > 1 else {}),
    }
    print(json.dumps({"set": options.set, "seconds": round(time.perf_counter() - start), **told}, indent=1))


if __name__ == "__main__":
    main()
