import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.commonsense.statements import neutral, statement
from doxa.core.background import RELATIONS

EVENT = "PersonX helps PersonY ___"
HELPS = "Ann helps Bo something"

SAID = [
    ("Causes", "happiness", f"{HELPS} causes happiness"),
    ("Causes", "PersonY's joy", f"{HELPS} causes Bo's joy"),
    ("xReason", "PersonY asked for help", f"{HELPS} because Bo asked for help"),
    ("xReason", "they are kind", f"{HELPS} because they are kind"),
    ("xReason", "you're sick", f"{HELPS} because you're sick"),
    ("xReason", "money", f"{HELPS} because of money"),
    ("xReason", "of the cold", f"{HELPS} because of the cold"),
    ("xReason", "earn money", f"{HELPS} because Ann wants to earn money"),
    ("HinderedBy", "PersonX is too busy.", f"{HELPS} can be hindered by Ann is too busy"),
    ("IsBefore", "PersonX goes home", f"{HELPS} happens before Ann goes home"),
    ("IsAfter", "PersonY asks PersonX", f"{HELPS} happens after Bo asks Ann"),
    ("xNeed", "job", "but before, Ann needed job"),
    ("xNeed", "a job", "but before, Ann needed a job"),
    ("xNeed", "shoes", "but before, Ann needed shoes"),
    ("xNeed", "time", "but before, Ann needed time"),
    ("xNeed", "ticket", "but before, Ann needed ticket"),
    ("xNeed", "good hike boot", "but before, Ann needed good hike boot"),
    ("xNeed", "to get a job", "but before, Ann needed to get a job"),
    ("xNeed", "needs to get a job", "but before, Ann needed to get a job"),
    ("xNeed", "get onto web", "but before, Ann needed to get onto web"),
    ("xNeed", "bathe", "but before, Ann needed to bathe"),
    ("xNeed", "has money", "but before, Ann needed to have money"),
    ("xNeed", "PersonX has money", "but before, Ann needed to have money"),
    ("xNeed", "tries hard", "but before, Ann needed to try hard"),
    ("xNeed", "brave", "but before, Ann needed to be brave"),
    ("xNeed", "hypnotize yourself", "but before, Ann needed to hypnotize yourself"),
    ("xNeed", "flex the leg", "but before, Ann needed to flex the leg"),
    ("xNeed", "not to be late", "but before, Ann needed not to be late"),
    ("xNeed", "miss bus to school", "but before, Ann needed to miss bus to school"),
    ("xAttr", "helpful", "Ann is seen as helpful"),
    ("xAttr", "to be helpful", "Ann is seen as helpful"),
    ("xAttr", "PersonX is seen as helpful", "Ann is seen as helpful"),
    ("xAttr", "a good friend", "Ann is seen as a good friend"),
    ("xEffect", "PersonX cries", "as a result, Ann cries"),
    ("xEffect", "Person X becomes lost", "as a result, Ann becomes lost"),
    ("xEffect", "cries", "as a result, Ann cries"),
    ("xEffect", "smirks", "as a result, Ann smirks"),
    ("xEffect", "gets wet", "as a result, Ann gets wet"),
    ("xEffect", "get's wet", "as a result, Ann get's wet"),
    ("xEffect", "get wet", "as a result, Ann will get wet"),
    ("xEffect", "to get wet", "as a result, Ann will get wet"),
    ("xEffect", "PersonY thanks PersonX", "as a result, Bo thanks Ann"),
    ("xEffect", "Person Y's dog", "as a result, Ann will have Bo's dog"),
    ("xEffect", "PersonX's heart races fast", "as a result, Ann's heart races fast"),
    ("xEffect", "They are happy", "as a result, they are happy"),
    ("xEffect", "the dog is scared", "as a result, the dog is scared"),
    ("xEffect", "can't sleep", "as a result, Ann can't sleep"),
    ("xEffect", "rewarded", "as a result, Ann will be rewarded"),
    ("xEffect", "in debt", "as a result, Ann will be in debt"),
    ("xEffect", "getting ready", "as a result, Ann will be getting ready"),
    ("xEffect", "a headache", "as a result, Ann will have a headache"),
    ("xEffect", "new job", "as a result, Ann will have new job"),
    ("xReact", "happy", "as a result, Ann feels happy"),
    ("xReact", "feels happy", "as a result, Ann feels happy"),
    ("xReact", "to be proud of it", "as a result, Ann feels proud of it"),
    ("xReact", "like a hero", "as a result, Ann feels like a hero"),
    ("xReact", "they did well", "as a result, Ann feels that they did well"),
    ("xWant", "to thank PersonY", "as a result, Ann wants to thank Bo"),
    ("xWant", "wants to thank PersonY", "as a result, Ann wants to thank Bo"),
    ("xWant", "Cuddle", "as a result, Ann wants to cuddle"),
    ("xWant", "PersonY to be happy", "as a result, Ann wants Bo to be happy"),
    ("xWant", "them to be happy", "as a result, Ann wants them to be happy"),
    ("xWant", "go home", "as a result, Ann wants to go home"),
    ("xWant", "nothing", "as a result, Ann wants nothing"),
    ("xWant", "present", "as a result, Ann wants present"),
    ("xWant", "present an idea", "as a result, Ann wants to present an idea"),
    ("xIntent", "to be kind", "because Ann wanted to be kind"),
    ("xIntent", "justice", "because Ann wanted justice"),
    ("xIntent", "helpful", "because Ann wanted to be helpful"),
    ("xIntent", "does not agree with PersonY", "because Ann wanted not to agree with Bo"),
]


@pytest.mark.parametrize(("relation", "tail", "said"), SAID)
def test_a_tail_becomes_a_statement(relation, tail, said):
    assert statement(EVENT, relation, tail, x="Ann", y="Bo") == said


def test_every_relation_is_in_the_table():
    assert {relation for relation, _, _ in SAID} == set(RELATIONS)


@pytest.mark.parametrize("name", ["{x}", "{tail}", "{0}", "x", r"\1", "A__n", "{event"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_name_is_taken_as_it_is(relation, name):
    """Braces, backslashes and blanks in it mean nothing."""
    told = statement("PersonX leaves", relation, "PersonY sees PersonX", x=name, y="Bo")
    assert told == statement("PersonX leaves", relation, "PersonY sees PersonX", x="Zed", y="Bo").replace("Zed", name)


@given(st.sampled_from(sorted(RELATIONS)), st.text(), st.text())
def test_any_tail_gives_one_line(relation, event, tail):
    said = statement(event, relation, tail)
    assert said.strip() and "\n" not in said


def test_a_neutral_event_is_about_nobody_in_particular():
    assert neutral("PersonX pays  Person Y ___ for personz") == "the person pays the other something for somebody else"
    assert neutral("PersonX's dog", x="Ann") == "Ann's dog"
    assert neutral("PersonX waits", x="A__n") == "A__n waits"
