"""User code that has to type-check: the public interface as people call it. It is checked, never run."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import assert_type

from pydantic import BaseModel, Field

from doxa import AsyncDoxa, Doxa


def remember_and_ask(path: Path) -> str | None:
    """A dialogue: respond, ask, absorb, flush."""
    with Doxa.open(str(path)) as doxa:
        chat = doxa.dialogue(user="ana", agent="helper", session="2024-05-01")
        reply = chat.respond("I moved to Berlin in March.", at=datetime(2024, 5, 1, tzinfo=UTC))
        assert_type(reply.text, str)
        assert_type(reply.value, str | None)
        assert_type(reply.abstained, bool)
        assert_type(reply.disputed, bool)
        intents: Sequence[str] = reply.intents
        cited = [citation.turn_id for citation in reply.citations]
        revised = [str(change) for change in reply.revisions]
        print(intents, cited, revised, reply.verdict, reply.trace)

        past = chat.ask("Where do I live?", as_of=date(2024, 1, 1), known_at=None)
        same_type = [reply, past]

        receipt = chat.absorb("See you.", speaker="Ana", role="user", at=datetime(2024, 5, 1), turn_id="D1:3")
        assert_type(receipt.turn_id, str)
        chat.flush()
        return same_type[0].value


def look_inside(url: str) -> None:
    """A memory: search, read, explain, change, move."""
    with Doxa.open(url) as doxa:
        memory = doxa.memory(user="ana")
        for evidence in memory.search("moving", k=10):
            text: str = evidence.text
            turns: Sequence[str] = evidence.turn_ids
            score: float = evidence.score
            scores: Mapping[str, float] = evidence.scores
            print(text, turns, score, scores, evidence.kind, evidence.path)
        facts = memory.facts(current=True, subject="Ana", relation="lives in", as_of=None, known_at=None)
        for fact in facts:
            polarity: bool = fact.polarity
            start: date | None = fact.valid.start
            end: date | None = fact.valid.end
            print(str(fact.subject), str(fact.relation), str(fact.object), polarity, fact.modality, start, end)
            print(fact.status, fact.turn_ids, memory.history(fact), memory.why(fact.fact_id))
        print(memory.history(("Ana", "lives in")))
        for claim in memory.claims(turn_id="D1:3"):
            ended: bool = claim.ended
            print(str(claim.subject), str(claim.relation), str(claim.object), claim.valid, ended, claim.span)

        for promotion in memory.promotions(active=True):
            concept: str = promotion.concept
            cited_turns: Sequence[str] = promotion.turn_ids
            print(str(promotion), concept, promotion.relation, promotion.score, cited_turns, promotion.fact_ids)
            print(str(memory.why_promoted(promotion.promotion_id)))
            assert_type(memory.demote(promotion.promotion_id, reason="long ago").active, bool)
            memory.enable(promotion.promotion_id)

        teaching = memory.teaching()
        for asked in teaching.unsure(limit=10, latest=200):
            print(asked.subject, asked.words, asked.object, asked.relation, asked.p, asked.kept, asked.turn_id)
            teaching.mark(asked, keep=False, right=True, relation="works_at")
        teaching.mark_missed("D1:3", subject="I", relation="owns", object="a dog")
        taught = teaching.teach("marks.jsonl", dry_run=True)
        gained: float = taught.after["f1"] - taught.before["f1"]
        print(gained, taught.accepted, taught.in_use, taught.reason, taught.broken, teaching.head())

        forest = memory.tasks()
        print(forest.state().get("team meeting/time"), forest.history("team meeting/time"), forest.nodes)

        rows = memory.sparql("SELECT ?place { thing:ana doxa:livesIn ?place }", as_of="2024-05-01", known_at=None)
        places: list[str] = [row["place"].value for row in rows]
        variables: Sequence[str] = rows.variables
        truth: bool | None = rows.truth
        print(places, variables, truth, rows.to_json())

        for clash in memory.verify(dl=False, limit_s=60.0).inconsistencies:
            print(clash.text, [fact.fact_id for fact in clash.facts])
        memory.retract(facts[0].fact_id, reason="a joke")
        memory.accept(facts[0].fact_id, reason="it was none")
        memory.keep_both([fact.fact_id for fact in facts if fact.disputed])
        memory.what_if(keep_both=[fact.fact_id for fact in facts])
        memory.withdraw(turn_id="D1:3")
        certificates = [memory.forget(turn_id="D1:3"), memory.forget(everything=True)]
        print(certificates)
        memory.export("memory.jsonl", format="jsonl")
        memory.import_("memory.jsonl")


class Climber(BaseModel):
    """Somebody who climbs."""

    ropes: list[str] = Field(default=[], json_schema_extra={"phrases": ["climbing ropes"]})


def with_relations_of_ones_own(turtle: Path) -> None:
    """An ontology: a file, a class, or several."""
    Doxa.open(":memory:", ontology=str(turtle)).close()
    Doxa.open(":memory:", ontology=Climber).close()
    Doxa.open(":memory:", ontology=[turtle, Climber]).close()


async def the_same_without_blocking() -> str:
    """The asynchronous twin has the same names."""
    async with AsyncDoxa.open(":memory:") as doxa:
        chat = doxa.dialogue(user="ana", agent="helper", session="2024-05-01")
        reply = await chat.respond("I moved to Berlin in March.", at=datetime(2024, 5, 1, tzinfo=UTC))
        await chat.absorb("See you.", speaker="Ana", role="user", turn_id="D1:3")
        await chat.flush()
        answer = await chat.ask("Where do I live?")
        memory = doxa.memory(user="ana")
        found = await memory.search("moving", k=3)
        facts = await memory.facts(current=True)
        print(reply.citations, found[0].text, str(facts[0].object))
        return answer.text
