"""What is done with a reply that contradicts the memory."""

import json

import pytest

WRONG, RIGHT = "You live in Rome.", "You live in Lisbon."
ASK = {"model": "m", "messages": [{"role": "user", "content": "Where do I live?"}]}


@pytest.fixture(scope="module")
def modes(engine, upstream, front_of):
    """A proxy for each mode."""
    with (
        front_of(engine, upstream, verify="annotate") as annotate,
        front_of(engine, upstream, verify="repair") as repair,
        front_of(engine, upstream, verify="block") as block,
    ):
        yield {"annotate": annotate, "repair": repair, "block": block}


@pytest.fixture
def verifying(modes, upstream):
    """Gives the proxy of a mode, with a user who lives in Lisbon."""

    def made(mode):
        upstream.reset()
        front = modes[mode].another()
        front.doxa.dialogue(user=front.user, session="earlier", speaker="Ana").absorb("I live in Lisbon.")
        front.settle()
        return front

    return made


def test_annotate_says_so_in_a_header(verifying, played):
    """The reply is left as it is, with the verdict beside it."""
    front = verifying("annotate")
    front.upstream.play = lambda sent: played.reply(played.chat(WRONG))
    answer = front.client().chat.completions.with_raw_response.create(**ASK)
    verdict = json.loads(answer.headers["doxa-verdict"])
    assert answer.content == played.chat(WRONG)
    assert verdict["label"] == "contradicted" and "Lisbon" in verdict["reason"] and verdict["because"]


def test_annotate_says_so_in_a_last_event(verifying, played):
    """A stream is relayed as it is; the SDK ends at [DONE], and the verdict stands behind it."""
    front = verifying("annotate")
    stream = played.chunks("You live ", "in Rome.")
    front.upstream.play = lambda sent: played.reply(stream, headers=played.STREAM)
    told = [chunk.choices[0].delta.content for chunk in front.client().chat.completions.create(**ASK, stream=True)]
    assert "".join(filter(None, told)) == WRONG
    body = front.post("chat/completions", {**ASK, "stream": True}, doxa_key=front.key, doxa_user=front.user).content
    assert body.startswith(b"".join(stream))
    name, data = body.removeprefix(b"".join(stream)).decode().strip().split("\n")
    assert name == "event: doxa.verdict" and json.loads(data.removeprefix("data: "))["label"] == "contradicted"


def test_repair_asks_again_with_what_clashes(verifying, played):
    """The second reply is sent, the first is told to the upstream alone, and the right one is remembered."""
    front = verifying("repair")
    replies = iter([WRONG, RIGHT])
    front.upstream.play = lambda sent: played.reply(played.chat(next(replies)))
    answer = front.client().chat.completions.with_raw_response.create(**ASK)
    assert answer.parse().choices[0].message.content == RIGHT
    assert json.loads(answer.headers["doxa-verdict"])["label"] == "supported"
    *_, draft, complaint = front.upstream.sent[-1].json["messages"]
    assert draft == {"role": "assistant", "content": WRONG} and "Lisbon" in complaint["content"]
    data = complaint["content"].split("```json\n")[1].split("\n```")[0]
    assert set(json.loads(data)) == {"written", "but"}  # what is remembered is data there too
    assert [text for _, _, text in front.remembered(3)][1:] == ["Where do I live?", RIGHT]


def test_repair_streams_what_it_has_in_the_end(verifying, played):
    """A client that wants a stream gets the repaired reply as one, with the tokens that it asked for."""
    front = verifying("repair")
    replies = iter([WRONG, RIGHT])
    front.upstream.play = lambda sent: played.reply(played.chat(next(replies)))
    options = {"stream": True, "stream_options": {"include_usage": True}}
    got = list(front.client().chat.completions.create(**ASK, **options))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in got if chunk.choices) == RIGHT
    assert got[-1].usage.total_tokens == 29 and got[-2].choices[0].finish_reason == "stop"
    assert all("stream" not in sent.json for sent in front.upstream.sent)


def test_repair_ends_with_what_it_has(verifying, played):
    """The upstream is asked again `verify.repairs` times at most, and the verdict says what is left."""
    front = verifying("repair")
    front.upstream.play = lambda sent: played.reply(played.chat(WRONG))
    answer = front.client().chat.completions.with_raw_response.create(**ASK)
    assert answer.parse().choices[0].message.content == WRONG
    assert json.loads(answer.headers["doxa-verdict"])["label"] == "contradicted"
    assert len(front.upstream.sent) == 1 + front.doxa.parts.config.verify.repairs


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_block_puts_what_the_memory_holds_in_its_place(verifying, played, streams):
    """Not a word of the wrong reply reaches the client; a right choice beside it stays."""
    front = verifying("block")
    body = json.loads(played.chat(WRONG))
    body["choices"].append({**body["choices"][0], "index": 1, "message": {"role": "assistant", "content": RIGHT}})
    front.upstream.play = lambda sent: played.reply(json.dumps(body).encode())
    headers = {"doxa_key": front.key, "doxa_user": front.user}
    got = front.post("chat/completions", {**ASK, "n": 2, "stream": streams}, **headers).text
    assert "Rome" not in got and RIGHT in got and "what I have noted" in got and "Lisbon" in got


