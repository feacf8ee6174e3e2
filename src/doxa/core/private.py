"""Files and folders that nobody but their owner may read, whatever the umask: what people said lies in them.

Windows has no such modes; there the rights of the folder count.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["FILE", "FOLDER", "private_file", "private_folder"]

FILE, FOLDER = 0o600, 0o700


def private_file(path: Path) -> Path:
    """Make an empty file, and return its path; one that is there stays as it is.

    Raises:
        OSError: it cannot be made.
    """
    if not path.exists():
        path.touch(mode=FILE)
    return path


def private_folder(path: Path) -> Path:
    """Make a folder and those above it that are missing, and return its path; those that are there stay as they are.

    Raises:
        OSError: one cannot be made, or is a file.
    """
    for folder in (*reversed(path.parents), path):  # `parents=True` would give those above the mode of the umask
        if not folder.exists():
            folder.mkdir(mode=FOLDER, exist_ok=True)
    path.mkdir(exist_ok=True)  # raises where it is a file
    return path
