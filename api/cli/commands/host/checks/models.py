"""Checks of models: the embedding model, the extractor, the endpoints, and the budgets of the day."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import text

from api.cli.commands.host.checks import endpoint_probe
from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from core.errors import Misconfigured
from core.extraction import extractor_setting
from core.inference import configured_embedder, embedding_model, local_embedder
from core.inference.local_models.catalog import MODELS
from core.storage import db, schema_version


def model(installation: Installation) -> str:
    """Check that the files of the embedding model are the published ones and produce vectors; endpoints are skipped."""
    settings = installation.settings
    local = MODELS.get(settings.embedding)
    if local is None:
        configured_embedder.require_model(settings)
        name, dimension = embedding_model.identity(settings)
        return f"{name} ({dimension} dimensions) by IMPRINT_EMBEDDING={settings.embedding}"
    vectors = local_embedder.LocalEmbedder(local).embed(["Is anybody there?"])
    path = local_embedder.local_model_path(local)
    return f"{local.name} at {path}, sha256 as published, {vectors.shape[1]} dimensions"


def extractor(installation: Installation) -> str:
    """Name the extractor: the rules, a model, or an installed package."""
    settings = installation.settings
    extractor_setting.require(settings)
    if settings.extractor != extractor_setting.AUTO:
        return settings.extractor
    if settings.llm_base_url is None:
        return "offline: rules alone, no model is configured"
    return f"both: rules, and {settings.llm_model}"


def has_endpoint(installation: Installation) -> bool:
    return installation.settings.llm_base_url is not None


def endpoint(installation: Installation) -> str:
    settings = installation.settings
    key = settings.llm_api_key.get_secret_value()
    return endpoint_probe.probe(str(settings.llm_base_url), key, "IMPRINT_LLM_BASE_URL")


def has_embedding_endpoint(installation: Installation) -> bool:
    settings = installation.settings
    return settings.embedding == "openai" and settings.embedding_base_url is not None


def embedding_endpoint(installation: Installation) -> str:
    settings = installation.settings
    key = settings.embedding_api_key.get_secret_value()
    return endpoint_probe.probe(str(settings.embedding_base_url), key, "IMPRINT_EMBEDDING_BASE_URL")


def vectors(installation: Installation) -> str:
    """Check that the vectors in the database were made by the configured model."""
    identity = embedding_model.identity(installation.settings)
    with installation.app() as database:
        schema_version.require_current(database, identity)
    return f"made by {identity[0]} ({identity[1]} dimensions), as configured"


def has_budget(installation: Installation) -> bool:
    settings = installation.settings
    return settings.llm_tokens_per_day is not None or settings.llm_cost_per_day is not None


def budget(installation: Installation) -> str:
    """Check whether tenants have used up their budget of the day: their work with a model waits until tomorrow."""
    settings = installation.settings
    try:
        url = db.router_url(settings)
    except Misconfigured:
        return "not visible to this process: the URL of the queue role is not set"
    limits = {"tokens": settings.llm_tokens_per_day, "cost": settings.llm_cost_per_day}
    tenants = [row.tenant_id for row in installation.rows(_SPENT, url, day=datetime.now(UTC).date(), **limits)]
    if tenants:
        raise CheckWarning(f"spent for today: {', '.join(tenants)}")
    return "no tenant has spent that of today"


_SPENT = text("""
    SELECT tenant_id FROM model_calls WHERE at >= cast(:day AS timestamp) AT TIME ZONE 'UTC' GROUP BY tenant_id
    HAVING sum(input_tokens + output_tokens) >= cast(:tokens AS bigint)
        OR sum(cost) >= cast(:cost AS double precision)
    ORDER BY tenant_id LIMIT 20
""")
