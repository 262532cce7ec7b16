"""Chinese words at the end of a conversation, by the outcome that they show. Data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

OUTCOMES: Final[Mapping[str, re.Pattern[str]]] = {
    "failed": re.compile(r"失败|没(?:有)?(?:成功|解决|用|修好)|还是不(?:行|能|对)|不管用|放弃"),
    "resolved": re.compile(r"谢谢|多谢|感谢|解决了|搞定|成功了|可以了|没问题了|修好了"),
    "agreed": re.compile(r"同意|说定|就这么定|一言为定|没意见|好的|行[，。！]|到时(?:候)?见"),
}
