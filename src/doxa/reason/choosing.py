"""A draft + turns read for how likely they answer -> the answer that is given, with what its confidence means.

Facts answer where they are firm and no newer turn that bears on the question says otherwise; else the turn that most
likely answers is quoted, with its date, word for word; else it is not known, and the nearest thing that was said is
told. Which of the three is decided by two probabilities that were fitted on everyday chats: that the draft is right,
and that the quote holds the answer. The larger one is the confidence of the reply.

Source: ours; D-SMART and Tag2Graph always answer. How the weights were fitted, and how well they are calibrated:
`training/trust`, `benchmarks/README.md`.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Draft, Question, Turn
from doxa.language import stems
from doxa.reason.drafts import citation_of, wrote
from doxa.reason.spans import wants_list
from doxa.reason.telling import content_of, excerpt

__all__ = [
    "Candidate",
    "Doubt",
    "Graded",
    "candidate_of",
    "choose",
    "draft_features",
    "quote_features",
    "quoted",
    "rank_features",
    "ranked",
]

LONGEST = 320
"""Characters of a quote."""
MOST_QUOTED = 2
FAR = 4.0
"""Most that log odds count."""
KINDS = ("yesno", "when", "count", "list", "who", "where")


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A turn that a search found, with how likely it answers."""

    turn: Turn
    p: float
    """As the reader of answer spans sees it."""
    score: float
    """Score of the search relative to its best."""
    value: str | None = None
    """What it says in a few words, if it answers."""

    @property
    def odds(self) -> float:
        """Log odds that it answers, bounded."""
        p = min(max(self.p, 1e-4), 1 - 1e-4)
        return min(max(math.log(p / (1 - p)), -2 * FAR), FAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A value that is believed and a later one that is too unsure to be; or what was said and later denied."""

    turns: tuple[Turn, ...]
    """Those that say them, oldest first."""
    disputed: bool
    """Nothing decides between them: neither is the later word of one source on what may change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Turns to quote, oldest first, the one that answers among them, and what speaks for it."""

    best: Graded
    quoted: tuple[Graded, ...]
    features: Mapping[str, float]


def choose(
    draft: Draft,
    question: Question,
    graded: Sequence[Graded],
    *,
    asker: str,
    past: bool,
    believed: float = 1.0,
    pointed: bool = False,
    doubt: Doubt | None = None,
) -> Draft:
    """Return the draft, a quote, or that it is not known, whichever is likeliest right; with that as its confidence.

    Args:
        draft: what facts, arithmetic and the reader give.
        question: what is asked.
        graded: turns that bear on it, in any order.
        asker: who asks; it is "you" in quotes.
        past: whether history is asked for, so that a newer turn is no better than an older one.
        believed: confidence of the least sure fact that the draft cites; where it cites none, how surely the turns that
            it cites were read.
        pointed: whether it cites a fact of a relation that the question may be read as.
        doubt: what speaks against what the draft tells, if anything.

    Deterministic. O(turns).
    """
    if draft.disputed or draft.settled:
        return draft
    if doubt is not None:
        return _doubtful(doubt, draft, asker, content_of(question))
    candidate = candidate_of(question, graded, past=past)
    stands = (
        0.0
        if draft.abstained
        else _probability(_kind(draft), draft_features(draft, question, candidate, believed=believed, pointed=pointed))
    )
    quoting = 0.0 if candidate is None else _probability("quote", candidate.features)
    least = _model()["least"]
    enough = max(least["draft"], quoting - least["lead"])
    if _kind(draft) == "fact":
        enough = min(enough, least["pointed" if pointed else "sure"])
    if stands >= enough:
        return replace(draft, confidence=stands)
    if candidate is not None and quoting >= least["quote"]:
        return _quoting(candidate, draft, asker, quoting, question)
    return _unknown(candidate, question, asker, max(stands, quoting), nearest=least["nearest"] <= quoting)


def candidate_of(question: Question, graded: Sequence[Graded], *, past: bool) -> Candidate | None:
    """Return what would be quoted; None where nothing was found."""
    order = ranked(graded, past=past)
    if not order:
        return None
    best, shares = order[0], _shares(order, past=past)
    also = [
        one for one, share in zip(order[1:MOST_QUOTED], shares[1:], strict=False) if share >= _model()["least"]["also"]
    ]
    shown = tuple(sorted((best, *also), key=lambda one: one.turn.ordinal))
    features = quote_features(question, order, shares[: 1 + len(also)], past=past)
    return Candidate(best=best, quoted=shown, features=features)


def ranked(graded: Sequence[Graded], *, past: bool) -> list[Graded]:
    """Return graded turns, the one to quote first: what answers, and of that the newer unless history is asked for."""
    value = _values(graded, past=past)
    return sorted(graded, key=lambda one: (-value[one.turn.turn_id], -one.turn.ordinal))


def rank_features(graded: Sequence[Graded], *, past: bool) -> list[dict[str, float]]:
    """Return what speaks for each of some graded turns as the one that answers, by name."""
    ordinals = [one.turn.ordinal for one in graded]
    first, span = min(ordinals, default=0), max(max(ordinals, default=0) - min(ordinals, default=0), 1)
    return [
        {
            "odds": one.odds,
            "score": one.score,
            "recency": 0.0 if past else (one.turn.ordinal - first) / span,
            "own": float(one.turn.role != "assistant"),
            "asks": float(one.turn.text.rstrip().endswith("?")),
            "words": min(len(one.turn.text.split()), 60) / 60,
        }
        for one in graded
    ]


def _values(graded: Sequence[Graded], *, past: bool) -> dict[str, float]:
    weights = _model()["rank"]
    rows = rank_features(graded, past=past)
    return {
        one.turn.turn_id: sum(weights.get(name, 0.0) * value for name, value in row.items())
        for one, row in zip(graded, rows, strict=True)
    }


def _shares(order: Sequence[Graded], *, past: bool) -> list[float]:
    """Return for each of some ranked turns how likely it is the one that answers, if one of them does."""
    values = list(_values(order, past=past).values())
    powers = [math.exp(value - values[0]) for value in values]
    return [power / sum(powers) for power in powers]


def quote_features(
    question: Question, order: Sequence[Graded], shares: Sequence[float], *, past: bool
) -> dict[str, float]:
    """Return what speaks for a quote of the first of some ranked turns as the answer, by name.

    Args:
        question: what is asked.
        order: the turns.
        shares: how likely those that are quoted are the ones that answer, if one does.
        past: whether history is asked for.
    """
    best, asked = order[0], content_of(question)
    told = set(stems(f"{best.turn.speaker} {best.turn.text}"))
    second = max((one.odds for one in order[1:]), default=-2 * FAR)
    return {
        "bias": 1.0,
        "odds": best.odds,
        "highest": max(one.odds for one in order),
        "lead": min(max(best.odds - second, -FAR), FAR),
        "share": sum(shares),
        "first": shares[0],
        "quoted": float(len(shares) > 1),
        "score": best.score,
        "covered": len(asked & told) / len(asked) if asked else 0.0,
        "own": float(best.turn.role != "assistant"),
        "asks": float(best.turn.text.rstrip().endswith("?")),
        "words": min(len(best.turn.text.split()), 60) / 60,
        "told": float(best.value is not None),
        "written": written_out(best.turn.text),
        "past": float(past),
        **{kind: float(question.kind == kind or question.asks == kind) for kind in KINDS},
    }


def written_out(text: str) -> float:
    """Return how much a text looks like written sentences: a capital where it begins, a full stop where it ends."""
    plain = text.strip()
    return (float(plain[:1].isupper()) + float(plain[-1:] in (".", "!", "?"))) / 2


def draft_features(
    draft: Draft, question: Question, candidate: Candidate | None, *, believed: float, pointed: bool
) -> dict[str, float]:
    """Return what speaks for a draft as the answer, by name."""
    cited = {one.turn_id for one in draft.citations}
    facts = any(one.fact_id for one in draft.citations)
    value = set(stems(draft.value or ""))
    found = {} if candidate is None else {one.turn.turn_id: one for one in candidate.quoted}
    best = candidate.best if candidate is not None else None
    shown = set(stems(best.turn.text)) if best else set()
    asked = content_of(question)
    said = set(stems(" ".join(f"{one.speaker} {one.text}" for one in draft.citations)))
    return {
        "bias": 1.0,
        "confidence": draft.confidence,
        "believed": believed,
        "pointed": float(pointed),
        "quotes": float(not facts and "“" in draft.text),
        "cites": float(best is not None and best.turn.turn_id in cited),
        "cites_rival": float(bool(cited & set(found))),
        "shown": len(value & shown) / len(value) if value else 0.0,
        "odds": best.odds if best is not None and best.turn.turn_id in cited else 0.0,
        "against": best.odds if best is not None and best.turn.turn_id not in cited else 0.0,
        "covered": len(asked & said) / len(asked) if asked else 0.0,
        "words": min(len(value), 8) / 8,
        "settled": float(draft.value in ("yes", "no")),
        "same": float(_alike(draft.value, best.value) if best is not None else False),
        "written": min((written_out(one.text) for one in draft.citations), default=0.0),
        **{kind: float(question.kind == kind or question.asks == kind) for kind in KINDS},
    }


def _alike(one: str | None, other: str | None) -> bool:
    """Tell whether two values have most of their words in common."""
    first, second = set(stems(one or "")), set(stems(other or ""))
    return bool(first) and 2 * len(first & second) >= len(first | second)


def _kind(draft: Draft) -> str:
    """Return which weights a draft is weighed by: those of facts, or of what was read."""
    return "fact" if any(one.fact_id for one in draft.citations) else "draft"


def _quoting(candidate: Candidate, draft: Draft, asker: str, sure: float, question: Question) -> Draft:
    """Return quotes as the answer, with what was read in them as the value, else that of a draft that rests on them."""
    told = " ".join(one.turn.text for one in candidate.quoted).casefold()
    cited = {one.turn_id for one in draft.citations} & {one.turn.turn_id for one in candidate.quoted}
    read = candidate.quoted if wants_list(question) else (candidate.best,)
    value = ", ".join(dict.fromkeys(one.value for one in read if one.value)) or None
    if value is None or (_kind(draft) == "fact" and cited):
        value = draft.value if draft.value and (cited or draft.value.casefold() in told) else value
    return Draft(
        text=" ".join(quoted(one.turn, asker, content_of(question)) for one in candidate.quoted),
        value=value,
        citations=tuple(citation_of(one.turn) for one in candidate.quoted),
        confidence=sure,
    )


def _doubtful(doubt: Doubt, draft: Draft, asker: str, about: frozenset[str]) -> Draft:
    """Return the two turns as the answer, neither of them told as a fact; which is right is asked where both may be."""
    asks = ["Which of the two is right?"] if doubt.disputed else []
    return Draft(
        text=" ".join([*(quoted(turn, asker, about) for turn in doubt.turns), *asks]),
        citations=tuple(citation_of(turn) for turn in doubt.turns),
        confidence=min(draft.confidence, 0.5),
        disputed=doubt.disputed,
    )


def _unknown(candidate: Candidate | None, question: Question, asker: str, sure: float, *, nearest: bool) -> Draft:
    if candidate is None or not nearest:
        return Draft(text="I don't know: nothing that I remember answers this.", abstained=True, confidence=sure)
    nearest_thing = quoted(candidate.best.turn, asker, content_of(question))
    return Draft(
        text=f"I don't know. The nearest thing that I remember: {nearest_thing}",
        citations=(citation_of(candidate.best.turn),),
        confidence=sure,
        abstained=True,
    )


def quoted(turn: Turn, asker: str, about: frozenset[str] = frozenset()) -> str:
    """Return a turn word for word, with who wrote it and when; of a long one the sentences with most of some stems."""
    text = " ".join(turn.text.split())
    if len(text) > LONGEST:
        text = excerpt(text, about, LONGEST)
    return wrote(turn, text, asker)


def _probability(of: str, features: Mapping[str, float]) -> float:
    weights = _model()[of]
    return 1 / (1 + math.exp(-sum(weights.get(name, 0.0) * value for name, value in features.items())))


@cache
def _model() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.reason").joinpath("choosing.toml").read_text(encoding="utf-8"))
