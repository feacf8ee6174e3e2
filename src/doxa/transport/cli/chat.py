"""`doxa chat`: a conversation that is remembered, with a look behind the answers."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from doxa.core.errors import DoxaError, InputError
from doxa.transport.cli.app import command, tell
from doxa.transport.cli.ask import ShowTrace, Speaker
from doxa.transport.cli.render import dump, put
from doxa.transport.cli.request import Request
from doxa.transport.cli.show import show_changes, show_evidence, show_facts, show_history, show_reply, show_why
from doxa.transport.cli.task_views import show_differences, show_forest
from doxa.transport.differences import differences

if TYPE_CHECKING:
    from doxa.core.values import Reply
    from doxa.engine import Dialogue, Memory

__all__ = ["chat"]

HELP = """\
/facts [SUBJECT]             what is believed now
/why ID                      why a fact stands where it stands
/history SUBJECT RELATION    what was believed one after the other
/search QUERY                the turns and facts that bear on it
/tasks                       the tasks as they are
/undo                        take back what you said last
/help                        this list
/quit                        leave; so do Ctrl-D and Ctrl-C"""


class Left(Exception):
    """The person leaves the chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a chat works with."""

    request: Request
    dialogue: Dialogue
    memory: Memory
    trace: bool
    """Whether every step is shown."""


@command("chat", example="doxa chat --db memory.db --user ana")
def chat(
    request: Request,
    session: Annotated[str | None, typer.Option("--session", help="Name of the session [default: today].")] = None,
    speaker: Speaker = None,
    trace: ShowTrace = False,
) -> None:
    """Talk with the memory; it remembers what you say.

    Type /help there to see what else it can do: facts, tasks, reasons, history, search, undo.
    From a pipe it takes one message per line; with --json it prints one JSON object per line.
    """
    with request.open(create=True) as doxa:
        user = request.config.user
        name = session or f"{datetime.now(UTC):%Y-%m-%d}"
        memory = doxa.memory(user=user)
        dialogue = doxa.dialogue(user=user, session=name, speaker=speaker)
        room = Room(request=request, dialogue=dialogue, memory=memory, trace=trace)
        if sys.stdin.isatty():
            request.note(
                f"Chatting as {dialogue.speaker}, remembered in {request.place}. /help lists more, /quit leaves."
            )
        try:
            for message in _messages(request):
                _take(message, room)
        except (Left, KeyboardInterrupt):
            pass
        room.dialogue.flush()
        if sys.stdin.isatty():
            request.note(f"Everything you said is kept in {request.place}.")


def _messages(request: Request) -> Iterator[str]:
    """Yield what is said, line by line, until the end of the input."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if line.strip():
                yield line.strip()
        return
    _enable_line_editing()
    while True:
        try:
            message = input("" if request.json else "> ").strip()
        except EOFError:
            request.err.print()
            return
        if message:
            yield message


def _enable_line_editing() -> None:
    # `input` edits lines and keeps a history as soon as readline is imported; Windows has none.
    try:
        import readline  # noqa: F401
    except ImportError:
        return


def _take(message: str, room: Room) -> None:
    """Answer one line. What goes wrong is told, and the chat goes on."""
    try:
        if message.startswith("/"):
            _run(message, room)
        else:
            reply = room.dialogue.respond(message)
            _give(room, reply, lambda: _show(reply, room))
    except DoxaError as exc:
        tell(room.request, exc, lines=True)


def _show(reply: Reply, room: Room) -> None:
    """Print a reply; of one that the tasks gave, what it was taken for and what it changed of them as well."""
    out = room.request.out
    show_reply(out, reply, trace=room.trace)
    steps = {step.name: step.detail for step in reply.trace.steps}
    number = steps.get("route", {}).get("commit")
    if number is None or steps.get("choose", {}).get("to") == "facts":
        return
    put(out, ", ".join(reply.intents), style="dim", indent=2)
    forest = room.memory.tasks()
    edits = next((commit.edits for commit in forest.commits if commit.number == number), ())
    show_differences(out, differences(edits, forest))


def _run(message: str, room: Room) -> None:
    name, _, rest = message[1:].partition(" ")
    if name not in COMMANDS:
        raise InputError(f"There is no command /{name}; /help lists those that there are.")
    COMMANDS[name](rest.strip(), room)


def _give(room: Room, value: object, show: Callable[[], object]) -> None:
    if room.request.json:
        dump(value, lines=True)
    else:
        show()
        room.request.out.print()


def _facts(rest: str, room: Room) -> None:
    facts = room.memory.facts(subject=rest or None)
    _give(room, facts, lambda: show_facts(room.request.out, facts, room.memory.describe))


def _tasks(rest: str, room: Room) -> None:
    forest = room.memory.tasks()
    _give(room, {"state": forest.state(), "tasks": forest.tree()}, lambda: show_forest(room.request.out, forest))


def _why(rest: str, room: Room) -> None:
    if not rest:
        raise InputError("Expected the id of a fact, as /facts shows it: /why ID")
    found = room.memory.why(rest)
    _give(room, found, lambda: show_why(room.request.out, found, room.memory.describe))


def _history(rest: str, room: Room) -> None:
    try:
        words = shlex.split(rest)
    except ValueError:
        words = rest.split()
    if not words:
        raise InputError("Expected a fact id, or a subject and a relation: /history Ana lives in")
    subject, relation = words[0], " ".join(words[1:])
    facts = room.memory.history((subject, relation) if relation else subject)
    _give(room, facts, lambda: show_history(room.request.out, facts, room.memory.describe))


def _search(rest: str, room: Room) -> None:
    if not rest:
        raise InputError("Expected a query: /search coffee")
    found = room.memory.search(rest, k=5)
    _give(room, found, lambda: show_evidence(room.request.out, found))


def _undo(rest: str, room: Room) -> None:
    changes = room.memory.undo()
    out = room.request.out

    def show() -> None:
        out.print("Taken back." if changes else "There is nothing to take back.")
        show_changes(out, changes, room.memory.describe)

    _give(room, changes, show)


def _help(rest: str, room: Room) -> None:
    _give(room, {"help": HELP.splitlines()}, lambda: room.request.out.print(HELP))


def _quit(rest: str, room: Room) -> None:
    raise Left


COMMANDS: dict[str, Callable[[str, Room], None]] = {
    "facts": _facts,
    "tasks": _tasks,
    "why": _why,
    "history": _history,
    "search": _search,
    "undo": _undo,
    "help": _help,
    "quit": _quit,
    "exit": _quit,
}
