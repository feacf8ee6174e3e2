"""Writes the database of a memory that has grown: many facts, people, updates and open questions.

    python benchmarks/inspector/grown.py OUT.db [--facts 100000] [--turns 30000] [--seed 0] [--hostile 0] [--encode]

Nothing is read by a model: turns and what they say are made together, revised as any other and written as one log.
Vectors are zeros unless `--encode` is given, which takes some minutes. The same arguments give the same memory, of
user `ana`.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from doxa.backends.store import Row, Vector
from doxa.core.values import Claim, Modality, Relation, Role, Term, Turn
from doxa.engine import Doxa
from doxa.memory import SAME_AS, Beliefs, Maintained, encoded_texts, pair_of
from doxa.memory.codec import turn_to
from doxa.revise import revise

USER = "ana"
START = datetime(2019, 1, 7, 8, tzinfo=UTC)
STEP = timedelta(minutes=100)
PART = 2_000
"""Turns whose vectors are written at a time."""
SESSION = 24
"""Turns of a session."""
EMPLOYED = 0.03
"""Part of what is said of firms from which more follows: that takes a while to revise."""
FIRST = (
    "Mia Noé Léa Tomás Søren Zoë Ivo Ada Bea Cléo Dov Elif Finn Grete Hana Inga Jiro Kofi Lena Marek Nadia Otto Paula "
    "Quinn Rosa Sami Thea Uma Vera Wim Ximena Yara Zeno Björn Chloé Dana Emil Farid Gita Hugo"
)
LAST = (
    "Ferreira Okoro Nakamura Weiß Novák Lindqvist O'Brien Müller García Dubois Kowalska Haddad Smit Rossi Eide Castro "
    "Petrov Yıldız Tanaka Brandt Moreau Silva Jansen Kaya Hansen Costa Fischer Laurent Sato Vega Marsh Quist"  # noqa: RUF001
)
STEMS = "Halm Renn Selk Tarn Oum Hove Brig Carn Dorn Esk Fenn Garth Holm Ivel Jarrow Kells Lund Mere Nairn Orr"
ENDS = "by ford ham ton wick dale mouth field bridge port stead worth gate burn ley"
TRADES = "Printing Bakery Logistics Archive Press Clinic Garden Foundry Studio Labs Radio Theatre Bank Brewery Shipping"
LIKES = (
    "tea jazz chess rowing baking opera cycling pottery climbing astronomy fencing gardening sailing knitting karate"
)


@dataclass
class World:
    """The people and things that are spoken of, and the memory as it grows."""

    chance: random.Random
    people: list[str]
    places: list[str]
    firms: list[str]
    beliefs: Beliefs = field(default_factory=Beliefs)
    rows: list[Row] = field(default_factory=list)
    texts: list[tuple[int, list[str]]] = field(default_factory=list)
    """Ordinals of turns, and what is encoded of each."""
    turns: int = 0
    now: datetime = START

    @classmethod
    def of(cls, seed: int, entities: int) -> World:
        """Return an empty world with so many names in it."""
        chance = random.Random(seed)
        names = [f"{first} {last}" for first in FIRST.split() for last in LAST.split()]
        numbered = [f"{name} {roman}" for roman in ("Senior", "Junior", "of Halm") for name in names]
        towns = [f"{stem}{end}" for stem in STEMS.split() for end in ENDS.split()]
        firms = [f"{town} {trade}" for town in towns for trade in TRADES.split()]
        for some in (names, numbered, towns, firms):
            chance.shuffle(some)
        return cls(chance, [*names, *numbered][: entities * 7 // 10], towns, firms[: entities // 5])

    def say(self, text: str, claims: list[Claim], *, speaker: str = "Ana", role: Role = "user") -> None:
        """Write a turn and what it says."""
        self.turns += 1
        self.now += STEP
        ordinal, session = len(self.rows) + 1, f"s{(self.turns - 1) // SESSION}"
        turn = Turn(
            turn_id=f"{session}:{self.turns}", user=USER, session=session, speaker=speaker, role=role, text=text,
            at=self.now, ordinal=ordinal,
        )  # fmt: skip
        said = [_told(claim, turn) for claim in claims]
        changes = revise(said, self.beliefs, turn_id=turn.turn_id, known_at=self.now)
        event = Maintained(known_at=self.now, about=turn, claims=said, changes=changes)
        event.believe(self.beliefs)
        self.rows += [
            Row(ordinal=ordinal, kind="turn", known_at=self.now, body=turn_to(turn), turn_id=turn.turn_id),
            Row(ordinal=ordinal + 1, kind=event.kind, known_at=self.now, body=event.body(), about=ordinal),
        ]
        self.texts.append((ordinal, encoded_texts(turn)))


def main() -> None:
    """Grow, write, and print one JSON object."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--facts", type=int, default=100_000)
    arguments.add_argument("--turns", type=int, default=30_000)
    arguments.add_argument("--entities", type=int, default=5_000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--hostile", type=int, default=0, help="turns whose names and texts are made to break pages")
    arguments.add_argument("--encode", action="store_true", help="write the vectors of the built-in encoder, not zeros")
    options = arguments.parse_args()
    if options.out.exists():
        arguments.error(f"{options.out} is there already")
    start = time.perf_counter()
    world = World.of(options.seed, options.entities)
    grow(world, options.facts - options.hostile, options.turns - options.hostile)
    for number in range(options.hostile):
        break_in(world, long=number % 50 == 0)
    write(world, options.out, encode=options.encode)
    facts = world.beliefs.facts.values()
    told = {"turns": world.turns, "facts": len(facts), "changes": len(world.beliefs.changes)}
    told["disputed"] = sum(fact.disputed for fact in facts)
    for fact in facts:
        told[str(fact.status)] = told.get(str(fact.status), 0) + 1
    print(json.dumps(told | {"took_s": round(time.perf_counter() - start)}))


def grow(world: World, facts: int, turns: int) -> None:
    """Say turns until there are so many, which make so many facts."""
    chance = world.chance
    while world.turns < turns:
        left = turns - world.turns
        wanted = (facts - len(world.beliefs.facts)) / left
        kind = chance.random()
        if kind < 0.012:
            dispute(world)
        elif kind < 0.020:
            sentence, claim = news_of(world, chance.choice(world.people))
            world.say(f"{sentence}.", [claim], speaker="Doxa", role="assistant")
        elif kind < 0.026:
            sentence, claim = news_of(world, chance.choice(world.people))
            world.say(f"I think {sentence}, or so.", [_changed(claim, tentative=True, confidence=0.3)])
        elif kind < 0.027:
            alias(world)
        else:
            said = list(sentences(world, round(wanted + chance.uniform(-1, 1)) if left > 1 else round(wanted)))
            text = " ".join(f"{sentence}." for sentence, _ in said) or "It was a quiet day, and nothing came of it."
            world.say(text, [claim for _, claim in said])


def sentences(world: World, count: int) -> Iterator[tuple[str, Claim]]:
    """Yield sentences about somebody, a few of them about who speaks."""
    who = "Ana" if world.chance.random() < 0.05 else world.chance.choice(world.people)
    for _ in range(count):
        yield news_of(world, who)


def news_of(world: World, who: str) -> tuple[str, Claim]:
    """Return a sentence about somebody, and what it says."""
    chance = world.chance
    match chance.randrange(10):
        case 0:
            return _said(who, "lives_in", "lives in", chance.choice(world.places), functional=True)
        case 1 if chance.random() < EMPLOYED:
            return _said(who, "works_at", "works at", chance.choice(world.firms), functional=True)
        case 1:
            return _said(who, "deals_with", "deals with", chance.choice(world.firms))
        case 2 | 3:
            return _said(who, "knows", "knows", chance.choice(world.people))
        case 4 | 5:
            return _said(who, "visited", "visited", chance.choice(world.places))
        case 6:
            return _said(who, "likes", "likes", chance.choice(LIKES.split()))
        case 7:
            return _said(who, "visit", "visits", chance.choice(world.places), modality=Modality.PLANNED)
        case 8:
            return _said(who, "wrote_to", "wrote to", chance.choice(world.people))
        case _:
            return _said(who, "bought", "bought", f"a {chance.choice(STEMS.split()).lower()} {chance.randrange(400)}")


def dispute(world: World) -> None:
    """Let two people say two things of which one can be true."""
    what, rooms = f"workshop {world.chance.randrange(10**6)}", world.chance.sample(range(1, 90), 2)
    for speaker, room in zip(("Hana", "Jiro"), rooms, strict=True):
        sentence, claim = _said(what, "located_in", "is in", f"room {room}", functional=True)
        world.say(f"The {sentence}.", [claim], speaker=speaker)
        world.now -= STEP - timedelta(seconds=40)


def alias(world: World) -> None:
    """Give somebody another name."""
    who = world.chance.choice(world.people)
    one, other = pair_of(_term(who), _term(f"{who.split()[0]} {world.chance.choice(STEMS.split())}son"))
    sentence = f"{other} is the same as {one}"
    world.say(f"{sentence}.", [Claim(subject=one, relation=SAME_AS, object=other, span=sentence)])


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}} ${7*7} <%= 7*7 %>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "</script><script>alert(1)</script>",
    "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href=javascript:alert(1)>here</a>",
    "data:text/html,<script>alert(1)</script>",
    "hx-get=/inspect/now hx-trigger=load",
    "'; DROP TABLE facts; --",
    "\u202egnp.evil\u202c",
    "A\u0301\u0302\u0303" * 40,
    "\U0001d56f\U0001f469\u200d\U0001f469\u200d\U0001f466",
    "../../etc/passwd",
    "x" * 5_000,
    "-->]]></style></textarea>",
    "a&amp;b &lt;c&gt;",
    "javascript:alert(1)",
    "name\nwith\nlines",
    "\u0000nul\u0007bell",
    "\u2066\u2067isolates that nobody ends",
    "".join(map(chr, range(1, 32))),
    "\ud800 half of a pair".encode("utf-8", "replace").decode(),
)
LONG = ("<b>very</b> long \u202e" * 62_500)[:1_000_000]


