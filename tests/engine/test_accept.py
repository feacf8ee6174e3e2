"""What a person accepts by hand: what was not believed is, disputed values win or all hold; and it is taken back."""

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.backends import load
from doxa.core.config import (
    Config,
    EncoderConfig,
    EngineConfig,
    GraderConfig,
    LexiconConfig,
    ReaderConfig,
    ReviseConfig,
)
from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Conflict, Status
from doxa.engine import Doxa

WRONG = {"Ana | lives in | Rome": "wrong", "Zoe | passed | test": "wrong", "Zoe | passes | test": "wrong"}
POLICIES = ("recency", "ask", "reject-new", "weighted", "trust", "minimal")


def opened(path=":memory:", *, policy="recency"):
    """An engine whose grader takes some readings for wrong."""
    config = Config(
        encoder=EncoderConfig(name="hash"),
        engine=EngineConfig(settle_s=10),
        grader=GraderConfig(name="scripted"),
        lexicon=LexiconConfig(name="none"),
        reader=ReaderConfig(name="none"),
        revise=ReviseConfig(policy=policy),
    )
    engine = Doxa.open(path, config=config)
    engine.parts.opened.grader = load("grader", "scripted", grades=WRONG)
    return engine


@pytest.fixture
def doxa():
    with opened() as engine:
        yield engine


def tell(doxa, *turns, user="ana", start=1, on="2025-03"):
    chat = doxa.dialogue(user=user, speaker="Ana")
    for place, (speaker, text) in enumerate(turns, start=start):
        role = "assistant" if speaker == "assistant" else "user"
        chat.absorb(text, speaker=speaker, role=role, at=f"{on}-{place:02d}", turn_id=f"t{place}")
    chat.flush()
    return doxa.memory(user=user)


def picture(memory):
    """Everything that is believed, was true or may be, by id; and the claims in their order."""
    facts = {fact.fact_id: fact for fact in memory.facts(current=False) if fact.status is not Status.RETRACTED}
    with memory._doxa.parts.log.user(memory.user) as state:
        return facts, {slot: list(said) for slot, said in state.beliefs.claims.items() if said}


def held(memory):
    return {str(f.object) if f.polarity else f"not {f.object}" for f in memory.facts() if not f.premises}


def disputed(memory):
    return {str(fact.object) for fact in memory.facts() if fact.disputed}


def found(memory, thing, *, polarity=True):
    said = [f for f in memory.facts(current=False) if f.polarity is polarity and str(f.object) == thing]
    return said[-1]


BONN = ("Ana", "I live in Bonn.")
TENTATIVE = (BONN, ("Ana", "I live in Rome."))
SET_ASIDE = (BONN, ("Ben", "Ana lives in Ulm."))
FROM_A_MACHINE = (BONN, ("assistant", "You live in Ulm."))
CORRECTED = (BONN, ("Ana", "Sorry, I meant Ulm."))
NEGATED = (("Ana", "I like tea."), ("assistant", "You don't like tea."))
BESIDE = (("Ana", "I like tea."), ("assistant", "You like coffee."))
TWO = (
    ("Ana", "The estate agent says the house has 142 square metres."),
    ("Ana", "The survey plan says the house has 136 square metres."),
)
THREE = (*TWO, ("Ana", "Ben says the house has 150 square metres."))
RULED = (("Ana", "If Zoe passes the test, I get a dog."), ("Ana", "Zoe passed the test."))
ACCEPTED = {
    "tentative": (TENTATIVE, "Rome", True, {"Rome"}),
    "set aside": (SET_ASIDE, "Ulm", True, {"Ulm"}),
    "from a machine": (FROM_A_MACHINE, "Ulm", True, {"Ulm"}),
    "corrected": (CORRECTED, "Bonn", True, {"Bonn"}),
    "negated": (NEGATED, "tea", False, {"not tea"}),
    "one of many": (BESIDE, "coffee", True, {"tea", "coffee"}),
    "two-way": (TWO, "142 square metres", True, {"142 square metres"}),
    "three-way": (THREE, "136 square metres", True, {"136 square metres"}),
}
CASES = pytest.mark.parametrize(("turns", "thing", "polarity", "after"), ACCEPTED.values(), ids=ACCEPTED)


