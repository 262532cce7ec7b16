from __future__ import annotations

import json

import pytest

from core.context import json_pruning


def counts(word: str) -> json_pruning.Matches:
    return lambda said: float(said.count(word))


@pytest.mark.parametrize("text", ["plain", "[1, 2", '{"x": NaN}', "12", ""])
def test_what_is_no_json_object_or_list_is_not_parsed(text: str) -> None:
    assert json_pruning.parse_json(text) is None


def test_every_size_is_valid_json_and_holds_the_note() -> None:
    value = {"items": [{"n": n, "text": "x" * 400} for n in range(200)], "error": "no disk"}
    sizes = list(json_pruning.smaller(value, "shortened", counts("nothing")))
    for one in sizes:
        assert json.loads(one)["……"] == "shortened"
    assert len(sizes[-1]) < len(sizes[0]) < len(json.dumps(value))


def test_a_list_keeps_its_ends_and_the_entries_that_match() -> None:
    value = [f"entry {n}" for n in range(100)]
    value[50] = "the wanted needle"
    last = json.loads(list(json_pruning.smaller(value, "less", counts("needle")))[-4])
    assert "entry 0" in last
    assert "the wanted needle" in last
    assert last[-1] == "… less"


def test_an_object_keeps_telling_keys_and_says_how_many_are_left_out() -> None:
    value = {f"field{n}": n for n in range(100)} | {"error": "no disk"}
    smallest = json.loads(list(json_pruning.smaller(value, "less", counts("nothing")))[-1])
    assert smallest["error"] == "no disk"
    assert smallest["…"] == "100 more keys"
