"""Worlds: how they are drawn, asked about, answered, believed and reported."""

import itertools
import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import Config, LLMConfig
from doxa.core.errors import BackendError, BackendUnavailableError, ConfigError, InputError
from doxa.logic import Lit
from doxa_bench import run_worlds
from doxa_bench.metrics import wilson_interval
from doxa_bench.models import Asked
from doxa_bench.worlds.answerers import Prompted, Rates, Setting, Simulated, parse_label, summary
from doxa_bench.worlds.play import Script, draw_scripts, play
from doxa_bench.worlds.questions import TURNS, Question, draw_questions
from doxa_bench.worlds.systems import BASELINE, PRINTED, SYSTEMS, Believer
from doxa_bench.worlds.world import Rule, World, draw_world, has_model, spec_of, truths, truths_by_solver

OURS = [system for system in SYSTEMS if system not in (BASELINE, PRINTED)]
DIRECT = Setting("random", "direct")


def world_of(*clauses, hubs=None):
    """A world from clauses such as "-A B" (if A is true, then B is true)."""
    rules = tuple(
        Rule("given", (), (tuple(Lit(atom.lstrip("-"), atom[0] != "-") for atom in clause.split()),), clause)
        for clause in clauses
    )
    atoms = sorted({atom.lstrip("-") for clause in clauses for atom in clause.split()})
    return World(atoms=tuple(atoms), rules=rules, hubs=hubs or {})


def script_of(world, *atoms):
    """A dialogue that asks whether atoms are true."""
    questions = tuple(Question(Lit(atom), f"Is {atom} true?") for atom in atoms)
    return Script(world=world, truths=truths(world), questions=questions, seed="x")


class Fixed:
    """An answerer that says the same words to everybody, in order."""

    simulated, name = True, "fixed"

    def __init__(self, *answers):
        self.answers = answers
        self.beliefs = []

    def speak(self, world, truths, setting, seed):
        words = iter(self.answers)

        class Speaker:
            def reply(_, question, beliefs):
                self.beliefs.append(beliefs)
                return next(words)

        return Speaker()


@pytest.mark.parametrize("family", ["paper", "hard"])
@given(seed=st.integers(0, 10_000))
def test_a_world_has_a_model_and_its_labels_are_those_of_all_its_models(family, seed):
    """The truth table and the solver label every atom alike."""
    world = draw_world(spec_of(family), Random(seed))
    assert has_model(world, ())
    labels = truths(world)
    assert labels == truths_by_solver(world)
    assert {None} < set(labels.values())
    for atom, value in labels.items():
        for side in (True, False):
            assert has_model(world, [Lit(atom, side)]) is (value in (None, side))


@given(seed=st.integers(0, 10_000))
def test_every_rule_is_put_into_words_that_name_its_atoms(seed):
    """And no two rules are the same."""
    world = draw_world(spec_of("paper"), Random(seed))
    for rule in world.rules:
        words = rule.text.replace(",", " ").replace(".", " ").split()
        assert set(rule.atoms) <= set(words)
    assert len({rule.atoms for rule in world.rules}) == len(world.rules)


def test_worlds_of_sixty_atoms_have_a_name_for_each():
    """Beyond the alphabet they are numbered."""
    world = draw_world(spec_of("bulk"), next(Random(seed) for seed in itertools.count() if _size(seed) > 52))
    assert len(set(world.atoms)) == len(world.atoms) > 52
    assert world.atoms[25:28] == ("Z", "A1", "B1")


def _size(seed):
    return Random(seed).randint(*spec_of("bulk").atoms)


def test_a_label_commits_to_what_was_asked_or_to_its_negation():
    """And back."""
    question = Question(Lit("A", False), "Is A false?")
    assert question.literal_of("YES") == Lit("A", False)
    assert question.literal_of("NO") == Lit("A")
    assert question.literal_of("UNKNOWN") is None
    assert [question.label_of(value) for value in (True, False, None)] == ["NO", "YES", "UNKNOWN"]


