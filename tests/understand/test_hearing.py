"""What is heard of a turn becomes claims: who is meant, which relation, when; beside what its syntax says."""

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from doxa.backends.parser import Heard, Line, Parse, Parser, Place, Told


class Hearing:
    """A parser that hears what a test tells it, and sees no syntax unless another one lends its own."""

    name = "hearing"

    def __init__(
        self, *claims: dict[str, str], meant: Sequence[tuple[str, str]] = (), syntax: Parser | None = None
    ) -> None:
        self._syntax, self._claims, self._meant = syntax, claims, meant

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """Words that hang on the first one, each of an unknown kind."""
        return self._syntax.parse(sentences) if self._syntax else [_flat(tuple(one)) for one in sentences]

    def hear(self, turns: Sequence[Sequence[Line]]) -> list[Heard]:
        """What was told of lines with these words."""
        return [self._heard(lines) for lines in turns]

    def close(self) -> None:
        """Has nothing to close."""

    def _heard(self, lines: Sequence[Line]) -> Heard:
        told = [one for one in self._claims if all(_place(lines, one[part]) for part in ("s", "o") if part in one)]
        meant = [(_place(lines, one), _place(lines, goal)) for one, goal in self._meant]
        return Heard(
            claims=tuple(_told(lines, one) for one in told),
            meant=tuple((one, goal) for one, goal in meant if one and goal),
            parses=(),
        )


def _flat(forms: tuple[str, ...]) -> Parse:
    same = ("X",) * len(forms)
    heads = (-1, *(0 for _ in forms[1:]))
    labels = ("root", *("dep" for _ in forms[1:]))
    outside, sure = ("O",) * len(forms), (1.0,) * len(forms)
    return Parse(forms=forms, lemmas=forms, upos=same, heads=heads, deprels=labels, tags=outside, confidences=sure)


def _place(lines: Sequence[Line], words: str) -> Place | None:
    for number in reversed(range(len(lines))):
        start = lines[number].text.find(words)
        if start >= 0:
            return Place(number, start, start + len(words))
    return None


def _told(lines: Sequence[Line], one: dict[str, str]) -> Told:
    thing = _place(lines, one["o"])
    assert thing is not None
    said = _place(lines, one["v"]) if "v" in one else None
    times = ((part, _place(lines, one[part])) for part in ("from", "to", "on", "instead", "by") if part in one)
    return Told(
        anchor=thing,
        subject=(_place(lines, one["s"]) if "s" in one else None) or Place(len(lines) - 1, -1, -1),
        relation=one.get("r", ""),
        words=(said or thing,),
        object=thing,
        times=tuple((part, place) for part, place in times if place is not None),
        flags=frozenset(one.get("flags", "").split()),
        p=float(one.get("p", "0.99")),
    )


GARBLED = "zzyx brumble fnord quux"
"""Words of which syntax tells nothing."""

CASES: dict[str, tuple[list[str], dict[str, str], list[str]]] = {
    "the speaker": ([GARBLED], {"o": "fnord", "r": "works_as"}, ["Nora works_as fnord"]),
    "somebody": ([GARBLED], {"s": "brumble", "o": "fnord", "r": "has"}, ["brumble has fnord"]),
    "denied": ([GARBLED], {"o": "fnord", "r": "likes", "flags": "not"}, ["not Nora likes fnord"]),
    "hate is not to like": ([GARBLED], {"o": "fnord", "r": "hate"}, ["not Nora likes fnord"]),
    "planned": ([GARBLED], {"o": "fnord", "r": "visits", "flags": "plan"}, ["planned Nora visits fnord"]),
    "wished": ([GARBLED], {"o": "fnord", "r": "visits", "flags": "wish"}, ["desired Nora visits fnord"]),
    "unsure": ([GARBLED], {"o": "fnord", "r": "visits", "flags": "maybe"}, ["possible Nora visits fnord"]),
    "over": ([GARBLED], {"o": "fnord", "r": "works_at", "flags": "over"}, ["ended Nora works_at fnord"]),
    "not worth it": ([GARBLED], {"o": "fnord", "r": "visits", "flags": "minor"}, []),
    "hardly heard": ([GARBLED], {"o": "fnord", "r": "visits", "p": "0.6"}, []),
    "since": (
        [f"{GARBLED} since May"],
        {"o": "fnord", "r": "works_at", "from": "since May"},
        ["Nora works_at fnord [since May 2024]"],
    ),
    "a state begins": (
        [f"{GARBLED} last week"],
        {"o": "fnord", "r": "lives_in", "on": "last week"},
        ["Nora lives_in fnord [since 3 June 2024]"],
    ),
    "on a day": (
        [f"{GARBLED} on 3 May"],
        {"o": "fnord", "v": "zzyx", "on": "on 3 May"},
        ["Nora zzyx fnord [3 May 2024]"],
    ),
    "from whom": ([GARBLED], {"o": "fnord", "r": "has", "by": "quux"}, ["Nora has fnord"]),
}