def test_a_response_is_blocked_as_well(verifying, played):
    """The text of a response is replaced, and its stream is the official sequence of events."""
    front = verifying("block")
    front.upstream.play = lambda sent: played.reply(json.dumps(played.response("resp_1", WRONG)).encode())
    client = front.client()
    assert "Rome" not in client.responses.create(model="m", input="Where do I live?").output_text
    with client.responses.stream(model="m", input="Where do I live?") as stream:
        types = [event.type for event in stream]
        final = stream.get_final_response()
    assert "Lisbon" in final.output_text and types[0] == "response.created" and types[-1] == "response.completed"


@pytest.mark.parametrize("mode", ["annotate", "repair", "block"])
def test_calls_and_errors_pass(verifying, played, mode):
    """A reply that calls a tool is not checked, and an error comes as it is."""
    front = verifying(mode)
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    front.upstream.play = lambda sent: played.reply(played.chat(None, message={"tool_calls": [call]}))
    answer = front.client().chat.completions.with_raw_response.create(**ASK)
    assert answer.content == played.chat(None, message={"tool_calls": [call]}) and "doxa-verdict" not in answer.headers
    front.upstream.play = lambda sent: played.reply(b'{"error": {"message": "Slow down."}}', status=429)
    headers = {"doxa_key": front.key, "doxa_user": front.user}
    got = front.post("chat/completions", {**ASK, "stream": True}, **headers)
    assert (got.status_code, got.content) == (429, b'{"error": {"message": "Slow down."}}')


UNREADABLE = {
    "no JSON": {"body": WRONG.encode(), "headers": {"content-type": "text/plain"}},
    "no object": {"body": json.dumps([WRONG]).encode()},
    "an encoding": {"body": json.dumps({"text": WRONG}).encode(), "headers": {"content-encoding": "br"}},
    "a stream": {"body": f'data: {{"choices": [{{"delta": {{"content": "{WRONG}"}}}}]}}\n\n'.encode()},
}


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("answer", UNREADABLE.values(), ids=UNREADABLE)
def test_block_lets_no_reply_through_that_cannot_be_read(verifying, played, answer, streams):
    """It was not held against the memory, and the error says so; what the user said is remembered."""
    front = verifying("block")
    front.upstream.play = lambda sent: played.reply(**answer)
    headers = {"doxa_key": front.key, "doxa_user": front.user}
    got = front.post("chat/completions", {**ASK, "stream": streams}, **headers)
    assert got.status_code == 502 and "server.verify" in got.json()["error"]["message"] and "Rome" not in got.text
    assert [text for _, _, text in front.remembered(2)][1:] == ["Where do I live?"]


@pytest.mark.parametrize("mode", ["annotate", "repair"])
def test_other_modes_let_a_reply_through_that_cannot_be_read(verifying, played, mode):
    """They say what they found, and here that is nothing."""
    front = verifying(mode)
    front.upstream.play = lambda sent: played.reply(**UNREADABLE["no JSON"])
    got = front.post("chat/completions", ASK, doxa_key=front.key, doxa_user=front.user)
    assert (got.status_code, got.text) == (200, WRONG) and "doxa-verdict" not in got.headers


@pytest.mark.parametrize("path", ["chat/completions", "responses"])
def test_block_sends_no_request_on_that_cannot_be_read(verifying, played, path):
    """An upstream that reads more than JSON would answer it, unchecked; in other modes it may."""
    for mode, status in (("block", 400), ("repair", 200)):
        front = verifying(mode)
        own = {"authorization": "Bearer sk-own"}  # with the key of the operator a response has to be read in any mode
        got = front.post(path, b"{'model': 'm'}", doxa_key=front.key, doxa_user=front.user, **own)
        assert got.status_code == status
        assert len(front.upstream.sent) == (status == 200)
        assert status == 200 or "no JSON object" in got.json()["error"]["message"]


def test_a_reply_in_parts_is_checked_as_well(verifying, played):
    """Some servers write the content of a message as a list."""
    front = verifying("block")
    parts = [{"type": "text", "text": WRONG}]
    front.upstream.play = lambda sent: played.reply(played.chat(None, message={"content": parts}))
    got = front.post("chat/completions", ASK, doxa_key=front.key, doxa_user=front.user)
    assert got.status_code == 200 and "Rome" not in got.text and "Lisbon" in got.text
