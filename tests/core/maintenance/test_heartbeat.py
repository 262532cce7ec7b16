from __future__ import annotations

from core.maintenance import heartbeat
from core.maintenance.heartbeat import REQUIRED_PROCESSES, Heartbeat, ProcessPart
from core.storage.db import Database
from tests.patience import wait_until


def missing(queue: Database) -> list[str]:
    with queue.queue() as tx:
        return heartbeat.missing_processes(tx)


def test_a_process_is_at_work_while_it_beats(queue: Database) -> None:
    assert missing(queue) == list(REQUIRED_PROCESSES)
    heart = Heartbeat(queue, "worker-io", "io", 3)
    wait_until(lambda: missing(queue) == ["router", "clock", "worker-cpu"])
    with queue.queue() as tx:
        assert heartbeat.processes_by_queue(tx) == {"io": 3}
    heart.close()


def test_a_worker_beats_as_one_of_its_kind_and_as_itself(queue: Database) -> None:
    heart = Heartbeat(queue, "io@somewhere:1", "io", 3, also=[ProcessPart("worker-io")])
    wait_until(lambda: "worker-io" not in missing(queue))
    with queue.queue() as tx:
        assert heartbeat.processes_by_queue(tx) == {"io": 3}
        assert [beat.name for beat in heartbeat.beats(tx)] == ["io@somewhere:1", "worker-io"]
    heart.close()


def test_a_worker_that_is_stopped_leaves_no_row_of_its_own(queue: Database) -> None:
    other = Heartbeat(queue, "io@other:1", "io", 3)
    stopped = Heartbeat(queue, "io@stopped:1", "io", 3, also=[ProcessPart("worker-io")])
    wait_until(lambda: names(queue) == {"io@other:1", "io@stopped:1", "worker-io"})
    stopped.close()
    wait_until(lambda: names(queue) == {"io@other:1", "worker-io"})
    other.close()


def names(queue: Database) -> set[str]:
    with queue.queue() as tx:
        return {beat.name for beat in heartbeat.beats(tx)}
