from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from core.index.resident import encoding
from core.storage.db import Database
from tests.samples import TENANT

NAMES = st.text(st.characters(exclude_characters=encoding.SEPARATOR))


@given(NAMES, st.text())
def test_a_key_gives_back_the_session_and_the_id_of_its_message(session: str, message: str) -> None:
    assert encoding.message_of_key(encoding.message_key(session, message)) == (session, message)


@given(NAMES, NAMES, NAMES, NAMES)
def test_two_messages_have_one_key_only_if_they_are_the_same(one: str, its: str, other: str, own: str) -> None:
    same = (one, its) == (other, own)
    assert (encoding.message_key(one, its) == encoding.message_key(other, own)) == same


def test_the_key_of_a_memory_has_no_message_in_it() -> None:
    assert encoding.message_of_key("01a201d5") == ("01a201d5", "")


def test_times_are_seconds_since_1970_in_every_zone() -> None:
    moment = datetime(2026, 11, 21, 12, 0, 0, 250_000, tzinfo=UTC)
    assert encoding.seconds(moment) == 1795262400.25
    assert encoding.seconds(moment.astimezone(timezone(timedelta(hours=5, minutes=30)))) == 1795262400.25
    assert encoding.seconds(datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)) == -1.0


@pytest.mark.parametrize("microseconds", [1, 123_457, 333_333, 999_999])
def test_times_have_the_digits_that_postgresql_gives_them(app: Database, microseconds: int) -> None:
    """Equal times must be equal numbers: one is compared with the other."""
    for year in (1955, 2026, 2150):
        moment = datetime(year, 5, 3, 1, 2, 3, microseconds, tzinfo=UTC)
        with app.tenant(TENANT) as tx:
            found = tx.execute(text("SELECT extract(epoch FROM cast(:at AS timestamptz))::float8"), {"at": moment})
            assert encoding.seconds(moment) == found.scalar_one()
