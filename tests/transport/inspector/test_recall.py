"""The page that replays how an answer came to be."""

import json
import re
from itertools import repeat

import pytest

from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import (
    Config,
    EncoderConfig,
    EngineConfig,
    GraderConfig,
    LLMConfig,
    ReaderConfig,
    RolesConfig,
    ServerConfig,
)
from doxa.engine import Doxa
from doxa.transport.http import application

from .conftest import HOSTILE, Browser

LISBON = {"answer": "You live in Lisbon.", "value": "Lisbon", "citations": ["t1"], "abstained": False}


@pytest.fixture
def lisbon(told):
    """Ana lives in Lisbon, and her sister is called Mia."""
    told("I live in Lisbon.", turn_id="t1", at="2024-01-01")
    told("My sister is called Mia.", turn_id="t2", at="2024-01-02")


def asked(doxa, question="Where do I live?", user="ana"):
    """Ask, and return the id under which the answer is kept."""
    return doxa.dialogue(user=user).ask(question, said=[]).answer_id


def row_of(page, words):
    """Return the first row of a table that has some words in it."""
    return next(row for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL) if words in row)


def test_a_question_is_answered_and_replayed_where_it_is_asked(ana, lisbon):
    page = ana.page("recall", q="Where do I live?")
    assert "You live in Lisbon" in page
    for title in ("Steps", "What each view proposed", "Verdict"):
        assert title in page
    assert "No language model was asked." in page


def test_nothing_of_a_question_is_remembered(ana, doxa, lisbon):
    before = doxa.memory(user="ana").stats()["turns"]
    ana.page("recall", q="Where do I live?")
    assert doxa.memory(user="ana").stats()["turns"] == before


def test_a_candidate_is_shown_with_who_proposed_it_and_that_it_is_cited(ana, lisbon):
    row = row_of(ana.page("recall", q="Where do I live?"), "I live in Lisbon.")
    assert "<b>1.</b>" in row
    assert "cited" in row
    assert 'href="/inspect/why?turn=t1"' in row


def test_a_sentence_of_the_verdict_leads_to_the_fact_that_decides_it(ana, doxa, lisbon):
    fact = next(one for one in doxa.memory(user="ana").facts() if str(one.object) == "Lisbon")
    page = ana.page("recall", q="Where do I live?")
    verdict = page[page.index('id="verdict-title"') :]
    assert f'href="/inspect/why?fact={fact.fact_id}"' in verdict
    assert "facts and rules" in verdict


def test_an_answer_that_is_kept_has_an_address(ana, doxa, lisbon):
    key = asked(doxa)
    listed = ana.page("recall")
    assert f"/inspect/recall?answer={key}#replay" in listed
    page = ana.page("recall", answer=key)
    assert "You live in Lisbon" in page
    assert "What each view proposed" in page


def test_what_has_changed_since_is_said_and_the_question_asked_again(ana, doxa, told, lisbon):
    key = asked(doxa)
    told("I moved to Oslo.", at="2024-03-01")
    assert "changed since" in ana.page("recall")
    assert "Changed since" in ana.page("recall", answer=key)
    again = ana.page("recall", again=key)
    replay = again[again.index('id="replay"') :]
    assert replay.index("Oslo") < replay.index("What was answered then") < replay.index("Lisbon")


def test_another_time_is_asked_about(ana, told, lisbon):
    told("I moved to Oslo.", at="2024-03-01")
    then = ana.page("recall", q="Where do I live?", known_at="2024-02-01")
    assert "Lisbon" in then[then.index('class="answer') :].partition("</blockquote>")[0]


@pytest.mark.parametrize("given", [{"as_of": "soon"}, {"known_at": "x"}])
def test_a_day_that_is_none_is_said_to_be_none(ana, lisbon, given):
    assert ana.get("/inspect/recall", params={"q": "Where do I live?", **given}).status_code == 400


def test_a_link_on_another_site_asks_nothing(ana, doxa, lisbon):
    headers = {"Sec-Fetch-Site": "cross-site"}
    page = ana.get("/inspect/recall", params={"q": "Where do I live?"}, headers=headers).text
    assert "press <em>Ask</em>" in page
    assert 'value="Where do I live?"' in page
    assert doxa.memory(user="ana").answers() == []


def test_kept_answers_are_paged_and_found(ana, doxa, lisbon):
    for count in range(1, 31):
        asked(doxa, f"Where do I live{'?' * count}")
    asked(doxa, "What is my sister called?")
    first = ana.page("recall")
    assert first.count('class="row" data-row') == 25
    after = re.search(r'data-more href="[^"]*after=(\w+)', first)[1]
    rest = ana.page("recall", after=after)
    assert rest.count('class="row" data-row') == 6
    assert "sister" in first and "sister" not in rest[rest.index('id="kept"') :]
    assert ana.page("recall", find="SISTER").count('class="row" data-row') == 1


def test_a_page_that_is_none_is_refused(ana, lisbon):
    assert ana.get("/inspect/recall", params={"after": "x"}).status_code == 400


def test_an_answer_that_is_not_kept_is_a_page_that_says_so(ana, lisbon):
    response = ana.get("/inspect/recall", params={"answer": "a_none"})
    assert response.status_code == 404
    assert "a_none" in response.text


def test_a_memory_without_answers_says_how_to_begin(ana):
    page = ana.page("recall")
    assert "No answer is kept yet" in page
    assert "Ask something" in page


