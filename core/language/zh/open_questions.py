"""Chinese questions without an answer. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import OpenQuestions

OPEN_QUESTIONS: Final = OpenQuestions(
    asking=frozenset("什么 怎么 哪里 哪个 多少 什么时候 吗 呢 几 谁 还 没 待定 确定 决定 问题".split()),
    idle=re.compile(
        r"^(?:你好|最近怎么样|怎么样|是吗|真的吗|对吧|好吗|行吗|可以吗|知道吗|在吗)[?？]|"
        r"^(?:请问)?(?:你)?(?:能不能|可以|能|可不可以)(?:请你?)?(?:帮|给|告诉|替)"
    ),
    offer=re.compile(
        r"需要我|要我|要不要我|还有(?:什么|其他|别的)|我可以|可以帮|有什么.{0,6}帮|您?觉得(?:怎么样|如何)|"
        r"怎么样[?？]$"
    ),
    open=re.compile(
        r"待定|待确认|有待(?:确认|讨论|解决)|悬而未决|还没(?:有)?(?:决定|确定|定|想好|商量好|弄清|搞清)|"
        r"尚未(?:决定|确定|解决)|还(?:不|没)(?:清楚|知道)(?:.{0,8})(?:什么|谁|哪|怎么|几|多少|是否|要不要)|"
        r"还需要?(?:确认|决定|商量|弄清)"
    ),
    defers=re.compile(
        r"不(?:太)?(?:知道|清楚|确定|好说)|没(?:有)?(?:想好|定|决定|确定)|再(?:看看|说|想想|确认|问问)|回头|稍后|"
        r"晚点|等(?:我|会)|我(?:去)?(?:问问|查查|查一下|确认一下|想想)|看情况|待定|说不准|拿不准"
    ),
    takes_back=re.compile(r"算了|不用了|没事了|当我没问|别管了|想起来了|找到了|知道了"),
)
