"""Checks of the database: server, version, roles, isolation, clock, connections, snapshots, vacuum."""

from __future__ import annotations

import os
import time
from contextlib import closing, suppress
from typing import Final

from sqlalchemy import text

from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from api.stack.external import External
from core.errors import Misconfigured
from core.storage import db, schema_version
from core.storage.tables import TENANT_TABLES

OLDEST_POSTGRESQL: Final = 18
OLDEST_PGVECTOR: Final = (0, 8)
DRIFT_SECONDS: Final = 1.0
WRONG_SECONDS: Final = 30.0
"""Leases last as long by default: with a larger difference, times of processes and database contradict each other."""

FULL_SHARE: Final = 0.8
OTHER_CONNECTIONS: Final = 20
"""Of router, clock, workers and commands, about."""

SNAPSHOT_SECONDS: Final = 600
HELD_LOG_BYTES: Final = 1 << 30
DEAD_ROWS: Final = 100_000


def database(installation: Installation) -> str:
    url = installation.owner_or_app.set(drivername="postgresql")
    external = External("postgres", url.render_as_string(hide_password=False))
    external.start()
    return f"answers at {external.where}"


def server(installation: Installation) -> str:
    """Check the versions of PostgreSQL and pgvector."""
    (row,) = installation.rows(_VERSIONS)
    fault = version_fault(row.number, row.pgvector)
    if fault is not None:
        raise Misconfigured(fault)
    return f"PostgreSQL {row.version}, pgvector {row.pgvector}"


def version_fault(number: int, pgvector: str | None) -> str | None:
    """Return what is too old or missing; None: nothing. `number`: as in `server_version_num`."""
    if number // 10_000 < OLDEST_POSTGRESQL:
        return f"PostgreSQL {number // 10_000} is too old; {OLDEST_POSTGRESQL} or newer is needed"
    if pgvector is None:
        return "the extension pgvector is missing in this database"
    if tuple(int(part) for part in pgvector.split(".")[:2]) < OLDEST_PGVECTOR:
        return f"pgvector {pgvector} is too old; {'.'.join(map(str, OLDEST_PGVECTOR))} or newer is needed"
    return None


def migration(installation: Installation) -> str:
    with installation.reading() as connection:
        revision, newest = schema_version.version(connection)
    if revision is None or (revision != newest and revision in schema_version.migrations()):
        raise Misconfigured(f"The database is at {revision or 'nothing'}, this version needs {newest}.")
    if revision != newest:
        raise Misconfigured(f"The database is at {revision}, which this version does not know: it goes up to {newest}.")
    return f"at {revision}, the newest"


def roles(installation: Installation) -> str:
    """Check that the roles of the service own nothing; a process of the service knows one or two of them."""
    urls = [db.app_url(installation.settings)]
    with suppress(Misconfigured):
        urls.append(db.router_url(installation.settings))
    for url in urls:
        with closing(db.connect(url, 1)) as role:
            db.require_bound(role)
    return f"{' and '.join(str(url.username) for url in urls)} own nothing and cannot bypass row-level security"


def isolation(installation: Installation) -> str:
    """Check that row-level security is on, for the owner too, with its policy, in every table of tenants."""
    names = [table.name for table in TENANT_TABLES]
    open_tables = [row.name for row in installation.rows(_OPEN_TABLES, names=names)]
    if open_tables:
        raise Misconfigured(f"row-level security is off or its policy is missing: {', '.join(open_tables)}")
    return f"row-level security binds all {len(names)} tables of tenants"


def clock(installation: Installation) -> str:
    """Compare the clocks of this machine and of the database."""
    with installation.reading(db.app_url(installation.settings)) as tx:
        tx.execute(_NOW)  # So that the connection is there.
        before = time.time()
        at = tx.execute(_NOW).scalar_one()
        after = time.time()
    drift = max(before - at, at - after, 0.0)
    if drift > WRONG_SECONDS:
        raise Misconfigured(f"this machine and the database differ by {drift:,.0f} s")
    if drift > DRIFT_SECONDS:
        raise CheckWarning(f"this machine and the database differ by {drift:.1f} s")
    return f"as the database's, within {max(drift, after - before):.3f} s"


def connections(installation: Installation) -> str:
    """Check that the pools of the API fit into `max_connections`, and that few are in use."""
    settings = installation.settings
    (row,) = installation.rows(_CONNECTIONS)
    processes = settings.api_processes or min(os.cpu_count() or 1, 4)
    pools = processes * settings.database_pool + OTHER_CONNECTIONS
    if row.used >= FULL_SHARE * row.most:
        raise Misconfigured(f"{row.used} of {row.most} connections are in use")
    if pools > row.most:
        raise CheckWarning(
            f"{processes} API processes with IMPRINT_DATABASE_POOL={settings.database_pool} and the others may open "
            f"{pools} connections, max_connections allows {row.most}"
        )
    return f"{row.used} of {row.most} in use"


