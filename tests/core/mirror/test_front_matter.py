from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from core.mirror import front_matter
from core.mirror.front_matter import UnreadableFile

NAMES = {"format": front_matter.FORMAT, "tenant": "acme", "user": "ada", "file": "memory.md"}
NAMES |= {"memories": "3", "generated": "2026-11-21T12:00:00Z"}


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


@given(st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"]), min_size=1))
def test_any_name_of_a_user_is_read_back(user: str) -> None:
    written = front_matter.fresh(NAMES | {"user": user})
    assert front_matter.parse(list(written.raw))[0].values == NAMES | {"user": user}


@given(st.text(st.characters(min_codepoint=32, max_codepoint=0xFFFF, exclude_categories=["Cs", "Cc"]), min_size=1))
def test_other_readers_of_yaml_see_the_same(user: str) -> None:
    written = front_matter.fresh(NAMES | {"user": user}).text().strip("-\n")
    assert yaml.safe_load(written)["user"] == user


@pytest.mark.parametrize("said", ["ada", '"ada"', "'ada'", '"\\u0061da"', "ada # her", "'ada' # her", '"ada"  # her'])
def test_values_may_be_written_as_editors_write_them(said: str) -> None:
    found, count = front_matter.parse(lines(f"---\nuser: {said}\n---\n- cat\n"))
    assert (found.values["user"], count) == ("ada", 3)


def test_what_others_have_added_stays_where_it_is() -> None:
    text = "---\naliases:\n  - me\ntags: [a, b]\nmemories: 3\n# a comment\nuser: ada\n---\n"
    found, _ = front_matter.parse(lines(text))
    assert front_matter.update(found, {"memories": "3", "user": "ada"}).text() == text
    changed = front_matter.update(found, {"memories": "4", "file": "memory.md"}).text()
    assert changed == text.replace("memories: 3", "memories: 4").replace("ada\n---", "ada\nfile: memory.md\n---")


def test_anothers_front_matter_is_refused() -> None:
    with pytest.raises(UnreadableFile, match="`user` says 'ada', and should say 'bob'"):
        front_matter.require(front_matter.fresh(NAMES), NAMES | {"user": "bob"})
    with pytest.raises(UnreadableFile, match="`tenant` is missing"):
        front_matter.require(front_matter.parse(lines("---\n---\n"))[0], {"tenant": "acme"})
