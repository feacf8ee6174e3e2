"""Turns by construction, and what is understood of them in short form."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from types import SimpleNamespace

import pytest

from doxa.backends import load
from doxa.backends.parser import Parser, cached
from doxa.core.values import Act, Change, ChangeKind, Claim, Fact, Turn
from doxa.memory import Beliefs, fact_id
from doxa.understand import Understanding, understand

AT = datetime(2024, 6, 12, 12, tzinfo=UTC)  # a Wednesday


def turn(text: str, *, speaker: str = "Nora", number: int = 1, at: datetime = AT) -> Turn:
    """Return a turn of a speaker; "Helper" is the assistant."""
    role = "assistant" if speaker == "Helper" else "user"
    return Turn(turn_id=f"t{number}", user="u", session="s", speaker=speaker, role=role, text=text, at=at)


def learn(beliefs: Beliefs, understanding: Understanding) -> None:
    """Believe every statement, without revising anything."""
    changes = []
    for claim in understanding.claims:
        if claim.act is Act.STATE:
            changes.append(Change(kind=ChangeKind.ASSERT, fact=fact_of(claim)))
    beliefs.learn(understanding.claims, changes, understanding.rules)


def fact_of(claim: Claim) -> Fact:
    """Return the fact that a claim states."""
    return Fact(
        fact_id=fact_id(claim, 0),
        subject=claim.subject,
        relation=claim.relation,
        object=claim.object,
        polarity=claim.polarity,
        modality=claim.modality,
        valid=claim.valid,
        functional=claim.functional,
        turn_ids=(claim.turn_id,),
    )


def after(
    *texts: str | tuple[str, str], at: datetime = AT, parser: Parser | None = None
) -> tuple[list[Turn], Beliefs, Understanding]:
    """Return the turns, what is believed, and what the last turn was understood as. A pair names the speaker."""
    turns: list[Turn] = []
    beliefs = Beliefs()
    understanding = Understanding()
    for number, text in enumerate(texts, start=1):
        speaker, said = text if isinstance(text, tuple) else ("Nora", text)
        now = turn(said, speaker=speaker, number=number, at=at)
        understanding = understand(now, turns, beliefs, parser)
        learn(beliefs, understanding)
        turns.append(now)
    return turns, beliefs, understanding


def short(claims: Sequence[Claim]) -> list[str]:
    """Return claims as "subject relation object", with "not", the modality, and the act where they matter."""
    return [_short(claim) for claim in claims]


def _short(claim: Claim) -> str:
    marks = [str(claim.act)] if claim.act is not Act.STATE else []
    marks += ["not"] if not claim.polarity else []
    marks += [str(claim.modality)] if claim.modality != "asserted" else []
    marks += ["ended"] if claim.ended else []
    time = f" [{claim.valid}]" if str(claim.valid) else ""
    return " ".join([*marks, claim.subject.label, claim.relation.name, claim.object.label]) + time


def claims_of(*texts: str | tuple[str, str], parser: Parser | None = None) -> list[str]:
    """Return the claims of the last of some turns, in short form."""
    return short(after(*texts, parser=parser)[2].claims)


@pytest.fixture(scope="session")
def parser() -> Iterator[Parser]:
    """The parser in the package; it keeps its latest parses."""
    parser = cached(load("parser", "builtin"))
    yield parser
    parser.close()


@pytest.fixture(scope="session")
def said(parser: Parser) -> SimpleNamespace:
    """The helpers of this folder; turns are parsed unless another parser is given."""
    return SimpleNamespace(
        AT=AT, turn=turn, short=short, after=partial(after, parser=parser), claims_of=partial(claims_of, parser=parser)
    )
