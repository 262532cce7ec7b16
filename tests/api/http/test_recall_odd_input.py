from __future__ import annotations

import time
from uuid import UUID

from uuid_utils import uuid7

from core.consolidation.echo import Served
from core.events.doorbell import Doorbell
from core.search.recall_log import Asker, Recall, Recalls, RecallSpacing
from core.storage.db import Database
from tests.samples import TENANT

ASKER = Asker(TENANT, "ada", None)


class Silent(Doorbell):
    def __init__(self) -> None:
        pass

    def notify(self) -> None:
        pass


def test_a_text_that_cannot_be_read_ends_nothing(app: Database) -> None:
    recalls = Recalls(app, Silent())
    recalls.note(ASKER, [Served("Half a pair of surrogates stands here: \ud800")], announced=True)
    time.sleep(1.2)
    assert recalls._loop.is_alive
    recalls.close()


def test_what_could_not_be_written_down_is_due_again_at_once() -> None:
    spacing, one = RecallSpacing(), UUID(str(uuid7()))
    due = spacing.due([Recall(ASKER, [Served("", one)], announced=True)], 0.0)
    spacing.unsaid(due)
    (again,) = spacing.due([], 0.5)
    assert (again.served, again.searches) == ([Served("", one)], 1)
    assert not spacing.due([], 1.0)
