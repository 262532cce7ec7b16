"""Where a release comes from: an in-toto statement with SLSA provenance, signed in a DSSE envelope."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from google.protobuf.json_format import MessageToDict
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

from deploy.release.failures import ReleaseFailed
from deploy.release.hashes import sha256

if TYPE_CHECKING:
    from deploy.release.build import Source

SUMS: Final = "SHA256SUMS"
STATEMENT: Final = "provenance.intoto.json"
PAYLOAD: Final = "application/vnd.in-toto+json"
PREDICATE: Final = "https://slsa.dev/provenance/v1"
BUILD_TYPE: Final = "urn:imprint:release:v1"


def sign(
    folder: Path, files: Mapping[str, str], source: Source, locks: Mapping[str, str], key: Path, started: datetime
) -> None:
    """Write the statement about `files` (SHA-256 by name), signed with a private key in PEM."""
    signer = CryptoSigner(load_pem_private_key(key.read_bytes(), None))  # type: ignore[arg-type]
    subjects = [ResourceDescriptor(name=name, digest={"sha256": digest}).pb for name, digest in files.items()]
    predicate = _predicate(source, locks, signer.public_key.keyid, started)
    statement = Statement(subjects, PREDICATE, predicate)
    statement.validate()
    payload = json.dumps(MessageToDict(statement.pb), sort_keys=True).encode()
    envelope = Envelope(payload, PAYLOAD, {})
    envelope.sign(signer)
    (folder / STATEMENT).write_text(json.dumps(envelope.to_dict()) + "\n")


def verified(folder: Path, key: Path) -> list[str]:
    """Return the names of the files that the signed statement vouches for.

    Raises ReleaseFailed: the signature is not of this key, or a file is missing, changed or not named.
    """
    statement = _statement(folder, key)
    expected = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    present = {path.name for path in folder.iterdir()} - {SUMS, STATEMENT}
    if present != set(expected):
        raise ReleaseFailed(f"Files differ from the statement: {', '.join(sorted(present ^ set(expected)))}.")
    changed = [name for name, digest in expected.items() if sha256(folder / name) != digest]
    if changed:
        raise ReleaseFailed(f"Changed since they were signed: {', '.join(sorted(changed))}.")
    return sorted(expected)


def tag_of(folder: Path, key: Path) -> str | None:
    """Return the tag that a verified release was built from; None: of a snapshot."""
    statement = _statement(folder, key)
    tag: str | None = statement["predicate"]["buildDefinition"]["externalParameters"].get("tag")
    return tag


def _statement(folder: Path, key: Path) -> dict:
    try:
        envelope = Envelope.from_dict(json.loads((folder / STATEMENT).read_text()))
        public = SSlibKey.from_crypto(load_pem_public_key(key.read_bytes()))  # type: ignore[arg-type]
        envelope.verify([public], 1)
    except FileNotFoundError as missing:
        raise ReleaseFailed(f"{missing.filename} is missing.") from missing
    except (VerificationError, ValueError, KeyError) as fault:
        raise ReleaseFailed(f"{STATEMENT} is not signed by this key: {fault}") from fault
    statement: dict = json.loads(envelope.payload)
    if (envelope.payload_type, statement.get("predicateType")) != (PAYLOAD, PREDICATE):
        raise ReleaseFailed(f"{STATEMENT} is no provenance: {statement.get('predicateType')}")
    return statement


def _predicate(source: Source, locks: Mapping[str, str], builder: str, started: datetime) -> dict:
    locked = [{"uri": f"file:{name}", "digest": {"sha256": digest}} for name, digest in locks.items()]
    tag = {"tag": source.tag} if source.tag else {}
    return {
        "buildDefinition": {
            "buildType": BUILD_TYPE,
            "externalParameters": {"version": source.version, **tag},
            "internalParameters": {"SOURCE_DATE_EPOCH": source.time},
            "resolvedDependencies": [{"uri": "git+file:.", "digest": {"gitCommit": source.commit}}, *locked],
        },
        "runDetails": {
            "builder": {"id": f"urn:imprint:release-key:{builder}"},
            "metadata": {"startedOn": started.isoformat(), "finishedOn": datetime.now(UTC).isoformat()},
        },
    }
