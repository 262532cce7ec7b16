"""Requests as mem0's clients send them: unknown fields are ignored, because clients of any version send their own."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, model_validator

from api.compat import filters, scopes
from api.compat.scopes import ENTITIES, EntityScope
from api.http.memories.requests import STATEMENTS, Structured
from api.ingress.messages import CONVERSATION
from core.errors import Invalid, Problem
from core.events.parsing import Content
from core.types import Json

PAGE: Final = 500
"""Memories of one page."""

TOP: Final = 200
"""Results of one search."""


class CompatibleRequest(BaseModel):
    """Base of requests: fields that Imprint has no use for are ignored."""

    model_config = ConfigDict(extra="ignore")


class EntityRequest(CompatibleRequest):
    """The ids of a request: at the top, or in `filters`."""

    user_id: Any = None
    agent_id: Any = None
    app_id: Any = None
    run_id: Any = None
    filters: Json | list[Json] | None = None

    @property
    def scope(self) -> EntityScope:
        """The ids, those at the top first. Invalid: one cannot be kept."""
        filters.require_valid(self.filters or {})
        within = filters.scope_of(self.filters or {})
        return scopes.of(within.named | {name: getattr(self, name) for name in ENTITIES if getattr(self, name)})

    @property
    def tree(self) -> Json:
        """One filter of the ids at the top and `filters`. Invalid: it is too large, or names nobody."""
        top = {name: getattr(self, name) for name in ENTITIES if getattr(self, name)}
        tree: Json = {"AND": [top, self.filters or {}]}
        filters.require_valid(tree)
        if not top and not any(name in ENTITIES for name, _ in filters.leaves(tree)):
            raise Invalid([Problem("/filters", f"say whose memories: {', '.join(ENTITIES)}; `*` stands for any")])
        return tree


class AddRequest(EntityRequest):
    """Messages to learn from, or with `infer` false statements to keep as they are."""

    messages: Annotated[list[Any], Field(min_length=1, max_length=STATEMENTS, description=CONVERSATION)]
    metadata: Structured | None = None
    infer: bool = True
    custom_categories: Annotated[
        list[Structured] | None, Field(max_length=50, description="Kept, not used to classify")
    ] = None
    timestamp: Annotated[
        float | str | None,
        Field(description="When it was said: seconds or milliseconds since 1970, or an ISO 8601 time"),
    ] = None
    expiration_date: Annotated[str | None, Field(max_length=10)] = None
    immutable: bool = False

    @model_validator(mode="before")
    @classmethod
    def _as_list(cls, given: Any) -> Any:
        """Accept a message or a text in place of a list."""
        if not isinstance(given, dict) or isinstance(given.get("messages"), list | None):
            return given
        message = given["messages"]
        return {**given, "messages": [{"role": "user", "content": message} if isinstance(message, str) else message]}


class ListRequest(EntityRequest):
    """Filter for a list of memories."""

    start_date: str | None = None
    end_date: str | None = None
    categories: Annotated[list[str] | None, Field(max_length=50)] = None
    fields: Annotated[list[str] | None, Field(max_length=50)] = None
    show_expired: bool = False

    @property
    def tree(self) -> Json:
        """The filter with the conditions that have fields of their own."""
        more: list[Json] = [super().tree]
        if self.start_date is not None:
            more.append({"created_at": {"gte": self.start_date}})
        if self.end_date is not None:
            more.append({"created_at": {"lte": self.end_date}})
        if self.categories:
            more.append({"categories": {"in": self.categories}})
        return {"AND": more}


class FindRequest(ListRequest):
    """A question about memories."""

    query: Annotated[Content, Field(min_length=1, max_length=10_000, pattern=r"\S")]
    top_k: Annotated[int, Field(ge=1, le=TOP)] = 10
    threshold: Annotated[float | None, Field(ge=0, le=1, description="Least score; default: none")] = None
    metadata: Json | None = None
    reference_date: float | str | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_top(cls, given: Any) -> Any:
        """Accept the older name of `top_k`."""
        if isinstance(given, dict) and "limit" in given and given.get("top_k") is None:
            return {**given, "top_k": given["limit"]}
        return given

    @property
    def tree(self) -> Json:
        """The filter with the metadata that results must have."""
        return {"AND": [super().tree, {"metadata": self.metadata or {}}]}


class UpdateRequest(CompatibleRequest):
    """New words, metadata or dates of a memory; `data` is the older name of `text`."""

    text: Content | None = None
    data: Content | None = None
    metadata: Structured | None = None
    timestamp: float | str | None = None
    expiration_date: Annotated[str | None, Field(max_length=10)] = None

    @property
    def content(self) -> str | None:
        return self.text if self.text is not None else self.data


class NamedUpdate(UpdateRequest):
    """An update with the memory that it is for."""

    memory_id: str


class NamedMemory(CompatibleRequest):
    memory_id: str


class UpdateBatch(CompatibleRequest):
    memories: Annotated[list[NamedUpdate], Field(min_length=1, max_length=STATEMENTS)]


class DeleteBatch(CompatibleRequest):
    memories: Annotated[list[NamedMemory], Field(min_length=1, max_length=STATEMENTS)]
