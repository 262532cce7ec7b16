from __future__ import annotations

from api.cli.commands.sessions import profile
from core.storage.db import Database
from tests.commands import Imprint
from tests.samples import accept, said
from tests.works import Works


def test_a_profile_is_shown_of_a_user_and_of_a_group(imprint: Imprint, app: Database, works: Works) -> None:
    accept(app, said("I live in Turin.", speaker="Ada", group_id="team"))
    works.settle()
    assert "home.city  Turin" in imprint("profile", "ada", "--fresh").out
    assert imprint("profile", "ada", "--json").json["attributes"]
    group = imprint("profile", "team", "--group", "--fresh")
    assert (group.code, group.out.startswith("team version")) == (0, True), group.err


def test_what_is_denied_is_shown_as_denied() -> None:
    lines = list(profile._entries({"does": [{"value": "driving buses", "negated": True}, {"value": "judo"}]}))
    assert lines == [("does", "not driving buses"), ("does", "judo")]
