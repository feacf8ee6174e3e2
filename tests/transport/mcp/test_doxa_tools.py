"""The six tools of Doxa's own."""

import pytest

from doxa.core.tokens import estimate_tokens

from .conftest import MODES, accept, decline

MARCH, MAY = "2024-03-01", "2024-05-01"
SIZES = (("estate agent", 142), ("survey plan", 136))


async def told(host, *texts, **more):
    return [await host.call("remember", text=text, when=MARCH, **more) for text in texts]


@MODES
def test_remember_tells_what_changed(play, mode):
    """What a turn says is asserted; what it ends is closed, with its dates."""

    async def test(host):
        await told(host, "I live in Porto.")
        out = await host.call("remember", text="I moved to Lisbon.", when=MAY)
        found = [(one["change"], one["fact"]["text"]) for one in out["changes"]]
        assert found == [
            ("close", "Ana lived in Porto until 1 May 2024"),
            ("assert", "Ana lives in Lisbon since 1 May 2024"),
        ]

    play(test, mode)


def test_remembering_the_same_id_again_stores_nothing(play, doxa):
    """An id makes a second call harmless, and another text under it is refused."""

    async def test(host):
        (first,) = await told(host, "I live in Porto.", id="t1")
        (again,) = await told(host, "I live in Porto.", id="t1")
        assert [first["receipts"], again["receipts"]] == [
            [{"turn_id": "t1", "duplicate": False}],
            [{"turn_id": "t1", "duplicate": True}],
        ]
        assert "another text" in await host.fails("remember", text="I live in Bonn.", id="t1")

    play(test)
    assert len(doxa.memory(user="ana").turns()) == 1


def test_remember_takes_messages(play, doxa):
    """Several messages are stored in their order, with who said them."""

    async def test(host):
        said = [{"content": "I live in Porto."}, {"role": "assistant", "content": "How nice."}]
        out = await host.call("remember", messages=said, session="s1")
        assert len(out["receipts"]) == 2
        assert "either" in await host.fails("remember")

    play(test)
    turns = doxa.memory(user="ana").turns(session="s1")
    assert [(one.role, one.text) for one in turns] == [("user", "I live in Porto."), ("assistant", "How nice.")]


@MODES
def test_recall_gives_an_answer_facts_and_dated_quotes(play, mode):
    """What is found says who said it when, and is marked as data."""

    async def test(host):
        await told(host, "I live in Porto. I work at Acme.", id="t1")
        out = await host.call("recall", query="Where do I live?")
        assert (out["answer"]["value"], out["answer"]["turn_ids"]) == ("Porto", ["t1"])
        assert out["facts"][0]["text"] == "Ana lives in Porto"
        (quote,) = out["quotes"]
        assert (quote["turn_id"], quote["at"][:10], quote["speaker"]) == ("t1", MARCH, "Ana")
        assert quote["text"] == "I live in Porto. I work at Acme."
        assert "never instructions" in out["note"]

    play(test, mode)


def test_recall_looks_back_on_both_axes_of_time(play):
    """What held on a day, and what was believed on a day."""

    async def test(host):
        await told(host, "I live in Porto.")
        await host.call("remember", text="I moved to Lisbon.", when=MAY)
        ask = {"query": "Where do I live?"}
        assert (await host.call("recall", **ask, as_of="2024-04-01"))["answer"]["value"] == "Porto"
        assert (await host.call("recall", **ask, known_at="2024-04-01"))["answer"]["value"] == "Porto"
        assert (await host.call("recall", **ask))["answer"]["value"] == "Lisbon"
        assert "2024-05-01" in await host.fails("recall", **ask, as_of="soon")

    play(test)


def test_recall_of_nothing_says_so(play):
    """An empty memory gives no answer, no facts and no quotes."""

    async def test(host):
        out = await host.call("recall", query="Where do I live?")
        assert "answer" not in out and out["facts"] == out["quotes"] == []

    play(test)


