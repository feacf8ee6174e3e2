"""What users hold in their hands."""

import asyncio
import inspect
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from doxa.core.config import Config, EncoderConfig, ReaderConfig
from doxa.core.errors import (
    BackendError,
    ClosedError,
    ConfigError,
    InputError,
    NotFoundError,
    TurnConflictError,
    TurnError,
)
from doxa.core.values import ChangeKind, Interval, Status
from doxa.engine import (
    AsyncDialogue,
    AsyncDoxa,
    AsyncMemory,
    AsyncTasks,
    AsyncTeaching,
    Dialogue,
    Doxa,
    Memory,
    Tasks,
    Teaching,
)


def talk(doxa, *turns, user="ana"):
    """Absorb `(date, text)` pairs and wait."""
    chat = doxa.dialogue(user=user, agent="helper", session="s")
    for n, (at, text) in enumerate(turns, start=1):
        chat.absorb(text, at=at, turn_id=f"t{n}")
    chat.flush()
    return chat


MOVES = [("2024-03-02", "I live in Lisbon."), ("2024-06-02", "I moved to Berlin yesterday.")]


def test_a_statement_becomes_a_fact_with_its_source(doxa):
    """Subject, relation, object, time and turn are there, and readable."""
    talk(doxa, ("2024-05-01", "I moved to Berlin in March."))
    (fact,) = doxa.memory(user="ana").facts(relation="lives in")
    assert (str(fact.subject), str(fact.relation), str(fact.object)) == ("Ana", "lives in", "Berlin")
    assert fact.turn_ids == ("t1",) and fact.status is Status.HELD
    assert fact.valid.start == date(2024, 3, 1) and fact.valid.end is None


def test_an_answer_is_current_and_cited(doxa):
    """The newer address is the answer, and the turn that says it is cited."""
    reply = talk(doxa, *MOVES).ask("Where do I live?")
    assert reply.value == "Berlin" and not reply.abstained
    assert [citation.turn_id for citation in reply.citations] == ["t2"]
    assert reply.verdict.label == "supported"


def test_as_of_asks_about_the_world_then(doxa):
    """The old address held before the move."""
    chat = talk(doxa, *MOVES)
    assert chat.ask("Where do I live?", as_of="2024-04-01").value == "Lisbon"
    facts = doxa.memory(user="ana").facts(relation="lives in", as_of=date(2024, 4, 1))
    assert [str(fact.object) for fact in facts] == ["Lisbon"]


def test_known_at_asks_what_was_believed_then(doxa):
    """Before the second turn nobody knew of the move."""
    chat = talk(doxa, *MOVES)
    assert chat.ask("Where do I live?", known_at="2024-05-01").value == "Lisbon"
    facts = doxa.memory(user="ana").facts(relation="lives in", known_at=datetime(2024, 5, 1, tzinfo=UTC))
    assert [(str(fact.object), fact.valid.end) for fact in facts] == [("Lisbon", None)]


@pytest.mark.parametrize(
    "at",
    [
        "0001-01-01T00:00:00+14:00",
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=12))),
    ],
    ids=str,
)
def test_a_time_that_is_outside_the_calendar_in_utc_is_refused(doxa, at):
    """With one of our errors, and nothing is stored."""
    with pytest.raises(InputError, match="years 1 to 9999"):
        doxa.dialogue(user="ana").absorb("I live in Rome.", at=at)
    assert doxa.users() == []


@pytest.mark.parametrize("precision", ["day", "month", "year"])
def test_an_event_at_the_end_of_the_calendar_holds_then(precision):
    """The last day, month and year have none after them."""
    event = Interval(start=date(9999, 12, 31), end=date(9999, 12, 31), end_precision=precision)
    assert event.holds_on(date.max) and not event.holds_on(date(9999, 12, 30))


def test_half_characters_are_replaced_or_refused(doxa):
    """No database can store them: in texts and ids they are replaced, and no user is named so."""
    chat, memory = doxa.dialogue(user="ana", session="\ud800"), doxa.memory(user="ana")
    assert chat.absorb("I live in Rome.", turn_id="t\ud800").turn_id == "t?"
    chat.flush()
    memory.retract(memory.facts()[0].fact_id, reason="wrong \ud800")
    with pytest.raises(InputError):
        doxa.dialogue(user="\ud800")


def test_a_turn_named_like_a_reply_does_not_stop_respond(doxa):
    """The reply gets another id."""
    chat = doxa.dialogue(user="ana")
    chat.absorb("Good morning.", turn_id="t1/reply")
    assert chat.respond("I live in Rome.", turn_id="t1").text
    chat.flush()
    assert doxa.memory(user="ana").stats()["turns"] == 3


