from __future__ import annotations

from core.memory import memories
from core.mirror import import_edits
from core.search import query
from core.search.question import Question
from tests.factories import EMBEDDER, a_memory, memory_row
from tests.samples import TENANT
from tests.workers.mirrors import CAT, LISBON, UMBRELLA, Desk, level, line_of, without


def test_other_words_are_an_edit_by_the_file(at_desk: Desk) -> None:
    cat = a_memory(CAT)
    at_desk.keep(cat, a_memory(LISBON))
    at_desk.edit(lambda said: said.replace("a cat", "two cats"))
    assert at_desk.results("mirror_reader") == [{"mirror": "read", "edited": 1}]
    assert at_desk.versions(cat.id)[-1] == ("edit", "file", "Ada has two cats.")
    changed = memory_row(at_desk.app, cat.id)
    assert (changed.version, changed.trust, changed.confidence) == (2, "confirmed", import_edits.CONFIDENCE)
    with at_desk.app.tenant(TENANT) as tx:
        last = memories.history(tx, cat.id)[-1]
    assert last.reason == "Edited in memory.md."
    assert last.dispatch_id is not None
    found = query.search(at_desk.app, TENANT, Question("two cats", "ada"), EMBEDDER)
    assert found.results[0].memory.content == "Ada has two cats."
    assert level(at_desk)


def test_attributes_and_headings_are_edited_too(at_desk: Desk) -> None:
    cat = a_memory(CAT, importance=0.6)
    at_desk.keep(cat)
    at_desk.edit(
        lambda said: said.replace("- Ada", "- 📌 Ada").replace("importance=0.6", "importance=0.9 tags=pet,home")
    )
    changed = memory_row(at_desk.app, cat.id)
    assert (changed.pinned, changed.importance, changed.tags) == (True, 0.9, ["pet", "home"])
    at_desk.edit(lambda said: said.replace("## Facts", "## Events").replace("### Personal", "### History"))
    changed = memory_row(at_desk.app, cat.id)
    assert (changed.category, changed.topic, changed.kind) == ("event", "history", "episodic")
    assert "## Events\n\n### History\n" in at_desk.text()
    assert [v[:2] for v in at_desk.versions(cat.id)[1:]] == [("edit", "file")] * 2


def test_a_line_that_is_added_becomes_a_memory_that_rests_on_the_edit(at_desk: Desk) -> None:
    at_desk.keep(a_memory(CAT))
    at_desk.edit(
        lambda said: said + "\n## Preferences\n\n### Work\n- Ada likes quiet rooms. {importance=0.7 tags=office}\n"
    )
    added = at_desk.rows()["Ada likes quiet rooms."]
    assert (added.category, added.topic, added.subject) == ("preference", "work", "ada")
    assert (added.importance, added.tags, added.trust) == (0.7, ["office"], "confirmed")
    marked = f"- Ada likes quiet rooms. {{importance=0.7 tags=office}} <!-- id:{added.id} -->\n"
    assert line_of(at_desk.text(), "quiet") == marked
    (announced,) = at_desk.told("mirror.edited")
    assert announced.payload == {"user_id": "ada", "file": "memory.md"}
    with at_desk.app.tenant(TENANT) as tx:
        (cited,) = memories.evidence(tx, [added.id])[added.id]
    assert (cited.session_id, cited.message_id, cited.event_id) == ("", announced.id, announced.id)
    assert at_desk.versions(added.id)[0][:2] == ("add", "file")
    assert level(at_desk)


def test_a_deleted_line_archives_and_putting_it_back_restores(at_desk: Desk) -> None:
    cat = a_memory(CAT)
    at_desk.keep(cat, a_memory(LISBON), a_memory(UMBRELLA))
    before = at_desk.text()
    at_desk.edit(without(CAT))
    assert memory_row(at_desk.app, cat.id).status == "archived"
    assert at_desk.versions(cat.id)[-1][:2] == ("archive", "file")
    at_desk.edit(lambda _: before)
    assert at_desk.versions(cat.id)[-1][:2] == ("restore", "file")
    assert CAT in at_desk.rows()
    assert level(at_desk)


def test_two_lines_may_change_places_in_words(at_desk: Desk) -> None:
    cat, home = a_memory(CAT), a_memory(LISBON)
    at_desk.keep(cat, home)
    at_desk.edit(lambda said: said.replace(CAT, "@").replace(LISBON, CAT).replace("@", LISBON))
    assert (memory_row(at_desk.app, cat.id).content, memory_row(at_desk.app, home.id).content) == (LISBON, CAT)
