"""What is done by the keyboard alone, in a real browser; skipped where there is none.

Keys are counted one by one. Only the characters of what is written into a field are not: they are as many as the words
have.
"""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from doxa.engine import View

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHOSEN = "[data-chosen]"


@pytest.fixture(scope="module")
def chromium(loopback) -> Iterator[Any]:
    """A browser."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Hand:
    """A person without a mouse; the keys that were pressed are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.keys = 0

    def press(self, *keys: str) -> None:
        """Press keys, each counts; what a key asks of the server is waited for as a person would."""
        for key in keys:
            self.page.keyboard.press(key)
            self.keys += 1

    def write(self, words: str) -> None:
        """Write words into the field that has the focus; they do not count."""
        self.page.keyboard.type(words)

    def counted(self) -> int:
        """Return how many keys there were since it was asked last."""
        keys, self.keys = self.keys, 0
        return keys


@pytest.fixture
def hand(chromium, serving) -> Iterator[Hand]:
    """A hand at a page; whatever is wrong with a script of ours fails the test."""
    context = chromium.new_context()
    wrong: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    yield Hand(page)
    context.close()
    assert wrong == []


def believed(doxa, user: str = "ana") -> set[str]:
    """Return what is believed, in short."""
    facts = doxa.memory(user=user).facts()
    return {f"{fact.subject.label} {fact.relation.label} {fact.object.label}" for fact in facts if not fact.disputed}


PORTO, LISBON = "Ana lives in Porto", "Ana lives in Lisbon"


def test_a_wrong_fact_is_taken_back_and_undone(hand, serving, told, doxa):
    """Four keys from the list of people, one key back."""
    told("I live in Porto.", speaker="Ana")
    hand.page.goto(f"{serving().url}/inspect/now")
    assert PORTO in believed(doxa)

    hand.press("Enter")  # the first of the people, Ana
    expect(hand.page.locator(CHOSEN)).to_contain_text(PORTO)
    hand.press("x")
    expect(hand.page.locator("#dialog")).to_contain_text("What would change")
    hand.press("Enter")
    expect(hand.page.locator(".done")).to_contain_text("Taken back.")
    assert hand.counted() <= 4
    assert PORTO not in believed(doxa)

    hand.press("u")
    expect(hand.page.locator(".done")).to_contain_text("Undone.")
    expect(hand.page.locator(CHOSEN)).to_contain_text(PORTO)
    assert hand.counted() == 1
    assert PORTO in believed(doxa)


def test_a_wrong_fact_is_corrected_and_undone(hand, serving, told, doxa):
    """Four keys from the list of people to what is right, and one key back; “Lisbon” is written, and not counted."""
    told("I live in Porto.", speaker="Ana")
    hand.page.goto(f"{serving().url}/inspect/now")

    hand.press("Enter")
    expect(hand.page.locator(CHOSEN)).to_contain_text(PORTO)
    hand.press("c")
    expect(hand.page.locator("#text")).to_be_focused()
    hand.write("Lisbon")
    hand.press("Enter")
    expect(hand.page.locator(".done")).to_contain_text("Corrected.")
    expect(hand.page.locator("#one")).to_contain_text(LISBON)
    assert hand.counted() <= 6
    assert LISBON in believed(doxa)
    assert PORTO not in believed(doxa)

    hand.press("u")
    expect(hand.page.locator(".done")).to_contain_text("Undone.")
    expect(hand.page.locator(CHOSEN)).to_contain_text(PORTO)
    assert hand.counted() <= 6
    assert PORTO in believed(doxa)
    assert LISBON not in believed(doxa)


