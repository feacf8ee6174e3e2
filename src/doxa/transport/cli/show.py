"""How results read: an answer with its sources, facts, their history and their reasons, evidence, changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from doxa.core.trace import TABLES, Trace
from doxa.core.values import (
    Change,
    ChangeKind,
    Citation,
    Dispute,
    Entity,
    Evidence,
    Explanation,
    Fact,
    Reply,
    Rule,
    Status,
    Turn,
)
from doxa.transport.cli.render import cited, clean, columns, count, put, sentence_and_time, shorten, when
from doxa.transport.cli.tree import show_tree, tree_of

__all__ = [
    "VERBS",
    "show_changes",
    "show_disputes",
    "show_entities",
    "show_evidence",
    "show_facts",
    "show_history",
    "show_reply",
    "show_rules",
    "show_why",
]

Describe = Callable[[Fact], str]
VERBS = {
    ChangeKind.ASSERT: "noted:",
    ChangeKind.SUPPORT: "said again:",
    ChangeKind.CLOSE: "no longer:",
    ChangeKind.RETRACT: "never was:",
    ChangeKind.RESTORE: "again:",
    ChangeKind.REFINE: "more exactly:",
    ChangeKind.QUARANTINE: "not trusted:",
    ChangeKind.NOTE: "tentative:",
    ChangeKind.DISPUTE: "disputed:",
    ChangeKind.MERGE: "one and the same:",
    ChangeKind.SPLIT: "told apart:",
    ChangeKind.MOVE: "told under another name:",
}
"""What a change does to a belief, as people say it; JSON has the name of its kind."""
WIDE = 120
"""Columns from which on the views of a search have a column of their own."""


def show_reply(out: Console, reply: Reply, *, trace: bool = False, indent: int = 0) -> None:
    """Print an answer, the turns it rests on, and where it ran on a lesser path; on demand the steps and the search."""
    unsure = reply.abstained or reply.disputed
    put(out, clean(reply.text), style="yellow" if unsure else "bold", indent=indent)
    for citation in _once(reply.citations):
        put(out, cited(citation), style="dim", indent=indent + 2)
    if reply.overruled:
        put(out, f"Overruled by it: {clean(', '.join(reply.overruled))}", style="dim", indent=indent + 2)
    if reply.background and reply.background[0].text not in reply.text:
        put(out, f"Background: {clean(reply.background[0].text)}", style="dim", indent=indent + 2)
    for why in reply.trace.degraded:
        put(out, f"Note: {clean(why)}", style="yellow", indent=indent)
    if trace:
        out.print()
        put(out, _steps(reply.trace), indent=indent)
        tree = tree_of(reply.trace)
        if tree is not None:
            out.print()
            show_tree(out, tree, indent=indent)


def show_facts(out: Console, facts: Sequence[Fact], describe: Describe) -> None:
    """Print facts as a table, one row per fact."""
    if not facts:
        out.print("No facts.")
        return
    table = columns("id", "fact", "when", "turns")
    for fact in facts:
        table.add_row(fact.fact_id, *sentence_and_time(describe(fact), fact), clean(", ".join(fact.turn_ids)))
    put(out, table)


def show_rules(out: Console, rules: Sequence[Rule], describe: Callable[[Rule], str]) -> None:
    """Print rules as a table, one row per sentence: what it says, and under it its words."""
    if not rules:
        out.print("No rules.")
        return
    table = columns("turn", "said on", "rule")
    for (turn_id, speaker, span), same in groupby(rules, lambda rule: (rule.turn_id, rule.speaker, rule.span)):
        of_one = list(same)
        what = Text("".join(f"{clean(describe(rule))}\n" for rule in of_one))
        what.append(f'{clean(speaker)}: "{shorten(span, 200)}"', style="dim")
        table.add_row(clean(turn_id), when(of_one[0].known_at), what)
    put(out, table)


def show_disputes(out: Console, found: Sequence[Dispute], describe: Callable[[Fact], str]) -> None:
    """Print each dispute as its question, and under it the ids of its facts."""
    if not found:
        out.print("No disputes.")
    for dispute in found:
        put(out, clean(dispute.question), style="bold")
        for fact in dispute.facts:
            put(out, f"  {fact.fact_id}  {clean(describe(fact))}", style="dim")


def show_entities(out: Console, found: Sequence[Entity]) -> None:
    """Print people and things, one row each, with their other names."""
    if not found:
        out.print("Nobody and nothing.")
        return
    table = columns("name", "also", "what", "facts", "key")
    for entity in found:
        others = clean(", ".join(entity.aliases))
        table.add_row(clean(entity.label), others, entity.kind, str(entity.facts), clean(entity.key))
    put(out, table)


def show_history(out: Console, changes: Sequence[Change], describe: Describe) -> None:
    """Print what happened to a belief, oldest first."""
    if not changes:
        out.print("No history: nothing was ever believed about it.")
        return
    table = columns("said on", "turn", "what changed")
    for change in changes:
        what = Text(f"{VERBS[change.kind]} {clean(describe(change.fact))}\n")
        what.append("  ".join(part for part in (change.fact.fact_id, clean(change.reason)) if part), style="dim")
        table.add_row(when(change.known_at), clean(change.turn_id or "by hand"), what)
    put(out, table)


def show_why(out: Console, found: Explanation, describe: Describe) -> None:
    """Print a fact, what was said for it or what it follows from, what happened to it, and what it clashed with."""
    fact = found.fact
    text, time = sentence_and_time(describe(fact), fact)
    put(out, text, style="bold")
    put(out, ", ".join(part for part in (fact.fact_id, time) if part), style="dim")
    _section(out, "Said in", [_source(turn, found) for turn in found.turns])
    _section(out, "It follows from", [_named(premise, describe) for premise in found.premises])
    _section(out, "By the rule", [_stated(rule) for rule in found.rules])
    _section(out, "It follows", [clean(step) for step in found.derivation])
    _section(out, "What happened", [_change(change, describe) for change in found.changes])
    _section(out, "Names of one", [_named(one, describe) for one in found.identities])
    _section(out, "It took the place of", [_rival(other, found, describe) for other in found.displaced])
    over = "Others say" if fact.disputed else "Its place was taken by"
    _section(out, over, [_rival(other, found, describe) for other in found.displaced_by])
    _section(out, "What follows from it", [_concluded(other, describe) for other in found.conclusions])


def show_evidence(out: Console, found: Sequence[Evidence]) -> None:
    """Print what was found for a query, best first."""
    if not found:
        out.print("Nothing found.")
        return
    roomy = out.width >= WIDE
    table = columns("score", "turns", *(["found by"] if roomy else []), "text")
    for evidence in found:
        way = Text(clean("; ".join(evidence.path)), style="dim")
        text = Text(shorten(evidence.text, 400))
        cells = [way, text] if roomy else [Text.assemble(text, "\n", way)]
        table.add_row(f"{evidence.score:.3f}", clean(", ".join(evidence.turn_ids)), *cells)
    put(out, table)


def show_changes(out: Console, changes: Sequence[Change], describe: Describe, *, indent: int = 2) -> None:
    """Print what was done to which fact, and why."""
    for change in changes:
        put(out, _change(change, describe), indent=indent)


def _change(change: Change, describe: Describe) -> str:
    by = f" ({', '.join(part for part in (clean(change.turn_id or ''), when(change.known_at)) if part)})"
    reason = f": {clean(change.reason)}" if change.reason else ""
    reason += f" ({change.conflict.words})" if change.conflict else ""
    return f"{VERBS[change.kind]} {clean(describe(change.fact))}{reason}{by if by != ' ()' else ''}"


def _source(turn: Turn, found: Explanation) -> str:
    """Return a turn that says a fact; where its speaker quotes somebody, with whom."""
    source = found.sources.get(turn.turn_id)
    return cited(turn, limit=400) + (f" (on the word of {clean(source)})" if source else "")


def _stated(rule: Rule) -> str:
    by = ", ".join(part for part in (clean(rule.turn_id), clean(rule.speaker), when(rule.known_at)) if part)
    return f'{by}: "{clean(rule.span)}"' if by else clean(rule.span)


def _rival(fact: Fact, found: Explanation, describe: Describe) -> str:
    kind = found.conflicts.get(fact.fact_id)
    return _named(fact, describe) + (f" ({kind.words})" if kind else "")


def _concluded(fact: Fact, describe: Describe) -> str:
    return _named(fact, describe) + ("" if fact.status is Status.HELD else " (no longer)")


def _named(fact: Fact, describe: Describe) -> str:
    return f"{fact.fact_id}  {clean(describe(fact))}"


def _section(out: Console, head: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    out.print()
    put(out, head, style="bold")
    for line in lines:
        put(out, line, indent=2)


def _once(citations: Sequence[Citation]) -> list[Citation]:
    # Two facts may rest on one turn; it is quoted once.
    return list({citation.turn_id: citation for citation in citations}.values())


def _steps(trace: Trace) -> Table:
    table = columns("step", "ms", "detail")
    for step in trace.steps:
        detail = ", ".join(f"{key}={shorten(value, 80)}" for key, value in step.detail.items() if key not in TABLES)
        table.add_row(step.name, f"{step.ms:.1f}", detail + (f" (degraded: {step.degraded})" if step.degraded else ""))
    table.add_row("total", f"{trace.ms:.1f}", count(len(trace.steps), "step"))
    return table
