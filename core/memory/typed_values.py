"""Values of slots with a type, for preferences that are compared: stored in `structured.typed`. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.types import Json

ValueType = Literal["string", "number", "boolean", "list", "rating", "json"]

FIELD: Final = "typed"
"""Key in `structured`."""

LONGEST: Final = 1_000
"""Characters of a value as text."""


class TypedValue(BaseModel):
    """A value with its type. `of`: the highest rating; ratings begin with 0."""

    model_config = ConfigDict(extra="forbid")

    type: ValueType
    value: Any
    of: Annotated[float | None, Field(gt=0, le=1_000, description="Highest rating; only for ratings, default 5")] = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.of is not None and self.type != "rating":
            raise ValueError("`of` is for ratings only")
        if not _FITS[self.type](self.value):
            raise ValueError(f"`value` is no {self.type}")
        if self.type == "rating" and not 0 <= self.value <= self.highest:
            raise ValueError(f"a rating of {self.highest:g} lies between 0 and {self.highest:g}")
        if len(self.text) > LONGEST:
            raise ValueError(f"has {len(self.text)} characters as text; send at most {LONGEST}")
        return self

    @property
    def highest(self) -> float:
        return self.of or 5.0

    @property
    def text(self) -> str:
        """The value in words, for a slot's `value`."""
        match self.type:
            case "string":
                return str(self.value)
            case "list":
                return ", ".join(map(_plain, self.value))
            case "rating":
                return f"{self.value:g} of {self.highest:g}"
            case _:
                return _plain(self.value)

    def as_json(self) -> Json:
        """Return the value as stored."""
        stored: Json = {"type": self.type, "value": self.value}
        return stored | ({"of": self.highest} if self.type == "rating" else {})


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST <= value <= _LARGEST


_LARGEST: Final = 1e15
"""Numbers above lose digits when they are compared."""

_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str) and bool(value.strip()),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "list": lambda value: (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(element, str | bool) or _is_number(element) for element in value)
    ),
    "rating": _is_number,
    "json": lambda value: isinstance(value, dict | list),
}
