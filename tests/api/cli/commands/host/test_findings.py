from __future__ import annotations

from sqlalchemy.exc import OperationalError

from api.cli.commands.host import findings
from core.errors import Misconfigured


def failing(error: Exception) -> findings.CheckResult:
    def look() -> str:
        raise error

    return findings.run_check("database", look)


def test_what_is_well_says_so() -> None:
    found = findings.run_check("database", lambda: "PostgreSQL 18 answers")
    assert found.as_json() == {"name": "database", "state": "ok", "detail": "PostgreSQL 18 answers"}


def test_an_error_of_the_service_is_told_in_one_line() -> None:
    found = failing(Misconfigured("Set IMPRINT_HOME.\n  It is empty."))
    assert (found.state, found.detail) == ("fail", "Set IMPRINT_HOME. It is empty.")


def test_a_refusal_of_the_database_names_the_setting_and_shows_no_statement() -> None:
    found = failing(OperationalError("SELECT secret", {}, ValueError("password wrong\nmore of it")))
    assert found.state == "fail"
    assert found.detail.startswith("The database refuses: password wrong. Look at IMPRINT_DATABASE_URL")
    assert "secret" not in found.detail
