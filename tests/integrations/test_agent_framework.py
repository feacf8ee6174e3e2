"""Providers of the Microsoft Agent Framework: the same calls as on its own, and what its own cannot do."""

import asyncio
import json
import threading
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.core.errors import InputError

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    Content,
    ContextProvider,
    HistoryProvider,
    InMemoryHistoryProvider,
    Message,
    SessionContext,
)

from doxa.integrations.agent_framework import DoxaContextProvider, DoxaHistoryProvider

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
MESSAGES = [
    Message("user", ["I live in Rome."]),
    Message("assistant", ["Rome is", "lovely."], author_name="guide", message_id="m1"),
    Message("assistant", [Content.from_function_call("c1", "weather", arguments={"place": "Rome", "x": None})]),
    Message("tool", [Content.from_function_result("c1", result={"sky": ["clear", 1.5]})]),
    Message("assistant", [Content.from_text_reasoning(text="Hm, café \U0001f600")]),
    Message("system", ["Be brief."]),
    Message("user", ["See this.", Content.from_data(b"\x89PNG", "image/png")], additional_properties={"a": [1]}),
    Message("assistant", ["It is old."], additional_properties={"_excluded": True}),
    Message("user", ["  "]),
    Message("user"),
]


@pytest.fixture
def own(shared):
    """A provider of history of a user whom nobody else has, from its settings."""
    return lambda **options: DoxaHistoryProvider(shared, **({"user": uuid4().hex} | options))


def written(messages):
    return [message.to_dict() for message in messages]


def run(*calls):
    """Return what calls give, one after the other."""

    async def all_of_them():
        return [await call for call in calls]

    return asyncio.run(all_of_them())


def play(provider, batches):
    """Return what is there after each of some batches was saved."""

    async def all_of_them():
        state, found = {}, [await provider.get_messages("s", state={})]
        for batch in batches:
            await provider.save_messages("s", batch, state=state)
            found.append(await provider.get_messages("s", state=state))
        return [written(messages) for messages in found]

    return asyncio.run(all_of_them())


def held(provider, session="s"):
    """Return the messages of a session."""
    return written(run(provider.get_messages(session))[0])


def texts(doxa, user="ana"):
    """Return role, speaker and text of what is remembered."""
    return [(turn.role, turn.speaker, turn.text) for turn in doxa.memory(user=user).turns(withdrawn=True)]


def test_they_are_providers_and_lead_to_the_engine(doxa):
    """By the base classes of the framework."""
    history, context = DoxaHistoryProvider(doxa, user="ana"), DoxaContextProvider(doxa, user="ana", source_id="x")
    assert isinstance(history, HistoryProvider) and isinstance(context, ContextProvider)
    assert (history.doxa, history.source_id, context.doxa, context.source_id) == (doxa, "doxa_history", doxa, "x")
    assert {**vars(InMemoryHistoryProvider()), "source_id": ""}.items() <= {**vars(history), "source_id": ""}.items()


@pytest.mark.parametrize(
    "batches",
    [
        pytest.param([], id="nothing"),
        pytest.param([[]], id="no messages"),
        pytest.param([MESSAGES], id="messages of any kind"),
        pytest.param([MESSAGES[:2], MESSAGES[2:5], MESSAGES[5:]], id="several calls"),
        pytest.param([MESSAGES[:2], MESSAGES[:4]], id="a transcript that grew"),
        pytest.param([MESSAGES[:4], MESSAGES[2:6]], id="batches that overlap"),
        pytest.param([MESSAGES[:1], MESSAGES[:1], MESSAGES[:1]], id="a message said again"),
        pytest.param([MESSAGES[1:2], MESSAGES[1:2]], id="a message with an id again"),
        pytest.param([MESSAGES, MESSAGES[:2]], id="what was said before said again"),
    ],
)
@pytest.mark.parametrize("skip_excluded", [False, True], ids=["all", "skip"])
def test_the_same_calls_give_the_same_as_the_provider_of_the_framework(own, batches, skip_excluded):
    """Messages byte for byte, their order, and what is taken for a transcript given again."""
    theirs = InMemoryHistoryProvider(skip_excluded=skip_excluded)
    assert play(own(skip_excluded=skip_excluded), batches) == play(theirs, batches)