@pytest.fixture(scope="module", params=POLICIES)
def strict(request):
    """An engine with a policy, for many users, and a counter of them."""
    with opened(policy=request.param) as engine:
        yield engine, count()


@CASES
def test_what_is_accepted_is_believed_by_any_policy_and_undo_restores_what_was(strict, turns, thing, polarity, after):
    """The log tells it again the same; a second time changes nothing. Some policies leave nothing to accept."""
    doxa, users = strict
    memory = tell(doxa, *turns, user=f"u{next(users)}")
    fact = found(memory, thing, polarity=polarity)
    before, listed = picture(memory), memory.stats()
    if fact.status is Status.SUPERSEDED:
        with pytest.raises(InputError, match="is over"):
            memory.accept(fact.fact_id)
        return
    previewed = memory.what_if(accept=fact.fact_id)
    assert (picture(memory), memory.stats()) == (before, listed)
    changes = memory.accept(fact.fact_id, reason="the passport has it")
    assert [(c.kind, c.fact) for c in changes] == [(c.kind, c.fact) for c in previewed]
    assert bool(changes) is (fact.status is not Status.HELD or fact.disputed)
    assert held(memory) == after and not disputed(memory) and memory.accept(fact.fact_id) == []
    told = picture(memory)
    doxa.parts.log.forget_state(memory.user)
    assert picture(memory) == told
    if changes:
        memory.undo()
    assert picture(memory) == before
    assert memory.facts(known_at="2999") == memory.facts()


def test_the_history_tells_who_accepted_it_and_what_gave_way(doxa):
    """The turn that said it is still its source, and it is sure now."""
    memory = tell(doxa, *TENTATIVE, ("Ana", "I work at Siemens."))
    rome = found(memory, "Rome")
    gone, new = memory.accept(rome.fact_id, reason="the passport has it")
    assert (new.reason, new.turn_id) == ("it was accepted by hand: the passport has it", None)
    assert (str(gone.fact.object), gone.because) == ("Bonn", (rome.fact_id,))
    now = memory.why(rome.fact_id)
    assert now.fact.confidence == 1.0 and [turn.turn_id for turn in now.turns] == ["t2"]
    assert "it was accepted by hand: the passport has it" in now.text
    assert found(memory, "Bonn").valid.end == now.fact.valid.start == now.turns[0].at.date()
    assert [claim.accepted for claim in memory.claims(turn_id="t2")] == [""]


def test_what_a_dispute_was_with_is_given_up_as_corrected(doxa):
    memory = tell(doxa, *THREE)
    right = found(memory, "150 square metres").fact_id
    gone = [change for change in memory.accept(right) if change.fact.fact_id != right]
    assert {(c.fact.status, c.conflict, c.because) for c in gone} == {
        (Status.RETRACTED, Conflict.CORRECTION, (right,)),
    }
    assert len(gone) == 2 and memory.disputes() == []


def test_what_was_retracted_by_mistake_is_taken_back_with_its_source(doxa):
    memory = tell(doxa, BONN)
    bonn = found(memory, "Bonn").fact_id
    memory.retract(bonn)
    memory.accept(bonn)
    assert held(memory) == {"Bonn"} and memory.why(bonn).fact.turn_ids == ("t1",)
    memory.undo()
    assert held(memory) == set()
    memory.undo()
    assert held(memory) == {"Bonn"}


def test_what_follows_from_what_is_accepted_is_believed_as_well(doxa):
    memory = tell(doxa, *RULED)
    before = picture(memory)
    assert not any(fact.premises for fact in memory.facts())
    memory.accept(found(memory, "test").fact_id)
    assert [str(fact.object) for fact in memory.facts() if fact.premises] == ["dog"]
    memory.undo()
    assert picture(memory) == before