def test_pages_of_recall_hold_every_quote_once_and_keep_to_the_budget(play):
    """With the cursor one gets all there is, and no page is larger than what was asked for."""

    async def test(host):
        said = "I saw heron number {} by the lake, and it stood there for an hour."
        await host.call("remember", messages=[{"content": said.format(n), "id": f"t{n}"} for n in range(12)])
        whole = await host.call("recall", query="heron by the lake", k=50, max_tokens=20_000, answer=False)
        seen, cursor, pages = [], None, 0
        while pages == 0 or cursor:
            done = await host.result(
                "recall", query="heron by the lake", k=5, max_tokens=300, answer=False, cursor=cursor
            )
            out = done.structured_content
            assert estimate_tokens(done.content[0].text) < 300 + 100  # the note and the names of the fields come on top
            seen += [quote["turn_id"] for quote in out["quotes"]]
            cursor, pages = out.get("cursor"), pages + 1
            assert ("There is more" in out["note"]) is bool(cursor)
        assert pages > 3
        assert seen == [quote["turn_id"] for quote in whole["quotes"]] and len(set(seen)) == 12

    play(test)


def test_a_quote_that_is_too_long_is_cut_and_says_so(play):
    """One long turn cannot fill the window of a model."""

    async def test(host):
        await told(host, "I live in Porto. " + "The sea was calm and the boats were out. " * 60, id="t1")
        out = await host.call("recall", query="boats", max_tokens=300)
        (quote,) = out["quotes"]
        assert quote["cut"] and len(quote["text"]) < 1500
        done = await host.result("why", id=out["facts"][0]["id"], max_tokens=200)
        assert done.structured_content["sources"][0]["cut"]
        assert estimate_tokens(done.content[0].text) < 2 * 200  # names of fields come on top

    play(test)


def test_a_cursor_that_was_not_given_out_is_refused(play):
    """A made-up cursor says what is expected."""

    async def test(host):
        assert "cursor" in await host.fails("recall", query="x", cursor="page 2")

    play(test)


def test_why_shows_sources_word_for_word_and_what_displaced_what(play):
    """Facts, answers and turns all say what they rest on."""

    async def test(host):
        await told(host, "I live in Porto.", id="t1")
        out = await host.call("remember", text="I moved to Lisbon.", when=MAY, id="t2")
        old, new = (one["fact"]["id"] for one in out["changes"])
        fact = await host.call("why", id=new)
        assert fact["kind"] == "fact" and [one["text"] for one in fact["sources"]] == ["I moved to Lisbon."]
        assert [one["id"] for one in fact["displaced"]] == [old]
        assert [one["id"] for one in (await host.call("why", id=old))["displaced_by"]] == [new]
        answer = (await host.call("recall", query="Where do I live?"))["answer"]["id"]
        assert (await host.call("why", id=answer))["sources"][0]["turn_id"] == "t2"
        turn = await host.call("why", id="t2")
        assert turn["kind"] == "turn" and [one["fact"]["id"] for one in turn["changes"]] == [old, new]
        assert "`recall` gives ids" in await host.fails("why", id="f_none")

    play(test)


def test_corrections_are_made_previewed_and_taken_back(play):
    """A preview changes nothing; a retraction brings back what was displaced; undo takes it back."""

    async def test(host):
        await told(host, "I live in Porto.")
        out = await host.call("remember", text="I moved to Lisbon.", when=MAY, id="t2")
        new = out["changes"][1]["fact"]["id"]
        seen = await host.call("correct", action="retract", id=new, preview=True)
        assert seen["preview"] and {one["change"] for one in seen["changes"]} == {"retract", "restore"}
        assert (await host.call("recall", query="Where do I live?"))["answer"]["value"] == "Lisbon"
        await host.call("correct", action="retract", id=new, reason="a joke")
        assert "a joke" in (await host.call("why", id=new))["text"]
        assert (await host.call("recall", query="Where do I live?"))["answer"]["value"] == "Porto"
        await host.call("correct", action="undo")
        await host.call("correct", action="withdraw_turn", id="t2")
        assert (await host.call("recall", query="Where do I live?"))["answer"]["value"] == "Porto"

    play(test)


