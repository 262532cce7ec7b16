"""Entry-point lookup for third-party extractors, embedders, agents, notifiers, retrievers."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any, Final

from core import agents
from core.errors import Misconfigured

EXTRACTORS: Final = "imprint.extractors"
RETRIEVERS: Final = "imprint.retrievers"
AGENTS: Final = "imprint.agents"
NOTIFIERS: Final = "imprint.notifiers"
EMBEDDERS: Final = "imprint.embedders"

OWN: Final[Mapping[str, frozenset[str]]] = {
    EXTRACTORS: frozenset({"auto", "both", "llm", "offline"}),
    RETRIEVERS: frozenset({"memories", "messages", "documents"}),
    AGENTS: frozenset(agents.AGENTS),
    NOTIFIERS: frozenset({"log", "mailto", "http", "https"}),
    EMBEDDERS: frozenset({"local", "english", "multilingual", "openai", "hash"}),
}
"""Built-in names, which no package can claim."""


def names(group: str) -> tuple[str, ...]:
    """Return the names that packages claim in a group, in order; `load` explains those that are not usable."""
    return tuple(sorted(_claims(group)))


def load(group: str, name: str) -> Any:
    """Return the object of the one package that claims `name` in `group`.

    Raises Misconfigured: nobody claims it, several do, it is built in, or the package cannot be imported.
    """
    claims = _claims(group).get(name, [])
    what = group.removeprefix("imprint.")
    if name in OWN[group] and claims:
        raise Misconfigured(f"{_packages(claims)} brings {what} {name!r}, a name reserved by Imprint. Remove it.")
    if not claims:
        available = ", ".join(sorted(OWN[group] | _claims(group).keys()))
        near = difflib.get_close_matches(name, OWN[group] | _claims(group).keys(), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise Misconfigured(f"No package here brings {what} {name!r}. There are: {available}.{hint}")
    if len(claims) > 1:
        raise Misconfigured(f"{_packages(claims)} both bring {what} {name!r}. Remove all but one of them.")
    try:
        return claims[0].load()
    except Exception as error:  # whatever a foreign module raises while it is imported
        fault = f"{type(error).__name__}: {error}"
        raise Misconfigured(f"{_packages(claims)} brings {what} {name!r}, which cannot be loaded: {fault}") from error


def _claims(group: str) -> dict[str, list[EntryPoint]]:
    """Return claims by name. A package found twice on the path counts once."""
    claims: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    for point in _installed(group, tuple(sys.path)):
        claims.setdefault(point.name, {}).setdefault((_package(point), point.value), point)
    return {name: list(points.values()) for name, points in claims.items()}


@lru_cache(maxsize=16)
def _installed(group: str, _path: tuple[str, ...]) -> EntryPoints:
    """Return a group's entry points of all packages on the path, read once: it takes dozens of milliseconds."""
    return entry_points(group=group)


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.module


def _packages(points: Sequence[EntryPoint]) -> str:
    return " and ".join(sorted({_package(point) for point in points}))
