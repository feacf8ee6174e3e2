"""A memory that is told claims without anybody reading them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from doxa.core.config import Config, EncoderConfig, GraderConfig, ReaderConfig
from doxa.core.values import Claim, Relation, Term, Turn
from doxa.engine import Doxa, View
from doxa.engine.viewing.index import index_of
from doxa.memory import SAME_AS, Maintained, pair_of
from doxa.revise import revise

START = datetime(2024, 1, 1, 9, tzinfo=UTC)


def claim(subject, relation, thing, **more):
    """A claim about labels."""
    of = Relation(relation, relation.replace("_", " "))
    span = more.pop("span", f"{subject} {of.label} {thing}")
    return Claim(subject=term(subject), relation=of, object=term(thing), span=span, **more)


def same(one, other, **more):
    """The claim that two names are one's."""
    first, second = pair_of(term(one), term(other))
    return Claim(subject=first, relation=SAME_AS, object=second, span=f"{one} is {other}", **more)


def term(label):
    return Term(label.casefold(), label)


class Told:
    """The memory of Ana, by what is said; a day passes with every turn."""

    claim, same = staticmethod(claim), staticmethod(same)

    def __init__(self, doxa):
        self.doxa, self.log, self.user, self.days = doxa, doxa.parts.log, "ana", 0
        self.view, self.memory = View(doxa.parts, self.user), doxa.memory(user=self.user)

    def say(self, *claims, speaker="Ana", role="user", text="", days=1):
        """Say some claims in one turn, and return its id."""
        self.days += days
        at = self.now()
        text = text or ". ".join(claim.span for claim in claims) or "Hm."
        turn = Turn(turn_id="", user=self.user, session="s", speaker=speaker, role=role, text=text, at=at)
        stored, _ = self.log.receive(turn)
        source = {"turn_id": stored.turn_id, "speaker": speaker, "role": role, "known_at": at}
        said = [replace(claim, **source) for claim in claims]
        with self.log.user(self.user) as state:
            changes = revise(said, state.beliefs, turn_id=stored.turn_id, known_at=at)
            self.log.append(self.user, state, Maintained(known_at=at, about=stored, claims=said, changes=changes))
        return stored.turn_id

    def now(self):
        """Return when what is said next is said."""
        return START + timedelta(days=self.days)

    def index(self):
        """Return the index of the memory, brought up to date."""
        with self.log.user(self.user) as state:
            return index_of(state)


@pytest.fixture
def told():
    config = Config(
        encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"), reader=ReaderConfig(name="none")
    )
    with Doxa.open(":memory:", config=config) as opened:
        yield Told(opened)
