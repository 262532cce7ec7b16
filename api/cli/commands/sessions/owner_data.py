"""Exporting and erasing everything stored about a user or a group: what `imprint user` and `imprint group` share."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import quote

import typer

from api.cli.client import call, finish_if_json, open_client
from api.cli.confirming import Unconfirmed
from api.terminal import err, out
from core import deferred
from core.config import Settings
from core.errors import ImprintError

Kind = Literal["user", "group"]

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
Scrub = Annotated[bool, typer.Option("--scrub", help="Then rewrite the database files, as `imprint db scrub` does.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="File to write; default: ID.imprint.zip.")]
RawTexts = Annotated[bool, typer.Option("--raw", help="Texts as they were sent, with secrets; needs the scope `raw`.")]

UNCONFIRMED: Final = "Nothing was erased. Answer with the name, or give `--yes`."


class Exists(ImprintError, kind="Already there"):
    """The file is there already."""


def export(kind: Kind, name: str, output: Path | None, *, raw: bool, as_json: bool) -> None:
    """Write the archive of a user or a group to a file. Exists: there is one."""
    target = output or Path(f"{re.sub(r'[^A-Za-z0-9._-]', '_', name).lstrip('.') or kind}.imprint.zip")
    if target.exists():
        raise Exists(f"{target} is there already. Remove it, or name another file with `-o`.")
    part = target.with_name(f"{target.name}.part")
    try:
        with open_client() as client, part.open("wb") as file:
            length = client.download(f"/v1/{kind}s/{quote(name, safe='')}/export", file, raw=raw)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    finish_if_json(as_json, {"path": str(target), "bytes": length})
    out.print(f"{target}: {length:,} bytes.", highlight=False, markup=False)


def erase(kind: Kind, name: str, *, yes: bool, scrub: bool, as_json: bool) -> None:
    """Erase a user or a group, and print the receipt. Unconfirmed: the name was not typed again."""
    if not yes:
        _confirm(name)
    receipt = call("delete", f"/v1/{kind}s/{quote(name, safe='')}")
    if scrub:
        deferred.load("api.cli.commands.host.scrub:scrub_all")(Settings())
    finish_if_json(as_json, receipt)
    body = receipt["receipt"]
    out.print(f"Erased at {body['at']}, receipt {body['id']}.", highlight=False)
    for table, rows in body["counts"].items():
        out.print(f"  {rows:>9,} {table}", highlight=False)
    if not scrub:
        err.print("What was deleted stays on the disk until `imprint db scrub` has run.", highlight=False)


def _confirm(name: str) -> None:
    """Ask for the name again. Unconfirmed: it differs, or there is no terminal."""
    if not sys.stdin.isatty():
        raise Unconfirmed(UNCONFIRMED)
    answer = typer.prompt(f"Erase everything that is held of {name!r}? This cannot be undone. Type the name", err=True)
    if answer != name:
        raise Unconfirmed(UNCONFIRMED)
