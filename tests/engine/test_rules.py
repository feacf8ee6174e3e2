"""Rules that were said are stored with their turn, and go with it."""

import json
from datetime import UTC, datetime

import pytest

from doxa.engine import Doxa
from doxa.memory import Maintained, describe_rule, rule_from, rule_id, rule_to

RULE = "If it snows on a Sunday, I take the tram."
NOW = datetime(2024, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def told(doxa):
    """Ana has stated a fact, a rule and another rule."""
    chat = doxa.dialogue(user="ana")
    chat.absorb("I live in Oslo.", turn_id="t1", at=NOW)
    chat.absorb("Whenever Liv visits, I bake a cake.", turn_id="t2", at=NOW)
    chat.absorb("No cats are allowed in the office.", turn_id="t3", at=datetime(2024, 5, 1, tzinfo=UTC))
    chat.flush()
    return doxa


def sentences(memory, **when):
    return [memory.describe(rule) for rule in memory.rules(**when)]


def test_rules_are_listed_in_plain_words_with_their_turn(told):
    """The condition, what follows, who said it and when."""
    memory = told.memory(user="ana")
    assert sentences(memory) == [
        "If Liv visits, Ana bakes cake",
        "If X is cat, X is not allowed in office",
    ]
    assert [(rule.turn_id, rule.speaker) for rule in memory.rules()] == [("t2", "Ana"), ("t3", "Ana")]
    assert memory.stats()["rules"] == 2


def test_a_rule_is_no_fact(told):
    """Nothing of either half is believed."""
    assert [str(fact.object) for fact in told.memory(user="ana").facts(current=False)] == ["Oslo"]


def test_known_at_gives_the_rules_of_that_time(told):
    """The second rule was said two months later."""
    assert len(sentences(told.memory(user="ana"), known_at="2024-04-01")) == 1


def test_a_withdrawn_turn_takes_its_rules_along(told):
    """The other rule stays."""
    memory = told.memory(user="ana")
    memory.withdraw(turn_id="t2")
    assert [rule.turn_id for rule in memory.rules()] == ["t3"]


def test_an_erased_turn_takes_its_rules_along(told):
    """Nothing of it is left in the log."""
    memory = told.memory(user="ana")
    memory.forget(turn_id="t2")
    assert [rule.turn_id for rule in memory.rules()] == ["t3"]
    assert "bake" not in json.dumps([row.body for row in told.parts.log.rows("ana")])


def test_rules_survive_a_restart(config, tmp_path):
    """They are folded from the log again."""
    for said in ("Every guest gets a key.", None):
        with Doxa.open(tmp_path / "memory.db", config=config) as engine:
            if said:
                engine.dialogue(user="ana").absorb(said)
                engine.flush()
            assert sentences(engine.memory(user="ana")) == ["If X is guest, X gets key"]


def test_an_export_keeps_rules(told, tmp_path):
    """Into an empty memory and out again gives the same file."""
    first = told.memory(user="ana").export(tmp_path / "a.jsonl")
    other = told.memory(user="bob")
    other.import_(first)
    assert other.rules() == told.memory(user="ana").rules()
    second = other.export(tmp_path / "b.jsonl")
    assert first.read_text().split("\n")[1:] == second.read_text().split("\n")[1:]


def test_a_rule_round_trips_as_data(told):
    """Through JSON, and ids depend on what is said alone."""
    for rule in told.memory(user="ana").rules():
        again = rule_from(json.loads(json.dumps(rule_to(rule))))
        assert again == rule and rule_id(again) == rule_id(rule)


def test_events_without_rules_still_load(told):
    """Rows of earlier versions say nothing of rules, intents or who read the turn."""
    row = told.parts.log.rows("ana")[-1]
    event = Maintained.from_row(row.__class__(**{**_fields(row), "body": {"claims": []}}))
    assert not event.rules and event.note.intents == () and event.note.by == ""


def _fields(row):
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


@pytest.mark.parametrize(
    ("said", "told_as"),
    [
        ("All guests must sign the book.", "If X is guest, X must sign book"),
        ("I walk unless Liv drives.", "If Liv does not drive, Ana walks"),
        ("I sign only if the roof is repaired.", "If Ana signs, roof is repaired"),
    ],
)
def test_a_rule_reads_plainly(doxa, said, told_as):
    """What is demanded, allowed or denied is said so."""
    chat = doxa.dialogue(user="ana")
    chat.absorb(said)
    chat.flush()
    assert [describe_rule(rule) for rule in doxa.memory(user="ana").rules()] == [told_as]


def test_a_turn_that_breaks_understanding_still_gets_an_answer(doxa, monkeypatch):
    """`respond` says that it is degraded; it does not raise."""
    from doxa.engine.reading import turns as reading

    def broken(*_, **__):
        raise RecursionError("too deep")

    monkeypatch.setattr(reading, "understand", broken)
    reply = doxa.dialogue(user="ana").respond("I live in Oslo.")
    assert any("too deep" in reason for reason in reply.trace.degraded)
    assert reply.intents == ("chat",)


def test_a_turn_is_understood_once(doxa, monkeypatch):
    """`respond` takes the intents from the event of its turn."""
    from doxa.engine.reading import turns as reading

    seen, real = [], reading.understand

    def counted(said, *rest, **more):
        seen.append(said.turn_id)
        return real(said, *rest, **more)

    monkeypatch.setattr(reading, "understand", counted)
    reply = doxa.dialogue(user="ana").respond("I live in Oslo.", turn_id="t1")
    assert seen.count("t1") == 1 and "inform" in reply.intents
