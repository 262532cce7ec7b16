"""Prompts of a tenant's own: versions, placeholders, and the share of sessions that they are used for."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final, Self

from pydantic import BaseModel
from sqlalchemy import text

from core.errors import Conflict, Invalid, NotFound, Problem
from core.inference import prompts, structured_output
from core.inference.client import Answer, ChatClient, OnCall
from core.inference.quota import Grant
from core.storage.db import Database, Tx, required_row
from core.types import Json

CHARACTERS: Final = 20_000
"""Longest prompt, characters: about five times the longest packaged one."""

VERSIONS: Final = 50
"""Versions of a prompt that are listed, the newest."""

PLACEHOLDERS: Final[Mapping[str, str]] = {
    "packaged": "the packaged prompt of the same name",
    "schema": "the JSON Schema of the answer",
}
"""Placeholders of a prompt in double braces, and their values when the model is asked."""

_PLACEHOLDER: Final = re.compile(r"\{\{(.*?)(\}\}|$)", re.DOTALL)

_ARMS: Final = 1 << 32


@dataclass(frozen=True, slots=True)
class PromptDraft:
    """A prompt to store. `share`: of the sessions, those that it is used for, above 0 and at most 1."""

    text: str
    share: float = 1.0
    comment: str = ""


@dataclass(frozen=True, slots=True)
class OwnPrompt:
    """A version of a tenant's prompt; without a text it resets to the packaged one."""

    name: str
    version: int
    text: str | None
    share: float
    comment: str
    author: str
    created_at: datetime

    @property
    def label(self) -> str:
        """Return name and version as the ledger of calls records them."""
        return f"{self.name}.own{self.version}"

    def is_used_for(self, key: str) -> bool:
        """Return whether the share includes a session; the same for every version, so an edit moves no session."""
        digest = hashlib.sha256(f"{self.name}\n{key}".encode()).digest()
        return int.from_bytes(digest[:4]) < self.share * _ARMS

    def as_json(self) -> Json:
        """Return everything but the text."""
        return {
            "version": self.version,
            "share": self.share,
            "is_reset": self.text is None,
            "comment": self.comment,
            "author": self.author,
            "created_at": self.created_at,
        }


@cache
def packaged_names() -> Mapping[str, str]:
    """Return the versioned name of each packaged prompt by its name: `judge` → `judge.v1`."""
    return {path.stem.rpartition(".")[0]: path.stem for path in sorted(prompts.FOLDER.glob("*.md"))}


def packaged_name(name: str) -> str:
    """Return the versioned name of a packaged prompt. NotFound: there is none of this name."""
    packaged = packaged_names().get(name)
    if packaged is None:
        raise NotFound(f"There is no prompt {name!r}. There are: {', '.join(packaged_names())}.")
    return packaged


def require_valid(written: str) -> None:
    """Raise Invalid where a prompt is empty or too long, or has a placeholder that does not exist."""
    problems = []
    if not written.strip():
        problems.append(Problem("/text", "is empty; delete the prompt to use the packaged one"))
    if len(written) > CHARACTERS:
        problems.append(Problem("/text", f"has {len(written):,} characters; {CHARACTERS:,} are allowed"))
    if "\x00" in written:
        problems.append(Problem("/text", "contains the character U+0000"))
    problems += [Problem("/text", fault) for fault in _placeholder_faults(written[: CHARACTERS + 1])]
    if problems:
        raise Invalid(problems)


def _placeholder_faults(written: str) -> list[str]:
    placeholders = ", ".join(f"{{{{{name}}}}}" for name in PLACEHOLDERS)
    faults = []
    for match in _PLACEHOLDER.finditer(written):
        line = written.count("\n", 0, match.start()) + 1
        if not match[2]:
            faults.append(f"line {line}: a placeholder begins with {{{{ and does not end; write }}}}")
        elif match[1].strip() not in PLACEHOLDERS:
            faults.append(f"line {line}: there is no placeholder {{{{{match[1][:40]}}}}}; there are {placeholders}")
    return faults


def render(written: str, packaged: str, shape: type[BaseModel]) -> str:
    """Return a prompt with its placeholders filled in; what is filled in is not searched again."""
    schema = json.dumps(structured_output.schema(shape), ensure_ascii=False, separators=(",", ":"))
    values = {"packaged": packaged, "schema": schema}
    return _PLACEHOLDER.sub(lambda match: values.get(match[1].strip(), match[0]), written)


def in_force(tx: Tx) -> dict[str, OwnPrompt]:
    """Return the tenant's own prompts by name, without those that were reset."""
    latest = [OwnPrompt(*row) for row in tx.execute(_LATEST)]
    return {version.name: version for version in latest if version.text is not None}


