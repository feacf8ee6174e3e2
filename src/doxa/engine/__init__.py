"""engine: turn -> reply + trace.

Its rooms, from the top: `api` is what users hold in their hands, `absorb` takes turns in, `answer` replies, `history`
tells the past again and takes things back, `reading` says what a turn says, `wiring` names the parts. All but what
opens a database is loaded at its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from doxa.engine.api.doxa import Dialogue, Doxa

if TYPE_CHECKING:
    from doxa.commonsense import Card
    from doxa.engine.answer.checking import find_reasoner
    from doxa.engine.api.asynchronous import AsyncDialogue, AsyncDoxa
    from doxa.engine.api.asyncmemory import AsyncMemory, AsyncTasks, AsyncTeaching
    from doxa.engine.api.graphs import KnowledgeGraph, extract_graph
    from doxa.engine.api.keys import Keys
    from doxa.engine.api.ledger import Ledger
    from doxa.engine.api.memory import Memory
    from doxa.engine.api.notes import Look, Note, Notebook, Page
    from doxa.engine.api.records import Records
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
    "Records",
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

ROOMS = {
    "AsyncDialogue AsyncDoxa": "engine.api.asynchronous",
    "AsyncMemory AsyncTasks AsyncTeaching": "engine.api.asyncmemory",
    "Card": "commonsense",
    "Editor": "tasks",
    "Intent Tasks": "engine.tasking",
    "Keys": "engine.api.keys",
    "Knowledge open_reasoner": "engine.wiring.reasoners",
    "KnowledgeGraph extract_graph": "engine.api.graphs",
    "Ledger": "engine.api.ledger",
    "Look Note Notebook Page": "engine.api.notes",
    "Memory": "engine.api.memory",
    "Played played": "engine.wiring.casting",
    "Records": "engine.api.records",
    "Teaching": "engine.api.teaching",
    "build_base show_base": "engine.wiring.knowledge",
    "encoder_options relation_counts": "engine.wiring.parts",
    "find_reasoner": "engine.answer.checking",
    "overlap": "engine.history.untold",
}
"""Names -> the module that has them, loaded at their first use."""


def __getattr__(name: str) -> Any:
    for names, room in ROOMS.items():
        if name in names.split():
            return getattr(import_module(f"doxa.{room}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
