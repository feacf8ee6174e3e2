"""Facts that say what a question asks in other words."""

from datetime import UTC, date, datetime

import pytest

from doxa.core.values import Change, ChangeKind, Claim, Fact, Interval, Modality, Question, Relation, Status, Term, Turn
from doxa.memory import Beliefs, fact_id
from doxa.reason import answer
from doxa.reason.matching import matches, wording

NOW = datetime(2024, 5, 1, tzinfo=UTC)
TODAY = date(2024, 6, 1)


def term(label):
    """Make a term."""
    return Term(label.casefold(), label)


def believed(*told):
    """Believe facts; each is (subject, relation label, object, options), said by Ana in a turn of its own."""
    beliefs = Beliefs()
    for number, (subject, label, value, *more) in enumerate(told):
        options = more[0] if more else {}
        claim = Claim(
            subject=term(subject), relation=Relation(label.replace(" ", "_"), label), object=term(value),
            turn_id=f"t{number}", speaker=options.get("speaker", "Ana"), source=options.get("source", ""),
            known_at=NOW, span=options.get("span", f"{subject} {label} {value}"),
            modality=options.get("modality", Modality.ASSERTED), polarity=options.get("polarity", True),
        )  # fmt: skip
        fact = Fact(
            fact_id=fact_id(claim, number), subject=claim.subject, relation=claim.relation, object=claim.object,
            turn_ids=(claim.turn_id,), modality=claim.modality, polarity=claim.polarity,
            status=options.get("status", Status.HELD), valid=options.get("valid", Interval()),
            functional=options.get("functional", False),
        )  # fmt: skip
        beliefs.learn([claim], [Change(kind=ChangeKind.ASSERT, fact=fact)])
    return beliefs


def asked(text, *focus, head="", about=("Ana",), **more):
    """Ask something that no relation names."""
    whom = tuple(term(label) for label in about)
    return Question(text=text, focus=focus, head=head, about=whom, **({"asks": "object"} | more))


def turn(turn_id):
    """Make a turn of Ana's."""
    return Turn(turn_id=turn_id, user="ana", session="s", speaker="Ana", role="user", text="...", at=NOW)


def value(question, beliefs, day=None):
    """Return the bare answer."""
    return answer(question, beliefs, [], turn, asker="Ana", day=day, today=TODAY).value


def best(question, beliefs):
    """Return the objects of the best group."""
    groups = list(matches(question, beliefs, lambda key: "Ana", beliefs.facts.values()))
    return [match.fact.object.label for match in groups[0]] if groups else []


MATCHED = {
    "same verb": (asked("What does Ana mend?", "mend", head="mend"), ("Ana", "mends", "nets"), ["nets"]),
    "paraphrase": (asked("What does Ana repair?", "repair", head="repair"), ("Ana", "mends", "nets"), ["nets"]),
    "another verb": (asked("What does Ana paint?", "paint", head="paint"), ("Ana", "mends", "nets"), []),
    "somebody else": (asked("What does Bo mend?", "mend", about=("Bo",)), ("Ana", "mends", "nets"), []),
    "a possession": (asked("What is Ana's boat worth?", "worth"), ("Ana's boat", "costs", "900 euros"), ["900 euros"]),
    "only in the sentence": (
        asked("What does Ana mend at the quay?", "mend", "quay", head="mend", loose=("quay",)),
        ("Ana", "mends", "nets", {"span": "I mend nets at the quay"}),
        ["nets"],
    ),
    "a kind of it": (asked("What is Ana's pet?", "pet"), ("Ana", "has cat", "Nurr"), ["Nurr"]),
    "not the kind of it": (asked("What is Ana's cat?", "cat"), ("Ana", "has pet", "Nurr"), []),
    "taken back": (asked("What does Ana mend?", "mend"), ("Ana", "mends", "nets", {"status": Status.RETRACTED}), []),
}


@pytest.mark.parametrize(("question", "told", "expected"), MATCHED.values(), ids=MATCHED.keys())
def test_a_fact_matches_by_its_words(question, told, expected):
    """The same thing in other words matches; other things and other people do not."""
    assert best(question, believed(told)) == expected


def test_who_does_something_is_the_subject():
    """The one that a question asks for cannot be one whom it names."""
    question = asked("Who mends nets?", "mend", "net", head="mend", about=(), expects="person", kind="who")
    assert value(question, believed(("Bo", "mends", "nets"))) == "Bo"


def test_when_something_happens_is_the_day_of_the_fact():
    """A date as the object comes before the day on which the fact holds."""
    question = asked("When does Ana sail?", "sail", head="sail", expects="time", kind="when", asks="start")
    day = Interval(start=date(2024, 7, 1), end=date(2024, 7, 1))
    assert value(question, believed(("Ana", "sails to", "Oslo", {"valid": day}))) == "1 July 2024"


def test_yes_and_no_need_nearly_all_that_is_asked():
    """What ends something is no yes to it."""
    tests = asked("Does Ana have the boat?", "boat", asks="truth", kind="yesno")
    assert value(tests, believed(("Ana", "owns", "boat"))) == "yes"
    assert value(tests, believed(("Ana", "sells", "boat"))) == "no"
    assert value(tests, believed(("Ana", "owns", "boat", {"polarity": False}))) == "no"
    assert value(tests, believed(("Ana", "owns", "bike"))) is None


def test_what_is_not_settled_is_answered_with_no():
    """Only where that is asked; else it is not known."""
    tests = asked("Is it settled that Ana sails?", "sail", head="sail", asks="truth", kind="yesno", settled=True)
    assert value(tests, believed(("Ana", "mends", "nets"))) == "no"


def test_two_sources_disagree_and_one_may_change_its_mind():
    """The last word of each source counts."""
    question = asked("How long is the pier?", "long", "pier", about=(), kind="how_much", expects="number")
    one = ("pier", "is long", "90 metres", {"source": "the map"})
    other = ("pier", "is long", "80 metres", {"source": "the guide"})
    later = ("pier", "is long", "80 metres", {"source": "the map"})
    both = answer(question, believed(one, other), [], turn, asker="Ana", day=None, today=TODAY)
    assert both.disputed and "90" in str(both.value) and "80" in str(both.value)
    assert value(question, believed(one, later)) == "80 metres"


def test_a_landmark_picks_what_came_before_it():
    """ "Before 80" is the value that ended when that one began."""
    question = asked("How much was the toll before 80?", "toll", about=(), expects="number", before="80", past=True)
    first = ("toll", "costs", "70", {"status": Status.SUPERSEDED, "valid": Interval(end=date(2024, 2, 1))})
    second = ("toll", "costs", "80", {"valid": Interval(start=date(2024, 2, 1))})
    assert value(question, believed(first, second)) == "70"


def test_a_plan_for_a_state_holds_once_its_time_has_come():
    """Before that day the plan is no answer to what holds."""
    shift = {"modality": Modality.PLANNED, "valid": Interval(start=date(2024, 7, 1))}
    question = asked("What does Ana steer?", "steer", head="steer")
    beliefs = believed(("Ana", "steers", "ferry", shift))
    assert value(question, beliefs, day=date(2024, 7, 5)) == "ferry"
    assert value(question, beliefs, day=date(2024, 6, 20)) is None


def test_words_are_compared_by_their_stems():
    """Irregular forms count as their base form as well."""
    assert wording("was built") >= wording("build") and wording("the nets") == wording("net")
