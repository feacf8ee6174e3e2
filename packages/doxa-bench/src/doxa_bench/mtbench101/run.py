"""`doxa bench mtbench101`: replies by several systems, scored for consistency, wording and, by a judge, quality.

The experiment of Lei et al., D-SMART, on MT-Bench-101. Without a language model the reference replies and Doxa's
built-in ones are scored, so that every part but the judge runs on all dialogues; with one, the four set-ups of the
ablation and three other ways to remember are as well, and the memory of ours is that of the settings. Replies, verdicts
and scores are kept in the output folder while they come: a run that was stopped goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from doxa.backends.llm import LanguageModel
from doxa.backends.nli import Nli
from doxa.core.config import Config
from doxa.core.errors import BackendError, ConfigError, InputError
from doxa.engine import Doxa
from doxa_bench.metrics import mean
from doxa_bench.mtbench101.complexity import refine
from doxa_bench.mtbench101.configured import with_tree, without_model
from doxa_bench.mtbench101.consistency import PremiseSpec
from doxa_bench.mtbench101.dialogues import BenchDialogue, read_benchmark
from doxa_bench.mtbench101.entailment import JournalledNli
from doxa_bench.mtbench101.figures import draw_figures
from doxa_bench.mtbench101.journal import Journal, key_of
from doxa_bench.mtbench101.judge import Judge
from doxa_bench.mtbench101.lexical import has_bleu
from doxa_bench.mtbench101.measures import DialogueResult, measured, overall
from doxa_bench.mtbench101.opened import JudgeSpec, opened_judge, opened_model
from doxa_bench.mtbench101.play import DIALOGUES_AT_ONCE, Progress, play_all
from doxa_bench.mtbench101.prompted import Notebook, OurNotes, Prompted
from doxa_bench.mtbench101.published import Published
from doxa_bench.mtbench101.report import MtbenchReport, RefinedReport
from doxa_bench.mtbench101.results import read_results, write_json, write_results
from doxa_bench.mtbench101.scoring import score_all
from doxa_bench.mtbench101.styles import notebook_of
from doxa_bench.mtbench101.systems import (
    MEMORY,
    OFFLINE,
    PUBLISHED,
    STYLES,
    SYSTEMS,
    TREE,
    Builtin,
    Reference,
    System,
)
from doxa_bench.mtbench101.tables import complexity_table, sensitivity_table, tables_of
from doxa_bench.paper.figures import require_plots
from doxa_bench.paper.tables import make_folder, write_tables
from doxa_bench.record import environment, masked, models_of

__all__ = ["run", "run_refined"]

RUNS = 3
DRAWN = 100
"""Dialogues of the sensitivity analysis. Source: appendix B."""
SIZES = {
    "Conf-1": (1, 1, 3),
    "Conf-2": (3, 1, 3),
    "Conf-3": (5, 1, 3),
    "Conf-4": (5, 2, 3),
    "Conf-5": (5, 3, 3),
    "Conf-6": (5, 3, 1),
    "Conf-7": (5, 3, 5),
}
"""Name -> Dmax, B, S. Appendix B says that 1 to 3 deepen the tree, that 3 and 5 differ in B, and what 5 is; the rest is
ours."""
RESULTS, REFINED = "results.json", "refined.json"
STAND_IN = "STAND-IN model: these numbers show that the harness works, not how good any model is"


def run_refined(data: Path, *, out: Path) -> RefinedReport:
    """Write the refined subset of the dialogues of a file, with its complexity beside that of all (table 4).

    Args:
        data: the file or folder of MT-Bench-101.
        out: the folder for `refined.json`. Where an earlier `run` left judged replies of `base` in it (`results.json`),
            stage 1 goes by them; else it is left out.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no such dialogue, or `results.json` is none of ours.
        StoreReadOnlyError: the folder cannot be written.
    """
    dialogues = read_benchmark(data)
    make_folder(out)
    selection = refine(dialogues, _base_scores(read_results(out / RESULTS)))
    table = complexity_table(selection)
    path = write_json(out / REFINED, selection.to_dict())
    return RefinedReport(data=str(data), selection=selection, table=table, files=(path,), environment=environment())


def run(
    data: Path,
    *,
    out: Path,
    systems: Sequence[str] = (),
    runs: int = RUNS,
    judge: JudgeSpec | str | None = None,
    limit: int | None = None,
    sensitivity: bool = False,
    as_published: bool = False,
    parallel: int = DIALOGUES_AT_ONCE,
    seed: int = 0,
    figures: bool = False,
    nli: Nli | None = None,
    config: Config | None = None,
    progress: Progress | None = None,
) -> MtbenchReport:
    """Let systems reply to the dialogues of MT-Bench-101, score the replies, and write tables and figures.

    Args:
        data: the file or folder; `limit` is how many dialogues of it at most, from every task in turn.
        out: the folder for tables, figures and journals; what its journals hold is not made again.
        systems: which of `SYSTEMS`; by default the offline ones, and the others where a language model is configured.
        runs: how often a system replies that would not reply the same again.
        judge: the model that scores replies, such as `openai:NAME`; by name alone it is reached as `llm` is.
        sensitivity: run `full` with seven sizes of the tree on 100 dialogues, drawn by `seed`, as well.
        as_published: run the search of the paper as well, and measure CS and DER with its windows beside ours.
        parallel: how many dialogues a language model holds at a time.
        figures: draw figures; nothing is measured when matplotlib is not there for it.
        nli: the NLI model, and `config` the settings; by default those of the file and the environment.
        progress: is told how far the run is.

    Raises:
        InputError: a system is unknown, or a number is out of range.
        ConfigError: a system needs a language model and none is configured.
        MissingDependencyError: figures are wanted and matplotlib is not installed.
        BackendError: a model answered none of its first 20 calls.
        StoreReadOnlyError: the folder cannot be written.

    Cost: one call a turn and run, the tree's besides; one a judged reply; `PremiseSpec.max_pairs` NLI pairs a reply.
    """
    config = config or Config.load()
    bench = _Bench(config=config, out=out, tell=progress or _silent, parallel=parallel, as_published=as_published)
    wanted = bench.wanted(systems, runs, sensitivity=sensitivity)
    dialogues = _prepared(data, out, limit=limit, figures=figures)
    with ExitStack() as stack:
        bench.open(stack, wanted, judge=judge, nli=nli)
        results = {system.name: bench.measure(system, dialogues, runs) for system in bench.systems}
        sizes = bench.sensitivity(stack, dialogues, seed) if sensitivity else []
    return _report(bench, data, dialogues, results, sizes, runs=runs, figures=figures)


def _prepared(data: Path, out: Path, *, limit: int | None, figures: bool) -> list[BenchDialogue]:
    """Return the dialogues, once it is certain that what is measured can be drawn and written."""
    if figures:
        require_plots()
    dialogues = read_benchmark(data, limit=limit)
    make_folder(out)
    return dialogues


def _silent(what: str, done: int, total: int) -> None:
    """Tell nobody how far a run is."""


def _plain(name: str) -> str:
    """Return a name as people may type it: "without-tree" is "without tree"."""
    return name.strip().casefold().replace("-", " ")


@dataclass(slots=True)
class _Bench:
    """The models and journals of one run."""

    config: Config
    out: Path
    tell: Progress
    parallel: int
    as_published: bool
    systems: list[System] = field(default_factory=list)
    classify: JournalledNli | None = None
    judge: Judge | None = None
    spec: PremiseSpec = field(default_factory=PremiseSpec)
    models: dict[str, str | None] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)
    _model: LanguageModel | None = None

    def wanted(self, systems: Sequence[str], runs: int, *, sensitivity: bool) -> list[str]:
        """Return the systems of the run, in the order of the report, once it is certain that they can run.

        Raises:
            InputError: a system is unknown, or a number is out of range.
            ConfigError: one needs a language model and none is configured.
        """
        known = {_plain(name): name for name in SYSTEMS}
        unknown = [name for name in systems if _plain(name) not in known]
        if unknown:
            raise InputError(f"bench mtbench101: expected systems out of {', '.join(SYSTEMS)}, got {unknown[0]!r}.")
        if runs < 1 or self.parallel < 1:
            told = f"got {runs} and {self.parallel}"
            raise InputError(f"bench mtbench101: expected at least 1 run and 1 dialogue at once, {told}.")
        usual = SYSTEMS if self.config.roles.write == "prompted" else OFFLINE
        chosen = {known[_plain(name)] for name in systems} or set(usual)
        wanted = [*(name for name in SYSTEMS if name in chosen), *([PUBLISHED] if self.as_published else [])]
        needy = [name for name in wanted if name not in OFFLINE] + (["--sensitivity"] if sensitivity else [])
        if self.config.llm.name is None and needy:
            raise ConfigError(
                f"bench mtbench101: {', '.join(needy)} need a language model, and none is configured. Set llm.name "
                "(DOXA_LLM=openai:NAME), or take --systems reference,builtin."
            )
        return wanted

    def open(self, stack: ExitStack, wanted: Sequence[str], *, judge: JudgeSpec | str | None, nli: Nli | None) -> None:
        """Open what the systems and measures need; what cannot be measured is noted."""
        offline = stack.enter_context(Doxa.open(":memory:", config=without_model(self.config)))
        self.models = models_of(offline.describe()) | {"llm": self.config.llm.name}
        for name in wanted:
            self.systems.append(_offline(name, offline) if name in OFFLINE else self._prompted(name, stack, offline))
        if judge is not None:
            judging = stack.enter_context(
                opened_judge(self.config, JudgeSpec(judge) if isinstance(judge, str) else judge)
            )
            self.judge = Judge(judging, Journal(self.out / "judged.jsonl"))
        else:
            self.left_out["score"] = "no judge; name a model with --judge, such as openai:NAME"
        self._open_nli(offline.parts.nli if nli is None else lambda: nli)
        if not has_bleu():
            self.left_out["BLEU"] = "sacrebleu is not installed; pip install sacrebleu"
        self.models["judge"] = self.judge.name if self.judge else None

    def _open_nli(self, configured: Callable[[], Nli | None]) -> None:
        try:
            nli = configured()
            self.models["nli"] = nli.name if nli else None
            if nli is None:
                self.left_out["CS and DER"] = "no NLI model; set nli.name (DOXA_NLI=builtin)"
            else:
                self.classify = JournalledNli(nli, Journal(self.out / "nli.jsonl"))
        except BackendError as exc:
            self.left_out["CS and DER"] = str(exc)

    def measure(self, system: System, dialogues: Sequence[BenchDialogue], runs: int) -> tuple[DialogueResult, ...]:
        """Return what a system makes of every dialogue."""
        total = len(dialogues) * (1 if system.repeatable else runs)
        journal = Journal(self.out / "replies.jsonl")
        played = play_all(system, dialogues, runs, journal, self.tell, parallel=self.parallel)
        scored = score_all(
            played,
            classify=self.classify,
            judge=self.judge,
            spec=self.spec,
            published=self.as_published,
            parallel=self.parallel,
            tell=lambda done: self.tell(f"{system.name}: scores", done, total),
        )
        return tuple(scored)

    def sensitivity(self, stack: ExitStack, dialogues: Sequence[BenchDialogue], seed: int) -> list[dict[str, Any]]:
        """Return what `full` makes of drawn dialogues with every size of the tree, one run each (figure 7)."""
        drawn = Random(seed).sample(list(dialogues), min(len(dialogues), DRAWN))
        rows = []
        for name, (depth, beam, branching) in SIZES.items():
            system = self._ours("full", stack, depth=depth, beam=beam, branching=branching)
            found = self.measure(system, drawn, 1)
            calls = mean([float(turn.calls) for one in found for turn in one.turns])
            size = {"name": name, "depth": depth, "beam": beam, "branching": branching, "calls": calls}
            rows.append({**size, **overall(found)})
        return rows

    def _prompted(self, name: str, stack: ExitStack, offline: Doxa) -> System:
        if name == "base":
            return Prompted(name=name, model=self._opened(stack))
        if name in STYLES:
            encoder, model = offline.parts.encoder, self._opened(stack)
            notebook = notebook_of(name, model, encoder.encode)
            return Prompted(name=name, model=model, notebook=notebook, settings=(encoder.name,))
        return self._ours(name, stack)

    def _ours(self, name: str, stack: ExitStack, **size: int) -> System:
        """Return a set-up of ours, or the paper's search: over the memory that is configured, or over none."""
        settings = with_tree(self.config, memory=name in MEMORY, **size) if name in TREE else self.config
        doxa, model = stack.enter_context(Doxa.open(":memory:", config=settings)), self._opened(stack)
        version = (key_of(masked(settings)),)
        if name == PUBLISHED:
            return Published(model=model, doxa=doxa, settings=version)

        def notebook(user: str) -> Notebook:
            return OurNotes(setup=name, doxa=doxa, chat=doxa.dialogue(user=user, speaker="User"))

        return Prompted(name=name, model=model, notebook=notebook, settings=version)

    def _opened(self, stack: ExitStack) -> LanguageModel:
        if self._model is None:
            self._model = stack.enter_context(opened_model(self.config, str(self.config.llm.name)))
        return self._model

    @property
    def stand_in(self) -> bool:
        """Whether a model that only stands in for one has a part in it."""
        return any(_stands_in(name) for role, name in self.models.items() if role in ("llm", "judge", "nli"))