def test_nobody_sees_the_answers_of_another(browser, keys, doxa, told, lisbon):
    told("I live in Paris.", user="ben")
    hers = asked(doxa)
    one = browser(open=False)
    one.cookies.set("doxa_key", keys.add(users=["ben"], rights=["read"])[1])
    assert "Lisbon" not in one.page("recall")
    assert one.get("/inspect/recall", params={"answer": hers}).status_code == 404
    assert one.get("/inspect/recall", params={"answer": hers, "user": "ana"}).status_code == 403


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_asked_and_said_is_text(ana, told, text):
    told(f"I like {text} a lot.", turn_id="t1")
    for page in (ana.page("recall", q=f"Do I like {text}?"), ana.page("recall", find=text)):
        for part in ("<script>alert", "<img src=x", "\u202e", "\x07"):
            assert part not in _outside_fields(page)


def _outside_fields(page):
    """Return a page without what stands in fields, where a text is as it was typed."""
    return re.sub(r'value="[^"]*"', "", page)


def test_an_answer_kept_without_any_detail_is_still_shown(ana, doxa, lisbon):
    key = asked(doxa)
    memory, scope = doxa.memory(user="ana"), doxa.parts.log.scope("ana")
    memory.answers()
    (kept,) = doxa.parts.log.store.answers(scope)
    bare = [{"name": step["name"], "ms": step["ms"], "detail": {}, "degraded": None} for step in kept["trace"]["steps"]]
    doxa.parts.log.store.amend_answers(scope, {key: {**kept, "trace": {"ms": 1.0, "steps": bare}}})
    assert "Ask again to see it" in ana.page("recall", answer=key)
    doxa.parts.log.store.amend_answers(scope, {key: {**kept, "trace": {}}})
    assert "You live in Lisbon" in ana.page("recall", answer=key)


def played(request):
    """Play every role of a search as a plain model would."""
    match request.schema["title"]:
        case "moves":
            moves = [
                {"move": "expand_entity", "entity": "Siemens", "likelihood": 0.6},
                {"move": "think", "text": "<script>alert(2)</script>", "likelihood": 0.3},
            ]
            done = '"path": []' not in request.messages[-1].content
            answer = {"move": "answer", "text": "Eva lives in Graz.", "value": "Graz", "citations": ["e1"]}
            return json.dumps({"moves": [{**answer, "likelihood": 0.9}] if done else moves})
        case "promise":
            return json.dumps({"bears": 0.9, "closer": 0.6, "reach": 0.9})
        case "worth":
            good = float("Graz" in request.messages[-1].content.partition('"answer"')[2])
            return json.dumps(dict.fromkeys(("true", "whole", "clear"), good))
    return json.dumps(LISBON)


@pytest.fixture
def prompted():
    """A function from who searches to an engine whose language model answers from a script."""
    engines = []

    def opening(reason, replies):
        settings = Config(
            encoder=EncoderConfig(name="hash"), engine=EngineConfig(settle_s=10), grader=GraderConfig(name="none"),
            reader=ReaderConfig(name="none"), llm=LLMConfig(name="scripted"), user="ana", profile="writer",
            roles=RolesConfig(write="prompted", reason=reason),
        )  # fmt: skip
        doxa = Doxa.open(":memory:", config=settings)
        engines.append(doxa)
        doxa.parts.opened.model = ScriptedModel(replies)
        chat = doxa.dialogue(user="ana", session="s")
        for key, text in {"t1": "I live in Lisbon.", "e1": "My sister Eva lives in Graz."}.items():
            chat.absorb(text, at="2024-01-01", turn_id=key)
        chat.absorb("Eva works at Siemens.", at="2024-01-02", turn_id="e2")
        chat.flush()
        return doxa

    yield opening
    for engine in engines:
        engine.close()


def browse(doxa):
    """Return a browser at an engine."""
    return Browser(application(doxa, ServerConfig(open=True)), "http://localhost")


def test_the_prompt_is_shown_as_it_was_sent_with_its_tokens(prompted):
    doxa = prompted("builtin", [json.dumps(LISBON)])
    with browse(doxa) as one:
        page = one.page("recall", q="Where do I live?")
    (request,) = doxa.parts.opened.model.requests
    prompt = page[page.index("The prompt as it was sent") :]
    for line in request.messages[1].content.splitlines()[:4]:
        assert line in prompt
    assert "[t1]" in prompt
    assert "1 call" in prompt
    assert "What came back" in prompt and "Lisbon" in prompt[prompt.index("What came back") :]
    tokens = doxa.parts.opened.model.count_tokens(request.messages[0].content)
    assert f"{tokens:,} tokens" in prompt


def test_the_search_of_a_model_is_shown_as_a_tree_with_every_call(prompted):
    doxa = prompted("prompted", repeat(played))
    with browse(doxa) as one:
        page = one.page("recall", q="Where does the person who works at Siemens live?")
    tree = page[page.index("The search") : page.index("The prompt as it was sent", page.index("The search"))]
    for word in ("chosen", "opened", "likelihood", "value"):
        assert word in tree
    assert tree.index("EXPAND ENTITY") > tree.index("The question")
    assert "<script>alert(2)" not in page and "&lt;script&gt;alert(2)" in tree
    assert "Call 2, " in page
