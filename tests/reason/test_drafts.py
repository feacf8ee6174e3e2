"""What a draft says itself, and what it only quotes."""

from datetime import UTC, datetime

import pytest

from doxa.core.values import Citation, Draft, Fact, Relation, Term
from doxa.reason import claimed
from doxa.reason.drafts import MOST_TOLD, one_by_one, together

SAID = Citation(
    turn_id="t1", text="The author of The Weir is J. K. Halm.", speaker="J. Doe", at=datetime(2026, 1, 2, tzinfo=UTC)
)


@pytest.mark.parametrize(
    ("text", "value", "claims"),
    [
        ("J. Doe said on 2 January 2026: “J. K. Halm”", "J. K. Halm", ""),
        ("On 2 January 2026 J. Doe wrote: “The author of The Weir is J. K. Halm.”", None, ""),
        ("J. K. Halm. On 2 January 2026 J. Doe wrote: “The author of The Weir is J. K. Halm.”", "J. K. Halm", ""),
        ("Ada Lee. On 2 January 2026 J. Doe wrote: “The author of The Weir is J. K. Halm.”", "Ada Lee", "Ada Lee."),
        ("He wrote it. J. Doe said on 2 January 2026: “The Weir”", "The Weir", "He wrote it."),
        (
            "J. Doe said on 2 January 2026: “a book about eels”",
            None,
            "J. Doe said on 2 January 2026: “a book about eels”",
        ),
        ("Ada wrote The Weir.", None, "Ada wrote The Weir."),
    ],
)
def test_quotes_of_cited_turns_claim_nothing(text, value, claims):
    """Nor does an answer that stands in them; what no turn says is claimed."""
    assert claimed(Draft(text=text, value=value, citations=(SAID,)), "Ana") == claims


def test_the_one_who_asks_is_addressed():
    draft = Draft(text="On 2 January 2026 you wrote: “The author of The Weir is J. K. Halm.”", citations=(SAID,))
    assert claimed(draft, "j. doe") == ""


def visits(count):
    return [
        Fact(
            fact_id=f"f{n}",
            subject=Term("ana", "Ana"),
            relation=Relation("visit", "visits"),
            object=Term(f"town{n}", f"Town{n}"),
        )
        for n in range(count)
    ]


def test_a_long_list_tells_the_last_ones_and_how_many_more_there_are():
    """One that is short enough is told whole."""
    facts = visits(MOST_TOLD + 3)
    told = together(facts)
    assert told.endswith(f"Town{MOST_TOLD + 2} and 3 more.") and "Town2," not in told and "Town3," in told
    assert one_by_one(facts).endswith(f"Town{MOST_TOLD + 2}. And 3 more.")
    assert "more" not in together(facts[:MOST_TOLD]) + one_by_one(facts[:MOST_TOLD])
