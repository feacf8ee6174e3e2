"""Config -> the base of background knowledge, and what infers from a conversation."""

from __future__ import annotations

from dataclasses import dataclass

from doxa.backends import load
from doxa.backends.encoder import Encoder
from doxa.backends.llm import LanguageModel
from doxa.backends.nli import Judge
from doxa.backends.seq2seq import Seq2Seq
from doxa.commonsense import Base, CometReasoner, NearestReasoner, PromptedReasoner, Reasoner, is_remote, open_base
from doxa.core.access import without_password
from doxa.core.config import CommonsenseConfig
from doxa.core.errors import ConfigError

__all__ = ["Knowledge", "open_knowledge", "open_reasoner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """Where background comes from."""

    base: Base
    reasoner: Reasoner
    seq2seq: Seq2Seq | None = None
    """The model of the reasoner, where it has one of its own."""
    name: str = "builtin"
    """Of the reasoner, for records of runs."""

    def close(self) -> None:
        """Give back the base, and the reasoner's own model."""
        self.base.close()
        if self.seq2seq is not None:
            self.seq2seq.close()


def open_knowledge(
    settings: CommonsenseConfig, name: str, *, encoder: Encoder, model: LanguageModel | None, judge: Judge | None
) -> Knowledge | None:
    """Return the configured base with its reasoner; None where no base is configured.

    Args:
        settings: the group `commonsense`.
        name: who infers (`roles.infer`).
        encoder: the one in use; the base has to be made by it.
        model: the language model, for the reasoner `prompted`.
        judge: the NLI model, if any, for the built-in reasoner.

    Raises:
        InputError: there is no base where it should be, or it is broken.
        ConfigError: another encoder made it.
        BackendError: the model of the reasoner cannot be opened.
        StoreError: the database of the base cannot be reached.

    Cost: milliseconds, and loading the model of `hf:NAME`.
    """
    if settings.base is None:
        return None
    base = open_base(settings.base)
    if base.card.encoder != encoder.name:
        base.close()
        place = without_password(str(settings.base))
        folder = "FOLDER" if is_remote(settings.base) else place
        raise ConfigError(
            f"The base of knowledge in {place} was made by the encoder {base.card.encoder}, and {encoder.name} "
            f"is configured (setting encoder.name). Use that one, or build the base again: doxa kb build FILE --to "
            f"{folder} --force"
        )
    return open_reasoner(base, name, encoder=encoder, model=model, judge=judge)


def open_reasoner(
    base: Base, name: str, *, encoder: Encoder, model: LanguageModel | None, judge: Judge | None
) -> Knowledge:
    """Return a base that is open with a reasoner; arguments and errors are those of `open_knowledge`."""
    if name == "builtin":
        return Knowledge(base=base, reasoner=NearestReasoner(base, judge=judge))
    if name == "prompted":
        assert model is not None  # checked by whoever opens it
        return Knowledge(base=base, reasoner=PromptedReasoner(model, encoder), name=f"prompted, {model.name}")
    seq2seq = load("seq2seq", name)
    return Knowledge(base=base, reasoner=CometReasoner(seq2seq, encoder), seq2seq=seq2seq, name=seq2seq.name)
