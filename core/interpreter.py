"""The command lines of Python processes: each one that is started has its command line from here.

`python -m` puts the working folder first on the path of imports, so a file `http.py` where somebody happens to stand
would take the place of the standard library. No process of ours looks there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

_RUN = (sys.executable, "-P", os.path.join(os.path.dirname(__file__), "module_runner.py"))  # noqa: PTH118, PTH120
"""Without pathlib: a command that has just begun has no time for it."""


def module(name: str, *arguments: str) -> list[str]:
    """Return the command line that runs an installed module with arguments.

    Our own modules are those of the packages that this process runs, also where they are not installed; PYTHONPATH
    counts.
    """
    return [*_RUN, name, *arguments]


def module_words(command: Sequence[str]) -> list[str] | None:
    """Return the name and the arguments in a command line of `module`; None: it is another one."""
    start = len(_RUN)
    return list(command[start:]) if tuple(command[:start]) == _RUN else None


def script(path: str, *arguments: str) -> list[str]:
    """Return the command line that runs a file which needs the standard library alone, and no environment variable."""
    return [sys.executable, "-I", "-S", path, *arguments]