@pytest.mark.parametrize("name", ["a#b.db", "a?b.db", "a%20b.db", "a b.db"])
def test_a_file_may_have_any_name(config, tmp_path, name):
    """It is found again under it, and no other file is made."""
    for _ in range(2):
        with Doxa.open(tmp_path / name, config=config) as doxa:
            doxa.dialogue(user="ana").absorb("I live in Rome.", turn_id="t1")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_an_empty_path_is_no_memory(config):
    """It would be one that is lost at the end."""
    with pytest.raises(ConfigError):
        Doxa.open("", config=config)


def test_a_settings_file_that_does_not_fit_is_explained(tmp_path):
    """A group that is no table is named; what may be a secret is not repeated."""
    path = tmp_path / "doxa.toml"
    path.write_text('llm = "openai:x"\n')
    with pytest.raises(ConfigError, match="llm"):
        Config.load(path, environ={"OPENAI_API_KEY": "k"})
    path.write_text('[llm]\napi_keyy = "sk-secret"\n')
    with pytest.raises(ConfigError, match=r"llm\.api_keyy") as error:
        Config.load(path, environ={})
    assert "sk-secret" not in str(error.value)


def test_superseded_facts_are_hidden_by_default_and_there_on_demand(doxa):
    """`current=False` shows what was."""
    talk(doxa, *MOVES)
    memory = doxa.memory(user="ana")
    assert [str(f.object) for f in memory.facts(relation="lives in")] == ["Berlin"]
    assert [str(f.object) for f in memory.facts(relation="lives in", current=False)] == ["Lisbon", "Berlin"]


def test_it_says_when_it_does_not_know(doxa):
    """Nothing was said, so nothing is answered."""
    reply = talk(doxa, *MOVES).ask("What is my blood type?")
    assert reply.abstained and reply.value is None and not reply.citations


def test_claims_are_what_one_turn_says(doxa):
    """A later turn adds nothing to them; a turn that is withdrawn says nothing, and an unknown one is refused."""
    talk(doxa, *MOVES, ("2024-06-03", "I like tea and I live in Berlin."))
    memory = doxa.memory(user="ana")
    assert [str(claim.object) for claim in memory.claims(turn_id="t1")] == ["Lisbon"]
    assert {str(claim.object) for claim in memory.claims(turn_id="t3")} == {"tea", "Berlin"}
    memory.withdraw(turn_id="t1")
    assert memory.claims(turn_id="t1") == []
    with pytest.raises(NotFoundError, match="t9"):
        memory.claims(turn_id="t9")


def test_turns_are_what_was_said_and_is_trusted(doxa):
    """All of it in order, of one session, or by id; what was withdrawn is left out."""
    for session, turn_id in (("s1", "a"), ("s2", "b"), ("s1", "c")):
        doxa.dialogue(user="ana", session=session).absorb(f"I saw {turn_id} heron.", turn_id=turn_id)
    memory = doxa.memory(user="ana")
    assert [turn.turn_id for turn in memory.turns()] == ["a", "b", "c"]
    assert [turn.turn_id for turn in memory.turns(session="s1")] == ["a", "c"]
    assert [turn.turn_id for turn in memory.turns(["c", "none", "a", "b"], session="s1")] == ["c", "a"]
    memory.withdraw(turn_id="a")
    assert [turn.turn_id for turn in memory.turns()] == ["b", "c"]


def test_history_and_why_tell_the_story(doxa):
    """The close of the old address names its reason, and why names both sides."""
    talk(doxa, *MOVES)
    memory = doxa.memory(user="ana")
    changes = memory.history(("Ana", "lives in"))
    assert (changes[0].kind, str(changes[0].fact.object)) == (ChangeKind.ASSERT, "Lisbon")
    closed = next(change for change in changes if change.kind is ChangeKind.CLOSE)
    assert closed.reason and closed.turn_id == "t2"
    lisbon = memory.why(closed.fact.fact_id)
    assert [str(f.object) for f in lisbon.displaced_by] == ["Berlin"] and "t1" in str(lisbon)
    berlin = memory.why(closed.because[0])
    assert [str(f.object) for f in berlin.displaced] == ["Lisbon"]
    assert memory.history(berlin.fact) == memory.history(berlin.fact.fact_id)


