"""Run a module as `python -m` does, out of the packages among which this file lies.

Run by path as a script (`interpreter.module`), so that a source tree that is not installed needs no working folder.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path


def main() -> None:
    """Run the module that the first argument names, with the others."""
    root = os.path.realpath(Path(__file__).parents[1])
    if root not in map(os.path.realpath, sys.path):
        sys.path.insert(0, root)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
