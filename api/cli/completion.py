"""`imprint completion`: what a shell needs to complete commands, options, and names that the service knows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer
from typer.completion import get_completion_script  # type: ignore[attr-defined]

from api.cli.client import open_client
from core.errors import ImprintError

SECONDS = 1.0
"""Longest wait for names: nobody waits longer for a completion."""

Shell = Literal["bash", "zsh", "fish"]


def completion(shell: Annotated[Shell, typer.Argument(help="The shell that reads the script.")]) -> None:
    """Print a script that completes commands, options, formats, and names of rules and prompts.

    bash: add `eval "$(imprint completion bash)"` to ~/.bashrc. zsh: the same with `zsh` in ~/.zshrc, after compinit.
    fish: imprint completion fish > ~/.config/fish/completions/imprint.fish

    Example: eval "$(imprint completion bash)"
    """
    sys.stdout.write(get_completion_script(prog_name="imprint", complete_var="_IMPRINT_COMPLETE", shell=shell) + "\n")


def rules(incomplete: str) -> list[str]:
    """Return names of rules in force for a shell; none if the service does not answer."""
    return _names("/v1/rules", "name", incomplete)


def prompts(incomplete: str) -> list[str]:
    """Return names of prompts for a shell."""
    return _names("/v1/tenant/prompts", "name", incomplete)


def sessions(incomplete: str) -> list[str]:
    """Return the sessions that were active last for a shell."""
    return _names("/v1/sessions", "id", incomplete)


def one_of(values: Any) -> Callable[[str], list[str]]:
    """Return the completion of a fixed list."""

    def complete(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return complete


def _names(path: str, field: str, incomplete: str) -> list[str]:
    try:
        with open_client(SECONDS) as client:
            items = client.get(path)["items"]
    except ImprintError:
        return []
    return [str(item[field]) for item in items if str(item[field]).startswith(incomplete)]
