"""Commands that look into a memory and change nothing: search, facts, summary, rules, disputes, history, why, ..."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from doxa.core.errors import InputError
from doxa.transport.cli.answers import show_answer
from doxa.transport.cli.app import command
from doxa.transport.cli.ask import AsOf, KnownAt
from doxa.transport.cli.render import clean, columns, count, put
from doxa.transport.cli.request import Request, day_of, moment_of
from doxa.transport.cli.show import (
    show_disputes,
    show_entities,
    show_evidence,
    show_facts,
    show_history,
    show_rules,
    show_why,
)

if TYPE_CHECKING:
    from doxa.engine import Memory

__all__ = ["disputes", "entities", "facts", "history", "rules", "search", "stats", "summary", "why"]


@command("search", example='doxa search "holiday in Spain" -k 5')
def search(
    request: Request,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in words.")],
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="How many results at most.")] = 10,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="Also turns that tell nothing that is still believed.")
    ] = False,
    session: Annotated[str | None, typer.Option("--session", help="Only turns of this session.")] = None,
    speaker: Annotated[str | None, typer.Option("--speaker", help="Only turns of this speaker.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="DATE", help="Only turns from then on.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="DATE", help="Only turns until then.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> None:
    """Show the turns and facts that bear on a query, best first.

    Each comes with how it was found: the views that speak for it, and the path.
    `--json` adds their scores.
    """
    first, last, day, known = moment_of(since), moment_of(until), day_of(as_of), moment_of(known_at)
    with request.memory(known=True) as memory:
        found = memory.search(
            query,
            k=k,
            session=session,
            speaker=speaker,
            since=first,
            until=last,
            as_of=day,
            known_at=known,
            superseded=superseded,
        )
    request.give(found, lambda out: show_evidence(out, found))


@command("facts", example="doxa facts --subject Ana --as-of 2024-07-01")
def facts(
    request: Request,
    subject: Annotated[str | None, typer.Option("--subject", help="Only facts about this person or thing.")] = None,
    relation: Annotated[str | None, typer.Option("--relation", help="Only this relation, such as 'lives in'.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what is over, retracted or not trusted.")] = False,
    inferred: Annotated[
        bool, typer.Option("--inferred", help="What follows now by the ontology, and nobody said.")
    ] = False,
) -> None:
    """Show what is believed, since when, and which turns say so."""
    if inferred:
        _show_inferred(request, alone=not any((subject, relation, as_of, known_at, everything)))
        return
    day, moment = day_of(as_of), moment_of(known_at)
    with request.memory(known=True) as memory:
        found = memory.facts(current=not everything, subject=subject, relation=relation, as_of=day, known_at=moment)
        request.give(found, lambda out: show_facts(out, found, memory.describe))
        if relation and not found:
            _hint_at_relations(request, memory, relation)
        if not request.json and found:
            request.note(count(len(found), "fact") + ("" if everything else "; --all also shows what is over"))
        if not request.json and (shared := request.config.memory.shared):
            own = "everybody reads these" if memory.user in shared else f"everybody reads {', '.join(shared)} as well"
            request.note(f"{own} (setting memory.shared)")


def _show_inferred(request: Request, *, alone: bool) -> None:
    if not alone:
        raise InputError("facts: --inferred lists what follows from all current facts; leave the other options out.")
    with request.memory(known=True) as memory:
        found = memory.inferred()
        request.give(found, lambda out: show_facts(out, found, memory.describe))
        if not request.json and found:
            request.note(f"{count(len(found), 'fact')}; `doxa why ID` tells from what each one follows")


def _hint_at_relations(request: Request, memory: Memory, relation: str) -> None:
    """Where no fact has this relation, name one that is spelled like it."""
    known = {str(fact.relation) for fact in memory.facts(current=False)}
    near = get_close_matches(relation, sorted(known), n=1)
    if near and near[0] != relation:
        request.note(f"Did you mean {near[0]}?")


@command("rules", example="doxa rules --known-at 2024-07-01")
def rules(request: Request, known_at: KnownAt = None) -> None:
    """Show the rules that were stated, and which turns say so."""
    moment = moment_of(known_at)
    with request.memory(known=True) as memory:
        found = memory.rules(known_at=moment)
        request.give(found, lambda out: show_rules(out, found, memory.describe))


@command("disputes", example="doxa disputes")
def disputes(request: Request) -> None:
    """Show what cannot all be true while nothing says which is, and what to ask to settle it."""
    with request.memory(known=True) as memory:
        found = memory.disputes()
        request.give(found, lambda out: show_disputes(out, found, memory.describe))


@command("summary", example="doxa summary 'where everybody lives' --tokens 200")
def summary(
    request: Request,
    query: Annotated[str | None, typer.Argument(metavar="[QUERY]", help="Only what bears on it.")] = None,
    tokens: Annotated[int, typer.Option("--tokens", min=1, help="Most tokens of the text.")] = 400,
    history: Annotated[bool, typer.Option("--history", help="Also what no longer holds or is not believed.")] = False,
) -> None:
    """Say in a few sentences what is believed now.

    One line a subject, then the rules: text for the prompt of any language model. Where sources disagree it says so.
    """
    with request.memory(known=True) as memory:
        found = memory.summary(query, max_tokens=tokens, history=history)
    request.give({"summary": found}, lambda out: put(out, clean(found or "Nothing is believed.")))


@command("entities", example="doxa entities")
def entities(request: Request) -> None:
    """Show the people and things of the facts, with their names.

    `doxa merge` joins two names, `doxa split` tells them apart; a key tells people of one name from each other.
    """
    with request.memory(known=True) as memory:
        found = memory.entities()
    request.give(found, lambda out: show_entities(out, found))


@command("history", example="doxa history Ana 'lives in'")
def history(
    request: Request,
    subject: Annotated[str, typer.Argument(metavar="FACT_ID|SUBJECT", help="A fact, or what it is about.")],
    relation: Annotated[str | None, typer.Argument(metavar="[RELATION]", help="With a subject: the relation.")] = None,
) -> None:
    """Show what happened to a fact, or to a subject and relation.

    Oldest first: every change of what was believed, with the turn and the reason.
    """
    with request.memory() as memory:
        found = memory.history((subject, relation) if relation else subject)
        request.give(found, lambda out: show_history(out, found, memory.describe))


@command("why", example="doxa why f1_2c9a01b7e4d5")
def why(
    request: Request,
    fact_id: Annotated[
        str, typer.Argument(metavar="ID", help="The id of a fact (`doxa facts`) or of an answer (`doxa answers`).")
    ],
) -> None:
    """Show why a fact stands where it stands, or what an answer rests on and whether it still stands.

    Who said it, when and on whose word; or what it follows from by which rule; what happened to it, what it took the
    place of and what took its place, with the kind of conflict; and what is believed because of it.
    """
    with request.memory() as memory:
        if fact_id.startswith("a_"):
            answer = memory.why_answered(fact_id)
            request.give(answer, lambda out: show_answer(out, answer))
            return
        found = memory.why(fact_id)
        request.give(found, lambda out: show_why(out, found, memory.describe))


@command("stats", example="doxa stats --user ana --json")
def stats(request: Request) -> None:
    """Count what a memory holds, and say where it is."""
    with request.open() as doxa:
        request.require_user(doxa)
        found: dict[str, Any] = {
            "user": request.config.user,
            **doxa.memory(user=request.config.user).stats(),
            "users": doxa.users(),
            "memory": doxa.describe(),
        }
    request.give(found, lambda out: show_tree(out, found))


def show_tree(out: Console, tree: dict[str, Any]) -> None:
    """Print nested values, one per row under their dotted name."""
    table = columns("what", "value")
    for name, value in _leaves(tree):
        table.add_row(name, clean(value))
    put(out, table)


def _leaves(tree: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for name, value in tree.items():
        if isinstance(value, dict):
            rows += _leaves(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            rows.append((prefix + name, ", ".join(map(str, value)) or "none"))
        else:
            rows.append(
                (prefix + name, "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value))
            )
    return rows
