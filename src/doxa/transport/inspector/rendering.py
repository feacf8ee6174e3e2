"""Templates and values -> HTML. Everything that a template shows is escaped; what cannot be seen is made visible."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import pairwise
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from doxa.core.tasks import TaskCommit
from doxa.core.values import ChangeKind, Fact, Interval, Status
from doxa.core.views import Quote
from doxa.transport.differences import Difference, differences_at

__all__ = ["PAGES", "ROOT", "STATIC", "Mark", "marks_of", "render", "visible"]

ROOT = "/inspect"
STATIC = files(__package__) / "static"
PAGES: Mapping[str, str] = {
    "now": "Now",
    "timeline": "Timeline",
    "why": "Why",
    "recall": "Recall",
    "conflicts": "Conflicts",
    "tasks": "Tasks",
    "graph": "Graph",
    "health": "Health",
    "chat": "Chat",
}
"""The pages by the first step of their path, in the order of the digits that lead to them."""
CHANGED: Mapping[ChangeKind, str] = {
    ChangeKind.ASSERT: "learned",
    ChangeKind.SUPPORT: "said again",
    ChangeKind.CLOSE: "ended",
    ChangeKind.RETRACT: "taken back",
    ChangeKind.RESTORE: "holds again",
    ChangeKind.REFINE: "dated",
    ChangeKind.QUARANTINE: "set aside",
    ChangeKind.NOTE: "tentative",
    ChangeKind.DISPUTE: "disputed",
    ChangeKind.MERGE: "taken as one",
    ChangeKind.SPLIT: "told apart",
    ChangeKind.MOVE: "renamed",
}
STANDING: Mapping[Status, str] = {
    Status.HELD: "believed",
    Status.SUPERSEDED: "no longer so",
    Status.RETRACTED: "taken back",
    Status.QUARANTINED: "set aside",
    Status.TENTATIVE: "tentative",
}
LONGEST_SHOWN = 2_000
"""Characters of a text that a page shows at once; the rest is a page of its own."""
DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction in which others are read."""
UNSEEN = frozenset("\u00ad\u180e\u200b\u200c\u2028\u2029\u2060\ufeff") | DIRECTIONS

Mark = tuple[int, int, str]
"""A stretch of a text that is marked: start, end, class."""


def render(template: str, /, **values: Any) -> str:
    """Return a template as HTML.

    Args:
        template: its name.
        values: what it shows.
    """
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "told": told,
        "day": day,
        "moment": moment,
        "number": number,
        "sentence": sentence,
        "kind": CHANGED.__getitem__,
        "standing": STANDING.__getitem__,
    }
    made.globals |= {"PAGES": PAGES, "marks_of": marks_of, "parts": parts, "task_changes": task_changes}
    return made


def task_changes(commit: TaskCommit, paths: Mapping[str, str]) -> list[Difference]:
    """Return what a change of the tasks did, node by node; `paths` are those of the nodes by their ids."""
    return differences_at(commit.edits, paths, {key: path.rpartition("/")[2] for key, path in paths.items()})


def told(text: object, most: int = LONGEST_SHOWN) -> Markup:
    """Return what somebody said or named, isolated from the text around it, with what cannot be seen marked.

    Args:
        text: any text; it is never taken for HTML.
        most: characters that are shown; what is left out is said.
    """
    given = str(text)
    rest = len(given) - most
    more = Markup('<span class="cut" title="{} more characters">…</span>').format(f"{rest:,}") if rest > 0 else ""
    return Markup("<bdi>{}</bdi>").format(Markup("").join(visible(given[:most]))) + more


def visible(text: str) -> Iterator[Markup]:
    """Give the pieces of a text as HTML; a character that is not seen, or turns others around, is named instead."""
    start = 0
    for at, letter in enumerate(text):
        if letter in UNSEEN or (letter not in "\n\t" and unicodedata.category(letter) in ("Cc", "Cs", "Co", "Cn")):
            yield escape(text[start:at])
            name = unicodedata.name(letter, "a control character")
            yield Markup('<span class="ctl" title="{}">U+{:04X}</span>').format(name, ord(letter))
            start = at + 1
    yield escape(text[start:])


def marks_of(quote: Quote) -> tuple[Mark, ...]:
    """Return where the words of a turn say a fact."""
    places = (("said", quote.sentence), ("subject", quote.subject), ("value", quote.object))
    return tuple((*place, css) for css, place in places if place is not None)


def parts(text: str, marks: Sequence[Mark], around: int = LONGEST_SHOWN // 2) -> Markup:
    """Return a text with stretches of it marked; of a long one what is around the first mark.

    Args:
        text: any text.
        marks: start, end and class of each stretch; one may lie within another.
        around: characters that are shown before the first mark, and behind its beginning.
    """
    first = min((start for start, _, _ in marks), default=0)
    low, high = max(0, first - around), min(len(text), first + around)
    cuts = sorted({low, high, *(min(max(at, low), high) for start, end, _ in marks for at in (start, end))})
    found = [Markup('<span class="cut">…</span>')] if low else []
    for start, end in pairwise(cuts):
        classes = " ".join(dict.fromkeys(kind for a, b, kind in marks if a <= start and end <= b))
        piece = Markup("").join(visible(text[start:end]))
        found.append(Markup('<mark class="{}">{}</mark>').format(classes, piece) if classes else piece)
    found += [Markup('<span class="cut">…</span>')] if high < len(text) else []
    return Markup("<bdi>{}</bdi>").format(Markup("").join(found))


def day(value: date | datetime | None) -> str:
    """Return a day as people write it; empty for None."""
    if value is None:
        return ""
    return Interval.format(value.date() if isinstance(value, datetime) else value, "day")


def moment(value: datetime | None) -> Markup:
    """Return a moment, to the minute, with the whole of it for programs."""
    if value is None:
        return Markup("")
    return Markup('<time datetime="{}">{}</time>').format(value.isoformat(), f"{value:%Y-%m-%d %H:%M}")


def number(value: float) -> str:
    """Return a number with its thousands apart."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def sentence(fact: Fact) -> Markup:
    """Return a fact as subject, relation and object, each isolated."""
    relation = fact.relation.label if fact.polarity else f"not: {fact.relation.label}"
    return Markup('{} <span class="rel">{}</span> {}').format(
        told(fact.subject.label, 200), told(relation, 200), told(fact.object.label, 600)
    )


@cache
def asset(name: str) -> str:
    """Return the address of a file of ours, which changes when the file does."""
    digest = sha256(STATIC.joinpath(*name.split("/")).read_bytes()).hexdigest()[:12]
    return f"{ROOT}/static/{name}?v={digest}"
