"""Every exception that Doxa raises, in one tree.

    DoxaError
    ├── ConfigError              a setting is unknown or has a bad value
    ├── InputError               what the caller gave cannot be used
    │   ├── TurnError            a turn cannot be taken (empty, too long, bad time)
    │   ├── TurnConflictError    a known turn id came again with another text
    │   ├── FormatError          a file or a line is not in a format that Doxa reads
    │   └── TaskError            a change of the tasks cannot be made
    │       └── TaskCycleError   a task would be under, or wait for, itself
    ├── NotFoundError            no such fact, turn, file or user
    ├── StoreError               the database cannot do what was asked
    │   ├── StoreLockedError     another process held the database too long
    │   ├── StoreUnavailableError     the database server does not answer
    │   ├── StoreReadOnlyError   the file or folder cannot be written
    │   ├── StoreFullError       no room is left on the device
    │   ├── StoreVersionError    the file was written by a newer Doxa
    │   ├── StoreForeignError    the file is something else
    │   ├── StoreKeyError        the file is encrypted and the key is not its own, or the other way about
    │   ├── StoreDamagedError    a row or a page is not what was written
    │   ├── PackError            a file that is made from the log is damaged; it is made anew
    │   └── StoreConflictError   two writers changed one user at once (retried inside)
    │       └── StaleLeaseError  a process that was away too long wrote as if it were still its turn
    ├── BackendError             a model or service failed
    │   ├── BackendUnavailableError   it did not answer in time, or not at all
    │   ├── BackendReplyError    it answered something that cannot be used
    │   └── MissingDependencyError    an optional package is not installed
    └── ClosedError              the engine was used after `close()`

A message says what was expected, what came, and the next step. Results such as "a contradiction was
found" or "the model refused" are values, not exceptions.
"""

from collections.abc import Sequence

__all__ = [
    "BackendError",
    "BackendReplyError",
    "BackendUnavailableError",
    "ClosedError",
    "ConfigError",
    "DoxaError",
    "FormatError",
    "InputError",
    "MissingDependencyError",
    "NotFoundError",
    "PackError",
    "StaleLeaseError",
    "StoreConflictError",
    "StoreDamagedError",
    "StoreError",
    "StoreForeignError",
    "StoreFullError",
    "StoreKeyError",
    "StoreLockedError",
    "StoreReadOnlyError",
    "StoreUnavailableError",
    "StoreVersionError",
    "TaskCycleError",
    "TaskError",
    "TurnConflictError",
    "TurnError",
]


class DoxaError(Exception):
    """Base of every error that Doxa raises; catch this to catch ours and nothing else."""


class ConfigError(DoxaError):
    """A setting is unknown or has a value that cannot be used."""


class InputError(DoxaError):
    """What the caller gave cannot be used; nothing was stored."""


class TurnError(InputError):
    """A turn cannot be taken: it is empty, too long, or its time cannot be read."""


class TurnConflictError(InputError):
    """A turn id that is already stored came again with another text; the stored turn was kept."""

    def __init__(self, turn_id: str, user: str) -> None:
        self.turn_id = turn_id
        self.user = user
        super().__init__(
            f"Turn {turn_id!r} of user {user!r} is already stored with another text, and the stored one was kept. "
            "Send the new text under a new turn id, or forget the old turn first (`doxa forget --turn ID`)."
        )


class FormatError(InputError):
    """A file or a line of it is not in a format that Doxa reads."""

    def __init__(self, message: str, *, path: str | None = None, line: int | None = None) -> None:
        self.path = path
        self.line = line
        where = ":".join(str(part) for part in (path, line) if part is not None)
        super().__init__(f"{where}: {message}" if where else message)


class TaskError(InputError):
    """A change of the tasks cannot be made; none was."""


