"""`imprint prompts`: prompts of a tenant's own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from api.cli import completion, lazy, tables
from api.cli.client import AsJson, call, finish_if_json, moment, read
from api.cli.tables import Column
from api.terminal import err, escape, out
from core.errors import ImprintError
from core.types import Json

commands = lazy.group("Prompts of the tenant: list, show, store, preview, reset.\n\nExample: imprint prompts list")

Name = Annotated[
    str, typer.Argument(help="Name of a packaged prompt, such as judge.", autocompletion=completion.prompts)
]
File = Annotated[Path | None, typer.Argument(help="File with the prompt; default: standard input.")]


class UnreadablePrompt(ImprintError):
    """The prompt cannot be read: name a text file in UTF-8, or write the prompt to standard input."""


@commands.command("list")
def list_prompts(as_json: AsJson = False) -> None:
    """List the packaged prompts, and which of them the tenant has replaced.

    Example: imprint prompts list
    """
    items = finish_if_json(as_json, read("/v1/tenant/prompts"))["items"]
    tables.rows([Column(name) for name in ("name", "packaged", "own version", "share")], map(_row, items))


@commands.command("show")
def show_prompt(
    name: Name,
    version: Annotated[int | None, typer.Option(help="Version to show; default: the newest.")] = None,
    packaged: Annotated[bool, typer.Option("--packaged", help="Show the packaged prompt.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the text of a prompt on standard output, and its versions on standard error.

    Example: imprint prompts show judge --packaged
    """
    prompt = read(f"/v1/tenant/prompts/{name}", version=version)
    finish_if_json(as_json, prompt)
    for entry in prompt["versions"]:
        kind = "packaged again" if entry["is_reset"] else f"{entry['share']:.0%} of the sessions"
        line = (
            f"version {entry['version']}, {moment(entry['created_at'])}, {entry['author']}: {kind} {entry['comment']}"
        )
        err.print(escape(line.rstrip()), highlight=False)
    text = prompt["packaged_text"] if packaged or prompt["text"] is None else prompt["text"]
    out.print(escape(text), highlight=False, soft_wrap=True)


@commands.command("set")
def set_prompt(
    name: Name,
    file: File = None,
    share: Annotated[float, typer.Option(help="Share of the sessions that it is used for, above 0, at most 1.")] = 1.0,
    comment: Annotated[str, typer.Option(help="Why it was changed.")] = "",
    as_json: AsJson = False,
) -> None:
    """Store a new version of a prompt; requires a key with the scope `admin`.

    Example: imprint prompts set judge judge.md --share 0.2
    """
    body = {"text": _text(file), "share": share, "comment": comment}
    answer = finish_if_json(as_json, call("put", f"/v1/tenant/prompts/{name}", body))
    err.print(f"Stored. Calls with it are recorded as {escape(answer['recorded_as'])}.", highlight=False)


@commands.command("preview")
def preview_prompt(name: Name, file: File = None, as_json: AsJson = False) -> None:
    """Render a prompt with an example question, without storing it or asking the model.

    Example: imprint prompts preview judge judge.md
    """
    body = {} if file is None and sys.stdin.isatty() else {"text": _text(file)}
    answer = finish_if_json(as_json, call("post", f"/v1/tenant/prompts/{name}/preview", body))
    for title, text in (("system", answer["system"]), ("user", answer["user"])):
        out.print(f"── {title}", highlight=False)
        out.print(escape(text), highlight=False, soft_wrap=True)
    err.print(f"about {answer['estimated_tokens']:,} tokens", highlight=False)


@commands.command("reset")
def reset_prompt(name: Name, as_json: AsJson = False) -> None:
    """Use the packaged prompt again; the versions remain.

    Example: imprint prompts reset judge
    """
    finish_if_json(as_json, call("delete", f"/v1/tenant/prompts/{name}"))
    err.print(f"The packaged prompt {escape(name)} is in use again.", highlight=False)


def _row(prompt: Json) -> list[str]:
    own = "–" if prompt["version"] is None else str(prompt["version"])
    share = "" if prompt["share"] is None else f"{prompt['share']:.0%}"
    return [prompt["name"], prompt["packaged"], own, share]


def _text(file: Path | None) -> str:
    try:
        return sys.stdin.read() if file is None else file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadablePrompt from error
