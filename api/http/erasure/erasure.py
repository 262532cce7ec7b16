"""Erasing a memory, a user or a group, and the signed receipts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Final
from uuid import UUID

import structlog
from fastapi import APIRouter, Query

from api.http import retrying
from api.http.erasure.answers import ErasureRehearsal, GroupErasureRehearsal, ReceiptKey, SignedReceipt
from api.ingress import audience
from api.ingress.answers import answers
from api.ingress.dependencies import Admin, Dependencies, Deps, Reader, Writer, author
from api.ingress.large_json import Route
from core.bulk import jobs
from core.erasure import group, memory, preview, user
from core.erasure.memory import Erased
from core.errors import Conflict, Later, NotFound
from core.memory import receipts
from core.memory.receipts import Receipt, Scope
from core.mirror import export, sync_state
from core.sessions.known_owners import Kind
from core.storage.db import Tx
from core.tenancy.tenants import Caller
from core.types import Json

router = APIRouter(prefix="/v1", tags=["erasure"], route_class=Route)

log = structlog.get_logger()

WithEvidence = Annotated[bool, Query(description="Also blank the text of the cited messages")]
Rehearsal = Annotated[bool, Query(description="Only count what would be erased; nothing is, and nothing is signed")]

ERASED: Final = answers(SignedReceipt | ErasureRehearsal, refusals=(409,))


@router.delete(
    "/memories/{memory_id}", dependencies=audience.READABLE_MEMORY, operation_id="eraseMemory", responses=ERASED
)
def delete_memory(
    deps: Deps, caller: Writer, memory_id: UUID, evidence: WithEvidence = False, dry_run: Rehearsal = False
) -> Json:
    """Erase a memory permanently, with equivalent and derived memories; the answer is a signed receipt.

    Repeated: 404, which names the receipt. `dry_run`: the answer is what would be erased, as counts of rows.
    """
    if dry_run:
        return _rehearsal_json(rehearse_memory(deps, caller, memory_id, evidence=evidence))
    return erase_memory(deps, caller, memory_id, evidence=evidence)[1].as_json()


@router.delete("/users/{user_id:path}", operation_id="eraseUser", responses=ERASED)
def delete_user(deps: Deps, caller: Admin, user_id: str, dry_run: Rehearsal = False) -> Json:
    """Erase everything stored about a user permanently; the answer is a signed receipt.

    Repeated: a receipt with zero counts. 404 if nothing was ever stored about the user, so a mistyped name gets no
    receipt. `dry_run`: the answer is what would be erased, as counts of rows; of a user with many, at least so many.
    """

    def carry_out(tx: Tx) -> Erased:
        return user.erase(tx, caller.tenant_id, user_id, author(caller), deps.settings, rehearsal=dry_run)

    def count(tx: Tx) -> Erased | None:
        return preview.of_user(tx, caller.tenant_id, user_id, deps.settings)

    return _erase_owner(deps, caller, "user", user_id, carry_out, count if dry_run else None)


@router.delete(
    "/groups/{group_id:path}",
    operation_id="eraseGroup",
    responses=answers(SignedReceipt | GroupErasureRehearsal, refusals=(409,)),
)
def delete_group(deps: Deps, caller: Admin, group_id: str, dry_run: Rehearsal = False) -> Json:
    """Erase everything stored about a group permanently; the answer is a signed receipt.

    What its members said elsewhere stays. Repeated: a receipt with zero counts. 404 if nothing was ever stored about
    the group. `dry_run`: the answer is what would be erased, as counts of rows; of a large group, at least so many.
    """

    def carry_out(tx: Tx) -> Erased:
        return group.erase(tx, caller.tenant_id, group_id, author(caller))

    def count(tx: Tx) -> Erased | None:
        return preview.of_group(tx, group_id)

    return _erase_owner(deps, caller, "group", group_id, carry_out, count if dry_run else None)


@router.get("/receipts/key", operation_id="getReceiptKey", responses=answers(ReceiptKey))
def get_key(deps: Deps, _caller: Reader) -> Json:
    """Return the public key that verifies receipts."""
    sign = receipts.signer(deps.settings)
    return {"algorithm": "Ed25519", "public_key": sign.public_key, "key_id": sign.key_id}


@router.get("/receipts/{receipt_id}", operation_id="getReceipt", responses=answers(SignedReceipt))
def get_receipt(deps: Deps, caller: Reader, receipt_id: UUID) -> Json:
    """Return a receipt as it was signed."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return receipts.get(tx, receipt_id).as_json()


