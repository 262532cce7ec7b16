"""Entries of a list of hosts: what each lets through, and what none does."""

from __future__ import annotations

import pytest

from core.settings import hosts


@pytest.mark.parametrize(
    ("url", "entries", "may"),
    [
        ("https://a.org/x", ["a.org"], True),
        ("https://A.ORG:443/x?y#z", ["a.org"], True),
        ("https://a.org./x", ["a.org"], True),
        ("https://a.org:8443/", ["a.org"], False),
        ("https://a.org:8443/", ["a.org:8443"], True),
        ("https://a.org/", ["a.org:8443"], False),
        ("http://a.org/", ["a.org", "https://a.org:80"], False),
        ("http://a.org/", ["http://a.org"], True),
        ("https://a.org/", ["http://a.org"], False),
        ("http://a.org:8080/", ["http://a.org:8080"], True),
        ("https://b.a.org/", ["a.org"], False),
        ("https://b.a.org/", ["*.a.org"], True),
        ("https://c.b.a.org/", ["*.A.org"], True),
        ("https://a.org/", ["*.a.org"], False),
        ("https://nota.org/", ["*.a.org", "a.org"], False),
        ("https://a.org.evil.com/", ["a.org", "*.a.org"], False),
        ("https://anything.org/", ["*"], True),
        ("http://anything.org/", ["*"], False),
        ("http://[::1]:80/", ["http://[::1]"], True),
        ("https://[::1]/", ["::1"], True),
        ("http://127.0.0.1/", [], False),
        ("https://u:p@a.org/", ["a.org"], False),
        ("https://a.org\\@evil.com/", ["a.org", "evil.com"], False),
        ("https://a.org:99999/", ["a.org"], False),
        ("https://a.org:0/", ["a.org"], False),
        ("http://[::1", ["*"], False),
        ("ftp://a.org/", ["*", "http://*"], False),
        ("mailto:ann@example.com", ["*", "example.com"], False),
        ("mailto:ann@example.com", ["mailto:*@example.com"], True),
        ("mailto:ann@example.com?subject=x", ["mailto:ann@example.com"], True),
        ("mailto:bob@example.com", ["mailto:ann@example.com"], False),
        ("mailto:ann@evil.com", ["mailto:*@example.com"], False),
        ("mailto:ann@evil.com,eve@example.com", ["mailto:*@example.com"], False),
        ("mailto:ann%40evil.com%2Ceve@example.com", ["mailto:*@example.com"], False),
        ("mailto:a%0D%0ABcc:eve@example.com", ["mailto:*@example.com"], False),
    ],
)
def test_an_address_needs_an_entry_with_its_scheme_host_and_port(url: str, entries: list[str], may: bool) -> None:
    assert hosts.allows(entries, url) is may


NO_ENTRIES = ["", "https://", "a.org/path", "ftp://a.org", "a b.org", "*x.org", "u@a.org", "a.org:0", "a.org:70000"]


@pytest.mark.parametrize("entry", [*NO_ENTRIES, "mailto:x"])
def test_what_is_no_entry_says_so(entry: str) -> None:
    with pytest.raises(ValueError, match=r"is not a host|has the port"):
        hosts.parse(entry)


@pytest.mark.parametrize(
    ("entry", "bounds", "within"),
    [
        ("a.org", ["a.org"], True),
        ("a.org", ["*"], True),
        ("x.a.org", ["*.a.org"], True),
        ("*.b.a.org", ["*.a.org"], True),
        ("*.a.org", ["x.a.org"], False),
        ("*", ["*.a.org"], False),
        ("http://a.org", ["a.org", "*"], False),
        ("a.org:8443", ["a.org"], False),
        ("mailto:ann@a.org", ["mailto:*@a.org"], True),
        ("mailto:*@a.org", ["mailto:ann@a.org"], False),
    ],
)
def test_an_entry_lies_within_one_that_allows_all_of_it(entry: str, bounds: list[str], within: bool) -> None:
    assert bool(hosts.allowed_by([entry], bounds)) is within
