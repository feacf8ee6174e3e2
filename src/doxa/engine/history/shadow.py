"""Questions that were asked -> windows with their measures and a bounded sample, kept beside the log of their user.

They are records of the user's: written behind the request, erased with the user, and a question with any turn that it
cites or was shown.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from doxa.core.access import pseudonym
from doxa.core.drift import Refreshed, Shadow, Window
from doxa.core.errors import StoreError
from doxa.core.feedback import Feedback, Lesson
from doxa.engine.wiring.parts import Parts
from doxa.memory import Codec, Named, UserState
from doxa.recall import WindowSpec, bucket_of, filled, measured, quota, thinned

__all__ = ["Sampled", "drop_shadows", "keep_refreshed", "mark_refreshed", "sampled", "store_shadows", "text_of"]

logger = logging.getLogger("doxa")

SHELF = "doxa.drift"
OPEN, CLOSED, REFRESHED = "open", "window/", "refresh/"
TRIES = 20
REFRESHES = 20
"""Reports of refreshes that are kept, the latest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """What is kept of the questions of a user."""

    windows: tuple[Window, ...]
    """Those that are closed, oldest first."""
    samples: Mapping[int, Sequence[Shadow]]
    """What is kept of the questions of each, by its number."""
    number: int
    """Of the window that is open."""
    questions: tuple[Shadow, ...]
    """Those of the open window."""
    refreshes: tuple[Refreshed, ...]
    """The latest ones, oldest first."""

    @property
    def all(self) -> list[Shadow]:
        """Every question that is kept, oldest first."""
        return [*(one for window in self.windows for one in self.samples[window.number]), *self.questions]


def window_spec(parts: Parts) -> WindowSpec:
    """Return how long a window is, by the settings."""
    return WindowSpec(hours=parts.config.drift.hours, questions=parts.config.drift.questions)


def store_shadows(parts: Parts, user: str, *, least: int = 1, close: bool = False) -> bool:
    """Write the questions of a user that wait, if they are at least `least`, and close the windows that are over.

    A question is worth less than a turn: where the database refuses it is dropped with a warning, and what was asked
    before something was erased is dropped without one.

    Args:
        parts: what the engine is made of.
        user: whose questions they are.
        least: how many have to wait.
        close: close the open window where its time is over by the clock of the memory.

    Returns:
        Whether a window was closed.

    Cost: one record of a window's questions; where one is closed, those of the windows that keep fewer since.
    """
    new = parts.shadows.take(user, least)
    if not new and not close:
        return False
    try:
        for _ in range(TRIES):
            standing = _untouched(parts, user, new)
            closed = _stored(parts, user, [one for _, one in standing], close=close)
            if closed is not None:
                _tell(parts, user, closed)
                _drop_late(parts, user, standing)
                return bool(closed)
        reason: object = "others kept writing"
    except StoreError as exc:
        reason = exc
    whose = pseudonym(parts.log.scope(user))
    logger.warning("%d questions of user %s were not sampled: %s", len(new), whose, reason)
    return False


def _tell(parts: Parts, user: str, closed: Sequence[Window]) -> None:
    """Have windows looked at that were closed, and tell who wants to know of them."""
    if closed:
        parts.closed.setdefault(user, closed[0].number)
    for window in closed:
        for told in parts.drifts:
            told(window)


def _untouched(parts: Parts, user: str, new: Sequence[tuple[int, Shadow]]) -> list[tuple[int, Shadow]]:
    """Return the questions since which nothing was erased, with their places."""
    stand = {place for place in {place for place, _ in new} if parts.log.still_has(user, place)}
    return [(place, one) for place, one in new if place in stand]


def _drop_late(parts: Parts, user: str, written: Sequence[tuple[int, Shadow]]) -> None:
    """Remove what was written of questions while something was erased, and what names a turn that is gone."""
    stand = {place for place, _ in _untouched(parts, user, written)}
    late = {(one.at, one.query, one.asked) for place, one in written if place not in stand}
    if not late:
        return
    with parts.log.user(user) as state:
        turns = {turn.turn_id for turn in state.received()}
    _drop(
        parts,
        user,
        lambda one: (one.at, one.query, one.asked) in late or not turns.issuperset(filter(None, _named(one))),
    )
    parts.log.store.wipe(parts.log.scope(user))


