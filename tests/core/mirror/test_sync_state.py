from __future__ import annotations

import inspect
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from core.mirror import export, import_edits, sync_state
from tests.factories import a_memory
from tests.samples import TENANT
from tests.workers.mirrors import CAT, LISBON, Desk, level, reworded


def test_an_unread_edit_is_never_written_over_and_announced_by_the_writer(at_desk: Desk) -> None:
    at_desk.keep(a_memory(CAT))
    at_desk.path().write_text(at_desk.text().replace("a cat", "two cats"))
    at_desk.age()
    at_desk.keep(a_memory(LISBON))
    assert {"mirror": "unread"} in at_desk.results("mirror_writer")
    assert set(at_desk.rows()) == {"Ada has two cats.", LISBON}
    assert "two cats" in at_desk.text()
    assert LISBON in at_desk.text()
    assert len(at_desk.told("mirror.edited")) == 1
    assert level(at_desk)


def read_new_line(at_desk: Desk, line: str) -> import_edits.PendingImport:
    """Add a line to the file, and read it as the agent does; nothing is written yet."""
    mirror = sync_state.of(at_desk.settings, TENANT, "ada")
    assert mirror is not None
    at_desk.path().write_text(at_desk.text() + line)
    at_desk.age()
    at_desk.watch.look()
    at_desk.watch.look()
    (announced,) = at_desk.told("mirror.edited")
    tools = inspect.getclosurevars(at_desk.works.ledger.agents["mirror_reader"]).nonlocals["own"]
    return import_edits.read(tools.consolidation, mirror, announced, datetime.now(UTC))


def test_a_save_between_reading_and_writing_is_not_lost(at_desk: Desk) -> None:
    """The reader has read and thought when the person saves again: nothing of what it read is written."""
    at_desk.keep(a_memory(CAT))
    found = read_new_line(at_desk, "- Ada sails.\n")
    at_desk.path().write_text(at_desk.text() + "- Ada dances.\n")
    at_desk.age(seconds=30)
    with pytest.raises(import_edits.Conflict), at_desk.app.tenant(TENANT) as tx:
        found.write(tx, import_edits.Author("file"))
    at_desk.notice()
    assert {"Ada sails.", "Ada dances."} <= set(at_desk.rows())
    assert at_desk.text().count("<!-- id:") == 3


def test_a_save_after_reading_and_before_ids_are_written_loses_nothing(at_desk: Desk) -> None:
    at_desk.keep(a_memory(CAT))
    found = read_new_line(at_desk, "- Ada sails.\n")
    with at_desk.app.tenant(TENANT) as tx:
        found.write(tx, import_edits.Author("file"))
    assert "sails. <!--" not in at_desk.text()
    at_desk.edit(lambda said: said + "- Ada dances.\n")
    sails, dances = at_desk.rows()["Ada sails."], at_desk.rows()["Ada dances."]
    assert f"- Ada sails. <!-- id:{sails.id} -->\n- Ada dances. <!-- id:{dances.id} -->\n" in at_desk.text()
    assert len(at_desk.versions(sails.id)) == 1


def test_dying_between_file_and_agreement_looks_like_nobodys_edit(at_desk: Desk) -> None:
    """The file is written, the transaction rolls back: the next look finds both sides of one mind."""
    at_desk.keep(a_memory(CAT))
    reworded(at_desk, next(iter(at_desk.rows().values())).id, "Ada has two cats.")
    mirror = sync_state.of(at_desk.settings, TENANT, "ada")
    assert mirror is not None
    with at_desk.app.engine.connect() as tx:
        tx.execute(text("SELECT set_config('imprint.tenant', :tenant, true)"), {"tenant": TENANT})
        export.write(tx, mirror, datetime.now(UTC))
        tx.rollback()
    assert "two cats" in at_desk.text()
    at_desk.age()
    at_desk.notice()
    (cat,) = at_desk.rows().values()
    assert [name for name, _, _ in at_desk.versions(cat.id)] == ["add", "edit"]
    assert at_desk.told("mirror.conflicted") == []
    assert level(at_desk)
