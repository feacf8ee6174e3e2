"""base: files of sentences -> a base of knowledge that is opened at once and walked by concepts.

`reading.py` reads the files, `phrases.py` finds concepts and words, `groups.py` clusters concepts, `parts.py` keeps
what an interrupted build has done, `build.py` puts it together; `files.py` and `texts.py` say how it lies on disk, and
`base.py` opens it.
"""

from doxa.commonsense.base.base import KnowledgeBase
from doxa.commonsense.base.build import build
from doxa.commonsense.base.files import Card, Rows, read_card

__all__ = ["Card", "KnowledgeBase", "Rows", "build", "read_card"]
