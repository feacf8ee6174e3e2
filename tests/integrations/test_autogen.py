"""AutoGen's memory over a memory: the same calls as on its own, and what its own cannot do."""

import asyncio
import threading
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.core.errors import ClosedError, InputError

pytest.importorskip("autogen_core")

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import MemoryQueryEvent
from autogen_core import CancellationToken, ComponentModel, Image
from autogen_core.memory import ListMemory, Memory, MemoryContent, MemoryMimeType
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import AssistantMessage, ChatCompletionClient, CreateResult, RequestUsage, UserMessage
from PIL import Image as Pixels

from doxa.integrations.autogen import DoxaMemory

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))


def content(text, mime=MemoryMimeType.TEXT, **metadata):
    return MemoryContent(content=text, mime_type=mime, metadata=metadata or None)


CONTENTS = [
    content("Ana likes paella.", weight=1),
    content("# Tango\nis on *Monday*, café \U0001f600", "text/markdown", tags=["a", {"b": None}]),
    content({"top": "granite", "sizes": [1, 2.5, None]}, MemoryMimeType.JSON),
    content("<b>Ana</b>", "text/html"),
    content(b"\xff\x00raw", MemoryMimeType.BINARY),
    content(b"", "application/x-thing"),
    content(Image(Pixels.new("RGB", (2, 1), (1, 2, 3))), MemoryMimeType.IMAGE),
    content("  "),
    content(""),
    content("half a pair \ud800"),
    content({}, "application/json"),
]


@pytest.fixture
def own(shared):
    """A memory of a user whom nobody else has, from its settings."""
    return lambda **settings: DoxaMemory(shared, **({"user": uuid4().hex} | settings))


def shown(contents):
    """Return contents as they can be compared: an image by its bytes."""
    return [
        (one.content.to_base64() if isinstance(one.content, Image) else one.content, one.mime_type, one.metadata)
        for one in contents
    ]


def run(*calls):
    """Return what calls give, one after the other."""

    async def all_of_them():
        return [await call for call in calls]

    return asyncio.run(all_of_them())


def filled(memory, *contents):
    run(*(memory.add(one) for one in contents))
    return memory


def asked(memory, query="", **options):
    """Return the contents that a query gives."""
    return [one.content for one in run(memory.query(query, **options))[0].results]


def told(memory, *messages):
    """Return what an update of a context gives, and the messages that are in it then."""

    async def update():
        context = UnboundedChatCompletionContext()
        for message in messages:
            await context.add_message(message)
        result = await memory.update_context(context)
        return shown(result.memories.results), await context.get_messages()

    return asyncio.run(update())


def said(text):
    return UserMessage(content=text, source="user")


def test_it_is_a_memory_and_leads_to_the_engine(doxa):
    """By the base class of the framework."""
    memory = DoxaMemory(doxa, user="ana", name="list")
    assert isinstance(memory, Memory) and memory.name == "list" and memory.doxa is doxa
    assert DoxaMemory(doxa, user="ana").name == "default_doxa_memory"


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([], id="empty"),
        pytest.param([("add", one) for one in CONTENTS], id="any contents"),
        pytest.param([("add", CONTENTS[0])] * 2, id="one content twice"),
        pytest.param([("add", CONTENTS[0]), ("clear",), ("clear",), ("add", CONTENTS[1])], id="clear and add"),
        pytest.param([("add", CONTENTS[0]), ("close",), ("add", CONTENTS[1])], id="close and add"),
        pytest.param([("add", CONTENTS[0]), ("set", CONTENTS[1:4]), ("add", CONTENTS[0])], id="set and add"),
        pytest.param([("add", CONTENTS[0]), ("set", [])], id="set to nothing"),
    ],
)
def test_the_same_calls_give_the_same_as_the_memory_of_the_framework(own, calls):
    """Contents, order, kinds and metadata, and what a model is told before the user has said anything."""
    ours, theirs = own(top_k=len(CONTENTS)), ListMemory()
    for memory in (ours, theirs):
        for name, *args in calls:
            if name == "set":
                memory.content = list(args[0])
            else:
                run(getattr(memory, name)(*args))
    assert shown(ours.content) == shown(theirs.content)
    for query in ("", CONTENTS[5], CONTENTS[6]):
        assert shown(run(ours.query(query))[0].results) == shown(run(theirs.query(query))[0].results)
    ours_told, theirs_told = told(ours), told(theirs)
    assert [len(part) for part in ours_told] == [len(part) for part in theirs_told]
    for one, other in zip(ours_told[1], theirs_told[1], strict=True):
        assert one.content.split("Image object")[0] == other.content.split("Image object")[0]


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
TREE = st.dictionaries(st.text(max_size=4), PLAIN, max_size=3)
ANY = st.builds(
    MemoryContent,
    content=st.text(max_size=12) | st.binary(max_size=12) | TREE,
    mime_type=st.sampled_from([*MemoryMimeType, "text/plain", "x/y"]),
    metadata=st.none() | TREE,
)


