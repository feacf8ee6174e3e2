"""Facts over HTTP: listed, explained, corrected, taken back."""

import pytest

HOUSE = (
    "The estate agent says the house has 142 square metres.",
    "The survey plan says the house has 136 square metres.",
)


def objects(answer):
    return [fact["object"] for fact in answer["items"]]


def test_facts_are_listed_as_of_a_day_and_as_known_then(ana):
    """Both axes of time, subject, relation and status narrow the list."""
    assert objects(ana.get("/facts", relation="lives_in")) == ["Bonn"]
    assert objects(ana.get("/facts", as_of="2024-03-10", relation="lives_in")) == ["Lisbon"]
    assert objects(ana.get("/facts", known_at="2024-03-31", relation="lives in")) == ["Lisbon"]
    assert objects(ana.get("/facts", status="superseded")) == ["Lisbon"]
    assert objects(ana.get("/facts", current=False, relation="lives_in")) == ["Lisbon", "Bonn"]
    assert {"Siemens", "Bonn"} <= set(objects(ana.get("/facts", subject="ana")))
    assert objects(ana.get("/facts", subject="Bob")) == []


def test_a_misspelt_parameter_is_refused_with_those_that_are_known(ana):
    """It would give another answer silently."""
    problem = ana.get("/facts", 422, as_off="2024-03-10")
    assert problem["fields"][0]["where"] == "as_off"
    assert "as_of, current" in problem["detail"]


@pytest.mark.parametrize("wrong", [{"as_of": "soon"}, {"known_at": "then"}, {"subject": " "}, {"cursor": "x"}])
def test_what_cannot_be_read_is_a_problem_that_says_what_was_expected(ana, wrong):
    """Bad values are 400, and the detail names what came."""
    assert (
        "expected" in ana.get("/facts", 400, **wrong)["detail"] or "empty" in ana.get("/facts", 400, **wrong)["detail"]
    )


def test_pages_of_facts_are_stable_while_facts_come_and_go(client):
    """A fact that is given up between two pages neither repeats nor hides another."""
    client.tell(*(f"I own a {thing}." for thing in "boat cat dog piano tent".split()))
    everything = objects(client.get("/facts"))
    first = client.get("/facts", limit=2)
    client.post(f"/facts/{first['items'][1]['fact_id']}/retract")
    client.tell("I own a kite.")
    second = client.get("/facts", limit=2, cursor=first["next"])
    third = client.get("/facts", limit=2, cursor=second["next"])
    assert objects(first) + objects(second) + objects(third) == [*everything, *objects(third)[-1:]]
    assert "kite" in objects(third)[-1] and third["next"] is None


def test_a_cursor_whose_fact_was_erased_says_to_begin_again(client):
    """It does not silently begin elsewhere."""
    boat, *_ = client.tell("I own a boat.", "I own a cat.", "I own a dog.")
    page = client.get("/facts", limit=1)
    client("DELETE", f"/turns/{boat}")
    assert "Begin again" in client.get("/facts", 400, limit=1, cursor=page["next"])["detail"]


def test_a_fact_is_explained_by_its_turns(ana):
    """One fact, and why it stands where it stands."""
    lisbon = ana.get("/facts", status="superseded")["items"][0]
    assert ana.get(f"/facts/{lisbon['fact_id']}") == lisbon
    why = ana.get(f"/facts/{lisbon['fact_id']}/why")
    assert [turn["turn_id"] for turn in why["turns"]] == ["t1"]
    assert [fact["object"] for fact in why["displaced_by"]] == ["Bonn"]
    ana.get("/facts/f1_none", 404)
    ana.get("/facts/f1_none/why", 404)


def test_what_is_retracted_gives_back_what_it_displaced_and_undo_takes_that_back(ana):
    """A correction by hand is a change like any other."""
    bonn = ana.get("/facts", relation="lives_in")["items"][0]
    changed = ana.post(f"/facts/{bonn['fact_id']}/retract", {"reason": "a joke"})
    assert {change["kind"] for change in changed["changes"]} >= {"retract", "restore"}
    assert objects(ana.get("/facts", relation="lives_in")) == ["Lisbon"]
    assert "a joke" in str(ana.get("/history", of=bonn["fact_id"]))
    undone = ana.post("/undo")
    assert undone["version"] > changed["version"]
    assert objects(ana.get("/facts", relation="lives_in")) == ["Bonn"]


