"""Literals that cannot all hold under some rules -> those of the greatest total weight that can.

Everything at once, where `corrections.weighted` takes one new belief after another: the yardstick for what revising
step by step loses.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from doxa.core.errors import InputError
from doxa.logic.components import SOLVER
from doxa.logic.corrections import WEIGHT_STEPS
from doxa.logic.literals import Lit

__all__ = ["heaviest"]


def heaviest(rules: Iterable[Iterable[Lit]], weights: Mapping[Lit, float]) -> frozenset[Lit]:
    """Return literals of the greatest total weight that have a model with the rules: weighted partial MaxSAT.

    Args:
        rules: clauses that hold whatever the literals are.
        weights: literal -> what it counts, more than 0; compared in millionths.

    Raises:
        InputError: the rules have no model.

    Of several optima one is returned, the same for the same arguments in the same order. Cost: one run of RC2 over all
    of it; NP-hard, exponential in the number of overlapping clashes at worst.
    Source: Ignatiev, Morgado and Marques-Silva 2019, "RC2: an efficient MaxSAT solver", JSAT 11; for beliefs of a
    language model Kassner, Tafjord, Schütze and Clark 2021, "BeliefBank: adding memory to a pre-trained language model
    for a systematic notion of belief", section 4.
    """
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    numbers: dict[Hashable, int] = {}

    def number(lit: Lit) -> int:
        atom = numbers.setdefault(lit.atom, len(numbers) + 1)
        return atom if lit.positive else -atom

    formula = WCNF()
    for clause in rules:
        formula.append([number(lit) for lit in clause])
    for lit, weight in weights.items():
        formula.append([number(lit)], weight=max(1, round(weight * WEIGHT_STEPS)))
    with RC2(formula, solver=SOLVER) as solver:
        found = solver.compute()
    if found is None:
        raise InputError("expected rules that have a model; these clash whatever is believed.")
    model = frozenset(found)
    return frozenset(lit for lit in weights if number(lit) in model)
