"""CICERO, an outside check of the reasoner: is one of its inferences nearest to what people say follows?

Every question asks about an utterance: what caused it, what follows, what it needs, why it was said, what the listener
feels. The reasoner reads the dialogue up to that utterance; the choice that is nearest to one of its inferences by a
relation that fits the question is taken. Nothing is tuned on it, and no score weighs an inference.

Beside it: chance, the mean share of choices that are right, and the choice that is nearest to the utterance itself.
That one also stands in where nothing was inferred by a fitting relation.

The statements speak of who says the utterance, so a reaction is that of the speaker, where CICERO asks for that of the
listener.

Source: Shen et al. 2022, Multiview Contextual Commonsense Inference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doxa.backends import load
from doxa.backends.encoder import Encoder
from doxa.backends.llm import LanguageModel
from doxa.backends.parser import Parser
from doxa.commonsense import KnowledgeBase, Reasoner, Utterance, read_context
from doxa.core.config import Config
from doxa.core.errors import FormatError
from doxa.engine import open_reasoner
from doxa_bench.knowledge.dialogues import Inference, read_cicero
from doxa_bench.knowledge.opening import open_encoder
from doxa_bench.metrics import bootstrap_interval, mean, ratio, wilson_interval

__all__ = ["KINDS", "CiceroReport", "run"]

KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "subsequent event": ("subsequent event", ("Causes", "IsBefore", "xEffect", "xWant")),
    "prerequisite": ("prerequisite", ("xNeed", "IsAfter")),
    "motivation": ("motivation", ("xIntent", "xReason")),
    "reaction": ("emotional reaction", ("xReact",)),
    "cause": ("cause", ("xReason", "IsAfter")),
}
"""Kind of question -> words that tell it, and the relations that answer it, out of the eleven."""
FOLDER = "measure/cicero_v2"

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What became of one question."""

    kind: str
    right: bool
    target_right: bool
    """Whether the choice nearest to the utterance itself is right."""
    chance: float
    inferred: bool
    """Whether anything was inferred by a fitting relation."""
    degraded: str = ""
    """Why the reasoner inferred less than it could."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CiceroReport:
    """How often the reasoner's inferences lead to a right choice."""

    chosen: Sequence[Chosen]
    base: Mapping[str, Any]
    models: Mapping[str, str | None] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data; intervals are Wilson's at 95%, as if questions were independent."""
        degraded = [one.degraded for one in self.chosen if one.degraded]
        kinds = {kind: [one for one in self.chosen if one.kind == kind] for kind in KINDS}
        return {
            "set": "cicero",
            **_row(self.chosen),
            "kinds": {kind: _row(rows) for kind, rows in kinds.items() if rows},
            "degraded": {"dialogues": len(degraded), "first": degraded[0] if degraded else ""},
            "base": dict(self.base),
        }


def run(
    path: Path,
    base: KnowledgeBase,
    *,
    limit: int | None = None,
    config: Config | None = None,
    model: LanguageModel | None = None,
    progress: Tell | None = None,
) -> CiceroReport:
    """Let the configured reasoner answer the questions of CICERO.

    Args:
        path: a file of it, its folder, or the folder of all data.
        base: whose events and inferences the reasoner has.
        limit: only the first questions.
        config: names the encoder, the reasoner and the parser.
        model: for the reasoner `prompted`; it stays with the caller.
        progress: is told how far it is.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no such question, or of none of the five kinds.

    Cost: a context and some sixty vectors for each question; no NLI, since the scores of inferences play no part.
    """
    questions = read_cicero(path / FOLDER if (path / FOLDER).exists() else path)[:limit]
    chosen, config = [], config or Config()
    encoder = open_encoder(config)
    parser: Parser = load("parser", config.parser.name)
    with (
        closing(encoder),
        closing(parser),
        closing(open_reasoner(base, config.roles.infer, encoder=encoder, model=model, judge=None)) as knowledge,
    ):
        for number, question in enumerate(questions):
            if progress:
                progress("cicero", number, len(questions))
            chosen.append(_choose(question, base, knowledge.reasoner, encoder, parser))
        models: dict[str, str | None] = {
            "encoder": encoder.name,
            "reasoner": knowledge.name,
            "parser": parser.name,
        }
    described = {"sentences": len(base), "events": base.card.events, "inferences": base.card.inferences}
    return CiceroReport(chosen=tuple(chosen), base=described, models=models)


def _choose(question: Inference, base: KnowledgeBase, reasoner: Reasoner, encoder: Encoder, parser: Parser) -> Chosen:
    kind = _kind(question.question)
    end = question.target_at + 1
    spoken = zip(question.talk.speakers[:end], question.talk.texts[:end], strict=True)
    utterances = [Utterance(speaker=speaker, text=text) for speaker, text in spoken]
    context = read_context(utterances, base, encoder=encoder, parser=parser)
    fitting = KINDS[kind][1]
    candidates = reasoner.infer(context)
    texts = [one.text for one in candidates.inferences if one.relation in fitting]
    vectors = encoder.encode([*question.choices, question.target, *texts])
    choices, count = vectors[: len(question.choices)], len(question.choices)
    by_target = int((choices @ vectors[count]).argmax())
    taken = int((choices @ vectors[count + 1 :].T).max(axis=1).argmax()) if texts else by_target
    return Chosen(
        kind=kind,
        right=taken in question.right,
        target_right=by_target in question.right,
        chance=len(question.right) / count,
        inferred=bool(texts),
        degraded=candidates.degraded,
    )


def _kind(question: str) -> str:
    found = next((kind for kind, (words, _) in KINDS.items() if words in question.casefold()), None)
    if found is None:
        raise FormatError(f"expected a question of CICERO about {', '.join(KINDS)}; got {question!r}.")
    return found


def _row(chosen: Sequence[Chosen]) -> dict[str, Any]:
    n, right, target = len(chosen), sum(one.right for one in chosen), sum(one.target_right for one in chosen)
    gains = [(float(one.right) - float(one.target_right), 1.0) for one in chosen]
    gain_95 = bootstrap_interval(gains, ratio)
    return {
        "n": n,
        "accuracy": ratio(right, n),
        "accuracy_95": list(wilson_interval(right, n)),
        "target": ratio(target, n),
        "target_95": list(wilson_interval(target, n)),
        "gain_95": list(gain_95) if gain_95 else None,
        "chance": mean([one.chance for one in chosen]),
        "nothing_inferred": n - sum(one.inferred for one in chosen),
    }
