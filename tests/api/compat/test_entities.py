"""Pages with the addresses of their neighbours."""

from __future__ import annotations

from fastapi.datastructures import URL

from api.compat.entities import paged

URL_OF = URL("http://here/v1/entities/?page=2&page_size=2")


def test_a_page_in_the_middle_has_both_neighbours() -> None:
    page = paged([{"n": n} for n in range(5)], URL_OF, 2, 2)
    assert [one["n"] for one in page["results"]] == [2, 3]
    assert page["count"] == 5
    assert page["next"] == "http://here/v1/entities/?page_size=2&page=3"
    assert page["previous"] == "http://here/v1/entities/?page_size=2&page=1"


def test_beyond_the_end_there_is_nothing_and_nothing_follows() -> None:
    page = paged([{"n": 1}], URL_OF, 9, 2)
    assert (page["results"], page["next"]) == ([], None)
