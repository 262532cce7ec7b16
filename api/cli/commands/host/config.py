"""`imprint config`: check and show the settings."""

from __future__ import annotations

import os

import typer
from pydantic import SecretStr

from api.cli import lazy
from api.cli.client import AsJson, finish_if_json, show_json
from api.terminal import escape, out, say
from core import config
from core.config import Settings
from core.errors import Misconfigured
from core.extraction import extractor_setting
from core.inference import configured_embedder
from core.settings import faults as settings_faults
from core.types import Json

commands = lazy.group("Check and show the settings.")


@commands.command("check")
def check(as_json: AsJson = False) -> None:
    """Check the environment, `.env` and `imprint.toml`; exit code 1 if the service would not start with them.

    Example: imprint config check
    """
    errors, warnings = faults()
    if as_json:
        show_json({"well": not errors, "errors": errors, "warnings": warnings})
    else:
        for label, colour, sentences in (("Error", "red", errors), ("Warning", "yellow", warnings)):
            for sentence in sentences:
                say(f"[{colour}]{label}:[/] {escape(sentence)}")
        if not errors and not warnings:
            out.print("The settings are right.")
    if errors:
        raise typer.Exit(1)


@commands.command("show")
def show(as_json: AsJson = False) -> None:
    """Show every setting with its value and source; secret values are masked.

    Example: imprint config show --json
    """
    settings = Settings()
    items = [_item(settings, name) for name in Settings.model_fields]
    finish_if_json(as_json, {"items": items, "next": None})
    for item in items:
        source = item["source"]
        mark = "dim" if source == "default" else "bold"
        text = "–" if item["value"] is None else str(item["value"])
        say(f"[{mark}]{item['name']}[/] = {escape(text)} [dim]{source}[/]")


def faults() -> tuple[list[str], list[str]]:
    """Return one sentence for each fault that prevents the service from starting, and for each suspicious setting."""
    try:
        settings, errors = Settings(), list[str]()
        warnings = config.unknown()
    except Misconfigured as error:
        return error.detail.splitlines(), []
    for require in (extractor_setting.require, configured_embedder.require_model):
        try:
            require(settings)
        except Misconfigured as error:
            errors.append(error.detail)
    return errors, warnings


def _item(settings: Settings, name: str) -> Json:
    source = settings_faults.origin(name) if name in settings.model_fields_set else None
    variable = f"{settings_faults.PREFIX}{name.upper()}"
    return {"name": variable, "value": _value(settings, name), "source": source or "default"}


def _value(settings: Settings, name: str) -> object:
    """Return the value as JSON, with secrets masked."""
    value = getattr(settings, name)
    if isinstance(value, SecretStr):
        return settings_faults.MASK if value.get_secret_value() else None
    if name in settings_faults.HIDDEN and value:
        return dict.fromkeys(value, settings_faults.MASK)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list):
        return [str(entry) for entry in value]
    return settings_faults.URL_LOGIN.sub(
        f"{settings_faults.MASK}@", os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    )
