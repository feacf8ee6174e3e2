"""The command `doxa`: its shared options, how a function becomes a command, and how errors are told.

Other packages add commands through the entry-point group `doxa.commands`: the entry point has the command's name and
points to a `typer.Typer` with that command alone, put there by `command(..., of=...)`. It is loaded when asked for.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, entry_points
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperGroup

from doxa.core.errors import DoxaError, MissingDependencyError
from doxa.transport.cli.render import dump
from doxa.transport.cli.request import Options, Request

__all__ = [
    "DONE",
    "ERROR",
    "GROUP",
    "INTERRUPTED",
    "PARTLY",
    "app",
    "command",
    "described",
    "main",
    "say_version",
    "separate",
    "tell",
    "versions",
]

DONE, ERROR, PARTLY, INTERRUPTED = 0, 1, 3, 130

GROUP = "doxa.commands"
ELSEWHERE = {"bench": "doxa-bench"}
"""Commands of ours that come with another package, and which."""

Db = Annotated[str | None, typer.Option("--db", metavar="PATH|URL", help="The memory [DOXA_DB, default memory.db].")]
User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Whose memory [DOXA_USER, default me].")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes.")]
Settings = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings [default doxa.toml].")]
Version = Annotated[bool, typer.Option("--version", help="Print the version and stop.")]

SHARED: dict[str, tuple[Any, object]] = {
    "db": (Db, None),
    "user": (User, None),
    "json": (Json, False),
    "quiet": (Quiet, False),
    "config": (Settings, None),
}
"""Options of every command, taken before its name and after it."""

HELP = {"help_option_names": ["--help", "-h"]}


class Commands(TyperGroup):
    """Our own commands, then those of installed packages; none of theirs replaces one of ours."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the help."""
        ours = super().list_commands(ctx)
        theirs = {entry.name for entry in entry_points(group=GROUP)}
        return [*ours, *sorted(theirs.difference(ours))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, loading the package that it comes from."""
        if (ours := super().get_command(ctx, cmd_name)) is not None:
            return ours
        for entry in entry_points(group=GROUP, name=cmd_name):
            return typer.main.get_command(entry.load())
        return typer.main.get_command(_absent(cmd_name)) if cmd_name in ELSEWHERE else None


app = typer.Typer(
    name="doxa",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help reads the same in a terminal, in a pipe and in the documentation
    pretty_exceptions_enable=False,
    context_settings=HELP,
    epilog="Start with `doxa demo`. Exit codes: 0 done, 1 error, 2 wrong usage, 3 partly done, 130 interrupted.",
)


@app.callback(invoke_without_command=True)
def doxa(
    ctx: typer.Context,
    db: Db = None,
    user: User = None,
    json: Json = False,
    quiet: Quiet = False,
    config: Settings = None,
    version: Version = False,
) -> None:
    """A memory that dates and sources what it believes, and revises it instead of contradicting itself."""
    ctx.obj = Options(db=db, user=user, json=json, quiet=quiet, config=config)
    if version:
        say_version(Request(options=ctx.obj))
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        sys.stdout.write(ctx.get_help() + "\n")
        raise typer.Exit(2)


def command(
    name: str, *, example: str, of: typer.Typer = app
) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    """Register a function as a command. Its first parameter is the `Request`; what it returns is the exit code.

    Args:
        name: the name of the command.
        example: one command line, shown at the end of the help.
        of: what it is registered with; a package that adds a command has one of its own (`separate`).
    """

    def register(function: Callable[..., int | None]) -> Callable[..., int | None]:
        of.command(name, epilog=f"Example: {example}")(_with_shared_options(function))
        return function

    return register


def separate(**settings: bool) -> typer.Typer:
    """Return what holds the command of another package; its help looks like ours.

    Args:
        settings: those of click's context, such as `allow_extra_args`.
    """
    return typer.Typer(add_completion=False, rich_markup_mode=None, context_settings={**HELP, **settings})


def _absent(name: str) -> typer.Typer:
    """Return a command that takes anything and says what has to be installed for it."""
    package, absent = ELSEWHERE[name], separate(allow_extra_args=True, ignore_unknown_options=True)

    @command(name, example=f"pip install {package}", of=absent)
    def refuse(_: Request) -> None:
        """Comes with another package, which is not installed."""
        raise MissingDependencyError(package, purpose=f"`doxa {name}`")

    return absent


def _with_shared_options(function: Callable[..., int | None]) -> Callable[..., None]:
    """Return a function that typer reads the shared options from, beside those of `function`."""
    hints = get_type_hints(function, include_extras=True)
    first, *own = inspect.signature(function).parameters.values()
    hints.pop(first.name)

    def run(ctx: typer.Context, **arguments: Any) -> None:
        options = Options(**{name: arguments.pop(name) for name in SHARED})
        request = Request(options=options.over(ctx.obj or Options()))
        raise typer.Exit(_guarded(request, lambda: function(request, **arguments)))

    kind = inspect.Parameter.KEYWORD_ONLY
    shared = [inspect.Parameter(n, kind, default=d, annotation=a) for n, (a, d) in SHARED.items()]
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    mine = [p.replace(kind=kind, annotation=hints[p.name]) for p in own]
    run.__signature__ = inspect.Signature([context, *mine, *shared])  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in (context, *mine, *shared)} | {"return": None}
    run.__doc__, run.__name__ = function.__doc__, function.__name__
    return run


def _guarded(request: Request, call: Callable[[], int | None]) -> int:
    """Run a command; say what went wrong in one line, or as JSON. What is not ours to expect may trace back."""
    try:
        return call() or DONE
    except DoxaError as exc:
        tell(request, exc)
        return ERROR
    except KeyboardInterrupt:
        request.note("Interrupted.")
        return INTERRUPTED


def tell(request: Request, error: DoxaError, *, lines: bool = False) -> None:
    """Print an error of ours; with `lines`, JSON goes on one line."""
    if request.json:
        dump({"error": described(error)}, lines=lines)
    else:
        request.err.print(f"Error: {error}", soft_wrap=True)


def described(error: DoxaError) -> dict[str, str]:
    """Return an error of ours as plain data."""
    return {"type": type(error).__name__, "message": str(error)}


def versions() -> dict[str, str]:
    """Return the versions that matter for a report: Doxa and Python."""
    try:
        ours = version_of("doxa")
    except PackageNotFoundError:
        ours = "unknown (not installed)"
    return {"doxa": ours, "python": ".".join(map(str, sys.version_info[:3]))}


def say_version(request: Request) -> None:
    """Print the versions."""
    found = versions()
    request.give(found, lambda out: out.print(f"doxa {found['doxa']}, Python {found['python']}"))


def main() -> None:
    """Run the command line; the entry point of the installed `doxa`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A name in Greek must not end a command on a terminal that only knows ASCII.
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="doxa")
