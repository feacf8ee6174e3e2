"""Train the reader on groups of passages; write its weights and what it does on questions that it never saw.

python training/reader/train.py --groups WORK/groups.pickle --start shipped --out WORK/reader.pt --minutes 60
"""

from __future__ import annotations

import argparse
import pickle
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from groups import Group, Passage
from network import TRUNK, Reader, shipped
from tokenizers import Tokenizer
from torch import nn

LENGTH = 256
HELD = ("W5", "S7")
"""Files whose questions are measured on and not learned."""
AT_ONCE = 6
"""Groups of a batch."""
DROP = 0.05
COMMON = 999
"""Pieces up to this number are frequent words; they are never hidden."""
LONGEST = 30
"""Tokens of the longest answer."""


@dataclass(frozen=True, slots=True)
class Row:
    """A passage in tokens: with whether it answers, and the first and last token of each answer in it."""

    ids: list[int]
    types: list[int]
    answers: bool
    spans: tuple[tuple[int, int], ...]


Rows = list[Row]


def main() -> None:
    """Train for some minutes, measure."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--groups", type=Path, required=True)
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--start", help="weights of an earlier run, or 'shipped': those that ship")
    reader.add_argument("--minutes", type=float, default=60)
    reader.add_argument("--rate", type=float, default=6e-4)
    reader.add_argument("--half", action="store_true", help="bfloat16: twice as fast where the processor has it")
    reader.add_argument("--seed", type=int, default=1)
    args = reader.parse_args()
    torch.manual_seed(args.seed)
    chance = random.Random(args.seed)
    tokenizer = tokenizer_of()
    learned, held = parted(pickle.loads(args.groups.read_bytes()), tokenizer)
    model = Reader()
    if args.start:
        model.load_state_dict(shipped() if args.start == "shipped" else torch.load(args.start), strict=False)
    if args.minutes:
        train(model, learned, args, chance, tokenizer.token_to_id("[MASK]"))
        torch.save(model.learned(), args.out)
    for source, groups in held.items():
        print(source, {name: round(value, 3) for name, value in measure(model, groups).items()}, flush=True)


def tokenizer_of() -> Tokenizer:
    """The tokenizer of the trunk, which cuts nothing."""
    tokenizer = Tokenizer.from_file(str(TRUNK / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def parted(groups: Sequence[Group], tokenizer: Tokenizer) -> tuple[dict[str, list[Rows]], dict[str, list[Rows]]]:
    """Groups in tokens: to learn, of dialogues and of single sentences; to measure on, by source."""
    learned: dict[str, list[Rows]] = {"dialogues": [], "sentences": []}
    held: dict[str, list[Rows]] = {}
    for group, rows in zip(groups, rows_of(groups, tokenizer), strict=True):
        if not rows:
            continue
        if group.source in HELD:
            held.setdefault(group.source, []).append(rows)
        else:
            learned["sentences" if group.source == "qamr" else "dialogues"].append(rows)
    return learned, held


def rows_of(groups: Sequence[Group], tokenizer: Tokenizer) -> Iterator[Rows]:
    """The passages of each group in tokens, less those that are too long."""
    for group in groups:
        coded = tokenizer.encode_batch([(one.question, one.text) for one in group.passages])
        yield [row for one, code in zip(group.passages, coded, strict=True) if (row := row_of(one, code)) is not None]


def row_of(one: Passage, coded: object) -> Row | None:
    """One passage in tokens; None for one that is too long, or whose answer stands behind the end."""
    spans = []
    for start, end in one.spans:
        inside = [
            at
            for at, (begin, stop) in enumerate(coded.offsets)
            if coded.sequence_ids[at] == 1 and begin < end and stop > start
        ]
        if inside and inside[-1] < LENGTH - 1:
            spans.append((inside[0], inside[-1]))
    if one.spans and not spans:
        return None
    ids = coded.ids if len(coded.ids) <= LENGTH else [*coded.ids[: LENGTH - 1], coded.ids[-1]]
    return Row(ids, coded.type_ids[:LENGTH], one.answers, tuple(spans))


def batches(groups: Sequence[Rows], chance: random.Random) -> Iterator[list[Rows]]:
    """Batches of groups of about one length, without end."""
    while True:
        order = sorted(groups, key=lambda group: max(len(row.ids) for row in group) + 12 * chance.random())
        parts = [order[at : at + AT_ONCE] for at in range(0, len(order), AT_ONCE)]
        chance.shuffle(parts)
        yield from parts


def together(part: Sequence[Rows]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ids, mask and segments `(n, length)` of all rows of some groups."""
    rows = [row for group in part for row in group]
    length = max(len(row.ids) for row in rows)
    ids = torch.tensor([row.ids + [0] * (length - len(row.ids)) for row in rows])
    types = torch.tensor([row.types + [0] * (length - len(row.types)) for row in rows])
    return ids, (ids != 0).long(), types


