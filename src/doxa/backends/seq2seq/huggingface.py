"""Any encoder-decoder checkpoint, such as COMET-BART, by its name on the Hugging Face hub or by folder (extra `hf`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from doxa.backends.huggingface import DEVICE, HubModel, loading
from doxa.backends.onnx import encodable
from doxa.backends.seq2seq import Generated
from doxa.core.errors import BackendError, ConfigError, InputError

__all__ = ["HuggingFaceSeq2Seq", "open_seq2seq"]

BATCH_SIZE: Final = 16  # the eleven relations of common sense go together
BEAMS: Final = 5
INPUT_TOKENS: Final = 512  # T5 was trained for 512, BART for 1024


def open_seq2seq(
    name: str,
    *,
    batch_size: int = BATCH_SIZE,
    beams: int = BEAMS,
    input_tokens: int = INPUT_TOKENS,
    local_files_only: bool = False,
) -> "HuggingFaceSeq2Seq":
    """Gives back a model around an encoder-decoder checkpoint; it is loaded on first use.

    Args:
        name: Name on the hub, such as `mismayil/comet-bart-ai2`, or a folder.
        batch_size: Texts per call. With 1 a text has the same answer whatever else is in the call, and it is slower.
        beams: Beams of a search, at least; there are `n` of them where that is more.
        input_tokens: Tokens of a text that are read, no more than its tokenizer allows; the rest is cut off at its
            beginning.
        local_files_only: Whether to refuse to download.

    Raises:
        ConfigError: No name, or a number below one.
    """
    if not name:
        raise ConfigError("Expected 'hf:NAME' with the name or folder of an encoder-decoder model, got 'hf'.")
    if min(batch_size, beams, input_tokens) < 1:
        raise ConfigError(
            f"Expected batch_size, beams and input_tokens of 1 or more, got {batch_size}, {beams} and {input_tokens}."
        )
    return HuggingFaceSeq2Seq(
        name,
        batch_size=batch_size,
        beams=beams,
        input_tokens=input_tokens,
        settings={"local_files_only": local_files_only},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """A checkpoint in memory."""

    tokenizer: Any
    model: Any


class HuggingFaceSeq2Seq(HubModel):
    """Texts come from a beam search without sampling.

    How beams are compared (length penalty, repeated words) is what the checkpoint says; the score is not.
    """

    def __init__(
        self,
        model: str,
        *,
        batch_size: int,
        beams: int,
        input_tokens: int,
        settings: Mapping[str, Any],
    ) -> None:
        """Takes note of the model; `settings` go to `from_pretrained`."""
        super().__init__(model, what="sequence-to-sequence model")
        self._batch_size = batch_size
        self._beams = beams
        self._input_tokens = input_tokens
        self._settings = dict(settings)
        self._failure = ""
        """Why it could not be loaded. It is not tried again: without a network, each try takes half a minute."""

    def generate(self, texts: Sequence[str], *, n: int, max_tokens: int) -> list[list[Generated]]:
        """Gives back `n` texts for each input, the best beam first; two beams may spell the same text.

        Raises:
            InputError: `n` or `max_tokens` is below 1.
            BackendError: The model cannot be loaded or run.
            ClosedError: It was closed.

        Cost: for each batch one pass of the encoder, `max_tokens` steps of the decoder, and one pass of it for scores.
        """
        if n < 1 or max_tokens < 1:
            raise InputError(f"Expected n and max_tokens of 1 or more, got {n} and {max_tokens}.")
        with self._lock:
            if not texts and not self._closed:
                return []
            starts = range(0, len(texts), self._batch_size)
            batches = (texts[start : start + self._batch_size] for start in starts)
            loaded = self._opened()
            return [row for batch in batches for row in self._run(loaded, batch, n, max_tokens)]

    def _run(self, loaded: _Loaded, texts: Sequence[str], n: int, max_tokens: int) -> list[list[Generated]]:
        import torch

        try:
            with torch.inference_mode():
                mask, hidden = self._encoded(loaded, texts)
                sequences = self._searched(loaded.model, mask, hidden, n, max_tokens)
                scores = _scores(loaded, mask.repeat_interleave(n, 0), hidden.repeat_interleave(n, 0), sequences)
                written = loaded.tokenizer.batch_decode(sequences, skip_special_tokens=True)
        except (RuntimeError, ValueError, IndexError, TypeError, AttributeError) as exc:
            raise BackendError(f"The model {self._model_name!r} failed on {len(texts)} texts: {exc}") from exc
        made = [
            Generated(text=" ".join(text.split()), score=score) for text, score in zip(written, scores, strict=True)
        ]
        return [made[start : start + n] for start in range(0, len(made), n)]

    def _load(self) -> _Loaded:
        if self._failure:
            raise BackendError(f"{self._failure} It was tried once; start again to try anew.")
        try:
            return _load(self._model_name, self._settings)
        except BackendError as exc:
            self._failure = str(exc)
            raise

    def _encoded(self, loaded: _Loaded, texts: Sequence[str]) -> tuple[Any, Any]:
        """Reads a batch once, for the search and for the scores: attention mask `(b, t)`, states `(b, t, dims)`."""
        tokens = loaded.tokenizer(
            [encodable(text) for text in texts],
            padding=True,
            truncation=True,
            max_length=min(self._input_tokens, loaded.tokenizer.model_max_length),
            return_tensors="pt",
        ).to(DEVICE)
        encoder = loaded.model.get_encoder()
        states = encoder(input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"])
        return tokens["attention_mask"], states.last_hidden_state

    def _searched(self, model: Any, mask: Any, hidden: Any, n: int, max_tokens: int) -> Any:
        """Writes `n` sequences for each row, `(b * n, length)`; each opens with the decoder's own first token."""
        return model.generate(
            encoder_outputs=_states(hidden),
            attention_mask=mask,
            num_beams=max(n, self._beams),
            num_return_sequences=n,
            do_sample=False,
            max_new_tokens=max_tokens,
        )


def _scores(loaded: _Loaded, mask: Any, hidden: Any, sequences: Any) -> list[float]:
    """Equation 2 by a pass over the finished sequences: what the search changed in the odds is not in the score."""
    import torch

    read = {"encoder_outputs": _states(hidden), "attention_mask": mask}
    logits = loaded.model(**read, decoder_input_ids=sequences[:, :-1]).logits.float()
    written = sequences[:, 1:]
    special = torch.tensor(loaded.tokenizer.all_special_ids, device=written.device)
    counted = ~torch.isin(written, special)
    chosen = logits.gather(2, written.unsqueeze(2)).squeeze(2)
    odds = (chosen - logits.logsumexp(2)).exp().masked_fill(~counted, 0.0)
    means = odds.sum(1) / counted.sum(1).clamp(min=1)
    scores: list[float] = means.clamp(0.0, 1.0).tolist()
    return scores


def _states(hidden: Any) -> Any:
    # A new holder for each use: the search repeats what is in it for every beam.
    from transformers.modeling_outputs import BaseModelOutput

    return BaseModelOutput(last_hidden_state=hidden)


def _load(name: str, settings: Mapping[str, Any]) -> _Loaded:
    with loading(name, what="sequence-to-sequence model", kind="an encoder-decoder model"):
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(name, truncation_side="left", **settings)
        model = AutoModelForSeq2SeqLM.from_pretrained(name, **settings)
    return _Loaded(tokenizer=tokenizer, model=model.to(DEVICE).eval())