@given(seed=st.integers(0, 10_000))
def test_the_stress_schedule_asks_for_an_atom_its_negation_and_again_in_other_words(seed):
    """Ten questions, no wording twice."""
    rng = Random(seed)
    questions = draw_questions(draw_world(spec_of("paper"), rng), "stress", rng)
    assert len(questions) == TURNS
    assert questions[0].lit == ~questions[1].lit
    assert sum(question.lit.atom == questions[0].lit.atom for question in questions) >= 3
    assert len({question.text for question in questions}) == TURNS


def test_the_hub_schedule_asks_for_a_hub_after_all_that_it_excludes():
    """So that all of them stand against it."""
    rng = Random(3)
    world = draw_world(spec_of("hard"), rng)
    asked = [question.lit.atom for question in draw_questions(world, "hub", rng)]
    ((hub, excluded),) = world.hubs.items()
    assert asked[: len(excluded)] == list(excluded)
    assert asked.index(hub) == len(excluded) + 1


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("Yes", "YES"),
        ("no.", "NO"),
        ("**Unknown**", "UNKNOWN"),
        ("Yes, since nothing says no.", "YES"),
        ("If it held, yes or no would follow.\nAnswer: Unknown", "UNKNOWN"),
        ("Answer: maybe. No, wait.\n**Final answer:** **No**.", "NO"),
        ("It cannot be determined", "UNKNOWN"),
        ("The rules do not say, so I am not sure.", "UNKNOWN"),
        ("So the answer is yes", "YES"),
        ("Nobody knows about eyes", None),
        ("", None),
        (None, None),
    ],
)
def test_labels_are_read_by_matching_strings(said, label):
    """What stands after "answer:" counts first."""
    assert parse_label(said) == label


def test_a_belief_state_is_summed_up_as_in_the_paper():
    """Nothing is said before the first question."""
    wanted = "So far, we believe that A is true and B is false, and we are unsure about C."
    assert summary({"A": True, "B": False, "C": None}) == wanted
    assert summary({"C": None, "D": None}) == "So far, we are unsure about C and D."
    assert summary({}) == ""


def test_an_answerer_without_errors_is_right_and_never_revised():
    """Under every system, in both modes."""
    settings = [Setting(schedule, mode) for schedule in ("random", "stress") for mode in ("direct", "cot")]
    answerer = Simulated({setting: Rates() for setting in settings})
    for setting, system in itertools.product(settings, SYSTEMS):
        for script in draw_scripts(spec_of("paper"), setting.schedule, 5, "exact"):
            played = play(script, answerer, setting, system)
            assert played.raw == played.final == played.entailed == TURNS
            assert played.consistent and not played.contradicted
            assert (played.retractions, played.rejections) == (0, 0)


@pytest.mark.parametrize(
    ("rates", "error", "contradicts"),
    [
        (Rates(guess=0.5), 0.5, False),
        (Rates(guess=1.0, sway=0.5), 1.0, True),
        (Rates(mute=0.5), 0.5, False),
    ],
    ids=["guess", "sway", "mute"],
)
def test_a_simulated_answerer_errs_on_open_atoms_at_its_rates(rates, error, contradicts):
    """Over 2,000 answers about worlds that leave everything open."""
    world = world_of("-A -B", "-C -D")
    script = script_of(world, *"ABCDABCDAB")
    answerer = Simulated({DIRECT: rates})
    played = [
        play(
            Script(world=world, truths=script.truths, questions=script.questions, seed=str(n)),
            answerer,
            DIRECT,
            BASELINE,
        )
        for n in range(200)
    ]
    assert 1 - sum(one.raw for one in played) / 2000 == pytest.approx(error, abs=0.06)
    assert any(one.contradicted for one in played) is contradicts


def test_two_rates_set_error_and_self_contradiction():
    """Half of the errors on settled atoms are against the rules."""
    rates = Rates.of(error=0.2, contradiction=0.1)
    assert (rates.abstain, rates.wrong, rates.guess) == (0.1, 0.1, 0.2)
    assert (rates.sway, rates.deny, rates.mute) == (0.1, 0.1, 0.0)