def _named(one: Shadow) -> tuple[str, ...]:
    """Return the turns that a question names."""
    return (one.asked, *one.turn_ids, *one.shown)


def _stored(parts: Parts, user: str, new: Sequence[Shadow], *, close: bool) -> list[Window] | None:
    """Write some questions and return the windows that closed; None where somebody else wrote at the same time."""
    spec, store, scope = window_spec(parts), parts.log.store, parts.log.scope(user)
    raw = store.records(scope, SHELF, keys=[OPEN]).get(OPEN)
    number, stored = _open(raw)
    with parts.log.user(user) as state:
        known = [one for one in new if all(map(state.turn, filter(None, _named(one))))]
        held, known = _relabelled(stored, known, state)
        now = state.now()
    closed, held = filled(held, known, spec)
    if close and held and now is not None and bucket_of(now, spec) > bucket_of(held[0].at, spec):
        closed, held = [*closed, held], []
    if held == stored and not closed:
        return []
    windows = [measured(number + place, questions) for place, questions in enumerate(closed)]
    bodies = _thinned(parts, user, windows, closed) if closed else {}
    bodies[OPEN] = _bytes({"number": number + len(closed), "questions": [SHADOW.to(one) for one in held]})
    return windows if store.keep_records(scope, SHELF, bodies, expected={OPEN: raw}) else None


def _thinned(
    parts: Parts, user: str, windows: Sequence[Window], closed: Sequence[Sequence[Shadow]]
) -> dict[str, bytes | None]:
    """Return the records of windows that are closed now, and of those that keep less of their questions since."""
    spec = window_spec(parts)
    bodies: dict[str, bytes | None] = {}
    last = windows[-1].number
    for key, data in parts.log.store.records(parts.log.scope(user), SHELF, prefix=CLOSED).items():
        window, questions = _closed(data)
        age = last - window.number
        if age >= spec.windows:
            bodies[key] = None
        elif len(questions) > quota(age, spec):
            left = thinned(questions, age, spec)
            bodies[key] = _window_bytes(replace(window, kept=len(left)), left)
    for window, asked in zip(windows, closed, strict=True):
        left = thinned(asked, last - window.number, spec)
        bodies[_key(CLOSED, window.number)] = _window_bytes(replace(window, kept=len(left)), left)
    return bodies


def _relabelled(held: Sequence[Shadow], new: Sequence[Shadow], state: UserState) -> tuple[list[Shadow], list[Shadow]]:
    """Return questions with what a person said of one in its place, and not beside it: nothing is counted twice."""
    every = [*held, *new]
    gone: set[int] = set()
    for place, one in enumerate(every):
        if one.outcome != "missed" or place < len(held):
            continue
        text = text_of(one, state)
        earlier = (
            at for at in range(place - 1, -1, -1)
            if at not in gone and every[at].outcome != "missed" and text_of(every[at], state) == text
        )  # fmt: skip
        if (at := next(earlier, None)) is not None:
            share = _share(one, every[at])
            every[at] = replace(every[at], outcome=one.outcome, turn_ids=one.turn_ids, recall=share)
            gone.add(place)
    return every[: len(held)], [one for place, one in enumerate(every) if place >= len(held) and place not in gone]


def _share(told: Shadow, served: Shadow) -> float:
    """Return how much of what was needed was shown when the question was served."""
    return len(set(told.turn_ids) & set(served.shown)) / len(set(told.turn_ids))


def text_of(one: Shadow | Feedback, state: UserState) -> str:
    """Return what was asked; empty where it is not known any more."""
    turn = state.turn(one.asked) if one.asked else None
    return one.query or (turn.text if turn else "")


def sampled(parts: Parts, user: str) -> Sampled:
    """Return what is kept of the questions of a user, those that wait included. Cost: one query."""
    store_shadows(parts, user, close=True)
    found = parts.log.store.records(parts.log.scope(user), SHELF)
    number, held = _open(found.get(OPEN))
    closed = [_closed(data) for key, data in found.items() if key.startswith(CLOSED)]
    return Sampled(
        windows=tuple(window for window, _ in closed),
        samples={window.number: questions for window, questions in closed},
        number=number,
        questions=tuple(held),
        refreshes=tuple(_refreshed(data) for key, data in found.items() if key.startswith(REFRESHED)),
    )


