"""The page of what stands around a person or thing, and of questions in SPARQL."""

import json
import re

from doxa.transport.inspector.pages.queries import EXAMPLES

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>')
HOMES = "SELECT ?who ?place WHERE { ?who doxa:livesIn ?place }"


def near(browser, **parameters):
    """Return what is drawn: nodes by id, and edges as who is related to what, and how it is drawn."""
    response = browser.get("/inspect/graph/near", params=parameters)
    assert response.status_code == 200, response.text
    told = response.json()
    nodes = {node["id"]: node for node in told["nodes"]}
    edges = {
        (nodes[edge["source"]]["label"], edge.get("label", ""), nodes[edge["target"]]["label"]): edge
        for edge in told["edges"]
    }
    return nodes, edges


def test_the_page_says_in_words_what_the_drawing_shows(ana, told):
    told("My sister is Mia.", "I live in Porto.")
    page = ana.page("graph", of="ana")
    _, edges = near(ana, of="ana", all=1)
    for subject, relation, thing in edges:
        if relation != "is":
            assert f">{subject}<" in page and f">{relation}<" in page and f">{thing}<" in page
    assert ("Ana", "lives in", "Porto") in edges
    assert 'data-graph="/inspect/graph/near?of=ana&amp;all=1"' in page


def test_a_value_is_no_thing_that_could_be_gone_on_from(ana, told):
    told("I live in Porto. I am 31 years old.")
    nodes, _ = near(ana, of="ana")
    kinds = {node["label"]: node["kind"] for node in nodes.values()}
    assert kinds["Porto"] == "entity" and set(kinds.values()) == {"entity", "value"}
    assert all("expand" not in node for node in nodes.values() if node["kind"] == "value")
    (porto,) = (node for node in nodes.values() if node["label"] == "Porto")
    assert ana.get(porto["expand"]).status_code == 200


def test_what_nobody_said_is_drawn_as_such_and_tells_how_it_follows(ana, told):
    told("My sister is Mia.")
    _, edges = near(ana, of="mia")
    edge = edges["Mia", "sibling", "Ana"]
    assert edge["kind"] == "inferred" and edges["Ana", "sister", "Mia"]["kind"] == "firm"
    assert any("sister" in line for line in ana.get(edge["told"]).json()["lines"])
    assert "What follows from it" in ana.page("graph", of="mia")
    assert "How it follows" in ana.get(edge["href"]).text


def test_in_a_large_memory_what_follows_comes_later(ana, told, monkeypatch):
    told("My sister is Mia.")
    monkeypatch.setattr("doxa.engine.viewing.view.FEW", 0)
    page = ana.page("graph", of="mia")
    later = re.search(r'hx-get="([^"]*graph/inferred[^"]*)" hx-trigger="load"', page)[1].replace("&amp;", "&")
    assert ("Mia", "sibling", "Ana") not in near(ana, of="mia")[1]
    assert "sibling" in ana.get(later).text
    assert ("Mia", "sibling", "Ana") in near(ana, of="mia")[1]


def test_what_is_over_is_drawn_on_request(ana, told):
    told("I live in Porto.", "I moved to Lisbon.")
    assert ("Ana", "lives in", "Porto") not in near(ana, of="ana")[1]
    assert near(ana, of="ana", past=1)[1]["Ana", "lives in", "Porto"]["kind"] == "past"


def test_much_is_shown_in_parts(ana, told):
    told(*(f"I like {name}." for name in _words(70)))
    nodes, edges = near(ana, of="ana", all=1)
    (more,) = (node for node in nodes.values() if node["kind"] == "more")
    seen = {edge["id"] for edge in edges.values() if not edge["id"].startswith("more:")}
    rest = {edge["id"] for edge in ana.get(more["expand"]).json()["edges"]}
    assert len(seen) >= 60 and rest and not {one for one in rest if one.startswith("f1_")} & seen
    assert "after=" in ana.page("graph", of="ana")


