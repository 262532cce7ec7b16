from __future__ import annotations

import json
import subprocess
import sys
from urllib.parse import urlsplit

import psycopg

from api.stack import furnishing
from api.stack.postgres import DATABASE, EXIT_REFUSED, OWNER, Postgres


def asked(postgres: Postgres, **other: object) -> dict[str, object]:
    url = urlsplit(postgres.admin_url)
    superuser = {"host": url.hostname, "port": url.port, "user": url.username, "password": url.password}
    password = urlsplit(postgres.url).password
    return {"superuser": superuser, "owner": OWNER, "password": password, "database": DATABASE, **other}


def test_what_is_there_stays_and_what_is_missing_is_made(postgres: Postgres) -> None:
    furnishing.furnish(**asked(postgres))  # type: ignore[arg-type]
    furnishing.furnish(**asked(postgres, owner="other_owner", password="p", database="other"))  # type: ignore[arg-type]
    url = urlsplit(postgres.url)
    with psycopg.connect(
        host=url.hostname, port=url.port, user="other_owner", password="p", dbname="other", autocommit=True
    ) as db:
        assert db.execute("SELECT '[1]'::vector::text").fetchone() == ("[1]",)
    with psycopg.connect(postgres.admin_url, autocommit=True) as db:
        db.execute("DROP DATABASE other")
        db.execute("REVOKE EXECUTE ON FUNCTION pg_switch_wal(), pg_ls_waldir() FROM other_owner")
        db.execute("DROP OWNED BY other_owner")
        db.execute("DROP ROLE other_owner")


def test_a_password_that_does_not_fit_has_an_exit_code_of_its_own(postgres: Postgres) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "api.stack.furnishing"],
        input=json.dumps(asked(postgres, password="wrong")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == EXIT_REFUSED
    assert len(done.stderr.splitlines()) == 1
    assert "wrong" not in done.stderr
