"""Memories searched, listed and told by mem0's client."""

import pytest
from mem0.exceptions import MemoryNotFoundError, ValidationError

MINE = {"user_id": "ana"}


def test_search_gives_what_is_believed_now_best_first(ana, texts):
    """What was superseded does not come back."""
    ana.add("I live in Rome.", user_id="ana", timestamp=1672531200)
    ana.add("I moved to Bonn.", user_id="ana", timestamp=1714521600)
    ana.add("What a gruesome day.", user_id="ana", timestamp=1714608000)
    found = ana.search("Where do I live?", filters=MINE)
    assert texts(found)[0] == "Ana lives in Bonn since 1 May 2024"
    assert not [text for text in texts(found) if "Rome" in text]
    scores = [one["score"] for one in found["results"]]
    assert scores == sorted(scores, reverse=True) and all(0 < score <= 1 for score in scores)


def test_a_reference_date_asks_about_that_day(ana, texts):
    """What was true on the day is given, and what came later is not; in seconds or as a day."""
    ana.add("I live in Rome.", user_id="ana", timestamp=1672531200)
    ana.add("I moved to Bonn.", user_id="ana", timestamp=1714521600)
    for day in ("2023-06-01", 1685577600):
        assert texts(ana.search("Where do I live?", filters=MINE, reference_date=day)) == [
            "Ana lived in Rome until 1 May 2024"
        ]


def test_earlier_versions_are_given_on_request(ana, texts):
    """`latest_only=False` adds what no longer holds, to search and to lists."""
    ana.add("I live in Rome.", user_id="ana", timestamp=1672531200)
    ana.add("I moved to Bonn.", user_id="ana", timestamp=1714521600)
    both = ["Ana lived in Rome until 1 May 2024", "Ana lives in Bonn since 1 May 2024"]
    assert sorted(texts(ana.search("Where do I live?", filters=MINE, latest_only=False))) == both
    assert sorted(texts(ana.get_all(filters=MINE, latest_only=False))) == both
    assert texts(ana.get_all(filters=MINE)) == both[1:]


def test_top_k_threshold_and_fields_narrow_an_answer(ana):
    """As many as asked for, none below the threshold, with the fields that are asked for."""
    for day in ("gruesome", "splendid", "dull"):
        ana.add(f"What a {day} day.", user_id="ana")
    found = ana.search("splendid day", filters=MINE, top_k=2, fields=["id", "memory", "score"])["results"]
    assert [set(one) for one in found] == [{"id", "memory", "score"}] * 2
    assert found[0]["memory"] == "What a splendid day."
    assert ana.search("splendid day", filters=MINE, threshold=0.999)["results"] == []
    with pytest.raises(ValidationError, match="fields: expected"):
        ana.search("splendid day", filters=MINE, fields=["colour"])


def test_a_filtered_search_looks_until_enough_fits(ana, texts):
    """What fits is found behind more than a first look of what does not."""
    said = [{"role": "user", "content": f"What a gruesome day, number {n}, it was for me."} for n in range(80)]
    ana.add(said, user_id="ana", infer=False)
    ana.add("Some day.", user_id="ana", infer=False, metadata={"mark": True})
    assert texts(ana.search("gruesome day", filters={**MINE, "metadata": {"mark": True}})) == ["Some day."]


def test_lists_come_in_pages_the_latest_first(ana, texts):
    """Pages tell how many there are, and where the next and the one before are."""
    for n in range(1, 6):
        ana.add(f"What a gruesome day number {n}.", user_id="ana", timestamp=f"2024-01-0{n}")
    first = ana.get_all(filters=MINE, page=1, page_size=2)
    assert texts(first) == ["What a gruesome day number 5.", "What a gruesome day number 4."]
    assert first["count"] == 5 and first["previous"] is None and "page=2" in first["next"]
    last = ana.get_all(filters=MINE, page=3, page_size=2)
    assert texts(last) == ["What a gruesome day number 1."] and last["next"] is None and "page=2" in last["previous"]
    assert texts(ana.client.post(first["next"], json={"filters": MINE}).json())[0] == "What a gruesome day number 3."


