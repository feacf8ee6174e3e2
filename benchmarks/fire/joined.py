"""What a turn costs under a rule that joins everybody with everybody, by how many people there are.

    python benchmarks/fire/joined.py [--people 12 24 48]

"neighbours": whoever lives in one town knows each other, so n people make n x n conclusions. "one holder": who has the
key leaves no other with it. All but one person is known when the clock starts; one more turn is revised. Processor
time.
"""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime, timedelta

from doxa.core.values import Atom, Claim, Relation, Rule, Term
from doxa.memory import Beliefs
from doxa.revise import revise

DAY0 = datetime(2024, 1, 1, tzinfo=UTC)
LIVES, KNOWS, HAS = Relation("lives_in", "lives in"), Relation("knows", "knows"), Relation("has", "has")


def main() -> None:
    """Print a line for each rule and number of people."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, nargs="+", default=[12, 24, 48])
    rules = {
        "neighbours": ([_atom("?x", LIVES, "?z"), _atom("?y", LIVES, "?z")], _atom("?x", KNOWS, "?y"), LIVES, "oslo"),
        "one holder": ([_atom("?x", HAS, "key")], _atom("?y", HAS, "key", polarity=False), HAS, "key"),
    }
    for name, (body, head, relation, thing) in rules.items():
        rule = Rule(if_=tuple(body), then=(head,), turn_id="t0", speaker="Ana", known_at=DAY0)
        before = 0.0
        for people in parser.parse_args().people:
            seconds, changes = timed(rule, relation, thing, people)
            growth = f", {seconds / before:.1f} times the one before" if before else ""
            print(f"{name}: {people} people: {seconds:.3f} s, {changes} changes{growth}", flush=True)
            before = seconds


def timed(rule: Rule, relation: Relation, thing: str, people: int) -> tuple[float, int]:
    """Return the seconds that the last person costs, and how many changes that makes."""
    beliefs = Beliefs(policy="recency")
    beliefs.learn([], revise([], beliefs, turn_id="t0", known_at=DAY0, rules=[rule]), [rule])
    *known, last = [
        Claim(
            subject=_term(f"p{n}"), relation=relation, object=_term(thing), speaker="Ana", turn_id=f"t{n}",
            known_at=DAY0 + timedelta(days=n), span=f"p{n} {relation} {thing}",
        )
        for n in range(1, people + 1)
    ]  # fmt: skip
    beliefs.learn(known, revise(known, beliefs, turn_id=known[-1].turn_id, known_at=DAY0 + timedelta(days=people)))
    began = time.process_time()
    changes = revise([last], beliefs, turn_id=last.turn_id, known_at=DAY0 + timedelta(days=people + 1))
    return time.process_time() - began, len(changes)


def _term(name: str) -> Term:
    return Term(name, name)


def _atom(subject: str, relation: Relation, thing: str, *, polarity: bool = True) -> Atom:
    return Atom(subject=_term(subject), relation=relation, object=_term(thing), polarity=polarity)


if __name__ == "__main__":
    main()
