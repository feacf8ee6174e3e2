"""Tokens of filling in a form, with memories that keep all, too little, or what was replaced."""

import re
from contextlib import nullcontext

import pytest

from doxa.core.config import Config
from doxa.evaluate.tasks import draw_forms, run_forms
from doxa.evaluate.tasks.forms import CLOSING, form
from doxa.evaluate.tasks.prompts import history_tokens, memory_tokens
from doxa.evaluate.tasks.systems import Memory

SAID = re.compile(r"(?i)(?:sorry, to correct, )?(my .+?) is (.+)\.")


class Notes:
    """Fields in the words of the user; `keeps` says how many of the latest of each are told."""

    def __init__(self, keeps=1):
        self.fields, self._keeps = {}, keeps

    def tell(self, text, *, intent=None, said_before=""):
        if said := SAID.fullmatch(text):
            self.fields.setdefault(said[1].lower(), []).append(said[2])

    def context(self, text, budget=400):
        shown = (
            self.fields
            if text == CLOSING
            else {name: self.fields[name] for name in self.fields if name in text.lower()}
        )
        return "\n".join(
            f"{name}: {' < '.join(values[-self._keeps :] if self._keeps else [])}" for name, values in shown.items()
        )


def run(keeps=1, rounds=12):
    return run_forms(
        rounds=rounds, seed=3, config=Config(), memory=lambda _: nullcontext(Memory(lambda _: Notes(keeps)))
    )


def test_the_first_six_rounds_are_those_of_the_paper_and_the_rest_is_drawn():
    told = form(40, seed=1)
    assert [one.value for one in told[1:5]] == [
        "John Doe",
        "john@example.com",
        "Market Street, San Francisco",
        "John Smith",
    ]
    assert told == form(40, seed=1) and told[:5] == form(40, seed=2)[:5] and told != form(40, seed=2)
    assert sum(one.text.startswith("Sorry") for one in told) == 9 and len({one.name for one in told if one.name}) == 30
    with pytest.raises(ValueError, match="0 rounds"):
        form(0)


def test_every_correction_is_of_a_field_that_was_filled_in_and_changes_it():
    current = {}
    for one in form(99)[1:]:
        assert one.text.startswith("Sorry") == (one.name in current) and current.get(one.name) != one.value
        current[one.name] = one.value


def test_a_shorter_prompt_counts_as_a_saving_that_grows_and_the_sums_add_up():
    report = run()
    found = report.to_dict()
    assert [row["round"] for row in found["rounds"]] == [1, 2, 3, 4, 5, 6]
    six = next(row for row in found["totals"] if row["rounds"] == 6)
    assert six["flat"] == sum(row["flat"] for row in found["rounds"]) and six["ours"] == sum(
        row["ours"] for row in found["rounds"]
    )
    assert 0 < six["saving"] < found["totals"][-1]["saving"] and found["totals"][-1]["rounds"] == 12
    assert (six["held"], six["fields"], six["stale"], six["replaced"]) == (3, 3, 0, 1)


def test_what_is_left_out_or_out_of_date_in_the_last_prompt_is_counted():
    assert run(keeps=0).savings[-1].held == 0
    last = run(keeps=2).savings[-1]
    assert last.held == last.fields and last.stale == last.replaced == 2


def test_a_history_has_the_acknowledgements_and_a_memory_only_its_subgraph():
    assert history_tokens(["a b", "c"]) - history_tokens(["a b"]) > history_tokens(["c"]) - history_tokens([])
    assert memory_tokens("", "c") == history_tokens(["c"]) < memory_tokens("name: John", "c")


def test_the_figure_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    draw_forms(tmp_path / "forms.png", run())
    assert (tmp_path / "forms.png").read_bytes().startswith(b"\x89PNG")
