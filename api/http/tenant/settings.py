"""Settings of a tenant: high-risk rules, webhook destinations, secrets, limits."""

from __future__ import annotations

from operator import attrgetter, methodcaller
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field, SecretStr, StringConstraints

from api.http.tenant.answers import (
    ClockSettings,
    Destinations,
    EmbeddingSettings,
    ExtractionSettings,
    LimitsInForce,
    RetentionInForce,
    Secret,
    SecretPage,
    Tenant,
)
from api.ingress import paging
from api.ingress.answers import answers
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Admin, Deps, Reader, author
from api.ingress.large_json import Route
from api.ingress.paging import After, WholeLimit
from api.ingress.schemas import body
from core.events import expiries
from core.expiry import forecast
from core.index import embedding_change
from core.sessions import speaker_clocks
from core.settings import secret_names
from core.storage.db import Tx
from core.tenancy import destinations, extraction, limits, retention, secrets, tenants
from core.tenancy.extraction import ExtractionChoice
from core.tenancy.retention import Retention
from core.tenancy.tenants import Caller
from core.types import Json
from rules.document.fields import Zone

router = APIRouter(prefix="/v1", tags=["tenant"], route_class=Route)


class TenantPatch(RequestBody):
    """Changes to the settings of a tenant."""

    allow_high_risk: bool = Field(description="Run high-risk rules as `auto`, without approval")


Host = Annotated[str, StringConstraints(min_length=1, max_length=300)]
ChannelName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,100}$")]
SecretName = Annotated[str, Path(pattern=secret_names.NAME, description="Name by which rules reference it")]


class WebhooksPut(RequestBody):
    """Allowed destinations of webhooks and channels; omitted fields stay unchanged."""

    hosts: Annotated[
        list[Host] | None,
        Field(
            max_length=200,
            description="Allowed webhook hosts, a subset of `may_use`: `hooks.example.com` (https), "
            "`*.example.com:8443`, `http://10.0.0.7:9000`",
        ),
    ] = None
    channels: Annotated[
        dict[ChannelName, SecretStr | None] | None,
        Field(
            max_length=secrets.SECRETS,
            description="All channels of `notify` except `log`, with their addresses; null keeps the current address",
        ),
    ] = None
    signing_secret: Annotated[
        SecretStr | None,
        Field(
            description="Signing secret as defined by Standard Webhooks (`whsec_…`); during a rotation, the new and "
            "the old one separated by a space; empty: requests are not signed. Never shown"
        ),
    ] = None


class ExtractionPut(RequestBody):
    """Filters that extracted statements pass before they are stored."""

    min_importance: Annotated[
        float, Field(ge=0, le=1, description="Importance below which new extracted statements are not kept; 0: all are")
    ]
    min_certainty: Annotated[
        float,
        Field(ge=0, le=1, description="Certainty below which an ending is a conflict for people to decide; 0: none is"),
    ] = 0.0


class ClockPut(RequestBody):
    """The clock by which relative days are understood where neither a time nor its user has a zone."""

    time_zone: Annotated[
        Zone | None, Field(description="Zone of users for whom none was set, such as `Europe/Lisbon`; null: UTC")
    ]


class EmbeddingPut(RequestBody):
    """The embedding model of a tenant."""

    model: Annotated[str, Field(min_length=1, max_length=100, description="One of `offered`, such as `english`")]


class SecretPut(RequestBody):
    """A secret to store."""

    value: Annotated[SecretStr, Field(description="Value of the header, such as `Bearer …`; never shown")]
    hosts: Annotated[
        list[Host] | None,
        Field(
            min_length=1,
            max_length=20,
            description="The only hosts to which it may be sent, written as those of `PUT /v1/tenant/webhooks`; "
            "omitted: those that it has, or all that the tenant allows",
        ),
    ] = None


