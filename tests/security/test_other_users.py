"""Nobody reads, or erases, the memory of somebody whose name is much like their own."""

import json
import random
import unicodedata
from pathlib import Path

import pytest

from doxa.core.access import Scope
from doxa.core.errors import DoxaError, NotFoundError
from doxa.core.shared import origin_of, qualified
from doxa.engine import Doxa, Handle, Keys
from doxa.engine.wiring.heads import TAUGHT
from doxa.engine.wiring.learned import file_of
from doxa.transport.http.access import Room
from doxa.transport.mcp.recalling import recall, why
from doxa.transport.mcp.rooms import entered

from .conftest import light

TENANTS = ["default", "Default", "default/ana", "..", ".", "ana", "%2F", "é", "e\u0301", "x" * 200, "*"]
QUESTION = "Where do I live?"
ON_A_FILE = pytest.mark.parametrize("place", ["file"], indirect=True)
"""Routes are the same whatever is behind them."""


def city(place: int) -> str:
    """Return a word that only one user has said."""
    return "Q" + "".join(chr(ord("a") + int(digit)) for digit in f"{place:04}") + "ville"


class Town:
    """An engine in which everybody has told where they live, each under the same turn id."""

    def __init__(self, doxa: Doxa, names: list[str]) -> None:
        self.doxa = doxa
        self.cities: dict[str, str] = {}
        for place, name in enumerate(names):
            try:
                doxa.dialogue(user=name, speaker="Ana").absorb(f"I live in {city(place)}.", turn_id="t1")
            except DoxaError:
                continue  # a name that is refused has no memory to be read
            self.cities[name] = city(place)
        doxa.flush()

    def strangers(self, text: str, user: str) -> list[str]:
        """Return the words of others in a text."""
        return [word for name, word in self.cities.items() if name != user and word in text]


@pytest.fixture(scope="module", params=["file", "postgres"])
def place(request, tmp_path_factory):
    """Where a database may be."""
    if request.param == "file":
        yield str(tmp_path_factory.mktemp("users") / "memory.db")
        return
    server = request.getfixturevalue("postgres")
    name = server.take()
    yield server.url(name)
    server.give_back(name)


@pytest.fixture(scope="module")
def town(place, names):
    """A town that no test changes."""
    with Doxa.open(place, config=light()) as doxa:
        yield Town(doxa, names)
        if not place.endswith(".db"):
            for user in doxa.users():
                doxa.memory(user=user).forget(everything=True)


def test_every_name_that_is_taken_has_a_memory_of_its_own(town, names):
    """What was refused was refused with an error of ours, and nobody else is there."""
    assert set(town.doxa.users()) == set(town.cities)
    assert len(town.cities) > 100 and {"ana", "Ana", "аna", "ana "} <= town.cities.keys()


def test_all_that_a_memory_tells_is_its_own(town, tmp_path):
    """Turns, facts, changes, answers, a search for the words of others, and an export."""
    pairs, dice = 0, random.Random(1)
    for user in town.cities:
        memory = town.doxa.memory(user=user)
        others = " ".join(dice.sample(sorted(town.cities.values()), 6))
        told = [memory.turns(), memory.facts(current=False), memory.history(), memory.summary(), memory.entities()]
        told += [memory.search(f"{QUESTION} {others}"), town.doxa.dialogue(user=user).ask(QUESTION)]
        told += [memory.export(tmp_path / "memory.jsonl").read_text(encoding="utf-8")]
        whole = repr(told)
        assert town.cities[user] in whole
        assert town.strangers(whole.replace(others, ""), user) == [], user
        pairs += len(town.cities) - 1
    assert pairs > 10_000


@ON_A_FILE
def test_a_tool_of_mcp_finds_the_room_that_it_is_in(town):
    """Neither a query nor an id leads to another one."""
    for user in random.Random(6).sample(sorted(town.cities), 60):
        scope = Scope(tenant="default", user=user, rights=("read",), key_id="k")
        with entered(Room(scope, town.doxa)):
            found = recall(" ".join(list(town.cities.values())[:20])).model_dump_json()
            found += recall(QUESTION).model_dump_json() + why("t1").model_dump_json()
        assert town.cities[user] in found and town.strangers(found, user) == [], user


def as_header(name: str) -> bytes | None:
    """Return a name as a header has it; None where it cannot stand in one."""
    raw = name.encode("utf-8", "surrogatepass")
    return None if set(raw) & set(b"\0\r\n") else raw


@ON_A_FILE
def test_the_key_of_one_user_opens_no_memory_of_another(town, client, secret_for):
    """Whatever stands in the header; thousands of pairs."""
    http, dice, tried = client(town.doxa), random.Random(2), 0
    users = list(town.cities)
    for user in dice.sample(users, 40):
        key = {"Authorization": f"Bearer {secret_for(town.doxa, user)}"}
        for other in dice.sample(users, 50):
            if (header := as_header(other)) is None:
                continue
            answer = http.get("/v1/memory/turns", headers={**key, "Doxa-User": header})
            read = town.strangers(answer.text, user)
            assert answer.status_code in (200, 403) and not read, (user, other, answer.text[:200])
            tried += 1
    assert tried > 1_500


