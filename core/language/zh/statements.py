"""Chinese statements, as they are compared. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.lazy_regex import lazy_regex
from core.language.parts import QuotationFrame, StatementForms

STATEMENTS: Final = StatementForms(
    change=lazy_regex(
        r"现在|如今|目前|改|换|新|变|不再|不用|搬|调|升|推迟|提前|延期|挪|取消|更正|其实|不是|退|卖|没有了|去世|"
        r"走了|停"
    ),
    past=re.compile(r"以前|从前|曾经|曾在|之前|小时候|那时候?|当时|过去(?!了)"),
    clause=re.compile(r"现在|后来"),
    denied=None,
    numbered=re.compile(
        r"^(?P<thing>[^，。,]{1,24}?(?:的[^，。,]{1,12}?)?)(?:现在|今年|已经)*(?:是)?"
        r"(?P<number>\d+|[一二两三四五六七八九十百]+)(?P<unit>岁|号|楼|层|室)?了?[。！]?$"
    ),
    numbers_alone=True,
    age="岁",
    district=re.compile(r"(?:区|路|街|镇|乡|小区|新村|巷|弄|花园|公寓)$"),
    between="、|和|与",
    joint=r"[；。！？](?=.)|，(?:而且|并且|同时|还|也|但是?)?",
    somebody=None,
    pronouns=((re.compile(r"^(?:他|她)们?"), "{}"),),
    nobody=frozenset({"我", "他", "她"}),
    date=re.compile(r"\d+年|\d+月|\d+日"),
    inside=frozenset(),
    relations=frozenset("是在有叫住去到"),
    persons=dict.fromkeys("我你您", "我"),
    quotation=QuotationFrame(
        said="{speaker}说：“{words}”",
        said_on="{speaker}在{day}说：“{words}”",
        asked="被问到“{asked}”，",
        after="在“{after}”之后，",
        begins="(?:在[^“”：]{1,15})?说：",
        behind="之后",
    ),
)
