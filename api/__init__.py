"""The doors: HTTP, the command line, and the stack that runs on one machine."""

import os
import sys

# `python -m` has put the working folder first, where any file could take the place of a library. It stays where these
# packages are: in a source tree.
if sys.argv[:1] == ["-m"] and not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(__file__)):  # noqa: PTH120
    del sys.path[0]
