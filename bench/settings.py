"""`python -m bench.settings > docs/settings.md`: the table of settings, from the one class that holds them."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from core.config import Settings

HEAD = """# Settings

Each is an environment variable, a line of `.env`, or (in small letters, without `IMPRINT_`, at the top of the file) a
line of `imprint.toml` in the folder where the process starts; the environment wins over `.env`, and that over
`imprint.toml`. An empty value stands for the default, and hides what a weaker source says. All processes of one
installation want the same values.

A wrong value ends every command and process with one sentence: the setting, its value (unless it is secret), where it
stands, and what is allowed. A name that no setting has is warned of. To look before anything starts:

```sh
imprint config check     # exit code 1: the service would not start
imprint config show      # every setting, its value and where it stands; secret values are masked
```

This table is made by `python -m bench.settings > docs/settings.md`.

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
    if isinstance(value, BaseModel):
        return "see there"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
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
        "Limits": "JSON object",
        "SecretStr": "text, kept secret",
        "bool": "`true`, `false`",
        "HttpUrl": "URL",
        "Path": "folder",
        "int": "whole number",
        "float": "number",
    }
    return next((word for part, word in words.items() if part in kind), "text")


if __name__ == "__main__":
    print(table(), end="")
