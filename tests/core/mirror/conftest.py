"""Fixtures that the tests of the mirror share."""

from tests.workers.mirrors import at_desk

__all__ = ["at_desk"]
