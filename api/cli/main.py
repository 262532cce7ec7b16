"""`imprint`: where a command begins, before any library is loaded."""

from __future__ import annotations

import gc
import sys

from core import deferred


def main() -> None:
    """Run a command; `imprint up` is a program with other libraries than the rest."""
    gc.disable()  # Modules leave next to nothing to collect: until those of the command are imported.
    watches = sys.argv[1:2] == ["up"] and "--help" not in sys.argv
    deferred.load("api.cli.watching:main" if watches else "api.cli.program:main")()


if __name__ == "__main__":
    main()
