"""WordNet 3.x from its own database files, read where they lie: nothing is loaded or copied.

Source: the file formats of WordNet, wndb(5WN), senseidx(5WN) and cntlist(5WN)
(https://wordnet.princeton.edu/documentation). The readers on PyPI want files that the system packages leave out
(NLTK: `lexnames`, `index.sense`), or a database of their own that has to be downloaded (wn).
"""

import mmap
import re
import threading
import zipfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from doxa.backends.lexicon import PartOfSpeech, Synset
from doxa.core.errors import BackendError, BackendUnavailableError, ClosedError

__all__ = ["WordNet", "open_lexicon"]

FOLDERS: Final = (
    "/usr/share/wordnet",
    "/usr/local/share/wordnet",
    "/usr/share/wordnet/dict",
    "/usr/local/WordNet-3.0/dict",
    "/usr/local/WordNet-3.1/dict",
    "/opt/homebrew/opt/wordnet/dict",
)
NLTK_FOLDERS: Final = ("~/nltk_data", "/usr/share/nltk_data", "/usr/local/share/nltk_data", "/usr/lib/nltk_data")
FILES: Final[Mapping[PartOfSpeech, str]] = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
POS_NAMES: Final = {"n": "noun", "v": "verb", "a": "adjective", "s": "adjectivesatellite", "r": "adverb"}
SENSE_TYPES: Final = {"n": 1, "v": 2, "a": 3, "r": 4, "s": 5}
# lexnames(5WN), in the order of their numbers.
SUPERSENSES: Final = (
    "adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body noun.cognition "
    "noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive noun.object noun.person "
    "noun.phenomenon noun.plant noun.possession noun.process noun.quantity noun.relation noun.shape noun.state "
    "noun.substance noun.time verb.body verb.change verb.cognition verb.communication verb.competition "
    "verb.consumption verb.contact verb.creation verb.emotion verb.motion "
    "verb.perception verb.possession verb.social verb.stative "
    "verb.weather adj.ppl"
).split()
HOW: Final = (
    "To get it: `apt install wordnet-base` (Debian, Ubuntu), `brew install wordnet` (macOS), or "
    "`python -m nltk.downloader wordnet`. If it lies elsewhere, name the folder: DOXA_LEXICON=wordnet:FOLDER"
)
Bytes = bytes | mmap.mmap


def open_lexicon(rest: str = "") -> "WordNet":
    """Gives back WordNet from a folder or a zip file; by default from where packages put it.

    Raises:
        BackendUnavailableError: It is not there; the message says how to get it.
        BackendError: What is there cannot be read.
    """
    places = [Path(rest).expanduser()] if rest else list(_usual_places())
    for place in places:
        found = _files_in(place)
        if found is not None:
            return WordNet(found, place)
    where = rest or "the usual folders"
    raise BackendUnavailableError(f"Expected WordNet's files (index.noun, data.noun, ...) in {where}, got none. {HOW}.")


class WordNet:
    """Looks a word up by bisection in the sorted index, O(log n) reads, and keeps the latest answers."""

    def __init__(self, files: Mapping[str, Bytes], place: Path) -> None:
        """Takes the contents of the files by their names, and owns them."""
        self._files = files
        self._place = place
        self._counts: dict[str, int] | None = None
        self._lock = threading.Lock()
        self._closed = False
        version = re.search(rb"WordNet (\d\.\d) Copyright", bytes(files["data.noun"][:2000]))
        self.version = version[1].decode() if version else "3"
        self._cached = lru_cache(maxsize=20_000)(self._look_up)

    @property
    def name(self) -> str:
        """Version and place."""
        return f"wordnet {self.version} ({self._place})"

    def senses(self, word: str, pos: PartOfSpeech) -> tuple[Synset, ...]:
        """Gives back the senses of a base form in WordNet's order, which is by frequency; see `Lexicon`."""
        if self._closed:
            raise ClosedError("The lexicon was closed; open a new one.")
        try:
            return self._cached("_".join(word.casefold().split()), pos)
        except (ValueError, IndexError) as exc:
            raise BackendError(f"{self.name} is damaged: the entry of {word!r} cannot be read. {HOW}.") from exc

    def close(self) -> None:
        """Unmaps the files."""
        self._closed = True
        for content in self._files.values():
            if isinstance(content, mmap.mmap):
                content.close()

    def _look_up(self, lemma: str, pos: PartOfSpeech) -> tuple[Synset, ...]:
        return tuple(self._synset(offset, pos, lemma) for offset in self._offsets(lemma, pos))

    def _offsets(self, lemma: str, pos: PartOfSpeech) -> tuple[int, ...]:
        line = _bisect(self._files[f"index.{FILES[pos]}"], lemma)
        if line is None:
            return ()
        fields = line.split()
        first = 6 + int(fields[3])  # lemma pos synset_cnt p_cnt [symbols] sense_cnt tagsense_cnt offsets
        return tuple(map(int, fields[first : first + int(fields[2])]))

    def _synset(self, offset: int, pos: PartOfSpeech, lemma: str) -> Synset:
        entry = _Entry(self._line(offset, pos))
        definition, examples = _gloss(entry.gloss)
        first = entry.words[0]
        number = self._offsets(first.casefold(), pos).index(offset) + 1
        above = [self._line(at, kind) for at, kind in entry.above]
        return Synset(
            name=f"synset-{first}-{POS_NAMES[entry.kind]}-{number}",
            pos=pos,
            words=tuple(word.replace("_", " ") for word in entry.words),
            definition=definition,
            examples=examples,
            supersense=SUPERSENSES[entry.file],
            count=self._count(entry, lemma),
            broader=tuple(_Entry(line).words[0].replace("_", " ") for line in above),
        )

    def _line(self, offset: int, pos: PartOfSpeech) -> str:
        content = self._files[f"data.{FILES[pos]}"]
        end = content.find(b"\n", offset)
        return bytes(content[offset : end if end >= 0 else len(content)]).decode("utf-8", "replace")

    def _count(self, entry: "_Entry", lemma: str) -> int:
        """Return how often a word was tagged with this sense, from `cntlist.rev`; 0 without that file."""
        place = next((n for n, word in enumerate(entry.words) if word.casefold() == lemma), None)
        if place is None:
            return 0
        key = f"{lemma}%{SENSE_TYPES[entry.kind]}:{entry.file:02d}:{entry.ids[place]:02d}:"
        return self._counted().get(key + self._head(entry), 0)

    def _head(self, entry: "_Entry") -> str:
        """Return the last parts of a sense key: the head word of the cluster of a satellite adjective."""
        if entry.kind != "s" or not entry.similar:
            return ":"
        head = _Entry(self._line(entry.similar[0], "a"))
        return f"{head.words[0].casefold()}:{head.ids[0]:02d}"

    def _counted(self) -> dict[str, int]:
        with self._lock:
            if self._counts is None:
                lines = bytes(self._files.get("cntlist.rev", b"")).decode("utf-8", "replace").splitlines()
                fields = (line.split() for line in lines)
                self._counts = {key: int(count) for key, _, count in (f for f in fields if len(f) == 3)}
            return self._counts


