"""Fixtures that the tests of the agents share."""

from tests.workers.mirrors import at_desk

__all__ = ["at_desk"]
