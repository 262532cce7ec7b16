from __future__ import annotations

from core.storage.db import Database
from tests.commands import Imprint
from tests.samples import accept, said


def test_how_long_everything_is_kept_is_shown_and_changed(imprint: Imprint) -> None:
    assert "forever" in imprint("tenant", "retention").out
    changed = imprint("tenant", "retention", "messages_days=30", "quotes=drop", "--json").json
    assert (changed["retention"]["messages_days"], changed["retention"]["quotes"]) == (30, "drop")
    changed = imprint("tenant", "retention", "sessions_days=0", "messages_days=forever", "--json").json
    assert (changed["retention"]["messages_days"], changed["retention"]["sessions_days"]) == (None, 0)


def test_what_would_leave_has_to_be_confirmed(imprint: Imprint, app: Database) -> None:
    accept(app, said("hello", time="2020-01-01T00:00:00Z"))
    refused = imprint("tenant", "retention", "messages_days=30", stdin="n\n")
    assert refused.code == 1
    assert "1 messages" in refused.err
    assert "Nothing was changed" in refused.err
    assert imprint("tenant", "retention", "--json").json["retention"]["messages_days"] is None
    assert imprint("tenant", "retention", "messages_days=30", "--yes").code == 0
    assert imprint("tenant", "retention", "--json").json["retention"]["messages_days"] == 30


def test_what_is_no_time_is_refused(imprint: Imprint) -> None:
    assert "names are messages_days" in imprint("tenant", "retention", "message_days=1").err
    assert "neither a whole number" in imprint("tenant", "retention", "messages_days=soon").err
    assert "/events_days" in imprint("tenant", "retention", "events_days=1").err
