"""What is changed from a page: shown first, done, and undone."""

import re

import pytest


@pytest.fixture
def memory(doxa):
    return doxa.memory(user="ana")


@pytest.fixture
def home(memory, told):
    """Where Ana lives, and where she lived before."""
    told("I live in Porto.", "I moved to Lisbon.")
    return memory.facts(subject="Ana", relation="lives in")[0]


def lives(memory):
    return [str(fact.object) for fact in memory.facts(subject="Ana", relation="lives in")]


def test_an_act_is_shown_before_it_is_done(ana, memory, home):
    page = ana.page("suppose", act="retract", fact=home.fact_id)
    assert "What would change" in page
    assert "Porto" in page and "holds again" in page
    assert lives(memory) == ["Lisbon"]


def test_what_was_done_can_be_undone_from_the_page_that_it_leads_to(ana, memory, home):
    done = ana.submit("act", act="retract", fact=home.fact_id)
    assert lives(memory) == ["Porto"]
    assert "Taken back." in done.text
    at = re.search(r'name="at" value="([\d-]+)"', done.text)[1]
    back = ana.submit("undo", at=at)
    assert "Undone." in back.text
    assert lives(memory) == ["Lisbon"]


def test_an_undo_is_refused_once_something_else_was_changed(ana, memory, told, home):
    done = ana.submit("act", act="retract", fact=home.fact_id)
    told("I have a dog.")
    refused = ana.submit("undo", at=re.search(r'name="at" value="([\d-]+)"', done.text)[1])
    assert refused.status_code == 400
    assert lives(memory) == ["Porto"]


def test_a_correction_says_what_is_so_and_is_undone_at_once(ana, memory, home):
    page = ana.page("suppose", act="correct", fact=home.fact_id)
    assert "Ana lives in Lisbon" in page
    done = ana.submit("correct", fact=home.fact_id, text="Ana lives in Faro.")
    assert "Corrected." in done.text
    assert lives(memory) == ["Faro"]
    ana.submit("undo", at=re.search(r'name="at" value="([\d-]+)"', done.text)[1])
    assert lives(memory) == ["Lisbon"]


def test_words_of_which_no_fact_is_made_are_kept_and_said_so(ana, memory, home):
    done = ana.submit("correct", fact=home.fact_id, text="Hm.")
    assert "no fact was made of it" in done.text
    assert lives(memory) == ["Porto"]


def test_a_retraction_of_what_is_gone_changes_nothing(ana, memory, home):
    ana.submit("act", act="retract", fact=home.fact_id)
    again = ana.submit("act", act="retract", fact=home.fact_id)
    assert "nothing changed" in again.text
    assert "Undo" not in again.text


def test_names_are_taken_for_one_and_told_apart(ana, memory, told):
    told("Katharina lives in Faro.", "Kathi has a dog.")
    ana.submit("act", act="merge", one="Katharina", other="Kathi")
    assert any(set(one.aliases) | {one.label} >= {"Katharina", "Kathi"} for one in memory.entities())
    ana.submit("act", act="split", one="Katharina", other="Kathi")
    assert not any(set(one.aliases) | {one.label} >= {"Katharina", "Kathi"} for one in memory.entities())


@pytest.mark.parametrize(
    "fields", [{"act": "explode"}, {"act": "retract"}, {"act": "retract", "fact": "f1_0"}, {"act": "merge", "one": "a"}]
)
def test_an_act_that_cannot_be_done_says_why(ana, home, fields):
    refused = ana.submit("act", **fields)
    assert refused.status_code in (400, 404)
    assert 'role="alert"' in refused.text


def test_what_is_written_is_shown_as_text(ana, home):
    hostile = "<script>alert(1)</script>"
    page = ana.page("suppose", act="correct", fact=home.fact_id, text=hostile, back=f'"{hostile}')
    assert hostile not in page


def test_an_undo_takes_back_no_plan_that_was_made_since(ana, memory, doxa, home):
    done = ana.submit("act", act="retract", fact=home.fact_id)
    doxa.tasks(user="ana").tell("Plan a dinner on Friday.")
    refused = ana.submit("undo", at=re.search(r'name="at" value="([\d-]+)"', done.text)[1])
    assert refused.status_code == 400
    assert doxa.tasks(user="ana").state()
    assert lives(memory) == ["Porto"]


@pytest.mark.parametrize("at", ["", "x", "1-2-3", "9" * 5_000])
def test_an_undo_of_nothing_that_is_named_is_refused(ana, memory, home, at):
    assert ana.submit("undo", at=at).status_code == 400
    assert lives(memory) == ["Lisbon"]
