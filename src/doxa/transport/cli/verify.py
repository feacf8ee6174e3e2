"""The command that checks a memory against its ontology: verify."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from doxa.core.consistency import Consistency
from doxa.transport.cli.app import DONE, PARTLY, command
from doxa.transport.cli.render import clean, count, put
from doxa.transport.cli.request import Request

__all__ = ["verify"]


@command("verify", example="doxa verify --dl")
def verify(
    request: Request,
    dl: Annotated[
        bool, typer.Option("--dl", help="Check by all of OWL 2 DL, with HermiT; needs Java and the extra dl.")
    ] = False,
    limit: Annotated[
        float, typer.Option("--limit", min=1.0, metavar="SECONDS", help="With --dl: how long to look for what clashes.")
    ] = 60.0,
) -> int:
    """Check whether what is believed now can all hold together.

    By the axioms of the ontology and the rules of OWL 2 RL; each clash is told with the facts that make it, of which
    none could be left out. Exit code 0 when all facts can hold, 3 when some cannot.
    """
    with request.memory(known=True) as memory:
        found = memory.verify(dl=dl, limit_s=limit)
    request.give(found, lambda out: _show(out, found))
    return DONE if found.consistent else PARTLY


def _show(out: Console, found: Consistency) -> None:
    """Print every clash with its facts, or that there is none."""
    how = "OWL 2 RL" if found.method == "owl-rl" else "OWL 2 DL"
    if found.consistent:
        more = (
            f", and {count(found.inferred, 'fact')} that {'follows' if found.inferred == 1 else 'follow'}"
            if found.inferred
            else ""
        )
        put(out, f"Consistent by {how}: {count(found.facts, 'fact')}{more}.")
        return
    for one in found.inconsistencies:
        put(out, clean(one.text))
        for fact in one.facts:
            put(out, f"{fact.fact_id}  {clean(str(fact))}", style="dim", indent=2)
        put(out, f"rule: {one.rule}", style="dim", indent=2)
    clashes = count(len(found.inconsistencies), "clash", "clashes")
    put(out, f"Inconsistent by {how}: {clashes} in {count(found.facts, 'fact')}. `doxa why FACT_ID` shows sources.")
