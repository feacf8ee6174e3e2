"""Tokens of filling in a form, with memories that keep all, too little, or what was replaced."""

import json
import re
from contextlib import nullcontext
from itertools import repeat

import pytest

from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import Config
from doxa.core.errors import InputError
from doxa_bench.tasks import draw_forms, run_forms
from doxa_bench.tasks.forms import CLOSING, form
from doxa_bench.tasks.prompts import history_tokens, memory_tokens
from doxa_bench.tasks.systems import Memory

SAID = re.compile(r"(?i)(?:sorry, to correct, )?(my .+?) is (.+)\.")


class Notes:
    """Fields in the words of the user; `keeps` says how many of the latest of each are told and held."""

    intents, text = (), ""

    def __init__(self, keeps=1):
        self.fields, self._keeps = {}, keeps

    def tell(self, text, *, at=None, intent=None, said_before=""):
        if said := SAID.fullmatch(text):
            self.fields.setdefault(said[1].lower(), []).append(said[2])
        self.text = "; ".join(values[-1] for values in self.fields.values()) if text == CLOSING else ""
        return self

    def state(self):
        return {f"form/{name}": values[-self._keeps :] for name, values in self.fields.items() if self._keeps}

    def history(self):
        return {}

    def context(self, text, budget=400):
        shown = (
            self.fields
            if text == CLOSING
            else {name: self.fields[name] for name in self.fields if name in text.lower()}
        )
        return "\n".join(
            f"{name}: {' < '.join(values[-self._keeps :] if self._keeps else [])}" for name, values in shown.items()
        )


def run(keeps=1, rounds=12, systems=("ours",), config=None):
    return run_forms(
        rounds=rounds,
        seed=3,
        config=config or Config(),
        systems=systems,
        memory=lambda _: nullcontext(Memory(lambda _: Notes(keeps))),
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


def test_the_state_is_scored_after_every_turn():
    """All fields so far, the closing turn too; only the first twenty rounds of a longer form."""
    state = run().to_dict()["states"]["ours"]
    fields = [0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8]
    assert state["by_round"] == [[n, n] for n in (*fields, 8)] and state["slots"] == 1.0 and state["closing_reply"]
    assert (state["slots_ok"], state["hallucinations"], state["wrong"]) == (sum(fields) + 8, 0, [])
    assert run(rounds=40).to_dict()["states"]["ours"]["rounds"] == 20


def test_a_value_that_was_corrected_and_is_still_held_makes_its_slot_wrong():
    """And is made up where it first stands; what holds nothing is only left out."""
    stale, empty = (run(keeps=keeps).to_dict()["states"]["ours"] for keeps in (2, 0))
    assert stale["by_round"][:5] == [[0, 0], [1, 1], [2, 2], [3, 3], [2, 3]] and stale["hallucinations"] == 2
    assert {(one["round"], one["slot"]) for one in stale["wrong"]} >= {(5, "name"), (12, "name")}
    assert empty["slots"] == 0.0 and empty["hallucinations"] == 0 and empty["closing_reply"]


def test_a_language_model_with_a_linear_history_fills_in_the_same_form(monkeypatch):
    """Where one is configured, beside ours and the history that is read without it."""
    monkeypatch.setattr("doxa_bench.models.load", lambda kind, name, **_: ScriptedModel(repeat(answer)))
    config = Config.from_tree({"llm": {"name": "openai:m"}})
    report = run(rounds=6, systems=(), config=config)
    states = report.to_dict()["states"]
    assert list(states) == ["ours", "flat-history", "base-flat", "cot", "react"]
    assert states["base-flat"]["by_round"] == [[0, 0], [1, 1], [1, 2], [1, 3], [0, 3], [0, 3]]
    assert report.models == {"llm": "scripted"} and states["cot"]["slots"] == states["base-flat"]["slots"]
    assert list(run(systems=()).to_dict()["states"]) == ["ours", "flat-history"]
    with pytest.raises(InputError, match="got 'no-dag'"):
        run(systems=("no-dag",))


def answer(request):
    """A model that only ever knows the first name."""
    fields = request.schema["properties"]
    if "slots" in fields:
        slots = [{"slot": "name", "values": ["John Doe"]}] if "John Doe" in request.messages[-1].content else []
        return json.dumps({"slots": slots, "intents": []})
    return json.dumps({name: "reply" if name == "action" else "Noted." for name in fields})