def test_a_wrong_fact_among_many_is_corrected_and_undone(hand, serving, told, doxa):
    """Of somebody whose name is looked for: six keys, and one back; the name and what is right are written."""
    told(*(f"Person {number} lives in Faro." for number in range(12)), "Zoe lives in Porto.")
    hand.page.goto(f"{serving().url}/inspect/now")

    hand.press("/")
    hand.write("zoe")
    expect(hand.page.locator("#people [data-row]")).to_have_count(1)
    hand.press("ArrowDown", "Enter")
    expect(hand.page.locator(CHOSEN)).to_contain_text("Zoe lives in Porto")
    hand.press("c")
    expect(hand.page.locator("#text")).to_be_focused()
    hand.write("Lisbon")
    hand.press("Enter")
    expect(hand.page.locator(".done")).to_contain_text("Corrected.")
    assert hand.counted() <= 6
    assert "Zoe lives in Lisbon" in believed(doxa)
    hand.press("u")
    expect(hand.page.locator(".done")).to_contain_text("Undone.")
    assert hand.counted() <= 6
    assert "Zoe lives in Porto" in believed(doxa)


ITEMS = 60


@pytest.fixture
def queue(hand, serving, understood):
    """The page of a memory in which sixty things wait that only an assistant has said, the last first."""
    for number in range(ITEMS):
        understood(f"Person {number}", "lives_in", "Faro", by="Doxa", role="assistant")
    hand.page.goto(f"{serving().url}/inspect/conflicts")
    return hand


def chosen_is(hand: Hand, words: str) -> None:
    """Wait until the chosen row says something and has the focus."""
    expect(hand.page.locator(CHOSEN)).to_contain_text(words)
    expect(hand.page.locator(CHOSEN)).to_be_focused()


@pytest.mark.parametrize("keys", [("a", "Enter"), ("A",)], ids=["shown first", "at once"])
def test_three_things_are_settled_and_undone_one_after_the_other(queue, doxa, keys):
    """At most two keys each, and one key back each; the next one is chosen by itself."""
    said = [f"Person {ITEMS - 1 - place} lives in Faro" for place in range(4)]
    assert not believed(doxa) & set(said)
    for place in range(3):
        expect(queue.page.locator(CHOSEN)).to_contain_text(said[place])
        for key in keys:
            queue.press(key)
            if key == "a":
                expect(queue.page.locator("#dialog button")).to_be_focused()
        chosen_is(queue, said[place + 1])
        assert queue.counted() == len(keys) <= 3
        assert believed(doxa) & set(said) == set(said[: place + 1])
    expect(queue.page.locator(".tabs [aria-current]")).to_contain_text(str(ITEMS - 3))
    for place in reversed(range(3)):
        queue.press("u")
        chosen_is(queue, said[place])
        assert queue.counted() == 1
        assert believed(doxa) & set(said) == set(said[:place])


@pytest.mark.parametrize("keys", [("x", "Enter"), ("X",)], ids=["shown first", "at once"])
def test_three_things_are_rejected(queue, doxa, keys):
    """At most two keys each."""
    for place in range(3):
        expect(queue.page.locator(CHOSEN)).to_contain_text(f"Person {ITEMS - 1 - place} lives")
        for key in keys:
            queue.press(key)
            if key == "x":
                expect(queue.page.locator("#dialog button")).to_be_focused()
        chosen_is(queue, f"Person {ITEMS - 2 - place} lives")
        assert queue.counted() == len(keys) <= 3
    assert View(doxa.parts, "ana").review().total == ITEMS - 3


def test_walking_goes_on_over_the_end_of_a_page_and_back(queue):
    """And what is settled there leads on there."""
    queue.press(*("j" * 49))
    chosen_is(queue, "Person 10 lives")
    queue.press("j")
    expect(queue.page.locator(CHOSEN)).to_contain_text("Person 9 lives")
    queue.press("A")
    chosen_is(queue, "Person 8 lives")
    queue.press("u")
    chosen_is(queue, "Person 9 lives")
    queue.press("k")
    chosen_is(queue, "Person 10 lives")


@pytest.fixture
def disputes(understood):
    """Two disputes of two people, and before them something that only an assistant has said."""
    for number in (1, 2):
        for who, where in (("Hana", "Porto"), ("Jiro", "Faro")):
            understood(f"Workshop {number}", "located_in", where, by=who, days=0, functional=True)
    understood("Carla", "lives_in", "Faro", by="Doxa", role="assistant")


