"""Files that commands read, and standard input, which `-` stands for."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from core.errors import ImprintError

STDIN: Final = Path("-")


class UnreadableInput(ImprintError):
    """A file cannot be read as what the command needs."""


class NotJson(UnreadableInput):
    """The text of a file is not JSON."""


def name(file: Path) -> str:
    return "standard input" if file == STDIN else str(file)


def read(file: Path) -> str:
    """Return the text of a file. UnreadableInput: it is not there, is not allowed, or is not UTF-8."""
    try:
        return sys.stdin.read() if file == STDIN else file.read_bytes().decode()
    except OSError as error:
        raise UnreadableInput(f"{name(file)} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise UnreadableInput(f"{name(file)} is not UTF-8 text: see byte {error.start}.") from None


def read_json(file: Path) -> Any:
    """Return the value in a file. UnreadableInput: as for `read`. NotJson: the text is not JSON."""
    try:
        return json.loads(read(file))
    except (ValueError, RecursionError) as error:
        raise NotJson(f"{name(file)} is not JSON: {error}.") from None