def test_withdrawing_a_turn_brings_back_what_it_displaced(doxa):
    """The source is no longer trusted, so the old address holds again and the turn is not found any more."""
    chat = talk(doxa, *MOVES)
    memory = doxa.memory(user="ana")
    changes = memory.withdraw(turn_id="t2", reason="a joke")
    assert {change.kind for change in changes} == {ChangeKind.RETRACT, ChangeKind.RESTORE}
    assert chat.ask("Where do I live?").value == "Lisbon"
    assert all("t2" not in item.turn_ids for item in memory.search("moved to Berlin"))
    assert memory.withdraw(turn_id="t2") == []


def test_retracting_a_fact_brings_back_what_it_displaced(doxa):
    """The same by fact."""
    chat = talk(doxa, *MOVES)
    memory = doxa.memory(user="ana")
    (berlin,) = memory.facts(relation="lives in")
    memory.retract(berlin.fact_id, reason="wrong person")
    assert chat.ask("Where do I live?").value == "Lisbon"


def test_undo_takes_the_last_change_back(doxa):
    """Twice undone, nothing is left; a third time changes nothing."""
    talk(doxa, *MOVES)
    memory = doxa.memory(user="ana")
    assert memory.undo()
    assert [str(f.object) for f in memory.facts(relation="lives in")] == ["Lisbon"]
    assert memory.undo() and memory.facts() == [] and memory.undo() == []


def test_respond_answers_and_remembers(doxa):
    """A statement is acknowledged with what it changed; a question is answered; both are kept."""
    chat = doxa.dialogue(user="ana", agent="helper", session="s")
    chat.respond("I live in Lisbon.", at="2024-03-02")
    moved = chat.respond("I moved to Berlin.", at="2024-06-02")
    assert [change.kind for change in moved.revisions] == [ChangeKind.CLOSE]
    assert "Berlin" in moved.text and "inform" in moved.intents
    reply = chat.respond("Where do I live?", at="2024-06-03")
    assert reply.value == "Berlin" and "ask" in reply.intents
    chat.flush()
    assert doxa.memory(user="ana").stats()["turns"] == 6


def test_a_question_is_not_its_own_answer(doxa):
    """Asking twice does not make the question evidence, nor the reply news."""
    chat = doxa.dialogue(user="ana", agent="helper", session="s")
    for _ in range(2):
        assert chat.respond("What is the colour of my bicycle?").abstained
    assert doxa.memory(user="ana").facts() == []


def test_ask_leaves_no_trace(doxa):
    """A question that is asked, not said, is not remembered."""
    chat = talk(doxa, *MOVES)
    before = doxa.memory(user="ana").stats()
    chat.ask("Where do I live?")
    assert doxa.memory(user="ana").stats() == before


def test_users_share_nothing(doxa):
    """Another user's memory knows nothing of Ana."""
    talk(doxa, *MOVES)
    other = doxa.dialogue(user="ben")
    assert other.ask("Where does Ana live?").abstained
    assert doxa.memory(user="ben").search("Berlin") == []
    assert doxa.users() == ["ana"]


def test_the_same_turn_again_is_one_turn(doxa):
    """Sending again is safe; another text under the same id is an error that keeps the first."""
    chat = doxa.dialogue(user="ana")
    assert not chat.absorb("I live in Lisbon.", turn_id="t1").duplicate
    assert chat.absorb("I live in Lisbon.", turn_id="t1").duplicate
    with pytest.raises(TurnConflictError, match="t1"):
        chat.absorb("I live in Porto.", turn_id="t1")
    chat.flush()
    assert [str(f.object) for f in doxa.memory(user="ana").facts()] == ["Lisbon"]


@pytest.mark.parametrize("text", ["", "   ", "\n\t"], ids=["empty", "blanks", "newlines"])
def test_an_empty_turn_is_refused(doxa, text):
    """Nothing is stored, and the message says why."""
    with pytest.raises(TurnError, match="empty"):
        doxa.dialogue(user="ana").absorb(text)


def test_a_turn_of_a_megabyte_is_kept_whole(doxa):
    """Long input is stored and does not stall what follows."""
    chat = doxa.dialogue(user="ana")
    chat.absorb("word " * 200_000, turn_id="t1")
    chat.absorb("I live in Lisbon.", turn_id="t2")
    chat.flush()
    assert chat.ask("Where do I live?").value == "Lisbon"


@pytest.mark.parametrize("at", ["yesterday-ish", "2024-13-01", 17], ids=["words", "month 13", "number"])
def test_a_time_that_cannot_be_read_is_refused(doxa, at):
    """The message shows what came and what was expected."""
    with pytest.raises(InputError, match="expected"):
        doxa.dialogue(user="ana").absorb("hello", at=at)