def snapshots(installation: Installation) -> str:
    """Check for what keeps dead rows from being removed, and for replication slots that keep the log."""
    (row,) = installation.rows(_SNAPSHOTS, installation.statistics_url)
    if row.seconds >= SNAPSHOT_SECONDS:
        raise CheckWarning(f"{row.holder} holds a snapshot for {row.seconds / 60:,.0f} min")
    for slot in installation.rows(_HELD_LOG, bytes=HELD_LOG_BYTES):
        raise CheckWarning(
            f"the replication slot {slot.name}, which nobody reads, keeps {slot.bytes / 1e6:,.0f} MB of the log"
        )
    blind = "" if row.sees_all else "; other roles' transactions are not visible without pg_read_all_stats"
    return f"none older than {SNAPSHOT_SECONDS // 60} min{blind}"


def vacuum(installation: Installation) -> str:
    """Check that autovacuum runs, in every table, and that dead rows do not pile up."""
    (server_row,) = installation.rows(_AUTOVACUUM)
    if not (server_row.autovacuum and server_row.counts):
        setting = "track_counts" if server_row.autovacuum else "autovacuum"
        raise Misconfigured(f"{setting} is off: tables only grow")
    names = [table.name for table in TENANT_TABLES]
    rows = installation.rows(_VACUUM, names=names, dead=DEAD_ROWS)
    excluded = [row.name for row in rows if row.off]
    if excluded:
        raise Misconfigured(f"autovacuum is off for {', '.join(excluded)}")
    if rows:
        dead = ", ".join(f"{row.name} ({row.dead:,})" for row in rows)
        raise CheckWarning(f"more dead rows than live ones in {dead}")
    return "autovacuum is on, and dead rows are few"


_VERSIONS = text("""
    SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
           (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector
""")

_OPEN_TABLES = text("""
    SELECT n.name FROM unnest(cast(:names AS text[])) AS n (name)
    LEFT JOIN pg_class c ON c.oid = to_regclass('public.' || n.name)
    WHERE NOT coalesce(c.relrowsecurity AND c.relforcerowsecurity, false) OR NOT EXISTS (
        SELECT FROM pg_policies p WHERE p.schemaname = 'public' AND p.tablename = n.name AND p.policyname = 'own_rows')
    ORDER BY n.name
""")

_NOW = text("SELECT extract(epoch FROM clock_timestamp())::float8")

_CONNECTIONS = text("""
    SELECT current_setting('max_connections')::int
           - current_setting('superuser_reserved_connections')::int AS most,
           (SELECT sum(numbackends)::int FROM pg_stat_database) AS used
""")

_SNAPSHOTS = text("""
    SELECT coalesce(holder, '') AS holder, coalesce(seconds, 0)::float8 AS seconds,
           pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS sees_all
    FROM (SELECT) AS always LEFT JOIN LATERAL (
        SELECT 'a transaction of ' || usename || ' (pid ' || pid || ', ' || coalesce(state, '?') || ')' AS holder,
               extract(epoch FROM clock_timestamp() - xact_start) AS seconds
        FROM pg_stat_activity WHERE (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) AND xact_start IS NOT NULL
        UNION ALL
        SELECT 'the prepared transaction ' || gid, extract(epoch FROM clock_timestamp() - prepared)
        FROM pg_prepared_xacts
        UNION ALL
        SELECT 'the replication slot ' || slot_name, extract(epoch FROM clock_timestamp() - inactive_since)
        FROM pg_replication_slots WHERE NOT active AND (xmin IS NOT NULL OR catalog_xmin IS NOT NULL)
        ORDER BY seconds DESC NULLS LAST LIMIT 1) AS oldest ON true
""")

_HELD_LOG = text("""
    SELECT name, bytes FROM (SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                                         ELSE pg_current_wal_lsn() END AS lsn) AS written,
        LATERAL (SELECT slot_name AS name, pg_wal_lsn_diff(lsn, restart_lsn)::float8 AS bytes
                 FROM pg_replication_slots WHERE NOT active) AS held
    WHERE bytes >= :bytes ORDER BY bytes DESC
""")

_AUTOVACUUM = text("""
    SELECT current_setting('autovacuum')::bool AS autovacuum, current_setting('track_counts')::bool AS counts
""")

_VACUUM = text("""
    SELECT c.relname AS name, coalesce(s.n_dead_tup, 0) AS dead,
           coalesce('autovacuum_enabled=false' = ANY(c.reloptions)
                    OR 'autovacuum_enabled=off' = ANY(c.reloptions), false) AS off
    FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
    WHERE c.oid = ANY(ARRAY(SELECT to_regclass('public.' || name) FROM unnest(cast(:names AS text[])) AS name))
      AND (coalesce('autovacuum_enabled=false' = ANY(c.reloptions)
                    OR 'autovacuum_enabled=off' = ANY(c.reloptions), false)
           OR s.n_dead_tup > greatest(s.n_live_tup, :dead))
    ORDER BY c.relname
""")
