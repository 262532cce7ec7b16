"""Names of who changed something, for people: the name of a key in place of its id."""

from __future__ import annotations

from collections.abc import Sequence

from api.ingress.answers import Answer, optional
from core.storage.db import Tx
from core.tenancy import tenants
from core.types import Json


def with_key_names(tx: Tx, authors: Sequence[Json]) -> list[Json]:
    """Return the authors, each key that has a name with it as `key_name`."""
    names = tenants.author_names(tx, {author["name"] for author in authors if author.get("name")})
    return [
        {**author, "key_name": names[author["name"]]} if author.get("name") in names else author for author in authors
    ]


class Authorship(Answer):
    """Who changed something: a key or an agent, and the rule that it acted for."""

    name: str | None
    key_name: str | None = optional("The name of the key that `name` is, where it has one")
    rule: str | None = optional()
    rule_version: int | None = optional()
