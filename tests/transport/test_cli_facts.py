"""`doxa bench facts`, `realtalk` and `beam`: what they take, and what is refused."""

import pytest


def test_a_set_is_drawn_without_data(cli):
    """And its report says which."""
    found = cli.json("bench", "facts", "--facts", "20", "--seed", "4", "--limit", "2")
    assert found["data"] == "drawn-20-4" and found["turns"] == 20
    assert found["kinds"]["single-hop"]["bm25"]["n"] == 2


@pytest.mark.parametrize("name", ["facts", "realtalk", "beam"])
def test_without_data_the_option_is_named(cli, name):
    done = cli("bench", name)
    assert done.exit_code != 0 and "--data PATH" in done.stderr


def test_mistakes_of_answers_need_answers(cli, tmp_path):
    done = cli("bench", "realtalk", "--data", str(tmp_path), "--errors", "3")
    assert done.exit_code != 0 and "add --answers" in done.stderr
