"""mem0's asynchronous client."""

import asyncio

import pytest
from mem0 import AsyncMemoryClient
from mem0.exceptions import MemoryNotFoundError

MINE = {"user_id": "ana"}


def test_the_asynchronous_client_does_the_same(place, texts):
    """Every method that the other one has, one after the other."""

    async def everything() -> None:
        async with AsyncMemoryClient(api_key=place.key("ana"), host=place.url) as ana:
            told = await ana.add("I live in Rome.", user_id="ana", run_id="r1")
            memory_id = told["results"][0]["id"]
            assert (await ana.get(memory_id))["memory"] == "Ana lives in Rome"
            assert texts(await ana.search("Where do I live?", filters=MINE)) == ["Ana lives in Rome"]
            assert texts(await ana.get_all(filters=MINE, page=1, page_size=5)) == ["Ana lives in Rome"]
            assert (await ana.update(memory_id, text="I live in Bonn."))["id"] == memory_id
            assert len(await ana.history(memory_id)) == 2
            await ana.batch_update([{"memory_id": memory_id, "metadata": {"a": 1}}])
            assert [one["type"] for one in (await ana.users())["results"]] == ["run", "user"]
            assert "Bonn" in (await ana.get_summary(filters=MINE))["summary"]
            assert (await ana.project.get())["name"] == place.tenant
            await ana.batch_delete([{"memory_id": memory_id}])
            with pytest.raises(MemoryNotFoundError):
                await ana.delete(memory_id)
            await ana.add("I live in Rome.", user_id="ana")
            await ana.delete_all(user_id="ana")
            await ana.add("I live in Rome.", user_id="ana")
            await ana.delete_users(user_id="ana")
            assert texts(await ana.get_all(filters=MINE)) == []

    asyncio.run(everything())


def test_additions_at_the_same_time_are_all_kept(place, texts):
    """Each is answered with what it made, and all can be read afterwards."""

    async def together() -> list[str]:
        async with AsyncMemoryClient(api_key=place.key("ana"), host=place.url) as ana:
            said = [ana.add(f"What a gruesome day number {n}.", user_id="ana") for n in range(12)]
            for n, told in enumerate(await asyncio.gather(*said)):
                assert texts(told) == [f"What a gruesome day number {n}."]
            return texts(await ana.get_all(filters=MINE))

    assert len(asyncio.run(together())) == 12
