"""base: files of sentences -> a base of knowledge that is opened at once and walked by concepts.

`reading.py` reads the files, `phrases.py` finds concepts and words, `groups.py` clusters concepts, `parts.py` keeps
what an interrupted build has done, `build.py` puts it together; `files.py` and `texts.py` say how it lies on disk, and
`base.py` opens it. `remote.py` puts one into a database that many processes read, and opens it there; `protocol.py` is
what both are.
"""

from doxa.commonsense.base.base import KnowledgeBase
from doxa.commonsense.base.build import build
from doxa.commonsense.base.files import Card, Rows, read_card
from doxa.commonsense.base.opening import open_base
from doxa.commonsense.base.protocol import Base
from doxa.commonsense.base.remote import RemoteBase, is_remote, send

__all__ = [
    "Base",
    "Card",
    "KnowledgeBase",
    "RemoteBase",
    "Rows",
    "build",
    "is_remote",
    "open_base",
    "read_card",
    "send",
]
