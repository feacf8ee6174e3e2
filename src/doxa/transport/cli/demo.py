"""`doxa demo`: a conversation of many days is replayed, and the memory shows what it made of it."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from doxa.backends.transcripts import Line, Transcript, read
from doxa.core.errors import NotFoundError
from doxa.core.values import Change, Fact, Reply
from doxa.transport.cli.app import command
from doxa.transport.cli.ingest import Stop, Tally, absorb_lines, progress_bar
from doxa.transport.cli.render import clean, columns, count, put, sentence_and_time, when
from doxa.transport.cli.request import Request
from doxa.transport.cli.show import VERBS, show_reply

if TYPE_CHECKING:
    from doxa.engine import Dialogue, Memory

__all__ = ["Asked", "demo", "matches"]

USER = "ana"
WIDTH = 100
"""Columns where nobody looks; in a terminal as wide as that is, but no line of text is wider than this."""
QUOTE = re.compile(r"“([^”]*)”")
ARTICLES = re.compile(r"^(?:a|an|the|my|your) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question of the demo, what was answered, and what was expected."""

    question: str
    expected: tuple[str, ...]
    reply: Reply

    @property
    def right(self) -> bool:
        """True when it gives or quotes one of the expected forms, or when it rightly does not know."""
        return matches(self.reply, self.expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Everything that the demo tells."""

    lines: Sequence[Line]
    facts: Sequence[Fact]
    everything: dict[str, Fact]
    revisions: Sequence[Change]
    asked: Sequence[Asked]
    seconds: float


@command("demo", example="doxa demo --keep ana.db")
def demo(
    request: Request,
    keep: Annotated[Path | None, typer.Option("--keep", metavar="PATH", help="Keep the memory in this file.")] = None,
) -> None:
    """Replay an example conversation and ask ten questions.

    Shows the facts that it formed, the revisions that it made and why, and every answer with its sources.
    """
    request.pipe_width = WIDTH
    start = time.perf_counter()
    lines = [line for talk in _example("ana.jsonl").conversations for line in talk.lines]
    with _place(keep) as path, request.at(path).open(create=True) as doxa:
        with progress_bar(request, f"replaying {len(lines)} turns", len(lines)) as bar:
            absorb_lines(doxa, USER, lines, Tally(), stop=Stop(), bar=bar)
        memory = doxa.memory(user=USER)
        facts, everything = memory.facts(), {fact.fact_id: fact for fact in memory.facts(current=False)}
        revisions = [change for change in memory.history() if change.revises]
        dialogue = doxa.dialogue(user=USER)
        asked = [_ask(dialogue, item) for item in _questions()]
        seconds = time.perf_counter() - start
        shown = Shown(
            lines=lines, facts=facts, everything=everything, revisions=revisions, asked=asked, seconds=seconds
        )
        model = request.config.llm.name if request.config.roles.write == "prompted" else None
        request.give(_data(shown, keep), lambda out: _show(out, shown, memory, keep=keep, model=model))


def matches(reply: Reply, expected: Sequence[str]) -> bool:
    """Tell whether the bare answer is one of the expected forms, or a quote without one holds it; none: it abstains.

    Lists count in any order.
    """
    if not expected or reply.abstained:
        return reply.abstained and not expected
    if reply.value is None:
        quoted = " ".join(QUOTE.findall(reply.text)).casefold()
        return any(form.casefold() in quoted for form in expected)
    return _items(reply.value) in [_items(form) for form in expected]


def _items(answer: str) -> frozenset[str]:
    parts = re.split(r",\s*(?:and\s+)?|\s+and\s+", answer.casefold().strip().rstrip("."))
    return frozenset(ARTICLES.sub("", part.strip()) for part in parts if part.strip())


def _folder() -> Traversable:
    """Return the folder of examples: in the installed package, or in the repository of a checkout."""
    for folder in (files("doxa") / "examples", Path(__file__).parents[4] / "examples"):
        if (folder / "ana.jsonl").is_file():
            return folder
    raise NotFoundError("The example conversation is not installed. Reinstall: pip install --force-reinstall doxa")


def _example(name: str) -> Transcript:
    return read(None, content=(_folder() / name).read_bytes())


def _questions() -> list[dict[str, Any]]:
    text = (_folder() / "ana_questions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


@contextmanager
def _place(keep: Path | None) -> Iterator[Path]:
    """Yield where the memory goes: the given file, or one that is gone afterwards."""
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="doxa-demo-") as folder:
        yield Path(folder) / "memory.db"


def _ask(dialogue: Dialogue, item: dict[str, Any]) -> Asked:
    reply = dialogue.ask(item["question"], as_of=item["as_of"])
    return Asked(question=item["question"], expected=tuple(item["answer"]), reply=reply)


def _data(shown: Shown, keep: Path | None) -> dict[str, Any]:
    return {
        "turns": len(shown.lines),
        "facts": shown.facts,
        "revisions": shown.revisions,
        "questions": [{"question": a.question, "right": a.right, "reply": a.reply} for a in shown.asked],
        "right": sum(a.right for a in shown.asked),
        "asked": len(shown.asked),
        "seconds": round(shown.seconds, 3),
        "kept": str(keep) if keep else None,
    }


def _show(out: Console, shown: Shown, memory: Memory, *, keep: Path | None, model: str | None) -> None:
    _show_head(out, shown)
    _show_facts(out, shown, memory)
    _show_revisions(out, shown, memory)
    _show_answers(out, shown)
    _show_end(out, shown, model)
    _show_next(out, keep)


def _show_head(out: Console, shown: Shown) -> None:
    days = [line.at.date() for line in shown.lines if line.at]
    put(
        out,
        f"Doxa read a conversation of {len(shown.lines)} turns between Ana and her assistant, on "
        f"{len(set(days))} days from {when(min(days))} to {when(max(days))}.",
    )


def _show_facts(out: Console, shown: Shown, memory: Memory) -> None:
    """Print the current facts, those about one subject together, the most talked about first."""
    _head(out, f"What it believes now: {count(len(shown.facts), 'fact')}")
    groups: dict[str, list[Fact]] = {}
    for fact in shown.facts:
        groups.setdefault(fact.subject.key, []).append(fact)
    table = columns("fact", "when", "turns")
    for group in sorted(groups.values(), key=len, reverse=True):
        for fact in sorted(group, key=lambda fact: fact.relation.name):
            table.add_row(*sentence_and_time(memory.describe(fact), fact), clean(", ".join(fact.turn_ids)))
    put(out, table)


def _show_revisions(out: Console, shown: Shown, memory: Memory) -> None:
    """Print what was believed before, what took its place, and why."""
    _head(out, f"What it changed its mind about: {count(len(shown.revisions), 'revision')}")
    for change in shown.revisions:
        old = sentence_and_time(memory.describe(change.fact), change.fact)[0]
        new = [clean(memory.describe(shown.everything[key])) for key in change.because if key in shown.everything]
        line = Text.assemble((f"{VERBS[change.kind]} ", "dim"), (old, "bold"))
        put(out, line.append(f" → {'; '.join(new)}" if new else ""), indent=2)
        source = ", ".join(part for part in (clean(change.turn_id or ""), when(change.known_at)) if part)
        put(out, f"{clean(change.reason)} ({source})".strip(), style="dim", indent=4)


def _show_answers(out: Console, shown: Shown) -> None:
    _head(out, f"{count(len(shown.asked), 'question')}, answered from the memory with the turns they rest on")
    for number, asked in enumerate(shown.asked, 1):
        put(out, f"{number:2}. {asked.question}")
        show_reply(out, asked.reply, indent=4)
        if not asked.right:
            expected = asked.expected[0] if asked.expected else "that it does not know"
            put(out, f"Expected: {expected}", style="red", indent=4)
        out.print()


def _show_end(out: Console, shown: Shown, model: str | None) -> None:
    right = sum(asked.right for asked in shown.asked)
    put(
        out,
        f"{right} of {len(shown.asked)} answers are as expected. It took {shown.seconds:.1f} seconds on this machine, "
        + (f"with the language model {model}." if model else "without a language model."),
    )


def _show_next(out: Console, keep: Path | None) -> None:
    name, file = _program(), keep or Path("ana.db")
    rows = [] if keep else [(f"{name} demo --keep {file} --quiet", "the same, kept in a file")]
    rows += [
        (f"export DOXA_DB={file} DOXA_USER={USER}", "what the commands below work on"),
        (f"{name} chat", "talk with it; /help says how"),
        (f'{name} ask "Where did I live in June 2024?"', "one question"),
        (f"{name} history Ana 'lives in'", "how a belief came about"),
        (f"{name} facts --all", "what it believes and believed"),
        (f"{name} ingest FILE --db my.db --user me", "a memory of your own"),
        (f"{name} --help", "everything else"),
    ]
    _head(out, "Go on")
    table = columns("", "")
    table.show_header = False
    for line, purpose in rows:
        table.add_row(line, Text(purpose, style="dim"))
    put(out, table, indent=2)


def _head(out: Console, text: str) -> None:
    out.print()
    rule = Rule(Text(text, style="bold"), align="left", style="dim", characters="─")
    out.print(rule, width=min(out.width, WIDTH))
    out.print()


def _program() -> str:
    """Return how this program was called, so that the lines shown work when they are pasted."""
    called = Path(sys.argv[0])
    return "doxa" if shutil.which("doxa") or called.name != "doxa" else str(called)