def test_naive_times_are_utc(doxa):
    """A datetime without a zone is taken as UTC."""
    chat = doxa.dialogue(user="ana")
    chat.absorb("hello there", at=datetime(2024, 5, 1, 9), turn_id="t1")
    chat.flush()
    with doxa.parts.log.user("ana") as state:
        assert state.now() == datetime(2024, 5, 1, 9, tzinfo=UTC)


def test_turns_may_arrive_out_of_order(doxa):
    """A late report about earlier times does not displace the present."""
    chat = talk(doxa, ("2024-06-02", "I moved to Berlin in May 2024."), ("2024-03-02", "I moved to Lisbon in 2019."))
    assert chat.ask("Where do I live?").value == "Berlin"


def test_unknown_ids_are_named(doxa):
    """A fact or turn that is not there is an error that says so."""
    memory = doxa.memory(user="ana")
    for act in (
        lambda: memory.why("f1_nothing"),
        lambda: memory.withdraw(turn_id="t9"),
        lambda: memory.retract("f1_nothing"),
        lambda: memory.forget(turn_id="t9"),
    ):
        with pytest.raises(NotFoundError):
            act()


def test_a_closed_engine_says_so(config):
    """Using it after the block is a clear error; closing twice is none."""
    with Doxa.open(":memory:", config=config) as engine:
        chat = engine.dialogue(user="ana")
    engine.close()
    with pytest.raises(ClosedError):
        chat.absorb("hello")


def test_export_and_import_restore_the_memory(doxa, config, tmp_path):
    """Facts, history and withdrawals come back in an empty memory; a second import adds nothing."""
    talk(doxa, *MOVES)
    memory = doxa.memory(user="ana")
    memory.withdraw(turn_id="t2")
    path = memory.export(tmp_path / "ana.jsonl")
    with Doxa.open(":memory:", config=config) as other:
        copy = other.memory(user="ana")
        assert copy.import_(path) == 2
        assert copy.facts(current=False) == memory.facts(current=False)
        assert copy.history(("Ana", "lives in")) == memory.history(("Ana", "lives in"))
        assert copy.export(tmp_path / "again.jsonl").read_text() == path.read_text()
        assert copy.import_(path) == 0


def test_other_exports_are_readable(doxa, tmp_path):
    """Turtle parses as RDF and names the sources; Markdown reads as sentences."""
    import pyoxigraph

    talk(doxa, *MOVES)
    memory = doxa.memory(user="ana")
    turtle = memory.export(tmp_path / "ana.ttl", format="turtle").read_bytes()
    triples = list(pyoxigraph.parse(turtle, format=pyoxigraph.RdfFormat.TURTLE))
    assert any("Berlin" in str(t.object) for t in triples) and any(
        "wasDerivedFrom" in str(t.predicate) for t in triples
    )
    assert "Berlin" in memory.export(tmp_path / "ana.md", format="markdown").read_text()


def test_the_name_of_a_file_says_what_is_written(doxa, tmp_path):
    """As on the command line; a name that says nothing is the log."""
    dialogue = doxa.dialogue(user="ana")
    dialogue.absorb("I live in Berlin.", at="2025-03-01", turn_id="t1")
    dialogue.flush()
    memory = doxa.memory(user="ana")
    for name, format in (("ana.ttl", "turtle"), ("ana.MD", "markdown"), ("ana.jsonl", "jsonl"), ("ana", "jsonl")):
        told, named = memory.export(tmp_path / name), memory.export(tmp_path / "other", format=format)
        assert told.read_text() == named.read_text()


def test_the_asynchronous_twin_does_the_same(config):
    """Same names, same arguments, same answers."""

    async def session():
        async with AsyncDoxa.open(":memory:", config=config) as doxa:
            chat = doxa.dialogue(user="ana", session="s")
            await chat.absorb("I live in Lisbon.", turn_id="t1")
            await chat.flush()
            reply, facts = await asyncio.gather(chat.ask("Where do I live?"), doxa.memory(user="ana").facts())
            return reply.value, len(facts)

    assert asyncio.run(session()) == ("Lisbon", 1)
    for one, other in ((Doxa, AsyncDoxa), (Dialogue, AsyncDialogue), (Memory, AsyncMemory)):
        for name, method in inspect.getmembers(other, inspect.isfunction):
            if not name.startswith("_"):
                twin = inspect.signature(getattr(one, name)).parameters
                assert list(inspect.signature(method).parameters) == list(twin), name


