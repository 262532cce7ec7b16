"""The user's own settings folder, and the homes in which this user has started a stack.

Commands believe it and the environment alone. A file in the working folder may come with a cloned repository; an
address in it would receive the user's key, and its answers would reach the user's agent.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from core.errors import Misconfigured

HOMES_FILE: Final = "homes.json"
"""Homes of stacks by the folder in which `imprint up` was started."""

NOWHERE: Final = Path(os.devnull)
"""Home that holds nothing."""


def folder() -> Path:
    """Return `$XDG_CONFIG_HOME/imprint`, by default `~/.config/imprint`; a relative path in a variable is ignored."""
    for base in (os.environ.get("XDG_CONFIG_HOME", ""), os.path.expanduser("~/.config")):  # noqa: PTH111 - Path raises.
        if os.path.isabs(base):  # noqa: PTH117 - an empty path is not the working folder.
            return Path(base) / "imprint"
    return NOWHERE


def home(setting: str | Path | None) -> Path:
    """Return the home of commands: an absolute setting, else what was registered for the working folder."""
    path = Path(setting or ".imprint").expanduser()
    if path.is_absolute():
        return path
    homes = _homes()
    if setting:
        return path.absolute() if str(path.absolute()) in homes.values() else NOWHERE
    return Path(homes.get(str(Path.cwd()), NOWHERE))


def register(home: Path) -> None:
    """Note the home of the stack that is started in this folder. OSError: the folder cannot be written."""
    homes = {start: path for start, path in _homes().items() if Path(path).is_dir()}
    path = folder() / HOMES_FILE
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps({**homes, str(Path.cwd()): str(home.expanduser().absolute())}, indent=2))
    draft.replace(path)


def _homes() -> dict[str, str]:
    path = folder() / HOMES_FILE
    try:
        return {str(start): str(home) for start, home in json.loads(path.read_text()).items()}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise Misconfigured(f"{path} cannot be read: {error}. Remove it; `imprint up` writes it again.") from None
