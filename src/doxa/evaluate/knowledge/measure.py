"""What `doxa bench knowledge` does on a set: find data and base, measure, and ask a model where one is configured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from doxa.backends import load
from doxa.backends.encoder import TokenEncoder
from doxa.backends.llm import LanguageModel
from doxa.core.config import Config
from doxa.evaluate.knowledge.cicero import CiceroReport
from doxa.evaluate.knowledge.cicero import run as run_cicero
from doxa.evaluate.knowledge.inferences import compare
from doxa.evaluate.knowledge.opening import find_data, open_base
from doxa.evaluate.knowledge.run import KnowledgeReport, check
from doxa.evaluate.knowledge.run import run as run_retrieval
from doxa.evaluate.knowledge.systems import SYSTEMS

__all__ = ["measure", "measure_cicero"]

Tell = Callable[[str, int, int], None]


def measure(
    path: Path | None = None,
    *,
    set: str = "dailydialog",
    systems: Sequence[str] = (),
    limit: int | None = None,
    examples: int = 0,
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
        config: names the base, parser and NLI model, and the language model, which is asked where there is one.
        progress: is told how far it is.
        building: is told how far a base is that has to be built.

    Raises:
        InputError: a name is unknown, or data or base are not there.
        BackendError: a model failed or is not there.
    """
    config, wanted = config or Config(), tuple(systems) or SYSTEMS
    check(set, wanted)
    data = find_data(path)
    base = open_base(config, data, tell=building)
    asks = config.roles.write == "prompted"
    shown = (limit or 10**9) if asks else examples
    report = run_retrieval(
        data, base, set=set, systems=wanted, limit=limit, examples=shown, config=config, progress=progress
    )
    return _asked(report, config, examples, progress) if asks else report


def measure_cicero(
    path: Path | None = None,
    *,
    limit: int | None = None,
    config: Config | None = None,
    progress: Tell | None = None,
    building: Tell | None = None,
) -> CiceroReport:
    """Let the built-in reasoner answer the questions of CICERO; arguments and errors are those of `measure`."""
    config, data = config or Config(), find_data(path)
    base = open_base(config, data, tell=building)
    return run_cicero(data, base, limit=limit, config=config, progress=progress)


def _asked(report: KnowledgeReport, config: Config, examples: int, progress: Tell | None) -> KnowledgeReport:
    """Return a report with the model's part, and no more examples than were wanted."""
    settings = config.llm
    model: LanguageModel = load(
        "llm",
        str(settings.name),
        base_url=settings.base_url,
        api_key=config.secret("llm"),
        timeout_s=settings.timeout_s,
        max_retries=settings.max_retries,
    )
    encoder: TokenEncoder = load("encoder", "builtin")
    with closing(model), closing(encoder):
        inferred = compare(report.examples, model, encoder.token_vectors, tell=progress)
        models = {**report.models, "llm": model.name}
    return replace(report, inferred=inferred, models=models, examples=tuple(report.examples[:examples]))
