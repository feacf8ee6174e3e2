"""Revision across slots: rules join facts, and what clashes gives way after every turn."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.core.values import Act, Atom, Claim, Conflict, Interval, Modality, Relation, Rule, Status, Term
from doxa.memory import Beliefs, rule_id
from doxa.revise import Policy, bring_back, cut_short, revise, withdraw

DAY0 = datetime(2024, 1, 1, tzinfo=UTC)
HAS, GOES = Relation("has", "has"), Relation("go_to", "goes to")
IS = Relation("is_a", "is a")


def term(name):
    """Make the term of a name."""
    return Term(name.casefold(), name)


def claim(subject, thing="key", *, n=1, relation=HAS, speaker="Nadine", **more):
    """Make the claim that turn `n` says, on day n of 2024."""
    more.setdefault("span", f"{subject} {relation} {thing}")
    return Claim(
        subject=term(subject), relation=relation, object=term(thing), speaker=speaker, turn_id=f"t{n}",
        known_at=DAY0 + timedelta(days=n), **more,
    )  # fmt: skip


def atom(subject, thing="key", *, relation=HAS, polarity=True):
    """Make an atom of a rule."""
    return Atom(subject=term(subject), relation=relation, object=term(thing), polarity=polarity)


def rule(if_, then, *, n=0):
    """Make the rule that turn `n` states."""
    return Rule(if_=tuple(if_), then=tuple(then), turn_id=f"t{n}", speaker="Nadine", known_at=DAY0 + timedelta(days=n),
                span="the rule")  # fmt: skip


def one_of(*names, n=0):
    """Make the rules of "exactly one of them has the key"."""
    pairs = [rule([atom(a)], [atom(b, polarity=False)], n=n) for a in names for b in names if a != b]
    last = [rule([atom(b, polarity=False) for b in names if b != a], [atom(a)], n=n) for a in names]
    return [*pairs, *last]


def tell(*said, policy="recency"):
    """Return the beliefs after claims and lists of rules, one turn each, in order."""
    beliefs = Beliefs(policy=policy)
    for one in said:
        claims, rules = ([], one) if isinstance(one, list) else ([one], [])
        first = (*claims, *rules)[0]
        changes = revise(claims, beliefs, turn_id=first.turn_id, known_at=first.known_at, rules=rules)
        beliefs.learn(claims, changes, rules)
    return beliefs


def held(beliefs):
    """Return who has what, by what is held and undisputed."""
    return {
        (str(f.subject), str(f.object)): f.polarity
        for f in beliefs.facts.values()
        if f.status is Status.HELD and not f.disputed
    }


def test_the_later_observation_ends_the_older_one_under_exactly_one():
    """Raj had the key until Ida was seen with it; that Tom has it not follows all the time."""
    beliefs = tell(one_of("Tom", "Ida", "Raj"), claim("Raj", n=1), claim("Ida", n=2))
    assert held(beliefs) == {("Ida", "key"): True, ("Raj", "key"): False, ("Tom", "key"): False}
    (raj,) = [f for f in beliefs.facts.values() if str(f.subject) == "Raj" and f.polarity]
    assert raj.status is Status.SUPERSEDED and raj.valid.end == date(2024, 1, 3)
    change = beliefs.changes_of(raj.fact_id)[-1]
    rules = {rule_id(rule) for rule in one_of("Tom", "Ida", "Raj")}
    assert change.conflict is Conflict.UPDATE and rules & set(change.because)


def test_ruling_out_all_others_leaves_one():
    """Neither Tom nor Ida has the key, so Raj does, and the fact names its premises."""
    beliefs = tell(one_of("Tom", "Ida", "Raj"), claim("Tom", n=1, polarity=False), claim("Ida", n=2, polarity=False))
    (raj,) = [f for f in beliefs.facts.values() if str(f.subject) == "Raj" and f.status is Status.HELD]
    assert raj.polarity and len(raj.premises) == 3
    assert set(raj.turn_ids) == {"t0", "t1", "t2"}


def test_a_conclusion_goes_with_its_premise_and_the_opposite_is_not_concluded():
    """Zoe did not pass after all: there is no dog, and no "no dog" either."""
    passes = Relation("passes", "passes")
    beliefs = tell(
        [rule([atom("Zoe", "test", relation=passes)], [atom("Colm", "dog")])],
        claim("Zoe", "test", relation=passes, n=1),
        claim("Zoe", "test", relation=passes, n=2, polarity=False),
    )
    assert held(beliefs) == {("Zoe", "test"): False}


def test_only_if_ends_the_commitment():
    """Ewa goes only if Leo goes; he does not, so her plan is off."""
    plan = {"relation": GOES, "modality": Modality.PLANNED}
    beliefs = tell(
        [rule([atom("Ewa", "wedding", relation=GOES)], [atom("Leo", "wedding", relation=GOES)])],
        claim("Ewa", "wedding", n=1, speaker="Ewa", **plan),
        claim("Leo", "wedding", n=2, speaker="Ewa", polarity=False, **plan),
    )
    assert held(beliefs) == {("Leo", "wedding"): False, ("Ewa", "wedding"): False}


def test_a_rule_that_is_stated_after_the_facts_revises_them():
    """Two have the key when it is said that only one can: the older word gives way."""
    beliefs = tell(claim("Raj", n=1), claim("Ida", n=2), one_of("Raj", "Ida", n=3))
    assert held(beliefs) == {("Ida", "key"): True, ("Raj", "key"): False}


def test_withdrawing_the_rule_brings_everything_back():
    """Without the rule nothing clashes, and nothing follows."""
    beliefs = tell(claim("Raj", n=1), claim("Ida", n=2), one_of("Raj", "Ida", n=3))
    beliefs.drop_turn("t3", withdraw("t3", beliefs, known_at=DAY0))
    assert held(beliefs) == {("Ida", "key"): True, ("Raj", "key"): True}


def test_withdrawing_the_newcomer_brings_the_displaced_fact_back():
    """Ida was not seen with the key after all, so Raj still has it."""
    beliefs = tell(one_of("Tom", "Ida", "Raj"), claim("Raj", n=1), claim("Ida", n=2))
    beliefs.drop_turn("t2", withdraw("t2", beliefs, known_at=DAY0))
    assert held(beliefs) == {("Raj", "key"): True, ("Ida", "key"): False, ("Tom", "key"): False}


def test_a_rule_with_a_variable_has_a_case_for_each_person():
    """Every trainee gets a locker: Tom and Sue do, Kim is no trainee."""
    is_a = Relation("is_a", "is")
    gets = Relation("get", "gets")
    beliefs = tell(
        claim("Tom", "trainee", relation=is_a, n=1),
        [rule([atom("?x", "trainee", relation=is_a)], [atom("?x", "locker", relation=gets)], n=2)],
        claim("Sue", "trainee", relation=is_a, n=3),
        claim("Kim", "cook", relation=is_a, n=4),
    )
    assert {key for key in held(beliefs) if key[1] == "locker"} == {("Tom", "locker"), ("Sue", "locker")}


def test_rule_and_fact_meet_whatever_field_the_words_stand_in():
    """ "be occupied" with nothing, and "is" with "occupied", are one thing said of a room."""
    occupied = Relation("be_occupied", "is occupied")
    beliefs = tell(
        [rule([atom("Room 1", "", relation=occupied)], [atom("Room 2", "", relation=occupied, polarity=False)])],
        claim("Room 1", "occupied", relation=Relation("has_state", "is"), n=1),
        claim("Room 2", "occupied", relation=Relation("has_state", "is"), n=2),
    )
    assert held(beliefs) == {("Room 1", ""): False, ("Room 2", "occupied"): True}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("recency", {("Ida", "key"): True, ("Raj", "key"): False}),
        ("reject-new", {("Ida", "key"): False, ("Raj", "key"): True}),
        ("trust", {("Ida", "key"): False, ("Raj", "key"): True}),
        ("weighted", {("Ida", "key"): False, ("Raj", "key"): True}),
        ("ask", {}),
    ],
)
def test_the_policy_chooses_who_gives_way(policy, expected):
    """Raj says of himself that he has the key; Nadine says later that Ida does."""
    beliefs = tell(one_of("Raj", "Ida"), claim("Raj", n=1, speaker="Raj"), claim("Ida", n=2), policy=policy)
    assert held(beliefs) == expected
    assert any(fact.disputed for fact in beliefs.facts.values()) == (policy == "ask")


def test_a_correction_across_slots_reaches_back():
    """ "No, it is Ida" : Raj never had it."""
    beliefs = tell(one_of("Raj", "Ida"), claim("Raj", n=1), claim("Ida", n=2, act=Act.CORRECT))
    (raj,) = [f for f in beliefs.facts.values() if str(f.subject) == "Raj" and f.polarity]
    assert raj.status is Status.RETRACTED


def test_what_the_rules_alone_exclude_is_set_aside():
    """Two rules let Raj never have the key; what is said against them is not believed, and says why."""
    both = [rule([atom("Raj")], [atom("Ida")], n=0)]
    beliefs = tell(both, [rule([atom("Raj")], [atom("Ida", polarity=False)], n=1)], claim("Raj", n=2))
    (raj,) = [f for f in beliefs.facts.values() if f.status is Status.QUARANTINED]
    assert "cannot be true" in beliefs.changes_of(raj.fact_id)[-1].reason


def test_what_is_over_clashes_with_nothing():
    """Raj had the key last year; that Ida has it now says nothing about then."""
    past = Interval(start=date(2023, 1, 1), end=date(2023, 6, 1))
    beliefs = tell(one_of("Raj", "Ida"), claim("Raj", n=1, valid=past), claim("Ida", n=2))
    (raj,) = [f for f in beliefs.facts.values() if str(f.subject) == "Raj" and f.polarity]
    assert raj.valid == past and raj.status is Status.HELD


def test_a_fact_outside_the_neighbourhood_is_not_looked_at():
    """The work of one turn does not grow with what no rule connects to it."""
    beliefs = tell(one_of("Raj", "Ida"), claim("Raj", n=1))
    for n in range(2, 200):
        other = claim(f"P{n}", "umbrella", n=n)
        beliefs.learn([other], revise([other], beliefs, turn_id=f"t{n}", known_at=DAY0 + timedelta(days=n)))
    theory = beliefs.kept["theory"]
    before = len(theory)
    beliefs.learn([last := claim("Ida", n=300)], revise([last], beliefs, turn_id="t300", known_at=DAY0))
    assert len(theory) - before <= 1


def literals():
    """Draw turns: who has the key or not, or a rule between two people."""
    names = st.sampled_from("ABCD")
    fact = st.tuples(st.just("fact"), names, st.booleans())
    implies = st.tuples(st.just("rule"), st.lists(st.tuples(names, st.booleans()), min_size=2, max_size=3))
    return st.lists(st.one_of(fact, implies), max_size=10)


def told(script):
    """Return the turns of a drawn script."""
    turns = []
    for n, (kind, *rest) in enumerate(script, 1):
        if kind == "fact":
            turns.append(claim(rest[0], n=n, polarity=rest[1]))
        else:
            *if_, then = rest[0]
            turns.append([rule([atom(a, polarity=p) for a, p in if_], [atom(then[0], polarity=then[1])], n=n)])
    return turns


def violated(beliefs):
    """Return the rules whose conditions are all held while a conclusion is denied."""
    world = {subject: polarity for (subject, _), polarity in held(beliefs).items()}
    return [
        r for r in beliefs.rules
        if all(world.get(str(a.subject)) == a.polarity for a in r.if_)
        and any(world.get(str(a.subject)) == (not a.polarity) for a in r.then)
    ]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(literals(), st.sampled_from([p.value for p in Policy]))
def test_what_is_held_breaks_no_rule_after_any_turn(script, policy):
    """Consistency: whatever is said in whatever order, under every policy."""
    turns = told(script)
    for size in range(len(turns) + 1):
        beliefs = tell(*turns[:size], policy=policy)
        clashing = {rule_id(r) for r in violated(beliefs)}
        alone = {rule_id(r) for one in turns[:size] if isinstance(one, list) for r in one}
        assert not clashing or (clashing <= alone and _unsatisfiable(beliefs))


def _unsatisfiable(beliefs):
    """Tell whether the rules alone have no model, by trying all; then no revision of facts helps."""
    from itertools import product

    names = "ABCD"
    for values in product((True, False), repeat=4):
        world = dict(zip(names, values, strict=True))
        if all(
            not all(world[str(a.subject)] == a.polarity for a in r.if_)
            or all(world[str(a.subject)] == a.polarity for a in r.then)
            for r in beliefs.rules
        ):
            return False
    return True


@settings(max_examples=150, deadline=None)
@given(literals(), st.data())
def test_withdrawing_a_turn_equals_never_having_heard_it(script, data):
    """The facts that are believed are those of the other turns; what was only said in it is retracted."""
    turns = told(script)
    if not turns:
        return
    out = data.draw(st.integers(0, len(turns) - 1))
    beliefs = tell(*turns)
    turn_id = f"t{out + 1}"
    beliefs.drop_turn(turn_id, withdraw(turn_id, beliefs, known_at=DAY0))
    never = tell(*turns[:out], *turns[out + 1 :])
    assert _believed(beliefs) == _believed(never)


@settings(max_examples=100, deadline=None)
@given(literals())
def test_withdrawing_and_saying_again_equals_never_withdrawn(script):
    """A turn that is taken back and given again at its old place changes nothing."""
    turns = told(script)
    if not turns:
        return
    beliefs, last = tell(*turns), turns[-1]
    turn_id = f"t{len(turns)}"
    beliefs.drop_turn(turn_id, withdraw(turn_id, beliefs, known_at=DAY0))
    claims, rules = ([], last) if isinstance(last, list) else ([last], [])
    changes = revise(claims, beliefs, turn_id=turn_id, known_at=DAY0 + timedelta(days=len(turns)), rules=rules)
    beliefs.learn(claims, changes, rules)
    assert _believed(beliefs) == _believed(tell(*turns))


def _believed(beliefs):
    return {
        replace(f, turn_ids=tuple(sorted(f.turn_ids)), premises=())
        for f in beliefs.facts.values()
        if f.status is not Status.RETRACTED
    }


def test_minimal_gives_up_the_fewest_beliefs():
    """What was said last stays, and of the others only what it excludes goes."""
    pairs = [("New", "A"), ("New", "B"), ("Late", "New")]
    rules = [rule([atom(one)], [atom(other, polarity=False)]) for one, other in pairs]
    beliefs = tell(rules, claim("A", n=1), claim("B", n=2), claim("New", n=3), policy="minimal")
    assert held(beliefs)[("New", "key")] and not held(beliefs)[("A", "key")]
    later = tell(rules, claim("A", n=1), claim("B", n=2), claim("New", n=3), claim("Late", n=4), policy="minimal")
    assert held(later)[("Late", "key")] and not held(later)[("New", "key")]


@pytest.mark.parametrize(("policy", "gone"), [("minimal", {"C"}), ("recency", {"A", "B"})])
def test_minimal_gives_up_one_where_the_older_word_would_cost_two(policy, gone):
    """C and the new fact together exclude both A and B: without C everything else stays."""
    rules = [rule([atom("C"), atom("New")], [atom(other, polarity=False)]) for other in "AB"]
    facts = [claim(name, n=n) for n, name in enumerate(("A", "B", "C", "New"), 1)]
    beliefs = tell(rules, *facts, policy=policy)
    lost = {str(f.subject) for f in beliefs.facts.values() if f.polarity and f.status is not Status.HELD}
    assert lost == gone


def test_weighted_keeps_what_many_say():
    """Three people saw Raj with the key and one saw Ida."""
    many = [claim("Raj", n=n, speaker=who) for n, who in enumerate(("Tom", "Mia", "Leo"), 1)]
    beliefs = tell(one_of("Raj", "Ida"), *many, claim("Ida", n=9), policy="weighted")
    assert held(beliefs) == {("Raj", "key"): True, ("Ida", "key"): False}


def test_a_rule_that_is_lifted_in_words_no_longer_binds():
    """ "Forget that rule": both have the key again, until it is stated anew; withdrawing the word lifts nothing."""
    pair = rule([atom("Raj")], [atom("Ida", polarity=False)])
    lifting = [Rule(lifts=rule_id(pair), turn_id="t3", known_at=DAY0 + timedelta(days=3))]
    beliefs = tell([pair], claim("Raj", n=1), claim("Ida", n=2), lifting)
    assert beliefs.rules == () and held(beliefs) == {("Raj", "key"): True, ("Ida", "key"): True}
    beliefs.drop_turn("t3", withdraw("t3", beliefs, known_at=DAY0))
    assert beliefs.rules == (pair,) and held(beliefs)[("Raj", "key")] is False


def everybody(n, *, polarity):
    """Make the rule of turn `n` that every trainee has the key, or has it not."""
    (someone, nobody) = (
        Atom(subject=Term("?x", "?x"), relation=relation, object=term(thing), polarity=holds)
        for relation, thing, holds in ((IS, "trainee", True), (HAS, "key", polarity))
    )
    return rule([someone], [nobody], n=n)


@pytest.mark.parametrize("policy", list(Policy))
def test_a_rule_may_clash_with_any_number_of_facts_at_once(policy):
    """A hundred people had what nobody has, as is said in the turn that brings one more."""
    beliefs = Beliefs(policy=policy)
    for n in range(100):
        people = [claim(f"p{n}", "trainee", n=n, relation=IS), claim(f"p{n}", n=n)]
        beliefs.learn(people, revise(people, beliefs, turn_id=f"t{n}", known_at=DAY0 + timedelta(days=n)))
    new, nobody = claim("q", "trainee", n=100, relation=IS), everybody(100, polarity=False)
    changes = revise([new], beliefs, turn_id="t100", known_at=DAY0 + timedelta(days=100), rules=[nobody])
    beliefs.learn([new], changes, [nobody])
    now = held(beliefs)
    assert not any(now.get((f"p{n}", "key")) and now.get((f"p{n}", "trainee")) for n in range(100))


def test_what_nothing_joins_is_settled_apart():
    """A rule about everybody costs as many questions as there are people, each about one of them."""
    beliefs = tell(*(claim(f"p{n}", "trainee", n=n, relation=IS) for n in range(60)), [everybody(60, polarity=True)])
    assert sum(holds for (_, thing), holds in held(beliefs).items() if thing == "key") == 60
    assert len(beliefs.kept["cores"]) <= 2 * 60


def test_a_rule_that_joins_people_is_asked_about_those_whom_it_joins():
    """Of n people there are n x n pairs; each is a question about two of them, however many there are."""
    live, know = Relation("lives_in", "lives in"), Relation("knows", "knows")
    neighbours = rule(
        [atom("?x", "?z", relation=live), atom("?y", "?z", relation=live)], [atom("?x", "?y", relation=know)]
    )
    for people in (4, 8, 16):
        beliefs = tell([neighbours], *(claim(f"p{n}", "Oslo", n=n, relation=live) for n in range(1, people + 1)))
        pairs = people * people - people
        assert sum(f.status is Status.HELD and f.relation == know for f in beliefs.facts.values()) == pairs
        asked = [names for names, also in beliefs.kept["cores"] if also]
        assert (len(asked), max(map(len, asked))) == (pairs, 3)


def test_more_people_than_cases_of_one_proposition_are_all_reached_and_left(monkeypatch):
    """What a withdrawn rule had made is gone, however many it was about; and no case was left out."""
    monkeypatch.setattr("doxa.revise.ground.MAX_CASES", 10)
    before = [claim(f"p{n}", "trainee", n=n, relation=IS) for n in range(15)]
    after = [claim(f"q{n}", "trainee", n=20 + n, relation=IS) for n in range(15)]
    beliefs = tell(*before, [everybody(15, polarity=True)], *after)
    assert sum(thing == "key" for _, thing in held(beliefs)) == 30
    assert not cut_short(beliefs)
    beliefs.drop_turn("t15", withdraw("t15", beliefs, known_at=DAY0 + timedelta(days=90)))
    assert not any(thing == "key" for _, thing in held(beliefs))


@pytest.mark.parametrize("first", [True, False], ids=["rule first", "rule last"])
def test_what_of_a_rule_is_not_looked_at_is_told(monkeypatch, first):
    """A rule that joins all the people of a town has more cases than are looked at; one that joins few has not."""
    monkeypatch.setattr("doxa.revise.ground.MAX_CASES", 10)
    live, know = Relation("lives_in", "lives in"), Relation("knows", "knows")
    neighbours = [atom("?x", "?z", relation=live), atom("?y", "?z", relation=live)]
    joins = rule(neighbours, [atom("?x", "?y", relation=know)], n=0 if first else 99)
    for people, more in ((5, 0), (15, 1)):
        said = [claim(f"p{n}", "Oslo", n=n, relation=live) for n in range(1, people + 1)]
        beliefs = tell(*([[joins], *said] if first else [*said, [joins]]))
        assert len(cut_short(beliefs)) == more
        assert [one.turn_id for one in cut_short(beliefs)] == [joins.turn_id] * more


def test_a_rule_that_is_stated_twice_counts_from_the_first_time_whenever_it_is_brought_back():
    """Giving up the first statement and taking it up again leaves everything as it was."""
    beliefs = tell(one_of("Tom", "Ida"), claim("Tom", n=1), claim("Ida", n=2), one_of("Tom", "Ida", n=3))
    before = held(beliefs), dict(beliefs.facts)
    at = DAY0 + timedelta(days=9)
    beliefs.drop_turn("t0", withdraw("t0", beliefs, known_at=at))
    key = ("turn", "t0")
    beliefs.bring_back(key, bring_back(*beliefs.given_up(key), beliefs, known_at=at, reason="undone"))
    assert (held(beliefs), beliefs.facts) == before


def test_what_a_constraint_alone_excludes_is_no_fact_whatever_rules_speak_of_it():
    """That an open door is not closed goes without saying, although a rule has a word on closed things."""
    state = Relation("has_state", "is")
    trainees = rule([atom("?x", "trainee", relation=IS)], [atom("?x", "closed", relation=state, polarity=False)], n=1)
    beliefs = tell([trainees], claim("Eve", "open", n=2, relation=state))
    assert held(beliefs) == {("Eve", "open"): True}


def test_a_rule_denies_its_condition_whenever_it_is_stated():
    """Eve has no key: she is no trainee, be it said before the rule or after it."""
    keys, none = everybody(1, polarity=True), claim("Eve", n=1, polarity=False)
    after = tell([keys], replace(none, turn_id="t2", known_at=DAY0 + timedelta(days=2)))
    before = tell(none, [replace(keys, turn_id="t2", known_at=DAY0 + timedelta(days=2))])
    assert held(before) == held(after) == {("Eve", "key"): False, ("Eve", "trainee"): False}


def test_what_followed_under_a_name_follows_under_the_name_that_it_is_taken_for():
    """Nothing is left under the old name, and parting the names brings all of it back."""
    bob, tom = "Bob", "Tom"
    tired = rule([atom(bob)], [atom(tom, "tired", relation=Relation("has_state", "is"))], n=1)
    beliefs = tell([tired], claim(bob, n=2), claim(tom, n=3))
    before = {k: f for k, f in beliefs.facts.items() if f.status is not Status.RETRACTED}
    same = [claim(bob, tom, n=4, relation=Relation("same_as", "is the same as"))]
    at = DAY0 + timedelta(days=4)
    beliefs.learn(same, revise(same, beliefs, turn_id="t4", known_at=at))
    assert len([subject for (subject, thing) in held(beliefs) if thing == "tired"]) == 1
    beliefs.drop_turn("t4", withdraw("t4", beliefs, known_at=at))
    assert {k: f for k, f in beliefs.facts.items() if f.status is not Status.RETRACTED} == before


@pytest.mark.parametrize("policy", list(Policy))
def test_what_one_turn_says_of_several_comes_in_its_order_however_it_is_brought_back(policy):
    """A turn names all three who cannot have the key together; taking the rule back and up again changes nothing."""
    beliefs, names = Beliefs(policy=policy), ("Tom", "Raj", "Ida")
    rules = one_of(*sorted(names), n=1)
    beliefs.learn([], revise([], beliefs, turn_id="t1", known_at=DAY0, rules=rules), rules)
    for n in (2, 3):
        said = [claim(name, n=n) for name in names]
        beliefs.learn(said, revise(said, beliefs, turn_id=f"t{n}", known_at=DAY0 + timedelta(days=n)))
    before = {k: f for k, f in beliefs.facts.items() if f.status is not Status.RETRACTED}
    at = DAY0 + timedelta(days=9)
    beliefs.drop_turn("t1", withdraw("t1", beliefs, known_at=at))
    key = ("turn", "t1")
    beliefs.bring_back(key, bring_back(*beliefs.given_up(key), beliefs, known_at=at, reason="undone"))
    assert {k: f for k, f in beliefs.facts.items() if f.status is not Status.RETRACTED} == before


def test_a_history_that_was_told_before_is_not_asked_about_again():
    """Who has the key goes round: the twentieth turn puts no more questions to the solvers than the tenth."""
    names, asked = ("Tom", "Ida", "Raj"), []
    beliefs = tell(one_of(*names))
    for n in range(1, 21):
        said = [claim(names[n % 3], n=n)]
        before = beliefs.kept["theory"].work.assumed if "theory" in beliefs.kept else 0
        beliefs.learn(said, revise(said, beliefs, turn_id=f"t{n}", known_at=DAY0 + timedelta(days=n)))
        asked.append(beliefs.kept["theory"].work.assumed - before)
    assert asked[19] <= asked[9]