@settings(max_examples=8, deadline=None)
@given(batches=st.lists(st.lists(st.sampled_from(MESSAGES), max_size=4), max_size=4))
def test_any_batches_leave_the_same_messages_behind(shared, batches):
    """As in the state of a session of the framework."""
    ours = DoxaHistoryProvider(shared, user=uuid4().hex)
    assert play(ours, batches) == play(InMemoryHistoryProvider(), batches)


class Scripted(BaseChatClient):
    """A model that says what it was given, and keeps what it is asked."""

    def __init__(self, *says):
        super().__init__()
        self.says, self.asked = list(says), []

    async def _inner_get_response(self, *, messages, stream, options, **kwargs):
        assert not stream
        self.asked.append(list(messages))
        return ChatResponse(messages=[Message("assistant", [self.says.pop(0)])])


def talk(providers, *said, sessions=None, says=("Nice.", "In Rome.", "Yes.")):
    """Return what a model was asked: role and text of every message, for everything that was said to an agent."""

    async def go():
        client = Scripted(*says)
        agent = Agent(client=client, name="guide", context_providers=providers)
        one = AgentSession(session_id="s")
        for at, text in enumerate(said):
            await agent.run(text, session=sessions[at] if sessions else one)
        return [[(message.role, message.text) for message in asked] for asked in client.asked]

    return asyncio.run(go())


class Injecting(ContextProvider):
    """A provider that puts something into every context."""

    async def before_run(self, *, agent, session, context, state):
        context.extend_messages(self, [Message("user", ["Ana lives in Oslo."])])


@pytest.mark.parametrize(
    "options",
    [
        {}, {"load_messages": False}, {"store_inputs": False}, {"store_outputs": False},
        {"store_context_messages": True}, {"store_context_messages": True, "store_context_from": {"other"}},
    ],
    ids=["usual", "no loading", "no inputs", "no outputs", "context", "context of nobody"],
)  # fmt: skip
def test_an_agent_asks_its_model_the_same_as_with_the_provider_of_the_framework(own, options):
    """By all that can be set."""
    said = ("I live in Rome.", "Where do I live?", "Sure?")
    ours, theirs = (
        talk([Injecting("injecting"), one], *said) for one in (own(**options), InMemoryHistoryProvider("x", **options))
    )
    assert ours == theirs


def test_words_of_user_and_assistant_are_turns_and_nothing_else_is(doxa):
    """By the names that were given; what a provider has put in is kept and not believed."""
    ours = DoxaHistoryProvider(doxa, user="ana", agent="helper", speaker="Ana Ruiz", store_context_messages=True)
    run(ours.save_messages("s", MESSAGES))
    talk([Injecting("injecting"), ours], "I like tea.")
    assert texts(doxa) == [
        ("user", "Ana Ruiz", "I live in Rome."),
        ("assistant", "guide", "Rome is lovely."),
        ("user", "Ana Ruiz", "See this."),
        ("assistant", "helper", "It is old."),
        ("user", "Ana Ruiz", "I like tea."),
        ("assistant", "guide", "Nice."),
    ]
    assert "Ana lives in Oslo." in str(held(ours))


def test_a_message_too_long_for_a_turn_is_kept_alone():
    """The provider of the framework keeps it too."""
    config = LIGHT.model_copy(update={"engine": LIGHT.engine.model_copy(update={"max_turn_chars": 20})})
    with Doxa.open(":memory:", config=config) as doxa:
        long, ours = Message("user", ["I live in Rome. " * 2]), DoxaHistoryProvider(doxa, user="ana")
        run(ours.save_messages("s", [long, MESSAGES[0]]))
        assert held(ours) == written([long, MESSAGES[0]]) and texts(doxa) == [("user", "Ana", "I live in Rome.")]


