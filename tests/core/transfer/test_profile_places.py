from __future__ import annotations

from core.transfer import profile_places

PROFILE = {"city": {"value": "Rome", "memories": ["a", "b"]}, "pets": [{"value": "a cat", "memories": ["c"]}]}


def test_names_are_found_wherever_they_stand_and_can_be_others() -> None:
    assert list(profile_places.named(PROFILE, str)) == ["a", "b", "c"]
    assert list(profile_places.named(PROFILE, int)) == []
    in_archive = profile_places.renamed(PROFILE, {"a": 1, "c": 3}, str)
    assert in_archive == {
        "city": {"value": "Rome", "memories": [1]},
        "pets": [{"value": "a cat", "memories": [3]}],
    }
