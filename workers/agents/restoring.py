"""Agent that restores the archive of a user."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from core.errors import Conflict, Invalid, NotFound, Problem
from core.events import publishing
from core.events.log import Cause, Emission
from core.events.pending import Effect, Reported
from core.events.publishing import Author
from core.reflection import profile
from core.reflection.profile import ProfileOwner
from core.storage.db import Tx
from core.tenancy import limits
from core.transfer import imports
from core.transfer.opened import Unreadable
from core.transfer.restoring import restorer
from core.transfer.restoring.context import Context, LineTally
from core.transfer.restoring.restorer import Restorer
from core.types import Json
from workers.dispatch.model import FollowUps, Job, Outcome
from workers.tools import Tools, id_of

TURN_SECONDS: Final = 20.0
"""Time for which one dispatch restores before it makes room for others."""

EMBEDDED: Final = 100
"""Sessions and documents whose vectors one dispatch computes."""

GONE: Final = Outcome(Reported({"import": "gone"}))


def restore_archive(tools: Tools, job: Job) -> Outcome:
    """Restore the archive that the event names, from where an earlier attempt has stopped.

    A broken archive ends the import, with the places that are wrong. One that was cancelled is left alone.
    """
    work = _begin(tools, job)
    if work is None:
        return GONE
    until = time.monotonic() + TURN_SECONDS
    try:
        is_done = work.run(lambda: time.monotonic() < until)
    except Invalid as error:
        return Outcome(Effect(partial(_fail, job, work.row, error.problems)))
    except Unreadable as error:
        return Outcome(Effect(partial(_fail, job, work.row, [Problem("", str(error))])))
    except (Conflict, NotFound):
        if _begin(tools, job) is None:  # Cancelled, or erased with its user, while it was restored.
            return GONE
        raise
    if not is_done:
        return Outcome(Reported(work.tally.as_json()), [(job.target, job.params)])
    with tools.db.tenant(job.tenant_id) as tx:
        waiting = restorer.find_unembedded(tx, work.row.user_id)
    pages = [waiting[start : start + EMBEDDED] for start in range(0, len(waiting), EMBEDDED)]
    then = [("embedding_refresher", {"sessions": page}) for page in pages]
    return Outcome(Effect(partial(_finish, job, work.row)), then, then_by_result=_follow_up)


def _begin(tools: Tools, job: Job) -> Restorer | None:
    """Mark the import as running; None: it has ended, or is gone."""
    import_id = id_of(job, "import_id")
    with tools.db.tenant(job.tenant_id) as tx:
        row = imports.begin(tx, import_id)
        allowed = limits.effective(tx, job.tenant_id, tools.settings.tenant_limits)
    if row is None:
        return None
    cause = Cause(job.event, job.id)
    context = Context(
        tools.db, tools.embedder, tools.settings, job.tenant_id, row.user_id, import_id, job.author, cause, allowed
    )
    return Restorer(context, row)


def _finish(job: Job, row: Any, tx: Tx, author: Author) -> Json:
    """End an import of which all lines are restored."""
    if not imports.finish(tx, row.id, "done", None):
        raise Conflict(f"Import {row.id} was stopped in the meantime.")
    tally = LineTally.of(row.report)
    about = {"user_id": row.user_id}
    emissions = [Emission(imports.COMPLETED, {**about, "import_id": str(row.id), "restored": dict(tally.restored)})]
    if tally.restored["memories"]:
        emissions.append(Emission("mirror.requested", about))
    publishing.publish(tx, job.tenant_id, author, emissions)
    has_profile = profile.get(tx, ProfileOwner(row.user_id)) is not None
    is_stale = has_profile and tally.restored["memories"] and not tally.restored["profile"]
    return {**tally.as_json(), "profile_is_stale": bool(is_stale)}


def _fail(job: Job, row: Any, problems: Sequence[Problem], tx: Tx, author: Author) -> Json:
    """End an import whose archive is broken."""
    imports.finish(tx, row.id, "failed", None, problems)
    payload = {"user_id": row.user_id, "import_id": str(row.id), "problems": len(problems)}
    publishing.publish(tx, job.tenant_id, author, [Emission(imports.FAILED, payload)])
    return {"import": "failed", "problems": len(problems)}


def _follow_up(done: Json) -> FollowUps:
    """Build a profile anew that stood before the memories came."""
    return [("profile_builder", {})] if done["profile_is_stale"] else []
