"""What mem0 keeps of a memory beside its words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from api.compat import annotated
from api.compat.annotated import Annotation
from core.errors import Invalid

WHOLE = Annotation({"a": [1, None]}, "chef", "shop", "r1", [{"food": "what is eaten"}], "2027-01-31", None, True)


def test_an_annotation_reads_back_from_a_memory_and_from_a_message() -> None:
    assert annotated.of_memory(WHOLE.in_structured, []) == WHOLE
    assert annotated.of_memory({}, [WHOLE.in_metadata]) == WHOLE


def test_metadata_of_a_message_stays_where_rules_read_it() -> None:
    assert Annotation({"source": "chat"}).in_metadata == {"source": "chat"}


def test_of_several_messages_the_last_one_wins() -> None:
    read = annotated.of_memory({}, [{"a": 1, "b": 1}, {"b": 2, "mem0": {"app_id": "shop"}}])
    assert (read.metadata, read.app_id) == ({"a": 1, "b": 2}, "shop")


def test_what_somebody_else_wrote_under_the_key_breaks_nothing() -> None:
    assert annotated.of_memory({"mem0": {"metadata": "x", "other": 1}}, []) == Annotation()
    assert annotated.of_memory({"mem0": 3}, [{"mem0": "x"}]) == Annotation()


def test_the_reserved_key_is_refused() -> None:
    with pytest.raises(Invalid):
        annotated.require_free({"mem0": 1})


def test_times_are_read_in_both_forms() -> None:
    noon = datetime(2026, 5, 2, 12, tzinfo=UTC)
    assert [annotated.moment_of(one) for one in (noon.timestamp(), str(noon.timestamp()), "2026-05-02T12:00:00")] == [
        noon
    ] * 3
    assert annotated.end_of("2027-01-31") == datetime(2027, 1, 31, 23, 59, 59, 999999, tzinfo=UTC)


@pytest.mark.parametrize("given", ["soon", "1e400", float("inf"), 1e30])
def test_what_is_no_time_is_refused(given: float | str) -> None:
    with pytest.raises(Invalid):
        annotated.moment_of(given)
    with pytest.raises(Invalid):
        annotated.end_of(str(given))
