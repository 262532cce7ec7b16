from __future__ import annotations

from tests.commands import Imprint


def added(imprint: Imprint) -> str:
    memory = imprint("memory", "add", "Ada prefers tea.", "--user", "ada", "--tag", "drinks", "--json").json["memory"]
    assert memory["tags"] == ["drinks"]
    return str(memory["id"])


def test_a_memory_is_edited_at_the_version_that_was_seen(imprint: Imprint) -> None:
    name = added(imprint)
    edited = imprint("memory", "edit", name, "--content", "Ada prefers green tea.", "--version", "1")
    assert "Ada prefers green tea." in edited.out
    assert "v2" in edited.out
    assert imprint("memory", "edit", name, "--content", "Ada prefers coffee.", "--version", "1").code == 1


def test_an_edit_says_what_to_change(imprint: Imprint) -> None:
    assert imprint("memory", "edit", added(imprint)).code == 2


def test_a_memory_is_pinned_and_let_go(imprint: Imprint) -> None:
    name = added(imprint)
    assert imprint("memory", "pin", name, "--json").json["pinned"] is True
    assert imprint("memory", "pin", name, "--off", "--json").json["pinned"] is False


def test_without_an_answer_nothing_is_erased(imprint: Imprint) -> None:
    name = added(imprint)
    refused = imprint("memory", "delete", name)
    assert refused.code == 1
    assert "Nothing was erased" in refused.err
    assert "Erased at" in imprint("memory", "delete", name, "--yes").out
    assert imprint("memory", "delete", name, "--yes").code == 1
    assert imprint("memory", "forget", name, "--yes").code == 1