def test_sessions_and_users_share_nothing(doxa):
    """A provider serves many users where a function tells them; the session without an id is one as well."""
    ours = DoxaHistoryProvider(doxa, user=lambda session: session.partition("/")[0])
    names = ["ana/1", "ana/2", "ben/1", None]
    for at, name in enumerate(names):
        run(ours.save_messages(name, [Message("user", [f"Cat {at} sleeps."])]))
    assert [held(ours, name)[0]["contents"][0]["text"] for name in names] == [f"Cat {at} sleeps." for at in range(4)]
    assert held(ours, "default") == held(ours, None) and held(ours, "ben/2") == []
    assert [text for _, _, text in texts(doxa, "ben")] == ["Cat 2 sleeps."]
    run(ours.clear("ana/1"))
    assert [len(held(ours, name)) for name in names] == [0, 1, 1, 1]
    assert [text for _, _, text in texts(doxa)] == ["Cat 1 sleeps."]


def test_a_session_goes_on_after_the_file_is_opened_again(tmp_path):
    """By its id, byte for byte, and with what was understood."""
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=LIGHT) as doxa:
        run(DoxaHistoryProvider(doxa, user="ana").save_messages("s", MESSAGES))
    with Doxa.open(path, config=LIGHT) as doxa:
        ours = DoxaHistoryProvider(doxa, user="ana")
        assert json.dumps(held(ours)) == json.dumps(written(MESSAGES))
        (asked,) = talk([ours], "Where do I live?")
        assert ("user", "I live in Rome.") in asked
        assert [doxa.memory(user="ana").describe(fact) for fact in doxa.memory(user="ana").facts()] == [
            "Ana lives in Rome"
        ]


def test_what_is_cleared_leaves_no_byte(tmp_path):
    """Neither of the message nor of its turn."""
    with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
        ours = DoxaHistoryProvider(doxa, user="ana")
        run(ours.save_messages("s", [Message("user", ["My code word is canary4711."])]))
        doxa.flush()
        assert b"canary4711" in b"".join(one.read_bytes() for one in tmp_path.iterdir())
        run(ours.clear("s"))
        assert b"canary4711" not in b"".join(one.read_bytes() for one in tmp_path.iterdir())


def test_forgetting_everything_of_a_user_empties_the_sessions(doxa):
    """They are records of that user."""
    ours = DoxaHistoryProvider(doxa, user="ana")
    run(ours.save_messages("s", MESSAGES))
    doxa.memory(user="ana").forget(everything=True)
    assert held(ours) == []


def test_many_calls_at_once_lose_nothing(doxa):
    """Several sessions of one provider; what one call saves stays together."""
    ours = DoxaHistoryProvider(doxa, user="ana")

    def batch(at):
        return [Message("tool", [Content.from_function_result(f"{at}", result=f"{part}")]) for part in range(3)]

    async def crowd():
        await asyncio.gather(*(ours.save_messages(f"{at % 2}", batch(at)) for at in range(10)))

    asyncio.run(crowd())
    for name in (0, 1):
        calls = [message["contents"][0]["call_id"] for message in held(ours, f"{name}")]
        assert calls == [one for one in calls[::3] for _ in range(3)]
        assert sorted(calls[::3], key=int) == [f"{at}" for at in range(10) if at % 2 == name]


def test_who_is_cancelled_leaves_nothing_half_done(doxa, monkeypatch):
    """What is being saved is there, and remembered, when its caller hears of the end."""
    ours, begun, go_on, receive = (
        DoxaHistoryProvider(doxa, user="ana"),
        threading.Event(),
        threading.Event(),
        doxa.receive,
    )

    def slow(turn, **rest):
        begun.set()
        go_on.wait(10)
        return receive(turn, **rest)

    monkeypatch.setattr(doxa, "receive", slow)

    async def cancelled():
        saving = asyncio.create_task(ours.save_messages("s", MESSAGES[:2]))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        saving.cancel()
        await asyncio.sleep(0.01)
        early = saving.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await saving
        return early

    assert asyncio.run(cancelled()) is False
    assert held(ours) == written(MESSAGES[:2]) and len(texts(doxa)) == 2


def test_a_turn_does_not_outlive_a_session_that_is_cleared_while_it_is_saved(doxa, monkeypatch):
    """Another writer clears it between the message and its turn."""
    ours, receive = DoxaHistoryProvider(doxa, user="ana"), doxa.receive

    def late(turn, **rest):
        DoxaHistoryProvider(doxa, user="ana")._transcript("s").clear()
        return receive(turn, **rest)

    monkeypatch.setattr(doxa, "receive", late)
    run(ours.save_messages("s", MESSAGES[:1]))
    assert held(ours) == [] and texts(doxa) == []


