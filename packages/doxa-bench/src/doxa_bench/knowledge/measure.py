"""What `doxa bench knowledge` does on a set: find data and base, measure, and ask a model where one is configured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from pathlib import Path

from doxa.backends import load
from doxa.backends.encoder import TokenEncoder
from doxa.core.config import Config
from doxa_bench.knowledge.cicero import CiceroReport
from doxa_bench.knowledge.cicero import run as run_cicero
from doxa_bench.knowledge.inferences import compare
from doxa_bench.knowledge.opening import find_data, open_base
from doxa_bench.knowledge.run import KnowledgeReport, check
from doxa_bench.knowledge.run import run as run_retrieval
from doxa_bench.knowledge.systems import SYSTEMS
from doxa_bench.knowledge.transitions import Filed, Labelled, Prompted
from doxa_bench.models import Asked, opened_model

__all__ = ["measure", "measure_cicero"]

Tell = Callable[[str, int, int], None]


def measure(
    path: Path | None = None,
    *,
    set: str = "dailydialog",
    systems: Sequence[str] = (),
    limit: int | None = None,
    examples: int = 0,
    labels: Path | None = None,
    config: Config | None = None,
    progress: Tell | None = None,
    building: Tell | None = None,
) -> KnowledgeReport:
    """Measure what is retrieved for the dialogues of a test set, on the base that is set or on one built for it.

    Args:
        path: the test set or the folder of all data; by default `DOXA_DATA`.
        set: `dailydialog` or `empathetic`.
        systems: which ones; all by default.
        limit: only the first dialogues.
        examples: of how many dialogues the report shows what was retrieved.
        labels: a file of labelled transitions; without it the language model labels, where one is configured.
        config: names the base and all models; a language model is asked where there is one.
        progress, building: are told how far it is, and how far a base is that has to be built.

    Raises:
        InputError: a name is unknown, or data or base are not there.
        FormatError: a line of the labels is none.
        ConfigError: the reasoner is `prompted`, and no language model is configured.
        BackendError: a model failed or is not there.

    Cost: two calls to a language model for each dialogue, and one more where it is the reasoner.
    """
    config, wanted = config or Config(), tuple(systems) or SYSTEMS
    check(set, wanted)
    data, filed = find_data(path), Filed.read(labels) if labels else None
    base = open_base(config, data, tell=building)
    with _model(config) as asked:
        report = run_retrieval(
            data,
            base,
            set=set,
            systems=wanted,
            limit=limit,
            examples=(limit or 10**9) if asked else examples,
            config=config,
            model=asked.model if asked else None,
            labelled=Labelled(filed or (Prompted(asked) if asked else None)),
            progress=progress,
        )
        return _compared(report, asked, examples, progress) if asked else report


def measure_cicero(
    path: Path | None = None,
    *,
    limit: int | None = None,
    config: Config | None = None,
    progress: Tell | None = None,
    building: Tell | None = None,
) -> CiceroReport:
    """Let the configured reasoner answer the questions of CICERO; arguments and errors are those of `measure`."""
    config, data = config or Config(), find_data(path)
    base = open_base(config, data, tell=building)
    with _model(config) if config.roles.infer == "prompted" else nullcontext() as asked:
        model = asked.model if asked else None
        return run_cicero(data, base, limit=limit, config=config, model=model, progress=progress)


def _model(config: Config) -> AbstractContextManager[Asked | None]:
    """Return the configured language model, if there is one; without one the reasoner must not be `prompted`."""
    if config.llm.name is None and config.roles.infer != "prompted":
        return nullcontext()
    return opened_model(config, "bench knowledge", "set another roles.infer than prompted")


def _compared(report: KnowledgeReport, asked: Asked, examples: int, progress: Tell | None) -> KnowledgeReport:
    """Return a report with how near everything is to what the model infers, and no more examples than were wanted."""
    encoder: TokenEncoder = load("encoder", "builtin")
    with closing(encoder):
        inferred = compare(report.examples, asked.model, encoder.token_vectors, tell=progress)
    models = {**report.models, "llm": asked.name}
    return replace(report, inferred=inferred, models=models, examples=tuple(report.examples[:examples]))