@router.get("/tenant/webhooks", operation_id="getDestinations", responses=answers(Destinations))
def get_webhooks(deps: Deps, caller: Reader) -> Json:
    """Return the allowed destinations: hosts, channels, queues; addresses and secrets are masked."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return destinations.view(tx, deps.settings, caller.tenant_id)


@router.put("/tenant/webhooks", operation_id="putDestinations", responses=answers(Destinations))
def put_webhooks(deps: Deps, caller: Admin, request: WebhooksPut) -> Json:
    """Set hosts, channels and the signing secret; dispatches to other destinations fail from now on."""
    changes = destinations.OutletChanges(
        hosts=request.hosts,
        channels=None
        if request.channels is None
        else {name: _plain(address) for name, address in request.channels.items()},
        signing=_plain(request.signing_secret),
    )
    with deps.db.tenant(caller.tenant_id) as tx:
        destinations.put(tx, deps.settings, caller.tenant_id, changes, by=author(caller).name)
        return destinations.view(tx, deps.settings, caller.tenant_id)


@router.get("/tenant/secrets", operation_id="listSecrets", responses=answers(SecretPage))
def get_secrets(deps: Deps, caller: Reader, after: After = None, limit: WholeLimit = paging.MOST) -> Json:
    """List the secrets that webhook headers may reference, without their values."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return paging.cut(secrets.all_of(tx, "header"), methodcaller("as_json"), attrgetter("name"), after, limit)


@router.get("/tenant/secrets/{name}", operation_id="getSecret", responses=answers(Secret))
def get_secret(deps: Deps, caller: Reader, name: SecretName) -> Json:
    """Return when and by whom a secret was stored; its value is never shown."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return secrets.get(tx, "header", name).as_json()


@router.put("/tenant/secrets/{name}", operation_id="putSecret", responses=answers(Secret))
def put_secret(deps: Deps, caller: Admin, name: SecretName, request: SecretPut) -> Json:
    """Store a secret, replacing one of the same name; rules reference it as `{"secret": "…"}`."""
    value, by = request.value.get_secret_value(), author(caller).name
    with deps.db.tenant(caller.tenant_id) as tx:
        return destinations.put_secret(tx, deps.settings, caller.tenant_id, name, value, request.hosts, by=by).as_json()


@router.delete("/tenant/secrets/{name}", status_code=204, operation_id="deleteSecret")
def delete_secret(deps: Deps, caller: Admin, name: SecretName) -> Response:
    """Delete a secret; webhooks that reference it fail with that reason from now on."""
    with deps.db.tenant(caller.tenant_id) as tx:
        secrets.delete(tx, "header", name)
    return Response(status_code=204)


@router.get("/tenant", operation_id="getTenant", responses=answers(Tenant))
def get_tenant(deps: Deps, caller: Reader) -> Json:
    """Return the tenant of the key."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return _json(caller, allows=tenants.allows_high_risk(tx, caller.tenant_id))


@router.patch("/tenant", operation_id="changeTenant", responses=answers(Tenant))
def patch_tenant(deps: Deps, caller: Admin, patch: TenantPatch) -> Json:
    """Allow or forbid high-risk rules to run without approval; every router applies it within a second."""
    with deps.db.tenant(caller.tenant_id) as tx:
        tenants.allow_high_risk(tx, caller.tenant_id, allowed=patch.allow_high_risk)
    return _json(caller, allows=patch.allow_high_risk)


@router.get("/tenant/limits", operation_id="getLimits", responses=answers(LimitsInForce))
def get_limits(deps: Deps, caller: Reader) -> Json:
    """Return the effective limits of the tenant, those granted by the operator, and those it has set."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return limits.view(tx, caller.tenant_id, deps.settings.tenant_limits)


@router.put(
    "/tenant/limits", operation_id="putLimits", responses=answers(LimitsInForce), openapi_extra=body("ChosenLimits")
)
def put_limits(deps: Deps, caller: Admin, chosen: Json) -> Json:
    """Set limits lower than those granted; `{}` removes them. The operator raises limits on the command line."""
    with deps.db.tenant(caller.tenant_id) as tx:
        limits.choose(tx, caller.tenant_id, chosen, deps.settings.tenant_limits)
        return limits.view(tx, caller.tenant_id, deps.settings.tenant_limits)


@router.get("/tenant/extraction", operation_id="getExtractionSettings", responses=answers(ExtractionSettings))
def get_extraction(deps: Deps, caller: Reader) -> Json:
    """Return the importance below which extracted statements are not kept, and how certain an ending must be."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return extraction.view(tx, caller.tenant_id)


