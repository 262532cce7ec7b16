"""What the tests of security share: a receiver of webhooks."""

from tests.workers.receiver import other

__all__ = ["other"]