def keep_refreshed(parts: Parts, user: str, done: Refreshed) -> None:
    """Keep the report of a refresh, and the latest of the others."""
    store, scope = parts.log.store, parts.log.scope(user)
    keys = list(store.records(scope, SHELF, prefix=REFRESHED))
    number = int(keys[-1].removeprefix(REFRESHED)) + 1 if keys else 0
    bodies: dict[str, bytes | None] = dict.fromkeys(keys[: len(keys) + 1 - REFRESHES])
    store.keep_records(scope, SHELF, {**bodies, _key(REFRESHED, number): _refreshed_bytes(done)})


def mark_refreshed(parts: Parts, user: str) -> None:
    """Note with the latest refresh that was accepted that its weights were taken back."""
    store, scope = parts.log.store, parts.log.scope(user)
    for key, data in reversed(store.records(scope, SHELF, prefix=REFRESHED).items()):
        done = _refreshed(data)
        if done.lesson.accepted and not done.rolled_back:
            store.keep_records(scope, SHELF, {key: _refreshed_bytes(replace(done, rolled_back=True))})
            return


def drop_shadows(parts: Parts, user: str, turn_ids: Collection[str]) -> None:
    """Remove every question that one of some turns asked, that was answered by one, or was shown one.

    The measures of closed windows stay: they count, and repeat nothing.
    """
    gone = set(turn_ids)
    parts.shadows.drop(user)
    _drop(parts, user, lambda one: not gone.isdisjoint(_named(one)))


def _drop(parts: Parts, user: str, goes: Callable[[Shadow], bool]) -> None:
    store, scope = parts.log.store, parts.log.scope(user)

    def left(questions: Iterable[Shadow]) -> list[Shadow]:
        return [one for one in questions if not goes(one)]

    for _ in range(TRIES):
        found = store.records(scope, SHELF)
        bodies: dict[str, bytes | None] = {}
        for key, data in found.items():
            if key == OPEN:
                number, held = _open(data)
                if len(kept := left(held)) < len(held):
                    bodies[key] = _bytes({"number": number, "questions": [SHADOW.to(one) for one in kept]})
            elif key.startswith(CLOSED):
                window, questions = _closed(data)
                if len(kept := left(questions)) < len(questions):
                    bodies[key] = _window_bytes(replace(window, kept=len(kept)), kept)
        if not bodies or store.keep_records(scope, SHELF, bodies, expected={key: found[key] for key in bodies}):
            return
    raise StoreError(
        f"The questions of {user!r} that were sampled could not be erased: others kept writing. Try again."
    )


def _key(kind: str, number: int) -> str:
    return f"{kind}{number:08d}"


def _bytes(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def _open(data: bytes | None) -> tuple[int, list[Shadow]]:
    """Return the number of the open window, and its questions."""
    if data is None:
        return 0, []
    held = json.loads(data)
    return held["number"], [SHADOW.of(one) for one in held["questions"]]


def _window_bytes(window: Window, questions: Sequence[Shadow]) -> bytes:
    return _bytes({"window": WINDOW.to(window), "questions": [SHADOW.to(one) for one in questions]})


def _closed(data: bytes) -> tuple[Window, list[Shadow]]:
    held = json.loads(data)
    return WINDOW.of(held["window"]), [SHADOW.of(one) for one in held["questions"]]


def _refreshed_bytes(done: Refreshed) -> bytes:
    return _bytes({**asdict(done), "at": done.at.isoformat()})


def _refreshed(data: bytes) -> Refreshed:
    held = json.loads(data)
    return Refreshed(**{**held, "at": datetime.fromisoformat(held["at"]), "lesson": Lesson(**held["lesson"])})


def _dated(field: str) -> Named:
    return Named(field, datetime.isoformat, datetime.fromisoformat)


SHADOW = Codec(
    Shadow,
    "at outcome query asked turns shown recall apart ms plan",
    at=_dated("at"),
    turns=Named("turn_ids", list, tuple),
    shown=Named("shown", list, tuple),
    apart=Named("disagreement"),
)
WINDOW = Codec(
    Window,
    "number start end asked judged recall abstained unsupported missed compared apart p95_ms kept",
    start=_dated("start"),
    end=_dated("end"),
    apart=Named("disagreement"),
)
"""How both are kept in the database."""
