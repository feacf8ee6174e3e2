"""What is believed now -> whether it agrees with the ontology."""

from __future__ import annotations

from doxa.core.consistency import Consistency
from doxa.engine.wiring import Parts
from doxa.logic import Hermit, builtin_ontology, check_dl, check_rl, read_axioms

__all__ = ["check", "find_reasoner"]


def check(parts: Parts, user: str, *, dl: bool, limit_s: float) -> Consistency:
    """Return whether the current facts of a user can all hold; see `Memory.verify`."""
    ontology = parts.log.ontology or builtin_ontology()
    axioms = tuple(axiom for path in parts.ontology_files for axiom in read_axioms(path, known=ontology))
    with parts.log.user(user) as state:
        facts = list(state.beliefs.select(now=state.today()))
    if dl:
        return check_dl(facts, user, ontology, axioms, limit_s=limit_s)
    return check_rl(facts, user, ontology, axioms)


def find_reasoner() -> str:
    """Return what `verify` with `dl` would ask on this machine.

    Raises:
        BackendError: a package or Java is missing.
    """
    return str(Hermit.find())
