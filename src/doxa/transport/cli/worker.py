"""`doxa worker`: a process that reads the turns that others received."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from doxa.core.errors import InputError, NotFoundError
from doxa.transport.cli.app import DONE, command
from doxa.transport.cli.request import Request

__all__ = ["worker"]


@command("worker", example="doxa worker --db postgresql://doxa@localhost/doxa")
def worker(
    request: Request,
    most: Annotated[int, typer.Option("--users", min=1, help="Users whose turns are processed at a time.")] = 1,
    retry: Annotated[
        str | None, typer.Option("--retry", metavar="USER", help="Have workers try a user again, and end.")
    ] = None,
) -> int:
    """Process the turns that were received and are not processed yet, of all users, until Ctrl-C or SIGTERM.

    Any number may run on one Postgres database, beside servers (extra postgres); on a file there should be one. A user
    whose turns fail is tried again after 2 s, 4 s and so on, and left alone after five times: `doxa doctor` names them.
    """
    from doxa.engine import Worker, try_again

    if retry is not None:
        with request.open() as doxa:
            if not try_again(doxa, retry):
                raise NotFoundError(f"No turns of user {retry!r} have failed. `doxa doctor` names the users.")
        request.give({"retried": retry}, lambda out: out.print(f"Workers try {retry} again.", markup=False))
        return DONE
    if request.options.user:
        raise InputError("doxa worker processes the turns of all users, and takes no --user.")
    running = Worker.open(request.config.db, config=request.config)
    before = {number: signal.signal(number, lambda *_: running.stop()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        request.note(f"Processing what waits in {request.place}  (stop with Ctrl-C)")
        running.run(most=most)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        running.close()
    return DONE
