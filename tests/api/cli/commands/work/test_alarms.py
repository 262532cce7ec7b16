"""`imprint alarms`, and a draft that is tried on what it counts now."""

from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import text

from core.storage.db import Database
from tests.commands import Imprint
from tests.rules.samples import an_alarm
from tests.samples import TENANT

FILL = """
    INSERT INTO alarms (tenant_id, rule, key, for_each, version, raised_at, looked_at, counts, partial)
    VALUES (:tenant, 'dead', '', 'tenant', 1, now(), now(), '{"dead": 12}', false),
           (:tenant, 'missed', '', 'tenant', 1, NULL, now(), '{"share": null}', false),
           (:tenant, 'silent', '', 'source', 1, NULL, now(), '{}', true)
"""


def test_the_command_shows_alarms_as_they_stand(imprint: Imprint, app: Database) -> None:
    assert "No alarm has been looked at." in imprint("alarms").err
    with app.tenant(TENANT) as tx:
        tx.execute(text(FILL), {"tenant": TENANT})
    dead, missed, silent = imprint("alarms").out.splitlines()
    assert "dead 12" in dead
    assert "share unknown" in missed
    assert "too many rows to count" in silent
    assert len(imprint("alarms", "--raised").out.splitlines()) == 1
    assert [item["rule"] for item in imprint("alarms", "--rule", "missed", "--json").json["items"]] == ["missed"]


def test_a_draft_without_an_event_is_tried_on_what_it_counts(imprint: Imprint, tmp_path: Path) -> None:
    file = tmp_path / "dead.json"
    file.write_text(json.dumps(an_alarm()), encoding="utf-8")
    tried = imprint("rules", "test", str(file))
    assert (tried.code, "count.dead > 10 is 0" in tried.out) == (0, True)
    refused = imprint("rules", "test", "forget_nightly")
    assert refused.code == 1
    assert "--event" in refused.err
