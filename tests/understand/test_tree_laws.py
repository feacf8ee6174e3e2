"""Whatever is said, and whatever tree it is given: values and no errors, the same ones again, at linear cost."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doxa.backends import load
from doxa.backends.parser import Parse, Parser, Word
from doxa.language.syntax import Tree
from doxa.language.times import find_times
from doxa.memory import Beliefs
from doxa.understand import Understanding, open_propositions, understand
from doxa.understand.nominals import appositions
from doxa.understand.predications import predications

AT = datetime(2024, 6, 12, 12, tzinfo=UTC)
WORDS = (
    "I you my the a no Ada Ada's sister who whose that is are was not n't live sold gave called at to of for than "
    "since 2019 on Friday , . ; : - and or but if never said wants started red older two 780 euros it she he her \" ' "
    "( )"
).split()
UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
DEPRELS = (
    "acl acl:relcl advcl advmod amod appos aux aux:pass case cc ccomp compound compound:prt conj cop csubj det "
    "discourse expl fixed flat goeswith iobj mark nmod nmod:desc nmod:poss nmod:unmarked nsubj nsubj:pass nummod obj "
    "obl obl:agent obl:unmarked orphan parataxis punct reparandum root vocative xcomp dep"
).split()
STATEMENTS = (
    "I own a bakery",
    "Vera sold her canoe to Anton",
    "My brother lives in Leeds",
    "Anton is a dentist",
    "the red scooter belongs to Olga",
)
SOME = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
texts = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))


class CountingParser:
    """The parser behind it, and how often and with how many words it was called."""

    name = "counting"

    def __init__(self, inner: Parser) -> None:
        self.inner, self.calls, self.words = inner, 0, 0

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        self.calls += 1
        self.words += sum(map(len, sentences))
        return self.inner.parse(sentences)

    def close(self) -> None: ...


class GivenParser:
    """Gives any sentence of a fixed length the tree that it was made with."""

    name = "given"

    def __init__(self, parse: Parse) -> None:
        self.given = parse

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        return [_cut(self.given, len(words)) for words in sentences]

    def close(self) -> None: ...


def _cut(parse: Parse, size: int) -> Parse:
    """Return the tree over the first words only; heads always stand before, so it is one."""
    cut = {name: tuple(getattr(parse, name)[:size]) for name in parse.__slots__}
    short = size - len(cut["forms"])
    heads = (*cut["heads"], *[0] * short) if cut["heads"] else (-1, *[0] * (size - 1))
    fill = {"forms": "x", "lemmas": "x", "upos": "X", "deprels": "dep", "tags": "O", "confidences": 0.5}
    rest = {name: (*cut[name], *[value] * short) for name, value in fill.items()}
    return Parse(**rest, heads=heads[:size])


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Any words under any tree: every word hangs on one that was placed before it, in an order of its own."""
    forms = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14))
    order = draw(st.permutations(range(len(forms))))
    heads = [-1] * len(forms)
    for rank in range(1, len(order)):
        heads[order[rank]] = order[draw(st.integers(0, rank - 1))]
    return _tree(draw, forms, heads)


@st.composite
def hanging_back(draw: st.DrawFn) -> Tree:
    """As `trees`, with every head before its word."""
    forms = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14))
    heads = [-1, *(draw(st.integers(0, place - 1)) for place in range(1, len(forms)))]
    return _tree(draw, forms, heads)


def _tree(draw: st.DrawFn, forms: list[str], heads: list[int]) -> Tree:
    size = len(forms)

    def listed(values: list[str]) -> tuple[str, ...]:
        return tuple(draw(st.lists(st.sampled_from(values), min_size=size, max_size=size)))

    deprels = tuple(rel if head >= 0 else "root" for rel, head in zip(listed(DEPRELS), heads, strict=True))
    parse = Parse(
        forms=tuple(forms), lemmas=tuple(form.casefold() for form in forms), upos=listed(UPOS), heads=tuple(heads),
        deprels=deprels, tags=listed(["O", "B-PERSON", "B-TIME"]), confidences=(0.9,) * size,
    )  # fmt: skip
    return Tree(" ".join(forms), list(_words(forms)), parse)


def _words(forms: Sequence[str]) -> Iterator[Word]:
    start = 0
    for form in forms:
        yield Word(form=form, start=start, end=start + len(form))
        start += len(form) + 1


def read(text: str, parser: Parser, said: SimpleNamespace) -> Understanding:
    return understand(said.turn(text), [], Beliefs(), parser)


@SOME
@given(text=texts)
def test_any_text_is_read_without_an_error_and_the_same_way_twice(
    text: str, said: SimpleNamespace, parser: Parser
) -> None:
    one = read(text, parser, said)
    assert one == read(text, parser, said)
    assert all(claim.subject.key and claim.relation.name and claim.turn_id == "t1" for claim in one.claims)