@pytest.mark.parametrize(
    ("filters", "days"),
    [
        ({"AND": [MINE, {"created_at": {"gte": "2024-01-02", "lt": "2024-01-04"}}]}, "23"),
        ({"AND": [MINE, {"OR": [{"run_id": "r1"}, {"metadata": {"n": {"gt": 3}}}]}]}, "145"),
        ({"AND": [MINE, {"NOT": [{"run_id": "r1"}, {"metadata": {"n": 2}}]}]}, "345"),
        ({**MINE, "run_id": "*"}, "1"),
        ({**MINE, "metadata": {"tag": {"contains": "e"}}}, "24"),
        ({**MINE, "metadata": {"n": {"in": [2, 5]}}}, "25"),
        ({**MINE, "keywords": {"icontains": "NUMBER 3"}}, "3"),
        ({"user_id": {"in": ["ana"]}, "metadata": {"tag": {"ne": "even"}}}, "135"),
        ({**MINE, "run_id": None}, "2345"),
    ],
    ids=["dates", "or", "not", "wildcard", "contains", "in", "keywords", "ne", "none"],
)
def test_filters_are_heeded(ana, texts, filters, days):
    """Each operator lets through what fits and nothing else."""
    for n in range(1, 6):
        more = {"run_id": "r1"} if n == 1 else {}
        ana.add(
            f"What a gruesome day number {n}.",
            user_id="ana",
            timestamp=f"2024-01-0{n}T12:00:00",
            metadata={"n": n, "tag": "odd" if n % 2 else "even"},
            **more,
        )
    assert "".join(sorted(text[-2] for text in texts(ana.get_all(filters=filters)))) == days
    assert "".join(sorted(text[-2] for text in texts(ana.search("gruesome day", filters=filters)))) == days


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({**MINE, "categories": {"in": ["food"]}}, "categories"),
        ({**MINE, "topic": "food"}, "'metadata'"),
        ({**MINE, "created_at": {"around": "2024"}}, "around"),
        ({**MINE, "created_at": {"gte": "soon"}}, "soon"),
        ({**MINE, "metadata": {"n": {"in": 3}}}, "a list"),
        ({**MINE, "run_id": 3}, "a name"),
        ({"AND": [MINE, "x"]}, "expected {field: value}"),
    ],
    ids=["categories", "unknown field", "unknown operator", "no time", "no list", "no name", "no condition"],
)
def test_filters_that_cannot_be_heeded_are_refused(ana, filters, said):
    """A filter is never ignored."""
    for asked in (lambda: ana.get_all(filters=filters), lambda: ana.search("day", filters=filters)):
        with pytest.raises(ValidationError, match=said):
            asked()


@pytest.mark.parametrize(("name", "count"), [("lte", 1), ("gt", 0), ("eq", 0), ("ne", 1), ("gte", 0), ("lt", 1)])
def test_the_last_day_has_no_day_after(ana, texts, name, count):
    """`lte` that day is no end at all."""
    ana.add("What a gruesome day.", user_id="ana")
    found = ana.get_all(filters={**MINE, "created_at": {name: "9999-12-31"}})
    assert len(texts(found)) == count


@pytest.mark.parametrize("path", ["/v2/memories/", "/v2/memories/search/", "/v1/summary/", "/v1/memories/"])
def test_strangers_have_no_filter_read(ana, path):
    """What is wrong with a filter is told to those who have a key."""
    body = {"filters": {"created_at": {"lte": "soon"}, "topic": 1}}
    body |= {"query": "x"} if "search" in path else {"messages": "x"} if path == "/v1/memories/" else {}
    headers = {"Authorization": "Token doxa_wrong"}
    assert ana.client.post(path, json=body, headers=headers).status_code == 401
    assert ana.client.delete("/v1/memories/?filters=nonsense", headers=headers).status_code == 401


def test_start_and_end_dates_bound_a_list(ana, texts):
    """Both days are meant as a whole."""
    for n in (1, 2, 3):
        ana.add(f"What a gruesome day number {n}.", user_id="ana", timestamp=f"2024-01-0{n}T12:00:00")
    found = ana.get_all(filters=MINE, start_date="2024-01-02", end_date="2024-01-02")
    assert texts(found) == ["What a gruesome day number 2."]


def test_a_memory_comes_with_the_messages_that_it_rests_on(ana):
    """`get` quotes its sources."""
    told = ana.add("I live in Rome.", user_id="ana", timestamp=1672531200)["results"][0]
    assert ana.get(told["id"])["sources"] == [
        {"role": "user", "content": "I live in Rome.", "name": "Ana", "created_at": "2023-01-01T00:00:00+00:00"}
    ]


def test_history_tells_what_a_memory_became(ana):
    """Oldest first, with the text before and after and the message that did it."""
    told = ana.add("I live in Rome.", user_id="ana", timestamp=1672531200)["results"][0]
    ana.add("I moved to Bonn.", user_id="ana", timestamp=1714521600)
    first, last = ana.history(told["id"])
    assert (first["event"], first["old_memory"], first["new_memory"]) == ("ADD", None, "Ana lives in Rome")
    assert (last["event"], last["old_memory"]) == ("UPDATE", "Ana lives in Rome")
    assert last["new_memory"] == "Ana lived in Rome until 1 May 2024"
    assert last["input"][0]["content"] == "I moved to Bonn."


def test_a_summary_is_of_one_user_as_a_whole(ana):
    """What cannot be left out of a summary is refused as a filter of one."""
    ana.add("I live in Rome.", user_id="ana")
    assert "Rome" in ana.get_summary(filters=MINE)["summary"]
    with pytest.raises(ValidationError, match="run_id"):
        ana.get_summary(filters={**MINE, "run_id": "r1"})


@pytest.mark.parametrize("memory_id", ["nonsense", "WyJhbmEiLCJmYWN0IiwiZjFfMCJd", "%%%", "W10"])
def test_an_unknown_id_is_not_found(ana, memory_id):
    """Whatever is asked of it."""
    for asked in (ana.get, ana.history, ana.delete, lambda one: ana.update(one, text="I live in Rome.")):
        with pytest.raises(MemoryNotFoundError):
            asked(memory_id)


@pytest.mark.parametrize("filters", [[[[]]], {"OR": [[MINE]]}, {"NOT": {}}, {"AND": []}, {"AND": {"OR": MINE}}])
def test_filters_may_be_nested_in_any_way(ana, filters):
    """Whatever form a filter has, it is understood or refused."""
    assert ana.client.post("/v3/memories/", json={"filters": filters}).status_code == 200
