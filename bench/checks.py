"""`python -m bench.checks > docs/doctor.md`: what `imprint doctor` finds, and the way out of each."""

from __future__ import annotations

from typing import Final

from api.cli.commands.host.checks import table
from api.cli.commands.host.checks.check import SECONDS
from bench import arguments

HEAD: Final = f"""# Doctor

`imprint doctor` looks for the usual mistakes of an installation and says the way out of each. It only reads, waits
{SECONDS:g} seconds for a check at most (a minute for the local model), and shows no secret. Exit code 1: something
fails; a warning leaves it 0. `--json` prints `{{"well": …, "checks": [{{"name", "state", "detail", "way_out"}}]}}` with
the states `ok`, `warn` and `fail`.

What lies behind another check that fails, or is not configured, is left out. The database is looked at if its URL is
known here: behind IMPRINT_URL alone it is its operator's. This page is made from the checks by
`python -m bench.checks > docs/doctor.md`.

| check | finds | way out |
| --- | --- | --- |
"""

FOOT: Final = "\nIn the code: [`api/cli/commands/host/checks/`](../api/cli/commands/host/checks).\n"


def page() -> str:
    """Return the page in Markdown."""
    first = ("settings", "a setting is wrong, or its name unknown", table.SETTINGS_WAY_OUT)
    rows = [first, *((check.name, check.mistake, check.way_out) for check in table.CHECKS)]
    return HEAD + "".join(f"| `{name}` | {mistake} | {way_out} |\n" for name, mistake, way_out in rows) + FOOT


def main() -> None:
    arguments.parser(__doc__).parse_args()
    print(page(), end="")


if __name__ == "__main__":
    main()
