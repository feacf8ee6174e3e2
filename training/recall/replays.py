"""Dialogues with known evidence -> counterfactual replays: what every view makes of every candidate of every query.

    python training/recall/replays.py OUT.pkl --dialogues 200 --seed 1 [--split train] [--data ../shared/data]

Dialogues are drawn by `doxa.evaluate.implicit` and told to a memory turn by turn; every query is replayed at the moment
at which it is asked, so nothing later helps or hides it. Nothing of `measure/` is read.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from doxa import Config, Doxa
from doxa.evaluate.implicit import PreferenceDialogue, PreferenceQuery, draw_dialogues, read_chatter
from doxa.evaluate.prefeval import keep_readings
from doxa.recall import Replay, read_query, replay_of

CONFIG = Config.from_tree({"engine": {"settle_s": 0.0}})


def replays_of(dialogue: PreferenceDialogue, doxa: Doxa) -> Iterator[tuple[PreferenceQuery, Replay]]:
    """Tell a dialogue to a memory and yield the replay of every query where it is asked."""
    asked = sorted(dialogue.queries, key=lambda query: query.after)
    said = 0
    for query in asked:
        for turn in dialogue.turns[said : query.after]:
            chat = doxa.dialogue(user=dialogue.user, session=turn.session, speaker=dialogue.speaker)
            chat.absorb(turn.text, role=turn.role, at=turn.at, turn_id=turn.turn_id)
        said = max(said, query.after)
        doxa.flush()
        yield query, _replay(query, dialogue.user, doxa)


def _replay(query: PreferenceQuery, user: str, doxa: Doxa) -> Replay:
    parts = doxa.parts
    with parts.log.user(user) as state:
        recent = [state.turns[ordinal] for ordinal in state.session(query.session)[-6:]]
        read = read_query(query.text, state, recent=recent, at=query.at)
    read = replace(read, vector=parts.queries.encode([read.wording])[0])
    with parts.log.user(user) as state:
        return replay_of(read, state, needed=query.gold, spec=parts.recall)


def main() -> None:
    """Write `[(query, dialogue, replay), ...]` in the order of the dialogues."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--dialogues", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--split", choices=("train", "test"), default="train")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    chatter = read_chatter(options.data, options.split)
    start, found = time.perf_counter(), []
    with Doxa.open(":memory:", config=CONFIG) as doxa:
        keep_readings(doxa)
        drawn = draw_dialogues(options.dialogues, seed=options.seed, split=options.split, chatter=chatter)
        for number, dialogue in enumerate(drawn, start=1):
            found += [(query, dialogue.workload, replay) for query, replay in replays_of(dialogue, doxa)]
            if number % 20 == 0:
                print(f"{number} dialogues, {len(found)} queries, {time.perf_counter() - start:.0f} s", flush=True)
    options.out.write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main()
