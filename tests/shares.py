"""Which tests of a parallel run stay together in one worker, and in which order they begin."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadScopeScheduling

DIVIDED = ("tests/journeys/test_pages.py", "tests/security/test_linear_time.py")
"""Files whose tests share no fixture and take long together: each first parameter may go to another worker."""

TOGETHER = ("tests/browser/",)
"""Folders whose files share a stack of their own: all of them go to one worker."""

LATE = ("slow", "fault")
"""Markers of what takes long by its nature."""


class ByFile(LoadScopeScheduling):
    """The tests of a file stay in one worker, and so share its fixtures of module scope."""

    def _split_scope(self, nodeid: str) -> str:
        path, _, name = nodeid.partition("::")
        if folder := next((one for one in TOGETHER if path.startswith(one)), None):
            return folder
        return f"{path}::{name.partition('-')[0]}" if path in DIVIDED else path


def late_files_behind_half(items: list[pytest.Item]) -> None:
    """Move files that hold a test marked as slow behind half of the others.

    A quick failure is seen early, and the files that come last are so short that all workers end together.
    """
    late = {item.path for item in items if any(item.get_closest_marker(name) for name in LATE)}
    others = list(dict.fromkeys(item.path for item in items if item.path not in late))
    place = {path: (index >= len(others) // 2) * 2 for index, path in enumerate(others)}
    items.sort(key=lambda item: place.get(item.path, 1))
