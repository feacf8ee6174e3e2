"""The page of facts in time."""

import re
from datetime import UTC, datetime
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from doxa.core.values import Fact, Interval, Relation, Term
from doxa.core.views import Lasting, Standpoint, Timeline
from doxa.transport.inspector.drawing import draw

from .conftest import HOSTILE

MARCH, MAY = datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 5, 1, tzinfo=UTC)


def shown(page):
    """Return the part of a page that the sliders change, as text."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page[page.index('id="shown"') :]))


def in_words(page):
    """Return the list of facts, as text."""
    return shown(page).partition("In words")[2]


@pytest.fixture
def moved(told):
    told("I live in Porto.", at=MARCH)
    told("I moved to Lisbon.", at=MAY)


def test_what_was_not_known_yet_is_not_shown(ana, moved):
    assert "Lisbon" in in_words(ana.page("timeline", of="ana"))
    then = in_words(ana.page("timeline", of="ana", known="2024-04-01"))
    assert "Lisbon" not in then
    assert "Porto" in then
    assert "no longer so" not in then
    assert "Nothing was known yet by then" in in_words(ana.page("timeline", known="2024-02-01"))


def test_the_picture_and_the_list_say_the_same(ana, moved):
    page = ana.page("timeline", of="ana")
    picture = page[page.index("<svg") : page.rindex("</svg>")]
    listed = page[page.index("In words") :]
    links = [re.findall(r'href="(/inspect/why[^"]+)"', part) for part in (picture, listed)]
    assert links[0] == links[1] != []
    assert 'aria-labelledby="picture-title picture-desc"' in picture
    assert "style=" not in page


def test_what_held_on_a_day_is_marked_and_can_be_shown_alone(ana, moved):
    page = in_words(ana.page("timeline", of="ana", true="2024-04-01", show="holding"))
    assert "Porto" in page
    assert "Lisbon" not in page
    page = in_words(ana.page("timeline", of="ana", true="2024-06-01", show="holding"))
    assert "Lisbon" in page
    assert "Porto" not in page


def test_what_changed_is_told_with_its_reason(ana, moved):
    page = shown(ana.page("timeline", of="ana", known="2024-04-01", known2="2024-06-01", true="2024-06-01"))
    changed = page.partition("What changed")[2].partition("What was known by")[0]
    assert "1 added" in changed
    assert "1 gone" in changed
    assert re.search(r"gone.*Porto.*ended.*2024-05-01", changed)
    assert re.search(r"added.*Lisbon.*learned.*2024-05-01", changed)
    assert "From what was known by 1 April 2024, 23:59" in changed


def test_of_two_days_only_the_world_differs(ana, moved):
    page = shown(ana.page("timeline", of="ana", true="2024-04-01", true2="2024-06-01"))
    assert "Only the day differs: it holds since 1 May 2024" in page


def test_the_same_moment_twice_differs_in_nothing(ana, moved):
    page = ana.page("timeline", known="2024-04-01", known2="2024-04-01")
    assert "The same is believed to hold at both" in page


def test_comparing_begins_with_the_step_before(ana, moved):
    page = ana.page("timeline", of="ana")
    address = re.search(r'href="/inspect/(timeline[^"]*known2=[^"]*)"[^>]*>Compare', page)[1].replace("&amp;", "&")
    assert "Lisbon" in shown(ana.get(f"/inspect/{address}").text).partition("What was known")[0]


def test_keys_step_along_both_axes(ana, moved):
    page = ana.page("timeline", of="ana", known="2024-04-01", true="2024-04-01")
    assert step(page, "]")["known"] == [MAY.isoformat()]
    assert 'data-key="["' not in page  # nothing was known before
    assert 'data-key="}"' not in page  # and nothing yet of May
    page = ana.page("timeline", of="ana", true="2024-06-01")
    assert step(page, "[")["known"] == [MARCH.isoformat()]
    assert step(page, "{")["true"] == ["2024-05-01"]


def step(page, key):
    """Return the parameters of where a key leads."""
    (address,) = re.findall(rf'href="([^"]+)"[^>]*data-key="{re.escape(key)}"', page)
    return parse_qs(urlsplit(unescape(address)).query)


def test_a_memory_that_is_empty_says_how_to_begin(ana):
    assert "Tell it something" in ana.page("timeline")


def test_pages_lead_on_and_show_everything_once(ana, told):
    names = [f"Bru{letter}o" for letter in "abcdefghijklmnopqrstuvwxyz"]
    told(*(f"{name} lives in Porto. {name} likes tea. {name} speaks Dutch." for name in names))
    found, address = [], "timeline"
    while address:
        page = ana.get(f"/inspect/{address}").text
        found += re.findall(r'data-row href="/inspect/why\?fact=(\w+)"', page)
        more = re.search(r'data-more href="/inspect/([^"]+)"', page)
        address = more and more[1].replace("&amp;", "&")
    assert len(found) > 40
    assert len(found) == len(set(found))
    total = re.search(r'All that was known <span class="quiet">(\d+)', page)[1]
    assert len(found) == int(total)


@pytest.mark.parametrize(
    "asked",
    [{"known": "soon"}, {"true": "2024-99-01"}, {"show": "some"}, {"after": "x"}, {"known2": "x"}, {"true2": "-1"},
     {"known2": "2024-01-01", "diff": "x"}],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_read_is_said(ana, moved, asked):
    assert ana.get("/inspect/timeline", params=asked).status_code == 400


def test_nobody_of_that_name_is_a_page_that_says_so(ana, moved):
    assert ana.get("/inspect/timeline?of=zoe").status_code == 404


@pytest.mark.parametrize(
    "asked", [{"known": "0001-01-01"}, {"known": "9999-12-31", "true": "9999-12-31"}, {"true": "0001-01-01"}], ids=str
)
def test_the_ends_of_the_calendar_are_days_like_others(ana, moved, asked):
    assert "<h1>" in ana.page("timeline", **asked)


@pytest.mark.parametrize("words", HOSTILE)
def test_what_somebody_said_is_never_markup(ana, doxa, words):
    fact = Fact(
        fact_id="f", subject=Term("h", f"H {words}"), relation=Relation("likes", words), object=Term("o", words)
    )
    picture = draw(Timeline(items=(Lasting(fact=fact, stage="firm", holds=True),), at=Standpoint(true=MAY.date())))
    assert isinstance(picture.bars[0].label, str)
    assert not hasattr(picture.bars[0].label, "__html__")
    assert not any(sign in picture.bars[0].label for sign in "\u202e\u202c\x00\x07")
    response = ana.get("/inspect/timeline", params={"of": words, "known2": words})
    assert words not in response.text


def test_the_name_of_a_fact_is_text_in_the_picture_and_the_list(ana, told):
    told('My friend "<b>x" likes <script>alert(1)</script> tea.')
    page = ana.page("timeline")
    assert "<script>alert(1)" not in page
    assert "<b>" not in page


def test_a_key_of_somebody_else_opens_no_other_timeline(browser, keys, moved):
    _, secret = keys.add(users=["bob"], rights=["read"])
    bob = browser(open=False)
    bob.cookies.set("doxa_key", secret)
    assert "Tell it something" in bob.page("timeline")
    response = bob.get("/inspect/timeline", params={"user": "ana", "of": "ana"})
    assert response.status_code == 403
    assert "Lisbon" not in response.text


def test_bars_lie_where_their_days_are():
    """What began on an unknown day is drawn from when it was known; what has no end has an arrow."""

    def bar(valid, known):
        fact = Fact(
            fact_id="f", subject=Term("m", "Mia"), relation=Relation("likes", "likes"), object=Term("t", "tea"),
            valid=valid, known_at=known,
        )  # fmt: skip
        at = Standpoint(true=datetime(2024, 12, 31, tzinfo=UTC).date())
        return draw(Timeline(items=(Lasting(fact=fact, stage="firm", holds=True),), at=at)).bars[0]

    dated = bar(Interval(start=MARCH.date(), end=MAY.date()), MAY)
    assert not dated.from_edge
    assert not dated.to_edge
    assert dated.left + dated.width == pytest.approx(dated.learned, abs=0.1)
    open_ = bar(Interval(), MARCH)
    assert open_.from_edge
    assert open_.to_edge
    assert open_.left == open_.learned
    over = bar(Interval(end=MARCH.date()), MAY)
    assert (over.from_edge, over.width) == (True, 0)
    point = bar(Interval(start=MAY.date(), end=MAY.date()), MAY)
    assert 0 < point.width < 2
