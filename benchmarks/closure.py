"""What one turn costs: our closure, kept, beside owlrl and reasonable over the whole graph, all in one run.

python benchmarks/closure.py --facts 1000 10000 --json

Random facts of everyday relations under the ontology that comes with Doxa. A turn is two new facts and one that is
withdrawn. The others get the same triples, already parsed; owlrl runs once (it takes minutes), the rest 3 times or
more.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import owlrl
import rdflib
import reasonable
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, serialize

from doxa.core.ontology import Ontology
from doxa.core.values import Fact, Term
from doxa.logic import Closure, OwlState, builtin_ontology
from doxa.logic.axioms import class_axioms, relation_axioms
from doxa.logic.graph import FactGraph

SINGLE = ("lives_in", "works_at", "mother")
MANY = ("likes", "sister", "child", "friend", "part_of")
TURNS = 50


def main() -> None:
    """Print times and ratios for each number of facts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-owlrl", action="store_true", help="leave out owlrl, which takes minutes at 10,000 facts")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = [measured(count, options.seed, with_owlrl=not options.no_owlrl) for count in options.facts]
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for row in found:
        print(
            "\n".join(
                f"{name}: {value:,.6g}" if isinstance(value, float) else f"{name}: {value}"
                for name, value in row.items()
            )
        )
        print()


def measured(count: int, seed: int, *, with_owlrl: bool) -> dict[str, Any]:
    """Return the times for one number of facts, in milliseconds, and the ratios to our time for a turn."""
    ontology = builtin_ontology()
    graph = FactGraph("ana", ontology)
    facts = list(everyday(count + 2 * TURNS, ontology, random.Random(seed)))
    axioms = [*class_axioms(ontology), *relation_axioms(ontology.relations, ontology)]
    triples = [graph.statement(fact) for fact in facts]
    start = time.perf_counter()
    closure = Closure([*axioms, *triples[:count]])
    anew = time.perf_counter() - start
    turns, firings = [], closure.firings
    for turn in range(TURNS):
        new = triples[count + 2 * turn : count + 2 * turn + 2]
        turns.append(seconds(lambda new=new, turn=turn: closure.update(add=new, remove=[triples[turn]])))
    now = [*axioms, *triples[TURNS:]]
    turn_s = statistics.median(turns)
    row: dict[str, Any] = {
        "facts": count,
        "axioms": len(axioms),
        "statements": len(closure),
        "clashes": len(closure.clashes()),
        "firings a turn": (closure.firings - firings) / TURNS,
        "turn_ms": turn_s * 1e3,
        "turn_max_ms": max(turns) * 1e3,
        "turn_with_facts_and_words_ms": state_turn(facts, count, ontology) * 1e3,
        "anew_ms": anew * 1e3,
    }
    whole = to_rdflib(now)
    row["reasonable_ms"] = statistics.median(seconds(lambda: by_reasonable(whole)) for _ in range(3)) * 1e3
    row["reasonable_ratio"] = row["reasonable_ms"] / row["turn_ms"]
    row["reasonable_added_ms"] = reasonable_added(whole) * 1e3
    if with_owlrl:
        row["owlrl_ms"] = seconds(lambda: by_owlrl(whole)) * 1e3
        row["owlrl_ratio"] = row["owlrl_ms"] / row["turn_ms"]
        row["the same statements as owlrl"] = comparable(whole) == comparable(to_rdflib(visible(closure)))
    return row


def everyday(count: int, ontology: Ontology, chance: random.Random) -> Iterator[Fact]:
    """Yield facts that agree with the ontology: people and places apart, one value where there is one."""
    people, seen = max(10, count // 6), set[tuple[int, str, str]]()
    singles = iter([(person, relation) for person in range(people) for relation in chance.sample(SINGLE, 2)])
    made = 0
    while made < count:
        single = next(singles, None) if chance.random() < 0.3 else None
        person, relation = single or (chance.randrange(people), chance.choice(MANY))
        kind = {"lives_in": "city", "works_at": "firm", "likes": "thing", "part_of": "part"}.get(relation)
        place = chance.randrange(people) if kind is None else chance.randrange(97)
        if kind is None and (place == person or (place < person) != (relation == "mother")):
            continue  # parents have lower numbers than their children: no circles
        subject = f"part{person}x" if relation == "part_of" else f"person{person}"
        value = f"{kind or 'person'}{place}"
        if (person, relation, value) not in seen:
            seen.add((person, relation, value))
            made += 1
            yield Fact(
                fact_id=f"f{made}",
                subject=Term(subject, subject),
                relation=ontology.relations[relation].relation,
                object=Term(value, value),
            )


def state_turn(facts: list[Fact], count: int, ontology: Ontology) -> float:
    """Return the seconds of a turn through `OwlState`: facts in, inferred facts with their premises out."""
    state = OwlState("ana", ontology, facts[:count])
    times = []
    for turn in range(TURNS):
        new = facts[count + 2 * turn : count + 2 * turn + 2]
        times.append(seconds(lambda new=new, turn=turn: state.update(add=new, remove=[facts[turn]])))
    return statistics.median(times)


def by_owlrl(graph: rdflib.Graph) -> None:
    """Close a graph in place."""
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, axiomatic_triples=False, datatype_axioms=False).expand(graph)


def by_reasonable(graph: rdflib.Graph) -> None:
    """Close a copy of a graph."""
    reasoner = reasonable.PyReasoner()
    reasoner.from_graph(graph)
    reasoner.reason()


def reasonable_added(graph: rdflib.Graph) -> float:
    """Return the seconds of its own way to take two triples more: it keeps its state, and gives everything back."""
    reasoner = reasonable.PyReasoner()
    reasoner.from_graph(graph)
    reasoner.reason()
    times = []
    for turn in range(3):
        names = [rdflib.URIRef(f"urn:doxa:user:ana:thing#new{turn}x{place}") for place in range(3)]
        likes = rdflib.URIRef("urn:doxa:vocabulary#likes")
        new = [(names[0], likes, names[1]), (names[0], likes, names[2])]
        times.append(seconds(lambda new=new: (reasoner.from_graph(new), reasoner.reason())))
    return statistics.median(times)


def to_rdflib(triples: list[Triple]) -> rdflib.Graph:
    """Return triples as a graph of rdflib."""
    return rdflib.Graph().parse(data=serialize(triples, format=RdfFormat.N_TRIPLES), format="nt")


def visible(closure: Closure) -> list[Triple]:
    """Return the statements of a closure that are triples of RDF."""
    found = []
    for subject, predicate, value in closure:
        if not isinstance(subject, Literal) and isinstance(predicate, NamedNode):
            found.append(Triple(subject, predicate, value))
    return found


def comparable(graph: rdflib.Graph) -> set[tuple[str, ...]]:
    """Return the statements about people and things, without those that everything is itself."""
    things = "urn:doxa:user:ana:thing#"
    return {(str(s), str(p), str(o)) for s, p, o in graph if str(s).startswith(things) and s != o}


def seconds(act: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
