"""The files of a user: documents that an agent writes, and what Imprint knows of the user as files that it reads."""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from typing import Any

from imprint_client import Imprint

ROOT = "/memories"
PROFILE = f"{ROOT}/profile.md"
TOPICS = f"{ROOT}/topics"
SCHEME = "memory-tool:"

MOST_MEMORIES = 500
"""Memories in the files of topics, the strongest ones."""

PROFILE_TOKENS = 4_000


class MemoryFiles:
    """Files of a user by their paths. A directory is there as long as a file is in it."""

    def __init__(self, client: Imprint, user_id: str) -> None:
        self._client = client
        self._user_id = user_id

    def read(self, path: str) -> str | None:
        """Return the text of a file, of those that are only read as well; None: there is none."""
        if is_kept(path):
            return self._known().get(path)
        row = self._document(path)
        return None if row is None else self._text(row)

    def write(self, path: str, text: str) -> None:
        """Write a file, in place of the one with this path."""
        # A document has words; the text of a file without any stands beside its name.
        blank = not text.strip()
        held = {"metadata": {"blank": text}} if blank else {}
        self._client.save_document(
            path if blank else text, uri=SCHEME + path, user_id=self._user_id, title=path, **held
        )

    def exists(self, path: str) -> bool:
        """Return whether there is a file or a directory."""
        return path == ROOT or bool(self._at(path))

    def delete(self, path: str) -> bool:
        """Erase a file, or a directory with everything in it; whether there was one."""
        rows = self._at(path)
        for row in rows:
            self._client.delete_document(row["id"])
        return bool(rows)

    def move(self, old: str, new: str) -> bool:
        """Move a file, or a directory with everything in it; whether there was one."""
        rows = self._at(old)
        for row in rows:
            self.write(new + _path(row)[len(old) :], self._text(row))
            self._client.delete_document(row["id"])
        return bool(rows)

    def file_above(self, path: str) -> str | None:
        """Return the file that is where a directory of this path would be."""
        folder = posixpath.dirname(path)
        while folder != ROOT:
            if self._document(folder):
                return folder
            folder = posixpath.dirname(folder)
        return None

    def listed(self, path: str) -> list[tuple[int, str]] | None:
        """Return what is in a directory, two levels deep: sizes and relative paths, itself first; None: there is none.

        The size of a directory is that of its files. Names that begin with a dot are left out.
        """
        files = {_path(row): _bytes(row) for row in self._below(path)}
        if path == ROOT or is_kept(path):
            files |= {name: len(text.encode()) for name, text in self._known().items() if name.startswith(f"{path}/")}
        if not files and path != ROOT:
            return None
        sizes: Counter[tuple[str, ...]] = Counter()
        folders = set()
        for name, size in files.items():
            parts = tuple(name[len(path) + 1 :].split("/"))
            for depth in range(1, min(len(parts), 2) + 1):
                if parts[depth - 1].startswith("."):
                    break
                sizes[parts[:depth]] += size
                folders |= {parts[:depth]} if depth < len(parts) else set()
        inside = [(sizes[one], "/".join(one) + ("/" if one in folders else "")) for one in sorted(sizes)]
        return [(sum(files.values()), ""), *inside]

    def _known(self) -> dict[str, str]:
        """Return the files about the user by path."""
        by_topic: defaultdict[str, list[str]] = defaultdict(list)
        for one in self._client.memories(user_id=self._user_id, order="strength", limit=MOST_MEMORIES):
            by_topic[one["topic"]].append(f"- {' '.join(one['content'].split())} ({one['occurred_at'][:10]})\n")
        files = {f"{TOPICS}/{topic}.md": "".join(lines) for topic, lines in by_topic.items()}
        profile = self._client.context(user_id=self._user_id, format="text", max_tokens=PROFILE_TOKENS)["text"]
        return files | ({PROFILE: f"{profile}\n"} if profile else {})

    def _at(self, path: str) -> list[dict[str, Any]]:
        """Return the document of a file, or those below a directory."""
        row = self._document(path)
        return [row] if row else self._below(path)

    def _document(self, path: str) -> dict[str, Any] | None:
        return next(iter(self._client.documents(user_id=self._user_id, uri=SCHEME + path)), None)

    def _below(self, path: str) -> list[dict[str, Any]]:
        return self._client.documents(user_id=self._user_id, uri_prefix=f"{SCHEME}{path}/")

    def _text(self, row: dict[str, Any]) -> str:
        blank: str | None = row["metadata"].get("blank")
        if blank is not None:
            return blank
        text: str = self._client.request("GET", f"/v1/documents/{row['id']}")["content"]
        return text


def is_kept(path: str) -> bool:
    """Return whether a path belongs to what is known, which is only read."""
    return path in (PROFILE, TOPICS) or path.startswith((f"{PROFILE}/", f"{TOPICS}/"))


def _path(row: dict[str, Any]) -> str:
    return str(row["uri"])[len(SCHEME) :]


def _bytes(row: dict[str, Any]) -> int:
    return len(row["metadata"]["blank"]) if "blank" in row["metadata"] else int(row["bytes"])
