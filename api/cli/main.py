"""`imprint`: where a command begins, before any library is loaded."""

from __future__ import annotations

import sys

from api.cli import shared_modules
from api.stack import ahead
from core import deferred


def main() -> None:
    """Run a command; what `imprint up` will need is imported by another process while it reads the settings."""
    if sys.argv[1:2] == ["up"] and "--help" not in sys.argv:
        ahead.begin(shared_modules.SHARED, shared_modules.ENVIRONMENT)
    deferred.load("api.cli.program:main")()


if __name__ == "__main__":
    main()
