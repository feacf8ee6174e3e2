"""How search goes over time: sampled questions, windows of them, alarms, and what was done about those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from doxa.core.feedback import Lesson

__all__ = ["Alarm", "Drift", "Outcome", "Reference", "Refreshed", "Shadow", "Signal", "Window"]

Outcome = Literal["used", "missed", "abstained", "unsupported", "unjudged"]
"""What became of a question: its answer was verified and cites turns; a person told what was needed; there was no
answer; there was one that cites nothing, or that the memory contradicts; or one that cites turns, and the check can
neither verify nor refute it."""
Signal = Literal["recall", "disagreement", "abstained", "p95_ms"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """One question as it was asked and served, with what is needed to judge another search by it."""

    at: datetime
    """The moment of the memory that it was asked at."""
    outcome: Outcome
    query: str = ""
    """What was asked, where no remembered turn asked it."""
    asked: str = ""
    """The id of the turn that asked. With neither, it is counted and cannot be asked again."""
    turn_ids: tuple[str, ...] = ()
    """What was cited and verified, or what a person says was needed; none where nobody knows."""
    shown: tuple[str, ...] = ()
    """The first ten turns that search gave."""
    recall: float = 0.0
    """The share of `turn_ids` among `shown`; 0 where the question failed and nobody knows what was needed."""
    disagreement: float | None = None
    """How far the views were apart, 0 to 1; None where fewer than two of them proposed anything."""
    ms: float = 0.0
    """How long search took."""
    plan: str = ""
    """The plan that search followed, by its lead."""

    @property
    def labelled(self) -> bool:
        """Whether it is known what search had to find."""
        return bool(self.turn_ids)

    @property
    def judged(self) -> bool:
        """Whether it is known that it was served well, or that it was not."""
        return self.outcome != "unjudged"

    @property
    def answered(self) -> bool:
        """Whether it was answered from what search had to find, as far as anybody said."""
        return self.outcome == "used"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What was measured on the questions of one window: numbers that repeat nothing of what was said."""

    number: int
    start: datetime
    """When its first question was asked, by the clock of the memory."""
    end: datetime
    """When its last one was."""
    asked: int
    """Questions."""
    judged: int
    """Those of which it is known whether they were served well."""
    recall: float
    """Mean Recall@10 over those; one that failed counts 0."""
    abstained: float
    """The share without an answer."""
    unsupported: float
    """The share whose answer cites nothing, or is contradicted."""
    missed: float = 0.0
    """The share of which a person said what was needed."""
    compared: int = 0
    """Questions on which two views or more proposed something."""
    disagreement: float = 0.0
    """How far the views were apart on those, 0 to 1."""
    p95_ms: float = 0.0
    """The 95th percentile of the time of one search."""
    kept: int = 0
    """Questions that are still kept as a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What is usual: the first windows since the last refresh that followed an alarm.

    A spread is the standard error of its mean.
    """

    first: int
    """The numbers of its windows."""
    last: int
    asked: int
    recall: float
    recall_spread: float
    disagreement: float
    disagreement_spread: float
    abstained: float
    abstained_spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """A signal that is no longer as it was, or as it has to be."""

    signal: Signal
    window: int
    """The number of the window after which it was raised."""
    since: int
    """The number of the window with which it most likely began."""
    value: float
    """The mean since then."""
    usual: float
    """The mean of the reference, or the threshold that is passed."""
    grade: Literal["warning", "critical"] = "warning"
    text: str = ""
    """In a sentence, for people."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What one refresh did."""

    at: datetime
    """By the clock of the memory."""
    window: int
    """The number of the last window before it."""
    why: str
    """The alarms that led to it, the schedule, or that a person asked for it."""
    lesson: Lesson
    """What became of the weights; its figures are those on the part of the sample that was held back."""
    lifted: int = 0
    """Promotions that stand since."""
    fallen: int = 0
    """Promotions that no longer stand."""
    encoded: int = 0
    """Turns that got vectors which they had lacked."""
    before: Mapping[str, float] = field(default_factory=dict)
    """Means of the reference and of the windows since the change: `usual`, `drifted`."""
    since: int = 0
    """The number of the first window that it learned from."""
    alarmed: bool = False
    """There was an alarm: what is usual is learned anew from here on."""
    rolled_back: bool = False
    """The weights of before were put back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Whether search does as well as it did, and what was done where it did not."""

    state: Literal["waiting", "calm", "alarm"]
    """`waiting`: too little was asked to tell what is usual."""
    reason: str
    """In a sentence, for people."""
    windows: tuple[Window, ...] = ()
    """Oldest first; the last one is still open where `open` is."""
    open: bool = False
    """Whether the last window still takes questions in."""
    reference: Reference | None = None
    alarms: tuple[Alarm, ...] = ()
    """Those that stand."""
    refreshes: tuple[Refreshed, ...] = ()
    """The latest ones, oldest first."""
    can_roll_back: bool = False
    """Whether the weights of before the last refresh are still kept."""
