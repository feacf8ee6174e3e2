"""Where the weights that were learned from a user's feedback are kept: a file a user, swapped whole."""

from __future__ import annotations

import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from doxa.core.errors import DoxaError, NotFoundError
from doxa.core.feedback import Lesson
from doxa.core.sealing import Seal
from doxa.core.storage import MEMORY, database_file

if TYPE_CHECKING:
    from doxa.recall import Weights, WeightSlot

__all__ = ["LearnedWeights", "file_of", "folder_of", "stamp_of"]

logger = logging.getLogger("doxa")

KEPT = 256
"""Users whose weights are kept loaded; about 0.1 MB each."""
ENDING, SNAPSHOTS = ".learned", ".folds"
PLAIN = re.compile("[a-z0-9_-]{1,64}")
"""Names that are those of files as they are; any other is a digest behind a sign that none of these has."""
BEFORE = ".before"
"""Ending of the file that holds what was in use before; those of users end otherwise, whatever their names."""


def folder_of(location: str, ending: str = ENDING) -> Path | None:
    """Return the folder beside a database file, by its ending; None for a database that is no file here."""
    path = database_file(location)
    return None if path in (None, "", MEMORY) else Path(f"{path}{ending}")


def file_of(folder: Path, tenant: str, user: str) -> Path:
    """Return the file of a user of a tenant, which no other user has, whatever characters their names have."""
    return folder / _named(tenant) / f"{_named(user)}.npz"


def _named(name: str) -> str:
    """Return a name as one of a file: some disks take capitals and small letters for the same, and none a long name."""
    if PLAIN.fullmatch(name):
        return name
    return f"={blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def stamp_of(path: Path | None) -> int:
    """Return when a file was written, in nanoseconds; 0 where there is none."""
    try:
        return path.stat().st_mtime_ns if path else 0
    except OSError:
        return 0


@dataclass(slots=True)
class _Slot:
    slot: WeightSlot
    stamp: int
    """When the file was written, in nanoseconds; 0 where there is none."""
    before: Weights | None = None
    """What was in use before, where there is no file to keep it in."""


