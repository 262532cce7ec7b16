"""What the tests of security share: a receiver of webhooks."""

from tests.workers.test_outside import other

__all__ = ["other"]
