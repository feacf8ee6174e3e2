"""The dialogue and the notices of changes in a real browser; skipped where there is none."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from doxa.transport.inspector import following

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def chromium(loopback) -> Iterator[Any]:
    """A browser."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium) -> Iterator[Page]:
    """A page; whatever is wrong with a script of ours fails the test."""
    context = chromium.new_context()
    wrong: list[str] = []

    def note(message: Any) -> None:
        if message.type == "error" and "the server responded with a status of 400" not in message.text:
            wrong.append(message.text)

    made = context.new_page()
    made.on("console", note)
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("dialog", lambda dialog: wrong.append(dialog.message))
    yield made
    context.close()
    assert wrong == []


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Look more often than anybody needs to."""
    monkeypatch.setattr(following, "EVERY_S", 0.05)


def test_enter_sends_and_what_changes_is_put_in_as_it_is_told(page, serving, doxa):
    page.goto(f"{serving().url}/inspect/chat?session=s")
    page.keyboard.press("/")
    page.keyboard.type("I live in Porto.")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Bruno works at Mareluz.")
    page.keyboard.press("Enter")
    said = page.locator("#dialogue [data-turn]")
    expect(said).to_have_count(2, timeout=15_000)
    expect(said.first.locator(".words")).to_have_text("I live in Porto.\nBruno works at Mareluz.", use_inner_text=True)
    expect(page.locator("#changes [data-news]")).to_have_count(len(doxa.memory(user="ana").history()))
    expect(page.locator("#steps li").first).to_contain_text("settle")
    expect(page.locator("#text")).to_be_focused()
    expect(page.locator("#text")).to_have_value("")
    page.keyboard.type("Where do I live?")
    page.keyboard.press("Enter")
    expect(said).to_have_count(4)
    expect(said.last).to_contain_text("You live in Porto")
    expect(said.last.get_by_role("link", name="How it was found")).to_be_visible()
    page.reload()
    expect(said).to_have_count(4)


def test_what_is_said_elsewhere_is_shown_and_runs_nothing(page, serving, doxa, told):
    url = serving().url
    page.goto(f"{url}/inspect/chat?session=default")
    expect(page.locator("#waiting")).to_contain_text("All that was said is understood.")
    for text in ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202eevil", "I live in Porto."):
        told(text)
    expect(page.locator("#dialogue [data-turn]")).to_have_count(4)
    expect(page.locator("#dialogue img, #dialogue script, #changes img")).to_have_count(0)
    doxa.dialogue(user="ana", session="another").absorb("I live in Rome.")
    expect(page.locator("#changes [data-turn]")).to_contain_text("I live in Rome.")


def test_a_refusal_is_shown_and_what_was_written_stays(page, serving, doxa):
    page.goto(f"{serving().url}/inspect/chat")
    page.context.clear_cookies()
    page.locator("#text").fill("I live in Porto.")
    page.get_by_role("button", name="Say it").click()
    expect(page.locator("#wrong")).to_contain_text("load it again")
    expect(page.locator("#text")).to_have_value("I live in Porto.")
    assert doxa.memory(user="ana").turns() == []


def test_earlier_turns_are_put_before_the_others(page, serving, doxa):
    chat = doxa.dialogue(user="ana", session="s")
    for number in range(40):
        chat.absorb(f"Number {number}.", verbatim=True)
    page.goto(f"{serving().url}/inspect/chat?session=s")
    said = page.locator("#dialogue [data-turn]")
    expect(said).to_have_count(30)
    expect(said.last).to_be_in_viewport()
    page.get_by_role("link", name="Earlier").click()
    expect(said).to_have_count(40)
    expect(said.first).to_contain_text("Number 0.")


def test_a_page_says_when_something_has_changed_since(page, serving, doxa, told):
    told("I live in Porto.")
    page.goto(f"{serving().url}/inspect/now")
    news = page.locator("#news")
    expect(news).to_be_empty()
    known = len(doxa.memory(user="ana").history())
    told("Bruno works at Mareluz.")
    more = len(doxa.memory(user="ana").history()) - known
    expect(news).to_contain_text(f"{more} change")
    news.get_by_role("link").click()
    expect(page.locator("#people")).to_contain_text("Bruno")
    expect(news).to_be_empty()
