"""`doxa drift`: how search goes, in words and as JSON; a refresh and taking it back."""


def test_it_tells_how_search_goes(ana):
    asked = ana("ask", "Where do I live?")
    assert asked.exit_code == 0
    shown = ana("drift").stdout
    assert "do not tell what is usual" in shown and "still open" in shown
    found = ana.json("drift")
    assert found["state"] == "waiting" and found["windows"][0]["asked"] == 1 and found["windows"][0]["recall"] == 1.0


def test_a_memory_that_was_asked_nothing_is_told(ana):
    assert "0 closed windows" in ana("drift").stdout
    assert ana.json("drift")["windows"] == []


def test_a_refresh_says_what_it_did(ana):
    ana("ask", "Where do I live?")
    shown = ana("drift", "--refresh")
    assert shown.exit_code == 0 and "Refreshed on" in shown.stdout and "too few to learn from" in shown.stdout


def test_there_has_to_be_something_to_put_back(ana):
    missing = ana("drift", "--rollback")
    assert missing.exit_code == 1 and "No weights of before a refresh are kept" in missing.stderr
    assert "either --refresh or --rollback" in ana("drift", "--refresh", "--rollback").stderr
