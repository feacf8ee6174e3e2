"""engine: turn -> reply + trace.

Its rooms, from the top: `api` is what users hold in their hands, `absorb` takes turns in, `answer` replies, `history`
tells the past again and takes things back, `reading` says what a turn says, `wiring` names the parts; `shelf` gives
a memory as mem0 has it, `viewing` page by page. All but what opens a database is loaded at its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from doxa.engine.api.dialogue import Dialogue
from doxa.engine.api.doxa import Doxa

if TYPE_CHECKING:
    from doxa.commonsense import Card
    from doxa.engine.answer.checking import find_reasoner
    from doxa.engine.api.asynchronous import AsyncDialogue, AsyncDoxa
    from doxa.engine.api.asyncmemory import AsyncMemory, AsyncTasks, AsyncTeaching
    from doxa.engine.api.awaiting import awaited, finished
    from doxa.engine.api.graphs import KnowledgeGraph, extract_graph
    from doxa.engine.api.keys import Keys
    from doxa.engine.api.ledger import Ledger
    from doxa.engine.api.memory import Memory
    from doxa.engine.api.migrating import migrate
    from doxa.engine.api.network import Network
    from doxa.engine.api.notes import Look, Note, Notebook, Page
    from doxa.engine.api.records import Records, forget_turns, short
    from doxa.engine.api.teaching import Teaching
    from doxa.engine.api.worker import Stuck, Worker, stuck, try_again
    from doxa.engine.history.mending import check_file, mend_file
    from doxa.engine.history.moving import IMPORTED, Imported
    from doxa.engine.history.rekeying import rekey
    from doxa.engine.history.transfer import EXPORT_ENDINGS, is_export
    from doxa.engine.noting import OURS, noted, notes
    from doxa.engine.shelf.changing import amend, erase_fitting, remove
    from doxa.engine.shelf.entries import Entry, values_of
    from doxa.engine.shelf.filters import ENTITIES, NO_CATEGORIES, Filter, moment, read_filter
    from doxa.engine.shelf.graph import Graph, Node, Origin, Triple, graph_of, touching
    from doxa.engine.shelf.handles import Handle
    from doxa.engine.shelf.leaving import leave
    from doxa.engine.shelf.shelves import Shelf
    from doxa.engine.tasking import Intent, Tasks
    from doxa.engine.viewing.live import Live
    from doxa.engine.viewing.view import View
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
    "ENTITIES",
    "EXPORT_ENDINGS",
    "Editor",
    "Entry",
    "Filter",
    "Graph",
    "Handle",
    "IMPORTED",
    "Imported",
    "Intent",
    "Keys",
    "Knowledge",
    "KnowledgeGraph",
    "Ledger",
    "Live",
    "Look",
    "Memory",
    "NO_CATEGORIES",
    "Network",
    "Node",
    "Note",
    "Notebook",
    "OURS",
    "Origin",
    "Page",
    "Played",
    "Records",
    "Shelf",
    "Stuck",
    "Tasks",
    "Teaching",
    "Triple",
    "View",
    "Worker",
    "amend",
    "awaited",
    "build_base",
    "check_file",
    "encoder_options",
    "erase_fitting",
    "extract_graph",
    "find_reasoner",
    "finished",
    "forget_turns",
    "graph_of",
    "is_export",
    "leave",
    "mend_file",
    "migrate",
    "moment",
    "noted",
    "notes",
    "open_reasoner",
    "played",
    "read_filter",
    "rekey",
    "relation_counts",
    "remove",
    "require_signed",
    "short",
    "signature_of",
    "show_base",
    "stuck",
    "touching",
    "try_again",
    "values_of",
]

ROOMS = {
    "AsyncDialogue AsyncDoxa": "engine.api.asynchronous",
    "AsyncMemory AsyncTasks AsyncTeaching": "engine.api.asyncmemory",
    "Card": "commonsense",
    "ENTITIES NO_CATEGORIES Filter moment read_filter": "engine.shelf.filters",
    "Editor": "tasks",
    "Graph Node Origin Triple graph_of touching": "engine.shelf.graph",
    "Handle": "engine.shelf.handles",
    "IMPORTED Imported": "engine.history.moving",
    "Intent Tasks": "engine.tasking",
    "Keys": "engine.api.keys",
    "Knowledge open_reasoner": "engine.wiring.reasoners",
    "KnowledgeGraph extract_graph": "engine.api.graphs",
    "Ledger": "engine.api.ledger",
    "Look Note Notebook Page": "engine.api.notes",
    "Memory": "engine.api.memory",
    "Network": "engine.api.network",
    "Entry values_of": "engine.shelf.entries",
    "OURS noted notes": "engine.noting",
    "Played played": "engine.wiring.casting",
    "Records forget_turns short": "engine.api.records",
    "Shelf": "engine.shelf.shelves",
    "require_signed signature_of": "engine.history.signing",
    "Stuck Worker stuck try_again": "engine.api.worker",
    "Teaching": "engine.api.teaching",
    "Live": "engine.viewing.live",
    "View": "engine.viewing.view",
    "amend erase_fitting remove": "engine.shelf.changing",
    "awaited finished": "engine.api.awaiting",
    "build_base show_base": "engine.wiring.knowledge",
    "check_file mend_file": "engine.history.mending",
    "rekey": "engine.history.rekeying",
    "encoder_options relation_counts": "engine.wiring.parts",
    "find_reasoner": "engine.answer.checking",
    "EXPORT_ENDINGS is_export": "engine.history.transfer",
    "leave": "engine.shelf.leaving",
    "migrate": "engine.api.migrating",
}
"""Names -> the module that has them, loaded at their first use."""


def __getattr__(name: str) -> Any:
    for names, room in ROOMS.items():
        if name in names.split():
            return getattr(import_module(f"doxa.{room}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
