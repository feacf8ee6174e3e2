"""The page of what waits for a person."""

import re

import pytest

from doxa.engine import View

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>')


@pytest.fixture
def waiting(understood):
    """A dispute, what only an assistant has said, and what may be misread; the last first."""
    understood("The workshop", "located_in", "Porto", by="Hana", functional=True)
    understood("The workshop", "located_in", "Faro", by="Jiro", days=0, functional=True)
    understood("Mia", "likes", "chess", by="Doxa", role="assistant")
    understood("Léa", "likes", "tea", tentative=True, confidence=0.3)


def rows(page: str) -> list[str]:
    """Return what the rows of the queue say, in their order."""
    found = re.findall(r'data-row.*?<a href="[^"]*">(.*?)</a>', page, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", "", row).split()) for row in found]


def tabs(page: str) -> dict[str, int]:
    """Return the tabs and how much is on each."""
    shown = re.search(r'<nav class="tabs".*?</nav>', page, re.DOTALL)[0]
    return {name.strip(): int(count) for name, count in re.findall(r">([^<>]+)<span class=\"small\">(\d+)<", shown)}


def test_each_thing_that_waits_is_shown_with_who_says_it_and_where(ana, waiting):
    page = ana.page("conflicts")
    assert rows(page) == ["Léa likes tea", "Mia likes chess", "The workshop located in Porto",
                          "The workshop located in Faro"]  # fmt: skip
    assert tabs(page) == {"All": 3, "Disputed": 1, "Doubtful": 1, "May be misread": 1, "Names": 0}
    assert "Which is right: “The workshop" in page
    assert '<mark class="said value">Porto</mark>' in page
    for words in ("Hana", "Jiro", "(assistant)", "30 % sure", "2024-01-02 09:00"):
        assert words in page


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ({"kind": "disputed"}, ["The workshop located in Porto", "The workshop located in Faro"]),
        ({"kind": "doubtful"}, ["Mia likes chess"]),
        ({"kind": "tentative"}, ["Léa likes tea"]),
        ({"q": "lea"}, ["Léa likes tea"]),
        ({"q": "work"}, ["The workshop located in Porto", "The workshop located in Faro"]),
        ({"q": "faro"}, ["The workshop located in Porto", "The workshop located in Faro"]),
        ({"q": "mia", "kind": "tentative"}, []),
    ],
    ids=str,
)
def test_a_tab_and_a_name_leave_the_rest_out(ana, waiting, asked, shown):
    assert rows(ana.page("conflicts", **asked)) == shown


def test_the_oldest_comes_first_where_that_is_asked(ana, waiting):
    assert rows(ana.page("conflicts", order="oldest"))[0] == "The workshop located in Porto"
    assert rows(ana.page("conflicts", order="oldest"))[-1] == "Léa likes tea"


@pytest.mark.parametrize("order", ["", "oldest"])
def test_pages_lead_on_and_back(ana, understood, order):
    """Nothing is missing and nothing comes twice, though what stands first on a page was settled meanwhile."""
    for number in range(120):
        understood(f"Person {number}", "likes", "tea", tentative=True)
    everything = [f"Person {number} likes tea" for number in range(120)]
    everything = everything if order else everything[::-1]
    address, shown, back = f"/inspect/conflicts?order={order}", [], ""
    while address:
        page = ana.get(address).text
        shown.append(rows(page))
        found = re.search(r'data-more href="([^"]+)"', page)
        address = found[1].replace("&amp;", "&") if found else ""
        back = re.search(r'data-before href="([^"#]+)', page)
    assert [row for one in shown for row in one] == everything
    assert [len(one) for one in shown] == [50, 50, 20]
    assert rows(ana.get(back[1].replace("&amp;", "&")).text) == shown[1]


def test_an_empty_queue_says_what_would_stand_there(ana):
    page = ana.page("conflicts")
    assert "Nothing waits for you." in page
    assert "Nothing was done by hand lately." in page
    assert "Nobody has two names." in ana.page("conflicts", kind="names")


@pytest.mark.parametrize(
    "query", ["kind=other", "order=sideways", "after=x", "before=x", "after=W10&before=W10", "kind=names&named=x"]
)
def test_an_address_that_means_nothing_is_a_page_that_says_so(ana, waiting, query):
    response = ana.get(f"/inspect/conflicts?{query}")
    assert response.status_code == 400
    assert "expected" in response.text