def test_algorithm_1_as_printed_ends_unsatisfiable_where_two_must_go():
    """The others give both up, or turn the new literal down."""
    script = script_of(world_of("-A -C", "-B -C"), "A", "B", "C")
    ended = {system: play(script, Fixed("Yes", "Yes", "Yes"), DIRECT, system) for system in SYSTEMS}
    assert {system for system, played in ended.items() if not played.consistent} == {BASELINE, PRINTED}
    assert ended[PRINTED].broken == "several"
    assert (ended["recency"].retractions, ended["recency"].rejections) == (2, 0)
    assert (ended["weighted"].retractions, ended["weighted"].rejections) == (0, 1)
    assert (ended["reject-new"].retractions, ended["reject-new"].rejections) == (0, 1)


def test_algorithm_1_as_printed_ends_unsatisfiable_on_an_answer_against_the_rules():
    """The others turn it down."""
    script = script_of(world_of("A", "-A B"), "B")
    ended = {system: play(script, Fixed("No"), DIRECT, system) for system in SYSTEMS}
    assert {system for system, played in ended.items() if not played.consistent} == {BASELINE, PRINTED}
    assert ended[PRINTED].broken == "rules"
    assert {ended[system].rejections for system in OURS} == {1}


def test_where_one_belief_must_go_ours_gives_up_what_algorithm_1_does():
    """The older of two that clash."""
    script = script_of(world_of("-A B"), "A", "B")
    for system in (PRINTED, "recency", "minimal", "greedy"):
        played = play(script, Fixed("Yes", "No"), DIRECT, system)
        assert played.consistent and (played.retractions, played.rejections) == (1, 0)


def test_what_was_said_more_often_weighs_more():
    """A belief that was said twice stands against one that was said once."""
    believer = Believer("weighted", world_of("-A -B"))
    for lit in (Lit("A"), Lit("A"), Lit("B")):
        believer.commit(lit)
    assert believer.held == (Lit("A"),)
    believer.close()


def test_the_final_label_of_the_baseline_is_the_last_commitment():
    """Also when an earlier one is said again."""
    believer = Believer(BASELINE, world_of("-A -B"))
    for value, label in ((True, True), (False, False), (True, True)):
        believer.commit(Lit("A", value))
        assert believer.label("A") is label
    assert believer.contradicted and not believer.consistent
    believer.close()


def test_the_model_is_told_what_is_believed_and_not_what_was_given_up():
    """The summary follows the revised state."""
    answerer = Fixed("Yes", "No", "Unknown")
    play(script_of(world_of("-A B", "-B C"), "A", "B", "C"), answerer, DIRECT, "recency")
    assert answerer.beliefs == [
        "",
        "So far, we believe that A is true.",
        "So far, we believe that B is false, and we are unsure about A.",
    ]


def test_a_language_model_is_asked_the_same_thing_once():
    """Systems that believe the same share an answer."""
    model = ScriptedModel(["Yes", "No"])
    answerer = Prompted(Asked(model))
    script = script_of(world_of("-A B"), "A", "B")
    assert play(script, answerer, DIRECT, BASELINE).turns == 2
    assert play(script, answerer, DIRECT, "recency").retractions == 1
    assert answerer.asked.calls == len(model.requests) == 2
    assert "-A B" in model.requests[1].messages[1].content
    assert "So far, we believe that A is true." in model.requests[1].messages[1].content


def test_calls_that_fail_are_counted_and_leave_no_label():
    """The dialogue goes on."""
    answerer = Prompted(Asked(ScriptedModel([BackendUnavailableError("away"), "Yes"])))
    played = play(script_of(world_of("-A B"), "A", "B"), answerer, DIRECT, BASELINE)
    assert (answerer.asked.calls, answerer.asked.failed, played.unread) == (2, 1, 1)


def test_a_model_that_answers_nothing_stops_the_run():
    """Thousands of calls would fail as well."""
    with pytest.raises(BackendError, match="script"):
        run_worlds(config=Config(llm=LLMConfig(name="scripted")), dialogues=5, answerer="model")


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        ({"dialogues": 0}, InputError),
        ({"family": "round"}, InputError),
        ({"answerer": "oracle"}, InputError),
        ({"error": 1.5}, InputError),
        ({"answerer": "model", "error": 0.1}, InputError),
        ({"answerer": "model"}, ConfigError),
    ],
)
def test_a_run_that_cannot_be_says_why(wanted, error):
    """Before anything is drawn."""
    with pytest.raises(error, match="bench worlds"):
        run_worlds(**wanted)


