"""What changes: readings, states with one value at a time, jobs, homes, posts, and sentences that go on from others."""

from types import SimpleNamespace

import pytest

from doxa.backends.parser import Parser

CASES: dict[str, tuple[list[str], list[str]]] = {
    "put on the scales": (["Put the rabbit on the kitchen scales: 2.4 kilos."], ["Nora's rabbit weighs 2.4 kilos"]),
    "weighed again": (["Weighed Rex again this morning, 18 kg."], ["Rex weighs 18 kg [since 12 June 2024]"]),
    "stepped on the scales": (
        ["Stepped on the scales today: 71 kilos."],
        ["Nora steppe_on scales [12 June 2024]", "Nora weighs 71 kilos [since 12 June 2024]"],
    ),
    "down to": (["Our puppy weighs 9 kilos.", "She's down to 8.5 kilos."], ["Nora's puppy weighs 8.5 kilos"]),
    "height beside a clause": (["Measured Olga against the wall: 1.42 m."], ["Olga height 1.42 m"]),
    "new price beside a clause": (
        ["The council put the permit up, 90 euros a year now."],
        ["permit costs 90 euros a year"],
    ),
    "number from before": (
        ["My rent is 720 a month.", "It goes up to 760 on 1 September."],
        ["Nora rent 760 a month [since 1 September 2024]"],
    ),
    "size of a group": (["There are nine of us in the choir."], ["Nora's choir headcount 9 people"]),
    "size of a group that was told": (
        ["There are nine of us in the choir.", "Two left, so we're seven."],
        ["two leave ", "Nora's choir headcount 7 people"],
    ),
    "hours": (["I work 38 hours a week."], ["Nora works_hours 38 hours a week"]),
    "hours of a contract": (
        ["My new contract begins on 1 July: 20 hours a week."],
        ["Nora's contract begins_on 1 July 2024", "Nora works_hours 20 hours a week [since 1 July 2024]"],
    ),
    "dose": (
        ["The vet started him on 5 mg of prednisolone.", "She put the prednisolone up to 10 mg."],
        ["prednisolone dose 10 mg"],
    ),
    "divorced": (
        ["I'm married to Kim.", "The divorce came through today."],
        ["Nora marital_status divorced [since 12 June 2024]", "not Nora married_to Kim [since 12 June 2024]"],
    ),
    "dead": (
        ["My aunt passed away on Monday."],
        ["Nora's aunt died_on 10 June 2024 [10 June 2024]", "Nora's aunt vital_status dead [since 10 June 2024]"],
    ),
    "no longer with us": (["Our dog Rex is no longer with us."], ["Nora dog Rex", "Rex vital_status dead"]),
    "retired": (
        ["I work at Brightside as a welder.", "I retired last month."],
        [
            "Nora employment_status retired [since May 2024]",
            "not Nora works_at Brightside [since May 2024]",
            "not Nora works_as welder [since May 2024]",
        ],
    ),
    "out of work": (["Anton is between jobs."], ["Anton employment_status unemployed"]),
    "meat again": (
        ["I'm a vegetarian.", "I've been eating meat again since March."],
        ["Nora eats meat [since March 2024]", "not Nora follows_diet vegetarian [since March 2024]"],
    ),
    "open again": (["The corner shop is open again."], ["corner shop open_status open"]),
    "closed for good": (["The corner shop closed down in May."], ["corner shop open_status closed [since May 2024]"]),
    "birth ends a pregnancy": (
        ["My sister is pregnant.", "Baby Ida, born on Monday, 3.1 kilos."],
        [
            "not Nora's sister pregnancy_status pregnant [since 10 June 2024]",
            "Ida born_on 10 June 2024 [10 June 2024]",
            "Ida weighs 3.1 kilos [since 10 June 2024]",
        ],
    ),
    "left a job": (
        ["I'm a nurse at Brightside.", "Handed back my badge at Brightside on Friday."],
        ["not Nora works_at Brightside [since 7 June 2024]", "not Nora works_as nurse [since 7 June 2024]"],
    ),
    "last day": (
        ["I work for Brightside.", "Friday was my last day at Brightside."],
        ["not Nora works_at Brightside [since 7 June 2024]"],
    ),
    "let go": (["I work for Kestrel.", "Kestrel let me go in May."], ["not Nora works_at Kestrel [since May 2024]"]),
    "new job": (["I've got a new job with Norrland Bank."], ["Nora works_at Norrland Bank"]),
    "joined by a comma": (
        ["I work for the council.", "Left the council, I'm with a firm called Tilby now."],
        ["not Nora works_at council", "Nora works_at Tilby", "firm is_called Tilby"],
    ),
    "work by what is done": (
        ["I washed dishes at the Grand Hotel from 2010 to 2012."],
        ["ended Nora works_at Grand Hotel [from 2010 until 2012]", "ended Nora wash dishes [from 2010 until 2012]"],
    ),
    "meanwhile": (
        ["I stacked shelves at Kestrel while I was studying, 2009 to 2011."],
        [
            "ended Nora works_at Kestrel [from 2009 until 2011]",
            "ended Nora stack shelves [from 2009 until 2011]",
            "Nora study  [from 2009 until 2011]",
        ],
    ),
    "years beside their length": (
        ["I was at the post office for three years, 2012 to 2015."],
        ["ended Nora works_at post office [from 2012 until 2015]"],
    ),
    "another country": (["I live in Spain.", "I live in Oslo now."], ["Nora lives_in Oslo"]),
    "on call": (
        ["From Monday the 17th it's Vera who is on call for billing."],
        ["Vera on_call_for billing [since 17 June 2024]"],
    ),
    "take over": (
        ["Anton is on call for billing.", "Vera takes over from Anton on Friday."],
        ["Vera on_call_for billing [since 14 June 2024]"],
    ),
    "captain": (["Our captain is Anton.", "Vera is our captain now."], ["Nora captain Vera"]),
    "elected": (
        ["Vera was elected treasurer of the rowing club in May."],
        ["rowing club treasurer Vera [since May 2024]"],
    ),
    "sacked": (
        ["Anton Reed is our head coach.", "They sacked Reed on Monday."],
        ["not Nora head_coach Anton Reed [since 10 June 2024]"],
    ),
    "stands in": (
        ["Anton is our head coach.", "Vera is standing in for Anton as head coach from 1 July to 31 August."],
        ["Nora head_coach Vera [from 1 July 2024 until 31 August 2024]"],
    ),
    "supplier": (["Norrland Bank has been my bank since 2017."], ["Nora bank Norrland Bank [since 2017]"]),
    "switched": (
        ["Norrland Bank has been my bank since 2017.", "Yesterday I switched to Kestrel."],
        ["Nora bank Kestrel [since 11 June 2024]"],
    ),
    "version": (["We're on version 2.4 of the till software."], ["till software version 2.4"]),
    "named later": (["We've adopted a kitten.", "We named her Soot."], ["Nora kitten Soot"]),
    "newborn": (
        ["Our baby girl arrived last night, we're calling her Ida."],
        [
            "Nora's baby girl born_on 11 June 2024 [11 June 2024]",
            "Nora daughter Ida",
            "Ida born_on 11 June 2024 [11 June 2024]",
        ],
    ),
    "another son": (
        ["My son Max starts school in August.", "Our baby boy arrived on Sunday, we named him Emil."],
        [
            "Nora's baby boy born_on 9 June 2024 [9 June 2024]",
            "Nora son Emil",
            "Emil born_on 9 June 2024 [9 June 2024]",
        ],
    ),
    "appointment gets its day": (
        ["I've got a cardiology appointment sometime in July.", "The cardiology one is on 9 July."],
        ["planned Nora cardiology_appointment 9 July 2024 [9 July 2024]"],
    ),
    "appointment gets its hour": (
        [
            "I've got a cardiology appointment sometime in July.",
            "The cardiology one is on 9 July.",
            "They've texted me the slot for cardiology: 10:40.",
        ],
        ["planned Nora cardiology_appointment 9 July 2024 at 10:40 [9 July 2024]"],
    ),
    "which one it is": (["I'm learning an instrument.", "The instrument is the oboe."], ["Nora learns oboe"]),
    "colleague by place": (
        ["My colleague Georgia lives in Leeds.", "Georgia from work has been promoted to team lead."],
        ["Georgia works_as team lead"],
    ),
    "namesake by place": (
        ["My sister Vera lives in Graz.", "Vera from accounting has moved to Oslo."],
        ["Vera from accounting lives_in Oslo"],
    ),
    "presupposed": (
        ["I don't have a drill.", "I put the shelf up with my drill."],
        ["Nora put_up shelf", "Nora put_up_with drill", "Nora has drill"],
    ),
    "favourite": (["Plums are my favourite thing this week."], ["Nora likes plums"]),
    "soft spot": (["I have a soft spot for figs."], ["Nora likes figs"]),
    "the new hour": (
        ["The night bus runs at 01:30.", "They moved the night bus to 02:15."],
        ["night bus run_at 02:15"],
    ),
    "by day": (["On Sundays the pool closes at 18:00."], ["pool close_at 18:00 on Sundays"]),
    "lent and back": (["I lent my tent to Anton.", "The tent is home again."], ["not Anton has tent", "Nora has tent"]),
    "left over": (["We keep seven hens.", "The fox got two, so five hens left."], ["Nora has five hens"]),
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