@pytest.mark.parametrize(("texts", "told", "expected"), CASES.values(), ids=CASES.keys())
def test_what_is_heard_is_claimed(
    texts: list[str], told: dict[str, str], expected: list[str], said: SimpleNamespace
) -> None:
    assert said.claims_of(*texts, parser=Hearing(told)) == expected


def test_a_pronoun_is_whom_it_points_to(said: SimpleNamespace) -> None:
    hearing = Hearing({"s": "she", "o": "fnord", "r": "has"}, meant=[("she", "brumble")])
    assert said.claims_of("zzyx brumble she fnord", parser=hearing) == ["brumble has fnord"]


def test_a_pronoun_that_means_nobody_claims_nothing(said: SimpleNamespace) -> None:
    assert said.claims_of("zzyx which fnord", parser=Hearing({"s": "which", "o": "fnord", "r": "has"})) == []


def test_what_is_heard_instead_corrects_what_was_said(said: SimpleNamespace) -> None:
    hearing = Hearing({"o": "zark", "r": "has", "flags": "correct", "instead": "fnord"}, {"o": "fnord", "r": "has"})
    found = said.claims_of("zzyx quux fnord", "brumble zark quux fnord", parser=hearing)
    assert "correct Nora has zark" in found


def test_what_is_heard_to_be_taken_back_is(said: SimpleNamespace) -> None:
    hearing = Hearing({"o": "zark", "r": "has"}, {"o": "glib zark", "r": "has", "flags": "withdraw"})
    assert said.claims_of("zzyx quux zark", "brumble glib zark", parser=hearing) == ["withdraw Nora has zark"]


def test_what_a_speaker_said_before_is_not_said_again(said: SimpleNamespace) -> None:
    """It was read where it was said: the turn after it is no second source of it."""
    told = {"s": "brumble", "o": "fnord", "r": "has"}
    assert said.claims_of("brumble fnord", "zzyx quux", parser=Hearing(told)) == []


@pytest.mark.parametrize(
    ("before", "flags", "expected"),
    [
        (("Liv", "brumble fnord"), "", ["brumble has fnord"]),
        (("Nora", "brumble fnord"), "over", ["ended brumble has fnord"]),
    ],
    ids=["agreed with", "no longer so"],
)
def test_a_turn_may_say_something_of_what_was_said_before(
    before: tuple[str, str], flags: str, expected: list[str], said: SimpleNamespace
) -> None:
    told = {"s": "brumble", "o": "fnord", "r": "has", "flags": flags}
    assert said.claims_of(before, "zzyx quux", parser=Hearing(told)) == expected


def test_what_syntax_says_is_not_said_twice(said: SimpleNamespace, parser: Parser) -> None:
    """ "He is called Miso" adds nothing to the cat Miso, and a day nothing to what holds since then."""
    hearing = Hearing({"s": "My cat", "o": "Miso", "r": "is_called"}, {"o": "May", "r": "begins_on"}, syntax=parser)
    assert said.claims_of("My cat is called Miso.", parser=hearing) == ["Nora cat Miso"]


def test_a_rule_tells_of_nothing(said: SimpleNamespace, parser: Parser) -> None:
    hearing = Hearing({"s": "Liv", "o": "car", "r": "drives"}, syntax=parser)
    _, _, found = said.after("If Liv takes the car, I walk.", parser=hearing)
    assert found.rules
    assert found.claims == ()
