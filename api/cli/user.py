"""`imprint user`: the profile of a user, exporting and erasing everything stored about them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import quote

import typer

from api.cli import lazy
from api.cli.client import AsJson, finish_if_json, moment, open_client, read
from api.cli.lazy import CommandTable, LazyGroup
from api.terminal import err, escape, out
from core import deferred
from core.config import Settings
from core.errors import ImprintError


class UserCommands(LazyGroup):
    """Commands about a user; the one that needs cryptography is loaded on first call."""

    table: ClassVar[CommandTable] = {
        "verify-receipt": (
            "api.cli.receipts:verify_receipt",
            "Check a receipt's signature: with the server's key, or with one that you have kept.",
        )
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
Fresh = Annotated[bool, typer.Option("--fresh", help="Rebuild the profile now.")]


class Unconfirmed(ImprintError, kind="Not confirmed"):
    """Nothing was erased. Answer with the user's name, or give `--yes`."""


class Exists(ImprintError, kind="Already there"):
    """The file is there already."""


@commands.command("profile")
def profile(user: str, fresh: Fresh = False, as_json: AsJson = False) -> None:
    """Show the profile of a user by section; with `--json`, each entry has its memories.

    Example: imprint user profile ada --fresh
    """
    found = finish_if_json(as_json, read(f"/v1/users/{quote(user, safe='')}/profile", fresh=fresh))
    out.print(f"[bold]{escape(user)}[/] [dim]version {found['version']}, {moment(found['built_at'])}[/]")
    for name, value in found["attributes"].items():
        out.print(f"[cyan]{escape(name)}[/]", highlight=False)
        for line in _entries(value):
            out.print(f"  {escape(line)}", soft_wrap=True, highlight=False)


def _entries(value: Any, name: str = "") -> Iterator[str]:
    """Yield the lines of a profile section, one for each value or statement."""
    if isinstance(value, dict) and ("value" in value or "content" in value):
        said = value.get("content") or value["value"]
        yield f"{name}: {said}" if name else str(said)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                yield from _entries(inner, f"{name}.{key}".strip("."))
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict | list):
                yield from _entries(inner, name)
            else:
                yield f"{name}: {inner}" if name else str(inner)


@commands.command("export")
def export(user: str, output: Output = None, raw: RawTexts = False) -> None:
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
    out.print(f"{target}: {length:,} bytes.", highlight=False, markup=False)


@commands.command("erase")
def erase(user: str, yes: Yes = False, scrub: Scrub = False, as_json: AsJson = False) -> None:
    """Erase a user permanently: messages, memories, files and the log. The answer is a signed receipt.

    Example: imprint user erase ada --yes --json > receipt.json
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
