"""Turns are chosen, shown with what goes with them, and gone from every page and every byte."""

import html
import json
import re

import pytest
from tests.transport.inspector.conftest import HOSTILE, Browser

from doxa.core.config import ServerConfig
from doxa.engine import Doxa
from doxa.transport.http import application
from doxa.transport.inspector.pages import PATHS, forgetting

CANARY = "Zanzibar7731"


def ids(page):
    """Return the turns that a page offers to choose."""
    return re.findall(r'type="checkbox" name="turn" value="([^"]+)"', page)


def fields(page):
    """Return the hidden fields of the form that erases."""
    form = re.search(r'<form class="card danger".*?</form>', page, re.DOTALL)[0]
    found = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
    return {name: html.unescape(value) for name, value in found}


@pytest.fixture
def said(doxa):
    """Three turns, one of which holds a secret that nothing else says."""
    chat = doxa.dialogue(user="ana", session="s")
    chat.absorb("I live in Lisbon.", turn_id="t1", at="2024-01-01")
    chat.absorb(f"I moved to {CANARY}.", turn_id="t2", at="2024-02-01")
    chat.absorb("I moved to Berlin.", turn_id="t3", at="2024-03-01")
    chat.flush()


def test_turns_are_found_and_chosen(ana, said):
    assert ids(ana.page("health/forget")) == ["t3", "t2", "t1"]
    assert ids(ana.page("health/forget", q="moved")) == ["t3", "t2"]
    assert ids(ana.page("health/forget", since="2024-01-02", until="2024-02-01", session="s", speaker="ana")) == ["t2"]
    assert ids(ana.page("health/forget", session="none")) == []


def test_what_is_chosen_stays_chosen_on_the_next_page(ana, said, monkeypatch):
    monkeypatch.setattr(forgetting, "TURNS", 1)
    first = ana.page("health/forget")
    after = re.search(r'name="after" value="([^"]+)"', first)[1]
    second = ana.page("health/forget", turn="t3", after=after)
    assert ids(second) == ["t2"] and '<input type="hidden" name="turn" value="t3">' in second
    assert re.search(r'value="t2"[^>]* checked', ana.page("health/forget", turn=["t3", "t2"], after=after))


def test_other_words_for_it_are_searched_when_asked(ana, said):
    page = ana.page("health/forget", q="Berlin", alike=1)
    assert set(ids(page)) >= {"t3"} and len(ids(page)) == len(set(ids(page)))


def test_what_would_go_is_shown_and_nothing_goes(ana, said, doxa):
    page = ana.page("health/preview", turn="t2")
    assert f"I moved to {CANARY}." in page and "1 later turn is read again" in page
    assert re.search(r"Facts that change</dt><dd[^>]*>1<", page)
    assert len(doxa.memory(user="ana").turns()) == 3


def test_all_turns_that_fit_can_be_meant(ana, said, monkeypatch):
    assert json.loads(fields(ana.page("health/preview", q="moved", all=1))["turns"]) == ["t3", "t2"]
    assert ana.get("/inspect/health/preview?all=1").status_code == 400
    monkeypatch.setattr(forgetting, "MOST_MEANT", 1)
    assert "More than 1 turns fit" in ana.get("/inspect/health/preview?q=moved&all=1").text


def test_what_is_forgotten_is_on_no_page_and_in_no_byte(doxa, tmp_path):
    folder = tmp_path / "memory"
    folder.mkdir()

    def holds():
        return [one.name for one in folder.iterdir() if CANARY.encode() in one.read_bytes()]

    with Doxa.open(folder / "memory.db", config=doxa.parts.config) as engine:
        chat = engine.dialogue(user="ana", session="s")
        chat.absorb("I live in Lisbon.", turn_id="t1", at="2024-01-01")
        chat.absorb(f"I moved to {CANARY}.", turn_id="t2", at="2024-02-01")
        chat.respond("Where do I live?", at="2024-02-02", turn_id="t3")
        chat.flush()
        app = application(engine, ServerConfig(open=True))
        with Browser(app, "http://localhost", raise_server_exceptions=False) as one:
            paths = [path for path in PATHS if path != "live"]  # which tells what happens, and never ends
            shown = [path for path in paths if CANARY in one.get(f"/inspect/{path}").text]
            assert {"now", "health/forget", "health/export"} <= set(shown) and holds()
            form = fields(one.page("health/preview", turn="t2"))
            done = one.submit("health/erase", **form)
            assert done.status_code == 200 and CANARY not in done.text
            assert [path for path in paths if CANARY in one.get(f"/inspect/{path}?q={CANARY[:4]}").text] == []
            assert CANARY not in one.get("/inspect/health/preview?everything=1").text
        assert holds() == []


