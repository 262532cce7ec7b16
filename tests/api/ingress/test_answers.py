"""What a route declares of its answers stands in the document, and nothing is validated with it."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import Field

from api.ingress.answers import REFUSALS, Answer, Page, answers, of, optional, page, refuses
from core.types import Json


class Boat(Answer):
    """A boat."""

    name: str
    sold: bool = optional("Whether it is sold")


def test_an_answer_is_declared_by_its_status_with_its_refusals() -> None:
    declared = answers(Boat, 201, "A new boat", refusals=(404, 409))
    assert declared[201] == {"model": Boat, "description": "A new boat"}
    assert declared[404] == {"$ref": "#/components/responses/NotFound"}
    assert set(declared) == {201, 404, 409}
    assert "description" not in answers(Boat)[200]


def test_every_refusal_can_be_named_by_its_status() -> None:
    assert set(refuses(*REFUSALS)) == set(REFUSALS)
    names = [name for name, _ in REFUSALS.values()]
    assert len(set(names)) == len(names)


def test_an_optional_field_may_be_left_out_and_is_not_null() -> None:
    schema = Boat.model_json_schema(mode="serialization")
    assert schema["required"] == ["name"]
    assert schema["properties"]["sold"] == {
        "description": "Whether it is sold",
        "title": "Sold",
        "type": "boolean",
    }
    assert Page.model_json_schema()["required"] == ["next"]


def test_an_answer_that_differs_is_sent_as_it_is() -> None:
    app = FastAPI()

    @app.get("/boat", responses=answers(Boat))
    def get_boat() -> Json:
        return {"name": 7, "more": True}

    assert TestClient(app).get("/boat").json() == {"name": 7, "more": True}
    told = app.openapi()["paths"]["/boat"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert "#/components/schemas/Boat" in str(told)


@dataclass(frozen=True, slots=True)
class Ship:
    name: str
    crew: int = 0


@of(Ship)
class LaunchedShip(Answer):
    """A ship that was launched."""

    crew: int = Field(description="Those on board")
    harbour: str


def test_an_answer_has_the_fields_of_the_dataclass_that_it_is_declared_of() -> None:
    schema = LaunchedShip.model_json_schema(mode="serialization")
    assert list(schema["properties"]) == schema["required"] == ["name", "crew", "harbour"]
    assert schema["properties"]["crew"]["description"] == "Those on board"
    assert (schema["title"], schema["description"]) == ("LaunchedShip", "A ship that was launched.")


def test_a_page_is_made_of_its_items() -> None:
    ships = page("ShipPage", Ship, "A page of ships.")
    assert list(ships.model_fields) == ["next", "items"]
    assert ships.model_json_schema()["properties"]["items"]["items"] == {"$ref": "#/$defs/Ship"}
