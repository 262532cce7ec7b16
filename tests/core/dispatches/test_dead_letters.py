"""Dead letters in groups, and discarding those that match; who may do so is tested at `/v1/dispatches`."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text

from core.dispatches import dead_letters
from core.dispatches.control import SignedRemark
from core.dispatches.dead_letters import Discarded
from core.dispatches.retries import RetryFilter
from core.errors import Conflict
from core.storage.db import Database
from core.types import DispatchStatus
from tests.doors import OTHER
from tests.factories import PERSON
from tests.samples import TENANT
from tests.workers.dispatch.owing import chain, owe, row_of, statuses


def dead(app: Database, error: str = "Timeout after 10 s", **fields: Any) -> UUID:
    return given_up(app, owe(app, **fields), error)


def given_up(app: Database, dispatch_id: UUID, error: str = "Timeout after 10 s") -> UUID:
    give_up = "UPDATE dispatches SET status = 'dead', error = :error, ended_at = clock_timestamp() WHERE id = :id"
    with app.tenant(TENANT) as tx:
        tx.execute(text(give_up), {"id": dispatch_id, "error": error})
    return dispatch_id


def groups(app: Database, **how: Any) -> list[Any]:
    with app.tenant(TENANT) as tx:
        return list(dead_letters.groups(tx, **how))


def discard(
    app: Database, confirm: int | None, limit: int = 10, *, comment: str | None = None, **more: Any
) -> Discarded:
    dry_run = more.pop("dry_run", False)
    with app.tenant(TENANT) as tx:
        remark = SignedRemark(PERSON, comment)
        return dead_letters.discard(tx, RetryFilter(**more), remark, limit=limit, confirm=confirm, dry_run=dry_run)


def cancelled() -> float:
    labels = {"target": "agent", "queue": "io", "status": "cancelled"}
    return REGISTRY.get_sample_value("imprint_dispatches_total", labels) or 0


def test_errors_that_differ_in_ids_numbers_and_quotes_are_one_group(app: Database) -> None:
    first = dead(app, f'The webhook answered 503: "in 7 s" for {UUID(int=6)}', rule="one", rule_version=1)
    last = dead(app, f'The webhook answered 500: "never" for {UUID(int=7)}', rule="two", rule_version=1)
    other = dead(app, "The channel is not there.")
    found = {one.id: one for one in groups(app)}
    assert found.keys() == {last, other}, "each group shows its newest letter"
    assert (found[last].letters, found[last].rules, found[last].retryable) == (2, ["one", "two"], True)
    assert found[last].first_at == row_of(app, first).ended_at < found[last].ended_at
    assert (found[other].letters, found[other].rules) == (1, None)
    assert {one.event_type for one in found.values()} == {"order.placed"}


def test_letters_of_different_agents_are_different_groups(app: Database) -> None:
    dead(app)
    dead(app, target="another")
    assert [one.letters for one in groups(app)] == [1, 1]


def test_pages_follow_each_other_in_the_order_of_fingerprints(app: Database) -> None:
    for word in ("one", "two", "three"):
        dead(app, f"It failed at {word}.")
    first, second = groups(app, limit=2)
    (third,) = groups(app, limit=2, after=second.fingerprint)
    assert first.fingerprint < second.fingerprint < third.fingerprint


def test_letters_and_rules_of_a_group_are_counted_to_a_bound(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        dead(app, rule=f"rule_{number}", rule_version=1)
    monkeypatch.setattr(dead_letters, "MOST", 3)
    monkeypatch.setattr(dead_letters, "RULES", 2)
    [group] = groups(app)
    assert (group.letters, group.rules) == (3, ["rule_0", "rule_1"])


def test_a_letter_that_no_agent_was_to_work_on_says_that_it_cannot_be_retried(app: Database) -> None:
    dead(app, target="hop_limit")
    assert [one.retryable for one in groups(app)] == [False]


def test_those_that_match_are_discarded_oldest_first_with_what_waited_for_them(app: Database) -> None:
    first, follower = chain(app, "agent", "agent")
    given_up(app, first)
    second, third = dead(app), dead(app)
    before = cancelled()
    done = discard(app, 2, 2, comment="too old")
    assert done == Discarded(2, more=True, ids=[first, second])
    assert statuses(app, [first, follower, second, third]) == ["cancelled", "cancelled", "cancelled", "dead"]
    assert row_of(app, first).error == "Discarded by key:1: too old It had failed: Timeout after 10 s"
    assert row_of(app, first).wake_at is None
    assert cancelled() >= before + 2


def test_without_a_comment_the_reason_names_the_person_alone(app: Database) -> None:
    one = dead(app)
    discard(app, 1)
    assert row_of(app, one).error == "Discarded by key:1. It had failed: Timeout after 10 s"


def test_a_letter_without_an_error_is_discarded_too(app: Database) -> None:
    one = dead(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET error = NULL"))
    discard(app, 1)
    assert row_of(app, one).error == "Discarded by key:1. It had failed: "


def test_a_filter_leaves_the_others_alone(app: Database) -> None:
    hook, other = dead(app, "404: no such hook"), dead(app)
    assert discard(app, 1, error_contains="HOOK").ids == [hook]
    assert statuses(app, [hook, other]) == ["cancelled", "dead"]


@pytest.mark.parametrize("confirm", [None, 1, 3])
def test_another_number_than_would_be_discarded_is_refused(app: Database, confirm: int | None) -> None:
    ids = [dead(app), dead(app)]
    with pytest.raises(Conflict, match=f"2 dead letters match now, and `confirm` says {confirm}"):
        discard(app, confirm)
    assert statuses(app, ids) == ["dead", "dead"]


def test_a_dry_run_says_what_matches_and_changes_nothing(app: Database) -> None:
    ids = [dead(app), dead(app)]
    assert discard(app, None, dry_run=True) == Discarded(2, more=False, ids=ids)
    assert statuses(app, ids) == ["dead", "dead"]


def test_what_is_not_dead_is_neither_shown_nor_discarded(app: Database) -> None:
    owe(app, status=DispatchStatus.PENDING)
    assert groups(app) == []
    assert discard(app, 0) == Discarded(0, more=False, ids=[])


def test_another_tenant_sees_and_discards_none(app: Database) -> None:
    one = dead(app)
    with app.tenant(OTHER) as tx:
        assert list(dead_letters.groups(tx)) == []
        done = dead_letters.discard(tx, RetryFilter(), SignedRemark(PERSON), limit=10, confirm=0, dry_run=False)
    assert done.ids == []
    assert statuses(app, [one]) == ["dead"]
