"""What is believed now -> what follows from it, and whether it agrees with the ontology."""

from __future__ import annotations

from doxa.core.consistency import Consistency
from doxa.core.errors import NotFoundError
from doxa.core.values import Explanation, Fact
from doxa.engine.answer.following import current, following, prepare
from doxa.engine.wiring.parts import Parts
from doxa.logic import Hermit, builtin_ontology, check_dl, consistency_of, read_axioms
from doxa.memory import describe

__all__ = ["INFERRED", "check", "explain_inferred", "find_reasoner", "inferred"]

INFERRED = "o_"
"""What the ids of inferred facts begin with."""


def check(parts: Parts, user: str, *, dl: bool, limit_s: float) -> Consistency:
    """Return whether the current facts of a user can all hold; see `Memory.verify`."""
    if not dl:
        prepare(parts, user)
    with parts.log.user(user) as state:
        if not dl:
            return consistency_of(following(parts, state))
        facts = current(state)
    ontology = parts.log.ontology or builtin_ontology()
    axioms = tuple(axiom for path in parts.ontology_files for axiom in read_axioms(path, known=ontology))
    return check_dl(facts, user, ontology, axioms, limit_s=limit_s)


def inferred(parts: Parts, user: str) -> list[Fact]:
    """Return what follows from the current facts of a user; see `Memory.inferred`."""
    prepare(parts, user)
    with parts.log.user(user) as state:
        return following(parts, state).inferred(specific=True)


def explain_inferred(fact_id: str, parts: Parts, user: str) -> Explanation:
    """Return how an inferred fact follows, and from which turns.

    Raises:
        NotFoundError: nothing with this id follows any more.
    """
    prepare(parts, user)
    with parts.log.user(user) as state:
        owl = following(parts, state)
        fact = owl.inferred_fact(fact_id)
        if fact is None:
            raise NotFoundError(
                f"Nothing with the id {fact_id!r} follows now. `doxa facts --inferred` lists what does."
            )
        turns = tuple(turn for key in fact.turn_ids if (turn := state.turn(key)) is not None)
        lines = [describe(fact), "Inferred: nobody said it, and it holds while what it follows from does."]
        lines += [f"  {turn.turn_id} {turn.speaker}, {turn.at:%Y-%m-%d}: “{turn.text}”" for turn in turns]
        derivation = owl.why(fact)
        return Explanation(
            fact=fact,
            turns=turns,
            premises=tuple(known for key in fact.premises if (known := state.beliefs.facts.get(key)) is not None),
            derivation=derivation,
            text="\n".join([*lines, *derivation]),
        )


def find_reasoner() -> str:
    """Return what `verify` with `dl` would ask on this machine.

    Raises:
        BackendError: a package or Java is missing.
    """
    return str(Hermit.find())