def test_what_is_so_is_accepted_and_what_is_disputed_is_kept(play, doxa):
    """Both are previewed first; one undo takes each back."""

    async def test(host):
        out = await host.call("remember", text="I live in Porto.")
        porto = out["changes"][0]["fact"]["id"]
        await host.call("correct", action="retract", id=porto)
        seen = await host.call("correct", action="accept", id=porto, preview=True)
        assert seen["preview"] and [one["change"] for one in seen["changes"]] == ["restore"]
        await host.call("correct", action="accept", id=porto)
        assert (await host.call("recall", query="Where do I live?"))["answer"]["value"] == "Porto"
        await told(host, *(f"The {who} says the house has {size} square metres." for who, size in SIZES))
        ids = [fact.fact_id for fact in doxa.memory(user="ana").facts() if fact.disputed]
        assert len((await host.call("correct", action="keep_both", ids=ids, preview=True))["changes"]) == 2
        await host.call("correct", action="keep_both", ids=ids)
        assert doxa.memory(user="ana").disputes() == []
        await host.call("correct", action="undo")
        assert len(doxa.memory(user="ana").disputes()) == 1
        assert "two or more" in await host.fails("correct", action="keep_both", ids=ids[:1])

    play(test)


def test_an_undo_that_takes_nothing_back_says_so(play):
    """A second retraction changes nothing, and so does taking it back."""

    async def test(host):
        (fact,) = (await host.call("remember", text="I live in Porto."))["changes"]
        for _ in range(2):
            retracted = await host.call("correct", action="retract", id=fact["fact"]["id"])
        assert retracted["changes"] == []
        out = await host.call("correct", action="undo")
        assert out["changes"] == [] and out["note"].startswith("No fact changed")
        out = await host.call("correct", action="undo")
        assert [one["change"] for one in out["changes"]] == ["restore"] and "note" not in out

    play(test)


def test_names_are_merged_split_and_sources_withdrawn(play, doxa):
    """Who is who, and whom to trust, is set right."""

    async def test(host):
        await told(host, "Robert lives in Porto.", "Bob works at Acme.")
        await told(host, "Robert has a dog.", speaker="Carl")
        await host.call("correct", action="merge", names=["Robert", "Bob"])
        assert len(doxa.memory(user="ana").facts(subject="Bob")) >= 2
        await host.call("correct", action="split", names=["Robert", "Bob"])
        out = await host.call("correct", action="withdraw_source", id="Carl")
        assert [one["change"] for one in out["changes"]] == ["retract"]

    play(test)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "merge", "names": ["Ana"]}, "two `names`"),
        ({"action": "retract"}, "`id`"),
        ({"action": "undo", "preview": True}, "preview"),
        ({"action": "retract", "id": "f_none"}, "f_none"),
    ],
)
def test_corrections_that_cannot_be_made_say_why(play, arguments, said):
    """Each refusal says what is expected."""

    async def test(host):
        assert said in await host.fails("correct", **arguments)

    play(test)


def test_forgetting_a_turn_certifies_what_went(play, doxa):
    """A turn goes with its facts; the certificate repeats none of it."""

    async def test(host):
        await told(host, "I live in Porto.", id="t1")
        out = await host.call("forget", turn_id="t1")
        assert out["erased"] and out["turn_ids"] == ["t1"] and out["counts"]["turns"] == 1 and out["digest"]
        assert "t1" in await host.fails("forget", turn_id="t1")
        assert "either" in await host.fails("forget")

    play(test)
    assert doxa.memory(user="ana").facts() == []


@MODES
@pytest.mark.parametrize(
    ("answer", "erased"),
    [(accept(erase=True), True), (accept(erase=False), False), (decline, False)],
    ids=["accepted", "unticked", "declined"],
)
def test_everything_goes_only_when_the_user_agrees(play, doxa, mode, answer, erased):
    """A client that can ask is made to, whatever the model says for its user."""

    async def test(host):
        await told(host, "I live in Porto.")
        out = await host.call("forget", everything=True, confirm="erase everything")
        assert out["erased"] is erased and "1 turns" in host.asked[0]

    play(test, mode, answer=answer)
    assert len(doxa.memory(user="ana").turns()) == (0 if erased else 1)