@settings(max_examples=8, deadline=None)
@given(contents=st.lists(ANY, max_size=3))
def test_any_contents_come_back_as_they_were(shared, contents):
    """As from the memory of the framework."""
    ours = filled(DoxaMemory(shared, user=uuid4().hex), *contents)
    assert shown(ours.content) == shown(filled(ListMemory(), *contents).content)


def test_a_query_with_words_finds_what_bears_on_it(own):
    """Other than in the framework's, which gives everything: text and data, best first, as many as were asked for."""
    memory = filled(own(), *CONTENTS, content("The kitchen has granite."))
    assert asked(memory, "paella")[0] == "Ana likes paella."
    assert asked(memory, content("paella"))[0] == "Ana likes paella."
    assert {"top": "granite", "sizes": [1, 2.5, None]} in asked(memory, "granite")
    assert asked(memory, "kitchen", k=1) == ["The kitchen has granite."] and asked(own(), "granite") == []
    assert len(asked(filled(own(top_k=2), *(content(f"Cat {at} sleeps.") for at in range(4))), "cat")) == 2


def test_what_was_just_added_is_found(own):
    """Nobody has to wait for it to be understood."""
    memory = own()
    for at in range(5):
        filled(memory, content(f"Parcel {at} came from Oslo{at}."))
        assert f"Parcel {at} came from Oslo{at}." in asked(memory, f"Oslo{at}")


def test_what_was_revised_is_left_out(doxa):
    """Other than in the framework's; facts, times and reasons are reached by the engine."""
    memory = filled(DoxaMemory(doxa, user="ana"), content("I live in Rome."), content("I moved to Paris."))
    assert asked(memory, "Where do I live?") == ["I moved to Paris."]
    assert "I live in Rome." in asked(memory, "Where did I live?")
    assert asked(memory) == ["I live in Rome.", "I moved to Paris."]
    assert memory.doxa.dialogue(user="ana").ask("Where do I live?").value == "Paris"
    assert asked(memory, "Where do I live?", until="2020") == []


def test_facts_come_of_prose_alone(doxa):
    """Data and pages are found as they stand."""
    memory = DoxaMemory(doxa, user="ana", speaker="Ana Ruiz")
    filled(memory, content("I live in Rome."), content("I like tea.", "text/html"), content({"note": "I like jam."}))
    doxa.flush()
    facts = [doxa.memory(user="ana").describe(fact) for fact in doxa.memory(user="ana").facts(current=False)]
    assert len(facts) == 1 and facts[0].startswith("Ana Ruiz lives in Rome")


def test_a_model_is_told_what_bears_on_the_latest_message(own):
    """In the framework's words, oldest first; a message without words is passed over."""
    said_before = [content(text) for text in ("Ana likes paella.", "The tango is on Monday.", "Paella has rice.")]
    memory = filled(own(top_k=2), *said_before)
    picture = UserMessage(content=[CONTENTS[6].content], source="user")
    answer = AssistantMessage(content="Sure.", source="guide")
    for messages in ([said("paella")], [said("tango"), answer, said("paella"), answer, picture]):
        found, context = told(memory, *messages)
        assert [one[0] for one in found] == ["Ana likes paella.", "Paella has rice."]
        words = "1. Ana likes paella.\n2. Paella has rice."
        assert context[-1].content == f"\nRelevant memory content (in chronological order):\n{words}\n"
        assert len(context) == len(messages) + 1
    assert told(own(), said("zebra")) == ([], [said("zebra")])


def test_what_was_said_before_tells_what_a_message_means(own):
    """A pronoun is looked for under the name that it stands for."""
    memory = filled(own(), content("Berta lives in Graz."), content("The tango is on Monday."))
    chat = [said("Do you know Berta?"), AssistantMessage(content="Yes.", source="guide"), said("Where does she live?")]
    assert told(memory, *chat)[0][0][0] == "Berta lives in Graz."


