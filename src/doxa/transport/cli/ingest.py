"""`doxa ingest`: a transcript goes into a memory, once, however often and however far it is read."""

from __future__ import annotations

import hashlib
import shlex
import signal
import sys
import threading
import time as clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from doxa.core.errors import InputError, StoreError, TurnConflictError
from doxa.core.values import Role
from doxa.transport.cli.app import DONE, ERROR, INTERRUPTED, PARTLY, command, described, tell
from doxa.transport.cli.render import clean, count, put
from doxa.transport.cli.request import Request, moment_of

if TYPE_CHECKING:
    from doxa.backends.transcripts import Conversation, Line, Transcript
    from doxa.engine import Dialogue, Doxa

__all__ = ["Stop", "Tally", "absorb_lines", "progress_bar"]

BLOCK = 32
"""Turns that are received before their processing is waited for; also how often the bar moves."""
SHOWN_PROBLEMS = 20
Bar = Callable[[int], None]


@dataclass(slots=True)
class Stop:
    """Set by the first Ctrl-C: the turn at hand is finished first. The second one interrupts at once."""

    asked: bool = False


@dataclass(slots=True, kw_only=True)
class Tally:
    """What came of a transcript."""

    new: int = 0
    known: int = 0
    failed: int = 0
    clashes: int = 0
    """How many of the failed are stored with another text."""
    facts: int = 0
    revisions: int = 0
    in_part: int = 0
    """Turns that are kept whole and were understood in part or by a lesser path."""
    seconds: float = 0.0
    interrupted: bool = False
    error: StoreError | None = None
    """What ended it before its time."""
    users: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """130 when it was interrupted, 1 when the database failed, 3 when something was left out, else 0."""
        if self.interrupted:
            return INTERRUPTED
        return ERROR if self.error else PARTLY if self.problems else DONE

    @property
    def is_whole(self) -> bool:
        """True when it went on to the end."""
        return not self.interrupted and self.error is None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        done = self.new + self.known
        return {
            "turns": {"new": self.new, "known": self.known, "failed": self.failed},
            "facts": self.facts if self.is_whole else None,
            "revisions": self.revisions if self.is_whole else None,
            "in_part": self.in_part if self.is_whole else None,
            "seconds": round(self.seconds, 3),
            "turns_per_s": round(done / self.seconds, 1) if self.seconds else None,
            "users": self.users,
            "interrupted": self.interrupted,
            "problems": self.problems,
            **({"error": described(self.error)} if self.error else {}),
        }