def test_what_is_accepted_by_hand_is_believed_and_undo_takes_that_back(client):
    """What was retracted comes back, and one of two that disagree wins; what is over is refused with a reason."""
    client.tell("I live in Lisbon.", *HOUSE)
    lisbon = client.get("/facts", relation="lives_in")["items"][0]["fact_id"]
    client.post(f"/facts/{lisbon}/retract")
    supposed = client.post("/what-if", {"accept": lisbon})["changes"]
    assert [change["kind"] for change in supposed] == ["restore"]
    changed = client.post(f"/facts/{lisbon}/accept", {"reason": "the passport has it"})
    assert "accepted by hand: the passport has it" in changed["changes"][0]["reason"]
    assert objects(client.get("/facts", relation="lives_in")) == ["Lisbon"]
    assert client.post(f"/facts/{lisbon}/accept")["changes"] == []
    client.post("/undo")
    assert objects(client.get("/facts", relation="lives_in")) == []
    small, large = (fact["fact_id"] for fact in client.get("/disputes")["items"][0]["facts"])
    client.post(f"/facts/{large}/accept")
    assert [fact["fact_id"] for fact in client.get("/facts", status="retracted")["items"]] == [lisbon, small]
    client.post("/facts/f1_none/accept", None, 404)
    client.tell("I live in Bonn.", "I moved to Oslo.")
    bonn = client.get("/facts", status="superseded")["items"][0]["fact_id"]
    assert "is over" in client.post(f"/facts/{bonn}/accept", None, 400)["detail"]


def test_facts_that_disagree_are_kept_beside_each_other(client):
    """Only those of one dispute, and at least two."""
    client.tell(*HOUSE, "I live in Lisbon.")
    (dispute,) = client.get("/disputes")["items"]
    ids = [fact["fact_id"] for fact in dispute["facts"]]
    lisbon = client.get("/facts", relation="lives_in")["items"][0]["fact_id"]
    assert "one dispute" in client.post("/facts/keep-both", {"fact_ids": [ids[0], lisbon]}, 400)["detail"]
    client.post("/facts/keep-both", {"fact_ids": ids[:1]}, 422)
    client.post("/facts/keep-both", {"fact_ids": [ids[0], "f1_none"]}, 404)
    assert len(client.post("/what-if", {"keep_both": ids})["changes"]) == 2
    assert client.get("/disputes")["items"] == [dispute]
    kept = client.post("/facts/keep-both", {"fact_ids": ids, "reason": "two surveys"})
    assert {change["fact"]["fact_id"] for change in kept["changes"]} == set(ids)
    assert client.get("/disputes")["items"] == [] and len(client.get("/facts")["items"]) == 3
    client.post("/undo")
    assert client.get("/disputes")["items"] == [dispute]


def test_undo_after_a_retraction_that_changed_nothing_takes_nothing_back_and_says_so(ana):
    """The retraction before it stands until the next undo; where none is left, that is said as well."""
    bonn = ana.get("/facts", relation="lives_in")["items"][0]
    ana.post(f"/facts/{bonn['fact_id']}/retract")
    assert ana.post(f"/facts/{bonn['fact_id']}/retract")["changes"] == []
    undone = ana.post("/undo")
    assert undone["changes"] == [] and undone["note"].startswith("No fact changed")
    assert objects(ana.get("/facts", relation="lives_in")) == ["Lisbon"]
    undone = ana.post("/undo")
    assert undone["changes"] and not undone["note"]
    assert objects(ana.get("/facts", relation="lives_in")) == ["Bonn"]


def test_undo_of_nothing_says_so(client):
    """There is none in an empty memory."""
    undone = client.post("/undo")
    assert undone["changes"] == [] and "nothing is left" in undone["note"]


