from __future__ import annotations

from core.extraction import windows
from core.extraction.protocol import Window
from core.extraction.windows import Sizes
from tests.core.extraction.windows_of import messages


def test_a_window_is_what_the_protocol_says() -> None:
    (only,) = windows.cut((), messages(1, 1), Sizes())
    assert isinstance(only, Window)
