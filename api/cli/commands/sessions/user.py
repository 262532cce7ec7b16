"""`imprint user`: the profile of a user, exporting and erasing everything stored about them."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import quote

import typer

from api.cli import lazy
from api.cli.client import AsJson, finish_if_json, open_client, read
from api.cli.commands.sessions import owner_data, profile
from api.cli.commands.sessions.owner_data import Output, RawTexts, Scrub, Yes
from api.terminal import out

TimeZone = Annotated[str | None, typer.Option(metavar="ZONE", help="IANA name, such as Europe/Lisbon; UTC unsets it.")]
UTC: Final = "UTC"


commands = lazy.group(
    "A user: profile, people, export, erasure, receipts.",
    {
        "people": (
            "api.cli.commands.sessions.people:people",
            "The people whom a user speaks of, under all their names.",
        ),
        "about": (
            "api.cli.commands.sessions.people:about",
            "All that is remembered of somebody, by whatever name it was said.",
        ),
        "same": ("api.cli.commands.sessions.people:same", "Decide that several names are one person's."),
        "apart": ("api.cli.commands.sessions.people:apart", "Decide that a name is another person's."),
        "receipt": ("api.cli.commands.sessions.receipts:receipt", "Print a stored receipt as JSON, as it was signed."),
        "verify-receipt": (
            "api.cli.commands.sessions.receipts:verify_receipt",
            "Check a receipt's signature: with the server's key, or with one that you have kept.",
        ),
    },
)

commands.command("profile", help=profile.OF_USER)(profile.of_user)


@commands.command("settings")
def settings(user: str, time_zone: TimeZone = None, as_json: AsJson = False) -> None:
    """Show the settings of a user, or set the time zone by which "today" and "yesterday" are understood.

    Example: imprint user settings ada --time-zone Europe/Lisbon
    """
    path = f"/v1/users/{quote(user, safe='')}/settings"
    if time_zone is None:
        answer = read(path)
    else:
        with open_client() as client:
            answer = client.put(path, {"time_zone": None if time_zone == UTC else time_zone})
    finish_if_json(as_json, answer)
    out.print(f"time zone: {answer['time_zone'] or UTC}", highlight=False)


@commands.command("export")
def export(user: str, output: Output = None, raw: RawTexts = False, as_json: AsJson = False) -> None:
    """Write all that is stored of a user to an archive (zip of JSON lines); see docs/imports.md.

    Example: imprint user export ada -o ada.zip
    """
    owner_data.export("user", user, output, raw=raw, as_json=as_json)


@commands.command("erase")
def erase(user: str, yes: Yes = False, scrub: Scrub = False, as_json: AsJson = False) -> None:
    """Erase a user permanently: messages, memories, files and the log. The answer is a signed receipt.

    Example: imprint user erase ada --yes --json
    """
    owner_data.erase("user", user, yes=yes, scrub=scrub, as_json=as_json)


lazy.add_placeholders(commands)
