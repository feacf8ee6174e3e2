"""One run of a command: the options in effect, the settings, the memory it works on, and where it prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.core.access import without_password
from doxa.core.errors import InputError, NotFoundError
from doxa.transport.cli.render import PIPE_WIDTH, console, dump

if TYPE_CHECKING:
    from doxa.core.config import Config
    from doxa.engine import Doxa, Memory

__all__ = ["Options", "Request", "day_of", "file_of", "moment_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that every command takes; None and False when they were not given."""

    db: str | None = None
    user: str | None = None
    json: bool = False
    quiet: bool = False
    config: Path | None = None

    def over(self, other: Options) -> Options:
        """Return these options, and where they were not given, the other ones."""
        given = {name: value for name in self.__slots__ if (value := getattr(self, name))}
        return replace(other, **given)


@dataclass(kw_only=True)
class Request:
    """What a command works with. Settings are read and files opened when they are first asked for."""

    options: Options
    pipe_width: int = PIPE_WIDTH
    """Columns of standard output where it is no terminal."""

    @property
    def json(self) -> bool:
        """True when the output is for programs."""
        return self.options.json

    @cached_property
    def config(self) -> Config:
        """The settings: file, then environment, then the options of this run."""
        from doxa.core.config import Config

        loaded = Config.load(self.options.config)
        given = {"db": self.options.db, "user": self.options.user}
        return loaded.model_copy(update={name: value for name, value in given.items() if value})

    @cached_property
    def out(self) -> Console:
        """Standard output, for results."""
        return console(pipe_width=self.pipe_width)

    @cached_property
    def err(self) -> Console:
        """Standard error, for progress and problems."""
        return console(stderr=True)

    @property
    def place(self) -> str:
        """Where the memory is, as it may be shown: without the password of a server."""
        return without_password(self.config.db)

    @property
    def shows_progress(self) -> bool:
        """True when somebody watches."""
        return self.err.is_terminal and not self.json and not self.options.quiet

    @contextmanager
    def bars(self) -> Iterator[Callable[[str, int, int], None]]:
        """Give what shows how far each step is (its name, what is done, the whole), on standard error."""
        if not self.shows_progress:
            yield lambda step, done, whole: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

        parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*parts, console=self.err, transient=True) as progress:
            shown: dict[str, TaskID] = {}

            def tell(step: str, done: int, whole: int) -> None:
                if step not in shown:
                    shown[step] = progress.add_task(step, total=whole)
                progress.update(shown[step], completed=done, total=whole)

            yield tell

    def note(self, text: str) -> None:
        """Say something by the way, on standard error; not when asked to be quiet."""
        if not self.options.quiet:
            self.err.print(text, soft_wrap=True)

    def give(self, value: Any, show: Callable[[Console], object]) -> None:
        """Print a result: as JSON, or else in the way that `show` prints it."""
        if self.json:
            dump(value)
        else:
            show(self.out)

    def at(self, path: Path) -> Request:
        """Return the same request on another memory."""
        return Request(options=replace(self.options, db=str(path)), pipe_width=self.pipe_width)

    @contextmanager
    def open(self, *, create: bool = False) -> Iterator[Doxa]:
        """Open the memory, and close it afterwards.

        Args:
            create: make a file that does not exist; a command that only reads must not.

        Raises:
            NotFoundError: There is no such file.
        """
        if not create and (path := file_of(self.config.db)) is not None and not path.exists():
            raise NotFoundError(
                f"There is no memory at {path}. Make one with `doxa ingest FILE --db {path}` or "
                f"`doxa chat --db {path}`, or name another one with --db."
            )
        from doxa.engine import Doxa

        with Doxa.open(self.config.db, config=self.config) as doxa:
            yield doxa

    @contextmanager
    def memory(self, *, known: bool = False) -> Iterator[Memory]:
        """Open the memory of the user of this run; with `known`, as `require_user` has it."""
        with self.open() as doxa:
            if known:
                self.require_user(doxa)
            yield doxa.memory(user=self.config.user)

    def require_user(self, doxa: Doxa) -> None:
        """Refuse a user who is unknown where others are not: a forgotten `--user` is a common slip.

        Raises:
            NotFoundError: Nothing is stored for this user; the message says for whom something is.
        """
        users = doxa.users()
        if users and self.config.user not in users:
            shown = ", ".join(users[:8]) + (", ..." if len(users) > 8 else "")
            raise NotFoundError(f"Nothing is stored for user {self.config.user!r}. Choose another with --user: {shown}")


def file_of(location: str) -> Path | None:
    """Return the path of a database that is a file here; None for one in memory or on a server."""
    for prefix in ("sqlite+pysqlite:///", "sqlite:///", "sqlite:"):
        if location.startswith(prefix):
            location = location.removeprefix(prefix)
            break
    else:
        if "://" in location:
            return None
    location = location.partition("?")[0] if location.startswith("file:") else location
    return None if location in ("", ":memory:") else Path(location)


def moment_of(text: str | None) -> date | datetime | None:
    """Return the moment that an option names: a day where it gives no time, else a time, in UTC unless it says.

    Raises:
        InputError: It is no date, or the year is missing.
    """
    if text is None:
        return None
    from dateutil import parser

    try:
        # What a text leaves out comes from the default, so two defaults show what was left out.
        early, late = (parser.parse(text, default=start) for start in _DEFAULTS)
    except (ValueError, OverflowError) as exc:
        raise InputError(f"Expected a date such as 2024-07-01 or '1 July 2024', got {text!r}.") from exc
    if early.date() != late.date():
        raise InputError(f"Expected a whole date such as 2024-07-01 or '1 July 2024', got {text!r}.")
    return early if early == late else early.date()


_DEFAULTS = (datetime(2000, 1, 1, 0, tzinfo=UTC), datetime(2001, 2, 2, 1, tzinfo=UTC))


def day_of(text: str | None) -> date | None:
    """Return the day that an option names; raises InputError when it is none."""
    moment = moment_of(text)
    return moment.date() if isinstance(moment, datetime) else moment
