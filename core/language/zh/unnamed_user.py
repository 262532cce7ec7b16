"""Chinese statements about 用户."""

from __future__ import annotations

import re
from typing import Final

_USER: Final = re.compile(
    r"(?:^|(?<=[。！？；，]))(?:该|该名)?(?:用户|用戶|使用者)(?!故事|体验|體驗|界面|画像|名|组|手册|数据|需求|协议)"
)


def about(content: str, name: str) -> str:
    """Return a statement with the name of the person instead of 用户."""
    return _USER.sub(lambda _: name, content)
