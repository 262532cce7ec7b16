"""`imprint group`: exporting and erasing everything stored about a group."""

from __future__ import annotations

from api.cli import lazy
from api.cli.client import AsJson
from api.cli.commands.sessions import owner_data
from api.cli.commands.sessions.owner_data import Output, RawTexts, Scrub, Yes

commands = lazy.group("A group: export, erasure.")


@commands.command("export")
def export(group: str, output: Output = None, raw: RawTexts = False, as_json: AsJson = False) -> None:
    """Write all that is stored of a group to an archive (zip of JSON lines); see docs/imports.md.

    Example: imprint group export crew -o crew.zip
    """
    owner_data.export("group", group, output, raw=raw, as_json=as_json)


@commands.command("erase")
def erase(group: str, yes: Yes = False, scrub: Scrub = False, as_json: AsJson = False) -> None:
    """Erase a group permanently: messages to it, memories, documents and the log. The answer is a signed receipt.

    Example: imprint group erase crew --yes --json
    """
    owner_data.erase("group", group, yes=yes, scrub=scrub, as_json=as_json)