@command("ingest", example="doxa ingest chat.jsonl --db memory.db --user ana")
def ingest(
    request: Request,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A transcript, or - for standard input.")],
    format: Annotated[str, typer.Option("--format", help="auto, openai, locomo or text.")] = "auto",
    session: Annotated[
        str | None, typer.Option("--session", help="Session of turns that name none [default: the file's name].")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Stop after that many turns.")] = None,
    date: Annotated[
        str | None,
        typer.Option("--date", help="When turns without a date were said, such as 2024-05-01 [default: now]."),
    ] = None,
) -> int:
    """Read a transcript into the memory.

    Formats: messages as OpenAI writes them (JSON or JSONL), exports of ChatGPT, Claude and ShareGPT, LoCoMo, and lines
    of "Name: text" with or without dates.
    Reading a file again adds nothing twice, so an interrupted run is resumed by the same command. What cannot be
    read is listed at the end and the rest goes in (exit code 3). Every LoCoMo conversation is a user of its own.
    """
    transcript = _dated(_read(file, format, session), date, request)
    tally = Tally(problems=[str(problem) for problem in transcript.problems])
    tally.failed = len({problem.line for problem in transcript.problems})
    start = clock.perf_counter()
    if any(conversation.lines for conversation in transcript.conversations):
        _absorb_all(request, transcript, tally, file=file, limit=limit)
    tally.seconds = clock.perf_counter() - start
    request.give(tally.to_dict(), lambda out: _show(out, tally))
    if not request.json:
        if tally.in_part:
            whole = "all of them can be searched" if tally.in_part > 1 else "all of it can be searched"
            request.note(f"{count(tally.in_part, 'turn')} understood in part; {whole}. Why: doxa inspect, page Health.")
        _tell_problems(request, tally)
        _tell_end(request, tally, _again(request, file, format, session))
    return tally.exit_code


def _read(file: str, format: str, session: str | None) -> Transcript:
    from doxa.backends.transcripts import read

    if file != "-":
        return read(Path(file), format=format, session=session or Path(file).stem)
    if sys.stdin.isatty():
        raise InputError("Expected a transcript on standard input, for example: doxa ingest - < chat.txt")
    content = sys.stdin.buffer.read()
    # The same text piped again is the same session; another text is another one, so that made ids do not clash.
    name = session or f"stdin-{hashlib.blake2s(content, digest_size=4).hexdigest()}"
    return read(None, content=content, format=format, session=name)


def _dated(transcript: Transcript, date: str | None, request: Request) -> Transcript:
    """Return a transcript whose undated turns are of a date; without one, say that they are taken as of today."""
    undated = sum(line.at is None for one in transcript.conversations for line in one.lines)
    if not undated:
        return transcript
    given = moment_of(date)
    if given is None:
        told = f"{count(undated, 'turn')} without a date: taken as said now. If that is wrong, give --date."
        request.note(told)
        return transcript
    at = given if isinstance(given, datetime) else datetime.combine(given, time(), tzinfo=UTC)
    dated = [
        replace(one, lines=tuple(line if line.at else replace(line, at=at) for line in one.lines))
        for one in transcript.conversations
    ]
    return replace(transcript, conversations=tuple(dated))


def _absorb_all(request: Request, transcript: Transcript, tally: Tally, *, file: str, limit: int | None) -> None:
    left = limit
    try:
        with request.open(create=True) as doxa, _stopping() as stop:
            total = sum(len(conversation.lines) for conversation in transcript.conversations)
            with progress_bar(request, "reading", min(total, limit or total)) as bar:
                for conversation in transcript.conversations:
                    lines = conversation.lines[:left] if left is not None else conversation.lines
                    _absorb_conversation(request, doxa, conversation, lines, tally, stop, bar, file)
                    left = None if left is None else left - len(lines)
                    if stop.asked:
                        raise KeyboardInterrupt
                    if left == 0:
                        break
    except KeyboardInterrupt:
        # Leaving the engine by an exception does not wait for turns that are received and not processed yet.
        tally.interrupted = True
    except StoreError as exc:
        if not tally.new + tally.known:
            raise
        tally.error = exc


def _absorb_conversation(
    request: Request,
    doxa: Doxa,
    conversation: Conversation,
    lines: Sequence[Line],
    tally: Tally,
    stop: Stop,
    bar: Bar,
    file: str,
) -> None:
    """Take the turns of one user, and count what they changed."""
    user = conversation.name or request.config.user
    before = _beliefs(doxa, user)
    if user not in tally.users:
        tally.users.append(user)
    absorb_lines(doxa, user, lines, tally, stop=stop, bar=bar, file=file)
    if not stop.asked:
        after = _beliefs(doxa, user)
        tally.facts += after[0] - before[0]
        tally.revisions += after[1] - before[1]
        tally.in_part += after[2] - before[2]


def _beliefs(doxa: Doxa, user: str) -> tuple[int, int, int]:
    """Return how many facts a user has, in any status, how many revisions, and how many turns understood in part."""
    counts = doxa.memory(user=user).stats()
    return counts["facts"], counts["revisions"], counts["degraded"]


def absorb_lines(
    doxa: Doxa, user: str, lines: Sequence[Line], tally: Tally, *, stop: Stop, bar: Bar, file: str = ""
) -> None:
    """Take turns in blocks, waiting for each block to be processed, until done or asked to stop.

    A turn that cannot be taken is counted and told; an error of the database ends it.
    """
    dialogues: dict[str, Dialogue] = {}
    for start in range(0, len(lines), BLOCK):
        block = lines[start : start + BLOCK]
        for line in block:
            if stop.asked:
                return
            name = line.session or "default"
            dialogue = dialogues.get(name) or dialogues.setdefault(name, doxa.dialogue(user=user, session=name))
            _absorb(dialogue, line, tally, file)
        dialogue.flush()
        bar(len(block))


def _absorb(dialogue: Dialogue, line: Line, tally: Tally, file: str) -> None:
    role: Role = line.role
    try:
        receipt = dialogue.absorb(line.text, speaker=line.speaker, role=role, at=line.at, turn_id=line.turn_id)
    except InputError as exc:
        tally.failed += 1
        tally.clashes += isinstance(exc, TurnConflictError)
        where = ":".join(str(part) for part in (file, line.line) if part)
        tally.problems.append(f"{where}: {exc}")
        return
    if receipt.duplicate:
        tally.known += 1
    else:
        tally.new += 1


@contextmanager
def progress_bar(request: Request, what: str, total: int) -> Iterator[Bar]:
    """Show a bar on standard error until the block ends, if somebody watches; it is told each step that is done."""
    done = 0
    with request.bars() as tell:

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            tell(what, done, total)

        tell(what, 0, total)
        yield advance


@contextmanager
def _stopping() -> Iterator[Stop]:
    """Turn the first Ctrl-C into a wish, so that no turn is cut in half."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.asked:
            raise KeyboardInterrupt
        stop.asked = True

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _show(out: Console, tally: Tally) -> None:
    done = tally.new + tally.known
    turns = count(tally.new, "new turn") + (f" of {len(tally.users):,} users" if len(tally.users) > 1 else "")
    facts = f"; {tally.facts:+,} {'fact' if abs(tally.facts) == 1 else 'facts'}, {count(tally.revisions, 'revision')}"
    time = f"{tally.seconds:.1f} s" + (f", {done / tally.seconds:,.0f} turns/s" if done and tally.seconds else "")
    put(
        out,
        f"{turns}, {tally.known:,} known, {tally.failed:,} failed{facts if tally.is_whole else ''}; {time}",
    )


def _tell_problems(request: Request, tally: Tally) -> None:
    for problem in tally.problems[:SHOWN_PROBLEMS]:
        request.err.print(clean(problem), soft_wrap=True)
    if len(tally.problems) > SHOWN_PROBLEMS:
        request.err.print(f"... and {len(tally.problems) - SHOWN_PROBLEMS:,} more; --json lists all of them.")
    if tally.clashes:
        request.err.print(
            "If this is another conversation than the one that was read before, keep them apart: --session NAME",
            soft_wrap=True,
        )


def _tell_end(request: Request, tally: Tally, again: str) -> None:
    """Say why it ended before its time, what was kept, and how to go on."""
    if tally.is_whole:
        return
    why = "Interrupted"
    if tally.error:
        tell(request, tally.error)
        why = "Stopped"
    kept = count(tally.new + tally.known, "turn")
    request.err.print(f"{why}: {kept} kept. To resume, run the same command again: {again}", soft_wrap=True)


def _again(request: Request, file: str, format: str, session: str | None) -> str:
    """Return the command that goes on with a transcript."""
    words = ["doxa", "ingest", file, "--db", request.place, "--user", request.config.user]
    words += ["--format", format] if format != "auto" else []
    words += ["--session", session] if session else []
    return shlex.join(words)
