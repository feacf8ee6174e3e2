"""A memory that everybody reads, as an agent with tools sees it."""

HANDBOOK = "acme-handbook"


def test_an_agent_recalls_it_asks_why_and_cannot_erase_it(play, shared):
    async def session(host):
        found = await host.call("recall", query="When does the Lisbon office open?")
        key = "shared:acme-handbook/hours"
        assert found["answer"]["value"] == "nine" and found["answer"]["turn_ids"] == [key]
        assert [one["turn_id"] for one in found["quotes"]] == [key]
        why = await host.call("why", id=key)
        assert HANDBOOK in why["text"] and why["sources"][0]["text"] == "The Lisbon office opens at nine."
        await host.fails("forget", turn_id=key)
        assert (await host.call("why", id=key))["sources"] == why["sources"]

    play(session)
