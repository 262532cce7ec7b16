from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

from sqlalchemy import text

from core.index import search_index, unit_entries
from core.index.unit_entries import UnitEntry
from core.inference.embedders import HashEmbedder
from core.storage.db import Database
from tests.core.summaries.conversations import HIKE, talk, wrote
from tests.samples import TENANT, accept_all

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_a_unit_is_found_by_subject_summary_and_facts_within_the_bound() -> None:
    facts = [{"text": "Ada moved to Lisbon.", "at": "x"}, {"text": "Ada has a cat."}]
    assert (
        unit_entries.text("Lisbon", "Ada moved.", facts, "Ada: I moved.")
        == "Lisbon\nAda moved.\nAda moved to Lisbon.\nAda has a cat.\nAda: I moved."
    )
    assert len(unit_entries.text("x" * 9_000, "", (), "")) == unit_entries.LONGEST


def test_the_words_of_a_unit_change_no_frequencies(app: Database) -> None:
    entry = UnitEntry(uuid4(), "s1", 3, "ada", None, NOON, "Lisbon and its river", HashEmbedder().embed(["x"])[0])
    with app.tenant(TENANT) as tx:
        unit_entries.put(tx, TENANT, [entry])
        row = tx.execute(text("SELECT * FROM search_index")).one()
        assert tx.execute(text("SELECT count(*) FROM term_counts")).scalar_one() == 0
        assert tx.execute(text("SELECT count(*) FROM search_changes")).scalar_one() == 0
    assert (row.type, row.session_id, row.ref, row.position) == ("unit", "s1", str(entry.id), 3)
    assert (row.user_id, row.group_id, row.occurred_at, row.own_terms) == ("ada", None, NOON, [])
    assert row.embedding is not None


def test_what_is_embedded_anew_is_the_text_that_is_indexed(app: Database) -> None:
    accept_all(app, talk([*HIKE, "I moved to Lisbon yesterday.", "I met Bob in Oslo in May."]))
    wrote(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE search_index SET embedding = NULL"))
        unit = tx.execute(text("SELECT * FROM units")).one()
        (row,) = [one for one in search_index.rows_without_vector(tx, ("", "", ""), 100) if one.type == "unit"]
        assert search_index.rows_to_embed(tx, ["s1"], "") == []
    assert len(unit.facts) > 1
    assert row.text == unit_entries.text(unit.subject, unit.summary, unit.facts, unit.narrative)