class TaskCycleError(TaskError):
    """A task would be under, or wait for, itself; `names` go round the circle and end where they begin."""

    def __init__(self, names: Sequence[str], relation: str) -> None:
        self.names = tuple(names)
        way = " -> ".join(repr(name) for name in self.names)
        super().__init__(
            f"{self.names[0]!r} would be {relation} itself: {way}. "
            "Leave one of these links out, or make a loop node with a bound, which repeats what is under it."
        )


class NotFoundError(DoxaError):
    """No such fact, turn, file or user."""


class StoreError(DoxaError):
    """The database cannot do what was asked."""


class StoreLockedError(StoreError):
    """Another process held the database longer than the time-out; nothing was written, try again."""


class StoreUnavailableError(StoreError):
    """The database server cannot be reached, or was lost on the way.

    Where `uncertain` is true it was lost while a transaction was being written down, so that nobody knows whether it
    was; otherwise nothing was written.
    """

    def __init__(self, message: str, *, uncertain: bool = False) -> None:
        self.uncertain = uncertain
        super().__init__(message)


class StoreReadOnlyError(StoreError):
    """The file, its folder or its disk cannot be written."""


class StoreFullError(StoreError):
    """No room is left on the device; nothing of this turn was written."""


class StoreVersionError(StoreError):
    """The file was written by a newer Doxa; this one left it as it is."""


class StoreForeignError(StoreError):
    """The file is no Doxa memory; it was left as it is."""


class StoreKeyError(StoreError):
    """The file is encrypted and no key, or another one, was given, or it is not and one was; it was left as it is."""


class StoreDamagedError(StoreError):
    """What was read of the database is not what was written, `what` says which part; nothing was changed.

    The rest can be read, and `doxa check-file FILE --mend` makes a whole memory of it again.
    """

    def __init__(self, message: str, *, what: str) -> None:
        self.what = what
        super().__init__(message)


class PackError(StoreError):
    """A file that is made from the log is damaged. Nothing is lost: it can be made anew."""


class StoreConflictError(StoreError):
    """Somebody else changed this user's state since it was read. The engine catches it, catches up and retries."""


class StaleLeaseError(StoreConflictError):
    """Somebody else has processed this user's turns since; nothing was written.

    The engine catches it and leaves the turns to the other.
    """

    def __init__(self, scope: str, fence: int, latest: int) -> None:
        self.fence, self.latest = fence, latest
        super().__init__(
            f"{scope}: expected the latest holder of the lease, got the one with token {fence}, and {latest} has "
            "followed. Nothing was written; take the lease anew and read again."
        )


class BackendError(DoxaError):
    """A model or service failed."""


class BackendUnavailableError(BackendError):
    """A model or service did not answer in time, refused the connection, or kept limiting the rate."""


class BackendReplyError(BackendError):
    """A model answered, but not in a form that can be used; `reply` holds what it said."""

    def __init__(self, message: str, *, reply: str = "") -> None:
        self.reply = reply
        super().__init__(message)


class MissingDependencyError(BackendError):
    """An optional package is not installed; `command` installs it, from an extra of Doxa or by its own name."""

    def __init__(self, package: str, *, extra: str | None = None, purpose: str) -> None:
        self.package = package
        self.command = self.command_for(extra) if extra else f"pip install {package}"
        super().__init__(f"{purpose} needs the package {package!r}, which is not installed. Run: {self.command}")

    @staticmethod
    def command_for(extra: str) -> str:
        """Return the command that installs what an extra needs, by the names of the packages.

        It works where Doxa itself came from a checkout and is on no index.
        """
        from importlib.metadata import PackageNotFoundError, requires

        marker = f'extra == "{extra}"'
        try:
            needed = [
                one.partition(";")[0].strip() for one in requires("doxa") or () if marker in one.replace("'", '"')
            ]
        except PackageNotFoundError:
            needed = []
        return "pip install " + " ".join(f'"{one}"' for one in needed or [f"doxa[{extra}]"])


class ClosedError(DoxaError):
    """The engine was used after `close()` or outside its `with` block."""