@pytest.mark.parametrize(
    ("said", "then"),
    [("Actually, I moved to Oslo.", {"Oslo"}), ("I don't live in Ulm.", {"not Ulm"}), ("Forget that.", {"Ulm"})],
)
@pytest.mark.parametrize("turns", [SET_ASIDE, FROM_A_MACHINE], ids=["set aside", "from a machine"])
def test_what_is_said_later_revises_what_was_accepted(doxa, turns, said, then):
    memory = tell(doxa, *turns)
    memory.accept(found(memory, "Ulm").fact_id)
    tell(doxa, ("Ana", said), start=9)
    assert "Bonn" not in held(memory) and held(memory) <= then
    assert held(memory) == then or said == "I don't live in Ulm."


@pytest.mark.parametrize("turns", [TWO, THREE], ids=["two", "three"])
def test_disputed_values_are_kept_beside_each_other_until_something_else_is_said(doxa, turns):
    """Nothing is disputed any more; undo opens the dispute again, and a later value takes the place of all."""
    memory = tell(doxa, *turns)
    before, ids = picture(memory), [fact.fact_id for fact in memory.facts()]
    previewed = memory.what_if(keep_both=ids)
    assert picture(memory) == before
    changes = memory.keep_both(ids, reason="two surveys")
    assert [(c.kind, c.fact) for c in changes] == [(c.kind, c.fact) for c in previewed]
    assert {c.reason for c in changes} == {"it was kept by hand beside what it was disputed with: two surveys"}
    assert len(memory.facts()) == len(ids) and memory.disputes() == [] and not disputed(memory)
    doxa.parts.log.forget_state("ana")
    assert len(memory.facts()) == len(ids) and not disputed(memory)
    memory.undo()
    assert picture(memory) == before
    memory.keep_both(ids)
    tell(doxa, ("Ana", "The house has 160 square metres now."), start=9)
    assert held(memory) == {"160 square metres"}


def test_one_more_voice_opens_the_dispute_again_and_another_decision_settles_it(doxa):
    """Of those that were kept beside each other both stay when one of them is accepted."""
    memory = tell(doxa, *TWO)
    memory.keep_both([fact.fact_id for fact in memory.facts()])
    tell(doxa, THREE[2], start=3)
    assert len(disputed(memory)) == 3
    (dispute,) = memory.disputes()
    assert len(dispute.facts) == 3
    memory.accept(found(memory, "136 square metres").fact_id)
    assert held(memory) == {"142 square metres", "136 square metres"} and not disputed(memory)


def test_what_cannot_be_accepted_says_what_to_do_instead(doxa):
    memory = tell(doxa, BONN, ("Ana", "I moved to Ulm."), *RULED)
    over = found(memory, "Bonn").fact_id
    with pytest.raises(InputError, match=f"is over.*retract {found(memory, 'Ulm').fact_id}"):
        memory.accept(over)
    with pytest.raises(NotFoundError):
        memory.accept("f1_none")
    test = found(memory, "test").fact_id
    memory.withdraw(turn_id="t4")
    with pytest.raises(InputError, match="No turn that is trusted"):
        memory.accept(test)
    memory.undo()
    memory.accept(test)
    dog = found(memory, "dog").fact_id
    memory.undo()
    with pytest.raises(InputError, match=f"Accept {test}"):
        memory.accept(dog)


def test_what_cannot_be_kept_beside_each_other_is_an_error(doxa):
    memory = tell(doxa, *THREE, *NEGATED)
    ids = {str(fact.object): fact.fact_id for fact in memory.facts()}
    one, other, _ = (ids[f"{size} square metres"] for size in (142, 136, 150))
    tea = [found(memory, "tea", polarity=polarity).fact_id for polarity in (True, False)]
    before = picture(memory)
    for wrong, message in (
        ([one], "two or more"),
        ([one, one], "two or more"),
        (one, "two or more"),
        ([one, other], ids["150 square metres"]),
        ([one, ids["tea"]], "one dispute"),
        (tea, "deny each other"),
    ):
        with pytest.raises(InputError, match=message):
            memory.keep_both(wrong)
        with pytest.raises(InputError, match=message):
            memory.what_if(keep_both=wrong)
    with pytest.raises(NotFoundError):
        memory.keep_both([one, "f1_none"])
    assert picture(memory) == before


