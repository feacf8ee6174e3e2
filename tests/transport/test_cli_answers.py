"""`doxa answers`, `doxa why ANSWER` and `doxa ask --again`."""

LATER = [("D3:1", "2024-07-01T09:00:00", "user", "Ana", "I moved to Oslo.")]


def test_an_answer_is_listed_explained_and_asked_again(ana):
    key = ana.json("ask", "Where do I live?")["answer_id"]
    assert key in ana("answers").stdout
    assert "No answer rests on anything that was revised" in ana("answers", "--stale").stdout
    assert "D2:1 Ana" in ana("why", key).stdout
    assert ana("ingest", ana.transcript(LATER)).exit_code == 0
    assert "stale" in ana("answers").stdout
    assert "Changed since" in ana("why", key).stdout
    assert ana.json("why", key)["stale"]
    assert ana.json("ask", "--again", key)["value"] == "Oslo"


def test_an_unknown_answer_says_where_to_look(ana):
    done = ana("why", "a_000000000000")
    assert done.exit_code == 1
    assert "doxa answers" in done.stderr


def test_asking_again_takes_nothing_else(ana):
    done = ana("ask", "Where do I live?", "--again", "a_000000000000")
    assert done.exit_code != 0
    assert "nothing else" in done.stderr