def erase_memory(
    deps: Dependencies, caller: Caller, memory_id: UUID, *, evidence: bool, version: int | None = None
) -> tuple[Erased, Receipt]:
    """Erase a memory, and write the receipt and the mirror. NotFound. Conflict: it is at another version."""
    carry_out = _memory_erasure(caller, memory_id, evidence=evidence, version=version)
    done, receipt = _erase(deps, caller, "memory", str(memory_id), carry_out, evidence=evidence)
    _write_mirror(deps, caller.tenant_id, done.user_id)
    return done, receipt


def rehearse_memory(
    deps: Dependencies, caller: Caller, memory_id: UUID, *, evidence: bool, version: int | None = None
) -> Erased:
    """Return what erasing a memory would do. NotFound. Conflict: it is at another version."""
    carry_out = _memory_erasure(caller, memory_id, evidence=evidence, version=version)
    return retrying.run_with_retries(deps.db, caller.tenant_id, carry_out, rehearsal=True)


def _memory_erasure(caller: Caller, memory_id: UUID, *, evidence: bool, version: int | None) -> Callable[[Tx], Erased]:

    def carry_out(tx: Tx) -> Erased:
        jobs.lock_running(tx)
        return memory.erase(tx, caller.tenant_id, memory_id, author(caller), evidence=evidence, version=version)

    return carry_out


def _erase_owner(
    deps: Dependencies,
    caller: Caller,
    what: Kind,
    name: str,
    erase: Callable[[Tx], Erased],
    count: Callable[[Tx], Erased | None] | None,
) -> Json:
    """Erase a user or a group, or count what would be erased. NotFound: nothing was ever stored about it.

    `count`: does the latter where it is too much to be erased and taken back.
    """

    def carry_out(tx: Tx) -> Erased:
        jobs.lock_running(tx)
        done = erase(tx)
        if not done.counts and receipts.of_subject(tx, caller.tenant_id, what, name) is None:
            raise NotFound(f"Nothing is stored about a {what} {name!r}, so nothing was erased. Check the name.")
        return done

    if count is not None:
        with deps.db.tenant(caller.tenant_id) as tx:
            counted = count(tx)
        if counted is None or not counted.counts:
            counted = retrying.run_with_retries(deps.db, caller.tenant_id, carry_out, rehearsal=True)
        return _rehearsal_json(counted)
    done, receipt = _erase(deps, caller, what, name, carry_out)
    for owner in done.owners:
        _write_mirror(deps, caller.tenant_id, owner)
    return receipt.as_json()


def _erase(
    deps: Dependencies,
    caller: Caller,
    what: Scope,
    subject: str,
    carry_out: Callable[[Tx], Erased],
    *,
    evidence: bool = False,
) -> tuple[Erased, Receipt]:
    """Erase and write the receipt in one transaction; retry when a concurrent write interferes."""
    sign = receipts.signer(deps.settings)

    def work(tx: Tx) -> tuple[Erased, Receipt]:
        done = carry_out(tx)
        receipt = receipts.issue(
            tx,
            caller.tenant_id,
            sign,
            scope=what,
            subject=subject,
            counts=done.counts,
            tombs=done.tombstones,
            requested_by=author(caller).name,
            evidence=evidence,
        )
        return done, receipt

    done, receipt = retrying.run_with_retries(deps.db, caller.tenant_id, work)
    deps.recent.forget(caller.tenant_id, done.sessions)
    deps.bell.notify()
    return done, receipt


def _rehearsal_json(done: Erased) -> Json:
    whose = (
        {"group_id": done.group_id, "users": len(done.owners)}
        if done.group_id is not None
        else {"user_id": done.user_id, "memory_ids": [str(memory_id) for memory_id in done.memory_ids]}
    )
    return {
        "dry_run": True,
        **whose,
        "sessions": len(done.sessions),
        "counts": {name: number for name, number in sorted(done.counts.items()) if number},
        "at_least": list(done.at_least),
    }


def _write_mirror(deps: Dependencies, tenant_id: str, user_id: str) -> None:
    """Remove the erased lines from the user's files at once; while others write them, leave it to the agent."""
    mirror = sync_state.of(deps.settings, tenant_id, user_id)
    if mirror is None:
        return
    try:
        with deps.db.tenant(tenant_id) as tx:
            written = export.write(tx, mirror, datetime.now(UTC))
    except (Conflict, Later) as error:
        log.info("mirror.later", reason=str(error))
        return
    if deps.settings.mirror_git:
        export.record(mirror, written)