def test_a_rule_that_disputes_two_facts_lets_one_be_accepted_and_not_both():
    """By the policy that asks, facts of two slots are disputed with each other."""
    with opened(policy="ask") as doxa:
        rule = ("Ana", "If Zoe has a cat, she has no dog.")
        memory = tell(doxa, rule, ("Ben", "Zoe has a cat."), ("Ben", "Zoe has a dog."))
        before = picture(memory)
        assert disputed(memory) == {"cat", "dog"}
        ids = [found(memory, thing).fact_id for thing in ("cat", "dog")]
        with pytest.raises(InputError, match="cannot be believed by hand"):
            memory.keep_both(ids)
        assert picture(memory) == before
        memory.accept(ids[0])
        assert held(memory) == {"cat"} and not disputed(memory)
        assert memory.facts(current=False)[-1].status is Status.RETRACTED
        memory.undo()
        assert picture(memory) == before


def rows(doxa):
    return "\n".join(str(row.body) for row in doxa.parts.log.rows("ana"))


@pytest.mark.parametrize("undone", [False, True], ids=["standing", "undone"])
def test_with_its_turn_nothing_of_what_was_accepted_is_left(doxa, undone):
    """Neither the acceptance nor its undoing repeats it, and what was undone before is undone next."""
    memory = tell(doxa, *SET_ASIDE, ("Ana", "I work at Siemens."))
    siemens = found(memory, "Siemens").fact_id
    memory.retract(siemens)
    memory.accept(found(memory, "Ulm").fact_id)
    if undone:
        memory.undo()
    assert "Ulm" in rows(doxa)
    memory.forget(turn_id="t2")
    assert "Ulm" not in rows(doxa) and "ulm" not in rows(doxa)
    assert held(memory) == {"Bonn"}
    memory.undo()
    assert held(memory) == {"Bonn", "Siemens"}


def test_what_other_turns_say_as_well_stays_accepted_in_their_words(doxa):
    memory = tell(doxa, BONN, ("Ben", "Ana lives in Ulm."), ("Chiara", "Ana lives in Ulm."), ("Ben", "I own a boat."))
    memory.accept(found(memory, "Ulm").fact_id)
    memory.forget(turn_id="t3")
    assert "Ulm" in held(memory) and memory.why(found(memory, "Ulm").fact_id).fact.turn_ids == ("t2",)
    assert "t3" not in rows(doxa) and "Chiara" not in rows(doxa)
    memory.undo()
    assert "Bonn" in held(memory) and "Ulm" not in held(memory)


def test_an_acceptance_does_not_keep_the_time_of_a_turn_that_is_erased(doxa):
    """It has the time of the latest turn, and of the latest that there is once that one is erased."""

    def accepted(memory):
        memory.retract(found(memory, "Ulm").fact_id)
        memory.accept(found(memory, "Ulm").fact_id)
        return memory

    moved = (BONN, ("Ana", "I live in Ulm."), ("Ana", "I like tea."))
    memory = accepted(tell(doxa, *moved, ("Ana", "I own a boat.")))
    never = accepted(tell(doxa, *moved, user="never told of it"))
    assert picture(memory)[0] != picture(never)[0]
    memory.forget(turn_id="t4")
    assert picture(memory)[0] == picture(never)[0]
    assert "2025-03-04" not in rows(doxa)


def test_of_values_that_were_kept_the_last_one_needs_no_keeping(doxa):
    memory = tell(doxa, *TWO, ("Ana", "I own a boat."))
    memory.keep_both([fact.fact_id for fact in memory.facts() if fact.disputed])
    memory.forget(turn_id="t1")
    assert "142" not in rows(doxa) and "accepted" not in {row.kind for row in doxa.parts.log.rows("ana")}
    assert "136 square metres" in held(memory) and not disputed(memory)


def test_an_identity_that_was_undone_is_gone_with_its_turn(doxa):
    """The undoing of a merge repeats no name that only an erased turn had."""
    memory = tell(doxa, BONN, ("Ana", "Zebulon works at Siemens."), ("Ana", "Kim lives in Ulm."))
    memory.merge("Kim", "Zebulon")
    memory.undo()
    memory.forget(turn_id="t2")
    assert "ebulon" not in rows(doxa)
    memory.undo()
    assert held(memory) == {"Bonn"}


