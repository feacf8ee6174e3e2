"""The page that leads from what is believed to the words that were said."""

import re

import pytest

from doxa.core.tasks import NodeKind
from doxa.engine import View

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202eevil\u202c", "a\x00b\x07c")


@pytest.fixture
def fact(doxa):
    """A function from the object of a fact of ana to the fact."""

    def find(thing, user="ana"):
        found = doxa.memory(user=user).facts(current=False)
        return next(one for one in found if one.object.label == thing)

    return find


def test_the_words_that_say_a_fact_are_marked_where_they_stand(ana, told, fact):
    told("Good morning. I live in Porto. It rains.", turn_id="t1")
    page = ana.page("why", fact=fact("Porto").fact_id)
    assert re.search(
        r'Good morning\. <mark class="said">.*<mark class="said value">Porto</mark>.*It rains\.', page, re.S
    )


def test_who_said_it_when_and_on_whose_word_is_told(ana, told, fact):
    told("My father says that Bruno lives in Faro.", turn_id="t1")
    page = ana.page("why", fact=fact("Faro").fact_id)
    assert "on the word of" in page and "<time datetime=" in page and "Distrust its source" in page


def test_a_turn_stands_among_those_around_it(ana, told, fact):
    told("It was cold today.", "I live in Porto.", "What a day.")
    page = ana.page("why", fact=fact("Porto").fact_id)
    assert page.index("It was cold today") < page.index("<mark") < page.index("What a day")


def test_what_displaced_what_is_told_on_both_sides(ana, told, fact):
    told("I live in Porto.", at="2024-01-05")
    told("I moved to Lisbon.", at="2024-05-05")
    old, new = fact("Porto"), fact("Lisbon")
    before, after = ana.page("why", fact=old.fact_id), ana.page("why", fact=new.fact_id)
    assert "In its place" in before and f"fact={new.fact_id}" in before and "the world changed" in before
    assert "It took the place of" in after and f"fact={old.fact_id}" in after and "the world changed" in after


def test_a_turn_says_what_it_was_understood_to_say_and_what_it_changed(ana, told):
    told("I live in Porto.", turn_id="t1", at="2024-01-05")
    told("I moved to Lisbon.", turn_id="t2", at="2024-05-05")
    page = ana.page("why", turn="t2")
    understood, rests, changed = map(page.index, ("What it was understood", "Facts that rest on it", "What it changed"))
    assert understood < rests < changed
    assert ">ended<" in page and ">learned<" in page


def test_a_long_turn_comes_in_pieces(ana, told):
    told("I live in Porto. " + "It rains and rains. " * 3_000, turn_id="t1", verbatim=True)
    first, third = ana.page("why", turn="t1"), ana.page("why", turn="t1", piece=3)
    assert "Part 1 of 4" in first and len(first) < 60_000 and "I live in Porto" in first
    assert "Part 3 of 4" in third and "I live in Porto" not in third
    assert ana.get("/inspect/why?turn=t1&piece=5").status_code == 400


def test_a_turn_that_was_withdrawn_says_so_and_comes_back_by_undo(ana, told, fact, doxa):
    told("I live in Porto.", turn_id="t1")
    page = ana.page("why", turn="t1")
    assert "act=withdraw" in page
    done = ana.submit("act", act="withdraw", turn="t1", back="/inspect/why?turn=t1")
    assert done.status_code == 200 and "This turn was withdrawn" in done.text and "Undo" in done.text
    assert "withdrawn" in ana.page("why", fact=fact("Porto").fact_id)
    offered = re.search(r'name="at" value="([\d-]+)"', done.text)[1]
    ana.submit("undo", at=offered, back="/inspect/why?turn=t1")
    assert "This turn was withdrawn" not in ana.page("why", turn="t1")