def test_the_asynchronous_twin_has_everything():
    """What is added to one class is added to its twin, but for what the engine keeps to itself."""
    own = {"parts", "receive", "settle", "spool_folder", "wait"}
    pairs = [(Doxa, AsyncDoxa), (Dialogue, AsyncDialogue), (Memory, AsyncMemory)]
    for one, other in [*pairs, (Tasks, AsyncTasks), (Teaching, AsyncTeaching)]:
        assert {name for name in dir(one) if not name.startswith("_")} - own == {
            name for name in dir(other) if not name.startswith("_")
        }


def test_a_slash_in_a_name_reaches_nobody_else(config, tmp_path):
    """Tenant "a" with user "b/c" and tenant "a/b" with user "c" are two memories."""
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=config.model_copy(update={"tenant": "a"})) as one:
        one.dialogue(user="b/c").absorb("I live in Lisbon.")
        one.flush()
        assert one.users() == ["b/c"]
    with Doxa.open(path, config=config.model_copy(update={"tenant": "a/b"})) as other:
        assert other.users() == [] and other.memory(user="c").facts() == []


@pytest.mark.parametrize("turn_id", ["", "  ", "x" * 500], ids=["empty", "blank", "too long"])
def test_a_turn_id_that_cannot_be_kept_is_refused(doxa, turn_id):
    """The message says what an id may be."""
    with pytest.raises(TurnError, match="characters"):
        doxa.dialogue(user="ana").absorb("hello", turn_id=turn_id)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda doxa: doxa.dialogue(user="ana").absorb("hello", speaker=3),
        lambda doxa: doxa.dialogue(user="ana").absorb("hello", turn_id=3),
        lambda doxa: doxa.dialogue(user="ana").absorb(None),
        lambda doxa: doxa.dialogue(user="ana").absorb("hello", role="boss"),
        lambda doxa: doxa.dialogue(user="ana").ask(None),
        lambda doxa: doxa.dialogue(user=None),
        lambda doxa: doxa.memory(user="ana").facts(subject=3),
        lambda doxa: doxa.memory(user="ana").search("x", k="a"),
        lambda doxa: doxa.memory(user="ana").search(""),
        lambda doxa: doxa.memory(user="ana").history(("a", "b", "c")),
        lambda doxa: doxa.memory(user="ana").export("x", format="pdf"),
    ],
)
def test_wrong_arguments_say_what_was_expected(doxa, mistake):
    """A mistake in a call is an InputError with words, not an AttributeError from inside."""
    with pytest.raises(InputError, match="expected|must be|is one of"):
        mistake(doxa)


@pytest.mark.parametrize("url", [None, 3, ""], ids=["none", "number", "empty"])
def test_opening_nothing_is_an_error(url, config):
    """An unset variable does not open a database that is thrown away."""
    with pytest.raises(ConfigError, match=r"[Ee]xpected"):
        Doxa.open(url, config=config)


def test_settings_that_are_no_settings_are_refused():
    """A dict is not taken for settings."""
    with pytest.raises(ConfigError, match="from_tree"):
        Doxa.open(":memory:", config={"db": "x"})


@pytest.mark.parametrize(
    ("known_at", "value"),
    [
        ("2024", "Berlin"),
        ("2024-06", "Berlin"),
        ("2024-05", "Lisbon"),
        ("2024-06-02", "Berlin"),
        ("2024-06-01", "Lisbon"),
    ],
)
def test_a_coarse_time_means_all_of_it(doxa, known_at, value):
    """What was believed by a month is what was believed at its end."""
    assert talk(doxa, *MOVES).ask("Where do I live?", known_at=known_at).value == value


def test_what_was_trusted_then_is_found_then(doxa):
    """A turn that was withdrawn later was still evidence before."""
    talk(doxa, *MOVES)
    memory = doxa.memory(user="ana")
    memory.withdraw(turn_id="t2")
    assert not any("t2" in item.turn_ids for item in memory.search("moved to Berlin"))
    assert any("t2" in item.turn_ids for item in memory.search("moved to Berlin", known_at="2024-07-01"))


def test_a_reader_without_weights_is_told_at_once(tmp_path):
    """Nothing is answered with less than what was asked for, and the message says what to do."""
    with pytest.raises(BackendError, match=r"training/reader"):
        Doxa.open(":memory:", config=Config(encoder=EncoderConfig(name="hash"), reader=ReaderConfig(model=tmp_path)))
