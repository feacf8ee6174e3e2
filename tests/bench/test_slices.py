"""The slices of questions: without shared words, by what they want, by what their session is about."""

import numpy as np
import pytest

from doxa_bench.slices import domains, is_implicit, subtype


@pytest.mark.parametrize(
    ("question", "evidence", "implicit"),
    [
        ("Where does Ana paint?", ["I painted a sunset."], False),
        ("What are Ana's hobbies?", ["I painted a sunset with Ana."], True),
        ("What does she do?", ["We did it."], True),
        ("What are the hobbies?", ["I paint.", "My hobby is chess."], False),
    ],
    ids=["stem", "name", "function words", "one of two"],
)
def test_a_question_is_implicit_when_no_content_stem_is_shared(question, evidence, implicit):
    assert is_implicit(question, evidence, ["Ana"]) is implicit


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("What should Ana read next?", "recommendation"),
        ("Which book did Ben recommend?", "recommendation"),
        ("What is her favourite dish?", "preference"),
        ("When did they meet?", "follow-up"),
    ],
    ids=str,
)
def test_the_wording_tells_what_is_wanted(question, wants):
    assert subtype(question) == wants


def test_sessions_group_by_direction_and_are_named_by_their_words():
    vectors = np.array([[1, 0], [0.9, 0.1], [0, 1], [0.1, 3]], dtype=np.float32)
    texts = ["Ana: the garden, roses", "Ana: garden weeds", "Ana: my violin", "Ana: violin lesson"]
    names = domains(vectors, texts, ignore=["Ana"], k=2)
    assert names[0] == names[1] != names[2] == names[3]
    assert names[0].startswith("garden") and names[2].startswith("violin") and "ana" not in " ".join(names)
    assert domains(vectors, texts, ignore=["Ana"], k=2) == names


def test_there_are_no_more_domains_than_sessions():
    assert domains(np.zeros((0, 2), dtype=np.float32), []) == []
    assert len(set(domains(np.eye(2, dtype=np.float32), ["tea", "coffee"], k=5))) == 2