def test_each_side_of_a_dispute_has_its_own_keys(hand, serving, disputes, doxa):
    """What follows is chosen from its first side on, whichever side was believed."""
    hand.page.goto(f"{serving().url}/inspect/conflicts?kind=disputed&order=oldest")
    chosen = hand.page.locator(CHOSEN).locator("a").first
    expect(chosen).to_contain_text("Workshop 1 located in Porto")
    hand.press("j")
    expect(chosen).to_contain_text("Workshop 1 located in Faro")
    hand.press("A")
    expect(chosen).to_contain_text("Workshop 2 located in Porto")
    assert believed(doxa) == {"Workshop 1 located in Faro"}
    hand.press("b")
    expect(hand.page.locator("#dialog button")).to_be_focused()
    hand.press("Enter")
    expect(hand.page.locator(".done")).to_contain_text("All of them are kept.")
    assert believed(doxa) > {"Workshop 2 located in Porto", "Workshop 2 located in Faro"}
    hand.press("u")
    expect(chosen).to_contain_text("Workshop 2 located in Porto")
    assert believed(doxa) == {"Workshop 1 located in Faro"}


def test_what_each_act_would_do_is_shown_and_nothing_is_done(hand, serving, disputes, doxa):
    hand.page.goto(f"{serving().url}/inspect/conflicts?kind=disputed")
    hand.press("w")
    shown = hand.page.locator("#dialog .card")
    expect(shown).to_have_count(5)
    expect(shown.last).to_contain_text("Keep all")
    assert believed(doxa) == set()
    hand.press("Escape")
    expect(hand.page.locator("#dialog")).to_be_hidden()
    expect(hand.page.locator(CHOSEN)).to_contain_text("Workshop 2")


def test_two_values_are_taken_for_one_and_told_apart(hand, serving, disputes, doxa):
    hand.page.goto(f"{serving().url}/inspect/conflicts?kind=disputed")
    hand.press("m")
    expect(hand.page.locator("#dialog button")).to_be_focused()
    hand.press("Enter")
    expect(hand.page.locator(".done")).to_contain_text("Taken for one.")
    assert doxa.memory(user="ana").disputes() == []
    hand.press("u")
    expect(hand.page.locator(".tabs")).to_contain_text("Disputed 2")
    assert len(doxa.memory(user="ana").disputes()) == 2


def test_a_key_of_another_row_is_not_pressed(hand, serving, disputes):
    """`b` keeps both sides of a dispute; where there is none, it does nothing."""
    hand.page.goto(f"{serving().url}/inspect/conflicts")
    expect(hand.page.locator(CHOSEN)).to_contain_text("Carla")
    hand.press("b")
    hand.page.wait_for_timeout(200)
    expect(hand.page.locator("#dialog")).to_be_hidden()
    hand.press("j", "b")
    expect(hand.page.locator("#dialog")).to_be_visible()


def test_two_names_are_joined_and_told_apart_by_hand(hand, serving, understood, doxa):
    """They are written; the list of those who have several names then offers to tell them apart."""
    for name in ("Mia", "Maria"):
        understood(name, "likes", "tea")
    hand.page.goto(f"{serving().url}/inspect/conflicts?kind=names")
    hand.page.locator("#one").focus()
    hand.write("Mia")
    hand.press("Tab")
    hand.write("Maria")
    hand.press("Enter")
    expect(hand.page.locator("#dialog button")).to_be_focused()
    hand.press("Enter")
    expect(hand.page.locator(".done")).to_contain_text("Taken for one.")
    assert len(doxa.memory(user="ana").facts(subject="Mia")) == 1
    expect(hand.page.locator(CHOSEN)).to_contain_text("is the same as")
    hand.press("s")
    expect(hand.page.locator("#dialog button")).to_be_focused()
    hand.press("Enter")
    expect(hand.page.locator(".done")).to_contain_text("Told apart.")
    assert len(doxa.memory(user="ana").entities()) == 2
