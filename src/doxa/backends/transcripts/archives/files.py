"""What an archive consists of: one file, the files of a folder, or those in a zip, by name."""

import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Final

from doxa.backends.transcripts.encoding import as_utf8
from doxa.backends.transcripts.jsonvalues import values
from doxa.backends.transcripts.reading import load, shown_path
from doxa.core.errors import FormatError

__all__ = ["Files", "opened"]

LARGEST: Final = 2**31
"""Bytes of one file when it is unpacked."""
JSON_STARTS: Final = (b"{", b"[")
JSON_ENDS: Final = (".json", ".jsonl", ".af")
DAMAGED: Final = (OSError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)
HIDDEN: Final = (".", "__MACOSX")
ENCRYPTED: Final = 0x1
"""The flag of a file in a zip that has a password."""
NO_TIME: Final = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip can name; it stands where whoever packed it knew none."""


def _unknown(name: str) -> datetime | None:
    return None


@dataclass(frozen=True)
class Files:
    """The files of an archive; each is read when it is asked for, and unpacked if its name ends in `.gz`."""

    path: str
    """The archive, as messages show it."""
    names: tuple[str, ...]
    """Names with `/` between folders, in order; those of hidden files are left out."""
    load: Callable[[str], bytes]
    single: bool = False
    """It is one file and no folder or zip."""
    modified: Callable[[str], datetime | None] = _unknown
    """When a file was last written, where the archive knows it; a zip names no zone, so UTC is assumed."""

    def read(self, name: str) -> bytes:
        """Return a file as UTF-8 text.

        Raises:
            FormatError: it cannot be read.
        """
        content = self.load(name)
        if name.endswith(".gz"):
            try:
                content = gzip.decompress(content)
            except (OSError, EOFError, zlib.error) as exc:
                raise FormatError(f"expected a gzip file, could not unpack it: {exc}.", path=self.shown(name)) from exc
        return as_utf8(content)

    def shown(self, name: str) -> str:
        """Return how messages name a file."""
        return self.path if self.single else f"{self.path}/{shown_path(PurePosixPath(name))}"

    def ending(self, *ends: str) -> Iterator[str]:
        """Yield the names that end so, whatever their case; `.gz` behind it does not matter."""
        return (name for name in self.names if name.lower().removesuffix(".gz").endswith(ends))

    @cached_property
    def data(self) -> tuple[str, ...]:
        """The names of the files that hold JSON: by their ends, and one file alone by what it holds."""
        if self.single and not self._alone.startswith(JSON_STARTS):
            return ()
        return self.names if self.single else tuple(self.ending(*JSON_ENDS))

    @cached_property
    def heads(self) -> tuple[Any, ...]:
        """The first value of each file that holds JSON; None where it cannot be read."""
        return tuple(map(self._head, self.data))

    def _head(self, name: str) -> Any:
        try:
            return next((value.value for value in values(self.read(name))), None)
        except FormatError:
            return None

    @cached_property
    def _alone(self) -> bytes:
        return self.read(self.names[0]).lstrip()[:1]


def opened(path: Path) -> Files:
    """Return the files of a folder, of a zip, or the one file that there is.

    Raises:
        NotFoundError: there is nothing at that path.
        FormatError: it cannot be read.
    """
    shown = shown_path(path)
    if path.is_dir():
        found = [one.relative_to(path).as_posix() for one in sorted(path.rglob("*")) if one.is_file()]
        return Files(
            shown, _visible(found), lambda name: load(path / name), modified=lambda name: _written(path / name)
        )
    if not zipfile.is_zipfile(path):
        return Files(shown, (path.name,), lambda name: load(path), single=True, modified=lambda name: _written(path))
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as exc:
        raise FormatError(f"expected a zip, could not open it: {exc}. Get it once more.", path=shown) from exc
    members = [one for one in archive.infolist() if not one.is_dir()]
    if members and all(one.flag_bits & ENCRYPTED for one in members):
        raise FormatError("expected a zip without a password, got one that has it. Unpack the zip first.", path=shown)
    names = _visible(sorted(one.filename for one in members))
    return Files(
        shown, names, lambda name: _unzipped(archive, name, shown), modified=lambda name: _packed(archive, name)
    )


def _written(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return None


def _packed(archive: zipfile.ZipFile, name: str) -> datetime | None:
    stamp = archive.getinfo(name).date_time
    try:
        return None if stamp == NO_TIME else datetime(*stamp, tzinfo=UTC)
    except ValueError:
        return None


def _visible(names: list[str]) -> tuple[str, ...]:
    return tuple(name for name in names if not any(part.startswith(HIDDEN) for part in PurePosixPath(name).parts))


def _unzipped(archive: zipfile.ZipFile, name: str, shown: str) -> bytes:
    size = archive.getinfo(name).file_size
    if size > LARGEST:
        raise FormatError(f"expected at most {LARGEST:,} bytes, got {size:,}; unpack the zip.", path=f"{shown}/{name}")
    try:
        return archive.read(name)
    except (*DAMAGED, RuntimeError) as exc:  # RuntimeError: it has a password
        raise FormatError(f"could not unpack it: {exc}. Unpack the zip first.", path=f"{shown}/{name}") from exc