class _Entry:
    """One line of a data file, see wndb(5WN)."""

    __slots__ = ("above", "file", "gloss", "ids", "kind", "similar", "words")

    def __init__(self, line: str) -> None:
        head, _, self.gloss = line.partition(" | ")
        fields = head.split()
        self.file, self.kind, count = int(fields[1]), fields[2], int(fields[3], 16)
        self.words = [re.sub(r"\((?:a|p|ip)\)$", "", fields[4 + 2 * n]) for n in range(count)]
        self.ids = [int(fields[5 + 2 * n], 16) for n in range(count)]
        place = 4 + 2 * count
        pointers = [fields[place + 1 + 4 * n : place + 5 + 4 * n] for n in range(int(fields[place]))]
        self.above: list[tuple[int, PartOfSpeech]] = [(int(p[1]), _pos(p[2])) for p in pointers if p[0] in ("@", "@i")]
        self.similar = [int(pointer[1]) for pointer in pointers if pointer[0] == "&"]


def _pos(letter: str) -> PartOfSpeech:
    found: dict[str, PartOfSpeech] = {"n": "n", "v": "v", "a": "a", "s": "a", "r": "r"}
    return found[letter]


def _gloss(text: str) -> tuple[str, tuple[str, ...]]:
    """Split a gloss into its definition and its quoted examples."""
    examples = tuple(match.strip(" ;") for match in re.findall(r'"([^"]*)"?', text))
    definition = text.split('"', 1)[0].strip().rstrip(";:, ")
    return definition, tuple(example for example in examples if example)


def _bisect(content: Bytes, lemma: str) -> str | None:
    """Return the line of a sorted index that begins with a lemma and a space."""
    wanted = lemma.encode("utf-8", "replace")
    low, high = 0, len(content)
    while low < high:
        middle = (low + high) // 2
        start = content.rfind(b"\n", 0, middle) + 1
        end = content.find(b"\n", middle)
        end = len(content) if end < 0 else end
        line = bytes(content[start:end])
        key = line.split(b" ", 1)[0]  # empty for the licence at the top, which begins with blanks: before all words
        if key == wanted and wanted:
            return line.decode("utf-8", "replace")
        if key < wanted:
            low = end + 1
        else:
            high = start
    return None


def _usual_places() -> Iterator[Path]:
    yield from map(Path, FOLDERS)
    for folder in NLTK_FOLDERS:
        for name in ("wordnet", "wordnet.zip", "wordnet31", "wordnet31.zip"):
            yield Path(folder).expanduser() / "corpora" / name


def _files_in(place: Path) -> dict[str, Bytes] | None:
    """Return the contents of WordNet's files; None where they are not."""
    names = [f"{kind}.{pos}" for kind in ("index", "data") for pos in FILES.values()]
    try:
        if place.is_dir():
            if not all((place / name).is_file() for name in names):
                return None
            there = [*names, *(["cntlist.rev"] if (place / "cntlist.rev").is_file() else [])]
            return {name: _mapped(place / name) for name in there}
        if not place.is_file():
            return None
        with zipfile.ZipFile(place) as archive:
            members = {Path(member).name: member for member in archive.namelist()}
            if not set(names) <= set(members):
                return None
            return {name: archive.read(members[name]) for name in (*names, "cntlist.rev") if name in members}
    except (OSError, ValueError, zipfile.BadZipFile) as exc:
        raise BackendError(f"WordNet's files in {place} cannot be read: {exc}. {HOW}.") from exc


def _mapped(path: Path) -> Bytes:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