@dataclass(slots=True)
class LearnedWeights:
    """The weights of every user of one tenant: those that come with Doxa until something was learned.

    Safe between threads. Another process's file is seen at the next search.
    """

    folder: Path | None
    """None keeps what is learned in memory, until the process ends."""
    tenant: str
    encoder: str
    seal: Seal | None = None
    """What encrypts the files."""
    _slots: OrderedDict[str, _Slot] = field(default_factory=OrderedDict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def of_tenant(self, name: str) -> LearnedWeights:
        """Return the weights of the users of another tenant, in the same folder."""
        return LearnedWeights(folder=self.folder, tenant=name, encoder=self.encoder, seal=self.seal)

    def path(self, user: str) -> Path | None:
        """Return the file of a user, whether it is there or not."""
        return None if self.folder is None else file_of(self.folder, self.tenant, user)

    def of(self, user: str) -> Weights:
        """Return the weights in use for a user. Cost: one look at the file's date."""
        from doxa.recall import WeightSlot

        path = self.path(user)
        stamp = stamp_of(path)
        with self._guard:
            known = self._slots.get(user)
            if known is None or known.stamp != stamp:
                known = self._slots[user] = _Slot(WeightSlot(self._read(path, stamp)), stamp)
                while len(self._slots) > KEPT and self.folder is not None:
                    self._slots.popitem(last=False)
            self._slots.move_to_end(user)
            return known.slot.get()

    def put(self, user: str, weights: Weights, *, expected: Weights) -> bool:
        """Put new weights in use, for good where there is a file. Those of before are kept, for `restore`.

        Returns:
            False when others than the `expected` ones are in use by now; nothing is changed then.

        Raises:
            StoreReadOnlyError: the file cannot be written; the weights in use stay.
        """
        from doxa.recall import save_weights

        if self.of(user) is not expected:
            return False
        path = self.path(user)
        if path is not None:
            self._keep(path, expected)
            # They are fitted to what this memory is encoded by.
            save_weights(replace(weights, encoder=self.encoder), path, seal=self.seal)
        with self._guard:
            known = self._slots.get(user)
            if known is None:  # let go of meanwhile: the file has them
                return path is not None
            known.stamp = stamp_of(path)
            known.before = expected if path is None else None
            return known.slot.swap(weights)

    def take(
        self, user: str, weights: Weights, lesson: Lesson, *, expected: Weights, stands: Callable[[], bool]
    ) -> Lesson:
        """Put weights in use where their lesson was accepted, and return what became of it. Raises as `put`.

        Args:
            user: whose they are.
            weights: what was learned.
            lesson: what is said of them.
            expected: those in use when it began.
            stands: tells whether nothing of what it was learned from was erased meanwhile: else nothing is kept.
        """
        if not lesson.accepted:
            return lesson
        if not self.put(user, weights, expected=expected):
            reason = "Others have learned for this user meanwhile, and their weights are in use."
        elif not stands():
            self.drop(user)
            reason = "Something was erased meanwhile that it may have been learned from."
        else:
            return lesson
        return replace(lesson, accepted=False, reason=reason)

    def can_restore(self, user: str) -> bool:
        """Return whether the weights that were in use before are kept. Cost: one look at a file's date."""
        path = self.path(user)
        if path is not None:
            return stamp_of(path.with_suffix(BEFORE)) > 0
        with self._guard:
            return user in self._slots and self._slots[user].before is not None

    def restore(self, user: str, *, stands: Callable[[], bool]) -> bool:
        """Put the weights of before back in use; those that were in use are gone then.

        Args:
            user: whose they are.
            stands: tells whether nothing of what they were learned from was erased meanwhile: else nothing is kept.

        Returns:
            False where none are kept.

        Raises:
            FormatError: the file that keeps them is damaged; nothing is changed.
            StoreReadOnlyError: they cannot be written; nothing is changed.
        """
        from doxa.recall import load_weights, save_weights

        path = self.path(user)
        if path is None:
            with self._guard:
                known = self._slots.get(user)
                if known is None or known.before is None:
                    return False
                known.slot.swap(known.before)
                known.before = None
            return self._kept_if(user, stands)
        kept = path.with_suffix(BEFORE)
        try:
            if kept.stat().st_size:  # the next search sees the new date
                save_weights(load_weights(kept, seal=self.seal), path, seal=self.seal)
            else:
                path.unlink(missing_ok=True)
        except (FileNotFoundError, NotFoundError):  # there was none, or it was erased meanwhile
            return False
        kept.unlink(missing_ok=True)
        return self._kept_if(user, stands)

    def _kept_if(self, user: str, stands: Callable[[], bool]) -> bool:
        """Return whether what is in use may stay there, and forget it where it may not."""
        if not (found := stands()):
            self.drop(user)
        return found

    def _keep(self, path: Path, weights: Weights) -> None:
        """Keep the weights that are about to give way; an empty file stands for those that come with Doxa."""
        from doxa.memory import replacing
        from doxa.recall import save_weights

        if stamp_of(path):
            save_weights(replace(weights, encoder=self.encoder), path.with_suffix(BEFORE), seal=self.seal)
            return
        with replacing(path.with_suffix(BEFORE), makes_folder=True):
            pass

    def drop(self, user: str) -> None:
        """Forget what was learned from a user."""
        from doxa.memory import drop_unfinished

        with self._guard:
            self._slots.pop(user, None)
            if (path := self.path(user)) is not None:
                for one in (path, path.with_suffix(BEFORE)):
                    one.unlink(missing_ok=True)
                    drop_unfinished(one)

    def _read(self, path: Path | None, stamp: int) -> Weights:
        from doxa.recall import load_weights, shipped

        if path is None or not stamp:
            return shipped()
        try:
            return load_weights(path, encoder=self.encoder, seal=self.seal)
        except DoxaError as exc:
            logger.warning("what was learned is not used, the weights that come with Doxa are: %s", exc)
            return shipped()
