"""Hooks of Schemathesis: ids of planted objects in place of made-up ones, and waits that end at once.

What erases or forbids runs against a tenant of its own, so that the others keep what they have. Which id is taken
follows from the value it replaces: the same run makes the same requests.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from zlib import crc32

import schemathesis

PLANTED = json.loads(Path(os.environ["IMPRINT_FUZZ_PLANTED"]).read_text())
"""Key and ids by tenant."""

REAL = 3
"""Of four made-up ids so many are replaced."""

HARMFUL = {
    "erased": re.compile(r"^(erase(User|Group)|mem0(Oss)?Delete(All|Entity).*)$"),
    "emptied": re.compile(r"^(erase|delete|drop|reset|merge|undo|unrelate|applyRebuild|mem0\w*Delete|replay|cancel)"),
    "limited": re.compile(r"^(putLimits|putDestinations|putEmbedding|changeTenant|putExtractionSettings)$"),
}
"""Operations that would take from a tenant what others need, by the tenant that they are sent to instead."""

NAMES = {"name": {"rules": "rule", "prompts": "prompt", "secrets": "secret"}}
SAME = {"ids": "memory_id", "to": "memory_id", "names": "rule", "entity_id": "user_id", "from_id": "memory_id"}


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, Any]) -> None:
    """Send the request as the tenant that it may harm, with ids of that tenant."""
    name = case.operation.definition.raw.get("operationId", "")
    tenant = next((tenant for tenant, names in HARMFUL.items() if names.match(name)), "kept")
    planted = PLANTED[tenant]
    case.headers = {**(case.headers or {}), "Authorization": f"Bearer {planted['key']}"}
    ids = planted["ids"]
    for part in (case.path_parameters, case.query):
        if isinstance(part, dict):
            _replace(part, ids, case.operation.path)
    if isinstance(case.query, dict) and "timeout" in case.query and name == "settle":
        case.query["timeout"] = 0
    if name == "streamEvents":
        case.query = {**(case.query or {}), "follow": False}
    if isinstance(case.body, dict):
        _replace(case.body, ids, case.operation.path)


@schemathesis.hook
def after_call(context: schemathesis.HookContext, case: schemathesis.Case, response: schemathesis.Response) -> None:
    """Write down which operation was answered how."""
    name = case.operation.definition.raw.get("operationId", "")
    with Path(os.environ["IMPRINT_FUZZ_ANSWERS"]).open("a", encoding="utf-8") as answers:
        answers.write(f"{name} {response.status_code}\n")


def _replace(part: dict[str, Any], ids: dict[str, list[str]], path: str) -> None:
    for name, value in part.items():
        pool = ids.get(_kind(name, path), [])
        if not pool or value is None:
            continue
        if isinstance(value, list):
            part[name] = [_real(one, pool) for one in value]
        else:
            part[name] = _real(value, pool)


def _kind(name: str, path: str) -> str:
    if name == "name":
        return next((kind for room, kind in NAMES["name"].items() if f"/{room}" in path), name)
    return SAME.get(name, name)


def _real(value: object, pool: list[str]) -> object:
    drawn = crc32(repr(value).encode())
    return pool[drawn // 4 % len(pool)] if isinstance(value, str) and drawn % 4 < REAL else value
