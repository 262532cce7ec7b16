"""Numbers of connections in memory that forked processes share."""

from __future__ import annotations

import os

from api.ingress.balance import Balance


def test_only_who_has_more_than_another_is_ahead():
    balance = Balance(3)
    balance.note(0, 2)
    assert not balance.is_ahead(0)  # Nobody else accepts.
    balance.note(1, 2)
    assert not balance.is_ahead(0)
    balance.note(0, 3)
    assert balance.is_ahead(0)
    assert not balance.is_ahead(1)


def test_one_that_has_left_is_no_reason_to_wait():
    balance = Balance(2)
    balance.note(0, 3)
    balance.note(1, 0)
    balance.leave(1)
    assert not balance.is_ahead(0)


def test_a_forked_process_is_seen_by_the_others():
    balance = Balance(2)
    balance.note(0, 1)
    pid = os.fork()
    if not pid:
        balance.note(1, 0)
        os._exit(0)
    os.waitpid(pid, 0)
    assert balance.is_ahead(0)
