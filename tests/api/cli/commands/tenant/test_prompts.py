from __future__ import annotations

from pathlib import Path

from core.inference import prompts
from tests.commands import Imprint


def test_a_prompt_is_stored_shown_previewed_and_reset(imprint: Imprint, tmp_path: Path) -> None:
    file = tmp_path / "judge.md"
    file.write_text("Be strict.\n\n{{packaged}}", "utf-8")
    stored = imprint("prompts", "set", "judge", str(file), "--share", "0.5", "--comment", "stricter")
    assert (stored.code, "judge.own1" in stored.err) == (0, True)
    assert "50%" in imprint("prompts", "list").out
    shown = imprint("prompts", "show", "judge")
    assert shown.out.strip() == "Be strict.\n\n{{packaged}}"
    assert "version 1" in shown.err
    assert "stricter" in shown.err
    packaged = imprint("prompts", "show", "judge", "--packaged").out
    assert packaged.strip() == prompts.load("judge.v1").strip()
    assert imprint("prompts", "reset", "judge").code == 0
    by_name = {one["name"]: one["version"] for one in imprint("prompts", "list", "--json").json["items"]}
    assert by_name["judge"] is None


def test_a_preview_shows_the_prompt_and_an_example_and_stores_nothing(imprint: Imprint) -> None:
    seen = imprint("prompts", "preview", "judge", stdin="Be strict.")
    assert seen.out.startswith("── system\nBe strict.\n── user\n")
    assert "tokens" in seen.err
    assert imprint("prompts", "show", "judge", "--json").json["version"] is None


def test_a_prompt_with_a_wrong_placeholder_is_refused_with_those_that_there_are(imprint: Imprint) -> None:
    refused = imprint("prompts", "set", "judge", stdin="{{name}}")
    assert refused.code == 1
    assert "{{packaged}}" in refused.err


def test_a_file_that_is_not_there_is_one_sentence(imprint: Imprint, tmp_path: Path) -> None:
    refused = imprint("prompts", "set", "judge", str(tmp_path / "none.md"))
    assert (refused.code, "cannot be read" in refused.err) == (1, True)
