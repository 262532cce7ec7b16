from __future__ import annotations

import io

import pytest
import typer

from api.cli import confirming
from api.cli.confirming import Unconfirmed


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_nobody_has_agreed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y"))
    with pytest.raises(Unconfirmed, match=r"Nothing was done\. Answer"):
        confirming.ask("Sure?", "Nothing was done.")


@pytest.mark.parametrize("agrees", [True, False])
def test_at_a_terminal_the_answer_counts(monkeypatch: pytest.MonkeyPatch, agrees: bool) -> None:
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: agrees)
    if agrees:
        confirming.ask("Sure?", "Nothing was done.")
    else:
        with pytest.raises(Unconfirmed, match=r"Nothing was done\. Answer"):
            confirming.ask("Sure?", "Nothing was done.")