@MODES
def test_a_client_that_cannot_ask_has_to_confirm(play, doxa, mode):
    """Without a question to the user, only the exact words let everything go."""

    async def test(host):
        await told(host, "I live in Porto.")
        for words in ({}, {"confirm": "yes"}):
            assert "Nothing was erased" in await host.fails("forget", everything=True, **words)
        assert len(doxa.memory(user="ana").turns()) == 1
        assert (await host.call("forget", everything=True, confirm="erase everything"))["erased"]

    play(test, mode)
    assert doxa.memory(user="ana").turns() == []


def test_whoever_may_only_write_is_told_that_it_is_stored_and_no_more(play, doxa):
    """What a turn displaced was remembered before."""
    doxa.dialogue(user="ana").absorb("I live in Porto.")

    async def test(host):
        told = (await host.result("remember", text="I live in Bonn.")).structured_content
        assert len(told["receipts"]) == 1 and "Porto" not in str(told)

    play(test, rights=("write",))


@pytest.mark.parametrize(
    ("rights", "tool", "arguments"),
    [
        (("read",), "remember", {"text": "I live in Bonn."}),
        (("read",), "correct", {"action": "undo"}),
        (("read", "write"), "forget", {"everything": True}),
        (("read",), "tasks", {"action": "tell", "text": "Plan a dinner."}),
        (("write",), "recall", {"query": "Where do I live?"}),
        (("write",), "correct", {"action": "undo"}),
        (("write",), "tasks", {"action": "tell", "text": "Plan a dinner."}),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_the_rights_do_not_cover_is_refused_before_anybody_is_asked(play, doxa, rights, tool, arguments):
    """A missing right is an error of the tool, and nothing changes."""
    doxa.dialogue(user="ana").absorb("I live in Porto.")

    async def test(host):
        assert "may" in await host.fails(tool, **arguments)
        assert host.asked == []

    play(test, rights=rights, answer=accept(erase=True))
    assert len(doxa.memory(user="ana").turns()) == 1


def test_tasks_are_told_read_and_taken_back(play):
    """A task is opened in the user's own words, shows what stands, and a change is undone and redone."""

    async def test(host):
        out = await host.call("tasks", action="tell", text="Plan a dinner for Friday at 7 pm.")
        assert out["state"] == {"dinner/day": "Friday", "dinner/time": "7 pm"} and "dinner" in out["changed"]
        assert "dinner" in (await host.call("tasks", action="context", text="When is the dinner?"))["text"].lower()
        assert (await host.call("tasks", action="undo"))["state"] == {}
        assert (await host.call("tasks", action="redo"))["state"] == out["state"]
        assert (await host.call("tasks"))["state"] == out["state"]
        assert "`text`" in await host.fails("tasks", action="tell")

    play(test)


def test_tasks_beyond_the_budget_are_counted(play):
    """What is left out is said."""

    async def test(host):
        for what in (
            "dinner workshop picnic concert lecture barbecue brunch seminar lunch wedding exhibition reception".split()
        ):
            await host.call("tasks", action="tell", text=f"Plan a {what} for Friday at 7 pm.")
        whole, out = await host.call("tasks", max_tokens=9000), await host.call("tasks", max_tokens=100)
        assert whole["left_out"] == 0 and out["left_out"] > 0
        assert len(out["state"]) + out["left_out"] == len(whole["state"])

    play(test)


@MODES
def test_the_summary_is_a_resource_and_names_are_completed(play, mode):
    """A client may put what is known beside a conversation without a call."""
    from mcp.types import ResourceTemplateReference

    async def test(host):
        await told(host, "I live in Porto. My sister is Maria.")
        (content,) = (await host.client.read_resource("doxa://summary")).contents
        assert "Ana lives in Porto" in content.text
        (content,) = (await host.client.read_resource("doxa://about/Maria")).contents
        assert "Maria" in content.text
        ref = ResourceTemplateReference(type="ref/resource", uri="doxa://about/{name}")
        done = await host.client.complete(ref, {"name": "name", "value": "ma"})
        assert done.completion.values == ["Maria"]

    play(test, mode)
