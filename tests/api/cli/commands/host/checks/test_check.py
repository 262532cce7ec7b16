from __future__ import annotations

import threading
from collections.abc import Callable

from sqlalchemy.exc import OperationalError

from api.cli.commands.host.checks.check import Check, CheckResult, CheckWarning
from api.cli.commands.host.checks.installation import Installation
from core.config import Settings
from core.errors import Misconfigured


def result_of(look: Callable[[Installation], str], seconds: float = 60) -> CheckResult:
    return Check("database", "it is away", "Start it.", look, seconds=seconds).run(Installation(Settings()))


def failing(error: Exception) -> CheckResult:
    def look(_: Installation) -> str:
        raise error

    return result_of(look)


def test_what_is_well_says_so_without_a_way_out() -> None:
    result = result_of(lambda _: "PostgreSQL 18 answers")
    assert result.as_json() == {"name": "database", "state": "ok", "detail": "PostgreSQL 18 answers", "way_out": None}


def test_an_error_of_the_service_is_told_in_one_line_with_the_way_out() -> None:
    result = failing(Misconfigured("Set IMPRINT_HOME.\n  It is empty."))
    assert result == CheckResult("database", "fail", "Set IMPRINT_HOME. It is empty.", "Start it.")


def test_a_warning_does_not_fail() -> None:
    assert failing(CheckWarning("nearly full")) == CheckResult("database", "warn", "nearly full", "Start it.")


def test_a_refusal_of_the_database_names_the_setting_and_shows_no_statement() -> None:
    result = failing(OperationalError("SELECT secret", {}, ValueError("password wrong\nmore of it")))
    assert result.state == "fail"
    assert result.detail.startswith("The database refuses: password wrong. Look at IMPRINT_DATABASE_URL")
    assert "secret" not in result.detail


def test_an_unforeseen_error_fails_this_check_alone_and_shows_nothing_of_it() -> None:
    result = failing(ValueError("postgresql://me:hush@host"))
    assert (result.state, result.detail) == ("fail", "the check itself failed: ValueError")


def test_a_check_that_hangs_ends_at_its_limit() -> None:
    end = threading.Event()
    result = result_of(lambda _: str(end.wait()), seconds=0.05)
    end.set()
    assert (result.state, result.detail) == ("fail", "no answer within 0.05 s")
