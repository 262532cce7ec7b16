"""Chinese signs of what statements are about, and how often. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import Activities

ACTIVITIES: Final = Activities(
    unreal=re.compile(r"如果|要是|希望|想要|打算|小时候"),
    vague=re.compile(r"周|个?月(?!\d)|年(?!\d)"),
    verbs="去来打练学玩弹踢做吃喝看读写跑骑游画唱跳养买",
    numerals=frozenset("〇一七万三两九二五亿八六几十千四每百第零"),
    often=frozenset("经常 常常 通常 总是 习惯 喜欢 每天 每周 每月 多次 反复 一直 规律 偏好".split()),
)
