from __future__ import annotations

import pytest

from workers.consumer import RaisingAcknowledgement


class Unanswered(RaisingAcknowledgement):
    """A message of a broker that has gone."""

    def ack(self, *, multiple: bool = False) -> None:
        raise TimeoutError

    def reject(self, *, requeue: bool = False) -> None:
        raise TimeoutError


def test_an_acknowledgement_that_fails_is_not_only_logged() -> None:
    with pytest.raises(TimeoutError):
        Unanswered().ack_log_error(None, (TimeoutError,))
    with pytest.raises(TimeoutError):
        Unanswered().reject_log_error(None, (TimeoutError,))
