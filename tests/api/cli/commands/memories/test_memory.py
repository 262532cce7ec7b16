from __future__ import annotations

from tests.commands import Imprint


def test_memories_are_written_listed_edited_and_forgotten(imprint: Imprint) -> None:
    made = imprint("memory", "add", "Ada lives in Turin.", "--user", "ada", "--json").json["memory"]
    short = made["id"][-8:]
    listed = imprint("memory", "list", "--user", "ada").out
    assert listed == f"{short}  ada  fact  Ada lives in Turin.\n"
    assert f"{short} memory Ada lives in Turin." in imprint("search", "Turin", "--user", "ada").out
    shown = imprint("memory", "show", short).out
    assert ["Ada lives in Turin." in shown, made["id"] in shown] == [True, True]
    assert "v2" in imprint("memory", "edit", short, "--content", "Ada lives in Milan.", "--reason", "moved").out
    edited = imprint("memory", "decisions", "--kind", "edit", "--json").json["items"][0]
    assert (edited["said"], edited["reason"]) == ("Ada lives in Milan.", "moved")
    assert "Ada lives in Turin." in imprint("memory", "undo", "--change", edited["change_id"][-8:]).out
    assert "(undone)" in imprint("memory", "decisions", "--kind", "edit").out
    assert imprint("memory", "edit", short, "--content", "Ada lives in Milan.", "--reason", "moved").code == 0
    assert imprint("memory", "pin", short, "--json").json["pinned"] is True
    assert imprint("memory", "pin", short, "--off", "--json").json["pinned"] is False
    history = imprint("memory", "history", short).out
    assert ["moved" in history, "Ada lives in Turin." in history, "Ada lives in Milan." in history] == [True] * 3
    assert "by key:" in imprint("memory", "why", short).out
    assert "Nothing was erased" in imprint("memory", "forget", short).err
    assert "receipt" in imprint("memory", "forget", short, "--yes").out
    assert imprint("memory", "list", "--user", "ada").out == ""
    assert imprint("memory", "edit", short).code == 2
    assert "imprint memory list" in imprint("memory", "show", short).err
    assert "receipt" in imprint("memory", "show", made["id"]).err
