"""Files that are written whole or not at all, and those of learned arrays among them: checked when they are read.

A new file is its owner's alone to read; one that is written anew keeps its mode. With a seal it is encrypted; what is
read may be encrypted or not.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from doxa.core.errors import FormatError, NotFoundError, StoreKeyError, StoreReadOnlyError
from doxa.core.private import private_file, private_folder
from doxa.core.sealing import Seal, unsealed

__all__ = ["digest", "drop_unfinished", "load_arrays", "replacing", "save_arrays"]

Arrays = Mapping[str, NDArray[Any]]
DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    OverflowError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    BadZipFile,
    zlib.error,
)
"""What damage leads to: numpy takes the length of an array from it, and zlib, zipfile and Python's parser read it."""


@contextmanager
def replacing(path: Path, *, advice: str = "Give another path.", makes_folder: bool = False) -> Iterator[Path]:
    """Give a file to write to, which takes the place of `path` in the end: a reader sees the old one or the new, whole.

    Args:
        path: the file.
        advice: what to do where it cannot be written.
        makes_folder: whether its folder is made where there is none.

    Raises:
        StoreReadOnlyError: it cannot be written; the old file stays.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        if makes_folder:
            private_folder(path.parent)
        private_file(temporary)
        if path.exists():
            shutil.copymode(path, temporary)
        yield temporary
        temporary.replace(path)
    except OSError as exc:
        raise StoreReadOnlyError(f"{path} cannot be written: {exc.strerror}. {advice}") from exc
    finally:
        with suppress(OSError):  # there is none after a success
            temporary.unlink(missing_ok=True)


def drop_unfinished(path: Path) -> None:
    """Remove what processes that were killed left of writing a file with `replacing`.

    Raises:
        OSError: something cannot be removed.
    """
    for left in path.parent.glob(f"{escape(path.name)}.*.part"):
        left.unlink(missing_ok=True)


def save_arrays(arrays: Arrays, path: Path, *, seal: Seal | None = None) -> None:
    """Write arrays to a `.npz` without pickles, with a checksum, in one step.

    Args:
        arrays: the arrays by name.
        path: the file.
        seal: what encrypts it; it is then read whole.

    Raises:
        StoreReadOnlyError: the file cannot be written.
    """
    packed = io.BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **arrays, checksum=np.array(digest(arrays)))
    with replacing(path, makes_folder=True) as temporary:
        temporary.write_bytes(seal.closed(packed.getvalue(), "learned") if seal is not None else packed.getvalue())


def load_arrays(
    path: Path, *, format: str, what: str, missing: str, again: str, seal: Seal | None = None
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file of `save_arrays`.

    Args:
        path: the file.
        format: what its array `format` has to hold.
        what: what it should be, in messages.
        missing: what is said where there is no such file.
        again: what to do about a file that cannot be used.
        seal: what opens it, where it is encrypted.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it is no such file, or is damaged, or encrypted otherwise.
    """
    try:
        packed = io.BytesIO(unsealed(path.read_bytes(), "learned", seal))
        with np.load(packed, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except FileNotFoundError as exc:
        raise NotFoundError(missing) from exc
    except StoreKeyError as exc:
        raise FormatError(f"expected {what}, could not open it: {exc}", path=str(path)) from exc
    except DAMAGED as exc:
        raise FormatError(f"expected {what}, could not read it: {exc}; {again}", path=str(path)) from exc
    if (said := str(arrays.get("format", "nothing of the kind"))) != format:
        raise FormatError(f"expected {what} ({format}), got {said!r}; {again}", path=str(path))
    if str(arrays.pop("checksum", "")) != digest(arrays):
        raise FormatError(f"the checksum does not fit the arrays, so the file is damaged; {again}", path=str(path))
    return arrays


def digest(arrays: Arrays) -> str:
    """Return a digest of arrays; the same arrays have the same one."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name}{array.dtype.str}{array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()
