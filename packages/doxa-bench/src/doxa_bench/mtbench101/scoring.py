"""Replies -> what they are worth by every measure that there is a model for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from doxa.verify import Classify
from doxa_bench.mtbench101.consistency import PremiseSpec, TurnScore, score_replies
from doxa_bench.mtbench101.judge import Judge
from doxa_bench.mtbench101.lexical import bleu, has_bleu, word_f1
from doxa_bench.mtbench101.measures import DialogueResult, TurnResult
from doxa_bench.mtbench101.play import DIALOGUES_AT_ONCE, Played

__all__ = ["score_all"]

PUBLISHED = PremiseSpec(premise_tokens=10**9, hypothesis_tokens=10**9, max_chunks=1, max_parts=1)
"""The windows of the paper: everything that was said and the whole reply; the NLI model cuts what it cannot read."""
BLOCK = 16
"""Dialogues whose pairs go to the NLI model in one call, so that it can sort them by length."""


def score_all(
    played: Iterable[Played],
    *,
    classify: Classify | None,
    judge: Judge | None,
    spec: PremiseSpec,
    tell: Callable[[int], None],
    published: bool = False,
    parallel: int = DIALOGUES_AT_ONCE,
) -> Iterator[DialogueResult]:
    """Yield the scores of every dialogue, in order.

    Args:
        played: the dialogues with the system's replies.
        classify: the NLI model; without it CS and DER are not measured.
        judge: without it there is no score.
        spec: how long histories are cut.
        tell: is told how many dialogues are scored.
        published: measure CS and DER with the windows of the paper as well.
        parallel: how many dialogues are judged at a time.
    """
    done, with_bleu = 0, has_bleu()
    for block in _batched(played):
        consistency = _consistency(block, classify, spec)
        whole = _consistency(block, classify if published else None, PUBLISHED)
        scores = _judged(block, judge, parallel)
        for one, turns, uncut, judged in zip(block, consistency, whole, scores, strict=True):
            yield _result(one, turns, uncut, judged, with_bleu=with_bleu)
        done += len(block)
        tell(done)


def _batched(played: Iterable[Played]) -> Iterator[list[Played]]:
    block = list[Played]()
    for one in played:
        block.append(one)
        if len(block) == BLOCK:
            yield block
            block = []
    if block:
        yield block


def _consistency(
    block: Sequence[Played], classify: Classify | None, spec: PremiseSpec
) -> list[Sequence[TurnScore | None]]:
    if classify is None:
        return [[None] * len(one.said) for one in block]
    histories = [pair for one in block for pair in _replies(one)]
    scored = iter(score_replies(histories, classify, spec))
    return [[next(scored) for _ in one.said] for one in block]


def _replies(played: Played) -> Iterator[tuple[list[str], str]]:
    """Yield what each reply follows on, with the system's own earlier replies, and the reply."""
    history = list[str]()
    for turn, said in zip(played.dialogue.turns, played.said, strict=True):
        history.append(turn.user)
        yield list(history), said.text
        history.append(said.text)


def _judged(block: Sequence[Played], judge: Judge | None, parallel: int) -> list[list[float | None]]:
    if judge is None:
        return [[None] * len(one.said) for one in block]
    with ThreadPoolExecutor(parallel) as pool:
        return list(pool.map(lambda one: judge.scores(one.dialogue, [said.text for said in one.said]), block))


def _result(
    played: Played,
    scored: Sequence[TurnScore | None],
    whole: Sequence[TurnScore | None],
    judged: Sequence[float | None],
    *,
    with_bleu: bool,
) -> DialogueResult:
    turns, before = list[TurnResult](), set[str]()
    for at, (turn, said, score, uncut, points) in enumerate(
        zip(played.dialogue.turns, played.said, scored, whole, judged, strict=True), start=1
    ):
        turns.append(
            TurnResult(
                turn=at,
                f1=word_f1(said.text, turn.bot),
                bleu=bleu(said.text, turn.bot) if with_bleu else None,
                cs=score.cs if score else None,
                label=score.label if score else None,
                p_entailment=score.p_entailment if score else None,
                p_contradiction=score.p_contradiction if score else None,
                cs_published=uncut.cs if uncut else None,
                label_published=uncut.label if uncut else None,
                score=points,
                seconds=said.seconds,
                maintenance_s=said.maintenance_s,
                calls=said.usage.calls,
                tokens=said.usage.prompt_tokens + said.usage.completion_tokens,
                repeated=said.text.strip() in before,
                failed=said.failed,
                degraded=said.degraded,
                noted=said.noted,
                facts=said.facts,
            )
        )
        before.add(said.text.strip())
    return DialogueResult(
        system=played.system, run=played.run, id=played.dialogue.id, task=played.dialogue.task, turns=tuple(turns)
    )
