"""statements -> promotions: what somebody says again and again, lifted to what they are like.

Every turn of a person gives assertions ("Ana prefers film/romance, by turn 12"). Those about one concept are a
candidate; a small learned scorer tells from its features how likely it is to be something lasting, and a gate with
guardrails decides. Nothing here writes: the engine makes events of what is proposed.

Source: the paper on ontology-guided long-term memory, section 3.2 (step II) and appendix A.4, equations 12 and 13, with
tau and the least support of B.1. The paper lists four features and leaves the rest open; we add recency, opposition,
distinct objects, and grounding in the ontology or its words.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from doxa.backends.lexicon import Lexicon
from doxa.core.promotions import Promotion, Support, Tie
from doxa.core.values import Claim, Term, Turn
from doxa.language import opening, stems
from doxa.memory import (
    LEAST_SUPPORT,
    Form,
    Pack,
    PackWriter,
    Table,
    UserState,
    joined,
    live_support,
    promotion_id,
    relation_type,
)
from doxa.recall.concepts.concepts import BUILTIN, concepts_of, inventory, named_in
from doxa.recall.concepts.stances import clauses_of, relations, stance_of

__all__ = ["Assertion", "Candidates", "Gate", "Proposal", "assertions_of", "candidates_of", "features_of"]

FEATURES = (
    *("bias", "instances", "confidence", "concentration", "span", "sessions"),
    *("coherence", "recency", "opposed", "objects", "grounded"),
)
KEPT = 48
"""Assertions about one concept that are kept, the latest: what is older no longer decides."""
CITED = 24
"""Turns that a promotion cites at most, the latest."""
LEAST_CONFIDENCE = 0.25
"""An assertion less sure than this (concept times stance) is left out."""
MOST_OPPOSED = 0.34
"""Share of the assertions that speak against a candidate from which on it is declined as contradictory."""
BURST = 20
"""Turns within which all support would be one burst."""
HALF_LIFE_DAYS = 60.0
USUAL_COHERENCE = 0.4
"""Mean of the candidates of generated worlds and of chats; stands for it where it cannot be told."""
GROWTH = 1.5
"""How much more support there has to be before a promotion is written again."""
MOST_A_TIME = 4
"""Promotions that one batch may make: no burst of talk decides alone what somebody is like."""
NAME = "candidates"
FORMAT = 1
POSITIVE: tuple[Tie, ...] = ("prefers", "does")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One turn's word for how its speaker relates to a concept."""

    turn_id: str
    ordinal: int
    session: str
    day: float
    """Days since 1970, as a number."""
    tie: Tie
    concept: str
    confidence: float
    """How sure it is that the turn is about the concept and says so of its speaker, 0 to 1."""
    object: str
    """The stems of what it names, so that the same thing said twice is told from two things."""
    grounded: bool
    """Words, the lexicon or the ontology say that it is about the concept, not the encoder alone."""
    fact_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What it takes to be promoted."""

    tau: float = 0.7
    """The least probability (paper, B.1)."""
    support: int = LEAST_SUPPORT
    quota: int = 64
    """Promotions that one user may have."""
    private: bool = False
    """Whether concepts of private categories may be promoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What should become of a candidate: a promotion, or the end of one, or neither with the reason."""

    promotion: Promotion | None = None
    demote: str = ""
    """The id of a promotion that is contradicted by now."""
    reason: str = ""
    probability: float = 0.0


def assertions_of(
    turn: Turn, vector: NDArray[np.float32] | None, state: UserState, *, lexicon: Lexicon | None = None
) -> list[Assertion]:
    """Return how the speaker of a turn relates to concepts, by its claims first and by its words and vector second.

    Args:
        turn: a processed turn of a person.
        vector: its encoding `(dims,)`, or None.
        state: the memory, which has processed the turn.
        lexicon: where hypernyms are looked up, if at all.

    Cost O(words + concepts dims), below 1 ms; no call to a model.
    """
    parts = clauses_of(turn.text)
    if not parts:
        return []
    claims = [claim for claim in state.beliefs.said_in(turn.turn_id) if claim.turn_id == turn.turn_id]
    classes = _classes(claims)
    tied = any(claim.relation.name in relations() for claim in claims)  # only then it pays to look words up
    known = lexicon if tied else None
    weights = dict(concepts_of(turn.text, vector, encoder=state.encoder, lexicon=known, classes=classes))
    if not weights:
        return []
    alone = vector if len(parts) == 1 else None
    told = [(named_in(part, classes), *_stance(part, alone, turn, claims, state)) for part in parts]
    if all(tie is None for _, tie, _ in told):
        return []
    whole = stance_of(turn.text, vector, encoder=state.encoder).confidence if len(parts) > 1 else 1.0
    found = []
    for concept, weight in weights.items():
        own = [(tie, sure) for named, tie, sure in told if concept in named]
        tie, sure = _joined(own or [(tie, sure) for _, tie, sure in told])
        sure *= 1.0 if own else whole
        if tie is None or weight * sure < LEAST_CONFIDENCE or _of_a_kind(concept, tie, weights):
            continue
        found.append(
            Assertion(
                turn_id=turn.turn_id,
                ordinal=turn.ordinal,
                session=turn.session,
                day=turn.at.timestamp() / 86_400,
                tie=tie,
                concept=concept,
                confidence=weight * sure,
                object=_object(turn, claims),
                grounded=bool(own),
                fact_ids=_facts(turn, state),
            )
        )
    return found


def _stance(
    part: str, vector: NDArray[np.float32] | None, turn: Turn, claims: Sequence[Claim], state: UserState
) -> tuple[Tie | None, float]:
    """Return how the speaker relates to what a part of a turn is about, and how sure that is."""
    speaker = state.beliefs.key(turn.speaker.casefold())
    for claim in claims:
        tie = relations().get(claim.relation.name) or ("prefers" if claim.relation.name.startswith("favour") else None)
        if tie is None or not claim.object.key or not set(stems(claim.object.label)) <= set(stems(part)):
            continue
        if state.beliefs.key(claim.subject.key) != speaker:
            return None, 0.0  # it is about what somebody else likes
        if claim.ended:
            return None, 0.0
        return (tie if claim.polarity else _opposite(tie)), max(claim.confidence, 0.5)
    stance = stance_of(part, vector, encoder=state.encoder)
    return stance.tie, stance.confidence


def _joined(told: Sequence[tuple[Tie | None, float]]) -> tuple[Tie | None, float]:
    """Return the surest of several stances; None when they disagree."""
    said = [(tie, sure) for tie, sure in told if tie is not None]
    if len({tie in POSITIVE for tie, _ in said}) != 1:
        return None, 0.0
    return max(said, key=lambda one: one[1])


def _of_a_kind(concept: str, tie: Tie, weights: Collection[str]) -> bool:
    """Tell whether a dislike of one kind would be taken for one of its whole domain."""
    return tie not in POSITIVE and any(name.startswith(f"{concept}/") for name in weights)


def _opposite(tie: Tie) -> Tie:
    return {"prefers": "dislikes", "dislikes": "prefers", "avoids": "does", "does": "avoids"}[tie]  # type: ignore[return-value]


@cache
def _private() -> tuple[str, ...]:
    table = tomllib.loads(files(__package__).joinpath("private.toml").read_text(encoding="utf-8"))
    return tuple(table["concepts"])


def is_private(concept: str) -> bool:
    """Tell whether a concept belongs to a private category (`private.toml`)."""
    return any(concept == name or concept.startswith(f"{name}/") for name in _private())


def _classes(claims: Iterable[Claim]) -> list[str]:
    """Return the classes of the ontology that the objects of claims belong to."""
    found = (relation_type(claim.relation.name, claim.relation.label).range for claim in claims)
    return [name for name in dict.fromkeys(found) if name]


def _object(turn: Turn, claims: Sequence[Claim]) -> str:
    """Return what a turn names: the objects of its claims, else its content words."""
    named = [claim.object.label for claim in claims if claim.relation.name in relations()]
    return " ".join(sorted(set(stems(" ".join(named) or turn.text))))


def _facts(turn: Turn, state: UserState) -> tuple[str, ...]:
    """Return the ids of the facts by which a turn tells a stance, those that are no longer believed included."""
    facts = (change.fact for change in state.beliefs.changes_by(turn.turn_id) if turn.turn_id in change.fact.turn_ids)
    return tuple(dict.fromkeys(fact.fact_id for fact in facts if fact.relation.name in relations()))


Key = tuple[str, str, bool]
"""The subject's key, the concept, and whether it is well-disposed."""


