from __future__ import annotations

from pathlib import Path

import pytest

from api.stack import pg_program
from api.stack.postgres import Postgres
from core.errors import Misconfigured


def test_the_password_is_in_the_environment_and_not_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "secrets.json").touch()
    (tmp_path / "secrets.json").write_text('{"postgres": "hush"}')
    postgres = Postgres(tmp_path)
    command = pg_program.command(postgres, "pg_dump", "--format=custom")
    assert (command[-1], Path(command[0]).name) == ("--format=custom", "pg_dump")
    assert not any("hush" in argument for argument in command)
    assert pg_program.environment(postgres)["PGPASSWORD"] == "hush"


def test_a_program_that_fails_says_why() -> None:
    with pytest.raises(Misconfigured, match=r"pg_archivecleanup refuses: .*must specify"):
        pg_program.execute([str(pg_program.path("pg_archivecleanup"))], {})
