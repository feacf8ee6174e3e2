"""CS and labels against values worked out by hand, with an NLI model that is a table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.core.tokens import estimate_tokens
from doxa.verify import consistency_score
from doxa_bench.mtbench101.consistency import PremiseSpec, hypotheses, premises, score_replies

NARROW = PremiseSpec(premise_tokens=12, hypothesis_tokens=6, max_chunks=2, max_parts=2)


class Table:
    """Gives the row of the first key that stands in a premise, keeps what it was asked."""

    def __init__(self, rows, usual=(0.0, 1.0, 0.0)):
        self.rows, self.usual, self.asked, self.calls = rows, usual, [], 0

    def __call__(self, pairs):
        self.calls += 1
        self.asked += pairs
        return np.asarray([self.row(*pair) for pair in pairs], dtype=np.float32)

    def row(self, premise, hypothesis):
        return next((row for (p, h), row in self.rows.items() if p in premise and h in hypothesis), self.usual)


@pytest.mark.parametrize(
    ("entailed", "contradicted", "expected"), [(1, 0, 1.0), (0, 1, 0.0), (0, 0, 0.5), (0.5, 0.5, 0.5), (0.7, 0.1, 0.8)]
)
def test_the_consistency_score_is_equation_4(entailed, contradicted, expected):
    assert consistency_score(entailed, contradicted) == pytest.approx(expected)


def test_a_reply_that_fits_is_judged_once_against_all_that_was_said_before_it():
    """As in the paper: one pair, and its probabilities are those of the turn."""
    nli = Table({("I have a dog. What is nice? Cats. What do I have?", "A dog."): (0.7, 0.2, 0.1)})
    first = (["I have a dog. What is nice?"], "Cats.")
    second = (["I have a dog. What is nice?", "Cats.", "What do I have?"], "A dog.")
    scored = score_replies([first, second], nli)
    assert nli.calls == 1
    assert nli.asked[0] == ("I have a dog. What is nice?", "Cats.")
    assert scored[1].p_entailment == pytest.approx(0.7)
    assert scored[1].cs == pytest.approx(0.8)
    assert [turn.label for turn in scored] == ["neutral", "entailment"]


def test_of_several_chunks_the_strongest_entailment_and_contradiction_count():
    """One chunk entails by 0.9, one contradicts by 0.6: scaled 0.9 / 1.55 and 0.6 / 1.55."""
    rows = {("old facts", "Yes"): (0.9, 0.05, 0.05), ("new facts", "Yes"): (0.2, 0.2, 0.6)}
    history = ["old facts stand here in one row", "new facts stand here in one row", "So?"]
    (scored,) = score_replies([(history, "Yes")], Table(rows), NARROW)
    assert scored.p_entailment == pytest.approx(0.9 / 1.55)
    assert scored.p_contradiction == pytest.approx(0.6 / 1.55)
    assert scored.label == "entailment"


def test_a_long_reply_is_the_mean_over_its_parts_by_length():
    rows = {("", "first"): (1.0, 0.0, 0.0), ("", "second"): (0.0, 0.0, 1.0)}
    (scored,) = score_replies([(["Go on."], "The first part. The second part.")], Table(rows), NARROW)
    assert scored.pairs == 2
    assert scored.cs == pytest.approx(0.5)
    assert scored.label == "neutral"
    assert scored.least_cs == 0.0


@pytest.mark.parametrize("asked", [([], "A reply."), (["A question?"], " ")], ids=["no history", "no reply"])
def test_what_cannot_be_judged_is_neutral_at_no_cost(asked):
    nli = Table({})
    (scored,) = score_replies([asked], nli)
    assert (scored.label, scored.cs, scored.pairs, nli.calls) == ("neutral", 0.5, 0, 0)


def test_every_chunk_ends_with_the_message_that_is_answered():
    history = [f"Fact {number} is told in this turn." for number in range(6)]
    chunks = premises([*history, "Which?"], NARROW)
    assert len(chunks) > 1
    assert all(chunk.endswith("Which?") for chunk in chunks)
    assert "Fact 5" in chunks[0] and "Fact 0" in chunks[-1]


def test_more_chunks_than_are_paid_for_leave_the_newest_and_the_likest():
    history = ["Rex is a large brown dog.", *(f"Nothing much in turn {n} of it." for n in range(5)), "And?"]
    nli = Table({})
    (scored,) = score_replies([(history, "The dog is Rex.")], nli, NARROW)
    assert scored.cut
    assert scored.pairs == 2
    assert ["turn 4" in nli.asked[0][0], "Rex" in nli.asked[1][0]] == [True, True]


def test_replies_of_many_dialogues_go_out_in_one_call():
    nli = Table({("", "yes"): (1.0, 0.0, 0.0)})
    scored = score_replies([(["a"], "yes"), ([], "yes"), (["b"], "no"), (["c"], "yes")], nli)
    assert nli.calls == 1
    assert [one.label for one in scored] == ["entailment", "neutral", "neutral", "entailment"]


texts = st.lists(st.text("ab .\n?", max_size=60), max_size=8)


@given(history=texts, reply=st.text("ab .\n?", max_size=80), seed=st.integers(0, 9))
def test_scores_lie_between_0_and_1_and_pairs_within_the_cap(history, reply, seed):
    """Whatever is said, and whatever the model answers."""
    draw = np.random.default_rng(seed)

    def classify(pairs):
        return draw.dirichlet([0.3, 0.3, 0.3], size=len(pairs)).astype(np.float32)

    (scored,) = score_replies([(history, reply)], classify, NARROW)
    total = scored.p_entailment + scored.p_neutral + scored.p_contradiction
    assert total == pytest.approx(1.0, abs=1e-5)
    assert 0 <= scored.least_cs <= scored.cs + 1e-6 <= 1 + 2e-6
    assert scored.pairs <= NARROW.max_pairs


@given(history=texts, reply=st.text("ab .\n?", max_size=80))
def test_nothing_is_lost_when_texts_are_cut(history, reply):
    """The words of a reply and of a history stand in their parts, and parts are as short as they should be."""
    parts = hypotheses(reply, NARROW)
    assert " ".join(parts).split() == reply.split()
    assert all(estimate_tokens(part) <= 2 * NARROW.hypothesis_tokens for part in parts if " " in part)
    told = " ".join(premises(history, NARROW)).split()
    assert set(told) == {word for text in history for word in text.split()}
