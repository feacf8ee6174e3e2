"""engine: turn -> reply + trace.

`turn.py` is the method, `wiring.py` names the parts, `maintenance.py` runs `absorb` behind the caller's back,
`replay.py` tells the past again, `graphs.py` is the route over AMR, `ledger.py` the one without language, `api.py` and
`memory.py` are what users hold in their hands. All but these two is loaded at its first use.
"""

from typing import TYPE_CHECKING, Any

from doxa.engine.api import Dialogue, Doxa

if TYPE_CHECKING:
    from doxa.commonsense import Card
    from doxa.engine.asynchronous import AsyncDialogue, AsyncDoxa, AsyncMemory, AsyncTasks
    from doxa.engine.casting import Played, played
    from doxa.engine.checking import find_reasoner
    from doxa.engine.graphs import KnowledgeGraph, extract_graph
    from doxa.engine.keys import Keys
    from doxa.engine.knowledge import build_base, show_base
    from doxa.engine.ledger import Ledger
    from doxa.engine.memory import Memory
    from doxa.engine.notes import Look, Note, Notebook, Page
    from doxa.engine.reasoners import Knowledge, open_reasoner
    from doxa.engine.tasking import Intent, Tasks
    from doxa.engine.untold import overlap
    from doxa.engine.wiring import encoder_options, relation_counts
    from doxa.tasks import Editor

__all__ = [
    "AsyncDialogue",
    "AsyncDoxa",
    "AsyncMemory",
    "AsyncTasks",
    "Card",
    "Dialogue",
    "Doxa",
    "Editor",
    "Intent",
    "Keys",
    "Knowledge",
    "KnowledgeGraph",
    "Ledger",
    "Look",
    "Memory",
    "Note",
    "Notebook",
    "Page",
    "Played",
    "Tasks",
    "build_base",
    "encoder_options",
    "extract_graph",
    "find_reasoner",
    "open_reasoner",
    "overlap",
    "played",
    "relation_counts",
    "show_base",
]


def __getattr__(name: str) -> Any:
    match name:
        case "AsyncDialogue" | "AsyncDoxa" | "AsyncMemory" | "AsyncTasks":
            from doxa.engine import asynchronous

            return getattr(asynchronous, name)
        case "Played" | "played":
            from doxa.engine import casting

            return getattr(casting, name)
        case "find_reasoner":
            from doxa.engine import checking

            return getattr(checking, name)
        case "KnowledgeGraph" | "extract_graph":
            from doxa.engine import graphs

            return getattr(graphs, name)
        case "Keys":
            from doxa.engine import keys

            return getattr(keys, name)
        case "build_base" | "show_base":
            from doxa.engine import knowledge

            return getattr(knowledge, name)
        case "Ledger":
            from doxa.engine import ledger

            return getattr(ledger, name)
        case "Memory":
            from doxa.engine import memory

            return getattr(memory, name)
        case "Look" | "Note" | "Notebook" | "Page":
            from doxa.engine import notes

            return getattr(notes, name)
        case _:
            return _room_beside(name)


def _room_beside(name: str) -> Any:
    match name:
        case "Knowledge" | "open_reasoner":
            from doxa.engine import reasoners

            return getattr(reasoners, name)
        case "Intent" | "Tasks":
            from doxa.engine import tasking

            return getattr(tasking, name)
        case "overlap":
            from doxa.engine import untold

            return getattr(untold, name)
        case "encoder_options" | "relation_counts":
            from doxa.engine import wiring

            return getattr(wiring, name)
        case "Editor":
            from doxa import tasks

            return getattr(tasks, name)
        case "Card":
            from doxa import commonsense

            return getattr(commonsense, name)
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
