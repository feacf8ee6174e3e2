"""Without an upstream the built-in writer answers, in the shapes of OpenAI."""

import base64

import numpy as np
import openai
import pytest

from doxa.core.access import Scope
from doxa.transport.http.openai.proxy import Kept


def test_a_completion_answers_from_memory(alone):
    """What was said is known when it is asked for, and both are remembered."""
    client = alone.client()
    told = {"role": "user", "content": "I live in Lisbon."}
    reply = client.chat.completions.create(model="doxa", messages=[told])
    messages = [told, reply.choices[0].message.to_dict(), {"role": "user", "content": "Where do I live?"}]
    raw = client.chat.completions.with_raw_response.create(model="gpt-x", messages=messages)
    answer = raw.parse()
    assert "Lisbon" in answer.choices[0].message.content
    assert (answer.model, answer.object, answer.choices[0].finish_reason) == ("doxa", "chat.completion", "stop")
    assert raw.headers["doxa-usage"] == "estimated" and answer.usage.total_tokens > answer.usage.prompt_tokens > 0
    assert [role for role, _, _ in alone.remembered(4)] == ["user", "assistant"] * 2


def test_a_completion_is_streamed(alone):
    """The SDK puts the chunks together to the same reply."""
    ask = {"model": "doxa", "messages": [{"role": "user", "content": "I live in Lisbon."}]}
    whole = alone.client().chat.completions.create(**ask).choices[0].message.content
    with alone.client().chat.completions.stream(**ask, stream_options={"include_usage": True}) as stream:
        for _ in stream:
            pass
        final = stream.get_final_completion()
    assert final.choices[0].message.content == whole and final.usage.completion_tokens > 0


@pytest.mark.parametrize(
    "more",
    [
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        {"response_format": {"type": "json_object"}},
        {"n": 2},
        {"logprobs": True},
    ],
    ids=["tools", "json", "n", "logprobs"],
)
def test_what_it_cannot_do_is_refused(alone, more):
    """A clear error says which field, and nothing is remembered."""
    with pytest.raises(openai.BadRequestError, match=next(iter(more))) as error:
        alone.client().chat.completions.create(model="doxa", messages=[{"role": "user", "content": "Hi you."}], **more)
    assert error.value.type == "invalid_request_error" and error.value.code == "unsupported"
    assert alone.turns() == []


@pytest.mark.parametrize("messages", [[], [{"role": "system", "content": "Hi."}], "Hi.", [1]])
def test_there_has_to_be_a_message_of_the_user(alone, messages):
    """A request that asks nothing is refused."""
    with pytest.raises(openai.BadRequestError, match="last message"):
        alone.client().chat.completions.create(model="doxa", messages=messages)


def test_responses_are_made_kept_and_deleted(alone):
    """A response can be gone on from, retrieved and deleted, by its own user alone."""
    client = alone.client(session=None)
    first = client.responses.create(model="doxa", input="I live in Lisbon.")
    second = client.responses.create(model="doxa", input="Where do I live?", previous_response_id=first.id)
    assert "Lisbon" in second.output_text and second.previous_response_id == first.id
    assert client.responses.retrieve(second.id).output_text == second.output_text
    items = list(client.responses.input_items.list(second.id))
    assert items[0].content[0].text == "Where do I live?"
    with pytest.raises(openai.NotFoundError):
        alone.client(user=f"{alone.user}x").responses.retrieve(second.id)
    with pytest.raises(openai.BadRequestError, match="complete"):
        client.responses.cancel(second.id)
    client.responses.delete(second.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(second.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model="doxa", input="And now?", previous_response_id="resp_none")
    with alone.doxa.parts.log.user(alone.user) as state:
        assert len({turn.session for turn in state.turns.values()}) == 1


def test_a_response_is_streamed_in_the_official_order(alone):
    """Events come in the order of OpenAI, numbered, and give the whole response."""
    events = list(alone.client().responses.create(model="doxa", input="I live in Lisbon.", stream=True))
    assert [event.type.removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert [event.sequence_number for event in events] == list(range(9))
    assert events[-1].response.output_text == events[4].delta


def test_embeddings_are_those_of_the_engine(alone):
    """Both formats give the vectors of the encoder, which the SDK reads."""
    client = alone.client(user=None)
    found = client.embeddings.create(model="doxa", input=["a cat", "a dog"])
    expected = alone.doxa.parts.encoder.encode(["a cat", "a dog"])
    assert np.allclose([one.embedding for one in found.data], expected, atol=1e-6)
    packed = alone.post("embeddings", {"input": "a cat", "encoding_format": "base64"}, doxa_key=alone.key).json()
    assert np.allclose(np.frombuffer(base64.b64decode(packed["data"][0]["embedding"]), "<f4"), expected[0], atol=1e-6)
    with pytest.raises(openai.BadRequestError, match="input"):
        client.embeddings.create(model="doxa", input=[1, 2, 3])


def test_there_is_one_model(alone):
    """The list has one id, and no other can be retrieved."""
    client = alone.client(user=None)
    assert [one.id for one in client.models.list()] == ["doxa"]
    assert client.models.retrieve("doxa").owned_by == "doxa"
    with pytest.raises(openai.NotFoundError, match="gpt-x"):
        client.models.retrieve("gpt-x")


def test_other_paths_say_what_they_take(alone):
    """Without an upstream there is nothing to relay to, and the error says which setting makes it so."""
    answer = alone.post("images/generations", {}, doxa_key=alone.key)
    assert answer.status_code == 404 and "server.upstream" in answer.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/openai/chat/completions", "/v1/responses"])
def test_an_address_that_is_not_the_proxys_is_told_the_right_one(alone, path):
    """In the shape that the client reads: with another it would show the status alone."""
    answer = alone.http.post(alone.url.removesuffix("/openai/v1") + path, json={})
    assert answer.status_code == 404 and "/openai/v1" in answer.json()["error"]["message"]


def test_a_response_goes_with_what_it_answers(alone):
    """What is erased is not kept in another place."""
    client = alone.client()
    made = client.responses.create(model="doxa", input="I live in Zagreb.")
    assert client.responses.retrieve(made.id).id == made.id
    alone.doxa.memory(user=alone.user).forget(everything=True)
    for act in (client.responses.retrieve, client.responses.input_items.list):
        with pytest.raises(openai.NotFoundError):
            act(made.id)


@pytest.mark.parametrize(
    "more",
    ['"metadata": {"a": NaN}', '"metadata": {"a": 1e999}', '"metadata": {"a": "\\ud800"}'],
    ids=["nan", "infinite", "half"],
)
def test_what_cannot_be_written_again_is_refused(alone, more):
    """It is no fault of the server."""
    body = f'{{"model": "doxa", "input": "Hi.", {more}}}'.encode()
    answer = alone.post("responses", body, doxa_key=alone.key, doxa_user=alone.user)
    assert answer.status_code == 400 and "plain JSON" in answer.json()["error"]["message"]


def test_stored_responses_are_bounded_by_their_size():
    """Few large ones take no more room than many small ones."""
    scope = Scope(tenant="one", user="ana", rights=(), key_id="k")
    kept = Kept[str](most=3, most_bytes=100)
    for name, size in (("a", 60), ("b", 30), ("b", 40), ("c", 10), ("d", 50)):
        kept.keep(scope, name, name, size=size)
    assert [kept.get(scope, name) for name in "abcd"] == [None, "b", "c", "d"]
    kept.keep(scope, "x" * 10_000, "long")
    assert kept.get(scope, "x" * 10_000) is None