@pytest.mark.parametrize(
    ("user", "error"), [(" ", InputError), (lambda session: "", InputError)], ids=["a name", "a function"]
)
def test_a_user_without_a_name_is_refused(doxa, user, error):
    """Before anything is stored."""
    with pytest.raises(error, match="user: expected a name"):
        run(DoxaHistoryProvider(doxa, user=user).save_messages("s", MESSAGES))


def recalled(asked):
    """Return what a model was told of the memory in one call."""
    return [text for _, text in asked if text.startswith("## Memory")]


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside a history"])
def test_a_model_is_told_what_another_session_said(doxa, alone):
    """What is believed now with its time, and who said it; everything is remembered once."""
    sessions = [AgentSession(session_id=name) for name in "abc"]
    providers = [DoxaContextProvider(doxa, user="ana")] + ([] if alone else [DoxaHistoryProvider(doxa, user="ana")])
    asked = talk(providers, "I live in Rome.", "I moved to Paris.", "Where do I live?", sessions=sessions)
    assert recalled(asked[0]) == []
    (told,) = recalled(asked[2])
    assert "Ana lives in Paris since" in told and "Ana: I moved to Paris." in told and "I live in Rome." not in told
    assert [text for _, _, text in texts(doxa)] == [
        "I live in Rome.", "Nice.", "I moved to Paris.", "In Rome.", "Where do I live?", "Yes.",
    ]  # fmt: skip


@pytest.mark.parametrize("first", [True, False], ids=["before the history", "after it"])
@pytest.mark.parametrize("theirs", [True, False], ids=["in memory", "ours"])
def test_what_a_model_is_given_anyway_is_not_told_again(doxa, first, theirs):
    """Whichever provider comes first, and whoever keeps the history."""
    history = InMemoryHistoryProvider() if theirs else DoxaHistoryProvider(doxa, user="ana")
    providers = [DoxaContextProvider(doxa, user="ana"), history]
    asked = talk(providers if first else providers[::-1], "The paella has rice.", "Is there paella?")
    assert [text for _, text in asked[1]].count("The paella has rice.") == 1
    assert not any("The paella has rice." in told for told in recalled(asked[1]))


def test_a_context_tells_from_where_memories_are(doxa):
    """By the framework's marks, so that what is recalled is neither kept nor believed as said by the user."""
    doxa.dialogue(user="ana", session="a").absorb("The paella has rice.")
    ours, context = DoxaContextProvider(doxa, user="ana"), SessionContext(session_id="s", input_messages=[])
    for said in ([], [Message("assistant", ["Paella?"])], [Message("user", [" "])]):
        context.input_messages = said
        run(ours.before_run(agent=None, session=AgentSession(), context=context, state={}))
        assert context.context_messages == {}
    context.input_messages = [Message("user", ["Is there paella?"])]
    run(ours.before_run(agent=None, session=AgentSession(), context=context, state={}))
    (message,) = context.context_messages["doxa"]
    assert message.additional_properties["_attribution"] == {
        "source_id": "doxa", "source_type": "DoxaContextProvider", "origin_session_ids": ["a"],
    }  # fmt: skip


def test_what_was_said_before_tells_what_a_message_means(doxa):
    """A pronoun is looked for under the name that it stands for, which the history has."""
    doxa.dialogue(user="ana", session="a").absorb("Berta lives in Graz.")
    ours = DoxaContextProvider(doxa, user="ana", top_k=1)
    asked = talk([InMemoryHistoryProvider(), ours], "Do you know Berta?", "Where does she live?")
    assert "Berta lives in Graz." in recalled(asked[1])[0]


def test_as_many_are_told_as_were_asked_for(doxa):
    """And by the prompt that was given; nothing of another user's."""
    for at in range(4):
        doxa.dialogue(user="ana").absorb(f"Paella {at} has rice.")
    few = DoxaContextProvider(doxa, user="ana", top_k=2, prompt="## Memory: of Ana")
    (told,) = recalled(talk([few], "Is there paella?")[0])
    assert told.startswith("## Memory: of Ana\n") and told.count("Ana: Paella") == 2
    assert recalled(talk([DoxaContextProvider(doxa, user="ben")], "Is there paella?")[0]) == []
