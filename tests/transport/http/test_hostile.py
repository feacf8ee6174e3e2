"""Requests that ask for too much are cut or refused in few words, whatever protocol they speak."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "fire"))
from bodies import BODIES, HEARD

BYTES = 6_000
MOST_S = 60


@pytest.mark.timeout(MOST_S)
@pytest.mark.parametrize("name", BODIES)
def test_a_hostile_request_is_answered(ana, name):
    """It is no fault of the server, and to refuse it takes no more than a few times what was sent."""
    path, body = BODIES[name]
    made = body(BYTES)
    content = made if isinstance(made, str) else json.dumps(made)
    answer = ana.post(path, content=content, headers={"Content-Type": "application/json", **HEARD})
    assert answer.status_code < 500
    assert answer.is_success or len(answer.content) < 4 * BYTES


def test_as_many_texts_are_encoded_at_once_as_at_openai(ana):
    """Vectors are fifty times what a short text is."""
    answer = ana.post("/openai/v1/embeddings", json={"model": "doxa", "input": ["a"] * 2049})
    assert answer.status_code == 400 and "at most 2,048 texts" in answer.json()["error"]["message"]


def test_more_messages_than_turns_of_a_request_are_refused_by_mem0_s_routes_as_well(ana):
    """Nothing of them is stored."""
    answer = ana.post("/v1/memories/", json={"messages": [{"role": "user", "content": "x"}] * 10_001, "user_id": "ana"})
    assert answer.status_code == 422 and "10000" in answer.json()["detail"]
    assert ana.get("/v1/memory/turns").json()["items"] == []
