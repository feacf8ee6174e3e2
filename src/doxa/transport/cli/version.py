"""`doxa version`: which Doxa this is."""

from __future__ import annotations

from doxa.transport.cli.app import command, say_version
from doxa.transport.cli.request import Request

__all__ = ["version"]


@command("version", example="doxa version --json")
def version(request: Request) -> None:
    """Print the version of Doxa and of Python."""
    say_version(request)
