"""`doxa bench realtalk`: evidence and answers over chats of real people."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from doxa.core.errors import InputError
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import LocomoAnswersReport, LocomoReport

__all__ = ["measure_realtalk"]

Tell = Callable[[str, int, int], None]


def measure_realtalk(
    request: Request, wanted: Wanted, tell: Tell | None
) -> tuple[LocomoReport | LocomoAnswersReport, dict[str, Any]]:
    """Return the report on REALTALK, its evidence or with `--answers` its answers, and it as plain data.

    Raises:
        InputError: an option belongs to the other of the two.
    """
    from doxa_bench import run_realtalk, run_realtalk_answers

    if wanted.answers:
        answers = run_realtalk_answers(
            wanted.path, config=request.config, limit=wanted.limit, out=wanted.out, progress=tell
        )
        return answers, answers.to_dict(errors=wanted.errors or 0)
    if wanted.errors or wanted.out:
        raise InputError("bench realtalk: --errors and --out are for answers; add --answers.")
    report = run_realtalk(wanted.path, k=wanted.k or 10, config=request.config, limit=wanted.limit, progress=tell)
    return report, report.to_dict()
