"""Memories that everybody reads beneath their own: whose each thing is, what is hidden from whom, and no leaks."""

import asyncio
import json

import pytest

from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import Config, MemoryConfig
from doxa.core.errors import ConfigError, NotFoundError, TurnError
from doxa.core.shared import origin_of, qualified
from doxa.engine import AsyncDoxa, Doxa

HANDBOOK = "acme-handbook"
SAID = {
    "hours": "The Lisbon office opens at nine.",
    "leave": "Employees get 28 days of paid leave a year.",
    "boss": "Bo Larsen manages the Lisbon office.",
    "seat": "Acme's headquarters is in Oslo.",
}
HOURS = "When does the Lisbon office open?"


def open_with(where=":memory:", *, shared=(HANDBOOK,), **tree):
    """Return an engine as it ships, with shared memories."""
    return Doxa.open(where, config=Config.from_tree({"memory": {"shared": list(shared)}, **tree}))


def write(doxa, said=SAID, *, name=HANDBOOK):
    """Put turns into a shared memory, under its own name."""
    book = doxa.dialogue(user=name, speaker="Handbook")
    for key, text in said.items():
        book.absorb(text, at="2024-01-02", turn_id=key)
    book.flush()


@pytest.fixture(scope="module")
def models():
    """An engine that opens its models once."""
    with open_with() as engine:
        yield engine


@pytest.fixture
def doxa(models, request):
    """An engine with a handbook: a tenant of its own."""
    engine = models.tenant(request.node.name)
    write(engine)
    return engine


def tell(doxa, user, *texts):
    """Have a user say something."""
    chat = doxa.dialogue(user=user)
    for text in texts:
        chat.absorb(text, at="2024-03-01")
    chat.flush()
    return chat


def of_handbook(key):
    """Return an id of the handbook, as everybody else knows it."""
    return qualified(HANDBOOK, key)


def fact_of(doxa, turn_id):
    """Return the id of the fact of a turn of the handbook, as everybody else knows it."""
    held = doxa.memory(user=HANDBOOK).facts()
    return of_handbook(next(fact.fact_id for fact in held if turn_id in fact.turn_ids))


def test_a_shared_fact_answers_where_a_user_has_none_and_says_whose_it_is(doxa):
    for user in ("ana", "bo"):
        reply = doxa.dialogue(user=user).ask(HOURS)
        assert reply.value == "nine" and reply.memories == (HANDBOOK,)
        assert [(one.turn_id, one.memory) for one in reply.citations] == [(of_handbook("hours"), HANDBOOK)]
        assert reply.verdict.label == "supported" and reply.verdict.because == (fact_of(doxa, "hours"),)


def test_a_turn_to_everybody_answers_whoever_asks_of_themselves(doxa):
    """ "I" is nobody in a handbook, and yet everybody whom it tells."""
    reply = doxa.dialogue(user="ana").ask("How many days of leave do I get?")
    assert "28" in (reply.value or "") and reply.memories == (HANDBOOK,)


def test_what_the_author_says_of_himself_is_nothing_about_the_one_who_asks(doxa):
    write(doxa, {"author": "I live in Bergen."})
    reply = doxa.dialogue(user="ana").ask("Where do I live?")
    assert reply.abstained and not reply.memories


def test_an_own_fact_answers_and_hides_the_shared_one_for_this_user_alone(doxa):
    ana = tell(doxa, "ana", "The Lisbon office opens at ten.")
    own, others = ana.ask(HOURS), doxa.dialogue(user="bo").ask(HOURS)
    assert own.value == "ten" and own.memories == () and {one.memory for one in own.citations} == {""}
    assert others.value == "nine"
    found = doxa.memory(user="ana").search("Lisbon office opens")
    assert of_handbook("hours") not in {key for one in found for key in one.turn_ids}
    assert of_handbook("boss") in {key for one in found for key in one.turn_ids}
    held = [str(fact) for fact in doxa.memory(user=HANDBOOK).facts() if "opens at" in str(fact)]
    assert held == ["Lisbon office | opens at | nine"]


def test_a_denial_counts_for_the_one_who_denies(doxa):
    ana = tell(doxa, "ana", "The Lisbon office does not open at nine.")
    reply = ana.ask(HOURS)
    assert reply.value != "nine" and not reply.memories
    assert doxa.dialogue(user="bo").ask(HOURS).value == "nine"


