"""engine: turn -> reply + trace.

Its rooms, from the top: `api` is what users hold in their hands, `absorb` takes turns in, `answer` replies, `history`
tells the past again and takes things back, `reading` says what a turn says, `wiring` names the parts. All but what
opens a database is loaded at its first use.
"""

from typing import TYPE_CHECKING, Any

from doxa.engine.api.doxa import Dialogue, Doxa

if TYPE_CHECKING:
    from doxa.commonsense import Card
    from doxa.engine.answer.checking import find_reasoner
    from doxa.engine.api.asynchronous import AsyncDialogue, AsyncDoxa, AsyncMemory, AsyncTasks, AsyncTeaching
    from doxa.engine.api.graphs import KnowledgeGraph, extract_graph
    from doxa.engine.api.keys import Keys
    from doxa.engine.api.ledger import Ledger
    from doxa.engine.api.memory import Memory
    from doxa.engine.api.notes import Look, Note, Notebook, Page
    from doxa.engine.api.teaching import Teaching
    from doxa.engine.history.untold import overlap
    from doxa.engine.tasking import Intent, Tasks
    from doxa.engine.wiring.casting import Played, played
    from doxa.engine.wiring.knowledge import build_base, show_base
    from doxa.engine.wiring.parts import encoder_options, relation_counts
    from doxa.engine.wiring.reasoners import Knowledge, open_reasoner
    from doxa.tasks import Editor

__all__ = [
    "AsyncDialogue",
    "AsyncDoxa",
    "AsyncMemory",
    "AsyncTasks",
    "AsyncTeaching",
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
    "Teaching",
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
        case "AsyncDialogue" | "AsyncDoxa" | "AsyncMemory" | "AsyncTasks" | "AsyncTeaching":
            from doxa.engine.api import asynchronous

            return getattr(asynchronous, name)
        case "Played" | "played":
            from doxa.engine.wiring import casting

            return getattr(casting, name)
        case "find_reasoner":
            from doxa.engine.answer import checking

            return getattr(checking, name)
        case "KnowledgeGraph" | "extract_graph":
            from doxa.engine.api import graphs

            return getattr(graphs, name)
        case "Keys":
            from doxa.engine.api import keys

            return getattr(keys, name)
        case "build_base" | "show_base":
            from doxa.engine.wiring import knowledge

            return getattr(knowledge, name)
        case "Ledger":
            from doxa.engine.api import ledger

            return getattr(ledger, name)
        case "Memory":
            from doxa.engine.api import memory

            return getattr(memory, name)
        case "Teaching":
            from doxa.engine.api import teaching

            return getattr(teaching, name)
        case "Look" | "Note" | "Notebook" | "Page":
            from doxa.engine.api import notes

            return getattr(notes, name)
        case _:
            return _room_beside(name)


def _room_beside(name: str) -> Any:
    match name:
        case "Knowledge" | "open_reasoner":
            from doxa.engine.wiring import reasoners

            return getattr(reasoners, name)
        case "Intent" | "Tasks":
            from doxa.engine import tasking

            return getattr(tasking, name)
        case "overlap":
            from doxa.engine.history import untold

            return getattr(untold, name)
        case "encoder_options" | "relation_counts":
            from doxa.engine.wiring import parts

            return getattr(parts, name)
        case "Editor":
            from doxa import tasks

            return getattr(tasks, name)
        case "Card":
            from doxa import commonsense

            return getattr(commonsense, name)
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
