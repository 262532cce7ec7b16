from __future__ import annotations

import pytest

from api.cli.commands.tenant import moving
from core.config import Settings
from tests.commands import Imprint
from tests.samples import TENANT


def test_a_move_that_cannot_be_is_refused_in_words(operator: Imprint, settings: Settings) -> None:
    assert settings.database_url
    own = settings.database_url.get_secret_value()
    for words, error in (
        (("copy", TENANT), "/to: is not a URL"),
        (("copy", TENANT, "--to", "nowhere"), "/to: is not a URL such as postgresql://"),
        (("copy", TENANT, "--to", own), f"The other cell has a tenant '{TENANT}' already."),
        (("copy", TENANT, "--to", own, "--cancel"), f"The other cell has '{TENANT}' already."),
        (("copy", "nobody", "--to", own), "There is no tenant 'nobody' in this cell."),
        (("copy", "nobody", "--to", own, "--cancel"), "The tenant 'nobody' is not being moved from this cell."),
        (("copy", "nobody", "--cancel", "--target-is-lost"), "The tenant 'nobody' is not being moved from this cell."),
        (("copy", "nobody", "--to", own, "--target-is-lost"), "needs --cancel"),
        (("remove", TENANT, "--yes"), f"The tenant '{TENANT}' is not being moved from this cell."),
        (("remove", TENANT), "Nothing was deleted."),
    ):
        refused = operator("tenant", *words)
        assert refused.code != 0, words
        assert error in refused.err, words
        assert "Traceback" not in refused.err


def test_what_does_not_come_along_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    moving._show({"tenant": TENANT, "rows": 1234, "keeps_positions": True, "keeps_tokens": True})
    plain = " ".join(capsys.readouterr().err.split())
    assert (
        plain
        == f"1,234 rows were copied and compared. Switch the door, then run `imprint tenant remove {TENANT}` here."
    )
    moving._show({"tenant": TENANT, "rows": None, "keeps_positions": False, "keeps_tokens": False})
    said = " ".join(capsys.readouterr().err.split())
    assert all(words in said for words in ("copied before", "followers begin anew", "idempotency keys"))
