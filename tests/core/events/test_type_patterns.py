"""Patterns of event types: what fits, and that no pattern takes long."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as tuned
from hypothesis import strategies as st
from sqlalchemy import text

from core.events import type_patterns
from core.storage.db import Database
from tests.samples import TENANT


@pytest.mark.parametrize(
    ("pattern", "event_type", "fits"),
    [
        ("memory.*", "memory.created", True),
        ("memory.*", "memory.", True),
        ("memory.*", "memory", False),
        ("*.added", "message.added", True),
        ("*.added", "message.added.twice", False),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("*a*b*", "xbxaxbx", True),
        ("*a*b*", "xbxax", False),
        ("a**b", "a.b", True),
        ("*ab*ab", "ab", False),
        ("a.b", "axb", False),
        ("*", "", True),
    ],
)
def test_a_star_matches_any_run_of_characters(pattern: str, event_type: str, *, fits: bool) -> None:
    assert type_patterns.matches(pattern, event_type) is fits


@given(st.text("ab.*", max_size=7), st.text("ab.", max_size=7))
def test_every_pattern_means_what_its_regular_expression_means(pattern: str, event_type: str) -> None:
    expression = ".*".join(map(re.escape, pattern.split("*")))
    assert type_patterns.matches(pattern, event_type) is (re.fullmatch(expression, event_type) is not None)


@pytest.mark.parametrize("stars", [7, 14, 90])
def test_many_stars_against_a_type_that_almost_fits_take_no_time(stars: int) -> None:
    """A backtracking engine needs more than a second for 7 stars and days for 14."""
    began = time.process_time()
    for _ in range(1_000):
        assert not type_patterns.matches("*a" * stars + "*b", "a" * 200)
    assert time.process_time() - began < 2


@given(st.text("a_%\\.*", max_size=6), st.text("a_%\\.", max_size=6))
@tuned(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_database_reads_a_pattern_in_the_same_way(app: Database, pattern: str, event_type: str) -> None:
    with app.tenant(TENANT) as tx:
        query = text("SELECT cast(:type AS text) LIKE :pattern")
        fits = tx.execute(query, {"type": event_type, "pattern": type_patterns.like(pattern)}).scalar_one()
    assert fits is type_patterns.matches(pattern, event_type)


def test_a_sixth_star_is_refused_with_the_way_out() -> None:
    assert type_patterns.fault("*a*a*a*a*") is None
    assert "6 `*`, 5 are allowed" in str(type_patterns.fault("*a*a*a*a*a*"))
