"""A seed -> a set of the form of FactConsolidation: facts about invented things, some replaced later, and questions.

    facts        each tells the value of a thing in a relation; a thing has one value in a relation, the one told last
    single-hop   over one value
    multi-hop    over two to four values, each the thing that the next one is about; at least one of them was replaced

How often each relation is told, which share is replaced and how long the ways are follows FactConsolidation 6k
(`facts.toml`). The answer is what the way leads to by the values that hold in the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from doxa_bench.facts.material import Names, Relation, material
from doxa_bench.facts.sets import MULTI, SINGLE, FactQuestion, FactSet, Told

__all__ = ["draw_set"]

QUESTIONS = 100
"""Of each kind."""
TRIES = 20_000
"""Ways that are looked at for the multi-hop questions: small sets have few that fit."""

Key = tuple[str, str]
"""A thing and the name of a relation."""


@dataclass(frozen=True, slots=True)
class _Values:
    """What is told of a thing in a relation, the value that holds last."""

    relation: Relation
    thing: str
    values: tuple[str, ...]


def draw_set(facts: int, *, seed: int = 0) -> FactSet:
    """Return a set of so many facts, and up to 100 questions of each kind. The same for the same arguments.

    Cost O(facts).
    """
    rng = Random(f"facts/{facts}/{seed}")
    drawn = _draw_values(facts, rng)
    told = _in_order(drawn, rng)
    held = {(one.thing, one.relation.name): one for one in drawn}
    return FactSet(
        name=f"drawn-{facts}-{seed}",
        facts=tuple(one.text for one in told),
        questions=(*_single(drawn, rng), *_multi(drawn, held, rng)),
        told=told,
    )


def _draw_values(facts: int, rng: Random) -> list[_Values]:
    """Return what is told: so many values that, with those that replace one, there are `facts` of them."""
    mix = material().mix
    count = max(1, round(facts / (1 + mix.replaced)))
    names = Names(rng)
    things = {kind: names.of(kind, count) for kind in material().types}
    chosen = _choose(things, count, rng)
    replaced = set(rng.sample(range(len(chosen)), min(len(chosen), max(0, facts - len(chosen)))))
    taken = {(relation.name, thing) for relation, thing in chosen if relation.symmetric}
    drawn = []
    for place, (relation, thing) in enumerate(chosen):
        others = [value for value in things[relation.to] if value != thing and (relation.name, value) not in taken]
        values = tuple(rng.sample(others, 2 if place in replaced else 1))
        drawn.append(_Values(relation, thing, values))
        if relation.symmetric:
            taken |= {(relation.name, value) for value in values}
    return drawn


def _choose(things: Mapping[str, Sequence[str]], count: int, rng: Random) -> list[tuple[Relation, str]]:
    """Return which things have a value in which relation: by weight, and what is still missing at random."""
    relations = material().relations
    whole = sum(relation.weight for relation in relations)
    chosen, left = list[tuple[Relation, str]](), list[tuple[Relation, str]]()
    for relation in relations:
        pairs = [(relation, thing) for kind in relation.of for thing in things[kind]]
        rng.shuffle(pairs)
        wanted = round(relation.weight * count / whole)
        chosen += pairs[:wanted]
        left += pairs[wanted:]
    rng.shuffle(chosen)
    rng.shuffle(left)
    return (chosen + left)[:count]


def _in_order(drawn: Sequence[_Values], rng: Random) -> tuple[Told, ...]:
    """Return the facts in the order in which they are told: at random, a replacing one after the one it replaces."""
    places = [place for place, one in enumerate(drawn) for _ in one.values]
    rng.shuffle(places)
    waiting = {place: iter(one.values) for place, one in enumerate(drawn)}
    return tuple(_told(drawn[place], next(waiting[place])) for place in places)


def _told(one: _Values, value: str) -> Told:
    said = one.relation.said.format(s=one.thing, o=value)
    return Told(thing=one.thing, relation=one.relation.name, value=value, text=said[0].upper() + said[1:])


def _single(drawn: Sequence[_Values], rng: Random) -> Iterator[FactQuestion]:
    """Yield questions over one value, of replaced ones the share of the original."""
    groups = {replaced: [one for one in drawn if (len(one.values) > 1) is replaced] for replaced in (True, False)}
    replaced = min(len(groups[True]), round(material().mix.asked_replaced * QUESTIONS))
    picked = rng.sample(groups[True], replaced)
    picked += rng.sample(groups[False], min(len(groups[False]), QUESTIONS - replaced))
    rng.shuffle(picked)
    for one in picked:
        yield _question(SINGLE, [one], rng)


def _multi(drawn: Sequence[_Values], held: Mapping[Key, _Values], rng: Random) -> Iterator[FactQuestion]:
    """Yield questions over several values, at least one of them replaced, no two with the same start and way."""
    relations = defaultdict[str, list[str]](list)
    for thing, relation in held:
        relations[thing].append(relation)
    wanted = {hops: round(share * QUESTIONS) for hops, share in material().mix.hops.items()}
    asked = set[tuple[Key, ...]]()
    for _ in range(TRIES):
        open_ = [hops for hops, count in wanted.items() if count > 0]
        if not open_:
            return
        hops = rng.choice(open_)
        way = _walk(rng.choice(drawn), hops, held, relations, rng)
        keys = tuple((one.thing, one.relation.name) for one in way)
        if len(way) == hops and keys not in asked and any(len(one.values) > 1 for one in way):
            asked.add(keys)
            wanted[hops] -= 1
            yield _question(MULTI, way, rng)


def _walk(
    first: _Values, hops: int, held: Mapping[Key, _Values], relations: Mapping[str, Sequence[str]], rng: Random
) -> list[_Values]:
    """Return values each of which is the thing of the next, at most `hops`; no thing and no relation comes twice."""
    way, seen = [first], {first.thing}
    while len(way) < hops:
        thing = way[-1].values[-1]
        if thing in seen or thing not in relations:
            return way
        seen.add(thing)
        onward = [name for name in relations[thing] if name not in {one.relation.name for one in way}]
        if not onward:
            return way
        way.append(held[thing, rng.choice(onward)])
    return way if way[-1].values[-1] not in seen else way[:-1]


def _question(kind: str, way: Sequence[_Values], rng: Random) -> FactQuestion:
    """Return the question that a way answers: the thing it starts from, described step by step."""
    thing = way[0].thing
    for one in way[:-1]:
        thing = rng.choice(one.relation.phrase).format(s=thing)
    return FactQuestion(
        kind=kind,
        text=rng.choice(way[-1].relation.asked).format(s=thing),
        accepted=(way[-1].values[-1],),
        start=way[0].thing,
        way=tuple(one.relation.name for one in way),
    )
