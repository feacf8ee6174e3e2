"""`benchmarks/knowledge.py` makes as many sentences as are wanted, all distinct, the same for a seed."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "knowledge.py"
SENTENCES = [
    "A tiger is a cat.",
    "An old truck is a machine.",
    "A pilot is a person.",
    "Red wine is a drink.",
    "Cold soup is a meal.",
    "Birds have wings.",
    "Hello there!",
]


@pytest.fixture(scope="module")
def enlarge():
    spec = importlib.util.spec_from_file_location("knowledge_benchmark", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.enlarge


def test_sentences_are_mixed_from_those_of_one_shape(enlarge):
    made = list(enlarge(SENTENCES, 30, seed=1))
    assert made[:7] == SENTENCES and len(set(made)) == 30
    parts = [sentence.split(" is ") for sentence in made[7:]]
    predicates = {sentence.split(" is ")[1] for sentence in SENTENCES if " is " in sentence}
    assert all(len(part) == 2 and part[1] in predicates for part in parts)
    assert {"Red soup", "Cold wine"} & {part[0] for part in parts}  # concepts that were not there
    assert made == list(enlarge(SENTENCES, 30, seed=1)) != list(enlarge(SENTENCES, 30, seed=2))


def test_fewer_than_there_are_is_the_beginning(enlarge):
    assert list(enlarge([*SENTENCES[:2], *SENTENCES], 3)) == SENTENCES[:3]


@pytest.mark.parametrize("sentences", [[], ["Hello there!"], SENTENCES[:2]])
def test_too_little_to_mix_is_an_error(enlarge, sentences):
    with pytest.raises(ValueError, match="make only"):
        list(enlarge(sentences, 100))
