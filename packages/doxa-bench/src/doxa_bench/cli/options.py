"""The options of `doxa bench`, which its benchmarks share or have for themselves."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AblationsOption",
    "AnswererOption",
    "AnswersOption",
    "AsPublishedOption",
    "BaselinesOption",
    "ClaimsOption",
    "ContradictionOption",
    "DataOption",
    "DetailsOption",
    "DialoguesOption",
    "ErrorRateOption",
    "ErrorsOption",
    "FactsOption",
    "FamilyOption",
    "FiguresOption",
    "JudgeBaseUrlOption",
    "JudgeKeyFileOption",
    "JudgeOption",
    "KOption",
    "LabelsOption",
    "LimitOption",
    "LongOption",
    "OutOption",
    "ParallelOption",
    "PlotOption",
    "PredictionsOption",
    "RecordOption",
    "RoundsOption",
    "RunsOption",
    "SeedOption",
    "SensitivityOption",
    "SetOption",
    "SystemsOption",
    "Wanted",
]

AblationsOption = Annotated[
    bool | None, typer.Option("--ablations", help="implicit: with one part switched off at a time as well.")
]
BaselinesOption = Annotated[
    bool | None, typer.Option("--baselines", help="locomo: BM25, dense and RRF over the same turns as well.")
]
AnswersOption = Annotated[
    bool | None,
    typer.Option(
        "--answers", help="locomo, realtalk: are the questions answered, not: is their evidence found? implicit: both."
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="PATH",
        help="Its data, which does not come with Doxa; worlds, tasks --set forms and facts --facts have none, implicit "
        "takes talk from it, knowledge looks in DOXA_DATA as well.",
    ),
]
KOption = Annotated[
    int | None, typer.Option("-k", "--k", min=1, help="locomo, realtalk: hits of a search [default 10].")
]
LimitOption = Annotated[
    int | None,
    typer.Option("--limit", min=1, help="Only the first conversations, sentences, entities, questions, tasks, ..."),
]
LongOption = Annotated[
    int | None,
    typer.Option("--long", min=200, help="implicit: turns of each dialogue, in which tastes show again and again."),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FOLDER",
        help="tables, mtbench101: where they are written [default tables, mtbench101]; mtbench101 goes on from what "
        "it finds there. Answers: where the figure of risk and coverage goes.",
    ),
]
PredictionsOption = Annotated[
    Path | None,
    typer.Option(
        "--predictions",
        metavar="FILE",
        help="understanding, revision, tasks: write what came out. knowledge: write the labelled transitions.",
    ),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="knowledge: transitions from a file [default: by the language model where one is configured, else what is "
        "said next].",
    ),
]
ErrorsOption = Annotated[
    int | None, typer.Option("--errors", min=1, help="understanding, revision, facts, beam, answers: show mistakes.")
]
ClaimsOption = Annotated[
    Path | None, typer.Option("--claims", metavar="FILE", help="revision: tell these claims, understand nothing.")
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed",
        help="worlds, beliefbank, prefeval, implicit, longmemeval, tables, replies, tasks, facts: of what is "
        "drawn [default 0].",
    ),
]
DialoguesOption = Annotated[
    int | None,
    typer.Option(
        "--dialogues",
        min=1,
        help="worlds: how many per condition [default 120]. implicit, tables: how many [default 500]. "
        "replies: how many [default 400].",
    ),
]
FactsOption = Annotated[
    int | None,
    typer.Option("--facts", metavar="N", min=10, help="facts: draw a set of so many invented facts instead."),
]
FamilyOption = Annotated[
    str | None,
    typer.Option("--family", metavar="NAME", help="worlds: only paper, hard or bulk (5 to 60 atoms)."),
]
AnswererOption = Annotated[
    str | None,
    typer.Option(
        "--answerer",
        metavar="NAME",
        help="worlds: simulated, or model, the language model [default: both where one is configured].",
    ),
]
ErrorRateOption = Annotated[
    float | None,
    typer.Option("--error-rate", min=0, max=1, help="worlds: how often the simulated answerer is wrong."),
]
ContradictionOption = Annotated[
    float | None,
    typer.Option("--contradiction-rate", min=0, max=1, help="worlds: how often it contradicts itself."),
]
SystemsOption = Annotated[
    str | None,
    typer.Option(
        "--systems",
        metavar="NAMES",
        help="mtbench101: reference, builtin, base, without-tree, without-memory, full, mem0-style, memorybank-style, "
        "comedy-style; with commas [default: all that the settings allow]. tasks: ours, respond, no-dag, "
        "random-intent, flat-history, and with a language model base-flat, cot, react [default: all; --set forms: not "
        "respond, no-dag, random-intent]. knowledge: ours, dense, rerank, bm25, mmr, rerank-nli, no-reasoner, "
        "no-bridging, no-check [default: all].",
    ),
]
RunsOption = Annotated[
    int | None, typer.Option("--runs", min=1, help="mtbench101: how often a model replies, averaged [default 3].")
]
JudgeOption = Annotated[
    str | None,
    typer.Option("--judge", metavar="MODEL", help="mtbench101: the model that scores replies, such as openai:NAME."),
]
JudgeBaseUrlOption = Annotated[
    str | None,
    typer.Option(
        "--judge-base-url", metavar="URL", help="mtbench101: the judge's server [default: that of the setting llm]."
    ),
]
JudgeKeyFileOption = Annotated[
    Path | None,
    typer.Option("--judge-key-file", metavar="FILE", help="mtbench101: the key of the judge's own server."),
]
AsPublishedOption = Annotated[
    bool | None,
    typer.Option("--as-published", help="mtbench101: the paper's own search and windows beside ours."),
]
FiguresOption = Annotated[bool | None, typer.Option("--figures", help="mtbench101: draw figures.")]
SensitivityOption = Annotated[
    bool | None, typer.Option("--sensitivity", help="mtbench101: seven sizes of the tree on 100 dialogues as well.")
]
SetOption = Annotated[
    str | None,
    typer.Option(
        "--set",
        metavar="NAME",
        help="tasks: gold [default], published, forms (no data), sgd or smcalflow (revised slots). knowledge: "
        "dailydialog [default], empathetic, or cicero (inferences).",
    ),
]
DetailsOption = Annotated[
    bool | None,
    typer.Option(
        "--details",
        help="tasks: every violation, with its turn, what was expected and what came. knowledge: examples. worlds: "
        "every literal that was given up, and because of what.",
    ),
]
RoundsOption = Annotated[
    int | None, typer.Option("--rounds", min=2, help="tasks --set forms: rounds of the longest form [default 100].")
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="tasks --set forms: draw tokens and saving by round, PNG. knowledge: alignment by threshold.",
    ),
]
ParallelOption = Annotated[
    int | None,
    typer.Option(
        "--parallel",
        metavar="N",
        min=1,
        help="understanding, revision, everyday, tasks (gold, published): so many items, dialogues, chats or scenarios "
        "at the same time, for a model that is waited for [default 1]. mtbench101: dialogues that a model holds at a "
        "time [default 8].",
    ),
]
RecordOption = Annotated[bool, typer.Option("--record/--no-record", help="Write a run record under runs/, or none.")]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of one run in the order of `bench`; None where they were not given."""

    data: Path | None = None
    k: int | None = None
    limit: int | None = None
    predictions: Path | None = None
    errors: int | None = None
    claims: Path | None = None
    seed: int | None = None
    dialogues: int | None = None
    family: str | None = None
    answerer: str | None = None
    error_rate: float | None = None
    contradiction_rate: float | None = None
    baselines: bool | None = None
    ablations: bool | None = None
    out: Path | None = None
    answers: bool | None = None
    long: int | None = None
    systems: str | None = None
    runs: int | None = None
    judge: str | None = None
    judge_base_url: str | None = None
    judge_key_file: Path | None = None
    as_published: bool | None = None
    figures: bool | None = None
    sensitivity: bool | None = None
    set_: str | None = None
    details: bool | None = None
    rounds: int | None = None
    plot: Path | None = None
    parallel: int | None = None
    facts: int | None = None
    labels: Path | None = None

    @property
    def given(self) -> set[str]:
        """The names of the options that were given, as they are typed."""
        return {
            option.name.strip("_").replace("_", "-")
            for option in fields(self)
            if getattr(self, option.name) is not None
        }

    @property
    def seeds(self) -> dict[str, int]:
        """What a run record names as seeds: the one that was given."""
        return {} if self.seed is None else {"seed": self.seed}

    @property
    def path(self) -> Path:
        """Where the data is; `bench` has seen to it that benchmarks with data were given some."""
        return self.data or Path()
