"""Details that are marked in Chinese script: numbers with units, people with titles, titles of works, quotations."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import Details

_NUMERAL = r"[〇零一二三四五六七八九十百千万亿两]"
_NUMBERED = re.compile(
    rf"\d+(?=[年月日号点个岁次元块])|"
    rf"(?:(?!一[个次点块]){_NUMERAL}){{1,20}}(?=[年月日号点个岁次元块周])"
)
_SURNAMES = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏章苏潘葛范彭郎鲁韦马苗方俞任袁柳史唐费"
    "廉岑薛雷贺倪汤滕殷罗毕郝邬安常于傅皮卞齐康伍余顾孟黄穆萧尹姚邵汪毛戴宋庞熊纪舒项祝董梁杜阮蓝季贾江颜郭梅林钟徐"
    "邱骆高夏蔡田胡凌霍万卢莫房丁邓洪崔龚程邢裴陆翁荀惠曲封储靳段侯全班仇宁栾甘武符刘龙叶黎白赖乔聂曾沙鞠丰关游辛阎"
    "简饶桂欧阳司徒"
)
_MARKS = (
    re.compile(rf"(?:(?!一[个次点块]){_NUMERAL}){{1,20}}[年月日号点个岁次元块周]"),
    re.compile(rf"[小老阿][{_SURNAMES}]"),
    re.compile(rf"[{_SURNAMES}](?:先生|女士|小姐|老师|总|经理|医生|教授|工|姐|哥|叔|阿姨)"),
    re.compile("《[^》]+》|“[^”]+”|「[^」]+」"),
)

DETAILS: Final = Details(_NUMBERED, _MARKS)
