"""Fixtures that the tests of the index share."""

from tests.core.storage.two_models import both

__all__ = ["both"]