def _offline(name: str, doxa: Doxa) -> System:
    if name == "reference":
        return Reference()
    return Builtin(doxa, ("builtin", environment()["revision"], key_of(masked(doxa.parts.config))))


def _stands_in(name: str | None) -> bool:
    return name is not None and ("stand-in" in name or name.startswith("scripted"))


def _report(
    bench: _Bench,
    data: Path,
    dialogues: Sequence[BenchDialogue],
    results: Mapping[str, tuple[DialogueResult, ...]],
    sizes: Sequence[Mapping[str, Any]],
    *,
    runs: int,
    figures: bool,
) -> MtbenchReport:
    selection = refine(dialogues, _base_scores(results))
    used = {name: found for name, found in results.items() if found}
    stand_in = bench.stand_in
    tables = tables_of(used, selection, note=f"{STAND_IN}." if stand_in else "")
    if sizes:
        tables.append(sensitivity_table(sizes))
    files = write_tables(bench.out, tables, title=f"MT-Bench-101{': ' + STAND_IN if stand_in else ''}")
    files += [write_results(bench.out / RESULTS, used), write_json(bench.out / REFINED, selection.to_dict())]
    if figures:
        files += draw_figures(bench.out, used, selection.ids, sizes, mark=STAND_IN if stand_in else "")
    return MtbenchReport(
        data=str(data),
        dialogues=len(dialogues),
        turns=sum(len(one.turns) for one in dialogues),
        runs=runs,
        results=used,
        selection=selection,
        tables=tuple(tables),
        files=tuple(files),
        left_out=bench.left_out,
        stand_in=stand_in,
        counts=_counts(bench, used),
        seconds=time.perf_counter() - bench.started,
        models=bench.models,
        environment=environment(),
    )


def _base_scores(results: Mapping[str, Sequence[DialogueResult]]) -> dict[str, float]:
    """Return the judge's score of the baseline for each dialogue, averaged over runs; empty where there is none."""
    found: dict[str, list[DialogueResult]] = {}
    for one in results.get("base", ()):
        found.setdefault(one.id, []).append(one)
    cells = {name: measured(ones, lambda one: one.score) for name, ones in found.items()}
    return {name: cell.value for name, cell in cells.items() if cell is not None}


def _counts(bench: _Bench, results: Mapping[str, Sequence[DialogueResult]]) -> dict[str, int]:
    turns = [turn for found in results.values() for one in found for turn in one.turns]
    counts = {
        "replies": len(turns),
        "failed_replies": sum(bool(turn.failed) for turn in turns),
        "degraded_replies": sum(bool(turn.degraded) for turn in turns),
    }
    if bench.classify is not None:
        counts["nli_pairs"] = bench.classify.asked
    if bench.judge is not None:
        counts |= {"judge_calls": bench.judge.calls, "judge_failed": bench.judge.failed}
    return counts