def test_what_is_seen_is_saved(ana, told):
    told("I live in Porto.", "Bruno lives in Faro.")
    for form in ("turtle", "jsonld", "json"):
        response = ana.get("/inspect/graph/export", params={"of": "ana", "format": form})
        assert response.status_code == 200
        assert "attachment" in response.headers["Content-Disposition"]
        assert "Porto" in response.text and "Faro" not in response.text
        assert form == "turtle" or json.loads(response.text)


def test_what_cannot_be_shown_says_so(ana, told):
    told("I live in Porto.")
    wrong = {
        "graph?of=zoe": 404,
        "graph?of=ana&after=x": 400,
        "graph/near": 400,
        "graph/export?of=ana&format=xml": 400,
        "graph/proof?fact=o_none": 404,
        "graph/sparql/export?q=ASK{}&format=xml": 400,
        "graph/sparql/export?q=nonsense": 400,
    }
    for path, status in wrong.items():
        assert ana.get(f"/inspect/{path}").status_code == status, path


def test_a_question_is_answered_with_links(ana, told):
    told("I live in Porto.")
    page = ana.page("graph/sparql", q=HOMES)
    assert "/inspect/graph?of=ana" in page and "/inspect/graph?of=porto" in page and "1 row" in page


def test_every_question_has_an_answer_beside_the_box(ana, told):
    told("I live in Porto.")
    answers = {
        "ASK { ?who doxa:livesIn thing:porto }": ">Yes<",
        "ASK { ?who doxa:livesIn thing:faro }": ">No<",
        "CONSTRUCT { ?who rdfs:seeAlso ?place } WHERE { ?who doxa:livesIn ?place }": "rdfs:seeAlso",
        "SELECT ?x WHERE { ?x doxa:hates ?y }": "Nothing fits",
        "SELECT nonsense": 'role="alert"',
        "DELETE WHERE { ?s ?p ?o }": 'role="alert"',
        "": "Who lives where",
    }
    for query, shown in answers.items():
        assert shown in ana.page("graph/sparql", q=query), query


def test_every_example_is_a_question(ana, told):
    told("I live in Porto.")
    for query in EXAMPLES.values():
        assert 'role="alert"' not in ana.page("graph/sparql", q=query), query


def test_a_question_that_is_too_long_is_not_cut(ana):
    assert "at most 8,000 characters" in ana.page("graph/sparql", q="#" * 8001)


def test_what_was_found_is_saved(ana, told):
    told("I live in Porto.")
    lines = ana.get("/inspect/graph/sparql/export", params={"q": HOMES, "format": "csv"}).text.split("\r\n")
    assert lines[0] == "who,place" and lines[1].endswith("thing#porto")
    asked = {"q": "ASK { ?who doxa:livesIn thing:porto }"}
    assert ana.get("/inspect/graph/sparql/export", params=asked).text == "answer\r\ntrue\r\n"
    found = ana.get("/inspect/graph/sparql/export", params={"q": HOMES, "format": "json"}).json()
    assert found["head"]["vars"] == ["who", "place"]


def test_what_is_typed_is_never_markup(ana, told):
    told("I live in Porto.")
    for name in HOSTILE:
        for path in ("graph", "graph/near", "graph/sparql", "graph/export"):
            assert name not in ana.get(f"/inspect/{path}", params={"of": name, "q": name, "format": name}).text


def test_nobody_sees_the_graph_of_another(browser, keys, told):
    told("I live in Porto.")
    _, secret = keys.add(users=["bob"])
    bob = browser(open=False)
    bob.submit("enter", key=secret, next="/inspect/now")
    for path in ("graph", "graph/near", "graph/export", "graph/sparql", "graph/inferred"):
        response = bob.get(f"/inspect/{path}", params={"user": "ana", "of": "ana", "q": HOMES})
        assert response.status_code == 403 and "Porto" not in response.text


def _words(count):
    return [f"{first}{second}ing" for first in "bdfgklmnprst" for second in ("ak", "ell", "iss", "orr", "umm", "ebb")][
        :count
    ]
