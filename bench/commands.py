"""`python -m bench.commands > docs/cli.md`: every command with its purpose and an example."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

import typer

from api.cli.program import COMMANDS
from bench import arguments

HEAD: Final = """# Commands

Every command has `--help` with its options. This page is made from the commands by
`python -m bench.commands > docs/cli.md`.

- **Where.** Commands talk to the stack of `IMPRINT_HOME` (by default the one that `imprint up` started in this folder),
  or to the service at `IMPRINT_URL` with the key in `IMPRINT_API_KEY`. They read these from the environment and from
  `~/.config/imprint/imprint.toml`, never from `.env` or `imprint.toml` of the folder, which may be somebody else's
  repository ([settings.md](settings.md)). `db`, `keys`, `mirror`, `bench`, `memory reembed`, `tenant limits`
  and `tenant secrets reseal` need access to the database.
- **Ids.** Lists print the last eight characters of an id. Every command takes those, as few as four of them, or the
  whole id; where several ids end alike, it lists them. Events are named by their place in the log, which `events tail`
  and `events trace` print, or by their id ([decision 0033](decisions/0033-short-ids-are-the-last-characters.md)).
- **Lists** have one row a thing and fit the width of the terminal; texts are cut behind a word, ids never. Into a pipe,
  rows are written in full.
- **`--json`** prints what the API answers, with whole ids: a list is `{"items": […], "next": cursor or null}`; `search`
  has the answer of `POST /v1/search`. An error is `{"error": {"detail": …, "errors": […]}}` on standard error.
- **Exit codes**: 0 success, 1 failure, 2 usage, 4 not known (`ask`). An unexpected error is one sentence;
  `IMPRINT_LOG_LEVEL=debug` shows its traceback.
- **Completion**: `eval "$(imprint completion bash)"` in `~/.bashrc`, the same with `zsh` in `~/.zshrc` after
  `compinit`, or the output of `imprint completion fish` in `~/.config/fish/completions/imprint.fish`. It completes
  commands, options, formats, sessions, and names of rules and prompts; the last three ask the service, for a second at
  most.

"""


FOOT: Final = "\n\nIn the code: [`api/cli/`](../api/cli); `program.py` has the table of all commands.\n"


def page() -> str:
    """Return the page in Markdown."""
    rows = [f"| `imprint {' '.join(names)}` | {purpose} | `{example}` |" for names, purpose, example in commands()]
    table = ["| command | purpose | example |", "| --- | --- | --- |", *rows]
    return HEAD + "\n".join(table) + FOOT


def commands() -> Iterator[tuple[list[str], str, str]]:
    """Yield the words, first sentence and first example of every command, as `imprint --help` orders them."""
    for names, command in leaves():
        purpose, _, rest = (command.help or "").replace("\b", "").partition("Example")
        example = rest.lstrip("s: ").splitlines()[0]
        yield names, _cell(_first_sentence(" ".join(purpose.split()))), _cell(example)


def leaves() -> Iterator[tuple[list[str], Any]]:
    """Yield every command with the words that call it, those within groups as well."""
    for name, (target, line) in COMMANDS.items():
        yield from _within([name], _loaded(target, line))


def _within(names: list[str], command: Any) -> Iterator[tuple[list[str], Any]]:
    within = getattr(command, "commands", None)
    if within is None:
        yield names, command
        return
    table = getattr(command, "table", {})
    for name, subcommand in within.items():
        yield from _within([*names, name], _loaded(*table[name]) if name in table else subcommand)


def _loaded(target: str, line: str) -> Any:
    module, _, attribute = target.partition(":")
    loaded = getattr(import_module(module), attribute)
    if isinstance(loaded, typer.Typer):
        return typer.main.get_group(loaded)
    single = typer.Typer(add_completion=False)
    single.command(help=loaded.__doc__ or line)(loaded)
    return typer.main.get_command(single)


def _first_sentence(text: str) -> str:
    first, dot, _ = text.strip().partition(". ")
    return first if dot else first.removesuffix(".")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").strip()


def main() -> None:
    arguments.parser(__doc__).parse_args()
    print(page(), end="")


if __name__ == "__main__":
    main()