@SOME
@given(first=texts, second=texts)
def test_any_context_is_read_without_an_error(first: str, second: str, said: SimpleNamespace, parser: Parser) -> None:
    context = [said.turn("I keep bees.", speaker="Olga"), said.turn(first, speaker="Helper", number=2)]
    turn = said.turn(second, number=3)
    assert understand(turn, context, Beliefs(), parser) == understand(turn, context, Beliefs(), parser)


def test_a_new_parser_reads_the_same(said: SimpleNamespace, parser: Parser) -> None:
    text = "My uncle Piet, who runs a mill in Leeds, said he sold two boats to Vera, and she wants a third one."
    other: Parser = load("parser", "builtin")
    try:
        assert read(text, other, said) == read(text, parser, said) != Understanding()
    finally:
        other.close()


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000,
        "and " * 2_500,
        "I own a bakery, " * 625,
        "Anton is a dentist. " * 500,
        "\U0001f600\u0301\u200d " * 2_500,
        "(" * 5_000 + ")" * 5_000,
        "who " * 2_500,
        "'\"" * 5_000,
    ],
    ids=["one word", "one conjunction", "one sentence", "many sentences", "marks", "brackets", "pronouns", "quotes"],
)
def test_a_very_long_turn_is_read_without_an_error(text: str, said: SimpleNamespace, parser: Parser) -> None:
    assert all(claim.turn_id == "t1" for claim in read(text, parser, said).claims)


@pytest.mark.parametrize(
    "text",
    [
        'Olga said: "I own a bakery."',
        "Olga said: \"Vera told me: 'I own a bakery.'\"",
        "'Olga said: “I own a bakery.”'",
    ],
    ids=["one", "two", "in single marks"],
)
def test_nested_quotes_assert_nothing(text: str, said: SimpleNamespace, parser: Parser) -> None:
    assert read(text, parser, said).claims == ()


@SOME
@given(
    text=st.sampled_from(STATEMENTS), opening=st.sampled_from(["Is it true that {}?", "Did you hear that {}?", "{}?"])
)
def test_a_question_asserts_nothing(text: str, opening: str, said: SimpleNamespace, parser: Parser) -> None:
    found = read(opening.format(text), parser, said)
    assert found.claims == () and found.questions


@SOME
@given(text=st.sampled_from(STATEMENTS), frame=st.sampled_from(['"{}"', '"{}!"', "“{}.”"]))
def test_a_quote_alone_asserts_nothing(text: str, frame: str, said: SimpleNamespace, parser: Parser) -> None:
    assert read(frame.format(text), parser, said).claims == ()


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_condition_asserts_nothing(text: str, said: SimpleNamespace, parser: Parser) -> None:
    found = read(f"If {text}, we will order a cake.", parser, said)
    assert not [claim for claim in found.claims if claim.modality == "asserted"]


def test_the_work_grows_with_the_turn_and_no_faster(said: SimpleNamespace, parser: Parser) -> None:
    def cost(times: int) -> tuple[int, int]:
        counting = CountingParser(parser)
        read(" ".join(f"Person{n} owns a red bicycle." for n in range(times)), counting, said)
        return counting.calls, counting.words

    small, large = cost(5), cost(50)
    assert small[0] >= 5
    assert large[0] <= 10 * small[0] and large[1] <= 10 * small[1] + 100


def test_the_work_on_the_context_does_not_grow_with_it(said: SimpleNamespace, parser: Parser) -> None:
    def calls(size: int) -> int:
        counting = CountingParser(parser)
        context = [said.turn("Vera owns a bakery.", number=n) for n in range(1, size + 1)]
        understand(said.turn("Anton lives in Linz.", number=size + 1), context, Beliefs(), counting)
        return counting.calls

    assert calls(2) == calls(40)


@settings(max_examples=300, deadline=None)
@given(tree=trees())
def test_any_tree_is_read_without_an_error(tree: Tree) -> None:
    times = find_times(tree.text, AT, past=False)
    for terse in (False, True):
        found = predications(tree, times, terse=terse)
        assert found == predications(tree, times, terse=terse)
        assert [one.head for one in found] == sorted(one.head for one in found)
    assert all(0 <= one.head < len(tree.words) for one in appositions(tree))


@settings(max_examples=150, deadline=None)
@given(tree=hanging_back())
def test_any_tree_has_open_propositions_and_claims_or_none(tree: Tree, said: SimpleNamespace) -> None:
    given_tree = GivenParser(tree.parse)
    for proposition in open_propositions(tree.text, given_tree):
        assert proposition.subject and all(proposition.arguments) and 0 <= proposition.confidence <= 1
    one = read(tree.text, given_tree, said)
    assert one == read(tree.text, given_tree, said)
