"""The Responses API through the proxy."""

import json

import pytest
from pydantic import BaseModel


def streamed(played, key, *texts):
    """Return a response as it is streamed."""
    whole = played.response(key, "".join(texts))
    begun = {**whole, "status": "in_progress", "output": []}
    where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": {**whole["output"][0], "content": []}},
        *({"type": "response.output_text.delta", **where, "delta": text, "logprobs": []} for text in texts),
        {"type": "response.of_next_year", "x": 1},
        {"type": "response.completed", "response": whole},
    ]
    numbered = [{**event, "sequence_number": place} for place, event in enumerate(events)]
    return played.reply(played.sse(*numbered, named=True), headers=played.STREAM)


def test_a_response_is_the_same_as_direct(front, played):
    """Request and answer have the same bytes, and what is said is remembered."""
    front.upstream.play = lambda sent: played.reply(json.dumps(played.response("resp_1", "Fine.")).encode())
    ask = {"model": "m", "input": "My boat is blue.", "instructions": "Be brief."}
    direct = front.direct().responses.with_raw_response.create(**ask)
    proxied = front.client().responses.with_raw_response.create(**ask)
    assert proxied.content == direct.content
    assert front.upstream.sent[0].body == front.upstream.sent[1].body
    assert front.remembered(2) == [
        ("user", front.name, "My boat is blue."),
        ("assistant", "assistant", "Fine."),
    ]


def test_a_streamed_response_has_the_same_events_as_direct(front, played):
    """Every event is the same as without the proxy, one that no SDK knows included."""
    front.upstream.play = lambda sent: streamed(played, "resp_2", "Fi", "ne.")
    ask = {"model": "m", "input": [{"role": "user", "content": "My boat is blue."}], "stream": True}
    direct = [event.to_dict() for event in front.direct().responses.create(**ask)]
    proxied = [event.to_dict() for event in front.client().responses.create(**ask)]
    assert proxied == direct and len(direct) == 7
    assert front.remembered(2)[1] == ("assistant", "assistant", "Fine.")


def test_structured_outputs_are_parsed(front, played):
    """`responses.parse()` gives an object of the class that was asked for."""

    class Weather(BaseModel):
        city: str

    front.upstream.play = lambda sent: played.reply(json.dumps(played.response("resp_3", '{"city": "Bonn"}')).encode())
    found = front.client().responses.parse(model="m", input="Where is it warm?", text_format=Weather)
    assert found.output_parsed == Weather(city="Bonn")


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_what_goes_on_from_a_response_is_of_its_session(front, played, streams):
    """The block is sent once, since the upstream has it; the newest message alone gets what is new."""
    earlier = front.doxa.dialogue(user=front.user, session="earlier", speaker="Ana")
    for text in ("I live in Lisbon.", "Bea has a parrot."):
        earlier.absorb(text)
    front.settle()
    keys = iter(["resp_a", "resp_b", "resp_c"])

    def play(sent):
        key = next(keys)
        if streams:
            return streamed(played, key, "I see.")
        return played.reply(json.dumps(played.response(key, "I see.")).encode())

    front.upstream.play = play
    client = front.client(session=None)

    def ask(text, before=None):
        more = {} if before is None else {"previous_response_id": before}
        found = client.responses.with_raw_response.create(model="m", input=text, stream=streams, **more)
        list(found.parse()) if streams else found.parse()
        return found.headers["doxa-session"]

    sessions = [ask("I need a flat."), ask("yes", "resp_a"), ask("yes", "resp_b")]
    assert len(set(sessions)) == 1
    inputs = [sent.json["input"] for sent in front.upstream.sent]
    assert "from before" in inputs[0] and "Lisbon" in inputs[0]
    assert all(text.startswith("yes") and "from before" not in text and "flat" not in text for text in inputs[1:])
    assert [text for role, _, text in front.remembered(8) if role == "user"][2:] == ["I need a flat.", "yes", "yes"]


def test_results_of_functions_are_remembered_as_such(front, played):
    """An item with the output of a call is a turn of the function that was called."""
    front.upstream.play = lambda sent: played.reply(json.dumps(played.response("resp_4", "It is warm.")).encode())
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "How warm is it?"}]},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "21 degrees"},
    ]
    front.client().responses.create(model="m", input=items)
    assert front.remembered(3)[1] == ("tool", "weather", "21 degrees")


def test_a_content_of_parts_gets_a_part_of_its_kind(front, played):
    """What is remembered is an `input_text` behind the parts of the user."""
    front.doxa.dialogue(user=front.user, session="earlier", speaker="Ana").absorb("I live in Lisbon.")
    front.settle()
    front.upstream.play = lambda sent: played.reply(json.dumps(played.response("resp_5", "Fine.")).encode())
    part = {"type": "input_text", "text": "Hello."}
    front.client().responses.create(model="m", input=[{"role": "user", "content": [part]}])
    content = front.upstream.sent[-1].json["input"][0]["content"]
    assert content[0] == part and content[1]["type"] == "input_text" and "Lisbon" in content[1]["text"]


def test_stored_responses_are_those_of_the_upstream(front, played):
    """Retrieving, cancelling, deleting and listing reach the upstream as they are."""
    front.upstream.play = lambda sent: played.reply(json.dumps(played.response("resp_6", "Fine.")).encode())
    client = front.client()
    assert client.responses.retrieve("resp_6").output_text == "Fine."
    client.responses.cancel("resp_6")
    client.responses.delete("resp_6")
    front.upstream.play = lambda sent: played.reply(b'{"object": "list", "data": [], "has_more": false}')
    assert list(client.responses.input_items.list("resp_6", order="asc")) == []
    assert [(sent.method, sent.path) for sent in front.upstream.sent] == [
        ("GET", "/v1/responses/resp_6"),
        ("POST", "/v1/responses/resp_6/cancel"),
        ("DELETE", "/v1/responses/resp_6"),
        ("GET", "/v1/responses/resp_6/input_items?order=asc"),
    ]