def test_an_acceptance_goes_with_its_turn_and_comes_back_with_it(doxa):
    memory = tell(doxa, *SET_ASIDE)
    memory.accept(found(memory, "Ulm").fact_id)
    before = picture(memory)
    memory.withdraw(turn_id="t2")
    assert held(memory) == {"Bonn"}
    memory.undo()
    assert picture(memory) == before


def test_it_survives_a_restart_an_export_and_is_known_from_then_on(tmp_path):
    with opened(tmp_path / "memory.db") as doxa:
        memory = tell(doxa, *SET_ASIDE)
        ulm = found(memory, "Ulm").fact_id
        changes = memory.accept(ulm)
        before = memory.facts(known_at="2025-12-31")
        assert [str(fact.object) for fact in before] == ["Bonn"]
        assert memory.facts(known_at=changes[-1].known_at) == memory.facts()
        for name in ("ana.jsonl", "ana.ttl"):
            other = doxa.memory(user=name)
            other.import_(memory.export(tmp_path / name, format="jsonl" if name.endswith("jsonl") else "turtle"))
            assert other.facts(current=False) == memory.facts(current=False)
    with opened(tmp_path / "memory.db") as doxa:
        assert held(doxa.memory(user="ana")) == {"Ulm"}


def test_two_values_that_were_accepted_in_turn_are_taken_back_one_by_one(doxa):
    """Also where the same one was accepted before: the last acceptance goes, the first one stays."""
    memory = tell(doxa, BONN, ("Ben", "Ana lives in Ulm."), ("Ben", "Ana lives in Graz."))
    seen = []
    for thing in ("Ulm", "Graz"):
        seen.append(picture(memory))
        memory.accept(found(memory, thing).fact_id)
        assert held(memory) == {thing}
    for before in reversed(seen):
        memory.undo()
        assert picture(memory) == before


SAID = st.sampled_from([
    *TENTATIVE, *SET_ASIDE, *FROM_A_MACHINE, *CORRECTED, *NEGATED, *BESIDE, *THREE, *RULED, ("Ana", "I moved to Oslo."),
    ("Ana", "Forget that."), ("Ben", "Ana does not live in Ulm."),
])  # fmt: skip
BY_HAND = st.tuples(st.sampled_from(["say", "accept", "keep", "retract", "undo"]), SAID, st.integers(0, 20))


@settings(max_examples=10, deadline=None)
@given(steps=st.lists(BY_HAND, min_size=4, max_size=10))
def test_every_undo_restores_what_was_whatever_was_said_and_accepted(strict, steps):
    """A stack of pictures is the model. Folding the log again gives the same, and so does revising by it again."""
    doxa, users = strict
    memory = tell(doxa, BONN, user=f"u{next(users)}")
    stack = []
    for place, (step, said, number) in enumerate(steps, start=2):
        before, facts = picture(memory), memory.facts(current=False)
        chosen = facts[number % len(facts)].fact_id
        try:
            match step:
                case "say":
                    tell(doxa, said, user=memory.user, start=place)
                    last = memory.history()[-1:]
                    done = any(one.turn_id == f"t{place}" for one in (*last, *memory.rules()))
                case "accept":
                    done = bool(memory.accept(chosen))
                case "keep":
                    done = bool(memory.keep_both([fact.fact_id for fact in facts if fact.disputed]))
                case "retract":
                    done = memory.retract(chosen) is not None
                case "undo":
                    done = False
                    if stack:
                        memory.undo()
                        assert picture(memory) == stack.pop()
        except InputError:
            assert picture(memory) == before
            continue
        if done:
            stack.append(before)
    facts = memory.facts(current=False)
    if not any(step == "retract" for step, *_ in steps):  # of what was said twice it is told again which one was meant
        assert memory.facts(known_at="2999", current=False) == facts
    doxa.parts.log.forget_state(memory.user)
    assert memory.facts(current=False) == facts
