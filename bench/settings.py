"""`python -m bench.settings > docs/settings.md`: the table of settings, from the one class that holds them."""

from __future__ import annotations

import re
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from core.config import Settings

HEAD = """# Settings

Each is an environment variable, a line of `.env`, or (in small letters, without `IMPRINT_`) a line of `imprint.toml` in
the folder where the process starts; the environment wins over `.env`, and that over `imprint.toml`. All processes of
one installation want the same values. This table is made by `python -m bench.settings > docs/settings.md`.

| setting | default | values | meaning |
| --- | --- | --- | --- |
"""


def table() -> str:
    """The whole page."""
    return HEAD + "".join(_row(name, field) for name, field in Settings.model_fields.items())


def _row(name: str, field: FieldInfo) -> str:
    return f"| `IMPRINT_{name.upper()}` | {_default(field.default)} | {_values(field)} | {field.description} |\n"


def _default(value: Any) -> str:
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    return "–" if value in (None, "") else f"`{value}`"


def _values(field: FieldInfo) -> str:
    """What may stand there, in words."""
    kind = str(field.annotation)
    if "Literal" in kind:
        choices = re.findall(r"'(\w+)'", kind)
        return ", ".join(f"`{choice}`" for choice in choices)
    words = {
        "list[": "JSON list",
        "dict[": "JSON object",
        "SecretStr": "text, kept secret",
        "HttpUrl": "URL",
        "Path": "folder",
        "int": "whole number",
        "float": "number",
    }
    return next((word for part, word in words.items() if part in kind), "text")


if __name__ == "__main__":
    print(table(), end="")
