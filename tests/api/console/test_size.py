"""Pages read what they show: none of them goes through a table, whatever it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any, Final
from unittest import mock

import psycopg
import pytest

from api.console.pages import rule as rule_page
from api.console.pages import rules as rule_pages
from bench import console_data, console_pages
from bench.console_data import LARGE, Size
from core.browsing import listing
from core.config import Settings
from core.dispatches import queries as dispatch_queries
from core.erasure import preview
from core.events import log
from core.index import embedding_change
from core.storage.db import APP_ROLE
from rules.registry import activity, payload_fields
from tests.api.console.browser import Browser
from tests.conftest import Servers
from tests.databases import analyzed
from tests.doors import Doors
from tests.faults.stand import eventually
from tests.samples import TENANT

SIZE: Final = Size(memories=6_000, events=50_000)

MOST: Final = 3_000
"""Rows of one table that a page may read: half of the memories, six in a hundred of the log."""

BOUNDS: Final = (
    (log, "SEARCHED", 500),
    (listing, "SEARCHED", 500),
    (listing, "SEARCHED_RECORDED", 500),
    (dispatch_queries, "SEARCHED", 500),
    (dispatch_queries, "GATHER_EVENTS", 500),
    (activity, "ROWS", 500),
    (activity, "LEAST_ROWS", 3),
    (payload_fields, "LATEST", 500),
    (embedding_change, "COUNTED", 500),
    (preview, "SMALL", 500),
    (preview, "MOST", 500),
    (rule_pages, "COUNTED", 500),
    (rule_page, "COUNTED", 500),
)
"""What a page looks through at most; made smaller here, as the tables are."""

TRIED_OUT: Final = {"preview of a user's erasure", "preview of a group's erasure"}
"""Not read but carried out and taken back: rows of a user or a group are looked for in all tables."""

METHODS: Final = ("seqscan", "hashjoin", "mergejoin")
"""Of plans: what reads a whole table where a small one is as fast to read as its index."""


class Asking:
    """What `bench.console` asks a stand for, asked of the door of this process."""

    def __init__(self, door: Doors) -> None:
        self._door = door

    def call(self, method: str, path: str, body: object = None) -> Any:
        answer = self._door.ask(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json()


@pytest.fixture
def admin(servers: Servers, settings: Settings) -> Iterator[psycopg.Connection]:
    """The superuser, with a tenant's rows in the database. Plans use an index wherever one can serve."""
    with psycopg.connect(servers.admin_url, autocommit=True) as admin:
        try:
            console_data.load(admin, TENANT, SIZE)
            analyzed(settings, *console_data.LARGE_TABLES, "sessions")
            for method in METHODS:
                admin.execute(f"ALTER ROLE {APP_ROLE} SET enable_{method} = off")
            yield admin
        finally:
            admin.execute(f"ALTER ROLE {APP_ROLE} RESET ALL")
            admin.execute("DROP TABLE IF EXISTS bench_texts")


def read(admin: psycopg.Connection) -> Mapping[str, tuple[int, int]]:
    """Return scans of whole tables and rows read by indexes, by table, since the last call; connections end."""
    admin.execute(_END_OTHERS)
    admin.execute("SELECT pg_stat_clear_snapshot()")
    found = admin.execute("SELECT relname, seq_scan, idx_tup_fetch FROM pg_stat_user_tables").fetchall()
    admin.execute("SELECT pg_stat_reset()")
    return {
        table: (scans, rows or 0) for table, scans, rows in found if table in {*console_data.LARGE_TABLES, "sessions"}
    }


def test_no_page_scans_a_table_or_reads_more_of_it_than_a_part(
    admin: psycopg.Connection, door: Doors, browser: Browser
) -> None:
    pages = console_pages.paths(console_pages.prepare(Asking(door), LARGE))
    eventually(lambda: not any(map(any, read(admin).values())))  # Loading counts late, when its servers are idle.
    found = {}
    with ExitStack() as smaller:
        for module, bound, rows in BOUNDS:
            smaller.enter_context(mock.patch.object(module, bound, rows))
        for name, path in pages.items():
            read(admin)
            answer = browser.get(path)
            assert answer.status_code in {200, 303}, (name, answer.status_code, answer.text[-500:])
            much = {table: one for table, one in read(admin).items() if one[0] or one[1] > MOST}
            if much and name not in TRIED_OUT:
                found[name] = much
    assert found == {}


_END_OTHERS: Final = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
"""A connection tells what it has read when it ends, or some seconds later."""
