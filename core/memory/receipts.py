"""Receipts: what was erased, when and at whose request, signed so that anyone can verify it. No text, no user names.

The signature covers the body as canonical JSON (`canonical`), with Ed25519 (RFC 8032).
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.config import Settings
from core.errors import Misconfigured, NotFound
from core.memory import tombstones
from core.storage import key_files
from core.storage.db import Tx, required_row
from core.types import Json

KEY_FILE: Final = "receipt.key"
"""In the home, where the settings give no key: the private key in base64, for its owner's eyes alone."""

PENDING: Final = "can be undone"
"""State of the receipt of a request that can still be undone."""

Scope = Literal["memory", "user", "group", "request"]

MEMORY_STATEMENT: Final = (
    "The memory, what said the same and what was drawn from it were erased, with their versions, quotes, embeddings, "
    "verdicts and the words of events about them; memories that said something else as well keep the rest. "
)

STATEMENTS: Final[Mapping[str, str]] = {
    "memory": MEMORY_STATEMENT
    + "The messages that it cites, their events and what sums up the conversation (units, summaries) "
    "were not changed, and may still say it.",
    "memory with evidence": MEMORY_STATEMENT
    + "The messages that it cites have lost their text, in their events, in the index, in "
    "quotes and in what sums up the conversation (units, summaries). Other messages were not changed.",
    "request": "What a person asked in a message to have forgotten was erased: the passages in messages, in their "
    "events, in the index, in quotes and in what sums up the conversation, and the memories that said it, as far as "
    "the person disposes of them. Documents were not changed.",
    "request that can be undone": "What a person asked in a message to have forgotten was taken out of messages, their "
    "events, the index, quotes, what sums up the conversation, and memories, and nothing reads it any more. It is kept "
    "apart until `final_at`, so that the request can be undone, and erased then. Documents were not changed.",
    "undone request": "What a person asked in a message to have forgotten was brought back before it was erased for "
    "good.",
    "user": "Everything held of this user was erased: messages, memories and what was drawn from them, with versions, "
    "evidence, embeddings, profile, mirror and the log.",
    "group": "Everything held of this group was erased: what was said to it or to a part of it, documents, memories "
    "and what was drawn from them, with versions, evidence, embeddings, profile and the log. What its members said "
    "elsewhere was not changed.",
}


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt: what was erased (`body`), and its signature in base64."""

    body: Json
    signature: str

    def as_json(self) -> Json:
        return {"receipt": self.body, "signature": self.signature}


class Signer:
    """Signs receipts with one private key."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public_key = _base64(private.public_key().public_bytes_raw())
        self.key_id = key_id(self.public_key)

    def sign(self, body: Json) -> str:
        return _base64(self._private.sign(canonical(body)))


def signer(settings: Settings) -> Signer:
    """Return a signer with the key from the settings, else with that of the home, created if missing.

    Misconfigured: the key is malformed, or none can be stored in the home.
    """
    if settings.receipt_key is not None:
        return Signer(_private(settings.receipt_key.get_secret_value(), "IMPRINT_RECEIPT_KEY"))
    path = settings.home / KEY_FILE
    try:
        encoded = key_files.read_or_make(path, lambda: _base64(Ed25519PrivateKey.generate().private_bytes_raw()))
    except OSError as error:
        raise Misconfigured(
            f"Nothing can be erased because receipts cannot be signed: {path.absolute()} cannot be used "
            f"({error.strerror}). Set IMPRINT_RECEIPT_KEY (`openssl rand -base64 32` generates one)."
        ) from error
    return Signer(_private(encoded, str(path)))


def signer_of(settings: Settings) -> Signer | None:
    """Return the same signer; None where there is no key and none can be stored."""
    try:
        return signer(settings)
    except Misconfigured:
        return None


def issue(
    tx: Tx,
    tenant_id: str,
    sign: Signer,
    *,
    scope: Scope,
    subject: str,
    counts: Mapping[str, int],
    tombs: int,
    requested_by: str,
    evidence: bool = False,
    final_at: datetime | None = None,
) -> Receipt:
    """Store and return a receipt, in the transaction that erases.

    `subject`: the id of the memory, of the user or group, or of the event with the request. `evidence`: the messages
    that a memory cites lost their text, too. `final_at`: until then a request can be undone (`settle`).
    """
    body: Json = {
        "id": str(uuid7()),
        "tenant": tenant_id,
        "scope": scope,
        "subject_hash": tombstones.digest(tx, tenant_id, scope, subject),
        "counts": {table: n for table, n in sorted(counts.items()) if n},
        "tombstones": tombs,
        "at": datetime.now(UTC).isoformat(),
        "requested_by": requested_by,
        "statement": STATEMENTS["memory with evidence" if evidence else scope],
        "algorithm": "Ed25519",
        "key_id": sign.key_id,
    }
    if final_at is not None:
        body |= {
            "state": PENDING,
            "final_at": final_at.isoformat(),
            "statement": STATEMENTS["request that can be undone"],
        }
    receipt = Receipt(body, sign.sign(body))
    if not store(tx, tenant_id, receipt):
        raise RuntimeError(f"The receipt {body['id']} was not stored: there is one with its id already.")
    return receipt