def test_what_is_only_quoted_of_the_own_memory_gives_way_to_a_shared_fact(doxa):
    ana = tell(doxa, "ana", "I work in the Lisbon office.")
    reply = ana.ask("Who manages the Lisbon office?")
    assert reply.value == "Bo Larsen" and reply.memories == (HANDBOOK,)


@pytest.mark.parametrize("what", ["fact", "turn"])
def test_what_a_user_sets_aside_is_gone_for_that_user_until_it_is_accepted(doxa, what):
    memory = doxa.memory(user="ana")
    key = fact_of(doxa, "hours") if what == "fact" else of_handbook("hours")
    assert (memory.retract(key) if what == "fact" else memory.withdraw(turn_id=key)) == []
    assert doxa.dialogue(user="ana").ask(HOURS).abstained
    assert of_handbook("hours") not in {at for one in memory.search("Lisbon office opens") for at in one.turn_ids}
    assert memory.check("The Lisbon office opens at nine.").label == "neutral"
    assert doxa.dialogue(user="bo").ask(HOURS).value == "nine"
    assert doxa.dialogue(user=HANDBOOK).ask(HOURS).value == "nine"
    memory.accept(key)
    assert doxa.dialogue(user="ana").ask(HOURS).value == "nine"


def test_what_was_set_aside_stays_so_in_another_process_and_after_something_is_forgotten(tmp_path):
    with open_with(tmp_path / "m.db") as doxa:
        write(doxa)
        chat = tell(doxa, "ana", "I like tea.", "I like jazz.")
        chat.correct("The Lisbon office opens at ten.", fact_id=fact_of(doxa, "hours"))
        doxa.flush()
        memory = doxa.memory(user="ana")
        memory.forget(turn_id=next(one.turn_id for one in memory.turns() if "tea" in one.text))
    with open_with(tmp_path / "m.db") as doxa:
        assert doxa.dialogue(user="ana").ask(HOURS).value == "ten"
        with doxa.parts.log.user("ana") as state:
            assert [*state.aside] == [fact_of(doxa, "hours")]


def test_setting_aside_what_is_not_there_says_what_to_do(doxa):
    memory = doxa.memory(user="ana")
    with pytest.raises(NotFoundError, match="nothing of the id"):
        memory.retract(of_handbook("nobody"))
    with pytest.raises(NotFoundError, match="memory.shared names: acme-handbook"):
        memory.retract(qualified("secret", "f1"))


def test_a_check_falls_back_to_what_everybody_knows(doxa):
    tell(doxa, "ana", "Bo Larsen lives in Porto.")
    memory = doxa.memory(user="ana")
    verdict = memory.check("Acme's headquarters is in Bergen. Bo Larsen lives in Cascais.")
    first, second = verdict.sentences
    assert first.label == "contradicted" and first.because == (fact_of(doxa, "seat"),) and HANDBOOK in first.reason
    assert second.label == "contradicted" and not any(map(origin_of, second.because))
    assert memory.check("Acme's headquarters is in Oslo.").label == "supported"


def test_nothing_of_a_user_reaches_the_shared_memory_or_another_user(doxa):
    """Every result of every reading call is of the user's own memory, or of the handbook."""
    texts = ("My password is {}-pepper.", "I work in the Lisbon office.")
    chats = {name: tell(doxa, name, *(text.format(name) for text in texts)) for name in ("ana", "bo")}
    before = [turn.text for turn in doxa.memory(user=HANDBOOK).turns()]
    for name, chat in chats.items():
        other = "bo" if name == "ana" else "ana"
        for words in ("What is the password?", "Who works in the Lisbon office?", HOURS):
            reply, found = chat.respond(words), doxa.memory(user=name).search(words)
            assert f"{other}-pepper" not in reply.text + "".join(one.text for one in (*reply.citations, *found))
            assert {one.memory for one in (*reply.citations, *found)} <= {"", HANDBOOK}
            for one in (*reply.citations, *found):
                ids = one.turn_ids if hasattr(one, "turn_ids") else (one.turn_id,)
                owners = {doxa.memory(user=name).turn(key).user for key in ids}
                assert owners == {one.memory or name}
    doxa.flush()
    assert [turn.text for turn in doxa.memory(user=HANDBOOK).turns()] == before == list(SAID.values())
    book = doxa.memory(user=HANDBOOK).search("password pepper")
    assert not any("pepper" in one.text for one in book)


