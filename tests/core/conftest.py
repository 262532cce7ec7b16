"""Fixtures that the tests of the core share."""

from __future__ import annotations

from tests.core.packages import publish

__all__ = ["publish"]
