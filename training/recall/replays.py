"""Dialogues with known evidence -> counterfactual replays: what every view makes of every candidate of every query.

    python training/recall/replays.py build/worlds.pkl --dialogues 200 --seed 1 [--data ../shared/data]
    python training/recall/replays.py build/conversations.pkl --store build/ranking.db  # of `fit_scorer.py ingest`

Dialogues are drawn by `doxa_bench.implicit` and told to a memory turn by turn; every query is replayed at the moment
at which it is asked, so nothing later helps or hides it. Nothing of `measure/` is read.
"""

from __future__ import annotations

import argparse
import csv
import pickle
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice
from pathlib import Path
from random import Random

from conversations import read_longmemeval, read_persona_chats

from doxa import Config, Doxa
from doxa.recall import Query, Replay, encoded, read_query, replay_of
from doxa_bench.implicit import PreferenceDialogue, PreferenceQuery, draw_dialogues, read_chatter
from doxa_bench.prefeval import keep_readings

PERSONA = 9
"""Joined persona chats that are replayed, as many as `fit_scorer.py` reads."""
LIKINGS = 30
"""Likings of other subjects that are told in every dialogue."""
CONFIG = Config.from_tree({"engine": {"settle_s": 0.0}})


def replays_of(
    dialogue: PreferenceDialogue, doxa: Doxa, likings: Sequence[str] = ()
) -> Iterator[tuple[PreferenceQuery, Replay]]:
    """Tell a dialogue to a memory and yield the replay of every query where it is asked.

    What the user likes beside (`likings`, of any subject) is told first: a turn that states some liking is not yet
    evidence.
    """
    asked = sorted(dialogue.queries, key=lambda query: query.after)
    said, first = 0, dialogue.turns[0]
    for number, text in enumerate(likings):
        chat = doxa.dialogue(user=dialogue.user, session="before", speaker=dialogue.speaker)
        chat.absorb(text, at=first.at - timedelta(days=2, minutes=-number), turn_id=f"liking-{number}")
    for query in asked:
        for turn in dialogue.turns[said : query.after]:
            chat = doxa.dialogue(user=dialogue.user, session=turn.session, speaker=dialogue.speaker)
            chat.absorb(turn.text, role=turn.role, at=turn.at, turn_id=turn.turn_id)
        said = max(said, query.after)
        doxa.flush()
        yield query, _replay(query, dialogue.user, doxa)


def conversations_of(store: Path, data: Path) -> Iterator[tuple[str, str, Replay]]:
    """Yield question, conversation and replay of what `fit_scorer.py` ingested, in a random order of the questions."""
    found: list[tuple[str, str, Replay]] = []
    with Doxa.open(store, config=CONFIG) as doxa:
        parts = doxa.parts
        for conversation in (read_longmemeval(data), *islice(read_persona_chats(data), PERSONA)):
            with parts.log.user(conversation.name) as state:
                for question in conversation.questions:
                    read = read_query(question.text, state, at=question.at)
                    read = _encoded(read, doxa)
                    replay = replay_of(read, state, needed=question.evidence, spec=parts.recall)
                    found.append((question.text, conversation.name, replay))
    Random(0).shuffle(found)
    yield from found


def read_likings(data: Path) -> list[str]:
    """Return what people of Synthetic-Persona-Chat (CC BY 4.0) say of themselves, each line once."""
    lines: dict[str, None] = {}
    for path in sorted((data / "open" / "synthetic_persona_chat").glob("Synthetic-Persona-Chat_*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                lines |= dict.fromkeys(line.strip() for line in row["user 1 personas"].splitlines() if line.strip())
    return list(lines)


def _encoded(query: Query, doxa: Doxa) -> Query:
    """Return a query as a search has it: with its vector and what it is about."""
    parts = doxa.parts
    return encoded(query, parts.queries.encode([query.wording])[0], encoder=parts.encoder.name, lexicon=parts.lexicon())


def _replay(query: PreferenceQuery, user: str, doxa: Doxa) -> Replay:
    parts = doxa.parts
    with parts.log.user(user) as state:
        recent = [state.turns[ordinal] for ordinal in state.session(query.session)[-6:]]
        read = read_query(query.text, state, recent=recent, at=query.at)
    read = _encoded(read, doxa)
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
    parser.add_argument("--store", type=Path, help="Replay the conversations of this memory instead.")
    options = parser.parse_args()
    if options.store:
        options.out.write_bytes(pickle.dumps(list(conversations_of(options.store, options.data))))
        return
    chatter = read_chatter(options.data, options.split)
    start, found, likings = time.perf_counter(), [], read_likings(options.data)
    random = Random(options.seed)
    with Doxa.open(":memory:", config=CONFIG) as doxa:
        keep_readings(doxa)
        drawn = draw_dialogues(options.dialogues, seed=options.seed, split=options.split, chatter=chatter)
        for number, dialogue in enumerate(drawn, start=1):
            found += [
                (query, dialogue.workload, replay)
                for query, replay in replays_of(dialogue, doxa, random.sample(likings, LIKINGS))
            ]
            if number % 20 == 0:
                print(f"{number} dialogues, {len(found)} queries, {time.perf_counter() - start:.0f} s", flush=True)
    options.out.write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main()
