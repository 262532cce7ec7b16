from __future__ import annotations

from tests.factories import a_memory
from tests.workers.mirrors import CAT, Desk, desk


def test_a_repeated_look_and_a_second_watch_announce_a_save_once(at_desk: Desk) -> None:
    at_desk.keep(a_memory(CAT))
    other = desk(at_desk.settings, at_desk.app, at_desk.works).watch
    other.look()
    at_desk.path().write_text(at_desk.text().replace("a cat", "two cats"))
    at_desk.age()
    for watch in (at_desk.watch, other, at_desk.watch, other):
        watch.look()
    assert len(at_desk.told("mirror.edited")) == 1
    at_desk.works.settle()
    assert len(at_desk.results("mirror_reader")) == 1


def test_folders_of_nobody_are_left_alone(at_desk: Desk) -> None:
    stray = at_desk.settings.mirror_dir / "nosuch" / "ada"  # type: ignore[operator]
    stray.mkdir(parents=True)
    (stray / "memory.md").write_text("- hello\n")
    assert at_desk.notice() == 0
    assert (stray / "memory.md").read_text() == "- hello\n"
