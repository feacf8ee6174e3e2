"""Values as people read them in a terminal, and JSON on standard output."""

from __future__ import annotations

import json
import re
import shutil
import sys
from datetime import date, datetime
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from doxa.core.values import Citation, Fact, Turn
from doxa.transport.plain import plain

__all__ = [
    "cited",
    "clean",
    "columns",
    "console",
    "count",
    "dump",
    "put",
    "sentence_and_time",
    "shorten",
    "when",
]

PIPE_WIDTH = 10_000
"""Columns when nobody looks: every row stays on its line, so that `grep` finds whole rows."""
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Terminal commands and invisible marks that turn the direction of text; a transcript may hold them."""


def dump(value: Any, *, lines: bool = False) -> None:
    """Write a value to standard output as JSON and nothing else; with `lines` on one line."""
    file = sys.stdout
    encoding = (getattr(file, "encoding", None) or "utf-8").lower().replace("-", "").replace("_", "")
    file.write(json.dumps(plain(value), ensure_ascii=encoding != "utf8", indent=None if lines else 2) + "\n")
    file.flush()


def console(*, stderr: bool = False, pipe_width: int = PIPE_WIDTH) -> Console:
    """Return a console that takes text as it is: no markup, no emoji names, no colours made up by patterns."""
    file = sys.stderr if stderr else sys.stdout
    width = None if file.isatty() else shutil.get_terminal_size((pipe_width, 24)).columns
    return Console(file=file, width=width, markup=False, emoji=False, highlight=False, soft_wrap=False)


def put(out: Console, what: RenderableType, *, indent: int = 0, style: str = "") -> None:
    """Print something, wrapped and indented; in a pipe without the blanks that would fill up each line."""
    shown = Text(what, style=style) if isinstance(what, str) else what
    shown = Padding(shown, (0, 0, 0, indent)) if indent else shown
    if out.is_terminal:
        out.print(shown)
        return
    with out.capture() as captured:
        out.print(shown)
    out.file.write("".join(line.rstrip() + "\n" for line in captured.get().splitlines()))


def clean(text: object) -> str:
    """Return text without characters that would command the terminal."""
    return CONTROL.sub("", str(text))


def shorten(text: object, limit: int) -> str:
    """Return text on one line and of at most `limit` characters, cut at a word."""
    line = " ".join(clean(text).split())
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    return (head.rpartition(" ")[0] if " " in head[limit // 2 :] else head).rstrip(" ,;:.") + "…"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return `1 fact`, `2 facts`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def when(moment: date | datetime | None) -> str:
    """Return a day as people write it; empty for None."""
    return f"{moment.day} {moment:%B} {moment.year:04d}" if moment else ""


def columns(*heads: str, title: str | None = None) -> Table:
    """Return an empty table in the house style: no frame, long cells folded and never cut."""
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="dim",
    )
    for head in heads:
        fixed = head in ("id", "score", "status")
        table.add_column(head, overflow="fold", no_wrap=fixed, justify="right" if head == "score" else "left")
    return table


def sentence_and_time(text: str, fact: Fact) -> tuple[str, str]:
    """Return the sentence that describes a fact in two parts: what holds, and when; with what is unusual about it."""
    valid = str(fact.valid)
    if valid and text.endswith(valid) and not fact.object.label.casefold().endswith(valid.casefold()):
        text = text.removesuffix(valid).rstrip()
        if fact.valid.start == fact.valid.end:
            text = text.removesuffix(" on").removesuffix(" in")
    notes = [valid] if valid else []
    notes += [str(fact.status)] if fact.status != "held" else []
    notes += ["disputed"] if fact.disputed else []
    return clean(text), ", ".join(notes)


def cited(turn: Citation | Turn, *, limit: int = 200) -> str:
    """Return a turn as a source: `D3:5 Ana, 30 March 2024: "..."`."""
    by = ", ".join(part for part in (clean(turn.speaker), when(turn.at)) if part)
    said = f'"{shorten(turn.text, limit)}"' if turn.text else ""
    return ": ".join(part for part in (f"{clean(turn.turn_id)} {by}".strip(), said) if part)