@ON_A_FILE
def test_the_protocol_of_mem0_opens_no_memory_of_another(town, client, secret_for):
    """By name, by filter, or by the id of a memory, which is no secret."""
    http, dice, users = client(town.doxa), random.Random(3), list(town.cities)
    for user in dice.sample(users, 25):
        key = {"Authorization": f"Token {secret_for(town.doxa, user)}"}
        for other in dice.sample(users, 20):
            fact = town.doxa.memory(user=other).facts()[0].fact_id
            answers = [
                http.post("/v2/memories/", json={"filters": {"user_id": other}}, headers=key),
                http.post(
                    "/v2/memories/", json={"filters": {"OR": [{"user_id": user}, {"user_id": other}]}}, headers=key
                ),
                http.post("/v2/memories/search/", json={"query": QUESTION, "user_id": other}, headers=key),
                http.get(f"/v1/memories/{Handle(other, 'fact', fact)}/", headers=key),
                http.get(f"/v1/memories/{Handle(other, 'fact', fact)}/history/", headers=key),
            ]
            if user != other:
                assert all(one.status_code in (400, 403, 404, 422) for one in answers), (user, other)
            assert not any(town.strangers(one.text, user) for one in answers), (user, other)


@ON_A_FILE
def test_the_proxy_answers_from_the_memory_that_a_request_names(town, client, secret_for):
    """An application with one key for everybody names its users in a field, as they are written."""
    http = client(town.doxa, secret_for(town.doxa, "*"))
    for user in random.Random(4).sample(sorted(town.cities), 40):
        for field in ({"user": user}, {"metadata": {"user": user}}):
            said = {"model": "doxa", "messages": [{"role": "user", "content": QUESTION}], **field}
            answer = http.post("/openai/v1/chat/completions", content=json.dumps(said))
            if answer.status_code == 200:
                assert town.cities[user] in answer.text, (user, answer.text)
            assert town.strangers(answer.text, user) == [], user


def test_no_two_users_share_a_file(names, tmp_path):
    """Snapshots, learned weights and marks; inside the folder, on a disk that knows no case as well."""
    taken = [name for name in names if name.isprintable() or "\ud800" not in name]
    scopes = [(tenant, name) for tenant in TENANTS for name in taken if "\udc00" not in name]
    found = {file_of(tmp_path, tenant, name) for tenant, name in scopes}
    alike = {unicodedata.normalize("NFKD", str(path)).casefold() for path in found}
    assert len(alike) == len(found) == len(set(scopes))
    for path in found:
        assert path.resolve().is_relative_to(tmp_path.resolve()) and len(path.relative_to(tmp_path).parts) == 2
        assert all(len(part.encode()) <= 128 for part in path.relative_to(tmp_path).parts)


def test_a_memory_that_is_erased_takes_no_other_with_it(tmp_path, names):
    """Every name can be erased, whatever file its owner has, and the others keep theirs."""
    place = tmp_path / "memory.db"
    with Doxa.open(place, config=light()) as doxa:
        town = Town(doxa, names)
        for user in town.cities:
            weights = doxa.parts.learned.of(user)
            assert doxa.parts.learned.put(user, weights, expected=weights)
        left = sorted(town.cities)
        random.Random(5).shuffle(left)
        while left:
            gone = [left.pop() for _ in range(min(12, len(left)))]
            for user in gone:
                doxa.memory(user=user).forget(everything=True)
            assert sorted(doxa.users()) == sorted(left)
            assert all(doxa.parts.learned.can_restore(user) for user in left)
            for user in left[:5]:
                assert town.cities[user] in repr(doxa.memory(user=user).turns())
        files = [path for path in Path(f"{place}.learned").rglob("*") if path.is_file()]
        assert files == [] and not [*Path(f"{place}{TAUGHT}").rglob("*.*")]


def test_ids_of_shared_memories_name_one_memory(names):
    """And nobody can name a turn of their own so that it looks like one of a shared memory."""
    for name in names:
        if name.isprintable():
            origin = origin_of(qualified(name, "a/t1"))
            assert origin is not None and tuple(origin) == (name, "a/t1")
    assert len({qualified(name, "t1") for name in names if name.isprintable()}) == sum(map(str.isprintable, names))


@ON_A_FILE
def test_ids_of_another_memory_find_nothing(town):
    """Facts and turns are looked for in the own memory alone."""
    ana, other = town.doxa.memory(user="ana"), town.doxa.memory(user="Ana")
    fact = other.facts()[0].fact_id
    with pytest.raises(NotFoundError):
        ana.why(fact)
    assert [turn.text for turn in ana.turns(["t1"])] == [f"I live in {town.cities['ana']}."]


def test_no_key_is_made_for_everybody_by_the_name_of_a_user(doxa):
    """`*` opens every memory in a key, so that nobody can be called that."""
    with pytest.raises(DoxaError):
        doxa.dialogue(user="*").absorb("I live in Rome.")
    assert Keys(doxa).add(users=["*"])[0].opens("ana")
