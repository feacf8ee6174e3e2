"""`doxa concepts`: list, why, demote, enable."""

import pytest

TURNS = [
    ("D1:1", "2024-01-02T09:00:00", "user", "Ana", "I love romantic films."),
    ("D2:1", "2024-02-02T09:00:00", "user", "Ana", "My favourite love story on screen is Casablanca."),
    ("D3:1", "2024-03-02T09:00:00", "user", "Ana", "I really enjoyed that romantic comedy with the bookshop."),
    ("D4:1", "2024-04-18T10:00:00", "user", "Ana", "I adore a good romance movie on a Sunday."),
]


@pytest.fixture
def tastes(cli):
    for turn in TURNS:
        assert cli("ingest", cli.transcript([turn]), "--session", turn[0]).exit_code == 0
    return cli


def romance(cli):
    return next(one for one in cli.json("concepts", "--all") if one["concept"] == "film/romance")


def test_concepts_are_listed_explained_demoted_and_enabled(tastes):
    key = romance(tastes)["promotion_id"]
    assert "romantic films" in tastes("concepts").stdout
    why = tastes("concepts", "why", key).stdout
    assert "D2:1" in why and "Casablanca" in why
    done = tastes("concepts", "demote", key, "--reason", "long ago")
    assert done.exit_code == 0 and "Demoted" in done.stdout
    assert "romantic films" not in tastes("concepts").stdout
    assert "long ago" in tastes("concepts", "--all").stdout
    assert "long ago" in tastes("concepts", "why", key).stdout
    assert "Enabled" in tastes("concepts", "enable", key).stdout
    assert romance(tastes)["active"]


def test_an_empty_memory_has_none(ana):
    assert "No concepts" in ana("concepts").stdout


def test_an_action_needs_an_id_that_is_known(ana):
    assert "expected an action with an id" in ana("concepts", "demote").stderr
    missing = ana("concepts", "demote", "p1_nothing")
    assert missing.exit_code == 1 and "doxa concepts --all" in missing.stderr
