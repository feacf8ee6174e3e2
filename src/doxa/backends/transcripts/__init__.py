"""transcripts: file -> turns.

Three formats, told apart by content: messages as OpenAI writes them (JSON or JSONL), LoCoMo, and plain
`Name: text`. What cannot be read becomes a `Problem` and the rest goes in. A turn without an id gets one that
follows from its session and its place there, so reading the same file again adds nothing twice.

`archives` reads and writes what other memories and chat programs give out.
"""

from doxa.backends.transcripts.archives.graph import MARK, entity, observation, relation
from doxa.backends.transcripts.archives.reading import ARCHIVES, read_archive
from doxa.backends.transcripts.archives.writing import WRITERS, written_notes
from doxa.backends.transcripts.reading import FORMATS, detect, read
from doxa.backends.transcripts.values import Conversation, Line, Problem, Transcript

__all__ = [
    "ARCHIVES",
    "FORMATS",
    "MARK",
    "WRITERS",
    "Conversation",
    "Line",
    "Problem",
    "Transcript",
    "detect",
    "entity",
    "observation",
    "read",
    "read_archive",
    "relation",
    "written_notes",
]
