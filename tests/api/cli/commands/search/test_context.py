from __future__ import annotations

from tests.commands import Imprint


def test_a_context_is_shown_with_what_each_section_costs(imprint: Imprint) -> None:
    imprint("memory", "add", "Ada prefers tea.", "--user", "ada")
    shown = imprint("context", "What does Ada drink?", "--user", "ada", "--max-tokens", "1000", "--why")
    assert shown.code == 0
    assert "Ada prefers tea." in shown.out
    assert "of 1000 tokens" in shown.out
    assert "memories: " in shown.out


def test_messages_are_shown_with_their_roles_and_json_as_it_is(imprint: Imprint) -> None:
    imprint("memory", "add", "Ada prefers tea.", "--user", "ada")
    asked = ("context", "What does Ada drink?", "--user", "ada", "--format", "messages")
    assert "system " in imprint(*asked).out
    assert imprint(*asked, "--json").json["limit"] > 0


def test_it_must_be_somebodys(imprint: Imprint) -> None:
    assert imprint("context", "What does Ada drink?").code == 2