def _assertions_of(data: Any) -> tuple[Assertion, ...]:
    rows = (dict(zip(FIELDS, row, strict=True)) for row in data)
    return tuple(Assertion(**row | {"fact_ids": tuple(row["fact_ids"])}) for row in rows)


FIELDS = tuple(one.name for one in fields(Assertion))
TOLD: Form[tuple[Assertion, ...]] = Form(
    lambda told: [[getattr(one, f) for f in FIELDS] for one in told], _assertions_of
)


class Candidates:
    """What was asserted of every subject and concept so far, read turn by turn; nothing is read twice.

    It can be made anew from the state at any time. Memory: `KEPT` assertions a candidate at most.
    """

    def __init__(self) -> None:
        self._told: Table[tuple[Assertion, ...]] = Table(TOLD)
        self._subjects: dict[str, Term] = {}
        self._touched: dict[Key, None] = {}
        self._next = 0
        """The place up to which turns were read."""

    @classmethod
    def of(cls, pack: Pack | None) -> Candidates:
        """Return the candidates that a pack has; none where it has none of this form."""
        found, about = cls(), f"{NAME}.about"
        if pack is not None and about in pack and (told := pack.value(about))[0] == FORMAT:
            _, found._next, subjects, touched = told
            found._subjects = {key: Term(key, label) for key, label in subjects}
            found._touched = dict.fromkeys((key, concept, positive) for key, concept, positive in touched)
            found._told.load(pack, f"{NAME}.told")
        return found

    def save(self, writer: PackWriter, /) -> None:
        """Write them. Cost O(what was asserted)."""
        subjects = [(key, term.label) for key, term in self._subjects.items()]
        writer.value(f"{NAME}.about", (FORMAT, self._next, subjects, list(self._touched)))
        self._told.save(writer, f"{NAME}.told")

    def waiting(self, state: UserState) -> int:
        """Return how many turns there are to read."""
        return len(state.places) - self._next

    @property
    def postponed(self) -> bool:
        """Whether there is something to weigh that the last batch had no room for."""
        return bool(self._touched)

    def again(self, proposals: Iterable[Proposal], state: UserState) -> None:
        """Have what was proposed weighed once more: it could not be stored."""
        for one in proposals:
            promotion = one.promotion or state.promotions.get(one.demote)
            if promotion is not None:
                self._touched[_key_of(promotion)] = None

    def read(self, state: UserState, *, most: int, lexicon: Lexicon | None = None) -> None:
        """Read turns that came since, `most` at a time. Cost O(their words and concepts)."""
        stop = min(len(state.places), self._next + most)
        for place in range(self._next, stop):
            turn = state.turns[state.places[place]]
            if turn.role == "user" and state.trusts(turn.turn_id):
                vector = state.vectors.row(place)
                read = replace(turn, text=opening(turn.text))
                self.add(turn, assertions_of(read, vector, state, lexicon=lexicon), state)
        self._next = stop

    def add(self, turn: Turn, told: Sequence[Assertion], state: UserState) -> None:
        """Take note of what one turn asserts."""
        key = state.beliefs.key(turn.speaker.casefold())
        self._subjects.setdefault(key, Term(key, turn.speaker))
        for one in told:
            candidate = (key, one.concept, one.tie in POSITIVE)
            self._told[_joined_key(candidate)] = (*self._of(candidate), one)[-KEPT:]
            self._touched[candidate] = None
            self._touched[(key, one.concept, one.tie not in POSITIVE)] = None  # it may speak against the other one

    def proposals(self, state: UserState, gate: Gate) -> list[Proposal]:
        """Return what should become of the candidates that were touched since the last call.

        Cost O(touched candidates and what was asserted of them).
        """
        touched, self._touched = list(self._touched), {}
        waiting = [self._weigh(key, state, gate) for key in touched if self._of(key)]
        made = sorted((one for one in waiting if one.promotion), key=lambda one: -one.probability)
        room = gate.quota - sum(one.active for one in state.promotions)
        new = [one for one in made if one.promotion and state.promotions.get(one.promotion.promotion_id) is None]
        taken = {id(one) for one in new[: max(0, min(room, MOST_A_TIME))]}
        for one in new[MOST_A_TIME:]:  # their turn comes in the next batch
            assert one.promotion is not None
            self._touched[_key_of(one.promotion)] = None
        old = [one for one in made if id(one) not in {id(each) for each in new}]
        return [
            *(one for one in waiting if one.demote),
            *old,
            *(one for one in new if id(one) in taken),
            *(replace(one, promotion=None, reason="quota") for one in new if id(one) not in taken),
            *(one for one in waiting if not one.promotion and not one.demote),
        ]

    def _of(self, key: Key) -> tuple[Assertion, ...]:
        return self._told.get(_joined_key(key), ())

    def _weigh(self, key: Key, state: UserState, gate: Gate) -> Proposal:
        """Return what should become of one candidate; guardrails first, then the gate."""
        subject, concept, positive = key
        name = promotion_id(subject, "+" if positive else "-", concept)
        known = state.promotions.get(name)
        mine = _live(self._of(key), state)
        against = _live(self._of((subject, concept, not positive)), state)
        opposed = _opposed(mine, against)
        if known is not None and known.active and opposed > MOST_OPPOSED:
            return Proposal(demote=name, reason="what was said since contradicts it")
        gone = state.promotions.demotion(name)
        if gone is not None and not gone.automatic:
            return Proposal(reason="demoted by hand")
        if reason := _declined(concept, mine, opposed, gate):
            return Proposal(reason=reason)
        probability = probability_of(features_of(mine, against, state))
        if probability <= gate.tau:
            return Proposal(reason="not likely enough", probability=probability)
        support = _support(mine)
        if known is not None and known.active and len(support) < min(CITED, GROWTH * len(known.support)):
            return Proposal(reason="known", probability=probability)
        promotion = Promotion(
            promotion_id=name,
            subject=self._subjects[subject],
            relation=_tie(mine),
            concept=concept,
            label=inventory()[concept].label,
            score=round(probability, 4),
            support=support,
            known_at=state.turns[mine[-1].ordinal].at,
        )
        return Proposal(promotion=promotion, probability=probability)