def test_a_reply_that_draws_on_what_is_shared_is_copied_into_no_log(doxa):
    chat = doxa.dialogue(user="ana")
    reply = chat.respond(HOURS)
    assert reply.memories == (HANDBOOK,)
    assert [turn.text for turn in doxa.memory(user="ana").turns()] == [HOURS]
    assert chat._asked.turns()[-1].text == reply.text


def test_forgetting_a_shared_turn_takes_it_from_all_at_once(tmp_path):
    with open_with(tmp_path / "m.db") as doxa:
        write(doxa)
        chats = {name: doxa.dialogue(user=name) for name in ("ana", "bo")}
        ids = {name: chat.respond(HOURS).answer_id for name, chat in chats.items()}
        kept = {name: doxa.dialogue(user=name).ask("Who manages the Lisbon office?").answer_id for name in chats}
        doxa.flush()
        assert all(doxa.memory(user=name).why_answered(key).answer.citations for name, key in ids.items())
        doxa.memory(user=HANDBOOK).forget(turn_id="hours")
        for name, chat in chats.items():
            memory = doxa.memory(user=name)
            assert chat.ask(HOURS).abstained
            with pytest.raises(NotFoundError):
                memory.why_answered(ids[name])
            assert not any("nine" in one.answer.text for one in memory.answers())
            assert memory.why_answered(kept[name]).stale == ()
            with pytest.raises(NotFoundError):
                memory.turn(of_handbook("hours"))
    assert b"opens at nine" not in b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())


def test_forgetting_a_shared_turn_takes_what_went_on_from_it_too(tmp_path):
    """What was said with a shared fact in mind is kept with the questions after it, whoever answers them."""
    with open_with(tmp_path / "m.db") as doxa:
        write(doxa)
        chat = tell(doxa, "ana", "I live in Bonn.")
        assert chat.respond(HOURS).memories == (HANDBOOK,)
        assert chat.ask("Where do I live?").memories == ()
        assert any("nine" in text for one in doxa.memory(user="ana").answers() for _, text in one.answer.said)
        doxa.memory(user=HANDBOOK).forget(turn_id="hours")
        assert not any("nine" in text for one in doxa.memory(user="ana").answers() for _, text in one.answer.said)
        assert chat._asked.turns() == ()


