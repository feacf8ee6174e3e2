"""engine: turn -> reply + trace.

`turn.py` is the method, `wiring.py` names the parts, `maintenance.py` runs `absorb` behind the caller's back,
`replay.py` tells the past again, `graphs.py` is the route over AMR, `ledger.py` the one without language, `api.py` and
`memory.py` are what users hold in their hands.
"""

from doxa.commonsense import Card
from doxa.engine.api import Dialogue, Doxa
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
