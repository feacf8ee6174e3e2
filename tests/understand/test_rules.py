"""What is said in general or on a condition becomes rules, and gives no facts."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from doxa.backends.parser import Parser
from doxa.core.values import Atom, Modality, Rule

ITEMS = [json.loads(line) for line in (Path(__file__).parent / "data/rules.jsonl").read_text().splitlines()]
UNRULED = [item["turn"]["text"] for item in ITEMS if item["tags"] == ["no-rule"]]


def words(rule: Rule) -> str:
    """Return a rule in short form: "if Zoe passes test -> Colm gets dog"."""
    if_, then = (" & ".join(_atom(atom) for atom in side) for side in (rule.if_, rule.then))
    return f"{if_} -> {then}"


def _atom(atom: Atom) -> str:
    marks = [*([] if atom.polarity else ["not"]), *([atom.deontic] if atom.deontic else [])]
    return " ".join([*marks, atom.subject.label, atom.relation.label, atom.object.label]).strip()


def rules_of(said: SimpleNamespace, parser: Parser, text: str) -> list[str]:
    """Return the rules of a turn, in short form."""
    return [words(rule) for rule in said.after(text, parser=parser)[2].rules]


SAID = {
    "if": ("If Liv wins the race, I'm buying a kayak.", ["Liv wins race -> Nora buys kayak"]),
    "if last": ("I walk if the bus is full.", ["bus is full -> Nora walks"]),
    "no comma": ("if it rains we stay home", ["it rains -> Nora stays home"]),
    "and": ("If I pass and Max pays, we leave.", ["Nora passes & Max pays -> Nora leaves"]),
    "only if": ("I sign only if the price drops.", ["Nora signs -> price drops"]),
    "unless": ("I walk unless Liv drives.", ["not Liv drives -> Nora walks"]),
    "unless first": ("Unless Liv drives, I walk.", ["not Liv drives -> Nora walks"]),
    "whenever": ("Whenever Liv sings, the dog howls.", ["Liv sings -> Nora's dog howls"]),
    "every": ("Every apprentice gets a bike.", ["?x is apprentice -> ?x gets bike"]),
    "all mine": ("All my uncles live in Oslo.", ["?x is Nora's uncle -> ?x lives in Oslo"]),
    "no": ("No cats are allowed in the office.", ["?x is cat -> not may ?x is allowed in office"]),
    "nobody": ("Nobody in my family smokes.", ["?x is in Nora's family -> not ?x smokes"]),
    "must": ("All guests must sign the book.", ["?x is guest -> must ?x signs book"]),
    "exactly one": (
        "Exactly one of Liv and Odd has a boat.",
        [
            "Liv has boat -> not Odd has boat",
            "Odd has boat -> not Liv has boat",
            "not Liv has boat -> Odd has boat",
            "not Odd has boat -> Liv has boat",
        ],
    ),
    "nobody follows": ("If it snows, nobody skis.", ["it snows -> not ?x skis"]),
    "two conditions": (
        "If it snows I ski, and if it rains I read.",
        ["it snows -> Nora skis", "it rains -> Nora reads"],
    ),
    "everybody agrees": ("If everybody agrees, we leave.", ["everybody agrees -> Nora leaves"]),
    "somebody has to": ("If it snows, somebody sings.", ["it snows -> somebody sings"]),
    "somebody else": ("If somebody calls, I leave.", ["?x calls -> Nora leaves"]),
    "unless somebody": ("Unless somebody calls, I leave.", ["not anybody calls -> Nora leaves"]),
    "told": ("Liv told me that if Max resigns he'll move out.", ["Max resigns -> Max moves out"]),
}


@pytest.mark.parametrize(("text", "expected"), SAID.values(), ids=SAID.keys())
def test_a_general_statement_becomes_rules(
    text: str, expected: list[str], said: SimpleNamespace, parser: Parser
) -> None:
    """All rules of the turn, in any order, and none beside them."""
    assert sorted(rules_of(said, parser, text)) == sorted(expected)


@pytest.mark.parametrize("text", UNRULED)
def test_what_is_not_general_makes_no_rule(text: str, said: SimpleNamespace, parser: Parser) -> None:
    """Questions, courtesies, one-off times and counterfactuals."""
    assert rules_of(said, parser, text) == []


@pytest.mark.parametrize("text", [text for text, _ in SAID.values()])
def test_a_rule_asserts_nothing(text: str, said: SimpleNamespace, parser: Parser) -> None:
    """Neither half of a rule is said to hold."""
    understanding = said.after(text, parser=parser)[2]
    asserted = [claim for claim in understanding.claims if claim.modality in (Modality.ASSERTED, Modality.PLANNED)]
    assert understanding.rules and asserted == []


def test_what_stands_beside_a_rule_is_still_said(said: SimpleNamespace, parser: Parser) -> None:
    """One sentence of a turn is a rule, the others are facts."""
    understanding = said.after("I live in Oslo. If it snows, I take the tram.", parser=parser)[2]
    assert said.short(understanding.claims) == ["Nora lives_in Oslo"]
    assert [words(rule) for rule in understanding.rules] == ["it snows -> Nora takes tram"]


def test_a_rule_speaks_of_the_relations_that_facts_have(said: SimpleNamespace, parser: Parser) -> None:
    """The name is that of the claim; the label keeps the words."""
    rule = said.after("If Liv lives in Oslo, she likes snow.", parser=parser)[2].rules[0]
    assert [rule.if_[0].relation.name, rule.then[0].relation.name] == ["lives_in", "likes"]


def test_a_rule_knows_its_source(said: SimpleNamespace, parser: Parser) -> None:
    """Turn, speaker, time and words."""
    rule = said.after("If it snows, I take the tram.", parser=parser)[2].rules[0]
    assert (rule.turn_id, rule.speaker, rule.known_at) == ("t1", "Nora", said.AT)
    assert rule.span == "If it snows, I take the tram"
    assert rule.then[0].span == "I take the tram"


def test_a_guess_is_trusted_less(said: SimpleNamespace, parser: Parser) -> None:
    """ "Maybe" and "I think" lower the confidence."""
    sure, unsure = (
        said.after(text, parser=parser)[2].rules[0] for text in ("If it snows, I walk.", "I think if it snows, I walk.")
    )
    assert unsure.confidence < sure.confidence


def test_times_of_a_condition_are_kept(said: SimpleNamespace, parser: Parser) -> None:
    """A deadline belongs to the atom, not to its object."""
    rule = said.after("If Max doesn't call by Friday, I leave.", parser=parser)[2].rules[0]
    assert rule.if_[0].object.label == "" and str(rule.if_[0].valid)


@pytest.mark.parametrize("kind", ["if", "unless", "only if", "every", "exactly one of", "when", "no"])
@pytest.mark.parametrize("tail", ["", " a", " and and or", ", , ,", " x" * 180, " \"'s 1 €"])
def test_no_fragment_breaks_the_reading(kind: str, tail: str, said: SimpleNamespace, parser: Parser) -> None:
    """Any text goes in; at worst nothing comes out."""
    assert isinstance(rules_of(said, parser, f"{kind}{tail}"), list)
