"""BeliefBank: what is read, told, revised and measured; on a small set of our own, and on the real one where it is."""

import json
from itertools import product
from random import Random

import pytest

from doxa.core.errors import FormatError, InputError, NotFoundError
from doxa.logic import Lit, heaviest
from doxa_bench import run_beliefbank
from doxa_bench.beliefbank import GLOBAL, SYSTEMS, Constraint, _entity

PARTS = ("root", "bark", "leaf", "trunk")
LINKS = [
    ("oak", "tree", "yes_yes", "forward"),
    *(("tree", part, "yes_yes", "forward") for part in PARTS),
    *((part, "car", "yes_no", "forward") for part in PARTS),
    ("tree", "oak", "yes_yes", "back"),
]


@pytest.fixture
def bank(tmp_path):
    """Ten oaks and ten cars, each asked seven things."""
    oak = {"oak": "yes", "tree": "yes", **dict.fromkeys(PARTS, "yes"), "car": "no"}
    car = {"oak": "no", "tree": "no", **dict.fromkeys(PARTS, "no"), "car": "yes"}
    facts = {f"{name}{number}": answers for number in range(10) for name, answers in (("oak", oak), ("car", car))}
    links = [dict(zip(("source", "target", "weight", "direction"), link, strict=True), score=1) for link in LINKS]
    (tmp_path / "silver_facts.json").write_text(json.dumps(facts))
    (tmp_path / "constraints_v2.json").write_text(json.dumps({"links": links}))
    return tmp_path


def test_every_system_ends_consistent_and_corroboration_mends_more_than_it_breaks(bank):
    """Consistency is below 1 as told."""
    report = run_beliefbank(bank).to_dict()
    assert (report["entities"], report["beliefs"], report["constraints"]) == (20, 140, 9)
    assert (report["ground_constraints"], report["constraints_left_out"]) == (180, 1)
    assert report["accuracy_before"] == pytest.approx(0.9, abs=1e-3)
    assert report["consistency_before"] < 1.0
    assert set(report["policies"]) == {*(system.name for system in SYSTEMS), GLOBAL}
    for row in report["policies"].values():
        assert (row["consistency"], row["certified"], row["unanswered"]) == (1.0, True, 0)
    assert report["policies"]["weighted"]["lowest_gain"] > 0


def test_a_report_is_the_same_for_the_same_seed(bank):
    """But for the times."""

    def measured(seed):
        rows = run_beliefbank(bank, seed=seed).to_dict()["policies"]
        return {name: (row["accuracy"], row["retractions"], row["restored"]) for name, row in rows.items()}

    assert measured(3) == measured(3)
    assert measured(3) != measured(20)


def test_constraints_bear_on_an_entity_by_way_of_what_is_not_asked():
    """And others are left out."""
    constraints = [Constraint("oak", "tree", True), Constraint("tree", "plant", True), Constraint("car", "metal", True)]
    entity = _entity("x", {"oak": True, "plant": True}, constraints)
    assert entity.constraints == tuple(constraints[:2])
    assert _entity("x", {"oak": True}, constraints).clauses == ()


@pytest.mark.parametrize(
    ("facts", "error"), [(None, NotFoundError), ({"x": {"a": "maybe"}}, FormatError), ([1], FormatError)]
)
def test_a_folder_that_is_no_beliefbank_is_refused(bank, facts, error):
    """It says what was expected."""
    if facts is None:
        (bank / "silver_facts.json").unlink()
    else:
        (bank / "silver_facts.json").write_text(json.dumps(facts))
    with pytest.raises(error, match="BeliefBank"):
        run_beliefbank(bank)


@pytest.mark.parametrize("seed", range(30))
def test_the_heaviest_literals_are_those_of_the_best_valuation(seed):
    """Against all valuations of five atoms."""
    rng = Random(seed)
    atoms = "ABCDE"
    rules = [[Lit(atom, rng.random() < 0.3) for atom in rng.sample(atoms, 2)] for _ in range(6)]
    weights = {Lit(atom, rng.random() < 0.7): rng.randint(1, 9) / 4 for atom in atoms}
    best = None
    for values in product((True, False), repeat=5):
        model = dict(zip(atoms, values, strict=True))
        if all(any(model[lit.atom] == lit.positive for lit in clause) for clause in rules):
            total = sum(weight for lit, weight in weights.items() if model[lit.atom] == lit.positive)
            best = total if best is None else max(best, total)
    if best is None:
        with pytest.raises(InputError, match="model"):
            heaviest(rules, weights)
    else:
        assert sum(weights[lit] for lit in heaviest(rules, weights)) == best


def test_the_silver_answers_become_consistent_and_more_accurate(data_dir):
    """On the first 8 entities of the data set; `doxa bench beliefbank` runs all 85."""
    folder = data_dir / "measure" / "beliefbank"
    if not folder.is_dir():
        pytest.skip(f"no BeliefBank in {folder}")
    report = run_beliefbank(folder, limit=8).to_dict()
    assert report["beliefs"] == 1097
    assert report["accuracy_before"] == pytest.approx(0.9, abs=1e-3)
    for row in report["policies"].values():
        assert (row["consistency"], row["certified"]) == (1.0, True)
        assert row["lowest_gain"] > 0.02
    assert report["policies"]["weighted"]["accuracy"] > report["policies"]["recency"]["accuracy"] + 0.01
