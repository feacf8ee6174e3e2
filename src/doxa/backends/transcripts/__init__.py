"""transcripts: file -> turns.

Three formats, told apart by content: messages as OpenAI writes them (JSON or JSONL), LoCoMo, and plain
`Name: text`. What cannot be read becomes a `Problem` and the rest goes in. A turn without an id gets one that
follows from its session and its place there, so reading the same file again adds nothing twice.
"""

from doxa.backends.transcripts.reading import FORMATS, detect, read
from doxa.backends.transcripts.values import Conversation, Line, Problem, Transcript

__all__ = ["FORMATS", "Conversation", "Line", "Problem", "Transcript", "detect", "read"]
