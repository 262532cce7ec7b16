from __future__ import annotations

from pathlib import Path

from core.memory.changes import Archive, Link, Pin
from core.types import Category, Relation, Topic
from tests.factories import a_memory
from tests.samples import accept, event
from tests.workers.mirrors import CAT, LISBON, UMBRELLA, Desk, level, line_of


def test_what_is_remembered_is_written_in_two_files(at_desk: Desk) -> None:
    cat = a_memory(CAT)
    brief = a_memory("Answers shall be short.", category=Category.INSTRUCTION, pinned=True)
    at_desk.keep(cat, brief, a_memory(LISBON, topic=Topic.LOCATION, importance=0.8, tags=("home",)))
    assert line_of(at_desk.text(), CAT) == f"- Ada has a cat. <!-- id:{cat.id} -->\n"
    assert "### Location\n\n- Ada lives in Lisbon. {importance=0.8 tags=home} <!-- id:" in at_desk.text()
    assert "memories: 2\n" in at_desk.text()
    assert f"- 📌 Answers shall be short. <!-- id:{brief.id} -->" in at_desk.text("learnings.md")
    assert at_desk.results("mirror_writer") == [{"mirror": "written", "files": ["learnings.md", "memory.md"]}]
    assert level(at_desk)


def test_nothing_is_written_where_nobody_is_remembered_or_what_stands_is_right(at_desk: Desk) -> None:
    accept(at_desk.app, event("mirror.requested", {"user_id": "ada"}))
    at_desk.works.settle()
    assert not at_desk.folder.exists()
    at_desk.keep(a_memory(CAT))
    before = _written(at_desk.path())
    accept(at_desk.app, event("mirror.requested", {"user_id": "ada"}))
    at_desk.works.settle()
    assert _written(at_desk.path()) == before
    assert at_desk.results("mirror_writer")[-1] == {"mirror": "unchanged", "files": []}
    assert not at_desk.path("learnings.md").exists()


def _written(path: Path) -> tuple[int, int]:
    """Return which file stands at a path, and when it was written."""
    stat = path.stat()
    return stat.st_ino, stat.st_mtime_ns


def test_the_order_the_notes_and_the_style_of_a_person_stay(at_desk: Desk) -> None:
    at_desk.keep(a_memory(CAT), a_memory(LISBON))

    def rearranged(said: str) -> str:
        cat, home = line_of(said, CAT), line_of(said, LISBON)
        notes = "Some words.\n<!-- a comment -->\n\n## To do\n\n- [ ] buy milk\n- call the bank\n"
        return said.replace(cat + home, "* " + home[2:] + "\n" + cat + notes).replace(
            "---\n", "---\naliases: [me]\n", 1
        )

    at_desk.edit(rearranged)
    saved = at_desk.text()
    assert len(at_desk.rows()) == 2
    at_desk.keep(a_memory(UMBRELLA))
    now = at_desk.text()
    assert now.replace(line_of(now, UMBRELLA), "").splitlines()[9:] == saved.splitlines()[9:]
    assert "aliases: [me]\n" in now
    assert "- call the bank\n" in now
    assert all(len(at_desk.versions(one.id)) == 1 for one in at_desk.rows().values())


def test_other_changes_of_the_database_reach_the_file(at_desk: Desk) -> None:
    cat, home = a_memory(CAT), a_memory(LISBON)
    at_desk.keep(cat, home)
    at_desk.keep(Pin(cat.id, 1, True, "dear"), Link(cat.id, Relation.ABOUT, home.id))
    assert f"- 📌 {CAT}" in at_desk.text()
    at_desk.keep(Archive(home.id, 1, "old"))
    assert LISBON not in at_desk.text()