def _joined_key(key: Key) -> str:
    subject, concept, positive = key
    return joined(concept, "+" if positive else "-", subject)


def candidates_of(state: UserState) -> Candidates:
    """Return what was asserted in a memory, as far as it was read."""
    found = state.kept.get(NAME)
    if found is None:
        found = state.kept[NAME] = Candidates.of(state.packed)
    return cast("Candidates", found)


def features_of(mine: Sequence[Assertion], against: Sequence[Assertion], state: UserState) -> NDArray[np.float32]:
    """Return the features of a candidate, `(features,) float32` in the order of `FEATURES`."""
    turns = {one.turn_id for one in mine}
    days = np.array([one.day for one in mine])
    now = state.now()
    today = now.timestamp() / 86_400 if now else days.max()
    sessions = Counter(one.session for one in mine)
    return np.array(
        [
            1.0,
            math.log1p(len(turns)),
            float(np.mean([one.confidence for one in mine])),
            max(sessions.values()) / len(mine),
            math.log1p(float(days.max() - days.min())),
            math.log1p(len(sessions)),
            _coherence(mine, state),
            float(np.mean(0.5 ** (np.maximum(0, today - days) / HALF_LIFE_DAYS))),
            _opposed(mine, against),
            len({one.object for one in mine}) / len(mine),
            float(np.mean([one.grounded for one in mine])),
        ],
        dtype=np.float32,
    )


