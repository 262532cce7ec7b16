from __future__ import annotations

from tests.commands import Imprint


def test_memories_are_written_listed_edited_and_forgotten(imprint: Imprint) -> None:
    made = imprint("memory", "add", "Ada lives in Turin.", "--user", "ada", "--json").json["memory"]
    listed = imprint("memory", "list", "--user", "ada").out
    assert listed.startswith(f"{made['id']} Ada lives in Turin.")
    assert f"id {made['id']}" in imprint("search", "Turin", "--user", "ada").out
    assert "v2" in imprint("memory", "edit", made["id"], "--content", "Ada lives in Milan.", "--reason", "moved").out
    assert imprint("memory", "pin", made["id"], "--json").json["pinned"] is True
    assert imprint("memory", "pin", made["id"], "--off", "--json").json["pinned"] is False
    history = imprint("memory", "history", made["id"]).out
    assert ["moved" in history, "Ada lives in Turin." in history, "Ada lives in Milan." in history] == [True] * 3
    assert "by key:" in imprint("memory", "why", made["id"]).out
    assert "Nothing was erased" in imprint("memory", "forget", made["id"]).err
    assert "receipt" in imprint("memory", "forget", made["id"], "--yes").out
    assert imprint("memory", "list", "--user", "ada").out == ""
    assert imprint("memory", "edit", made["id"]).code == 2
