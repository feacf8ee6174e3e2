"""Collections that lie in a file, read in place, and grow in memory.

A `Pack` is a file of arrays and bytes, written once. `Records` (a list of values), `Keys` (texts with numbers),
`Table` (texts to values) and `Lists` (texts to lists of numbers) hold what came since a pack was written, and look up
the rest in it; `save` writes both into the next pack, `load` begins with one.
"""

from doxa.memory.paged.keys import SEPARATOR, Keys, hashed, joined
from doxa.memory.paged.lists import Lists
from doxa.memory.paged.pack import Pack, PackWriter, write_pack
from doxa.memory.paged.records import Form, Records
from doxa.memory.paged.table import Table

__all__ = [
    "SEPARATOR",
    "Form",
    "Keys",
    "Lists",
    "Pack",
    "PackWriter",
    "Records",
    "Table",
    "hashed",
    "joined",
    "write_pack",
]
