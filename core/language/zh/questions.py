"""Chinese forms of questions and answers. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import Questions

QUESTIONS: Final = Questions(
    several=re.compile(
        r"哪[些几]|几[个次本种位家部场项条只处]|多少[个次本种位家部场项条只处人]|所有|全部|一共|总共|分别|各自|共同|都[有去做买喜读看玩学养参说提]|[去看读做学玩买吃养见听用]过"
    ),
    told_me=re.compile(
        r"[你您](?:之前|上次|刚才|曾经|曾|以前|当时|跟我|给我|向我|还|也){0,3}(?:说|讲|提|告诉|推荐|建议|列|介绍|解释|给)(?:过|到|了|的|我)|我们(?:之前|上次|以前|"
        r"刚才)的?(?:聊天|对话|谈话|讨论)"
    ),
    remind=re.compile(r"提醒我"),
    to_me=re.compile(r"(?:告诉|帮)我"),
    of_me=re.compile(r"我|咱"),
    asks_time=re.compile(r"什么时候|何时|多久|哪[一]?[天年]|[哪几]个?月|几[号点年]"),
    tells_time=re.compile(
        r"[昨今明前后]天|[昨今明]晚|今早|上周|下周|上个月|下个月|[去今明前]年|星期|礼拜|周[一二三四五六日末]|最近|以前|\d+\s*[年月日号]|[一二三四五六七八九十][月日号]|"
        r"[〇零一二三四五六七八九]{2,4}年|[\d几半两一二三四五六七八九十]个?(?:天|周|星期|月|年)[以之]?前"
    ),
    marks=frozenset(
        """什么 什麼 什 麼 甚么 怎么 怎麼 怎 怎样 怎樣 怎么样 怎麼樣 为什么 為什麼 为何 如何 哪 哪里 哪裡 哪儿
    哪个 哪個 哪些 哪位 哪年 哪天 谁 誰 几 幾 几个 多少 多少钱 多久 什么时候 何时 时候 時候 是否 有没有
    请问""".split()
    ),
)
"""The perfect is among the forms that ask for several things: what somebody has ever read."""