def test_what_a_user_set_aside_is_named_no_more_once_it_is_forgotten(tmp_path):
    """An id is somebody's word, or can be guessed from what was said; what is still there stays set aside."""
    with open_with(tmp_path / "m.db") as doxa:
        write(doxa, {"the Zanzibar hours": SAID["hours"], "boss": SAID["boss"]})
        ana = tell(doxa, "ana", "I live in Rome.")
        memory = doxa.memory(user="ana")
        for question in (HOURS, "Who manages the Lisbon office?"):
            one = ana.ask(question).citations[0]
            memory.retract(one.fact_id)
            memory.withdraw(turn_id=one.turn_id)
        doxa.memory(user=HANDBOOK).forget(turn_id="the Zanzibar hours")
        with doxa.parts.log.user("ana") as state:
            named = {origin_of(key).key for key in state.aside}
        assert "boss" in named and len(named) == 2
        assert not any(b"Zanzibar" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        doxa.memory(user=HANDBOOK).forget(everything=True)
        with doxa.parts.log.user("ana") as state:
            assert state.aside == {}
        assert [fact.object.label for fact in memory.facts()] == ["Rome"]


def test_an_answer_that_is_written_while_its_turn_is_erased_is_not_kept(tmp_path, monkeypatch):
    with open_with(tmp_path / "m.db") as doxa:
        write(doxa)
        doxa.dialogue(user="ana").ask(HOURS)
        store = type(doxa.parts.log.store)
        plain = store.keep_answers

        def slow(self, *given, **named):
            monkeypatch.setattr(store, "keep_answers", plain)
            doxa.memory(user=HANDBOOK).forget(turn_id="hours")
            plain(self, *given, **named)

        monkeypatch.setattr(store, "keep_answers", slow)
        assert doxa.memory(user="ana").answers() == []


def test_nobody_erases_or_writes_what_is_shared_under_another_name(doxa):
    memory = doxa.memory(user="ana")
    with pytest.raises(NotFoundError):
        memory.forget(turn_id=of_handbook("hours"))
    with pytest.raises(TurnError, match="shared memories"):
        doxa.dialogue(user="ana").absorb("It opens at noon.", turn_id=of_handbook("hours"))
    assert memory.turn(of_handbook("hours")).text == SAID["hours"]


def test_ids_of_two_memories_that_are_alike_are_told_apart(doxa):
    doxa.dialogue(user="ana").absorb("I sing in a choir.", turn_id="hours", at="2024-02-01")
    doxa.flush()
    memory = doxa.memory(user="ana")
    found = memory.turns(["hours", of_handbook("hours")])
    assert [(turn.user, turn.text) for turn in found] == [("ana", "I sing in a choir."), (HANDBOOK, SAID["hours"])]


def test_an_answer_is_told_as_stale_once_the_shared_fact_changes(doxa):
    key = doxa.dialogue(user="ana").ask(HOURS).answer_id
    assert doxa.memory(user="ana").why_answered(key).stale == ()
    doxa.dialogue(user=HANDBOOK, speaker="Handbook").absorb("The Lisbon office opens at eight.", at="2024-05-02")
    doxa.flush()
    why = doxa.memory(user="ana").why_answered(key)
    assert why.stale and why.answer.citations[0].text == SAID["hours"] and why.facts[0].fact_id.startswith("shared:")
    assert doxa.dialogue(user="ana").ask(HOURS).value == "eight"


def test_a_fact_of_a_shared_memory_is_explained_to_whoever_reads_it(doxa):
    found = doxa.memory(user="ana").why(fact_of(doxa, "hours"))
    assert HANDBOOK in found.text and [turn.turn_id for turn in found.turns] == [of_handbook("hours")]


def test_the_first_of_several_shared_memories_goes_before_the_next():
    with open_with(shared=("team", HANDBOOK)) as doxa:
        write(doxa)
        write(doxa, {"t": "The Lisbon office opens at seven."}, name="team")
        reply = doxa.dialogue(user="ana").ask(HOURS)
        assert reply.value == "seven" and reply.memories == ("team",)


def test_two_tenants_share_nothing_by_the_same_name(doxa):
    assert doxa.tenant("other").dialogue(user="ana").ask(HOURS).abstained


def test_two_memories_that_read_each_other_wait_for_nobody():
    with open_with(shared=("a", "b")) as doxa:
        write(doxa, {"t": "The Lisbon office opens at seven."}, name="a")
        write(doxa, {"t": "The Porto office opens at six."}, name="b")

        async def both():
            jobs = [
                asyncio.to_thread(doxa.dialogue(user=user).ask, f"When does the {city} office open?")
                for user, city in [("a", "Porto"), ("b", "Lisbon")] * 4
            ]
            return [reply.value for reply in await asyncio.wait_for(asyncio.gather(*jobs), 60)]

        assert asyncio.run(both()) == ["six", "seven"] * 4


def test_one_fold_serves_all_readers_and_stays_loaded():
    """More users than are kept loaded read it, and it is folded once."""
    with open_with(engine={"memory_mb": 1}) as doxa:
        doxa.parts.log._capacity = 1  # nothing else fits
        write(doxa)
        with doxa.parts.log.user(HANDBOOK) as state:
            fold, kept = state, dict(state.kept)
        for number in range(5):
            doxa.memory(user=f"u{number}").search("Lisbon office")
        assert [*doxa.parts.log._loaded] == [HANDBOOK, "u4"]  # and the latest
        with doxa.parts.log.user(HANDBOOK) as state:
            assert state is fold and kept.items() <= state.kept.items()
        doxa.dialogue(user=HANDBOOK, speaker="Handbook").absorb("The Porto office opens at six.", turn_id="porto")
        doxa.flush()
        found = doxa.memory(user="u9").search("Porto office")
        assert of_handbook("porto") in {key for one in found for key in one.turn_ids}
        with doxa.parts.log.user(HANDBOOK) as state:
            assert state is fold


def test_where_an_own_fact_answers_the_handbook_is_not_searched(doxa):
    """It is told alone which facts there are overruled: a look-up of one slot."""
    ana = tell(doxa, "ana", "The Lisbon office opens at ten.", "I live in Bonn.")
    overruled = ana.ask(HOURS)
    assert [step.name for step in overruled.trace.steps if step.name in ("beneath", "overruled")] == ["overruled"]
    assert overruled.overruled == (fact_of(doxa, "hours"),)
    alone = ana.ask("Where do I live?")
    assert alone.value == "Bonn" and alone.overruled == ()
    assert not {"beneath", "overruled"} & {step.name for step in alone.trace.steps}


def test_nothing_is_looked_at_where_no_memory_is_shared(monkeypatch):
    """Neither a question nor a search opens another memory, or its own more often than it has to."""
    config = Config.from_tree({"encoder": {"name": "hash"}, "reader": {"name": "none"}, "grader": {"name": "none"}})
    with Doxa.open(":memory:", config=config) as doxa:
        ana = tell(doxa, "ana", "The Lisbon office opens at ten.")
        looked = []
        plain = type(doxa.parts.log).user
        monkeypatch.setattr(type(doxa.parts.log), "user", lambda log, user: (looked.append(user), plain(log, user))[1])
        doxa.memory(user="ana").search("office")
        searched = len(looked)
        ana.ask(HOURS)
        assert {*looked} == {"ana"} and searched <= 4


def test_what_is_overruled_is_told_until_it_is_set_aside(doxa):
    ana = tell(doxa, "ana", "The Lisbon office opens at ten.")
    (key,) = ana.ask(HOURS).overruled
    assert "nine" in str(doxa.memory(user="ana").why(key).fact)
    doxa.memory(user="ana").retract(key)
    assert ana.ask(HOURS).overruled == ()


def test_a_snapshot_has_what_was_set_aside(tmp_path):
    with open_with(tmp_path / "m.db") as doxa:
        write(doxa)
        doxa.memory(user="ana").retract(key := fact_of(doxa, "hours"))
        log = doxa.parts.log
        assert log.save("ana", least=1, share=0.0)
        log.let_go("ana")
        with log.user("ana") as state:
            assert state.packed is not None and [*state.aside] == [key]
        assert doxa.dialogue(user="ana").ask(HOURS).abstained


def test_a_snapshot_of_a_user_outlives_no_change_of_what_is_shared(tmp_path):
    """It holds nothing of it: after the handbook is another, so are the answers."""
    with open_with(tmp_path / "m.db") as doxa:
        write(doxa)
        chat = tell(doxa, "ana", "I like tea.")
        assert chat.ask(HOURS).value == "nine"
        assert all(doxa.parts.log.save(name, least=1, share=0.0) for name in ("ana", HANDBOOK))
        for path in tmp_path.rglob("*.fold"):
            assert (b"nine" in path.read_bytes()) == (path == folds(doxa, HANDBOOK))
        write(doxa, {"new": "The Lisbon office opens at eight."})
    with open_with(tmp_path / "m.db") as doxa:
        assert doxa.dialogue(user="ana").ask(HOURS).value == "eight"
        doxa.memory(user=HANDBOOK).forget(everything=True)
        assert doxa.dialogue(user="ana").ask(HOURS).abstained


def folds(doxa, user):
    """Return where the snapshot of a user is."""
    return doxa.parts.log.snapshots._path(doxa.parts.log.scope(user))


def test_the_twin_to_await_reads_beneath_too():
    async def session():
        config = Config.from_tree({"memory": {"shared": [HANDBOOK]}})
        async with AsyncDoxa.open(":memory:", config=config) as doxa:
            book = doxa.dialogue(user=HANDBOOK, speaker="Handbook")
            await book.absorb(SAID["hours"], turn_id="hours", at="2024-01-02")
            await book.flush()
            memory = doxa.memory(user="ana")
            reply = await doxa.dialogue(user="ana").ask(HOURS)
            found = await memory.search(HOURS)
            turn = await memory.turn(of_handbook("hours"))
            await memory.retract(reply.citations[0].fact_id)
            return reply, found, turn, await doxa.dialogue(user="ana").ask(HOURS)

    reply, found, turn, after = asyncio.run(session())
    assert reply.value == "nine" and {one.memory for one in found} == {HANDBOOK} and turn.user == HANDBOOK
    assert after.abstained


def test_a_search_within_a_session_is_of_the_own_memory(doxa):
    tell(doxa, "ana", "The Lisbon office has a garden.")
    memory = doxa.memory(user="ana")
    assert {one.memory for one in memory.search("Lisbon office", session="default")} == {""}
    assert {one.memory for one in memory.search("Lisbon office", shared=False)} == {""}
    assert {one.memory for one in memory.search("Lisbon office")} == {"", HANDBOOK}


def test_the_setting_takes_a_list_or_names_with_commas():
    assert MemoryConfig.model_validate({"shared": "a, b,a"}).shared == ("a", "b")
    assert Config.load(environ={"DOXA_MEMORY_SHARED": "a,b"}).memory.shared == ("a", "b")
    with pytest.raises(ConfigError, match=r"memory\.shared"):
        Config.from_tree({"memory": {"shared": ["a", " "]}})


@pytest.mark.parametrize("name", ["acme", "a/b", "a:b %2F", "ünï"])
def test_an_id_tells_whose_it_is_whatever_the_name(name):
    assert origin_of(qualified(name, "s/t:1")) == (name, "s/t:1")
    assert origin_of("s/t:1") is None and origin_of("shared:x") is None


def with_model(*replies):
    """Return an engine with a handbook whose model says these things, and the model."""
    config = Config.from_tree({"memory": {"shared": [HANDBOOK]}, "llm": {"name": "scripted"}, "profile": "writer"})
    doxa = Doxa.open(":memory:", config=config)
    model = doxa.parts.opened.model = ScriptedModel(replies)
    write(doxa)
    return doxa, model


def test_a_language_model_is_shown_what_is_shared_and_cites_it():
    said = {"answer": "It opens at nine.", "value": "nine", "citations": [of_handbook("hours")], "abstained": False}
    doxa, model = with_model(json.dumps(said))
    with doxa:
        reply = doxa.dialogue(user="ana").respond(HOURS)
        assert reply.text == "It opens at nine." and not reply.trace.degraded
        assert [(one.turn_id, one.memory) for one in reply.citations] == [(of_handbook("hours"), HANDBOOK)]
        prompt = model.requests[0].messages[1].content
        assert f"[{of_handbook('hours')}]" in prompt and f"Known to everybody ({HANDBOOK})" in prompt
        doxa.flush()
        assert [turn.text for turn in doxa.memory(user="ana").turns()] == [HOURS]
        doxa.memory(user=HANDBOOK).forget(turn_id="hours")
        assert doxa.memory(user="ana").answers() == []  # its prompt repeated it


def test_a_language_model_is_not_shown_what_an_own_fact_hides():
    doxa, model = with_model(json.dumps({"answer": "At ten.", "value": "ten", "citations": [], "abstained": False}))
    with doxa:
        tell(doxa, "ana", "The Lisbon office opens at ten.").ask(HOURS)
        prompt = model.requests[0].messages[1].content
        assert "ten" in prompt and "nine" not in prompt


def test_a_trace_repeats_nothing_of_what_is_shared_beside_ids(doxa):
    """Also of an answer that another memory gave in the end."""
    ana = tell(doxa, "ana", "The Lisbon office does not open at nine.", "I work in the Porto office.")
    for text in (HOURS, "When does the Porto office open?", "Who manages the Porto office?"):
        reply = ana.ask(text)
        steps = [step for step in reply.trace.to_dict()["steps"] if step["name"] == "beneath"]
        assert "Larsen" not in json.dumps(steps) and "nine" not in json.dumps(steps)


def test_a_reply_of_a_model_that_was_told_of_it_earlier_is_copied_into_no_log():
    """The dialogue alone remembers the first reply, and the second may repeat it."""
    first = {"answer": "It opens at nine.", "value": "nine", "citations": [of_handbook("hours")], "abstained": False}
    second = {"answer": "Nine, as I said.", "value": "nine", "citations": [], "abstained": False}
    doxa, model = with_model(json.dumps(first), json.dumps(second))
    with doxa:
        chat = doxa.dialogue(user="ana")
        chat.respond(HOURS)
        doxa.memory(user="ana").withdraw(turn_id=of_handbook("hours"))
        reply = chat.respond("Are you sure?")
        assert "It opens at nine." in model.requests[-1].messages[1].content and reply.memories == (HANDBOOK,)
        doxa.flush()
        assert [turn.text for turn in doxa.memory(user="ana").turns()] == [HOURS, "Are you sure?"]