def test_a_fact_offers_what_can_be_done_about_it(ana, told, fact):
    told("I live in Porto.", turn_id="t1")
    held = ana.page("why", fact=fact("Porto").fact_id)
    assert "act=correct" in held and "act=retract" in held and "act=accept" not in held
    ana.submit("act", act="retract", fact=fact("Porto").fact_id)
    gone = ana.page("why", fact=fact("Porto").fact_id)
    assert "act=retract" not in gone and "taken back" in gone


def test_a_derivation_is_drawn_from_the_words_to_what_follows(ana, told, fact):
    told("I am vegetarian.", turn_id="t1")
    diet, meat = fact("vegetarian").fact_id, fact("meat").fact_id
    assert flows(ana, diet) == {("turn", "fact"), ("fact", "fact")}
    assert flows(ana, meat) == {("turn", "fact"), ("fact", "rule"), ("rule", "fact")}


def test_without_a_question_the_latest_changes_lead_in(ana, told):
    told(*(f"Person{number} lives in Porto." for number in range(45)))
    page = ana.page("why")
    assert ">person44<" in page.casefold() and ">person0<" not in page.casefold()
    further = re.search(r'data-more href="([^"]+)"', page)[1].replace("&amp;", "&")
    assert ">person0<" in ana.get(further).text.casefold()


def test_an_answer_leads_to_how_it_was_found(ana):
    response = ana.get("/inspect/why?answer=a1", follow_redirects=False)
    assert response.headers["location"] == "/inspect/recall?answer=a1"


def test_a_value_of_a_task_leads_to_the_turns_that_set_it(ana, doxa):
    tasks = doxa.tasks(user="ana")

    def plan(editor):
        root = editor.add("party", kind=NodeKind.TASK)
        return editor.add("place", parent=root)

    node = tasks.edit(plan)
    page = ana.page("why", node=node)
    assert "party/place" in page and "How it came to be" in page
    assert ana.get("/inspect/why?node=n999").status_code == 404


def test_a_memory_that_is_empty_says_how_to_begin(ana):
    assert "Tell it something" in ana.page("why")


def test_what_is_not_there_is_a_page_that_says_so(ana, told):
    told("I live in Porto.")
    wrong = {"fact=f1_none": 404, "turn=none": 404, "fact=o_none": 404, "after=x": 400}
    for query, status in wrong.items():
        response = ana.get(f"/inspect/why?{query}")
        assert response.status_code == status and "<h1>" in response.text, query


def test_what_is_said_is_never_markup(ana, told):
    for number, words in enumerate(HOSTILE):
        told(f"I live in Porto. {words} {words}", turn_id=f"t{number}", speaker=f"Ana {words}"[:60])
        for page in (ana.page("why", turn=f"t{number}"), ana.page("why")):
            assert words not in page


def test_nobody_sees_the_words_of_another(browser, keys, told, fact, doxa):
    told("I live in Porto.", turn_id="t1")
    _, secret = keys.add(users=["bob"])
    bob = browser(open=False)
    bob.submit("enter", key=secret, next="/inspect/now")
    for query in (f"fact={fact('Porto').fact_id}", "turn=t1", ""):
        refused = bob.get(f"/inspect/why?user=ana&{query}")
        assert refused.status_code == 403 and "Porto" not in refused.text
        assert "Porto" not in bob.get(f"/inspect/why?{query}").text


def test_a_key_that_may_only_read_changes_nothing(browser, keys, told, doxa):
    told("I live in Porto.", turn_id="t1")
    _, secret = keys.add(users=["ana"], rights=["read"])
    reader = browser(open=False)
    reader.submit("enter", key=secret, next="/inspect/now")
    assert reader.submit("act", act="withdraw", turn="t1").status_code == 403
    assert View(doxa.parts, "ana").turn("t1").withdrawn is None


def flows(browser, fact_id):
    """Return of what kinds the nodes are that are joined in the drawing of a fact."""
    told = browser.get("/inspect/why/graph", params={"fact": fact_id}).json()
    kinds = {node["id"]: node["kind"] for node in told["nodes"]}
    return {(kinds[edge["source"]], kinds[edge["target"]]) for edge in told["edges"]}
