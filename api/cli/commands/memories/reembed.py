"""`imprint memory reembed`: compute the vectors of another embedding model while the current ones are in use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from sqlalchemy import create_engine

from api.cli import database
from api.cli.client import AsJson, finish_if_json
from api.cli.commands.memories import tenant_embedding
from api.terminal import err, out, say
from core.config import Settings
from core.errors import ImprintError
from core.index import reembedding
from core.inference.configured_embedder import embedder, require_model
from core.inference.embedders import CachedEmbedder, Embedder
from core.inference.embedding_model import identity
from core.storage import db, vector_spaces
from core.storage.db import Database, Tx
from core.storage.vector_spaces import EmbeddingModel
from core.tenancy import embedding

Tenant = Annotated[str | None, typer.Option(help="Change the model of this tenant alone; with --to.")]
To = Annotated[
    str | None, typer.Option(metavar="MODEL", help="The tenant's model: english, multilingual or the installation's.")
]
Finish = Annotated[bool, typer.Option("--finish", help="All processes run with the new model: delete the old vectors.")]


class NothingToFinish(ImprintError):
    """Vectors of only one model exist."""


def reembed(finish: Finish = False, tenant: Tenant = None, to: To = None, as_json: AsJson = False) -> None:
    """Compute vectors with the model that IMPRINT_EMBEDDING names, next to those in use.

    Searching and writing continue. Afterwards restart every process with that setting, one after another, and run this
    command with --finish. Tenants with a model of their own keep it.

    With --tenant and --to, workers change the model of one tenant, and no process is restarted.

    Example: IMPRINT_EMBEDDING=openai imprint memory reembed
    """
    settings = Settings()
    if tenant is not None or to is not None:
        if tenant is None or to is None or finish:
            raise typer.BadParameter("give --tenant and --to together, without --finish: such a change ends by itself")
        finish_if_json(as_json, tenant_embedding.change(settings, tenant, to, quiet=as_json))
        return
    require_model(settings)
    model, makes = EmbeddingModel(*identity(settings)), embedder(settings)
    space, free = _take_place(settings, model)
    if free:
        # A process that went on with the model of an earlier change has left vectors there, which would be compared.
        _clear(settings, space)
    with database.of_tenants(settings, vector_spaces.SCHEMAS[space]) as pool:
        made = _fill(settings, pool, makes)
    finish_if_json(as_json and not finish, {"made": made, "model": str(model)})
    if not as_json:
        out.print(f"{made:,} vectors by {model} made.", highlight=False)
    if finish:
        removed, old = _finish(settings, space)
        finish_if_json(as_json, {"made": made, "model": str(model), "removed": removed, "old_model": str(old)})
        out.print(f"{removed:,} vectors by {old} removed.", highlight=False)
    else:
        instruction = f"Restart every process with IMPRINT_EMBEDDING={settings.embedding}, then: imprint memory reembed"
        say(f"{instruction} --finish")


@contextmanager
def _owner(settings: Settings) -> Iterator[Tx]:
    engine = create_engine(db.owner_url(settings))
    try:
        with engine.begin() as tx:
            yield tx
    finally:
        engine.dispose()


def _take_place(settings: Settings, model: EmbeddingModel) -> tuple[str, bool]:
    """Return the model's vector space, and whether it was unused until now."""
    with _owner(settings) as tx:
        free = vector_spaces.of(tx, model) is None
        return vector_spaces.reserve(tx, model), free


def _fill(settings: Settings, pool: Database, makes: Embedder) -> int:
    cached = CachedEmbedder(makes)
    columns = (SpinnerColumn(), TextColumn("{task.completed:,} vectors"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("vectors", total=None)

        def advance(count: int) -> None:
            progress.advance(task, count)

        return sum(reembedding.fill(pool, tenant, cached, advance) for tenant in _tenants(settings, pool))


def _finish(settings: Settings, mine: str) -> tuple[int, EmbeddingModel]:
    """Make the old vectors invisible, then delete them; return how many, and their model."""
    old = next(space for space in vector_spaces.NAMES if space != mine)
    with _owner(settings) as tx:
        model = vector_spaces.release(tx, old)
    if model is None:
        raise NothingToFinish("Vectors of only one model exist, so there is nothing to finish.")
    return _clear(settings, old), model


def _clear(settings: Settings, space: str) -> int:
    """Remove every tenant's vectors from a vector space; return how many."""
    with database.of_tenants(settings, vector_spaces.SCHEMAS[space]) as pool:
        return sum(reembedding.clear(pool, tenant) for tenant in _tenants(settings, pool))


def _tenants(settings: Settings, pool: Database) -> Iterator[str]:
    """Yield the tenants that have the model of the installation: both columns of the others are their own."""
    for name in database.tenant_names(settings):
        with pool.tenant(name) as tx:
            own = embedding.read(tx, name)
        if own is None:
            yield name
