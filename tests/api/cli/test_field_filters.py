from __future__ import annotations

import pytest
import typer

from api.cli import field_filters


def test_options_become_the_filters_of_a_request() -> None:
    assert field_filters.parsed('{"project": ["atlas", 7]}', None) == {"metadata": {"project": ["atlas", 7]}}
    assert field_filters.parsed(None, '{"a.b": true}') == {"structured": {"a.b": True}}
    assert field_filters.parsed(None, None) == {}


def test_what_is_no_json_is_refused_with_an_example() -> None:
    with pytest.raises(typer.BadParameter, match=r"--metadata is no JSON; write '\{\"project\": \"atlas\"\}'"):
        field_filters.parsed("project=atlas", None)
