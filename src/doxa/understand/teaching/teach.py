"""Marked turns, heard again -> a head, where it is no worse than the reader alone."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.parser import Heard, Line, Told, TurnReader
from doxa.core.marks import Mark, MarkedTurn, Taught
from doxa.understand.hearing import SURE
from doxa.understand.teaching.fitting import NOT_CHOSEN, Choices, fitted
from doxa.understand.teaching.head import STAYS, Head
from doxa.understand.teaching.heard import claim_words, features, log_odds

__all__ = ["LEAST", "figures", "lines_of", "teach"]

LEAST: Final = 20
"""Marks from which on a head is fitted."""
LEAST_DEV: Final = 3
"""Marks that it has to be compared on."""
LATEST: Final = 1_500
"""Claims that are learned from, the latest ones: the cost grows with their square."""
EVERY: Final = 5
"""Of so many turns one is left out of what is learned from, to compare on."""
SLACK: Final = 1e-9


@dataclass(frozen=True, slots=True)
class _Case:
    """A claim that was heard, with its mark."""

    told: Told
    lines: Sequence[Line]
    mark: Mark
    turn: int
    """A number made of the words of the turn, the same on every machine."""

    @property
    def held_out(self) -> bool:
        return self.turn % EVERY == 0


def teach(turns: Sequence[MarkedTurn], reader: TurnReader, *, name: str = "") -> tuple[Head, Taught]:
    """Return a head fitted to marks, and what it is worth; nobody's head is changed.

    Every fifth turn, by its words, is left out: the head is compared with the reader alone on these, and is not
    accepted where what it keeps is worse (F1) or its probabilities are (log loss).

    Args:
        turns: with their marks, oldest first; of a claim that was marked twice the last mark counts.
        reader: what heard the claims, untaught.
        name: its name, for the record.

    Deterministic. Cost: one reading a turn, then a second or two for some hundred marks.

    Raises:
        BackendError: the reader failed.
    """
    turns = _together(turns)
    cases, unheard = _cases(turns, reader)
    missed = [(_number(lines_of(one)), len(one.missed)) for one in turns]
    told = Taught(accepted=False, reason="", marks=len(cases), unheard=unheard, missed=sum(n for _, n in missed))
    dev = [one for one in cases if one.held_out]
    rest = [one for one in cases if not one.held_out][-LATEST:]
    told = replace(told, trained=len(rest), dev=len(dev))
    if lacking := _lacking(len(cases), len(dev)):
        return Head.untaught(), replace(told, trained=0, reason=lacking)
    unfound = sum(count for turn, count in missed if turn % EVERY == 0)
    head = _fitted(rest, told.missed - unfound, name)
    before, after = (_figures(dev, one, unfound) for one in (Head.untaught(), head))
    accepted, reason = _judged(before, after)
    return head, replace(told, accepted=accepted, reason=reason, before=before, after=after)


def figures(turns: Sequence[MarkedTurn], reader: TurnReader, head: Head) -> dict[str, float]:
    """Return how well a reader with a head does on marked turns: `f1`, `precision`, `recall`, `log_loss`.

    Raises:
        BackendError: the reader failed.
    """
    cases, _ = _cases(_together(turns), reader)
    return _figures(cases, head, sum(len(one.missed) for one in turns))


def lines_of(turn: MarkedTurn) -> tuple[Line, ...]:
    """Return the lines of a marked turn as a reader of turns takes them."""
    return tuple(Line(one.speaker, one.text) for one in turn.lines)


def _together(turns: Sequence[MarkedTurn]) -> list[MarkedTurn]:
    """Return each turn once, in the order of its last marks, with the last mark of each claim."""
    found: dict[tuple[Line, ...], MarkedTurn] = {}
    for one in turns:
        known = found.pop(lines_of(one), MarkedTurn(lines=one.lines))
        marks = {(mark.subject, mark.words, mark.object): mark for mark in (*known.claims, *one.claims)}
        missed = dict.fromkeys((*known.missed, *one.missed))
        found[lines_of(one)] = replace(one, claims=tuple(marks.values()), missed=tuple(missed))
    return list(found.values())


def _cases(turns: Sequence[MarkedTurn], reader: TurnReader) -> tuple[list[_Case], int]:
    """Return the claims of turns that are heard and marked, and how many marks fit none."""
    marked = [one for one in turns if one.claims]
    cases: list[_Case] = []
    unheard = 0
    for turn, heard in zip(marked, reader.hear([lines_of(one) for one in marked]), strict=True):
        found = list(_marked(turn, heard))
        cases += found
        unheard += len(turn.claims) - len({id(one.mark) for one in found})
    return cases, unheard


def _marked(turn: MarkedTurn, heard: Heard) -> Iterator[_Case]:
    lines = lines_of(turn)
    number = _number(lines)
    marks = {(mark.subject, mark.words, mark.object): mark for mark in turn.claims}
    for told in heard.claims:
        if (mark := marks.get(claim_words(told, lines))) is not None:
            yield _Case(told, lines, mark, number)


def _number(lines: Sequence[Line]) -> int:
    return zlib.crc32(f"{lines[-1].speaker}\n{lines[-1].text}".encode("utf-8", "replace"))


def _lacking(marks: int, dev: int) -> str:
    if marks < LEAST:
        return (
            f"There are {marks} marks on claims that the reader hears, and {LEAST - marks} more are needed before "
            "anything is learned. They are kept; go on with `doxa teach`."
        )
    if dev < LEAST_DEV:
        return (
            f"Of {marks} marks {dev} are on turns that are left out to compare on (every fifth), and {LEAST_DEV} are "
            "needed. They are kept; mark claims of more turns with `doxa teach`."
        )
    return ""


def _fitted(cases: Sequence[_Case], missed: int, name: str) -> Head:
    rows = np.array([features(one.told, one.lines) for one in cases])
    turns = np.array([one.turn // EVERY for one in cases], dtype=np.int64)
    kept = np.array([[one.mark.right and one.mark.keep] for one in cases], dtype=np.float64)
    odds = np.array([[log_odds(one.told.p)] for one in cases])
    keeping = fitted(Choices(features=rows, odds=odds, chosen=kept, turns=turns))
    right = [at for at, one in enumerate(cases) if one.mark.right]
    names = sorted({name for at in right if (name := _meant(cases[at])) != cases[at].told.relation})
    naming = np.zeros((0, rows.shape[1]), dtype=np.float32)
    if names:
        told = [cases[at] for at in right]
        odds = np.array([[NOT_CHOSEN if name == one.told.relation else -STAYS for name in names] for one in told])
        chosen = np.array([[float(name == _meant(one) != one.told.relation) for name in names] for one in told])
        naming = fitted(Choices(features=rows[right], odds=odds, chosen=chosen, turns=turns[right])).weights
    line = _line(cases, keeping.left_out[:, 0], missed)
    return Head(
        weight=keeping.weights[0], line=line, relations=tuple(names), naming=naming, marks=len(cases), reader=name
    )


def _line(cases: Sequence[_Case], odds: NDArray[np.float64], missed: int) -> float:
    """Return the log odds from which claims are kept: most F1, where no more of what is kept is wrong than so far.

    More is what the number kept cannot tell from chance: a standard error.

    Args:
        cases: what was learned from.
        odds: of each, by what was learned of the others.
        missed: right claims that were not heard.
    """
    plain = np.array(["minor" not in one.told.flags for one in cases])
    wanted = np.array([one.mark.right and one.mark.keep for one in cases])
    alone = plain & np.array([one.told.p >= SURE for one in cases])
    least = float(wanted[alone].mean()) if alone.any() else 0.0
    best, found = -1.0, log_odds(SURE)
    rising = np.unique(odds[plain])
    for below, line in zip((rising[:1] - 2).tolist() + rising[:-1].tolist(), rising.tolist(), strict=True):
        kept = plain & (odds >= line)
        number, right = int(kept.sum()), int((kept & wanted).sum())
        f1 = 2 * right / (number + int(wanted.sum()) + missed)
        if right / number >= least - (least * (1 - least) / number) ** 0.5 and f1 >= best:
            best, found = f1, (below + line) / 2
    return found


def _meant(case: _Case) -> str:
    return case.mark.relation or case.told.relation


def _figures(cases: Sequence[_Case], head: Head, missed: int) -> dict[str, float]:
    """Return the figures of a head on cases; `missed` claims are right and found by nobody."""
    mended = [(head.mended(one.told, one.lines), one) for one in cases]
    wanted = [one.mark.right and one.mark.keep for one in cases]
    kept = [told.p >= SURE and "minor" not in told.flags for told, _ in mended]
    right = sum(
        keeps and wants and told.relation == _meant(one)
        for (told, one), keeps, wants in zip(mended, kept, wanted, strict=True)
    )
    odds = np.array([head.odds(one.told, one.lines) for one in cases])
    signs = np.where(wanted, 1.0, -1.0)
    all_wanted = sum(wanted) + missed
    return {
        "f1": 2 * right / max(1, sum(kept) + all_wanted),
        "precision": right / max(1, sum(kept)),
        "recall": right / max(1, all_wanted),
        "log_loss": float(np.logaddexp(0, -signs * odds).mean()) if len(odds) else 0.0,
    }


def _judged(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[bool, str]:
    f1, loss = (f"{before[name]:.3f} to {after[name]:.3f}" for name in ("f1", "log_loss"))
    if before == after:
        reason = "What the marks say of one turn helps with no other one, so nothing was learned. Mark more claims."
        return False, reason
    if after["f1"] < before["f1"] - SLACK or after["log_loss"] > before["log_loss"] + SLACK:
        return False, (
            f"What was learned does worse on the turns that were left out (F1 of what is kept {f1}, log loss {loss}), "
            "so it is not used. The marks are kept; mark more claims."
        )
    return (
        True,
        f"What was learned is no worse on the turns that were left out: F1 of what is kept {f1}, log loss {loss}.",
    )