def versions(tx: Tx, name: str) -> list[OwnPrompt]:
    """Return the versions of a prompt, newest first."""
    packaged_name(name)
    return [OwnPrompt(*row) for row in tx.execute(_VERSIONS, {"name": name, "limit": VERSIONS})]


def get(tx: Tx, name: str, version: int) -> OwnPrompt:
    """Return one version. NotFound."""
    packaged_name(name)
    missing = f"The prompt {name!r} has no version {version}."
    row = required_row(tx, _VERSION, {"name": name, "version": version}, missing)
    return OwnPrompt(*row)


def put(tx: Tx, tenant_id: str, name: str, draft: PromptDraft, by: str) -> OwnPrompt:
    """Store a new version, in force for every question from the commit on. Invalid; NotFound: no such prompt."""
    packaged_name(name)
    require_valid(draft.text)
    return _insert(tx, tenant_id, name, draft.text, draft.share, draft.comment, by)


def reset(tx: Tx, tenant_id: str, name: str, by: str) -> None:
    """Use the packaged prompt again; the versions remain. NotFound: the tenant has none of its own."""
    packaged_name(name)
    if name not in in_force(tx):
        raise NotFound(f"The tenant has no prompt {name!r} of its own; the packaged one is in use.")
    _insert(tx, tenant_id, name, None, 1.0, "", by)


def _insert(tx: Tx, tenant_id: str, name: str, written: str | None, share: float, comment: str, by: str) -> OwnPrompt:
    values = {"tenant": tenant_id, "name": name, "text": written, "share": share, "comment": comment, "by": by}
    row = tx.execute(_INSERT, values).one_or_none()
    if row is None:
        raise Conflict(f"Another version of the prompt {name!r} was stored at the same time. Look at it and try again.")
    return OwnPrompt(*row)


class OwnPromptClient:
    """Asks with the prompts of a tenant where it has its own, and a session belongs to their share.

    The prompts are read with the first question, in a transaction that ends before the model is asked.
    """

    def __init__(self, client: ChatClient, read: Callable[[], Mapping[str, OwnPrompt]], key: str) -> None:
        """`key`: by which the share is chosen: a session, or for work without one the user."""
        self._client = client
        self._read = read
        self._key = key
        self._own: Mapping[str, OwnPrompt] | None = None

    @property
    def model(self) -> str:
        return self._client.model

    def under(self, grant: Grant | None) -> Self:
        """Return the same client with its calls paid from one job's grant."""
        bound = copy.copy(self)
        bound._client = self._client.under(grant)  # noqa: SLF001 - of its own kind
        return bound

    def within(self, seconds: float) -> Self:
        """Return the same client with this limit of time for each call."""
        bound = copy.copy(self)
        bound._client = self._client.within(seconds)  # noqa: SLF001 - of its own kind
        return bound

    def ask(self, prompt: str, system: str, text: str, shape: type[Answer], on_call: OnCall) -> Answer:
        """Return the model's answer as `shape`, asked with the tenant's prompt or the packaged one."""
        if self._own is None:
            self._own = self._read()
        own = self._own.get(prompt.rpartition(".")[0])
        if own is None or own.text is None or not own.is_used_for(self._key):
            return self._client.ask(prompt, system, text, shape, on_call)
        return self._client.ask(own.label, render(own.text, system, shape), text, shape, on_call)


def bind(client: ChatClient, db: Database, tenant_id: str, key: str) -> OwnPromptClient:
    """Return the client of one job, which asks with the tenant's own prompts."""

    def read() -> dict[str, OwnPrompt]:
        with db.tenant(tenant_id) as tx:
            return in_force(tx)

    return OwnPromptClient(client, read, key)


_COLUMNS: Final = "name, version, text, share, comment, author, created_at"

_LATEST: Any = text(f"""
    SELECT DISTINCT ON (name) {_COLUMNS} FROM prompt_versions
    WHERE tenant_id = current_setting('imprint.tenant') ORDER BY name, version DESC
""")

_VERSIONS: Any = text(f"""
    SELECT {_COLUMNS} FROM prompt_versions
    WHERE tenant_id = current_setting('imprint.tenant') AND name = :name ORDER BY version DESC LIMIT :limit
""")

_VERSION: Any = text(f"""
    SELECT {_COLUMNS} FROM prompt_versions
    WHERE tenant_id = current_setting('imprint.tenant') AND name = :name AND version = :version
""")

_INSERT: Any = text(f"""
    INSERT INTO prompt_versions (tenant_id, name, version, text, share, comment, author)
    SELECT :tenant, :name, coalesce(max(version), 0) + 1, :text, :share, :comment, :by
    FROM prompt_versions WHERE tenant_id = :tenant AND name = :name
    ON CONFLICT DO NOTHING
    RETURNING {_COLUMNS}
""")
