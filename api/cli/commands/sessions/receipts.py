"""`imprint user verify-receipt`: verify the signature of an erasure receipt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from api.cli import file_input, ids
from api.cli.client import AsJson, finish_if_json, read
from api.terminal import escape, out
from core.errors import ImprintError
from core.memory import receipts
from core.types import Json

Key = Annotated[str | None, typer.Option("--key", help="The public key in base64; default: the server's.")]


class NotGenuine(ImprintError):
    """The signature does not match: the receipt was changed, or was signed with another key."""


def verify_receipt(file: Path, key: Key = None, as_json: AsJson = False) -> None:
    """Verify a receipt's signature with the server's key, or with one that you have stored.

    Example: imprint user verify-receipt receipt.json
    """
    receipt = _read(file)
    key = key or str(read("/v1/receipts/key")["public_key"])
    if not receipts.verify(receipt["receipt"], receipt["signature"], key):
        raise NotGenuine
    body = receipt["receipt"]
    finish_if_json(as_json, {"genuine": True, "scope": body["scope"], "at": body["at"]})
    out.print(f"Genuine: {escape(str(body['scope']))} erased at {escape(str(body['at']))}.", highlight=False)


def receipt(
    receipt_id: Annotated[
        str, typer.Argument(parser=ids.typed, metavar="RECEIPT_ID", help="Id as printed by an erasure.")
    ],
    as_json: AsJson = True,
) -> None:
    """Print a stored receipt as JSON, as it was signed.

    Example: imprint user receipt 1d5743a6
    """
    finish_if_json(as_json, ids.read("receipt", receipt_id, "/v1/receipts/{id}"))


def _read(file: Path) -> Json:
    try:
        receipt = json.loads(file_input.read(file))
    except file_input.UnreadableInput as error:
        raise NotGenuine(error.detail) from None
    except ValueError:
        receipt = None
    if not isinstance(receipt, dict) or not {"receipt", "signature"} <= receipt.keys():
        raise NotGenuine(f"{file} is not a receipt: it must be JSON with `receipt` and `signature`.")
    return receipt
