"""Anthropic SDK: files of the memory tool -> records beside a memory, and turns that they are searched by.

    from anthropic import Anthropic
    from doxa import Doxa
    from doxa.integrations.anthropic import DoxaMemoryTool

    tool = DoxaMemoryTool(Doxa.open("memory.db"), user="ana")
    Anthropic().beta.messages.tool_runner(tools=[tool], model=..., messages=..., max_tokens=...).until_done()

A file is kept byte for byte. Its text is a turn of the assistant as well, with the path as `Turn.metadata["path"]`:
withdrawn when the file says something else, forgotten when it is deleted.
Extra: `pip install "doxa[anthropic]"`.
"""

from __future__ import annotations

import json
from asyncio import to_thread
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, NoReturn
from uuid import uuid4

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from doxa.core.errors import NotFoundError, TurnError
from doxa.engine import Records, forget_turns, short

if TYPE_CHECKING:
    from doxa.engine import Doxa

__all__ = ["AsyncDoxaMemoryTool", "DoxaMemoryTool"]

SHELF, SESSION, ROOT = "anthropic.memory", "anthropic.memory", "/memories"
LONGEST_PATH = 398
"""Characters of a path: a record's key has at most 400."""
FILE, FOLDER = "//", "/"
"""How the key of a file ends, and that of a folder: no key is the beginning of another but a folder's of its files'."""
MOST_LINES = 999_999
OF_PATH, OF_FILE = 2, 3
"""How many parts of a turn's id those of one path, or of one file, have in common."""
REPLACED = "the file says something else"
DEPTH = 2
"""Levels of folders that are listed at once."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it is stored, with the id of the turn that its text is."""

    path: str
    turn_id: str
    text: str


