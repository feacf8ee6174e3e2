"""A dialogue, cut in two -> what every system retrieves for its first half."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.backends import load
from doxa.backends.encoder import Encoder, TokenEncoder
from doxa.backends.llm import LanguageModel
from doxa.backends.nli import Nli
from doxa.backends.parser import Parser, split
from doxa.commonsense import (
    Candidates,
    Context,
    KnowledgeBase,
    Spec,
    Utterance,
    read_context,
    retrieve,
    selected,
)
from doxa.core.config import Config
from doxa.engine import Knowledge, open_reasoner
from doxa_bench.knowledge.alignment import Entailment
from doxa_bench.knowledge.dialogues import Talk
from doxa_bench.knowledge.opening import open_encoder
from doxa_bench.knowledge.rivals import FIRST, RIVALS, Rivals

__all__ = ["ABLATIONS", "OURS", "REFERENCE", "SYSTEMS", "Bench", "Case"]

OURS = "ours"
ABLATIONS: Mapping[str, dict[str, Any]] = {
    "no_reasoner": {"reasoner": False},
    "no_bridging": {"bridge": False},
    "no_check": {},
}
"""One part switched off: inferences, the region, the NLI model that says which of the best sentences is the most
apt."""
REFERENCE = "rerank_nli"
"""The first 30 of `dense`, again by the NLI model of the measure itself: no baseline with the same encoder, but as
near to the measure as `ours` is."""
SYSTEMS = (OURS, *RIVALS, REFERENCE, *ABLATIONS)
WORDS = 4
"""The fewest words of a sentence that takes a conversation somewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A dialogue up to its middle, and what is said after it."""

    context: Context
    candidates: Candidates
    ms: float
    """What the reasoner took for the candidates, milliseconds."""
    next: tuple[str, ...]
    """Sentences that are said after it, with enough words to take a conversation anywhere."""


@dataclass
class Bench:
    """All systems over one base, with the models they share."""

    base: KnowledgeBase
    config: Config
    model: LanguageModel | None = None
    """For the reasoner `prompted`; it stays with the caller."""
    spec: Spec = Spec()  # noqa: RUF009  # frozen

    @cached_property
    def encoder(self) -> Encoder:
        """The configured encoder, which made the base."""
        return open_encoder(self.config)

    @cached_property
    def measure(self) -> TokenEncoder:
        """The built-in encoder, by whose token vectors is measured: the only one that tells those."""
        encoder: TokenEncoder = load("encoder", "builtin")
        return encoder

    @cached_property
    def parser(self) -> Parser:
        """The configured parser."""
        parser: Parser = load("parser", self.config.parser.name)
        return parser

    @cached_property
    def nli(self) -> Nli:
        """The configured NLI model; it judges, and ours asks it as well."""
        nli: Nli = load("nli", self.config.nli.name, **self.config.nli.options)
        return nli

    @cached_property
    def knowledge(self) -> Knowledge:
        """The base with the configured reasoner."""
        name, judge = self.config.roles.infer, self.nli.classify
        return open_reasoner(self.base, name, encoder=self.encoder, model=self.model, judge=judge)

    @cached_property
    def rivals(self) -> Rivals:
        """The baselines; they read the whole base."""
        return Rivals.over(self.base, self.tokens)

    @cached_property
    def _tokens(self) -> dict[str, NDArray[np.float32]]:
        return {}

    def tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return the token vectors of each text; sentences of the base come again and again, and are kept."""
        new = [text for text in dict.fromkeys(texts) if text not in self._tokens]
        self._tokens.update(zip(new, self.measure.token_vectors(new), strict=True))
        return [self._tokens[text] for text in texts]

    def case(self, talk: Talk) -> Case:
        """Read a dialogue up to its middle, and infer from it."""
        middle = talk.middle
        spoken = zip(talk.speakers[:middle], talk.texts[:middle], strict=True)
        utterances = [Utterance(speaker=speaker, text=text) for speaker, text in spoken]
        context = read_context(utterances, self.base, encoder=self.encoder, parser=self.parser)
        reasoner = self.knowledge.reasoner  # opened before the clock starts
        start = time.perf_counter()
        candidates = reasoner.infer(context)
        ms = (time.perf_counter() - start) * 1000
        return Case(context=context, candidates=candidates, ms=ms, next=_sentences(talk.texts[middle:]))

    def run(self, case: Case, systems: Sequence[str], entails: Entailment) -> dict[str, tuple[list[str], float]]:
        """Return the sentences that each system retrieves, and its milliseconds after encoding.

        All give as many as ours; `bm25` fewer where too few share a word with what was said.
        """
        found = {name: self._ours(case, name) for name in (OURS, *ABLATIONS) if name in (OURS, *systems)}
        k = len(found[OURS][0])
        inferences = [case.candidates.inferences[at].text for at in selected(case.candidates, self.spec)]
        text = ". ".join((case.context.text, *inferences))
        vector = self.encoder.encode([text])[0]
        for name in systems:
            if name in (*RIVALS, REFERENCE):
                start = time.perf_counter()
                if name == REFERENCE:
                    sentences = self._judged(text, vector, k, entails)
                else:
                    sentences = self.rivals.rank(name, text, vector, k)
                found[name] = sentences, (time.perf_counter() - start) * 1000
        return {name: (found[name][0][:k], found[name][1]) for name in systems}

    def _ours(self, case: Case, name: str) -> tuple[list[str], float]:
        spec = replace(self.spec, **ABLATIONS.get(name, {}))
        judge = None if name == "no_check" else self.nli.classify
        start = time.perf_counter()
        found = retrieve(case.context, case.candidates, self.base, spec, judge=judge)
        ms = (time.perf_counter() - start) * 1000 + (case.ms if spec.reasoner else 0.0)
        return [one.text for one in found.background], ms

    def _judged(self, text: str, vector: NDArray[np.float32], k: int, entails: Entailment) -> list[str]:
        first = self.rivals.rank("dense", text, vector, FIRST)
        scores = entails([text], first)[0, :, 0]
        return [first[place] for place in np.argsort(-scores, kind="stable")[:k]]

    @property
    def models(self) -> dict[str, str | None]:
        """The models that take part, by role; `measure` is what overlap and nearness are measured with."""
        return {
            "encoder": self.encoder.name,
            "reasoner": self.knowledge.name,
            "parser": self.parser.name,
            "nli": self.nli.name,
            "measure": self.measure.name,
        }

    def close(self) -> None:
        """Give the models back."""
        for model in (self.encoder, self.measure, self.parser, self.nli, self.knowledge):
            model.close()


def _sentences(texts: Sequence[str]) -> tuple[str, ...]:
    """The sentences of some utterances that have enough words to take a conversation anywhere; each once."""
    found = (text[sentence[0].start : sentence[-1].end] for text in texts for sentence in split(text) if sentence)
    return tuple(dict.fromkeys(one for one in found if len(one.split()) >= WORDS))
