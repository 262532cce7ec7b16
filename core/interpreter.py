"""The command lines of Python processes: each one that is started has its command line from here.

`python -m` puts the working folder first on the path of imports, so a file `http.py` where somebody happens to stand
would take the place of the standard library. No process of ours looks there: this file, run by path as a script, runs
the module, out of the packages among which it lies, also where they are not installed.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence

_RUN = (sys.executable, "-P", os.path.abspath(__file__))  # noqa: PTH100
"""Without pathlib: a command that has just begun has no time for it."""


def module(name: str, *arguments: str) -> list[str]:
    """Return the command line that runs an installed module with arguments; PYTHONPATH counts."""
    return [*_RUN, name, *arguments]


def module_words(command: Sequence[str]) -> list[str] | None:
    """Return the name and the arguments in a command line of `module`; None: it is another one."""
    start = len(_RUN)
    return list(command[start:]) if tuple(command[:start]) == _RUN else None


def script(path: str, *arguments: str) -> list[str]:
    """Return the command line that runs a file which needs the standard library alone, and no environment variable."""
    return [sys.executable, "-I", "-S", path, *arguments]


def main() -> None:
    """Run the module that the first argument names, with the others, as `python -m` does."""
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
    if root not in map(os.path.realpath, sys.path):
        sys.path.insert(0, root)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