class DoxaMemoryTool(BetaAbstractMemoryTool):
    """The memory tool over the database of an engine, durable on return; it says what the SDK's own says.

    Threads may share a tool. Processes may share the files of a user: the last writer of a file wins. A text without
    words, or with more than a turn may have (`engine.max_turn_chars`), is a file and no turn.

    Args:
        doxa: the engine; it stays open when the tool goes.
        user: whose files and memory they are; with everything of this user the files are forgotten too.
        agent: the name of whoever takes the notes.
        cache_control: as in the SDK.
    """

    def __init__(
        self,
        doxa: Doxa,
        *,
        user: str,
        agent: str = "assistant",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.doxa = doxa
        self._dialogue = doxa.dialogue(user=user, agent=agent, session=SESSION)
        self._memory = doxa.memory(user=user)
        self._records = Records(doxa, user=user, shelf=SHELF)
        self._one_at_a_time = Lock()

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return the lines of a file with their numbers, or what is in a folder, two levels deep.

        Raises:
            ToolError: there is no such path, or it may not be.
        """
        path = _confined(command.path)
        if (file := self._file(path)) is not None:
            return _numbered(file.text, command)
        if not self._is_folder(path):
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        return self._listed(path, command.path)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file, with the folders above it; return that it is there.

        Raises:
            ToolError: there is something of that name, or the path may not be.
        """
        path = _confined(command.path)
        with self._one_at_a_time:
            if self._file(path) is not None or self._is_folder(path):
                raise ToolError(f"File {command.path} already exists")
            file = _File(path, _new_id(path), command.file_text)
            self._put({**self._above(path), **_stored(file)})
            self._follow([file])
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that is in a file once; return the lines about it.

        Raises:
            ToolError: there is no such file, or the text is not in it exactly once.
        """
        with self._one_at_a_time:
            file = self._existing(command.path)
            found = file.text.count(command.old_str)
            if found != 1:
                _refuse_replacement(file.text, command)
            line = file.text[: file.text.find(command.old_str)].count("\n")
            text = file.text.replace(command.old_str, command.new_str)
            self._change(file, text)
        snippet = _lines(text.split("\n")[max(0, line - 2) : line + 3], first=max(0, line - 2) + 1)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put a text after a line of a file, 0 is its beginning; return that it was done.

        Raises:
            ToolError: there is no such file or line.
        """
        with self._one_at_a_time:
            file = self._existing(command.path)
            lines = file.text.removesuffix("\n").split("\n") if file.text else []
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            self._change(file, "\n".join(lines).removesuffix("\n") + "\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Erase a file, or a folder with all that is in it, and what was made from them; return that it was done.

        Raises:
            ToolError: there is no such path, it may not be, or it is `/memories` itself.
            StoreLockedError: it is gone, and bytes of it stay until nobody else reads the file.
        """
        path = _confined(command.path)
        if path == ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        with self._one_at_a_time:
            file = self._file(path)
            gone = self._files(self._under(path)) if file is None else [file]
            if not self._erase(path + (FOLDER if file is None else FILE), gone):
                raise ToolError(f"The path {command.path} does not exist")
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder, what was made from it stays; return that it was done.

        Raises:
            ToolError: there is nothing to move, something is there already, or a path may not be.
        """
        old, new = _confined(command.old_path), _confined(command.new_path)
        if old == ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        with self._one_at_a_time:
            if self._file(new) is not None or self._is_folder(new):
                raise ToolError(f"The destination {command.new_path} already exists")
            if new.startswith(old + FOLDER):
                raise ToolError(f"Cannot rename {command.old_path} to {command.new_path}, which is inside it")
            held = self._records.get(old + FILE) or self._under(old)
            if not held:
                raise ToolError(f"The path {command.old_path} does not exist")
            moved: dict[str, bytes | None] = {new + key.removeprefix(old): body for key, body in held.items()}
            for key in moved:
                _confined(key)
            self._put({**dict.fromkeys(held), **self._above(new), **moved})
            for file in self._files({key: body for key, body in moved.items() if body is not None}):
                with suppress(NotFoundError):
                    self._memory.annotate(file.turn_id, {"path": file.path})
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Erase all files, and what was made from them; return that it was done."""
        with self._one_at_a_time:
            self._erase(ROOT, self._files(self._records.all()))
        return "All memory cleared"

    def _file(self, path: str) -> _File | None:
        return next(iter(self._files(self._records.get(path + FILE))), None)

    def _existing(self, given: str) -> _File:
        path = _confined(given)
        if (file := self._file(path)) is not None:
            return file
        if self._is_folder(path):
            raise ToolError(f"The path {given} is not a file.")
        raise ToolError(f"The path {given} does not exist. Please provide a valid path.")

    def _is_folder(self, path: str) -> bool:
        return path == ROOT or bool(self._records.get(path + FOLDER))

    def _under(self, path: str) -> dict[str, bytes]:
        """Return the records of a folder and of all that is in it, by key."""
        return self._records.all(path + FOLDER)

    def _above(self, path: str) -> dict[str, bytes | None]:
        """Return the records of the folders in which a path is."""
        names = path.split("/")
        folders = ["/".join(names[:upto]) for upto in range(3, len(names))]
        for folder in folders:
            if self._file(folder) is not None:
                raise ToolError(f"The path {folder} is not a directory.")
        return {folder + FOLDER: b"" for folder in folders}

    def _files(self, held: dict[str, bytes]) -> list[_File]:
        return [_read(key, body) for key, body in held.items() if key.endswith(FILE)]

    def _listed(self, path: str, given: str) -> str:
        """Return what is in a folder, two levels deep and without what is hidden; a folder is as big as its files."""
        under = self._under(path)
        files = {file.path: len(file.text.encode()) for file in self._files(under)}
        folders = [key for key in under if not key.endswith(FILE)]
        sizes = {
            folder: sum(size for file, size in files.items() if file.startswith(folder))
            for folder in {path + FOLDER, *folders}
        }
        lines = [f"{_size(sizes.pop(path + FOLDER))}\t{given}"]
        for name, size in sorted((files | sizes).items(), key=lambda item: item[0].rstrip(FOLDER).split(FOLDER)):
            below = name.removeprefix(path + FOLDER)
            names = below.rstrip(FOLDER).split(FOLDER)
            if len(names) <= DEPTH and not any(one.startswith(".") for one in names):
                lines.append(f"{_size(size)}\t{given}/{below}")
        head = f"Here're the files and directories up to 2 levels deep in {given}, excluding hidden items:"
        return "\n".join([head, *lines])

    def _change(self, old: _File, text: str) -> None:
        """Give a file another text."""
        file = _File(old.path, f"{_start(old.turn_id, OF_FILE)}{uuid4().hex}", text)
        self._put(_stored(file))
        self._follow([file])

    def _put(self, bodies: Mapping[str, bytes | None]) -> None:
        """Write records; a file goes with the turn that its text is, whoever forgets that."""
        files = self._files({key: body for key, body in bodies.items() if body is not None})
        self._records.put(bodies, said_by={file.path + FILE: file.turn_id for file in files})

    def _erase(self, start: str, files: Sequence[_File]) -> int:
        """Erase the records whose keys begin alike, and the turns of their files; return the number of records."""
        try:
            return self._records.erase(start)
        finally:  # they are gone, even where it fails since somebody else is reading
            self._follow(files, erased=True)

    def _follow(self, files: Sequence[_File], *, erased: bool = False) -> None:
        """Have the memory say what the files say: texts are turns, and turns whose text no file has are given up.

        It looks at what is stored, not at what this call did: of two writers, the later one leaves all as it has to be.

        Args:
            files: those that were written, or erased.
            erased: forget their turns; else they are withdrawn where there is a file of that path.
        """
        for file in () if erased else files:
            with suppress(TurnError):  # no words, or too many
                self._dialogue.absorb(file.text, role="assistant", turn_id=file.turn_id, metadata={"path": file.path})
        starts = tuple({_start(file.turn_id, OF_PATH) for file in files})
        told = [turn.turn_id for turn in self._memory.turns(session=SESSION, withdrawn=True)]
        said = {file.turn_id for file in self._files(self._records.all())}
        level = OF_FILE if erased else OF_PATH
        living = {_start(turn_id, level) for turn_id in said}
        withdrawn = self._memory.withdrawn()
        given_up = [one for one in reversed(told) if one.startswith(starts) and one not in said]
        for turn_id in given_up:
            if _start(turn_id, level) in living and turn_id not in withdrawn:
                with suppress(NotFoundError):  # another writer was there first
                    self._memory.withdraw(turn_id=turn_id, reason=REPLACED)
        forget_turns(self._memory, [one for one in given_up if _start(one, level) not in living])


class AsyncDoxaMemoryTool(BetaAsyncAbstractMemoryTool):
    """`DoxaMemoryTool` for an `AsyncAnthropic`: the same, in a thread.

    Args:
        doxa: the engine; it stays open when the tool goes.
        user: whose files and memory they are.
        agent: the name of whoever takes the notes.
        cache_control: as in the SDK.
    """

    def __init__(
        self,
        doxa: Doxa,
        *,
        user: str,
        agent: str = "assistant",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.doxa = doxa
        self._tool = DoxaMemoryTool(doxa, user=user, agent=agent)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Await `DoxaMemoryTool.view`."""
        return await to_thread(self._tool.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Await `DoxaMemoryTool.create`."""
        return await to_thread(self._tool.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Await `DoxaMemoryTool.str_replace`."""
        return await to_thread(self._tool.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Await `DoxaMemoryTool.insert`."""
        return await to_thread(self._tool.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Await `DoxaMemoryTool.delete`."""
        return await to_thread(self._tool.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Await `DoxaMemoryTool.rename`."""
        return await to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Await `DoxaMemoryTool.clear_all_memory`."""
        return await to_thread(self._tool.clear_all_memory)


def _confined(given: str) -> str:
    """Return a path under `/memories` in its one way of writing, without a slash at its end."""
    names = given.split(FOLDER)
    if names[:2] != ROOT.split(FOLDER):
        raise ToolError(f"Path must start with {ROOT}, got: {given}")
    if ".." in names:
        raise ToolError(f"Path {given} would escape {ROOT} directory")
    if "\0" in given:
        raise ToolError(f"Path {given!r} has a NUL character")
    path = FOLDER.join(["", *(name for name in names if name not in ("", "."))])
    if len(path) > LONGEST_PATH:
        raise ToolError(
            f"Path is too long: expected at most {LONGEST_PATH} characters, got {len(path)}: {path[:80]}..."
        )
    return path


def _numbered(text: str, command: BetaMemoryTool20250818ViewCommand) -> str:
    """Return the lines of a file that are asked for."""
    lines, first = text.split("\n"), 1
    if len(lines) > MOST_LINES:
        raise ToolError(f"File {command.path} exceeds maximum line limit of {MOST_LINES:,} lines.")
    if command.view_range and len(command.view_range) == 2:
        first, last = max(1, command.view_range[0]), command.view_range[1]
        lines = lines[first - 1 : len(lines) if last == -1 else last]
    return f"Here's the content of {command.path} with line numbers:\n{_lines(lines, first=first)}"


def _lines(lines: Sequence[str], *, first: int) -> str:
    return "\n".join(f"{number:>{len(str(MOST_LINES))}}\t{line}" for number, line in enumerate(lines, first))


def _refuse_replacement(text: str, command: BetaMemoryTool20250818StrReplaceCommand) -> NoReturn:
    """Say that a text is nowhere in a file, or in which lines it is.

    Raises:
        ToolError: always.
    """
    old, places, at = command.old_str, list[str](), text.find(command.old_str)
    if at < 0:
        raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}.")
    while at >= 0:
        places.append(str(text.count("\n", 0, at) + 1))
        at = text.find(old, at + 1)
    raise ToolError(
        f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {', '.join(places)}. "
        "Please ensure it is unique"
    )


def _size(count: int) -> str:
    """Return a number of bytes as the SDK writes it: 0B, 12B, 1.5K."""
    step = min(max(0, count.bit_length() - 1) // 10, 3)
    size = count / 1024**step
    return f"{size:.0f}{'BKMG'[step]}" if size == int(size) else f"{size:.1f}{'BKMG'[step]}"


def _stored(file: _File) -> dict[str, bytes | None]:
    body = json.dumps({"turn_id": file.turn_id, "text": file.text}, ensure_ascii=False)
    return {file.path + FILE: body.encode()}


def _read(key: str, body: bytes) -> _File:
    return _File(key.removesuffix(FILE), **json.loads(body))


def _start(turn_id: str, parts: int) -> str:
    """Return how the ids begin of all turns of a path (that a file had when it was made), or of a file."""
    return FOLDER.join([*turn_id.split(FOLDER)[:parts], ""])


def _new_id(path: str) -> str:
    """Return an id for the first text of a new file: shelf, path, file, text."""
    return FOLDER.join([SHELF, short(path), uuid4().hex, uuid4().hex])
