"""`imprint tenant`: allowed destinations of a tenant's rules, secrets of its webhooks, and moving it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from api.cli import lazy, tables
from api.cli.client import AsJson, call, finish_if_json, moment, open_client, read
from api.cli.tables import Column
from api.terminal import err, escape
from core.errors import ImprintError
from core.types import Json

commands = lazy.group(
    "Settings of a tenant: webhooks, channels, secrets; moving it to another cell.",
    {
        "copy": (
            "api.cli.commands.tenant.moving:copy",
            "Copy a tenant to another cell, compare both sides, and leave it frozen here; see docs/operations.md.",
        ),
        "remove": (
            "api.cli.commands.tenant.moving:remove",
            "Delete the rows of a tenant that was copied to another cell.",
        ),
        "limits": (
            "api.cli.commands.tenant.limits:limits",
            "Show the limits of a tenant, or grant it others than the defaults of the installation.",
        ),
        "retention": (
            "api.cli.commands.tenant.retention:retention",
            "Show how long messages, sessions, events and dispatches are kept, or change it.",
        ),
    },
)
webhooks = lazy.group("Allowed destinations of rules.\n\nExample: imprint tenant webhooks show")
secrets = lazy.group(
    "Secrets for webhook headers.\n\nExample: imprint tenant secrets list",
    {
        "reseal": (
            "api.cli.commands.tenant.rekey:reseal",
            "Encrypt all secrets of all tenants with the first key of IMPRINT_SECRETS_KEY; then the other keys may go.",
        )
    },
)
commands.add_typer(webhooks, name="webhooks")
commands.add_typer(secrets, name="secrets")
lazy.add_placeholders(commands)

Hosts = Annotated[
    list[str] | None,
    typer.Option("--host", help="A host to allow: hooks.example.com, http://10.0.0.7:9000. Repeatable."),
]
NoHosts = Annotated[list[str] | None, typer.Option("--no-host", help="A host to remove. Repeatable.")]
Channels = Annotated[
    list[str] | None, typer.Option("--channel", help="A channel with its address: ops=https://… Repeatable.")
]
NoChannels = Annotated[list[str] | None, typer.Option("--no-channel", help="A channel to remove. Repeatable.")]
Signing = Annotated[
    bool, typer.Option("--signing-secret", help="Read the signing secret (`whsec_…`) from standard input.")
]
SecretHosts = Annotated[
    list[str] | None,
    typer.Option("--host", help="The only host to which it may be sent. Repeatable; without it: as before, or all."),
]
Name = Annotated[str, typer.Argument(help="Name by which rules reference it: a-z, 0-9 and _ . -")]


class NoValue(ImprintError):
    """No value was given: write it to standard input, as in `imprint tenant secrets set NAME < file`."""


@webhooks.command("show")
def show_webhooks(as_json: AsJson = False) -> None:
    """Show the allowed destinations of the tenant's rules; addresses of channels are masked.

    Example: imprint tenant webhooks show
    """
    _show(read("/v1/tenant/webhooks"), as_json=as_json)


@webhooks.command("set")
def set_webhooks(
    host: Hosts = None,
    no_host: NoHosts = None,
    channel: Channels = None,
    no_channel: NoChannels = None,
    signing_secret: Signing = False,
    as_json: AsJson = False,
) -> None:
    """Allow hosts, set channels and the signing secret; requires a key with the scope `admin`.

    Example: imprint tenant webhooks set --host hooks.example.com
    """
    with open_client() as client:
        now = client.get("/v1/tenant/webhooks")
        body: Json = {}
        if host or no_host:
            hosts = dict.fromkeys([*now["hosts"], *(host or [])])
            body["hosts"] = [name for name in hosts if name not in (no_host or [])]
        if channel or no_channel:
            body["channels"] = _channels(now["own_channels"], channel or [], no_channel or [])
        if signing_secret:
            body["signing_secret"] = _from_stdin("The signing secret: ")
        answer = client.put("/v1/tenant/webhooks", body)
    _show(answer, as_json=as_json)


@secrets.command("list")
def list_secrets(as_json: AsJson = False) -> None:
    """List secrets without their values.

    Example: imprint tenant secrets list
    """
    items = finish_if_json(as_json, read("/v1/tenant/secrets"))["items"]
    columns = [Column(name, flexible=name == "by") for name in ("name", "value", "stored", "by")]
    rows = (
        [secret["name"], secret["value"], moment(secret["updated_at"])[:16], secret["updated_by"]] for secret in items
    )
    tables.listed(columns, rows, "There is no secret; `imprint tenant secrets set NAME < FILE` stores one.")


@secrets.command("set")
def set_secret(name: Name, host: SecretHosts = None, as_json: AsJson = False) -> None:
    """Store a secret; its value is read from standard input and so does not appear in the shell history.

    Example: imprint tenant secrets set crm-token --host hooks.example.com < token.txt
    """
    value = _from_stdin(f"The value of {name}: ")
    finish_if_json(
        as_json, call("put", f"/v1/tenant/secrets/{name}", {"value": value} | ({"hosts": host} if host else {}))
    )
    err.print(f'Stored. A rule names it as {{"secret": "{escape(name)}"}}.', highlight=False)


@secrets.command("delete")
def delete_secret(name: Name, as_json: AsJson = False) -> None:
    """Delete a secret; webhooks that reference it fail from now on.

    Example: imprint tenant secrets delete crm-token
    """
    finish_if_json(as_json, call("delete", f"/v1/tenant/secrets/{name}"))
    err.print(f"Deleted {escape(name)}.", highlight=False)


lazy.add_placeholders(secrets)


def _channels(own: list[str], added: list[str], removed: list[str]) -> Json:
    """Return all channels the tenant will have; null keeps an address."""
    pairs = [channel.partition("=") for channel in added]
    if any(not address for _, _, address in pairs):
        raise typer.BadParameter("write a channel as NAME=ADDRESS, such as ops=https://hooks.example.com/T0")
    kept: Json = {name: None for name in own if name not in removed}
    return kept | {name: address for name, _, address in pairs}


def _from_stdin(prompt: str) -> str:
    value = typer.prompt(prompt, hide_input=True, prompt_suffix="") if sys.stdin.isatty() else sys.stdin.read()
    if not value.strip():
        raise NoValue
    return str(value).strip()


def _show(answer: Json, *, as_json: bool) -> None:
    finish_if_json(as_json, answer)
    channels = "\n".join(f"{name}: {address}" for name, address in answer["channels"].items())
    tables.fields(
        [
            ("tenant", answer["tenant"]),
            ("hosts", "\n".join(answer["hosts"]) or "none"),
            ("may be chosen from", "\n".join(answer["may_use"]) or "none: IMPRINT_WEBHOOK_HOSTS is empty"),
            ("channels", channels or "log alone"),
            ("queues", "\n".join(answer["queues"]) or "none"),
            ("signed", "yes" if answer["signed"] else "no: set a signing secret"),
        ]
    )