@router.put("/tenant/extraction", operation_id="putExtractionSettings", responses=answers(ExtractionSettings))
def put_extraction(deps: Deps, caller: Admin, request: ExtractionPut) -> Json:
    """Set the importance below which extracted statements are not kept, and how certain an ending must be.

    The next extraction applies both.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        extraction.put(tx, caller.tenant_id, ExtractionChoice(request.min_importance, request.min_certainty))
        return extraction.view(tx, caller.tenant_id)


@router.get("/tenant/clock", operation_id="getClockSettings", responses=answers(ClockSettings))
def get_clock(deps: Deps, caller: Reader) -> Json:
    """Return the time zone of users for whom none was set; null: UTC."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return {"time_zone": speaker_clocks.of_tenant(tx)}


@router.put("/tenant/clock", operation_id="putClockSettings", responses=answers(ClockSettings))
def put_clock(deps: Deps, caller: Admin, request: ClockPut) -> Json:
    """Set the time zone of users for whom none was set: for times that come in UTC."""
    with deps.db.tenant(caller.tenant_id) as tx:
        speaker_clocks.put_of_tenant(tx, caller.tenant_id, request.time_zone)
    return {"time_zone": request.time_zone}


@router.get("/tenant/retention", operation_id="getRetention", responses=answers(RetentionInForce))
def get_retention(deps: Deps, caller: Reader) -> Json:
    """Return how long everything is kept, how much is due to leave at the next sweep, and how much has left.

    Counts of `due` end at 100,000. What there is work on stays until that is done.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        return _retention_json(tx, retention.get(tx, caller.tenant_id))


@router.put("/tenant/retention", operation_id="putRetention", responses=answers(RetentionInForce))
def put_retention(
    deps: Deps,
    caller: Admin,
    chosen: Retention,
    dry_run: Annotated[bool, Query(description="Only answer how much would leave; nothing is set")] = False,
) -> Json:
    """Set how long everything is kept; what is left out is kept for ever. `due` says what leaves at the next sweep."""
    with deps.db.tenant(caller.tenant_id) as tx:
        if dry_run:
            retention.check(chosen)
        else:
            retention.put(tx, caller.tenant_id, chosen)
        return _retention_json(tx, chosen) | {"dry_run": dry_run}


@router.get("/tenant/embedding", operation_id="getEmbedding", responses=answers(EmbeddingSettings))
def get_embedding(deps: Deps, caller: Reader) -> Json:
    """Return the embedding model of the tenant and those it may choose; during a change also how far it is."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return embedding_change.view(tx, caller.tenant_id, deps.settings)


@router.put(
    "/tenant/embedding",
    status_code=202,
    operation_id="putEmbedding",
    responses=answers(EmbeddingSettings, 202, refusals=(409,)),
)
def put_embedding(deps: Deps, caller: Admin, request: EmbeddingPut) -> Json:
    """Choose the embedding model. Workers make its vectors, and it takes over when all of them are there.

    Until then everything works with the old ones. The current model gives up a change that is under way.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        requested = embedding_change.request(tx, caller.tenant_id, deps.settings, request.model)
        embedding = embedding_change.view(tx, caller.tenant_id, deps.settings)
    if requested:
        deps.bell.notify()
    return embedding


def _retention_json(tx: Tx, chosen: Retention) -> Json:
    return {"retention": chosen.model_dump(), "due": forecast.count_due(tx, chosen), "removed": expiries.counts(tx)}


def _plain(given: SecretStr | None) -> str | None:
    return None if given is None else given.get_secret_value().strip()


def _json(caller: Caller, *, allows: bool) -> Json:
    return {"id": caller.tenant_id, "allow_high_risk": allows}