@pytest.mark.parametrize("act", ["accept", "retract"])
def test_an_act_at_once_is_done_and_undone(ana, waiting, doxa, act):
    """It is the form of any other act, with what it is about in its button."""
    view = View(doxa.parts, "ana")
    (item,) = view.review("tentative").items
    page = ana.page("conflicts")
    assert f'value="act={act}&amp;fact={item.key}"' in page
    done = ana.submit("act", quick=f"act={act}&fact={item.key}", back="/inspect/conflicts?kind=tentative")
    assert done.status_code == 200
    assert done.url.params["kind"] == "tentative"
    assert view.review("tentative").total == 0
    assert (str(view.fact(item.key).status) == "held") is (act == "accept")
    assert "Undo it" in done.text
    back = ana.submit("undo", at=done.url.params["at"], back="/inspect/conflicts")
    assert view.review("tentative").total == 1
    assert "undone" in back.text


def test_an_act_at_once_needs_the_token_and_a_known_name(ana, waiting, doxa):
    (item,) = View(doxa.parts, "ana").review("tentative").items
    refused = ana.post("/inspect/act", data={"quick": f"act=accept&fact={item.key}"})
    assert refused.status_code in (400, 403)
    assert ana.submit("act", quick="act=erase&fact=x").status_code == 400
    assert View(doxa.parts, "ana").review("tentative").total == 1


def test_what_was_done_lately_is_told_with_what_undo_takes_back(ana, waiting, doxa):
    memory, view = doxa.memory(user="ana"), View(doxa.parts, "ana")
    (mia,), (lea,) = view.review("doubtful").items, view.review("tentative").items
    memory.accept(mia.key, reason="she told me")
    memory.retract(lea.key, reason="a misreading")
    page = ana.page("conflicts")
    lately = page[page.index("lately-title") :]
    assert lately.index("a misreading") < lately.index("Undo it") < lately.index("Mia")
    assert lately.count("Undo it") == 1
    memory.undo()
    page = ana.page("conflicts")
    lately = page[page.index("lately-title") :]
    assert lately.index("undone") < lately.index("Mia") < lately.index("Undo it")


def test_what_each_act_would_change_is_compared(ana, waiting, doxa):
    (item,) = View(doxa.parts, "ana").review("disputed").items
    page = ana.page("conflicts/compare", fact=[fact.fact_id for fact in item.facts])
    assert page.count("Go on to it") == 5
    assert View(doxa.parts, "ana").review("disputed").total == 1
    assert ana.get("/inspect/conflicts/compare").status_code == 400
    assert ana.get("/inspect/conflicts/compare?fact=f1_none").status_code == 404


def test_names_are_joined_with_a_look_at_what_changes_and_told_apart(ana, understood, doxa):
    for name in ("Mia", "Maria"):
        understood(name, "likes", "tea")
    before = ana.page("suppose", act="merge", one="Mia", other="Maria")
    assert "taken as one" in before
    assert "Nothing that is believed would change" not in before
    assert len(doxa.memory(user="ana").entities()) == 2
    ana.submit("act", act="merge", one="Mia", other="Maria")
    page = ana.page("conflicts", kind="names")
    assert "is the same as" in page
    assert "told apart" in ana.page("suppose", act="split", one="Mia", other="Maria")
    assert "Nobody has two names." in ana.page("conflicts", kind="names", q="zoe")
    ana.submit("act", act="split", one="Mia", other="Maria")
    assert "Nobody has two names." in ana.page("conflicts", kind="names")


@pytest.mark.parametrize("name", HOSTILE)
def test_what_people_say_is_never_markup(ana, understood, name):
    understood(f"H {name}", "likes", name, by=name, tentative=True)
    understood(f"W {name}", "located_in", f"{name} 1", by="Hana", functional=True)
    understood(f"W {name}", "located_in", f"{name} 2", by=name, days=0, functional=True)
    for page in (ana.page("conflicts"), ana.page("conflicts", q=name), ana.page("conflicts", kind="names", q=name)):
        assert name not in page
    assert "U+202E" in ana.page("conflicts", q="\u202eevil")


def test_a_key_of_somebody_else_opens_nothing(browser, keys, waiting):
    _, secret = keys.add(users=["bo"], rights=["read", "write"])
    there = browser(open=False)
    there.cookies.set("doxa_key", secret, path="/inspect")
    assert there.get("/inspect/conflicts?user=ana").status_code == 403
    assert "workshop" not in there.get("/inspect/conflicts?user=bo").text