def settle(
    tx: Tx, tenant_id: str, sign: Signer, *, scope: Scope, subject: str, state: Literal["final", "undone"]
) -> list[str]:
    """Sign the pending receipts of a request anew, now that it is final or undone; return their ids."""
    values = {"scope": scope, "hash": tombstones.digest(tx, tenant_id, scope, subject), "pending": PENDING}
    settled = {"state": state, "statement": STATEMENTS["request" if state == "final" else "undone request"]}
    settled |= {"settled_at": datetime.now(UTC).isoformat(), "key_id": sign.key_id}
    ids = []
    for row in tx.execute(_PENDING, values).all():
        body = {**row.body, **settled}
        tx.execute(_SETTLE, {"id": row.id, "body": json.dumps(body, ensure_ascii=False), "signature": sign.sign(body)})
        ids.append(str(row.id))
    return ids


def store(tx: Tx, tenant_id: str, receipt: Receipt) -> bool:
    """Store a receipt as it was signed; return whether it was not there, as in a restored database."""
    body = receipt.body
    values = {"tenant": tenant_id, "id": body["id"], "scope": body["scope"], "signature": receipt.signature}
    return bool(tx.execute(_KEEP, values | {"body": json.dumps(body, ensure_ascii=False)}).rowcount)


def get(tx: Tx, receipt_id: UUID) -> Receipt:
    """Return a receipt; NotFound if there is none in this tenant."""
    row = required_row(tx, _GET, {"id": receipt_id}, f"There is no receipt {receipt_id} in this tenant.")
    return Receipt(row.body, row.signature)


def of_subject(tx: Tx, tenant_id: str, scope: Scope, subject: str) -> Receipt | None:
    """Return the latest receipt for this id; None if it was never erased."""
    hashed = tombstones.digest(tx, tenant_id, scope, subject)
    row = tx.execute(_OF_SUBJECT, {"scope": scope, "hash": hashed}).first()
    return Receipt(row.body, row.signature) if row else None


def absent(tx: Tx, memory_id: UUID) -> NotFound:
    """Build the error for a missing memory; if it was erased, it names the receipt."""
    tenant_id = str(tx.execute(text("SELECT current_setting('imprint.tenant', true)")).scalar_one())
    receipt = of_subject(tx, tenant_id, "memory", str(memory_id))
    if receipt is None:
        return NotFound(f"There is no memory {memory_id} in this tenant.")
    return NotFound(f"Memory {memory_id} was erased at {receipt.body['at']}; see /v1/receipts/{receipt.body['id']}.")


def verify(body: Mapping[str, Any], signature: str, public_key: str) -> bool:
    """Return whether the signature of this body is valid for a public key; both in base64."""
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key, validate=True))
        key.verify(base64.b64decode(signature, validate=True), canonical(body))
    except (InvalidSignature, ValueError):
        return False
    return True


def canonical(body: Mapping[str, Any]) -> bytes:
    """Encode a body for its signature, always the same way: keys sorted, no spaces, UTF-8."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def key_id(public_key: str) -> str:
    """Return a short id of a public key, which receipts name."""
    return hashlib.sha256(base64.b64decode(public_key)).hexdigest()[:16]


def _private(encoded: str, where: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(key_files.decode(encoded, where, "an Ed25519 private key"))


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


_KEEP = text("""
    INSERT INTO receipts (tenant_id, id, scope, body, signature)
    VALUES (:tenant, :id, :scope, cast(:body AS jsonb), :signature) ON CONFLICT DO NOTHING
""")

_GET = text("SELECT body, signature FROM receipts WHERE id = :id")

_PENDING = text("""
    SELECT id, body FROM receipts
    WHERE scope = :scope AND body ->> 'subject_hash' = :hash AND body ->> 'state' = :pending ORDER BY id FOR UPDATE
""")

_SETTLE = text("UPDATE receipts SET body = cast(:body AS jsonb), signature = :signature WHERE id = :id")

_OF_SUBJECT = text("""
    SELECT body, signature FROM receipts WHERE scope = :scope AND body ->> 'subject_hash' = :hash
    ORDER BY id DESC LIMIT 1
""")
