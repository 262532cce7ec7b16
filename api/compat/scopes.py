"""The four ids by which mem0 divides memories, and the user of Imprint to whom they belong. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from core.errors import Invalid, Problem
from core.events import identifiers
from core.events.parsing import NAME_CHARACTERS
from core.types import Json

ENTITIES: Final = ("user_id", "agent_id", "app_id", "run_id")
"""In this order: the first one that is given owns what is added."""

_OWNED: Final = "mem0"
"""First part of the name of an owner who is no user, such as `mem0:agent:planner`."""


@dataclass(frozen=True, slots=True)
class EntityScope:
    """The ids of one request; None: not given."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None

    @property
    def owner(self) -> str:
        """The user of Imprint: the given one, or one that stands for the first of the other ids. Invalid: no id."""
        if self.user_id is not None:
            return self.user_id
        for name in ENTITIES[1:]:
            if (value := getattr(self, name)) is not None:
                return owner_of(name, value)
        raise Invalid([Problem("/user_id", "say whose memory it is: `user_id`, `agent_id`, `app_id` or `run_id`")])

    @property
    def named(self) -> Json:
        """The ids that are given."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def require_valid(self) -> None:
        """Refuse ids that Imprint cannot keep. Invalid."""
        problems = [Problem(f"/{name}", fault) for name, value in self.named.items() if (fault := _fault(name, value))]
        if problems:
            raise Invalid(problems)


def of(given: Mapping[str, Any]) -> EntityScope:
    """Return the scope in the fields of a request. Invalid: an id is no text, or one that cannot be kept."""
    ids: dict[str, str] = {}
    for name in ENTITIES:
        value = given.get(name)
        if value is None:
            continue
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise Invalid([Problem(f"/{name}", "must be a text")])
        ids[name] = str(value)
    scope = EntityScope(**ids)
    scope.require_valid()
    return scope


def owner_of(entity: str, name: str) -> str:
    """Return the user who owns what belongs to an entity, such as `agent_id`."""
    return name if entity == "user_id" else f"{_OWNED}:{entity.removesuffix('_id')}:{name}"


def entity_of(owner: str) -> tuple[str, str]:
    """Return the entity and its name for a user of Imprint."""
    first, _, rest = owner.partition(":")
    kind, _, name = rest.partition(":")
    if first == _OWNED and name and f"{kind}_id" in ENTITIES[1:]:
        return f"{kind}_id", name
    return "user_id", owner


def _fault(entity: str, name: str) -> str | None:
    if not name:
        return "is empty; name one"
    if len(owner_of(entity, name)) > NAME_CHARACTERS:
        return f"is longer than {NAME_CHARACTERS} characters with its prefix"
    if entity == "user_id" and entity_of(name)[0] != "user_id":
        return f"begins with `{_OWNED}:`, which stands for agents, apps and runs; use another name"
    return identifiers.fault_of_place(name) if entity == "run_id" else identifiers.fault_of_name(name)
