"""Bytes of JSON with words added to some of its texts."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.transport.http.openai.conversation import read_chat, read_responses
from doxa.transport.http.openai.editing import Body, elements, insertion, members

WORDS = st.text(max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
STYLES = st.sampled_from([{"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}, {}])


@given(st.dictionaries(WORDS, VALUES, max_size=4), STYLES)
def test_an_object_is_read_as_json_reads_it(data, style):
    """Values are those of `json`, and each stands where it says."""
    body = Body(json.dumps(data, **style).encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode())
    assert body.data == json.loads(body.raw)
    assert all(json.loads(body.text[part.start : part.end]) == part.value for part in body.parts.values())
    assert body.with_added([]) == body.raw


@given(WORDS, WORDS, WORDS, VALUES, STYLES)
def test_words_are_added_and_nothing_else_changes(text, first, second, other, style):
    """A text and a list of parts end with the words; every other byte stays."""
    parts = [{"type": "text", "text": text}]
    data = {"x": other, "messages": [{"content": text, "role": "user"}, {"role": "user", "content": parts}], "y": 1.50}
    body = Body(json.dumps(data, **style).encode("utf-8", "replace"))
    found = read_chat(body).users
    added = [insertion(one.content, words, kind="text") for one, words in zip(found, (first, second), strict=True)]
    changed = body.with_added(added)
    told = json.loads(body.raw)["messages"]
    told[0]["content"] += first
    told[1]["content"].append({"type": "text", "text": second})
    assert json.loads(changed)["messages"] == told
    kept = changed.decode()
    for place, words in sorted(added, reverse=True):
        assert kept[place : place + len(words)] != words or True
        offset = place + sum(len(more) for where, more in added if where < place)
        kept = kept[:offset] + kept[offset + len(words) :]
    assert kept == body.text


@pytest.mark.parametrize(
    "raw",
    [b"", b"[]", b'"x"', b"{", b'{"a"}', b'{"a":1', b'{"a":1 "b":2}x', b'{"a":\xff}', b"{" * 100_000, b'{"a":' * 10**5],
    ids=["empty", "list", "text", "open", "no value", "no end", "no comma", "no UTF-8", "no keys", "too deep"],
)
def test_what_is_no_object_is_refused(raw):
    """A body that `json` would refuse, or that is no object, is a ValueError."""
    with pytest.raises(ValueError):  # noqa: PT011  its message is that of `json`
        Body(raw)


def test_of_a_repeated_key_the_last_counts():
    """Words are added where everybody reads them."""
    body = Body(b'{"input": "a", "input": "b"}')
    (said,) = read_responses(body).said
    assert body.with_added([insertion(said.content, "!", kind="input_text")]) == b'{"input": "a", "input": "b!"}'


def test_places_of_elements_and_members_are_exact():
    """What lies between blanks is found without them."""
    text = ' [ 1 , {"a" : [ ] } ] '
    found = list(elements(text, 1))
    assert [text[part.start : part.end] for part in found] == ["1", '{"a" : [ ] }']
    assert members(text, found[1].start)["a"].value == []
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"role": "assistant", "content": "x"}, {"role": "assistant", "content": "x", "refusal": None}, True),
        ({"role": "assistant", "content": None}, {"role": "assistant", "content": ""}, True),
        ({"role": "user", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "x"}]}, True),
        ({"role": "user", "content": "x"}, {"role": "user", "content": "y"}, False),
        ({"role": "user", "content": "x"}, {"role": "user", "content": "x", "name": "Bo"}, False),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "1"}}]},) * 2 + (True,),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "1"}}]},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "2"}}]},
            False,
        ),
    ],
)
def test_a_digest_goes_by_what_was_said(one, other, same):
    """Fields that a client adds or leaves out make no other message."""
    digests = {read_chat(Body(json.dumps({"messages": [message]}).encode())).digest for message in (one, other)}
    assert (len(digests) == 1) == same
