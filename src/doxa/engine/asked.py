"""A question, as the engine takes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from doxa.core.values import Turn

__all__ = ["Asked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of the memory, by whom, and of which time."""

    user: str
    text: str
    """What is read of the question: of a very long one the beginning and the end."""
    speaker: str
    agent: str
    session: str
    at: datetime
    as_of: date | None = None
    known_at: datetime | None = None
    turn_id: str | None = None
    """The turn that asks, when it is remembered; its own changes are reported with the answer."""
    said: tuple[Turn, ...] = ()
    """What was asked and answered in this dialogue without being remembered, oldest first."""
    background: bool | None = False
    """Whether background knowledge is added; None leaves that to the settings and to what is said."""
    n: int = 1
    """Replies that are wanted, each by another piece of background."""
    whole: str = ""
    """All that was said, for a language model, where more was said than is read."""

    def as_turn(self) -> Turn:
        """Return it as a turn that is not stored, for what looks at turns."""
        return Turn(
            turn_id="", user=self.user, session=self.session, speaker=self.speaker, role="user", text=self.text,
            at=self.at,
        )  # fmt: skip

    @property
    def aloud(self) -> bool:
        """Whether background was asked for, so that a reply says it even where no model writes it in."""
        return self.background is True or (self.background is None and self.n > 1)
