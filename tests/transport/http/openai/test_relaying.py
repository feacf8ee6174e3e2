"""What the official SDK sends and gets through the proxy, beside what it sends and gets directly."""

import json


def test_a_completion_is_the_same_as_direct(front):
    """The proxy gives the same completion, the raw body included."""
    ask = {"model": "gpt-test", "messages": [{"role": "user", "content": "Hi there."}]}
    direct = front.direct().chat.completions.with_raw_response.create(**ask)
    proxied = front.client().chat.completions.with_raw_response.create(**ask)
    assert proxied.content == direct.content
    assert front.upstream.sent[0].body == front.upstream.sent[1].body
    assert front.remembered(2) == [("user", "Ana", "Hi there."), ("assistant", "assistant", "Hello.")]