def test_a_report_is_the_same_for_the_same_seed_and_says_that_it_is_simulated():
    """Rows hold what the paper's tables do."""
    reports = [run_worlds(seed=7, dialogues=6).to_dict() for _ in range(2)]
    first, second = (json.dumps({**report, "seconds": 0}) for report in reports)
    assert first == second
    assert first != json.dumps({**run_worlds(seed=8, dialogues=6).to_dict(), "seconds": 0})
    report = reports[0]
    assert report["simulated"] is True and "SIMULATED" in report["answerer"]
    cells = {(row["setting"], row["mode"], row["system"]) for row in report["conditions"]}
    assert cells == set(itertools.product(("random", "stress"), ("direct", "cot"), SYSTEMS))
    assert {row["simulated"] for part in ("conditions", "table2", "hard") for row in report[part]} == {True}
    assert {row["dialogues"] for row in report["conditions"]} == {6}


def test_ours_is_consistent_where_the_baseline_is_not_and_as_accurate():
    """The run that is documented; Algorithm 1 fails on the hard family."""
    report = run_worlds().to_dict()
    rows = {(row["setting"], row["mode"], row["system"]): row for row in report["conditions"] + report["hard"]}
    assert rows["stress", "direct", BASELINE]["inconsistent"] > 0
    assert rows["hub", "direct", PRINTED]["inconsistent"] > 0
    for (setting, mode, system), row in rows.items():
        assert row["brute_force_disagrees"] == 0
        if system in OURS:
            assert row["inconsistent"] == 0
            assert row["certified"] == row["dialogues"]
            assert row["final_accuracy"] >= rows[setting, mode, BASELINE]["final_accuracy"] - 0.005
            assert setting == "hub" or row["retractions_per_dialogue"] <= 0.08


def test_wild_answers_about_large_worlds_leave_nothing_inconsistent():
    """60 worlds of 5 to 60 atoms and every system; `doxa bench worlds --family bulk --dialogues 10000` runs 20,000."""
    rows = run_worlds(seed=2, dialogues=30, family="bulk").to_dict()["conditions"]
    assert sum(row["inconsistent"] for row in rows if row["system"] == BASELINE) > 30
    for row in rows:
        assert row["brute_force_disagrees"] == 0
        assert row["certified"] == row["dialogues"] - row["inconsistent"]
        assert row["system"] not in OURS or row["inconsistent"] == 0


def test_set_rates_replace_the_fitted_ones():
    """Without errors there is nothing to revise."""
    report = run_worlds(dialogues=4, error=0.0, contradiction=0.0).to_dict()
    assert {row["raw_accuracy"] for row in report["conditions"]} == {1.0}
    assert {row["paper"] for row in report["conditions"]} == {None}
    assert "table2" not in report
    wild = run_worlds(dialogues=4, family="paper", error=0.8, contradiction=0.5).to_dict()
    assert sum(row["contradictions"] for row in wild["conditions"]) > 0


@pytest.mark.parametrize(
    ("part", "whole", "wanted"), [(0, 120, (0.0, 0.031)), (60, 120, (0.412, 0.588)), (0, 0, (0, 1))]
)
def test_the_interval_of_a_share_is_wilsons(part, whole, wanted):
    """Values from the formula."""
    assert wilson_interval(part, whole) == pytest.approx(wanted, abs=5e-4)


def logged(system, world, *said):
    """What a system notes while it is told literals, in order."""
    believer = Believer(system, world, logs=True)
    for turn, lit in enumerate(said, start=1):
        believer.commit(lit, turn)
    believer.close()
    return believer.log


def test_every_literal_that_is_given_up_is_logged_with_what_it_clashes_with():
    """Its answer, the one that displaced it, and a smallest set of beliefs and rules that clash."""
    world = world_of("-A -C", "-B -C", "-D E", "F")
    first, second = logged("recency", world, Lit("D"), Lit("A"), Lit("B"), Lit("C"))
    assert (first.turn, first.lit, first.since, first.said) == (4, Lit("A"), 2, Lit("C"))
    assert (first.beliefs, first.rules, first.rejected) == ((Lit("C"),), ("-A -C",), False)
    assert (second.lit, second.since, second.rules) == (Lit("B"), 3, ("-B -C",))


