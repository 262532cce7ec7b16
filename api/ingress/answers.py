"""Declaring what an operation answers: base of the models, and how a route names one.

A model describes an answer in the OpenAPI document. Nothing is validated with it while the service runs: see
`docs/decisions/0032-responses-are-declared-and-checked-by-tests.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from types import GenericAlias
from typing import Any, Final, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from core.types import Json

Declared = TypeVar("Declared", bound=BaseModel)

Responses = dict[int | str, dict[str, Any]]
"""Declarations of a route about its answers, by status."""

COMPONENTS: Final = "#/components/responses/"

REFUSALS: Final[dict[int, tuple[str, str]]] = {
    400: ("Malformed", "A header is malformed; `detail` names it."),
    401: ("Unauthorized", "The key is missing, unknown or revoked."),
    403: ("Forbidden", "The key lacks the scope that this operation needs."),
    404: ("NotFound", "The tenant has nothing by this id or name."),
    408: ("TooSlow", "The body did not arrive in time."),
    409: ("Conflict", "What is stored now contradicts the request; read it again."),
    413: ("TooLarge", "The body is larger than this operation takes."),
    415: ("UnknownMediaType", "The body is of a kind that this operation does not take."),
    422: ("Invalid", "The request is malformed; `errors` names each place by its JSON pointer."),
    429: ("Overloaded", "A limit of the tenant is reached; send again after `Retry-After` seconds."),
    431: ("HeadersTooLarge", "The headers are too many or too long."),
    502: ("Refused", "A service that this operation needs refused."),
    503: ("Unavailable", "Not now, and nothing was changed; send again after `Retry-After` seconds."),
}
"""Name and meaning of each refusal, by status; all have the form of `Problem`."""


class Answer(BaseModel):
    """Base of answers. A field without a default is always there."""

    model_config = ConfigDict(defer_build=True)


def of(dataclass: type) -> Callable[[type[Declared]], type[Declared]]:
    """Return a decorator: the model also has the fields of the dataclass, in their order, that it does not describe."""
    hints = get_type_hints(dataclass, include_extras=True)
    shared: Json = {field.name: (hints[field.name], ...) for field in fields(dataclass)}

    def declare(model: type[Declared]) -> type[Declared]:
        own: Json = {name: (field.annotation, field) for name, field in model.model_fields.items()}
        return create_model(
            model.__name__,
            __base__=model.__bases__[0],
            __doc__=model.__doc__,
            __module__=model.__module__,
            **shared | own,
        )

    return declare


class Page(Answer):
    """A page of a list; its items are in `items`."""

    next: str | None = Field(description="What to send as `after` for the next page; null: this is the last one")


def page(name: str, item: type, description: str) -> type[Page]:
    """Return the model of a page of these items."""
    items: Any = GenericAlias(list, (item,)), ...
    return create_model(name, __base__=Page, __doc__=description, items=items)


class ProblemPlace(Answer):
    """A fault of a request."""

    pointer: str = Field(description="JSON pointer to what is wrong; empty: the request as a whole")
    detail: str = Field(description="What is wrong, and what to send instead")


class LimitName(Answer):
    """A limit of the tenant."""

    name: str
    value: float


def shown(model: type[BaseModel], row: Any, **others: Any) -> Json:
    """Return the fields of a model as JSON: from `others`, else from the row's attributes of the same names."""
    return {name: others[name] if name in others else getattr(row, name) for name in model.model_fields}


def optional(description: str | None = None) -> Any:
    """Return the default of a field that is left out where it does not apply."""
    return Field(default_factory=lambda: None, description=description)


class Problem(Answer):
    """A refusal (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = Field(description="What went wrong, and what to do")
    errors: list[ProblemPlace] = optional("Faults of the request, with 422")
    limit: LimitName = optional("The limit that was reached, with 429")


def answers(model: Any, status: int = 200, description: str = "", *, refusals: tuple[int, ...] = ()) -> Responses:
    """Return the declaration of a route's answer; `refusals`: those that not every operation has."""
    declaration: dict[str, Any] = {"model": model} | ({"description": description} if description else {})
    return {status: declaration} | refuses(*refusals)


def refuses(*statuses: int) -> Responses:
    """Return the declaration of refusals that not every operation has."""
    return {status: {"$ref": COMPONENTS + REFUSALS[status][0]} for status in statuses}
