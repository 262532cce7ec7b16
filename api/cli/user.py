"""`imprint user`: the profile of a user, exporting and erasing everything stored about them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, ClassVar
from urllib.parse import quote

import typer

from api.cli import lazy, profile
from api.cli.client import AsJson, finish_if_json, open_client
from api.cli.lazy import CommandTable, LazyGroup
from api.terminal import err, out
from core import deferred
from core.config import Settings
from core.errors import ImprintError


class UserCommands(LazyGroup):
    """Commands about a user; those that need cryptography are loaded on first call."""

    table: ClassVar[CommandTable] = {
        "receipt": ("api.cli.receipts:receipt", "Print a stored receipt as JSON, as it was signed."),
        "verify-receipt": (
            "api.cli.receipts:verify_receipt",
            "Check a receipt's signature: with the server's key, or with one that you have kept.",
        ),
    }


commands = typer.Typer(
    cls=UserCommands,
    help="A user: profile, export, erasure, receipts.",
    no_args_is_help=True,
    add_completion=False,
)

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
Scrub = Annotated[bool, typer.Option("--scrub", help="Then rewrite the database files, as `imprint db scrub` does.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="File to write; default: ID.imprint.zip.")]
RawTexts = Annotated[bool, typer.Option("--raw", help="Texts as they were sent, with secrets; needs the scope `raw`.")]


class Unconfirmed(ImprintError, kind="Not confirmed"):
    """Nothing was erased. Answer with the user's name, or give `--yes`."""


class Exists(ImprintError, kind="Already there"):
    """The file is there already."""


commands.command("profile", help=profile.OF_USER)(profile.of_user)


@commands.command("export")
def export(user: str, output: Output = None, raw: RawTexts = False, as_json: AsJson = False) -> None:
    """Write all that is stored of a user to an archive (zip of JSON lines); see docs/transfer.md.

    Example: imprint user export ada -o ada.zip
    """
    target = output or Path(f"{re.sub(r'[^A-Za-z0-9._-]', '_', user).lstrip('.') or 'user'}.imprint.zip")
    if target.exists():
        raise Exists(f"{target} is there already. Remove it, or name another file with `-o`.")
    part = target.with_name(f"{target.name}.part")
    try:
        with open_client() as client, part.open("wb") as file:
            length = client.download(f"/v1/users/{quote(user, safe='')}/export", file, raw=raw)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    finish_if_json(as_json, {"path": str(target), "bytes": length})
    out.print(f"{target}: {length:,} bytes.", highlight=False, markup=False)


@commands.command("erase")
def erase(user: str, yes: Yes = False, scrub: Scrub = False, as_json: AsJson = False) -> None:
    """Erase a user permanently: messages, memories, files and the log. The answer is a signed receipt.

    Example: imprint user erase ada --yes --json
    """
    if not yes:
        _confirm(user)
    with open_client() as client:
        receipt = client.delete(f"/v1/users/{quote(user, safe='')}")
    if scrub:
        deferred.load("api.cli.scrub:scrub_all")(Settings())
    finish_if_json(as_json, receipt)
    body = receipt["receipt"]
    out.print(f"Erased at {body['at']}, receipt {body['id']}.", highlight=False)
    for table, rows in body["counts"].items():
        out.print(f"  {rows:>9,} {table}", highlight=False)
    if not scrub:
        err.print("What was deleted stays on the disk until `imprint db scrub` has run.", highlight=False)


lazy.add_placeholders(commands, UserCommands.table)


def _confirm(user: str) -> None:
    """Ask for the name again. Unconfirmed: it differs, or there is no terminal."""
    if not sys.stdin.isatty():
        raise Unconfirmed
    answer = typer.prompt(f"Erase everything that is held of {user!r}? This cannot be undone. Type the name", err=True)
    if answer != user:
        raise Unconfirmed
