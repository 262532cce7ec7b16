"""Ids as people type them."""

from __future__ import annotations

import pytest
import typer

from api.cli import ids
from api.cli.ids import AmbiguousId, UnknownId

WHOLE = "01a201d5-e5cb-7040-9e09-b43e1d5743a6"


@pytest.mark.parametrize(
    ("whole", "shown"),
    [
        (WHOLE, "1d5743a6"),
        (WHOLE.replace("-", ""), "1d5743a6"),
        ("m1", "m1"),
        ("order-2026-11-26-00001", "order-2026-11-26-00001"),
    ],
)
def test_the_end_is_shown_of_ids_that_the_service_makes(whole: str, shown: str) -> None:
    assert ids.short(whole) == shown


@pytest.mark.parametrize(
    ("given", "read"), [(WHOLE.upper(), WHOLE), (" 1D5743A6 ", "1d5743a6"), ("…1d5743a6", "1d5743a6"), ("43a6", "43a6")]
)
def test_an_id_or_its_end_is_read_as_people_write_it(given: str, read: str) -> None:
    assert ids.typed(given) == read


@pytest.mark.parametrize("given", ["", "abc", "a-b", "tea", "01a201d5-e5cb-7040-9e09-b43e1d5743a6-1"])
def test_what_is_no_id_is_refused(given: str) -> None:
    with pytest.raises(typer.BadParameter, match="last four or more characters"):
        ids.typed(given)


def test_more_characters_than_lists_print_tell_ids_apart() -> None:
    other = WHOLE.replace("7040", "7041")
    with pytest.raises(AmbiguousId, match=other):
        ids.choose("memory", "1d5743a6", [WHOLE, other])
    assert ids.choose("memory", "7041-9e09-b43e1d5743a6", [WHOLE, other]) == other
    with pytest.raises(UnknownId, match="imprint memory list"):
        ids.choose("memory", "7042-9e09-b43e1d5743a6", [WHOLE, other])
