"""Windows of questions -> whether search still does as well, and a refresh of what was learned where it does not.

The monitor and the refresh of appendix B.5, per user: nothing but small weights is trained, on what was asked since the
change, and nothing that is remembered is touched.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

from doxa.core.access import pseudonym
from doxa.core.drift import Alarm, Drift, Reference, Refreshed, Shadow, Window
from doxa.core.errors import NotFoundError
from doxa.core.feedback import Lesson
from doxa.core.values import EARLIEST
from doxa.engine.absorb.promotion import lift
from doxa.engine.absorb.replaying import replays_of_shadows
from doxa.engine.history.shadow import Sampled, keep_refreshed, mark_refreshed, sampled
from doxa.engine.wiring.parts import Parts
from doxa.memory import standing
from doxa.recall import AlarmSpec, alarms_of, measured, rank_of, reference_of, refresh

__all__ = ["drift_of", "refresh_all", "roll_back", "tend"]

logger = logging.getLogger("doxa")

HELD_BACK = 4
"""Every such question of the sample is held back: no weights learn from it, old and new are compared on it."""
AGAIN = 3
"""Windows after a refresh that followed an alarm, after which there is another: the first had little to learn from."""
BY_HAND, FOLLOWING = "It was asked for.", "More is known of what is asked since the last alarm."
NOTHING_TO_PUT_BACK = (
    "No weights of before a refresh are kept for user {user!r}. `doxa drift` tells what was refreshed."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """The windows since the last refresh that followed an alarm, and what they say."""

    known: Sampled
    since: Sequence[Window]
    reference: Reference | None
    alarms: Sequence[Alarm]

    @property
    def mendable(self) -> list[Alarm]:
        """The alarms that weights may mend: none makes a machine faster."""
        return [alarm for alarm in self.alarms if alarm.signal != "p95_ms"]


def drift_of(parts: Parts, user: str) -> Drift:
    """Return whether search does as well as it did, and what was done where it did not. Nothing is changed.

    Cost: one query, and O(windows).
    """
    return _told(parts, user, _judged(parts, user))


def refresh_all(parts: Parts, user: str) -> Drift:
    """Refresh promotions, missing vectors and weights of a user, whether there is an alarm or not.

    Raises:
        StoreReadOnlyError: the weights cannot be written; those in use stay.
        MissingDependencyError: SciPy, which fits the weights, is not installed.
        BackendError: the encoder failed.
    """
    judged = _judged(parts, user)
    why = " ".join(alarm.text for alarm in judged.alarms) or BY_HAND
    _refreshed(parts, user, judged, why)
    return drift_of(parts, user)


def roll_back(parts: Parts, user: str) -> Drift:
    """Put the weights of before the last refresh back in use; what a person or others have learned since goes as well.

    Raises:
        NotFoundError: none are kept.
        FormatError: the file that keeps them is damaged.
        StoreReadOnlyError: they cannot be written.
    """
    stands = partial(parts.log.still_has, user, parts.log.head(user).ordinal)
    if not parts.learned.restore(user, stands=stands):
        raise NotFoundError(NOTHING_TO_PUT_BACK.format(user=user))
    mark_refreshed(parts, user)
    return drift_of(parts, user)


def tend(parts: Parts, user: str, *, since: int) -> Refreshed | None:
    """Look at windows that were just closed: tell of alarms, and refresh where the settings say so.

    Without SciPy, or while too few questions since the change have feedback, the alarm stands and nothing is refreshed.

    Args:
        parts: what the engine is made of.
        user: whose windows they are.
        since: the number of the first of them; an alarm that was raised before was told.

    Returns:
        What was refreshed; None where nothing had to be, or could be.

    Cost: O(windows); with a refresh, a search for each sampled question and the fit of the weights, some seconds.
    """
    settings = parts.config.drift
    judged = _judged(parts, user)
    last = judged.known.windows[-1].number if judged.known.windows else -1
    for alarm in judged.alarms:
        if alarm.window >= since:
            logger.warning("search drifts for user %s: %s", pseudonym(parts.log.scope(user)), alarm.text)
            for told in parts.drifts:
                told(alarm)
    latest = judged.known.refreshes[-1] if judged.known.refreshes else None
    passed = last - (latest.window if latest else -1)
    again = latest is not None and latest.alarmed and passed >= AGAIN
    due = settings.every and passed >= settings.every
    if not ((settings.refresh and (judged.mendable or again)) or due) or find_spec("scipy") is None:
        return None
    others = FOLLOWING if again else f"{settings.every} windows have passed."
    why = " ".join(alarm.text for alarm in judged.mendable) or others
    done = _refreshed(parts, user, judged, why, wait=True)
    if done is not None:
        logger.warning("user %s was refreshed: %s", pseudonym(parts.log.scope(user)), done.lesson.reason)
    return done


def _judged(parts: Parts, user: str) -> _Judged:
    known, spec = sampled(parts, user), AlarmSpec()
    after = max((done.window for done in known.refreshes if done.alarmed), default=-1)
    since = [window for window in known.windows if window.number > after]
    return _Judged(
        known=known,
        since=since,
        reference=reference_of(since, spec),
        alarms=alarms_of(since, spec),
    )


def _told(parts: Parts, user: str, judged: _Judged) -> Drift:
    known = judged.known
    still = [measured(known.number, known.questions)] if known.questions else []
    if judged.alarms:
        reason = " ".join(alarm.text for alarm in judged.alarms)
    elif judged.reference is None:
        asked, spec = sum(window.judged for window in judged.since), AlarmSpec()
        reason = (
            f"{len(judged.since)} closed windows with {asked} questions that could be judged do not tell what is "
            f"usual; it takes {spec.reference} with {spec.questions}."
        )
    else:
        reason = (
            f"Search does as well as it did: Recall@10 of what was asked is {judged.reference.recall:.2f} as a rule"
        )
        low = judged.reference.recall < AlarmSpec().low
        reason += ", which is low; `doxa drift --refresh` may mend it." if low else "."
    return Drift(
        state="alarm" if judged.alarms else "calm" if judged.reference else "waiting",
        reason=reason,
        windows=(*known.windows, *still),
        open=bool(still),
        reference=judged.reference,
        alarms=tuple(judged.alarms),
        refreshes=known.refreshes,
        can_roll_back=parts.learned.can_restore(user),
    )


def _refreshed(parts: Parts, user: str, judged: _Judged, why: str, *, wait: bool = False) -> Refreshed | None:
    """Refresh all there is to refresh, and keep the report; with `wait` not before there is enough to learn from."""
    known = judged.known
    changed = max((done.since for done in known.refreshes if done.alarmed), default=0)
    begun = min((alarm.since for alarm in judged.mendable), default=changed)
    sample = [*(one for w in known.windows if w.number >= begun for one in known.samples[w.number]), *known.questions]
    lesson = _weights_refreshed(parts, user, sample)
    if wait and not lesson.trained:
        return None
    lifted, fallen = _promotions_refreshed(parts, user)
    encoded = _vectors_refreshed(parts, user)
    later = [window for window in judged.since if window.number >= begun] if judged.mendable else []
    before = {"usual": judged.reference.recall} if judged.reference else {}
    if later:
        before["drifted"] = sum(w.recall * w.judged for w in later) / max(sum(w.judged for w in later), 1)
    with parts.log.user(user) as state:
        now = state.now() or EARLIEST
    done = Refreshed(
        at=now,
        window=known.windows[-1].number if known.windows else -1,
        why=why,
        lesson=lesson,
        lifted=lifted,
        fallen=fallen,
        encoded=encoded,
        before=before,
        since=begun,
        alarmed=bool(judged.mendable),
    )
    keep_refreshed(parts, user, done)
    for told in parts.drifts:
        told(done)
    return done


def _weights_refreshed(parts: Parts, user: str, sample: Sequence[Shadow]) -> Lesson:
    """Learn from a part of the sample, and use the new weights if they are no worse on the part that is held back."""
    held = [one for one in sample if rank_of(one) % HELD_BACK == 0]
    train = [one for one in sample if rank_of(one) % HELD_BACK]
    failed = sum(not one.labelled for one in held)
    current, place = parts.learned.of(user), parts.log.head(user).ordinal
    learned, judging = (replays_of_shadows(parts, user, part) for part in (train, held))
    new, lesson = refresh(current, learned, held=judging, failed=failed)
    stands = partial(parts.log.still_has, user, place)
    return parts.learned.take(user, new, lesson, expected=current, stands=stands)


def _promotions_refreshed(parts: Parts, user: str) -> tuple[int, int]:
    """Read all that was said for promotions; return how many stand that did not, and how many fell."""
    with parts.log.user(user) as state:
        before = {one.promotion_id for one in standing(state)}
    while lift(user, parts, whole=True):
        pass
    with parts.log.user(user) as state:
        after = {one.promotion_id for one in standing(state)}
    return len(after - before), len(before - after)


def _vectors_refreshed(parts: Parts, user: str) -> int:
    """Encode turns whose encoding had failed; return how many. Another encoder's were made anew when it was chosen.

    Cost: nothing where none failed, else one reading of the log.
    """
    with parts.log.user(user) as state:
        failed = {
            turn.ordinal for key in state.degraded if (turn := state.turn(key)) is not None and not turn.generated
        }
    if not failed:
        return 0
    if lacking := failed - _encoded(parts, user, min(failed)):
        parts.log.forget_state(user)
        with parts.log.user(user):  # what is read anew is encoded where it was not
            pass
        return len(lacking & _encoded(parts, user, min(failed)))
    return 0


def _encoded(parts: Parts, user: str, first: int) -> set[int]:
    vectors = parts.log.store.vectors(parts.log.scope(user), model=parts.encoder.name, after=first - 1)
    return {vector.ordinal for vector in vectors}