def test_the_latest_contents_are_told_before_anything_is_said(own):
    """As many as are found at most; all of them in the framework's own."""
    memory = filled(own(top_k=2), *(content(f"Cat {at} sleeps.") for at in range(4)))
    assert [one[0] for one in told(memory)[0]] == ["Cat 2 sleeps.", "Cat 3 sleeps."]


def test_users_and_names_share_nothing(doxa):
    """A name is that of one user; clearing one leaves the others, and what is remembered otherwise."""
    memories = [DoxaMemory(doxa, user=user, name=name) for user, name in (("ana", "a"), ("ana", "b"), ("ben", "a"))]
    for at, memory in enumerate(memories):
        filled(memory, content(f"Cat {at} sleeps."))
    doxa.dialogue(user="ana", session="a").absorb("I have a dog.")
    for query in ("", "Which cat sleeps?"):
        assert [asked(memory, query) for memory in memories] == [[f"Cat {at} sleeps."] for at in range(3)]
    run(memories[0].clear())
    assert [len(asked(memory)) for memory in memories] == [0, 1, 1]
    assert [turn.text for turn in doxa.memory(user="ana").turns()] == ["Cat 1 sleeps.", "I have a dog."]


@pytest.mark.parametrize(
    "act", [lambda one: run(one.clear()), lambda one: setattr(one, "content", [])], ids=["clear", "set"]
)
def test_what_is_cleared_leaves_no_byte(tmp_path, act):
    """Neither of the content nor of its turn."""
    with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
        memory = filled(DoxaMemory(doxa, user="ana"), content("My code word is canary4711."))
        doxa.flush()
        assert b"canary4711" in b"".join(one.read_bytes() for one in tmp_path.iterdir())
        act(memory)
        assert b"canary4711" not in b"".join(one.read_bytes() for one in tmp_path.iterdir())
        assert doxa.memory(user="ana").turns(withdrawn=True) == []


def test_forgetting_everything_of_a_user_clears_the_memory(doxa):
    """Its contents are records of that user."""
    memory = filled(DoxaMemory(doxa, user="ana"), *CONTENTS)
    doxa.memory(user="ana").forget(everything=True)
    assert asked(memory) == []


def test_a_configuration_leads_to_the_same_contents(tmp_path, monkeypatch):
    """In the database, by any tenant and name; the engine that was opened for it is closed with it."""
    monkeypatch.setenv("DOXA_ENCODER_NAME", "hash")
    monkeypatch.setenv("DOXA_GRADER_NAME", "none")
    with Doxa.open(tmp_path / "a b%c.db") as doxa:
        memory = DoxaMemory(doxa.tenant("guide"), user="ana", name="list", speaker="Ana Ruiz", top_k=3)
        filled(memory, *CONTENTS[:3])
        written = memory.dump_component().model_dump_json()
    assert "paella" not in written
    again = Memory.load_component(ComponentModel.model_validate_json(written))
    assert isinstance(again, DoxaMemory) and again.dump_component().model_dump_json() == written
    assert shown(again.content) == shown(CONTENTS[:3]) and asked(again, "paella")[0] == "Ana likes paella."
    assert again.doxa.memory(user="ana").turns()[0].speaker == "Ana Ruiz"
    run(again.close(), again.close())
    with pytest.raises(ClosedError):
        run(again.query("paella"))


def test_a_memory_that_ends_with_the_process_has_no_configuration(doxa):
    """It would lead to another one."""
    with pytest.raises(InputError, match=r"memory\.db"):
        DoxaMemory(doxa, user="ana").dump_component()


def test_closing_leaves_an_engine_open_that_was_given(doxa):
    """It is its owner's."""
    memory = filled(DoxaMemory(doxa, user="ana"), CONTENTS[0])
    run(memory.close())
    assert asked(memory) == ["Ana likes paella."]


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(content({"a": {1, 2}}), id="a set"),
        pytest.param(content({"a": {1: "b"}}), id="a number as key"),
        pytest.param(content({"a": (1, 2)}), id="a tuple"),
        pytest.param(content({"a": float("nan")}), id="no number"),
        pytest.param(content("a", b=object()), id="metadata"),
    ],
)
def test_what_is_no_plain_data_is_refused(own, wrong):
    """It could not come back as it was; nothing is stored, and setting the contents keeps what was there."""
    memory = filled(own(), CONTENTS[0])
    with pytest.raises(InputError, match="plain JSON data"):
        run(memory.add(wrong))
    with pytest.raises(InputError, match="plain JSON data"):
        memory.content = [CONTENTS[1], wrong]
    assert asked(memory) == ["Ana likes paella."]