def break_in(world: World, *, long: bool = False) -> None:
    """Say something that a careless page would take for its own; a long one is followed by a million characters."""
    who, what = world.chance.choice(HOSTILE), world.chance.choice(HOSTILE)
    sentence, claim = _said(f"H {who}", "likes", "likes", what)
    world.say(f"{sentence}. {LONG if long else ''}".strip(), [claim], speaker=who[:60])


def _said(
    who: str, relation: str, label: str, what: str, *, functional: bool = False, **more: Modality
) -> tuple[str, Claim]:
    sentence = f"{who} {label} {what}"
    claim = Claim(
        subject=_term(who), relation=Relation(relation, label), object=_term(what), functional=functional,
        span=sentence, confidence=0.9, **more,
    )  # fmt: skip
    return sentence, claim


def _told(claim: Claim, turn: Turn) -> Claim:
    return _changed(claim, turn_id=turn.turn_id, speaker=turn.speaker, role=turn.role, known_at=turn.at)


def _changed(claim: Claim, **fields: object) -> Claim:
    return replace(claim, **fields)  # type: ignore[arg-type]


def _term(label: str) -> Term:
    return Term(label.casefold(), label)


def write(world: World, out: Path, *, encode: bool) -> None:
    """Write the log as a database, with vectors that say nothing unless they are to be made."""
    with Doxa.open(out) as doxa:
        log = doxa.parts.log
        scope = log.scope(USER)
        log.store.restore(scope, world.rows)
        for part in range(0, len(world.texts), PART):
            some = world.texts[part : part + PART]
            texts = [text for _, passages in some for text in passages]
            rows = log.encoder.encode(texts) if encode else np.zeros((len(texts), log.encoder.dims))
            each = np.split(rows.astype(np.float16), np.cumsum([len(passages) for _, passages in some])[:-1])
            vectors = [Vector(ordinal=at, data=own.tobytes()) for (at, _), own in zip(some, each, strict=True)]
            log.store.put_vectors(scope, model=log.encoder.name, vectors=vectors)


if __name__ == "__main__":
    main()
