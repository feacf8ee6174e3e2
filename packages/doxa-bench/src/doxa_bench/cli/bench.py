"""`doxa bench`: how well the memory does on a benchmark, with everything that is needed to do it again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from enum import StrEnum
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from doxa.core.errors import InputError
from doxa.transport.cli.app import command, separate
from doxa.transport.cli.render import columns, put, shorten
from doxa.transport.cli.request import Request
from doxa_bench.cli.answers import measure_locomo_answers, measure_longmemeval, show_answers
from doxa_bench.cli.beam import measure_beam, show_beam
from doxa_bench.cli.everyday import measure_everyday, show_everyday
from doxa_bench.cli.facts import measure_facts, show_facts
from doxa_bench.cli.implicit import measure_implicit, show_implicit
from doxa_bench.cli.knowledge import measure_knowledge, show_knowledge
from doxa_bench.cli.mtbench import measure_mtbench, measure_refined, show_mtbench
from doxa_bench.cli.nli import measure_nli, show_nli
from doxa_bench.cli.options import (
    AblationsOption,
    AnswererOption,
    AnswersOption,
    AsPublishedOption,
    BaselinesOption,
    ClaimsOption,
    ContradictionOption,
    DataOption,
    DetailsOption,
    DialoguesOption,
    ErrorRateOption,
    ErrorsOption,
    FactsOption,
    FamilyOption,
    FiguresOption,
    JudgeBaseUrlOption,
    JudgeKeyFileOption,
    JudgeOption,
    KOption,
    LabelsOption,
    LimitOption,
    LongOption,
    OutOption,
    ParallelOption,
    PlotOption,
    PredictionsOption,
    RecordOption,
    RoundsOption,
    RunsOption,
    SeedOption,
    SensitivityOption,
    SetOption,
    SystemsOption,
    Wanted,
)
from doxa_bench.cli.realtalk import measure_realtalk
from doxa_bench.cli.recall import measure_prefeval, show_compared, show_prefeval
from doxa_bench.cli.replies import measure_replies, show_replies
from doxa_bench.cli.tables import measure_tables, show_tables
from doxa_bench.cli.tasks import NO_DATA, measure_tasks, show_tasks
from doxa_bench.cli.worlds import measure_beliefbank, measure_worlds, show_beliefbank, show_worlds

__all__ = ["Benchmark", "bench", "commands"]

Tell = Callable[[str, int, int], None]


class Benchmark(StrEnum):
    """Benchmarks that can be run."""

    LOCOMO = "locomo"
    LONGMEMEVAL = "longmemeval"
    REALTALK = "realtalk"
    BEAM = "beam"
    FACTS = "facts"
    UNDERSTANDING = "understanding"
    OPENIE = "openie"
    DIALOGRE = "dialogre"
    OBSERVATIONS = "observations"
    REVISION = "revision"
    EVERYDAY = "everyday"
    REPLIES = "replies"
    NLI = "nli"
    WORLDS = "worlds"
    BELIEFBANK = "beliefbank"
    PREFEVAL = "prefeval"
    IMPLICIT = "implicit"
    TABLES = "tables"
    TASKS = "tasks"
    KNOWLEDGE = "knowledge"
    MTBENCH101 = "mtbench101"
    MTBENCH101_REFINED = "mtbench101-refined"


class _Report(Protocol):
    """What every benchmark gives back."""

    @property
    def models(self) -> Mapping[str, str | None]: ...


ABOUT = """
locomo: is the evidence of a question found? Recall@k, ndcg@k, per category and without shared words; latency.
locomo --answers, longmemeval: are questions about long histories answered? Token F1, abstention, risk by coverage.
realtalk: both over weeks of chat between two real people, beside BM25, dense, RRF; with --answers token F1.
beam: chats of 100K tokens with an assistant: are sources found, contradictions flagged, unknowns abstained from?
facts: is the value that holds now given, over one fact and over several, after thousands of facts? Read or drawn.
understanding: is what a turn says stored, and nothing else? Precision, recall, F1, forbidden rate, details, by tag.
openie: are the propositions of a sentence found (CaRB or WiRe57)? dialogre: the relations of a dialogue (DialogRE)?
observations: what people noted about the conversations of LoCoMo? Coverage, claims per turn, duplicates.
revision: are questions answered rightly while facts change? Accuracy, precision, recall, abstention, by kind.
everyday: can a memory of chats as people type them be trusted? Answers, facts and checks, right or wrong.
replies: are replies that contradict the memory found, and no others? Drawn from gold data, half wrong, or from a file.
nli: does one text follow from another, or contradict it? Accuracy, F1, confusion, calibration, pairs per second.
worlds: can a dialogue about a made-up world end in contradiction? By policy; answers are simulated, or a model's.
beliefbank: what do the policies make of 12,636 beliefs when a tenth is wrong? Consistency, accuracy, time.
prefeval: is a stated preference found by a question without its words, 100 turns later? Beside BM25, dense, RRF.
implicit: the same over weeks of drawn dialogues on films, food and work, beside eight systems; no data needed.
tables: every table and figure of the paper that implicit, LoCoMo and replays of both give: Markdown, JSON, PNG.
tasks: does a task memory stay right under revisions? Hallucinations, confusions, slots; tokens; revised slot values.
knowledge: is background knowledge diverse, and does it go where people go? Overlap, alignment, CICERO.
mtbench101: are the replies of a system consistent and good? CS, DER, word F1, BLEU, a judge's score; by task, by turn.
mtbench101-refined: which quarter of its dialogues is the hardest? The subset for ablations, and how complex it is.
"""
"""What `--help` says of each."""


def _described(function: Callable[..., None]) -> Callable[..., None]:
    """Put what each benchmark is about into the help."""
    first, _, rest = (function.__doc__ or "").partition("\n\n")
    function.__doc__ = "\n\n".join((first, ABOUT.strip(), inspect.cleandoc(rest)))
    return function


commands = separate()


@command("bench", example="doxa bench locomo --data locomo10.json --json", of=commands)
@_described
def bench(
    request: Request,
    name: Annotated[Benchmark, typer.Argument(help="Which benchmark.", show_choices=True)],
    data: DataOption = None,
    k: KOption = None,
    limit: LimitOption = None,
    predictions: PredictionsOption = None,
    errors: ErrorsOption = None,
    claims: ClaimsOption = None,
    seed: SeedOption = None,
    dialogues: DialoguesOption = None,
    family: FamilyOption = None,
    answerer: AnswererOption = None,
    error_rate: ErrorRateOption = None,
    contradiction_rate: ContradictionOption = None,
    baselines: BaselinesOption = None,
    ablations: AblationsOption = None,
    answers: AnswersOption = None,
    long: LongOption = None,
    out: OutOption = None,
    systems: SystemsOption = None,
    runs: RunsOption = None,
    judge: JudgeOption = None,
    judge_base_url: JudgeBaseUrlOption = None,
    judge_key_file: JudgeKeyFileOption = None,
    as_published: AsPublishedOption = None,
    figures: FiguresOption = None,
    sensitivity: SensitivityOption = None,
    set_: SetOption = None,
    details: DetailsOption = None,
    rounds: RoundsOption = None,
    plot: PlotOption = None,
    parallel: ParallelOption = None,
    facts: FactsOption = None,
    labels: LabelsOption = None,
    record: RecordOption = True,
) -> None:
    """Measure the memory on a benchmark.

    Every report has turns per second, git revision and versions. Its memory is its own; --db and --user play no part.
    """
    given = locals()  # its options, by the names that they have in `Wanted`
    wanted = Wanted(**{option.name: given[option.name] for option in fields(Wanted)})
    _check(name, wanted)
    measure, _, show = BENCHMARKS[name]
    with _progress(request) as tell:
        report, found = measure(request, wanted, tell)
    if record:
        _record(request, name, wanted, report, found)
    request.give(found, lambda out: show(out, found))


def _check(name: Benchmark, wanted: Wanted) -> None:
    _, takes, _ = BENCHMARKS[name]
    if wanted.given - takes:
        raise InputError(f"bench {name.value}: it takes no --{', --'.join(sorted(wanted.given - takes))}.")
    needs_none = (
        name in (Benchmark.EVERYDAY, Benchmark.IMPLICIT, Benchmark.TABLES, Benchmark.KNOWLEDGE)
        or wanted.set_ in NO_DATA
        or wanted.facts is not None
    )
    if "data" in takes and wanted.data is None and not needs_none:
        raise InputError(f"bench {name.value}: expected its data; give --data PATH. It does not come with Doxa.")


def _record(request: Request, name: Benchmark, wanted: Wanted, report: _Report, found: dict[str, Any]) -> None:
    from doxa_bench import write_record

    path = write_record(name.value, found, config=request.config, models=report.models, seeds=wanted.seeds)
    request.note(f"Recorded in {path}")


def _measure_locomo(request: Request, wanted: Wanted, tell: Tell | None) -> tuple[_Report, dict[str, Any]]:
    from doxa_bench import run_locomo

    if wanted.answers:
        return measure_locomo_answers(request, wanted, tell)
    if wanted.errors or wanted.out:
        raise InputError("bench locomo: --errors and --out are for answers; add --answers.")
    report = run_locomo(
        wanted.path,
        k=wanted.k or 10,
        config=request.config,
        limit=wanted.limit,
        baselines=bool(wanted.baselines),
        progress=tell,
    )
    return report, report.to_dict()


def _measure_understanding(request: Request, wanted: Wanted, tell: Tell | None) -> tuple[_Report, dict[str, Any]]:
    from doxa_bench import run_understanding, write_predictions

    report = run_understanding(wanted.path, config=request.config, parallel=wanted.parallel or 1, progress=tell)
    if wanted.predictions is not None:
        write_predictions(report.predictions, wanted.predictions)
    return report, report.to_dict(errors=wanted.errors or 0)


def _measure_openie(request: Request, wanted: Wanted, tell: Tell | None) -> tuple[_Report, dict[str, Any]]:
    from doxa_bench import run_openie

    report = run_openie(wanted.path, config=request.config, limit=wanted.limit, progress=tell)
    return report, report.to_dict()


def _measure_dialogre(request: Request, wanted: Wanted, tell: Tell | None) -> tuple[_Report, dict[str, Any]]:
    from doxa_bench import run_dialogre

    report = run_dialogre(wanted.path, config=request.config, limit=wanted.limit, progress=tell)
    return report, report.to_dict()


def _measure_observations(request: Request, wanted: Wanted, tell: Tell | None) -> tuple[_Report, dict[str, Any]]:
    from doxa_bench import run_observations

    report = run_observations(wanted.path, config=request.config, limit=wanted.limit, progress=tell)
    return report, report.to_dict()


def _measure_revision(request: Request, wanted: Wanted, tell: Tell | None) -> tuple[_Report, dict[str, Any]]:
    from doxa_bench import run_revision, write_predictions

    report = run_revision(
        wanted.path, claims=wanted.claims, config=request.config, parallel=wanted.parallel or 1, progress=tell
    )
    if wanted.predictions is not None:
        write_predictions(report.predictions, wanted.predictions)
    return report, report.to_dict(errors=wanted.errors or 0)


def _progress(request: Request) -> AbstractContextManager[Tell | None]:
    return _Bars(request) if request.shows_progress else nullcontext()


class _Bars:
    """One bar that follows what the benchmark says it is doing."""

    def __init__(self, request: Request) -> None:
        parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._progress = Progress(*parts, console=request.err, transient=True)
        self._task = self._progress.add_task("reading", total=None)

    def __enter__(self) -> Tell:
        self._progress.start()
        return self._tell

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def _tell(self, what: str, done: int, total: int) -> None:
        self._progress.update(self._task, description=what, completed=done, total=total)


def _show_locomo(out: Console, found: dict[str, Any]) -> None:
    if found["benchmark"].endswith("-answers"):
        show_answers(out, found)
        return
    measures = list(next(iter(found["categories"].values()), {}))
    table = columns("category", *measures)
    for name, row in (*found["categories"].items(), ("all", found), ("implicit", found["implicit"])):
        table.add_row(name, *(str(row[measure]) for measure in measures))
    put(out, table)
    show_compared(out, found)
    latency = found["latency_ms"]
    _show_run(out, found, f"search {latency['p50']} ms (p50), {latency['p95']} ms (p95)")


def _show_understanding(out: Console, found: dict[str, Any]) -> None:
    _show_measures(out, found)
    measures = ("precision", "recall", "f1", "forbidden_rate", "strict_f1")
    table = columns("tag", "items", *measures)
    for tag, row in found["tags"].items():
        table.add_row(tag, str(row["counts"]["items"]), *(_number(row[measure]) for measure in measures))
    put(out, "")
    put(out, table)
    _show_mistakes(out, found)
    _show_run(out, found, f"{found['counts']['items']:,} items")


def _show_openie(out: Console, found: dict[str, Any]) -> None:
    _show_measures(out, found)
    counted = f"{found['extractions']:,} extractions for {found['gold_tuples']:,} gold tuples"
    _show_run(out, found, f"{counted}; nothing from {found['silent']:,}", unit="sentences")


def _show_dialogre(out: Console, found: dict[str, Any]) -> None:
    measures = ("precision", "recall", "f1")
    table = columns("label", *measures, "right", "predicted", "gold")
    for name, row in (*found["labels"].items(), ("all covered", found)):
        counts = (str(row[count]) for count in ("right", "predicted", "gold"))
        table.add_row(name, *(_number(row[measure]) for measure in measures), *counts)
    put(out, table)
    left_out = ", ".join(f"{label} ({count})" for label, count in found["left_out"].items()) or "none"
    _show_run(out, found, f"{found['dialogues']:,} dialogues; labels not covered: {left_out}")


def _show_observations(out: Console, found: dict[str, Any]) -> None:
    _show_measures(out, found)
    resident = found["resident_mib"]
    memory = f"{resident[0]} to {resident[-1]} MiB resident" if resident else "resident memory unknown"
    _show_run(out, found, f"{found['observations']:,} observations, {found['facts']:,} current facts; {memory}")


def _show_revision(out: Console, found: dict[str, Any]) -> None:
    _show_measures(out, found)
    for group in ("kinds", "types"):
        table = columns(group.removesuffix("s"), "accuracy", "right", "probes")
        for name, row in found[group].items():
            table.add_row(name, _number(row["accuracy"]), str(row["right"]), str(row["probes"]))
        put(out, "")
        put(out, table)
    _show_mistakes(out, found)
    wrong = ", ".join(f"{count} {kind}" for kind, count in found["wrong"].items())
    interval = " to ".join(_number(bound) for bound in found["accuracy_95"] or ())
    put(out, f"\nWrong: {wrong}. Accuracy, 95% over dialogues: {interval or 'unknown'}.")
    counted = f"{found['counts']['dialogues']:,} dialogues, {found['counts']['probes']:,} probes"
    _show_run(out, found, counted)


def _show_mistakes(out: Console, found: dict[str, Any]) -> None:
    for mistake in found["errors"]:
        put(out, f"\n{mistake['id']} {mistake['kind']}: {shorten(mistake['turn'], 200)}")
        put(out, mistake["detail"], indent=2)


def _show_measures(out: Console, found: dict[str, Any]) -> None:
    """Print every measure that stands at the top level of a report."""
    table = columns("measure", "")
    for name, value in found.items():
        if (value is None or isinstance(value, float)) and not name.endswith("_per_s"):
            table.add_row(name.replace("_", " "), _number(value))
    put(out, table)


def _show_run(out: Console, found: dict[str, Any], more: str, *, unit: str = "turns") -> None:
    put(
        out,
        f"\n{found[unit]:,} {unit}, {found[unit + '_per_s']:,.0f} {unit}/s; {more}; "
        f"encoder {found['models']['encoder']}; revision {found.get('revision') or 'unknown'}",
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


Measure = Callable[[Request, Wanted, Tell | None], tuple[_Report, dict[str, Any]]]
Show = Callable[[Console, dict[str, Any]], None]
BENCHMARKS: dict[Benchmark, tuple[Measure, set[str], Show]] = {
    Benchmark.LOCOMO: (
        _measure_locomo,
        {"data", "k", "limit", "baselines", "answers", "errors", "out"},
        _show_locomo,
    ),
    Benchmark.LONGMEMEVAL: (measure_longmemeval, {"data", "limit", "seed", "errors", "out"}, show_answers),
    Benchmark.REALTALK: (measure_realtalk, {"data", "k", "limit", "answers", "errors", "out"}, _show_locomo),
    Benchmark.BEAM: (measure_beam, {"data", "limit", "errors"}, show_beam),
    Benchmark.FACTS: (measure_facts, {"data", "facts", "seed", "limit", "errors"}, show_facts),
    Benchmark.UNDERSTANDING: (
        _measure_understanding,
        {"data", "predictions", "errors", "parallel"},
        _show_understanding,
    ),
    Benchmark.OPENIE: (_measure_openie, {"data", "limit"}, _show_openie),
    Benchmark.DIALOGRE: (_measure_dialogre, {"data", "limit"}, _show_dialogre),
    Benchmark.OBSERVATIONS: (_measure_observations, {"data", "limit"}, _show_observations),
    Benchmark.REVISION: (_measure_revision, {"data", "predictions", "errors", "claims", "parallel"}, _show_revision),
    Benchmark.EVERYDAY: (measure_everyday, {"data", "predictions", "errors", "parallel"}, show_everyday),
    Benchmark.REPLIES: (measure_replies, {"data", "seed", "dialogues", "errors"}, show_replies),
    Benchmark.NLI: (measure_nli, {"data", "limit"}, show_nli),
    Benchmark.WORLDS: (
        measure_worlds,
        {"seed", "dialogues", "family", "answerer", "error-rate", "contradiction-rate", "details"},
        show_worlds,
    ),
    Benchmark.BELIEFBANK: (measure_beliefbank, {"data", "limit", "seed"}, show_beliefbank),
    Benchmark.PREFEVAL: (measure_prefeval, {"data", "limit", "seed"}, show_prefeval),
    Benchmark.IMPLICIT: (
        measure_implicit,
        {"data", "seed", "dialogues", "ablations", "answers", "long"},
        show_implicit,
    ),
    Benchmark.TABLES: (measure_tables, {"data", "seed", "dialogues", "out"}, show_tables),
    Benchmark.TASKS: (
        measure_tasks,
        {"data", "limit", "predictions", "seed", "systems", "set", "details", "rounds", "plot", "parallel"},
        show_tasks,
    ),
    Benchmark.KNOWLEDGE: (
        measure_knowledge,
        {"data", "limit", "systems", "set", "details", "plot", "labels", "predictions"},
        show_knowledge,
    ),
    Benchmark.MTBENCH101: (
        measure_mtbench,
        {
            "data",
            "limit",
            "seed",
            "out",
            "systems",
            "runs",
            "judge",
            "judge-base-url",
            "judge-key-file",
            "sensitivity",
            "as-published",
            "parallel",
            "figures",
        },
        show_mtbench,
    ),
    Benchmark.MTBENCH101_REFINED: (measure_refined, {"data", "out"}, show_mtbench),
}
"""How each is run, the options that it takes, and how its report is printed."""
