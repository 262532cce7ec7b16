"""JSON Schema for model answers and lenient parsing of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

Shape = TypeVar("Shape", bound=BaseModel)

FORMATS: Final = ("json_schema", "json_object", "text")
"""Ways to ask for JSON, the strictest first; older servers know fewer of them."""

STRICT_KEYWORDS: Final = frozenset(
    "type properties required additionalProperties items anyOf enum const $ref $defs description format".split()
)
"""Keywords that every strict mode knows. Bounds and lengths are refused by some; the shape checks them afterwards."""

STRING_FORMATS: Final = frozenset("date-time date time duration email hostname ipv4 ipv6 uuid".split())
"""Formats that strict mode knows."""

MOST_ATTEMPTS: Final = 300
"""Positions at which JSON is tried; each failure costs the length of the text."""

MOST_FAULTS: Final = 10
"""Faults named to a model at once."""


class ModelAnswer(BaseModel):
    """Base of the shapes that a model fills: no other field is allowed, as `strict` demands."""

    model_config = ConfigDict(extra="forbid")


_DECODER = json.JSONDecoder()
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_THOUGHT = re.compile(r"^.*</think(?:ing)?>", re.DOTALL)
_OPEN_THOUGHT = re.compile(r"<think(?:ing)?>")


def schema(shape: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a shape in strict mode: every field required, no others, no unknown keyword."""
    strict: dict[str, Any] = _strict(shape.model_json_schema())
    return strict


def response_format(shape: type[BaseModel], form: str) -> dict[str, Any]:
    """Return the value of `response_format` for one of the FORMATS that has any."""
    if form == "json_object":
        return {"type": "json_object"}
    named = {"name": shape.__name__.lower(), "strict": True, "schema": schema(shape)}
    return {"type": "json_schema", "json_schema": named}


def instruction(shape: type[BaseModel]) -> str:
    """Describe the shape in words, for an endpoint that does not accept it otherwise."""
    written = json.dumps(schema(shape), ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else. It must fit this JSON Schema:\n{written}"


def read(raw: str, shape: type[Shape], *, whole: bool = True) -> Shape:
    """Read the answer from a model's text: all of it, or the JSON within a fence or prose that fits.

    Of several that fit, the longest. `whole` false: the text was cut off, so a fitting piece proves nothing.

    Raises:
        ValidationError: nothing in it fits.
    """
    try:
        return shape.model_validate_json(raw)
    except ValidationError as error:
        written = sorted(_within(raw), key=len, reverse=True) if whole else []
        fault = error
        for index, piece in enumerate(written):
            try:
                return shape.model_validate_json(piece)
            except ValidationError as inner:
                fault = inner if index == 0 else fault  # Of the longest piece the model can be told what is wrong.
        raise fault from None


def repair_request(error: ValidationError) -> str:
    """Describe to a model the faults of its answer."""
    faults = [f"{'/'.join(map(str, e['loc'])) or 'the answer'}: {e['msg']}" for e in error.errors(include_url=False)]
    return "Answer again, with JSON of the asked shape alone. Wrong were: " + "; ".join(faults[:MOST_FAULTS])


def _strict(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return {"$ref": node["$ref"]}  # Nothing may stand beside it.
    kept = {name: value for name, value in node.items() if name in STRICT_KEYWORDS}
    if kept.get("format") not in STRING_FORMATS:
        kept.pop("format", None)
    if "items" in kept:
        kept["items"] = _strict(kept["items"])
    branches = node.get("anyOf") or node.get("oneOf") or node.get("allOf")
    if branches:
        kept["anyOf"] = [_strict(branch) for branch in branches]
    for name in ("properties", "$defs"):  # Names of fields and shapes, which need not be keywords.
        if name in kept:
            kept[name] = {key: _strict(value) for key, value in kept[name].items()}
    if kept.get("type") == "object":
        kept |= {"required": list(kept.get("properties", {})), "additionalProperties": False}
    return kept


def _without_thoughts(raw: str) -> str:
    """Return a text without what a model thought; a thought that has no end is a draft of everything behind it."""
    answer = _THOUGHT.sub("", raw)
    draft = _OPEN_THOUGHT.search(answer)
    return answer if draft is None else answer[: draft.start()]


def _within(raw: str) -> Iterator[str]:
    """Return the outermost JSON objects in a text: in fences and in prose."""
    answer, tries = _without_thoughts(raw), 0
    for text in (*_FENCE.findall(answer), answer):
        start = text.find("{")
        while start >= 0 and (tries := tries + 1) <= MOST_ATTEMPTS:
            try:
                end = _DECODER.raw_decode(text, start)[1]
                yield text[start:end]
            except json.JSONDecodeError as error:
                end = max(error.pos, start + 1)  # What was read up to there is a piece of something broken.
            except RecursionError:
                break
            start = text.find("{", end)
