"""Every operation of the OpenAPI document says what it takes and what it answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from jsonschema_rs import Draft202012Validator, meta

from api import app
from api.ingress import openapi
from api.ingress.schemas import EXAMPLES
from core.types import Json

WAY_OUT = "see `Add an operation` in docs/contributing.md"
JSON = "application/json"
METHOD_NAME = re.compile(r"^[a-z][a-z0-9]*([A-Z][a-z0-9]*)*$")


@cache
def document() -> Json:
    routes = [route for router in app.ROUTERS for route in router.routes]
    made = openapi.DocumentedApi(title="Imprint", version="0", routes=routes)
    openapi.summarise(made.routes)
    return made.openapi()


def operations() -> Iterator[tuple[str, Json]]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def is_typed(schema: Json) -> bool:
    """Whether a client learns from a schema what it gets: an object has properties, or values of a known form."""
    if "$ref" in schema:
        return is_typed(document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    for kind in ("anyOf", "oneOf"):
        if kind in schema:
            return all(map(is_typed, schema[kind]))
    if schema.get("type") == "array":
        return is_typed(schema.get("items", {}))
    if schema.get("type") == "object":
        return bool(schema.get("properties"))
    return bool(schema.get("type") or "const" in schema)


def test_every_operation_answers_in_a_declared_form() -> None:
    untyped = [
        f"{name} {status}"
        for name, operation in operations()
        for status, answer in operation["responses"].items()
        for content in answer.get("content", {}).values()
        if not is_typed(content.get("schema", {}))
    ]
    assert untyped == [], f"give each a model by `responses=answers(…)`; {WAY_OUT}"


def test_an_answer_with_a_body_says_so() -> None:
    """A 2xx without content is one that has none: 204, an accepted notification."""
    silent = [
        f"{name} {status}"
        for name, operation in operations()
        for status, answer in operation["responses"].items()
        if status.startswith("2") and status != "204" and "content" not in answer
    ]
    assert silent == ["POST /mcp 202"], f"give it a model by `responses=answers(…)`; {WAY_OUT}"


def test_every_body_is_described() -> None:
    untyped = [
        f"{name} {kind}"
        for name, operation in operations()
        for kind, content in operation.get("requestBody", {}).get("content", {}).items()
        if not is_typed(content.get("schema", {})) and not name.endswith("/v1/import")
    ]
    assert untyped == [], f"give the body a model, or one of api/ingress/schemas.py by `openapi_extra`; {WAY_OUT}"


def test_every_parameter_is_described() -> None:
    silent = {
        (name, parameter["name"])
        for name, operation in operations()
        for parameter in operation.get("parameters", ())
        if not parameter.get("description")
    }
    assert silent == set(), f"describe it in `Query(description=…)`, or by its name in PARAMETERS of {openapi.__name__}"


def test_every_operation_has_a_name_for_a_method() -> None:
    names = Counter(operation["operationId"] for _, operation in operations())
    assert [name for name, count in names.items() if count > 1 or not METHOD_NAME.match(name)] == [], (
        f"say `operation_id=` at the route, in camelCase; {WAY_OUT}"
    )


def test_every_operation_has_a_tag_and_a_summary() -> None:
    assert [name for name, one in operations() if not (one.get("tags") and one.get("summary"))] == []


def test_refusals_are_declared_once() -> None:
    refused = {
        f"{name} {status}"
        for name, operation in operations()
        for status, answer in operation["responses"].items()
        if int(status) >= 400 and "$ref" not in answer
    }
    assert refused == {"POST /mcp 400", "POST /mcp 406"}, "declare a refusal by `refusals=(…)` or `refuses(…)`"
    responses = document()["components"]["responses"].values()
    assert {kind for answer in responses for kind in answer["content"]} == {"application/problem+json"}


def test_no_two_models_share_a_name() -> None:
    """FastAPI lengthens names that two models share, so that one changes with the other."""
    shared = [name for name in document()["components"]["schemas"] if "__" in name or "-" in name]
    assert shared == [], "rename one of the two models"


def test_every_schema_is_one() -> None:
    for name, schema in document()["components"]["schemas"].items():
        assert meta.is_valid(schema), name


@pytest.mark.parametrize("operation_id", EXAMPLES)
def test_every_example_fits_its_body(operation_id: str) -> None:
    (body,) = [one["requestBody"] for _, one in operations() if one["operationId"] == operation_id]
    content = body["content"][JSON]
    whole = {**content["schema"], "components": document()["components"]}
    assert [error.message for error in Draft202012Validator(whole).iter_errors(content["example"])] == []
