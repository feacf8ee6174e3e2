"""Random histories of a theory, every answer of which is held against all assignments to its atoms."""

import random
from itertools import combinations, product

import pytest

from doxa.logic import Lit, Theory


class History:
    """A theory, and what it was told, as plain clauses."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.atoms = range(self.chance.randint(2, 6))
        self.theory, self.hard, self.said = Theory(), [], {}

    def literal(self):
        return Lit(self.chance.choice(self.atoms), self.chance.random() < 0.5)

    def clause(self, sizes=(1, 1, 1, 2, 3)):
        return [self.literal() for _ in range(self.chance.choice(sizes))]

    def step(self):
        """Require, believe (again) or forget something."""
        kind = self.chance.random()
        if kind < 0.15:
            self.hard.append(self.clause(sizes=(2, 3, 3)))
            self.theory.require(self.hard[-1])
        elif kind < 0.75:
            name, clauses = self.chance.randint(0, 9), [self.clause() for _ in range(self.chance.choice((1, 1, 2)))]
            self.theory.believe(name, *clauses)
            self.said.pop(name, None)
            self.said[name] = clauses
        elif self.said:
            name = self.chance.choice(list(self.said))
            self.theory.forget(name)
            del self.said[name]

    def clauses(self, names):
        return [*self.hard, *(clause for name in names for clause in self.said[name])]

    def holds(self, names, also=()):
        """Tell whether some assignment satisfies the hard clauses, some beliefs and some literals."""
        clauses = [*self.clauses(names), *([literal] for literal in also)]
        values = product((False, True), repeat=len(self.atoms))
        return any(all(any(row[lit.atom] == lit.positive for lit in clause) for clause in clauses) for row in values)

    def minimal(self, names, also=()):
        """Tell whether beliefs clash, and no fewer of them do."""
        rest = [[other for other in names if other != name] for name in names]
        return not self.holds(names, also) and all(self.holds(fewer, also) for fewer in rest)


@pytest.mark.parametrize("seed", range(200))
def test_every_answer_agrees_with_all_assignments(seed):
    """Consistency, cores, their enumeration, entailment and models, of all beliefs or of some, after any history."""
    history, chance = History(seed), random.Random(-seed)
    theory = history.theory
    for _ in range(14):
        history.step()
        everything = list(history.said)
        some = [name for name in everything if chance.random() < 0.6]
        rest = [name for name in everything if name not in some]
        also = [history.literal() for _ in range(chance.choice((0, 1, 2)))]
        questions = [{}, {"names": some, "also": also}, {"also": also}, {"without": rest}, {"names": some}]
        for question in chance.sample(questions, 3):
            names = everything if not question.keys() & {"names", "without"} else some
            assumed = question.get("also", ())
            assert theory.consistent(**question) == history.holds(names, assumed)
            core = theory.core(**question)
            assert (core is None) == history.holds(names, assumed)
            assert core is None or (set(core) <= set(names) and history.minimal(core, assumed))
        if chance.random() < 0.4:
            literal = history.literal()
            assert theory.entails(literal, some) != history.holds(some, [~literal])
            cores = [set(core) for core in theory.cores(some, limit=1000)]
            subsets = [names for size in range(len(some) + 1) for names in combinations(some, size)]
            expected = [set(names) for names in subsets if history.minimal(names)]
            assert sorted(map(sorted, cores)) == sorted(map(sorted, expected))
            model = theory.model(some)
            assert (model is not None) == history.holds(some)
            for clause in () if model is None else history.clauses(some):
                # A clause that holds an atom and its denial says nothing, so the model may leave the atom out.
                assert any(model.get(lit.atom, lit.positive) == lit.positive for lit in clause)
