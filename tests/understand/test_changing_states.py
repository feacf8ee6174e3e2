"""What changes: readings, states with one value at a time, jobs, homes, posts, and sentences that go on from others."""

from types import SimpleNamespace

import pytest

from doxa.backends.parser import Parser

CASES: dict[str, tuple[list[str], list[str]]] = {
    "down to": (["Our puppy weighs 9 kilos.", "She's down to 8.5 kilos."], ["Nora's puppy weighs 8.5 kilos"]),
    "hours": (["I work 38 hours a week."], ["Nora works_hours 38 hours a week"]),
    "dead": (
        ["My aunt passed away on Monday."],
        ["Nora's aunt died_on 10 June 2024 [10 June 2024]", "Nora's aunt vital_status dead [since 10 June 2024]"],
    ),
    "open again": (["The corner shop is open again."], ["corner shop open_status open"]),
    "closed for good": (
        ["The corner shop closed down in May."],
        ["corner shop open_status closed [since May 2024]", "corner shop close_down  [May 2024]"],
    ),
    "years beside their length": (
        ["I worked at the post office from 2012 to 2015."],
        ["ended Nora works_at post office [from 2012 until 2015]"],
    ),
    "another country": (["I live in Spain.", "I live in Oslo now."], ["Nora lives_in Oslo"]),
    "appointment gets its day": (
        ["I've got a cardiology appointment sometime in July.", "The cardiology one is on 9 July."],
        ["planned Nora cardiology_appointment 9 July 2024 [since 9 July 2024]"],
    ),
    "colleague by place": (
        ["My colleague Georgia lives in Leeds.", "Georgia from work has been promoted to team lead."],
        ["Georgia works_as team lead"],
    ),
    "namesake by place": (
        ["My sister Vera lives in Graz.", "Vera from accounting has moved to Oslo."],
        ["Vera from accounting lives_in Oslo", "Vera works_in accounting"],
    ),
    "by day": (["On Sundays the pool closes at 18:00."], ["pool close_at 18:00 on Sundays"]),
}
"""What is said, turn by turn, and the claims of the last turn."""


@pytest.mark.parametrize(("turns", "expected"), CASES.values(), ids=CASES.keys())
def test_a_turn_gives_exactly_these_claims(
    turns: list[str], expected: list[str], said: SimpleNamespace, parser: Parser
) -> None:
    assert said.claims_of(*turns, parser=parser) == expected


@pytest.mark.parametrize(
    ("turns", "unwanted"),
    [
        (["I weigh 71 kilos.", "I'm 34 now."], "weighs"),
        (["I lived in Graz from 2001 to 2005.", "Lovely weather, then rain."], "lives_in"),
        (["Our rent is 700 euros.", "We have two cats now."], "costs"),
        (["I work for Brightside.", "I left the keys at Brightside."], "works_at"),
        (["I don't have a drill.", "If my drill were here, I would hang it."], "Nora has drill"),
    ],
)
def test_what_only_looks_alike_changes_nothing(
    turns: list[str], unwanted: str, said: SimpleNamespace, parser: Parser
) -> None:
    """An age is no weight, a new sentence no continuation, and keys that were left somewhere end no job."""
    assert not [claim for claim in said.claims_of(*turns, parser=parser) if unwanted in claim]