def test_a_literal_that_is_turned_down_is_logged_with_the_rules_against_it():
    """The rules alone, where no belief is needed; nothing is noted where nothing was wanted."""
    world = world_of("A", "-A B", "-C D")
    (entry,) = logged("recency", world, Lit("C"), Lit("B", False))
    assert entry.rejected and (entry.turn, entry.lit, entry.since) == (2, Lit("B", False), 2)
    assert (entry.beliefs, entry.rules) == ((), ("A", "-A B"))
    silent = Believer("recency", world)
    silent.commit(Lit("B", False))
    assert (silent.rejections, silent.log) == (1, [])
    silent.close()


def test_a_report_has_the_log_only_where_it_is_wanted_and_it_has_every_retraction():
    """As many entries as are counted."""
    wanted = {"seed": 3, "dialogues": 6, "error": 0.5, "contradiction": 0.4, "family": "paper"}
    assert "log" not in run_worlds(**wanted).to_dict()
    report = run_worlds(**wanted, logs=True).to_dict()
    rows, log = report["conditions"], report["log"]["conditions"]
    for change, count in (("retracted", "retractions"), ("rejected", "rejections")):
        assert sum(one["change"] == change for one in log) == sum(row[count] for row in rows) > 0
    assert all(one["beliefs"] or one["rules"] for one in log if one["change"] == "rejected")
    assert json.loads(json.dumps(log)) == log


def test_totals_are_the_sums_over_the_settings_of_a_system():
    """Over the schedules for each mode, and over everything; the paper's rows likewise."""
    report = run_worlds(seed=7, dialogues=6).to_dict()
    rows, sums = report["conditions"], report["totals"]["conditions"]
    assert [(row["mode"], row["system"]) for row in sums[:3]] == [
        ("direct", BASELINE),
        ("cot", BASELINE),
        ("all", BASELINE),
    ]
    assert len(sums) == 3 * len(SYSTEMS) and report["totals"]["hard"] == []
    for total in sums:
        parts = [row for row in rows if row["system"] == total["system"] and total["mode"] in ("all", row["mode"])]
        for count in ("dialogues", "turns", "inconsistent", "contradictions", "retractions", "rejections"):
            assert total[count] == sum(row[count] for row in parts)
        mean = sum(row["final_accuracy"] for row in parts) / len(parts)
        assert total["final_accuracy"] == pytest.approx(mean, abs=1e-4) and total["final_accuracy_se"] is not None
    paper = {(row["mode"], row["system"]): row["paper"] for row in sums}
    assert paper["direct", PRINTED]["gpt-4.1-mini"] == {"final_accuracy": 0.9305, "inconsistent": 0, "retractions": 12}
    assert paper["all", BASELINE]["gpt-4.1-mini"]["inconsistent"] == 9 and paper["all", "recency"] is None


def test_with_a_language_model_its_rows_stand_first_and_the_simulated_ones_are_named(monkeypatch):
    """Both of the paper's models stand beside it, and its log is always there."""
    model = ScriptedModel(itertools.repeat("Yes"), name="openai:m")
    monkeypatch.setattr("doxa_bench.models.load", lambda kind, name, **_: model)
    config = Config(llm=LLMConfig(name="openai:m"))
    report = run_worlds(config=config, dialogues=2).to_dict()
    parts = {name: rows for name, rows in report.items() if isinstance(rows, list)}
    simulated = ["simulated conditions", "simulated table2", "simulated hard"]
    assert list(parts) == ["conditions", "hard", *simulated] and list(report["log"]) == list(parts)
    for name, rows in parts.items():
        assert {(row["simulated"], row["answerer"]) for row in rows} == (
            {(True, "simulated")} if name in simulated else {(False, "openai:m")}
        )
    row = next(row for row in parts["conditions"] if row["system"] == PRINTED)
    assert set(row["paper"]) == {"gpt-4.1-mini", "Gemini 2.5 Flash"} and row["final_accuracy"] < 1
    assert (report["simulated"], report["answerer"]) == (False, "openai:m") and model.requests
    alone = run_worlds(config=config, dialogues=1, answerer="simulated").to_dict()
    assert alone["simulated"] and "log" not in alone and "simulated table2" not in alone
