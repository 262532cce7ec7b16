"""What the tests of security share: a receiver of webhooks."""

from tests.workers.agents.test_outbound import other

__all__ = ["other"]
