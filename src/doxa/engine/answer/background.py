"""A conversation -> background for a reply: sentences of general knowledge, never facts about anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import doxa.commonsense
from doxa.commonsense import Retrieved, Spec, Utterance, read_context
from doxa.core.background import Background
from doxa.core.config import Config
from doxa.core.errors import ConfigError, DoxaError, InputError
from doxa.core.trace import Tracer
from doxa.core.values import Draft, Question, Reply, Turn
from doxa.engine.asked import Asked
from doxa.engine.wiring.parts import Parts
from doxa.engine.wiring.reasoners import Knowledge

__all__ = ["background_of", "is_wanted", "paths", "require_background", "said_aloud", "without_background"]

SHORT = 2
"""Words of a turn that tells nothing and is too short to have background: "thank you"."""
LINE = "\nBackground: {text}"


def require_background(background: object, n: object, config: Config) -> None:
    """Raise where background is asked for and cannot be had, before anything is stored.

    Raises:
        InputError: `background` is none of True, False and None, `n` is below 1, or several replies are wanted without
            background, by which they would differ.
        ConfigError: no base is configured.
    """
    if background is not None and not isinstance(background, bool):
        raise InputError(f"respond: expected `background` as True, False or None; got {background!r}.")
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InputError(f"respond: expected `n` as a number of replies, 1 or more; got {n!r}.")
    if n > 1 and background is False:
        raise InputError(f"respond: {n} replies differ by their background, which background=False leaves out.")
    if (background or n > 1) and config.commonsense.base is None:
        raise ConfigError(
            "respond: background needs a base of knowledge, and none is configured. Make one with `doxa kb build FILE "
            "--to FOLDER`, and set commonsense.base (DOXA_COMMONSENSE_BASE=FOLDER)."
        )


def is_wanted(asked: Asked, question: Question | None, intents: Sequence[str], config: Config) -> bool:
    """Tell whether a reply gets background: as was asked for, else where a turn tells or chats and asks nothing."""
    if asked.background is False:
        return False
    if asked.aloud:
        return True
    settings = config.commonsense
    if settings.base is None or settings.use == "off" or question is not None:
        return False
    return "inform" in intents or len(asked.text.split()) > SHORT


def background_of(asked: Asked, recent: Sequence[Turn], parts: Parts, tracer: Tracer) -> Retrieved | None:
    """Return what bears on the conversation; None where there is no base, or something failed.

    A reply does without background rather than fail: the trace says why. Not called under a lock.

    Args:
        asked: the turn that is answered.
        recent: the turns before it, oldest first. Those that Doxa wrote without a model only repeat what was said, so
            they are left out.
        parts: what the engine is made of.
        tracer: is told of the inferences, the sentences, the size of the region, and what failed.

    Cost: reading the context, the reasoner, and `k + 1` searches; see `doxa.commonsense.retrieve`.
    """
    with tracer.step("background") as note:
        try:
            knowledge = parts.knowledge()
            if knowledge is None:
                return None
            found = _retrieved(asked, recent, knowledge, parts)
        except DoxaError as exc:
            note["degraded"] = f"the reply is without background: {exc}"
            return None
        note.update(
            inferences=[one.text for one in found.inferences],
            sentences=[one.text for one in found.background],
            region=None if found.region is None else len(found.region.sentences),
            expansions=found.expansions,
        )
        if found.degraded:
            note["degraded"] = found.degraded
        return found


def _retrieved(asked: Asked, recent: Sequence[Turn], knowledge: Knowledge, parts: Parts) -> Retrieved:
    settings = parts.config.commonsense
    written = parts.config.roles.write == "prompted"
    said = [Utterance(speaker=one.speaker, text=one.text) for one in recent if written or not one.generated]
    utterances = (*said, Utterance(speaker=asked.speaker, text=asked.text))
    context = read_context(utterances, knowledge.base, encoder=parts.encoder, parser=parts.parser)
    candidates = knowledge.reasoner.infer(context)
    spec = Spec(k=max(settings.k, asked.n), seed=settings.seed)
    limit = {name: value for name in ("expansions", "ms") if (value := getattr(settings, name)) is not None}
    spec = replace(spec, bridging=replace(spec.bridging, **limit), retrieval=replace(spec.retrieval, **limit))
    found = doxa.commonsense.retrieve(context, candidates, knowledge.base, spec, judge=parts.judge())
    shown = tuple(one for one in found.background if asked.aloud or one.score >= settings.least)
    degraded = "; ".join(filter(None, (candidates.degraded, found.degraded)))
    return replace(found, background=shown, degraded=degraded)


def paths(found: Sequence[Background], n: int) -> list[tuple[Background, ...]]:
    """Return what each reply may draw on: the one reply on all of it, several on one piece each."""
    return [tuple(found)] if n == 1 else [(one,) for one in found[:n]] or [()]


def said_aloud(draft: Draft, background: Sequence[Background]) -> Draft:
    """Return a built-in draft that says the best piece of background at its end; it cites nothing for it."""
    return replace(draft, text=(draft.text + LINE.format(text=background[0].text)).lstrip()) if background else draft


def without_background(reply: Reply) -> str:
    """Return what a reply says beside the line of background at its end: what is remembered of it."""
    lines = (LINE.format(text=one.text) for one in reply.background)
    line = next((one for one in lines if reply.text.endswith(one.lstrip())), "")
    return reply.text.removesuffix(line).removesuffix(line.lstrip())