def test_what_if_changes_nothing(ana):
    """It tells what would change, and the version stays."""
    before = ana.get("/stats")
    supposed = ana.post("/what-if", {"say": "I moved to Oslo.", "speaker": "Ana"})
    assert "Oslo" in {change["fact"]["object"] for change in supposed["changes"]}
    assert ana.get("/stats") == before
    ana.post("/what-if", {}, 400)


def test_history_is_paged_and_narrowed(ana):
    """Everything, a subject, a subject with a relation; page by page in order."""
    whole = ana.get("/history")["items"]
    first = ana.get("/history", limit=2)
    rest = ana.get("/history", cursor=first["next"])
    assert first["items"] + rest["items"] == whole
    assert {change["fact"]["relation"] for change in ana.get("/history", of="Ana", relation="works_at")["items"]} == {
        "works at"
    }
    ana.get("/history", 404, of="Nobody")


def test_names_are_merged_and_split(client):
    """Two names for one person are joined by hand, and told apart again."""
    client.tell("Kathi lives in Rome.", "Katharina works at Siemens.")
    client.post("/entities/merge", {"one": "Kathi", "other": "Katharina", "reason": "she said so"})
    joined = [one for one in client.get("/entities")["items"] if "Kathi" in (one["label"], *one["aliases"])]
    assert {joined[0]["label"], *joined[0]["aliases"]} == {"Kathi", "Katharina"}
    client.post("/entities/split", {"one": "Kathi", "other": "Katharina"})
    assert {"Kathi", "Katharina"} <= {one["label"] for one in client.get("/entities")["items"]}
    client.post("/entities/merge", {"one": "Kathi", "other": "Nobody"}, 404)


def test_a_source_is_no_longer_trusted(client):
    """What was said on its word is given up."""
    client.post("/turns", {"turns": [{"text": "I live in Rome.", "speaker": "Bob"}]}, 201)
    client.post("/sources/withdraw", {"source": "Bob", "reason": "he jokes"})
    assert "Rome" not in objects(client.get("/facts"))
    client.post("/sources/withdraw", {"source": "Mum"}, 404)


def test_rules_disputes_and_what_follows_are_listed(client):
    """What is no plain fact has lists of its own."""
    client.tell("If it rains, we stay in.", "My sister is Ann.")
    assert "rains" in client.get("/rules")["items"][0]["span"]
    assert client.get("/disputes") == {"items": []}
    inferred = client.get("/inferred")["items"]
    sibling = next(fact for fact in inferred if fact["relation"] == "sibling")
    assert client.get(f"/facts/{sibling['fact_id']}/why")["derivation"]
    assert client.get(f"/facts/{sibling['fact_id']}")["object"] == sibling["object"]
    assert objects(client.get("/inferred", cursor=client.get("/inferred", limit=1)["next"])) == objects(
        {"items": inferred[1:]}
    )


ROMANCE = [
    "I love romantic films.",
    "My favourite love story on screen is Casablanca.",
    "I really enjoyed that romantic comedy with the bookshop.",
    "I adore a good romance movie on a Sunday.",
]


def test_concepts_are_explained_taken_down_and_enabled(client):
    """What the user is like can be refused, and taken back."""
    for number, text in enumerate(ROMANCE):
        client.post("/turns", {"turns": [{"text": text}], "session": f"s{number}"}, 201, wait=True)
    concept = next(one for one in client.get("/concepts", active=False)["items"] if one["concept"] == "film/romance")
    key = concept["promotion_id"]
    assert len(client.get(f"/concepts/{key}/why")["turns"]) == len(concept["support"])
    demoted = client.post(f"/concepts/{key}/demote", {"reason": "long ago"})["concept"]
    assert (demoted["active"], demoted["demoted"]) == (False, "long ago")
    assert key not in {one["promotion_id"] for one in client.get("/concepts")["items"]}
    assert client.post(f"/concepts/{key}/enable")["concept"]["active"] is True


def test_a_concept_that_there_is_not_is_not_found(client):
    """The detail names it."""
    assert "p_none" in client.get("/concepts/p_none/why", 404)["detail"]
    client.post("/concepts/p_none/demote", None, 404)
    client.post("/concepts/p_none/enable", None, 404)
