"""What the network says of turns, in places of words, and how well that agrees with annotated turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, field

import torch
from reading import Reading, SpokenBatcher
from roles import Span, spans_of
from turns import ACTS, CLAIM_FLAGS, FRAME_FLAGS, OPEN, PARTS, ROLES, Said, Spoken, Told

from doxa.backends.parser.labels import best_labels

SURE = 0.5
SIZE = 32  # turns of a batch
NAMES = ("frames", "roles", "bare", "flags", "claims", "pairs", "objects", "points")


@dataclass(slots=True)
class Heard:
    """What is said of one turn."""

    frames: list[Said] = field(default_factory=list)
    claims: list[Told] = field(default_factory=list)
    points: dict[int, int] = field(default_factory=dict)


@torch.no_grad()
def heard(model: Reading, batcher: SpokenBatcher, turns: Sequence[Spoken], *, sure: float = SURE) -> list[Heard]:
    """What the network says of each turn; `sure` is the least probability of a predicate and an anchor."""
    model.eval()
    device = next(model.parameters()).device
    found = [Heard() for _ in turns]
    order = sorted(range(len(turns)), key=lambda at: len(turns[at].words))
    for begin in range(0, len(order), SIZE):
        places = order[begin : begin + SIZE]
        batch = {name: value.to(device) for name, value in batcher.turns([turns[at] for at in places]).items()}
        out = model(batch)
        said, goals = out["said"].sigmoid(), out["points"].argmax(-1).tolist()
        for row, at in enumerate(places):
            one = turns[at]
            said[row, : one.begin, 0] = said[row, len(one.words) :] = 0
            found[at].points = {k: goals[row][k] - 1 for k in range(one.begin, len(one.words)) if goals[row][k]}
        rows, words = torch.nonzero((said > sure).any(-1), as_tuple=True)
        if not len(rows):
            continue
        seen = {name: value.cpu() for name, value in model.seen(out, batch, rows, words).items()}
        roles, parts = (best_labels(torch.log_softmax(seen[name], -1).numpy()) for name in ("said_roles", "parts"))
        for k, (row, word) in enumerate(zip(rows.tolist(), words.tolist(), strict=True)):
            turn, at = turns[places[row]], places[row]
            size = len(turn.words)
            if said[row, word, 0] > sure:
                flags = _flags(FRAME_FLAGS, seen["frame_flags"][k, word])
                act = ACTS[int(seen["acts"][k, word].argmax())]
                found[at].frames.append(Said(word, spans_of(roles[k, :size].tolist(), ROLES), flags, act))
            if said[row, word, 1] > sure:
                spans = spans_of(parts[k, :size].tolist(), PARTS)
                for thing in (span for span in spans if span.role == "object" and span.start <= word < span.end):
                    words = (range(one.start, one.end) for one in spans if one is thing or one.role == "verb")
                    naming = [at for some in words for at in some]
                    relation = batcher.names[int(seen["relations"][k, naming].mean(0).argmax())]
                    flags = _flags(CLAIM_FLAGS, seen["claim_flags"][k, thing.start : thing.end].mean(0))
                    whose = [span for span in spans if span.role == "subject"] or [
                        Span(turn.begin - 2, turn.begin - 1, "subject")
                    ]
                    found[at].claims += [Told(word, relation, (thing, who), flags) for who in whose]
    return found


def _flags(names: Sequence[str], scores: torch.Tensor) -> frozenset[str]:
    return frozenset(name for name, p in zip(names, scores.sigmoid().tolist(), strict=True) if p > SURE)


def measure_turns(model: Reading, batcher: SpokenBatcher, turns: Sequence[Spoken]) -> dict[str, float]:
    """F1 in percent.

    Frames by their word; roles by span and name, and `bare` by span alone; flags of frames; claims by the words of
    subject and object, relation and polarity, `pairs` without the relation, `objects` alone; references by their ends.
    """
    counts: Counter[str] = Counter()
    for one, said in zip(turns, heard(model, batcher, turns), strict=True):
        both = ((said.frames, said.claims, said.points), (one.frames, one.claims, one.points))
        views = [_views(one, frames, claims, points, batcher) for frames, claims, points in both]
        for name in NAMES:
            found, gold = (view[name] for view in views)
            counts.update({name: len(found & gold), f"{name} found": len(found), f"{name} gold": len(gold)})
    f1 = {name: 2 * counts[name] / max(1, counts[f"{name} found"] + counts[f"{name} gold"]) for name in NAMES}
    return {name: round(100 * value, 1) for name, value in f1.items()} | {
        "found": counts["claims found"],
        "gold": counts["claims gold"],
    }


def _views(
    one: Spoken, frames: Sequence[Said], claims: Sequence[Told], points: dict[int, int], batcher: SpokenBatcher
) -> dict[str, Set[Hashable]]:
    def words(span: Span) -> str:
        return " ".join(one.forms[span.start : span.end]).casefold()

    told: set[tuple[str, str, str, bool]] = set()
    for claim in claims:
        parts = {span.role: words(span) for span in claim.spans}
        relation = claim.relation if claim.relation in batcher.relations else OPEN
        if "minor" not in claim.flags:
            told.add((parts["subject"], relation, parts["object"], "not" in claim.flags))
    return {
        "frames": {frame.word for frame in frames},
        "roles": {(frame.word, span) for frame in frames for span in frame.roles},
        "bare": {(frame.word, span.start, span.end) for frame in frames for span in frame.roles},
        "flags": {(frame.word, flag) for frame in frames for flag in frame.flags},
        "claims": told,
        "pairs": {(who, thing) for who, _, thing, _ in told},
        "objects": {thing for _, _, thing, _ in told},
        "points": {(source, goal) for source, goal in points.items() if source >= one.begin},
    }
