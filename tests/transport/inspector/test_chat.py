"""The page of the dialogue: what was said, and saying more."""

import json
import re

import pytest

EVENTS = {"Accept": "text/event-stream"}
HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202eevil\u202c", "a\x07b")


def token_of(browser):
    return re.search(r'X-Doxa-Form": "(\w+)"', browser.get("/inspect/enter").text)[1]


def rows(page):
    """Return the dialogue of a page."""
    return page.partition('id="dialogue"')[2].partition("</ol>")[0]


def changes(page):
    return page.partition('id="changes"')[2]


def test_what_is_said_is_answered_and_remembered_without_a_script(ana):
    ana.submit("chat/say?session=s", text="I live in Porto.")
    page = ana.submit("chat/say?session=s", text="Where do I live?\r\nTell me.")
    assert page.status_code == 200 and page.url.path == "/inspect/chat" and page.url.params["session"] == "s"
    first, _, second, reply = re.findall(r'class="words"><bdi>(.*?)</bdi>', page.text, re.S)
    assert (first, second) == ("I live in Porto.", "Where do I live?\nTell me.")
    assert reply.startswith("You live in Porto")
    assert "learned" in changes(page.text)


def test_a_reply_leads_to_what_it_rests_on_and_to_how_it_was_found(ana, doxa):
    ana.submit("chat/say?session=s", text="I live in Porto.")
    page = ana.submit("chat/say?session=s", text="Where do I live?").text
    answer = doxa.memory(user="ana").answers()[-1].answer
    assert f"/inspect/recall?answer={answer.answer_id}" in rows(page)
    assert f"/inspect/why?fact={answer.citations[0].fact_id}" in rows(page)


def test_steps_are_told_as_they_end_and_then_the_reply(ana, told):
    told("I live in Porto.")
    headers = {**EVENTS, "X-Doxa-Form": token_of(ana)}
    answer = ana.post("/inspect/chat/say?session=s", data={"text": "Where do I live?"}, headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    blocks = [block.split("\n") for block in answer.text.split("\n\n") if block]
    events = [(name[7:], json.loads(data[6:])) for name, data in blocks]
    names = [name for name, _ in events]
    assert names[0] == "step" and names[-2:] == ["reply", "done"]
    assert "You live in Porto" in events[-2][1]["html"] and "Where do I live?" in events[-2][1]["html"]


def test_an_error_is_told_to_the_script_as_a_sentence(ana):
    headers = {**EVENTS, "X-Doxa-Form": token_of(ana), "HX-Request": "true"}
    answer = ana.post("/inspect/chat/say", data={"text": " "}, headers=headers)
    assert answer.status_code == 400 and 'role="alert"' in answer.text


@pytest.mark.parametrize("how", [{}, EVENTS], ids=["form", "script"])
def test_nothing_is_said_without_proof_that_the_form_is_ours(ana, doxa, how):
    ana.get("/inspect/enter")
    assert ana.post("/inspect/chat/say", data={"text": "I live in Porto."}, headers=how).status_code == 400
    assert ana.post("/inspect/chat/say", data={"text": "No.", "token": "f" * 64}, headers=how).status_code == 400
    assert doxa.memory(user="ana").turns() == []


@pytest.mark.parametrize("rights", [["read"], ["write"]])
@pytest.mark.parametrize("how", [{}, EVENTS], ids=["form", "script"])
def test_a_key_has_to_allow_both_reading_and_writing(browser, doxa, keys, rights, how):
    one = browser(open=False)
    one.cookies.set("doxa_key", keys.add(users=["ana"], rights=rights)[1], path="/inspect")
    headers = {**how, "X-Doxa-Form": token_of(one)}
    assert one.post("/inspect/chat/say", data={"text": "Hello."}, headers=headers).status_code == 403
    assert doxa.memory(user="ana").turns() == []


def test_what_others_said_is_not_shown(browser, keys, told):
    told("I live in Rome.", user="bo")
    told("I live in Porto.")
    one = browser(open=False)
    one.cookies.set("doxa_key", keys.add(users=["ana"])[1], path="/inspect")
    assert "Rome" not in one.page("chat")
    assert one.get("/inspect/chat", params={"user": "bo"}).status_code == 403


@pytest.mark.parametrize("text", HOSTILE)
def test_what_was_said_is_never_markup(ana, doxa, text):
    doxa.dialogue(user="ana", session=f"{text}", speaker=text[:40]).absorb(f"I like {text}.")
    doxa.dialogue(user="ana").flush()
    page = ana.page("chat")
    assert text not in page
    assert "I like" in rows(page)


def test_a_long_turn_is_cut_where_it_is_shown(ana, told):
    told("word " * 20_000)
    page = ana.page("chat")
    assert len(page) < 40_000 and "more characters" in page


def test_turns_are_paged_from_the_latest_backwards(ana, doxa):
    chat = doxa.dialogue(user="ana", session="s")
    for number in range(70):
        chat.absorb(f"Number {number:03d}.", verbatim=True)
    seen, address = [], "/inspect/chat?session=s"
    while address:
        page = ana.get(address).text
        seen.append(re.findall(r"Number (\d{3})\.", rows(page)))
        earlier = re.search(r'class="earlier"><a href="([^"]+)"', page)
        address = earlier and earlier[1].replace("&amp;", "&")
    assert seen[0][-1] == "069" and all(page == sorted(page) for page in seen)
    assert sorted(number for page in seen for number in page) == [f"{number:03d}" for number in range(70)]


def test_sessions_are_listed_the_latest_first_and_paged(ana, doxa):
    for number in range(15):
        doxa.dialogue(user="ana", session=f"s{number:02d}").absorb("Hello.", verbatim=True)
    first = ana.page("chat")
    assert first.index(">s14<") < first.index(">s13<") and ">s02<" not in first
    further = re.search(r'data-more href="([^"]+)"', first)[1].replace("&amp;", "&")
    assert ">s02<" in ana.get(further).text


def test_a_memory_that_is_empty_says_what_to_do(ana):
    page = ana.page("chat")
    assert "Nothing was said here yet" in page and "Nothing was learned yet" in page


@pytest.mark.parametrize("given", [{"before": "x"}, {"before": "-1"}, {"sessions": "!!"}])
def test_what_cannot_be_read_of_the_address_is_said(ana, given):
    response = ana.get("/inspect/chat", params=given)
    assert response.status_code == 400 and next(iter(given.values())) in response.text


def test_a_session_that_there_is_not_is_a_new_one(ana, told):
    told("I live in Porto.")
    assert "Nothing was said here yet" in rows(ana.page("chat", session="new"))
