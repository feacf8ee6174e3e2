"""comet: a conversation -> inferences by a model that was trained to complete tuples of common sense.

Source: Hwang et al. 2021, (COMET-)ATOMIC 2020, for the model and for how its inputs are written; Liu et al.,
MCTS-Driven Knowledge Retrieval, section III-B, for the score of a candidate (equation 2).
"""

from __future__ import annotations

from doxa.backends.encoder import Encoder
from doxa.backends.seq2seq import Seq2Seq
from doxa.commonsense.context import Context
from doxa.commonsense.reasoner.candidates import Candidates
from doxa.commonsense.reasoner.proposals import proposed, ranked
from doxa.core.background import RELATIONS
from doxa.core.errors import BackendError

__all__ = ["CometReasoner"]

SPELLED = {"IsBefore": "isBefore", "IsAfter": "isAfter"}
"""Relations that the model was trained under another spelling of than table I has."""
LATEST = 3
"""Utterances that the model reads: it was trained on single events, and more of a conversation blurs what is meant."""
BEAMS = 5
MAX_TOKENS = 24
"""Of a tail; those of ATOMIC 2020 have a few words."""


class CometReasoner:
    """Completes the conversation by every relation, and scores the tails by the model's own probabilities.

    COMET was trained on short events about PersonX; a conversation is read as it is, first person and all, as the
    paper does. It is deterministic for the same context.
    """

    def __init__(
        self,
        seq2seq: Seq2Seq,
        encoder: Encoder,
        *,
        beams: int = BEAMS,
        latest: int = LATEST,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        """Take note of the models; they stay with the caller, who closes them.

        Args:
            seq2seq: a COMET model, such as `hf:mismayil/comet-bart-ai2`.
            encoder: gives the inferences their vectors.
            beams: tails for each relation, 1 or more.
            latest: utterances that are read, the last ones, 1 or more.
            max_tokens: most tokens of a tail.
        """
        self._seq2seq = seq2seq
        self._encoder = encoder
        self._beams = beams
        self._latest = latest
        self._max_tokens = max_tokens

    def infer(self, context: Context) -> Candidates:
        """Return the candidates, best first: at most `beams` for each of the eleven relations.

        A failure of the model is no exception: there are no candidates then, and `degraded` says why.

        Raises:
            BackendError: the encoder failed.

        Cost: one call of the model with an input for each relation, and one of the encoder.
        """
        if not context.utterances:
            return ranked((), self._encoder)
        said = " ".join(" ".join(one.text for one in context.utterances[-self._latest :]).split())
        inputs = [f"{said} {SPELLED.get(relation, relation)} [GEN]" for relation in RELATIONS]
        try:
            written = self._seq2seq.generate(inputs, n=self._beams, max_tokens=self._max_tokens)
        except BackendError as exc:
            return ranked((), self._encoder, degraded=f"{self._seq2seq.name} failed, so nothing was inferred: {exc}")
        found = (
            proposed(context, relation, one.text, one.score)
            for relation, row in zip(RELATIONS, written, strict=True)
            for one in row
        )
        return ranked((one for one in found if one is not None), self._encoder)
