"""What somebody says never happened, after having said that it did, is named with both turns and not decided."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from doxa import Doxa
from doxa.backends.nli.scripted import ScriptedNli
from doxa.core.values import Question, Turn
from doxa.engine.answer.contradicting import contradiction
from doxa.reason import Graded

STATEMENT = "I have met Kelly at a book club"
ASKED = Question(text="Have I ever met Kelly at a book club?", tests=STATEMENT, past=True)
MET = "I met Kelly at the book club in Porto."
NEVER = "I've never met Kelly at any book club."


def _turn(ordinal: int, text: str, *, speaker: str = "ana", role: str = "user") -> Turn:
    at = datetime(2026, 1, ordinal, tzinfo=UTC)
    return Turn(
        turn_id=f"t{ordinal}", user="u", session="s", speaker=speaker, role=role, text=text, at=at, ordinal=ordinal
    )  # fmt: skip


def _graded(turn: Turn, p: float = 0.9) -> Graded:
    return Graded(turn=turn, p=p, score=1.0)


def _found(turns: list[Turn], question: Question = ASKED) -> list[str]:
    nli = ScriptedNli({(MET, STATEMENT): "entailment", (NEVER, STATEMENT): "contradiction"})
    doubt = contradiction(question, map(_graded, turns), list, nli.classify, asker="ana")
    return [turn.turn_id for turn in doubt.turns] if doubt else []


def test_what_was_said_and_is_denied_later_is_a_contradiction() -> None:
    """Both turns are given, oldest first, in whatever order they were found; other sentences do not hide them."""
    said, denied = _turn(1, f"Nice weather. {MET} Could you suggest a novel?"), _turn(2, f"{NEVER} Odd, isn't it?")
    assert _found([denied, _turn(3, "I like tea."), said]) == ["t1", "t2"]


@pytest.mark.parametrize(
    "turns",
    [
        [_turn(1, NEVER), _turn(2, MET)],
        [_turn(1, MET), _turn(2, NEVER, speaker="bo")],
        [_turn(1, MET, role="assistant"), _turn(2, NEVER)],
        [_turn(1, MET)],
        [_turn(2, NEVER)],
        [],
    ],
    ids=["it happened since", "two people", "the assistant said it", "said only", "denied only", "nothing"],
)
def test_what_may_both_be_true_is_none(turns: list[Turn]) -> None:
    """What had never happened may happen, and nobody contradicts themselves by what another says."""
    assert _found(turns) == []


@pytest.mark.parametrize(
    "question",
    [
        Question(text="Do I know Kelly?", tests=STATEMENT),
        Question(text="Where did I meet Kelly?", past=True),
        Question(text="Have I met Kelly, according to Bo?", tests=STATEMENT, past=True, source="Bo"),
    ],
    ids=["what is may change", "no yes or no", "whose word is asked for"],
)
def test_other_questions_are_not_looked_at(question: Question) -> None:
    """No model is run for them."""
    nli = ScriptedNli({})
    turns = [_graded(_turn(1, MET)), _graded(_turn(2, NEVER))]
    assert contradiction(question, turns, list, nli.classify, asker="ana") is None
    assert nli.asked == []


def test_who_said_it_is_looked_for_further_away_where_somebody_denies_it() -> None:
    """More turns are read for a denial alone."""
    nli = ScriptedNli({(MET, STATEMENT): "entailment", (NEVER, STATEMENT): "contradiction"})
    asked: list[str] = []

    def more() -> list[Graded]:
        asked.append("more")
        return [_graded(_turn(1, MET))]

    doubt = contradiction(ASKED, [_graded(_turn(2, NEVER))], more, nli.classify, asker="ana")
    assert doubt is not None and [turn.turn_id for turn in doubt.turns] == ["t1", "t2"]
    assert contradiction(ASKED, [_graded(_turn(3, "I like tea."))], more, nli.classify, asker="ana") is None
    assert asked == ["more"]


def test_a_turn_that_hardly_answers_says_nothing() -> None:
    """What the reader does not take for an answer is no side, whatever one of its sentences says."""
    nli = ScriptedNli({(MET, STATEMENT): "entailment", (NEVER, STATEMENT): "contradiction"})
    turns = [_graded(_turn(1, MET), p=0.1), _graded(_turn(2, NEVER))]
    assert contradiction(ASKED, turns, list, nli.classify, asker="ana") is None


def test_a_contradiction_is_answered_with_both_turns_and_a_question(tmp_path: Path) -> None:
    """With the built-in models: both days are named, both turns are cited, and it is asked which is right."""
    with Doxa.open(tmp_path / "m.db") as doxa:
        chat = doxa.dialogue(user="ana")
        chat.absorb("I met Kelly at the library book club on October 12, and she recommended a novel.", at="2026-01-05")
        chat.absorb("My train was late again today.", at="2026-01-06")
        chat.absorb("I've never met Kelly at any book club or library event, which is weird.", at="2026-02-03")
        chat.flush()
        reply = chat.ask("Have I ever met Kelly at any book club?", at="2026-03-01")
        assert reply.disputed and not reply.abstained
        assert {one.at.date().isoformat() for one in reply.citations} == {"2026-01-05", "2026-02-03"}
        assert "5 January 2026" in reply.text and "3 February 2026" in reply.text and reply.text.endswith("?")
        reply = chat.ask("Have I ever been on a train?", at="2026-03-01")
        assert not reply.disputed
