from __future__ import annotations

from datetime import UTC, datetime

from core.memory.changes import Owner
from core.remembering import requests
from core.types import Category, Evidence, Kind, Topic, Trust
from tests.core.remembering.requests_of import NOON, asked


def test_what_is_asked_for_is_confirmed_and_rests_on_its_event() -> None:
    owner, candidate = requests.read_request(
        asked({"user_id": "ada", "content": "The project ships on Fridays."}, "e7")
    )
    assert owner == Owner("ada")
    assert candidate.content == "The project ships on Fridays."
    assert candidate.evidence == (Evidence("", "e7", "e7", "The project ships on Fridays."),)
    assert (candidate.trust, candidate.confidence, candidate.importance) == (Trust.CONFIRMED, 0.9, 0.7)
    assert (candidate.subject, candidate.occurred_at) == ("ada", NOON)


def test_all_that_is_given_is_taken() -> None:
    given = {
        "category": "instruction", "kind": "semantic", "topic": "work", "subject": "Ada", "attribute": "reply.language",
        "value": "French", "importance": 0.95, "tags": ["style", "style"], "structured": {"by": "phone"},
        "pinned": True, "occurred_at": "2026-01-02T00:00:00+02:00", "valid_from": "2026-01-01T00:00:00Z",
        "valid_to": "2027-01-01T00:00:00Z", "expires_at": "2028-01-01T00:00:00Z", "half_life_days": 10,
        "group_id": "g1", "something_else": [1],
    }  # fmt: skip
    owner, c = requests.read_request(asked({"user_id": "ada", "content": "Answers in French.", **given}))
    assert owner == Owner("ada", "g1")
    assert (c.category, c.kind, c.topic, c.subject) == (Category.INSTRUCTION, Kind.SEMANTIC, Topic.WORK, "Ada")
    assert (c.attribute, c.value, c.importance) == ("reply.language", "French", 0.95)
    assert (c.tags, c.structured, c.pinned, c.half_life_days) == (("style",), {"by": "phone"}, True, 10)
    assert c.occurred_at == datetime(2026, 1, 1, 22, tzinfo=UTC)
    assert (c.valid_from, c.valid_to, c.expires_at) == tuple(datetime(y, 1, 1, tzinfo=UTC) for y in (2026, 2027, 2028))
