"""In a large memory only facts near to a question are compared with it in other words."""

from datetime import UTC, datetime

import doxa.reason
import doxa.reason.facts
from doxa.core.values import Claim, Evidence, Question, Relation, Term
from doxa.memory import Beliefs
from doxa.revise import revise


def test_the_work_of_a_soft_reading_does_not_grow_with_the_memory(monkeypatch):
    """A thousand facts are held, and the question is compared with those of the two turns that recall found."""
    beliefs, at = Beliefs(), datetime(2024, 1, 1, tzinfo=UTC)
    for n in range(1000):
        claim = Claim(
            subject=Term(f"thing {n}", f"thing {n}"), relation=Relation("stand_in", "stands in"),
            object=Term(f"hall {n}", f"hall {n}"), turn_id=f"t{n}", speaker="Ana", known_at=at, span=f"thing {n}",
        )  # fmt: skip
        beliefs.learn([claim], revise([claim], beliefs, turn_id=claim.turn_id, known_at=at))
    seen: list[int] = []

    def counted(question, known, speaker, facts):
        seen.append(len(list(facts)))
        return iter(())

    monkeypatch.setattr(doxa.reason.facts, "matches", counted)
    question = Question(text="Where is thing 7 kept?", kind="where", focus=("thing", "keep"))
    nearby = [Evidence(text="", turn_ids=("t7",), score=1.0), Evidence(text="", turn_ids=("t8",), score=0.5)]
    asked = {"asker": "Ana", "day": None, "today": None}
    doxa.reason.answer(question, beliefs, (), lambda key: None, nearby=nearby, **asked)
    doxa.reason.answer(question, beliefs, (), lambda key: None, **asked)
    assert seen == [2, 1000]
