"""What of a conversation is remembered, as what, and how often."""

import openai
import pytest

from doxa.engine import Keys
from doxa.transport.http.openai import hearing


def test_results_of_tools_are_remembered_as_such(front, played):
    """What a tool gave is a turn of the tool that was called, and not of the user."""
    client = front.client()
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    asked = {"role": "user", "content": "How warm is it?"}
    front.upstream.play = lambda sent: played.reply(played.chat(None, message={"tool_calls": [call]}))
    client.chat.completions.create(model="m", messages=[asked])
    front.upstream.play = lambda sent: played.reply(played.chat("It is warm."))
    called = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c1", "content": '{"celsius": 21}'}
    client.chat.completions.create(model="m", messages=[{"role": "system", "content": "S."}, asked, called, result])
    assert front.remembered(3) == [
        ("user", front.name, "How warm is it?"),
        ("tool", "weather", '{"celsius": 21}'),
        ("assistant", "assistant", "It is warm."),
    ]


def test_a_history_that_is_sent_again_is_not_stored_again(front):
    """Each message is stored once, also after a retry and when the SDK adds fields to what it sends back."""
    client = front.client()
    messages = []
    for text in ("My cat is called Tom.", "He is black.", "yes", "yes"):
        messages.append({"role": "user", "content": text})
        reply = client.chat.completions.create(model="m", messages=messages)
        client.chat.completions.create(model="m", messages=messages)
        messages.append(reply.choices[0].message.to_dict())
        front.remembered(len(messages))
    assert [text for _, _, text in front.turns()] == [one["content"] for one in messages]


def test_instructions_and_examples_are_not_what_the_user_said(front):
    """System messages, and what stands before the last word of the assistant, are not taken for news."""
    messages = [
        {"role": "developer", "content": "Answer in French."},
        {"role": "user", "content": "I live in Paris."},
        {"role": "assistant", "content": "Oui."},
        {"role": "user", "content": "Thanks a lot."},
    ]
    front.client().chat.completions.create(model="m", messages=messages)
    assert front.remembered(2)[0] == ("user", front.name, "Thanks a lot.")


def test_without_a_session_the_first_words_make_one(front):
    """A conversation that names no session is one by how it begins."""
    client = front.client(session=None)
    first = {"role": "user", "content": "My boat is blue."}
    raw = client.chat.completions.with_raw_response
    one = raw.create(model="m", messages=[first])
    more = [first, {"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Nice, is it?"}]
    two = raw.create(model="m", messages=more)
    other = raw.create(model="m", messages=[{"role": "user", "content": "Something else."}])
    assert one.headers["doxa-session"] == two.headers["doxa-session"] != other.headers["doxa-session"]
    named = raw.create(model="m", messages=[first], metadata={"session": "s7"})
    cached = raw.create(model="m", messages=[first], prompt_cache_key="k1")
    assert [named.headers["doxa-session"], cached.headers["doxa-session"]] == ["s7", "k1"]


def test_the_user_may_be_named_as_openai_has_it(front):
    """`user`, `safety_identifier` and `metadata.user` name the user of a key that opens several."""
    client = front.client(user=None)
    names = [f"{front.user}{letter}" for letter in "abc"]
    fields = [{"user": names[0]}, {"safety_identifier": names[1]}, {"metadata": {"user": names[2]}}]
    for field in fields:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello you."}], **field)
    for name in names:
        front.remembered(2, name)
    with pytest.raises(openai.PermissionDeniedError, match="Doxa-User"):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello you."}])


def test_a_key_of_one_user_opens_no_other(front):
    """The field `user` is no way into another memory, and the header is refused."""
    _, key = Keys(front.doxa).add(users=[front.user])
    body = {"messages": [{"role": "user", "content": "Hello you."}], "user": "somebody-else"}
    assert front.post("chat/completions", body, authorization=f"Bearer {key}").status_code == 200
    front.remembered(2)
    refused = front.post("chat/completions", body, authorization=f"Bearer {key}", doxa_user="somebody-else")
    assert refused.status_code == 403 and refused.json()["error"]["type"] == "permission_error"
    assert front.turns("somebody-else") == []


def test_a_key_that_may_not_write_is_refused(front):
    """Nothing is sent to the upstream for a key that may only read."""
    _, key = Keys(front.doxa).add(users=[front.user], rights=["read"])
    body = {"messages": [{"role": "user", "content": "Hello you."}]}
    refused = front.post("chat/completions", body, authorization=f"Bearer {key}")
    assert refused.status_code == 403 and front.upstream.sent == []


def test_the_words_of_the_user_are_stored_before_the_answer_is_there(front):
    """Whoever has an answer can read back what was asked."""
    front.client().chat.completions.create(model="m", messages=[{"role": "user", "content": "My boat is blue."}])
    assert front.turns()[0] == ("user", front.name, "My boat is blue.")


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_a_reply_that_is_too_large_is_relayed_and_not_kept(front, played, monkeypatch, streams):
    """It reaches the client in full; the memory goes on with the next one."""
    monkeypatch.setattr(hearing, "MOST_BYTES", 3000)
    long = "It rains. " * 400
    client = front.client()
    front.upstream.play = lambda sent: (
        played.reply(played.chunks(*[long[:2000], long[2000:]]), headers=played.STREAM)
        if streams
        else played.reply(played.chat(long))
    )
    headers = {"doxa_key": front.key, "doxa_user": front.user, "doxa_session": "s1"}
    asked = {"model": "m", "messages": [{"role": "user", "content": "How is it?"}], "stream": streams}
    assert front.post("chat/completions", asked, **headers).text.count("It rains. ") >= 399
    front.upstream.play = lambda sent: played.reply(played.chat("It stopped."))
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "And now?"}])
    assert [text for _, _, text in front.remembered(3)] == ["How is it?", "And now?", "It stopped."]


def test_what_was_heard_of_a_reply_that_is_too_large_is_let_go(monkeypatch):
    """However much more comes, nothing of it stays."""
    monkeypatch.setattr(hearing, "MOST_BYTES", 10)
    heard = hearing.Heard(chat=True)
    for _ in range(100):
        heard.add(b"x" * 6)
    heard.whole = True
    with pytest.raises(ValueError, match="more than 10 bytes"):
        _ = heard.body
    assert heard.text() == "" and heard.size == 600 and not heard._pieces


def test_a_reply_that_came_behind_an_erasure_is_not_remembered(front, played):
    """The upstream may have been told of what was erased while it wrote; what is said later is remembered again."""
    memory = front.doxa.memory(user=front.user)
    front.doxa.dialogue(user=front.user, session="s0").absorb("I live in Zanzibar.", turn_id="secret")

    def answers(sent):
        front.until(lambda: "Where do I live?" in str(front.turns()))
        memory.forget(turn_id="secret")
        return played.reply(played.chat("You live in Zanzibar."))

    front.upstream.play = answers
    ask = front.client().chat.completions.create
    ask(model="m", messages=[{"role": "user", "content": "Where do I live?"}])
    front.upstream.play = lambda sent: played.reply(played.chat("Of course."))
    ask(model="m", messages=[{"role": "user", "content": "May I ask more?"}])
    assert [text for _, _, text in front.remembered(3)] == ["Where do I live?", "May I ask more?", "Of course."]