def probability_of(features: NDArray[np.float32]) -> float:
    """Return p_lift, equation 12: how likely a candidate is to be something lasting."""
    return 1 / (1 + math.exp(-float(_weights() @ features)))


@cache
def _weights() -> NDArray[np.float32]:
    table = tomllib.loads(files(__package__).joinpath("promote.toml").read_text(encoding="utf-8"))["weights"]
    return np.array([table[name] for name in FEATURES], dtype=np.float32)


def _declined(concept: str, mine: Sequence[Assertion], opposed: float, gate: Gate) -> str:
    """Return why a candidate is not even scored; empty when it is."""
    if is_private(concept) and not gate.private:
        return "private"
    if len({one.turn_id for one in mine}) < gate.support:
        return "too little support"
    if opposed > MOST_OPPOSED:
        return "contradictory"
    if len({one.object for one in mine}) < 2:
        return "one and the same thing"
    ordinals = [one.ordinal for one in mine]
    if len({one.session for one in mine}) < 2 and max(ordinals) - min(ordinals) < BURST:
        return "one burst"
    return ""


def _live(told: Sequence[Assertion], state: UserState) -> list[Assertion]:
    """Return what still counts: from turns that are trusted, in what is believed."""
    whole = Promotion(
        promotion_id="", subject=Term("", ""), relation="prefers", concept="", label="", score=0, support=_cited(told)
    )
    left = {one.turn_id for one in live_support(whole, state)}
    return [one for one in told if one.turn_id in left]