def test_the_certificate_can_be_saved(ana, said):
    page = ana.submit("health/erase", **fields(ana.page("health/preview", turn="t2"))).text
    written = json.loads(html.unescape(re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)[1]))
    assert written["turn_ids"] == ["t2"] and written["erased"]["turns"] == 1 and len(written["digest"]) == 64
    assert written["digest"] in re.sub(r"<textarea.*?</textarea>", "", page, flags=re.DOTALL)
    assert 'download="doxa-certificate.json" href="data:application/json' in page


def test_everything_takes_the_name_of_the_memory(ana, said, doxa):
    form = fields(ana.page("health/preview", everything=1))
    for name in ({}, {"name": "Ana"}, {"name": "bo"}):
        response = ana.submit("health/erase", **form, **name)
        assert response.status_code == 400 and "type the name" in response.text
    assert len(doxa.memory(user="ana").turns()) == 3
    assert "Forgotten for good" in ana.submit("health/erase", **form, name="ana").text
    assert doxa.users() == []


@pytest.mark.parametrize("turns", ["", "[]", "t2", "[1]", '{"t2": 1}'])
def test_a_form_that_names_no_turns_erases_nothing(ana, said, doxa, turns):
    assert ana.submit("health/erase", turns=turns).status_code == 400
    assert len(doxa.memory(user="ana").turns()) == 3


def test_nothing_is_erased_without_the_token(ana, said, doxa):
    ana.page("health")
    for data in ({"turns": '["t2"]'}, {"turns": '["t2"]', "token": "0" * 64}, {"everything": "1", "name": "ana"}):
        assert ana.post("/inspect/health/erase", data=data).status_code in (400, 403)
    assert len(doxa.memory(user="ana").turns()) == 3


def test_a_key_that_may_not_erase_sees_what_would_go_and_no_more(browser, keys, said, doxa):
    one = browser(rate=0)
    _, secret = keys.add(users=["ana"], rights=["read", "write"])
    one.submit("enter", key=secret)
    page = one.page("health/preview", turn="t2")
    assert CANARY in page and "may not erase" in page and "danger" not in page
    assert one.submit("health/erase", turns='["t2"]').status_code == 403
    assert len(doxa.memory(user="ana").turns()) == 3


def test_a_key_of_another_user_erases_nothing(browser, keys, said, doxa):
    one = browser(rate=0)
    _, secret = keys.add(users=["bo"], rights=["read", "erase"])
    one.submit("enter", key=secret)
    assert one.submit("health/erase?user=ana", turns='["t2"]').status_code == 403
    assert one.submit("health/erase", turns='["t2"]').status_code == 404
    assert len(doxa.memory(user="ana").turns()) == 3


MANY = "&".join(f"turn=t{number}" for number in range(forgetting.MOST_CHOSEN + 1))


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("forget?since=soon", 400),
        ("forget?after=x", 400),
        (f"forget?{MANY}", 400),
        ("preview", 400),
        ("preview?turn=nobody", 404),
    ],
    ids=["no day", "no cursor", "too many", "no turn", "unknown turn"],
)
def test_parameters_that_do_not_fit_are_refused(ana, said, path, status):
    assert ana.get(f"/inspect/health/{path}").status_code == status


def test_coming_back_to_an_act_leads_to_the_choice(ana):
    response = ana.get("/inspect/health/erase", follow_redirects=False)
    assert response.status_code == 303 and response.headers["location"].endswith("/inspect/health/forget")


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_said_is_never_markup(ana, doxa, text):
    doxa.dialogue(user="ana", session=text).absorb(text, turn_id=f"t{text}".replace("\0", ""))  # no id has that
    doxa.flush()
    for path in ("forget", "preview?everything=1"):
        page = ana.get(f"/inspect/health/{path}").text
        assert "<script>alert" not in page and "<img src=x" not in page
        assert "\u202e" not in re.sub(r"<[^>]*>", "", page)