def test_many_calls_at_once_lose_nothing(doxa):
    """Two objects for one memory."""
    memories = [DoxaMemory(doxa, user="ana") for _ in range(2)]

    async def crowd():
        await asyncio.gather(*(memories[at % 2].add(content(f"Cat {at} sleeps.")) for at in range(12)))

    asyncio.run(crowd())
    assert sorted(asked(memories[0])) == sorted(f"Cat {at} sleeps." for at in range(12))
    assert len(doxa.memory(user="ana").turns()) == 12


def test_a_token_that_was_cancelled_adds_and_finds_nothing(own):
    """The call ends as everything of the framework does that is cancelled."""
    memory, token = filled(own(), CONTENTS[0]), CancellationToken()
    token.cancel()
    for call in (memory.add(CONTENTS[1], token), memory.query("paella", token)):
        with pytest.raises(asyncio.CancelledError):
            run(call)
    assert asked(memory) == ["Ana likes paella."]


def test_who_is_cancelled_leaves_nothing_half_done(doxa, monkeypatch):
    """A content that is being written is there, and found, when its caller hears of the end."""
    memory, token = DoxaMemory(doxa, user="ana"), CancellationToken()
    begun, go_on, put = threading.Event(), threading.Event(), memory._transcript._records.put

    def slow(bodies, **more):
        begun.set()
        go_on.wait(10)
        put(bodies, **more)

    monkeypatch.setattr(memory._transcript._records, "put", slow)

    async def cancelled():
        adding = asyncio.create_task(memory.add(CONTENTS[0], token))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        token.cancel()
        await asyncio.sleep(0.01)
        early = adding.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await adding
        return early

    assert asyncio.run(cancelled()) is False and asked(memory, "paella") == ["Ana likes paella."]


def test_a_turn_does_not_outlive_a_content_that_is_cleared_while_it_is_added(doxa, monkeypatch):
    """Another writer clears the memory between the content and its turn."""
    memory, other = DoxaMemory(doxa, user="ana"), DoxaMemory(doxa, user="ana")
    absorb = memory._transcript._dialogue.absorb

    def late(*args, **options):
        other._transcript.clear()
        return absorb(*args, **options)

    monkeypatch.setattr(memory._transcript._dialogue, "absorb", late)
    filled(memory, CONTENTS[0])
    assert asked(memory) == [] and doxa.memory(user="ana").turns(withdrawn=True) == []


class Scripted(ChatCompletionClient):
    """A model that says what it was given, and keeps what it is asked."""

    component_type = "model"
    model_info = {  # noqa: RUF012
        "vision": False, "function_calling": False, "json_output": False, "family": "unknown",
        "structured_output": False,
    }  # fmt: skip
    capabilities = model_info

    def __init__(self, *says):
        self.says, self.asked = list(says), []

    async def create(self, messages, **options):
        self.asked.append(list(messages))
        usage = RequestUsage(prompt_tokens=0, completion_tokens=0)
        return CreateResult(finish_reason="stop", content=self.says.pop(0), usage=usage, cached=False)

    def create_stream(self, messages, **options):
        raise NotImplementedError

    async def close(self):
        pass

    def actual_usage(self):
        return RequestUsage(prompt_tokens=0, completion_tokens=0)

    total_usage = actual_usage

    def count_tokens(self, messages, **options):
        return 0

    remaining_tokens = count_tokens


def test_an_agent_is_told_what_is_remembered(doxa):
    """A run of the framework asks the memory, and shows what it was told."""
    model, memory = Scripted("In Rome."), DoxaMemory(doxa, user="ana")
    filled(memory, content("I live in Rome."), content("The zebra is striped."))
    agent = AssistantAgent("guide", model_client=model, memory=[memory])
    result = asyncio.run(agent.run(task="Where do I live?"))
    (event,) = [one for one in result.messages if isinstance(one, MemoryQueryEvent)]
    assert event.content[0].content == "I live in Rome." and result.messages[-1].content == "In Rome."
    assert any("I live in Rome." in str(one.content) for one in model.asked[0])