def _cited(told: Iterable[Assertion]) -> tuple[Support, ...]:
    by_turn = {one.turn_id: Support(turn_id=one.turn_id, fact_ids=one.fact_ids) for one in told}
    return tuple(by_turn.values())


def _support(mine: Sequence[Assertion]) -> tuple[Support, ...]:
    return _cited(mine)[-CITED:]


def _opposed(mine: Sequence[Assertion], against: Sequence[Assertion]) -> float:
    """Return the share of what speaks against a candidate, by confidence."""
    pro, contra = sum(one.confidence for one in mine), sum(one.confidence for one in against)
    return contra / max(1e-9, pro + contra)


def _coherence(mine: Sequence[Assertion], state: UserState) -> float:
    """Return how alike the turns are: their mean cosine with one another, by vectors that the gate was fitted on."""
    places = dict.fromkeys(place for one in mine if (place := state.place(one.ordinal)) is not None)
    count = len(places)
    if count < 2 or state.encoder != BUILTIN:
        return USUAL_COHERENCE
    whole = np.sum([state.vectors.row(place) for place in places], axis=0)
    return (float(whole @ whole) - count) / (count * (count - 1))  # unit rows, or all zeros


def _tie(mine: Sequence[Assertion]) -> Tie:
    """Return the relation that most of the assertions have."""
    weights: Counter[Tie] = Counter()
    for one in mine:
        weights[one.tie] += one.confidence  # type: ignore[assignment]
    return max(sorted(weights), key=lambda tie: weights[tie])


def _key_of(promotion: Promotion) -> Key:
    return promotion.subject.key, promotion.concept, promotion.polarity
