"""What is said in general or on a condition becomes rules, and gives no facts."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from doxa.core.values import Atom, Modality, Rule

DATA = Path(__file__).parent / "data"
ITEMS = [
    json.loads(line)
    for name in ("rules", "rules_more", "rules_third")
    for line in (DATA / f"{name}.jsonl").read_text().splitlines()
]
UNRULED = [item["turn"]["text"] for item in ITEMS if item["tags"] == ["no-rule"]]


def words(rule: Rule) -> str:
    """Return a rule in short form: "if Zoe passes test -> Colm gets dog"."""
    if_, then = (" & ".join(_atom(atom) for atom in side) for side in (rule.if_, rule.then))
    return f"{if_} -> {then}"


def _atom(atom: Atom) -> str:
    marks = [*([] if atom.polarity else ["not"]), *([atom.deontic] if atom.deontic else [])]
    return " ".join([*marks, atom.subject.label, atom.relation.label, atom.object.label]).strip()


def rules_of(said: SimpleNamespace, *texts: str | tuple[str, str]) -> list[str]:
    """Return the rules of the last of some turns, in short form."""
    return [words(rule) for rule in said.after(*texts)[2].rules]


SAID = {
    "if": ("If Liv wins the race, I'm buying a kayak.", ["Liv wins race -> Nora buys kayak"]),
    "if last": ("I walk if the bus is full.", ["bus is full -> Nora walks"]),
    "no comma": ("if it rains we stay home", ["it rains -> Nora stays home"]),
    "and": ("If I pass and Odd pays, we leave.", ["Nora passes & Odd pays -> Nora leaves"]),
    "or": ("If Liv or Odd calls, I go home.", ["Liv calls -> Nora goes home", "Odd calls -> Nora goes home"]),
    "only if": ("I sign only if the price drops.", ["Nora signs -> price drops"]),
    "only inside": ("I only cook when Liv is away.", ["Nora cooks -> Liv is away"]),
    "only if first": ("Only if Odd apologises will I forgive him.", ["Nora forgives Odd -> Odd apologises"]),
    "unless": ("I walk unless Odd drives.", ["not Odd drives -> Nora walks"]),
    "unless first": ("Unless Odd drives, I walk.", ["not Odd drives -> Nora walks"]),
    "otherwise": (
        "If Liv is away I cook, otherwise she cooks.",
        ["Liv is away -> Nora cooks", "not Liv is away -> Liv cooks"],
    ),
    "iff": ("I swim if and only if Liv swims.", ["Liv swims -> Nora swims", "Nora swims -> Liv swims"]),
    "whenever": ("Whenever Liv sings, the dog howls.", ["Liv sings -> Nora's dog howls"]),
    "left out": (
        "If lane 1 is reserved, lane 2 isn't.",
        ["lane 1 is reserved -> not lane 2 is reserved"],
    ),
    "every": ("Every apprentice gets a bike.", ["?x is apprentice -> ?x gets bike"]),
    "all mine": ("All my uncles live in Oslo.", ["?x is Nora's uncle -> ?x lives in Oslo"]),
    "no": ("No cats are allowed in the office.", ["?x is cat -> not may ?x is allowed in office"]),
    "nobody": ("Nobody in my family smokes.", ["?x is in Nora's family -> not ?x smokes"]),
    "must": ("All guests must sign the book.", ["?x is guest -> must ?x signs book"]),
    "whoever": ("Whoever finishes last does the dishes.", ["?x finishes last -> ?x does dishes"]),
    "who": ("Anyone who smokes here pays a fine.", ["?x smokes here -> ?x pays fine"]),
    "a member who": (
        "A member who misses three meetings pays a fine.",
        ["?x is member & ?x misses three meetings -> ?x pays fine"],
    ),
    "bare plural": ("Members get a discount.", ["?x is member -> ?x gets discount"]),
    "only class": ("Only members can use the sauna.", ["may ?x uses sauna -> ?x is member"]),
    "not both": (
        "Liv can have tea or cocoa, not both.",
        ["Liv has tea -> not Liv has cocoa", "Liv has cocoa -> not Liv has tea"],
    ),
    "exactly one": (
        "Exactly one of Liv and Odd has a boat.",
        [
            "Liv has boat -> not Odd has boat",
            "Odd has boat -> not Liv has boat",
            "not Liv has boat -> Odd has boat",
            "not Odd has boat -> Liv has boat",
        ],
    ),
    "either": (
        "Either Liv or Odd feeds the hens.",
        ["not Liv feeds hens -> Odd feeds hens", "not Odd feeds hens -> Liv feeds hens"],
    ),
    "nobody follows": ("If it snows, nobody skis.", ["it snows -> not ?x skis"]),
    "two conditions": (
        "If it snows I ski, and if it rains I read.",
        ["it snows -> Nora skis", "it rains -> Nora reads"],
    ),
    "predicate left out": (
        "Either Liv sings or Odd does.",
        ["not Liv sings -> Odd sings", "not Odd sings -> Liv sings"],
    ),
    "except": (
        "All my cousins except Odd are vegans.",
        ["?x is Nora's cousin & not ?x is Odd -> ?x is vegans"],
    ),
    "nobody but": ("Nobody but Liv knows the code.", ["?x knows code -> ?x is Liv"]),
    "neither": ("If neither Liv nor Odd calls, I leave.", ["not Liv calls & not Odd calls -> Nora leaves"]),
    "narrowed": ("Orders over 50 euros ship free.", ["?x is order over 50 euros -> ?x ships free"]),
    "everybody agrees": ("If everybody agrees, we leave.", ["everybody agrees -> Nora leaves"]),
    "somebody has to": ("If it snows, somebody shovels.", ["it snows -> somebody shovels"]),
    "somebody else": ("If somebody calls, I leave.", ["?x calls -> Nora leaves"]),
    "unless somebody": ("Unless somebody calls, I leave.", ["not anybody calls -> Nora leaves"]),
    "told": ("Liv told me that if Odd resigns she'll move out.", ["Odd resigns -> Liv moves out"]),
}


@pytest.mark.parametrize(("text", "expected"), SAID.values(), ids=SAID.keys())
def test_a_general_statement_becomes_rules(text: str, expected: list[str], said: SimpleNamespace) -> None:
    """All rules of the turn, in any order, and none beside them."""
    assert sorted(rules_of(said, text)) == sorted(expected)


@pytest.mark.parametrize("text", UNRULED)
def test_what_is_not_general_makes_no_rule(text: str, said: SimpleNamespace) -> None:
    """Questions, courtesies, one-off times and counterfactuals."""
    assert rules_of(said, text) == []


def test_an_answer_that_is_only_a_condition_takes_the_question(said: SimpleNamespace) -> None:
    """ "Only if ..." after a question of the assistant."""
    found = rules_of(said, ("Helper", "Will you sell the boat?"), "Only if Liv agrees.")
    assert found == ["Nora sells boat -> Liv agrees"]


@pytest.mark.parametrize("text", [text for text, _ in SAID.values()])
def test_a_rule_asserts_nothing(text: str, said: SimpleNamespace) -> None:
    """Neither half of a rule is said to hold."""
    understanding = said.after(text)[2]
    asserted = [claim for claim in understanding.claims if claim.modality in (Modality.ASSERTED, Modality.PLANNED)]
    assert understanding.rules and asserted == []


def test_what_stands_beside_a_rule_is_still_said(said: SimpleNamespace) -> None:
    """One sentence of a turn is a rule, the others are facts."""
    understanding = said.after("I live in Oslo. If it snows, I take the tram.")[2]
    assert said.short(understanding.claims) == ["Nora lives_in Oslo"]
    assert [words(rule) for rule in understanding.rules] == ["it snows -> Nora takes tram"]


def test_a_rule_speaks_of_the_relations_that_facts_have(said: SimpleNamespace) -> None:
    """The name is that of the claim; the label keeps the words."""
    rule = said.after("If Liv lives in Oslo, she likes snow.")[2].rules[0]
    assert [rule.if_[0].relation.name, rule.then[0].relation.name] == ["lives_in", "likes"]


def test_a_rule_knows_its_source(said: SimpleNamespace) -> None:
    """Turn, speaker, time and words."""
    rule = said.after("If it snows, I take the tram.")[2].rules[0]
    assert (rule.turn_id, rule.speaker, rule.known_at) == ("t1", "Nora", said.AT)
    assert rule.span == "If it snows, I take the tram"
    assert rule.then[0].span == "I take the tram"


def test_a_guess_is_trusted_less(said: SimpleNamespace) -> None:
    """ "Maybe" and "I think" lower the confidence."""
    sure, unsure = (said.after(text)[2].rules[0] for text in ("If it snows, I walk.", "I think if it snows, I walk."))
    assert unsure.confidence < sure.confidence


def test_times_of_a_condition_are_kept(said: SimpleNamespace) -> None:
    """A deadline belongs to the atom, not to its object."""
    rule = said.after("If Odd doesn't call by Friday, I leave.")[2].rules[0]
    assert rule.if_[0].object.label == "" and str(rule.if_[0].valid)


@pytest.mark.parametrize("kind", ["if", "unless", "only if", "every", "exactly one of", "either", "when", "no"])
@pytest.mark.parametrize("tail", ["", " a", " and and or", ", , ,", " x" * 180, " \"'s 1 €"])
def test_no_fragment_breaks_the_reading(kind: str, tail: str, said: SimpleNamespace) -> None:
    """Any text goes in; at worst nothing comes out."""
    assert isinstance(rules_of(said, f"{kind}{tail}"), list)


def test_the_own_items_stay_found(said: SimpleNamespace) -> None:
    """Every turn of the item set that states a rule gives at least one."""
    ruled = [item for item in ITEMS if item["rules"] and not item["context"]]
    found = [item for item in ruled if rules_of(said, (item["turn"]["speaker"], item["turn"]["text"]))]
    assert len(found) / len(ruled) >= 0.9