def loss_of(ends: torch.Tensor, there: torch.Tensor, part: Sequence[Rows]) -> torch.Tensor:
    """Log loss of whether each passage answers, of which one of a group does, and of where the answer stands.

    Of several passages that answer, or several places, any one is right: what is summed is their chances.
    """
    rows = [row for group in part for row in group]
    known = torch.tensor([float(row.answers) for row in rows])
    loss = nn.functional.binary_cross_entropy_with_logits(there, known)
    at, ranked = 0, []
    for group in part:
        own, right = there[at : at + len(group)], known[at : at + len(group)] > 0
        if right.any() and not right.all():
            ranked.append(own.logsumexp(0) - own[right].logsumexp(0))
        at += len(group)
    if ranked:
        loss = loss + torch.stack(ranked).mean()
    stated = [(at, list(places)) for at, row in enumerate(rows) for places in zip(*row.spans, strict=True)]
    if stated:
        sides = ends.log_softmax(1)
        parts = [-sides[at, places, side % 2].logsumexp(0) for side, (at, places) in enumerate(stated)]
        loss = loss + torch.stack(parts).mean()
    return loss


def train(
    model: Reader, groups: dict[str, list[Rows]], args: argparse.Namespace, chance: random.Random, mask: int
) -> None:
    """Batches of dialogues and of sentences by turns; the step size falls with time."""
    weights = [one for one in model.parameters() if one.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=args.rate, weight_decay=0.01)
    sources = [batches(own, chance) for own in groups.values()]
    begun, step, seen, mean = time.monotonic(), 0, 0, 0.0
    model.train()
    while (spent := (time.monotonic() - begun) / (60 * args.minutes)) < 1:
        for group in optimiser.param_groups:
            group["lr"] = args.rate * min(1.0, (step + 1) / 100) * max(0.02, 1 - spent)
        part = next(sources[step % len(sources)])
        ids, inside, types = together(part)
        hidden = (torch.rand(ids.shape) < DROP) & (types == 0) & (ids > COMMON)
        with torch.autocast("cpu", torch.bfloat16, enabled=args.half):
            scores = model(ids.masked_fill(hidden, mask), inside, types)
        loss = loss_of(*scores, part)
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        step, seen, mean = step + 1, seen + len(ids), 0.99 * mean + 0.01 * loss.item()
        if step % 100 == 0:
            torch.save(model.learned(), args.out)
            print(f"{spent:.0%}, {seen} pairs, loss {mean / (1 - 0.99**step):.3f}", flush=True)


@torch.no_grad()
def measure(model: Reader, groups: Sequence[Rows]) -> dict[str, float]:
    """How good the reader is on groups.

    `exact` and `f1` of the best span by tokens where an answer stands in so many words, `first`: how often a passage
    that answers has the highest score of its group, `auc`: how often one that answers has more than one that does not.
    """
    model.eval()
    exact, overlap, first, right, wrong = [], [], [], [], []
    for group in groups:
        ends, there = model(*together([group]))
        known = torch.tensor([row.answers for row in group])
        right += there[known].tolist()
        wrong += there[~known].tolist()
        if known.any() and not known.all():
            first.append(float(known[int(there.argmax())]))
        for row, own in zip(group, ends, strict=True):
            if row.spans:
                got = best(own)
                overlap.append(max(shared(got, span) for span in row.spans))
                exact.append(float(got in row.spans))
    model.train()
    auc = sum(sum(a > b for b in wrong) for a in right) / max(len(right) * len(wrong), 1)
    return {name: sum(all_) / len(all_) for name, all_ in (("exact", exact), ("f1", overlap), ("first", first))} | {
        "auc": auc
    }


def shared(got: tuple[int, int], gold: tuple[int, int]) -> float:
    """F1 of the tokens of two spans."""
    both = min(got[1], gold[1]) - max(got[0], gold[0]) + 1
    return 2 * max(both, 0) / (got[1] - got[0] + gold[1] - gold[0] + 2)


def best(ends: torch.Tensor) -> tuple[int, int]:
    """The likeliest first and last token, in order and not too far apart."""
    scores = ends[:, 0].unsqueeze(1) + ends[:, 1].unsqueeze(0)
    allowed = torch.ones_like(scores).triu().tril(LONGEST)
    return divmod(int(scores.masked_fill(allowed == 0, -1e9).argmax()), len(ends))


if __name__ == "__main__":
    sys.modules["__main__"].__dict__.update({"Group": Group, "Passage": Passage})
    main()
