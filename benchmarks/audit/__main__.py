"""What the knowledge of language that is written down in code pays on text that nobody developed on.

    python benchmarks/audit fires                 # patterns and lists of words that never fire
    python benchmarks/audit frames                # task slots without each way of asking for a change
    python benchmarks/audit constants --package doxa.understand --set "claims F1"
    python benchmarks/audit reader                # claims and revision without each thing that the reader of turns says

A row that leaves something out gives what is lost, and the standard error of the loss over items. What loses less than
its error pays nothing that these data can show.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from fired import FIRED, constants, count_all
from unseen import SETS, Measured, differ

PACKAGES = ("doxa.understand", "doxa.tasks", "doxa.reason", "doxa.verify", "doxa.language")
MEASURED = {"frames": ["task slots"], "reader": ["claims F1", "revision"]}
"""What is measured where nothing is asked for."""
NEVER = re.compile(r"(?!)")
Change = Callable[[], None]


def fires(path: Path) -> None:
    """Count what fires while every set is measured, and write it down."""
    count_all(PACKAGES)
    for name, measure in SETS.items():
        print(f"{name:<12} {measure().value:.3f}", flush=True)
    silent = sorted(name for name, count in FIRED.items() if not count)
    path.write_text(json.dumps(dict(sorted(FIRED.items())), indent=1) + "\n", encoding="utf-8")
    print(f"{len(silent)} of {len(FIRED)} patterns and lists never fire:")
    print("\n".join(silent))


def frames() -> dict[str, Change]:
    """Return, for every frame of the tasks, what leaves it out."""
    from doxa.tasks import frames, statements, trim

    def without(name: str) -> Change:
        def change() -> None:
            for module, held in ((trim, "FRAMES"), (trim, "TELLING")):
                kept = tuple(_idle if one.__name__ == name else one for one in getattr(module, held))
                setattr(module, held, kept)

        return change

    return {one.__name__: without(one.__name__) for one in (*frames.FRAMES, *statements.TELLING)}


def _idle(*_: object) -> None:
    """Do nothing, as a frame that does not fit."""


def constants_of(package: str, fired: Path) -> dict[str, Change]:
    """Return, for every pattern and list of a package that fires, what empties it."""
    counts = json.loads(fired.read_text(encoding="utf-8")) if fired.exists() else {}

    def without(value: object) -> Change:
        empty: Any = NEVER if isinstance(value, re.Pattern) else frozenset()

        def change() -> None:
            for module in [one for key, one in sys.modules.items() if key.startswith("doxa")]:
                for name, held in list(vars(module).items()):
                    if held is value:
                        setattr(module, name, empty)

        return change

    found = {f"{module}.{name}": value for module, name, value in constants([package])}
    return {name: without(value) for name, value in found.items() if counts.get(name, 1)}


def heads() -> dict[str, Change]:
    """Return, for all that the reader of turns says, what leaves it out, and what has it or syntax read alone."""
    from doxa.backends.parser import Heard, Told
    from doxa.understand import hearing, turn

    heard = turn.hearing_of

    def changed(change: Callable[[Heard], Heard]) -> Change:
        def hears(*given: Any) -> hearing.Hearing | None:
            found = heard(*given)
            return found and replace(found, heard=change(found.heard))

        return lambda: setattr(turn, "hearing_of", hears)

    def told(change: Callable[[Told], Told]) -> Change:
        return changed(lambda one: replace(one, claims=tuple(change(claim) for claim in one.claims)))

    def alone(sure: float) -> Change:
        def change() -> None:
            vars(hearing)["SURE"] = sure
            vars(turn)["extract"] = lambda *_: []

        return change

    return {
        "syntax alone": lambda: setattr(turn, "hearing_of", lambda *_: None),
        "reader alone, from 0.5": alone(0.5),
        "reader alone, from 0.97": alone(hearing.SURE),
        "what pronouns mean": changed(lambda one: replace(one, meant=())),
        "names of relations": told(lambda claim: replace(claim, relation="")),
        "times, sources and old values": told(lambda claim: replace(claim, times=())),
        "polarity, mood, end and act": told(lambda claim: replace(claim, flags=claim.flags & {"minor"})),
        "what is minor": told(lambda claim: replace(claim, flags=claim.flags - {"minor"})),
    }


CHANGES: dict[str, Change] = {"": _idle}
"""What is left out, by name; worker processes inherit it."""


def measured(job: tuple[str, Sequence[str]]) -> tuple[str, dict[str, Measured]]:
    """Return the measures of some sets with something left out, in a process of its own."""
    name, sets = job
    CHANGES[name]()
    return name, {one: SETS[one]() for one in sets}


def leave_out(sets: Sequence[str], processes: int) -> None:
    """Measure sets as they are, and then without each thing."""
    whole: dict[str, Measured] = {}
    jobs = [(name, sets) for name in CHANGES]
    with multiprocessing.get_context("fork").Pool(processes, maxtasksperchild=1) as pool:
        for name, found in pool.imap(measured, jobs, chunksize=1):
            whole = whole or found
            lost = [differ(whole[one], found[one]) for one in sets]
            cells = [
                f"{found[one].value:.3f} {less:+.4f} ({error:.4f})"
                for one, (less, error) in zip(sets, lost, strict=True)
            ]
            print(f"{name or 'as it is':<52} {'  '.join(cells)}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fires", "frames", "constants", "reader"])
    parser.add_argument("--fired", type=Path, default=Path("fired.json"), help="where the counts are written and read")
    parser.add_argument("--package", default="doxa.understand")
    parser.add_argument("--set", action="append", choices=list(SETS), help="several may be given")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    if given.what == "fires":
        fires(given.fired)
        return
    if given.what == "constants":
        CHANGES.update(constants_of(given.package, given.fired))
    else:
        CHANGES.update(frames() if given.what == "frames" else heads())
    leave_out(given.set or MEASURED.get(given.what, list(SETS)), given.processes)


if __name__ == "__main__":
    main()
