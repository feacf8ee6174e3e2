"""What was once a fault at an entrance is none any more, and some hundred inputs that nobody has seen are none either.

Whole runs, guided by coverage, are those of `benchmarks/fire/fuzz.py`; it keeps what it finds in `corpus`.
"""

from contextlib import closing
from random import Random

import doors
import pytest
from corpora import CORPUS, kept
from mutations import LONGEST, Mutator
from shares import DOORS, ENGINES

FRESH = {name: 3 if name in (*ENGINES, "cli") else 40 if name == "times" else 120 for name in DOORS}
"""Mutations of what there is, by a seed; those of engines are few, which take some hundred times as long."""
LARGEST = 300_000


@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DOORS)
def test_nothing_that_comes_in_is_a_fault(name, tmp_path, monkeypatch):
    """Neither an error that is not Doxa's own comes out, nor an answer that says that something went wrong inside."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    random, held = Random(7), kept(name)
    with closing(doors.opened(name)) as door:
        mutator, seeds = Mutator(door.words), [*door.seeds, *(one.data for one in held)]
        fresh = (
            mutator.mutated(random.choice(seeds), random.choice(seeds), random.getrandbits(48))
            for _ in range(FRESH[name])
        )
        for data in (*(one.data for one in held), *fresh):
            try:
                door(data)
            except Exception as exc:
                exc.add_note(f"let in at {name}: {data!r}")
                raise


def test_mutations_are_the_same_for_a_seed_and_not_longer_than_they_may_be():
    mutator, data = Mutator(["Oslo"]), b'{"a": [1, "I live in Oslo.", {"b": null}]}'
    made = [mutator.mutated(data, b'["x"]', seed) for seed in range(500)]
    assert made == [mutator.mutated(data, b'["x"]', seed) for seed in range(500)]
    assert len(set(made)) > 300 and max(map(len, made)) <= LONGEST


def test_the_corpus_stays_small_and_each_file_is_of_an_entrance():
    files = {path.stem: path.stat().st_size for path in CORPUS.iterdir()}
    assert files.keys() - {"memory"} <= DOORS.keys()
    assert sum(files.values()) < LARGEST
