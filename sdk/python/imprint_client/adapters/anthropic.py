"""Anthropic's memory tool: files of a user that Claude reads and writes, and what Imprint knows of the user as files.

The answers and errors are those of the SDK's own tool for a folder. `/memories/profile.md` and `/memories/topics/` are
written by the service and can only be read: what a user says is learnt from messages, with evidence. All other files
are documents of the user, which searches and contexts find; no memory is derived from them.
"""

from __future__ import annotations

import posixpath
import re
import threading
from typing import TYPE_CHECKING

import httpx
from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anyio.to_thread import run_sync

from imprint_client import Imprint, ImprintError
from imprint_client.adapters.memory_files import ROOT, MemoryFiles, is_kept

if TYPE_CHECKING:
    from anthropic.lib.tools import BetaFunctionToolResultType
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818Command,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

MOST_LINES = 999_999


class ImprintMemoryTool(BetaAbstractMemoryTool):
    """The memory tool of one user. Its calls are carried out one after another."""

    def __init__(
        self, client: Imprint, *, user_id: str, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = MemoryFiles(client, user_id)
        self._lock = threading.Lock()

    def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        """Carry out a command. ToolError: it is refused; Claude reads why."""
        try:
            with self._lock:
                return super().execute(command)
        except ImprintError as error:
            raise ToolError(error.detail) from error
        except httpx.TransportError as error:
            raise ToolError("The memory does not answer now. Go on without it.") from error

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with line numbers, or what is in a directory."""
        path = _normal(command.path)
        text = self._files.read(path)
        if text is None:
            return self._listing(command.path, path)
        lines = text.split("\n")
        if len(lines) > MOST_LINES:
            raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
        start, end = 0, len(lines)
        if command.view_range and len(command.view_range) == 2:  # noqa: PLR2004 - begin and end
            start = max(1, command.view_range[0]) - 1
            end = len(lines) if command.view_range[1] == -1 else command.view_range[1]
        return f"Here's the content of {command.path} with line numbers:\n" + _numbered(lines, start, end)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file."""
        path = _writable(command.path)
        if self._files.exists(path):
            raise ToolError(f"File {command.path} already exists")
        self._require_folders(path)
        self._files.write(path, command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        path, content = self._file(command.path)
        old = command.old_str
        count = content.count(old) if old else 0
        if count == 0:
            raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}.")
        if count > 1:
            places = [found.start() for found in re.finditer(f"(?={re.escape(old)})", content)]
            lines = ", ".join(str(content.count("\n", 0, place) + 1) for place in places)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        changed = content.count("\n", 0, content.find(old))
        text = content.replace(old, command.new_str)
        self._files.write(path, text)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            + _numbered(text.split("\n"), max(0, changed - 2), changed + 3)
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text after a line of a file."""
        path, content = self._file(command.path)
        lines = content.split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        text = "\n".join(lines)
        self._files.write(path, text if text.endswith("\n") else f"{text}\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Erase a file, or a directory with everything in it."""
        path = _writable(command.path)
        if path == ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        if not self._files.delete(path):
            raise ToolError(f"The path {command.path} does not exist")
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file, or a directory with everything in it."""
        old, new = _writable(command.old_path), _writable(command.new_path)
        if old == ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        if self._files.exists(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        if new.startswith(f"{old}/"):
            raise ToolError(f"Cannot move {command.old_path} into itself")
        self._require_folders(new)
        if not self._files.move(old, new):
            raise ToolError(f"The path {command.old_path} does not exist")
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Erase all files; what Imprint knows of the user stays."""
        self._files.delete(ROOT)
        return "All memory cleared"

    def _listing(self, asked: str, path: str) -> str:
        entries = self._files.listed(path)
        if entries is None:
            raise ToolError(f"The path {asked} does not exist. Please provide a valid path.")
        lines = [f"{_size(size)}\t{asked}{'/' if name else ''}{name}" for size, name in entries]
        head = f"Here're the files and directories up to 2 levels deep in {asked}, excluding hidden items:"
        return "\n".join([head, *lines])

    def _file(self, asked: str) -> tuple[str, str]:
        """Return the path and the text of a file that may be edited."""
        path = _writable(asked)
        text = self._files.read(path)
        if text is not None:
            return path, text
        if self._files.exists(path):
            raise ToolError(f"The path {asked} is not a file.")
        raise ToolError(f"The path {asked} does not exist. Please provide a valid path.")

    def _require_folders(self, path: str) -> None:
        if above := self._files.file_above(path):
            raise ToolError(f"The path {above} is not a directory.")


class AsyncImprintMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same tool for the asynchronous client of Anthropic; its calls are carried out in threads."""

    def __init__(
        self, client: Imprint, *, user_id: str, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = ImprintMemoryTool(client, user_id=user_id)

    async def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        """Carry out a command. ToolError: it is refused; Claude reads why."""
        return await run_sync(self._tool.execute, command)

    view = create = str_replace = insert = delete = rename = execute

    async def clear_all_memory(self) -> str:
        """Erase all files; what Imprint knows of the user stays."""
        return await run_sync(self._tool.clear_all_memory)


def _normal(path: str) -> str:
    """Return a path without dots and double slashes. ToolError: it leads out of the directory."""
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with /memories, got: {path}")
    clean = posixpath.normpath(path)
    if clean != ROOT and not clean.startswith(f"{ROOT}/"):
        raise ToolError(f"Path {path} would escape /memories directory")
    return clean


def _writable(path: str) -> str:
    clean = _normal(path)
    if is_kept(clean):
        raise ToolError(f"The path {path} shows what is known and cannot be changed. Write to another file.")
    return clean


def _numbered(lines: list[str], start: int, end: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines[start:end], start + 1))


def _size(size: int) -> str:
    power = min(max(size.bit_length() - 1, 0) // 10, 3)
    scaled = size / 1024**power
    return f"{int(scaled)}{'BKMG'[power]}" if scaled == int(scaled) else f"{scaled:.1f}{'BKMG'[power]}"
