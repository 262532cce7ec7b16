"""Chinese statements that are worth keeping, and the cues by which they are weighed."""

from __future__ import annotations

import re
from typing import Final

from core.language.lazy_regex import lazy_regex
from core.language.parts import Salience, SalienceCue


def _cue(name: str, weight: float, pattern: str) -> SalienceCue:
    return SalienceCue(name, weight, lazy_regex(pattern, re.IGNORECASE))


_STATEMENT: tuple[SalienceCue, ...] = (
    _cue(
        "something of one's own",
        0.5,
        r"我(?:的|家|爸|妈|哥|姐|弟|妹|老婆|老公|女儿|儿子|们公司|公司|朋友|孩子|男友|"
        r"女友)",
    ),
    _cue("new or recent", 0.4, r"刚|最近|昨|今天|今早|新|第一次|又"),
    _cue(
        "a date",
        0.4,
        r"明天|后天|上周|上个?月|去年|前年|明年|下周|下个?月|周[一二三四五六日末]|\d+月|\d+年|年前|个月前",
    ),
    _cue("a plan", 0.6, r"打算|计划|准备|想去|想学|要去|要参加|目标|梦想|报名"),
    _cue("a habit", 0.6, r"每(?:天|周|个?月|年|晚|早|次)|经常|一直|习惯|平时|常常|总是|从不"),
    _cue("a step taken", 0.5, r"搬|换|买|卖|开始|加入|参加|决定|毕业|尝试|学会|辞|升|领养|完成|拿到|获得|考"),
    _cue(
        "a turn of life",
        1.5,
        r"去世|怀孕|出生|离婚|结婚|订婚|确诊|手术|裁员|失业|毕业|退休|车祸|分手|受[过了]?伤|"
        r"生病|住院",
    ),
    _cue("family", 0.5, r"老婆|老公|妻子|丈夫|孩子|女儿|儿子|父母|爸|妈|哥|姐|弟|妹|奶奶|爷爷|外婆|外公|狗|猫"),
    _cue(
        "pastime",
        0.5,
        r"跑步|爬山|旅行|旅游|读书|看书|电影|音乐|吉他|钢琴|画|游泳|健身|瑜伽|篮球|足球|羽毛球|网球|"
        r"攀岩|做饭|烘焙|摄影|游戏|演唱会|滑雪|露营",
    ),
    _cue("work and study", 0.4, r"工作|公司|项目|面试|老板|同事|学校|课|考试|专业|大学|实习|创业|加班"),
    _cue("health", 0.6, r"过敏|医院|医生|病|药|疼|失眠|减肥|不能[吃跑喝]|压力"),
    _cue("possibility", -0.3, r"可能|也许|大概|应该"),
)
_TAKES_BACK = lazy_regex(r"不再|再也不|改成|戒了")
_SELF = lazy_regex(r"我|咱")
_SMALL_TALK = lazy_regex(
    r"谢谢|感谢|你好|您好|再见|拜拜|晚安|不好意思|抱歉|没关系|我觉得(?:你|这|那|不错|挺好)|我(?:想|"
    r"要)(?:问|知道|了解|请教|咨询|请你|让你|听听)|帮我|给我(?!爸|妈|儿子|女儿|老婆|"
    r"老公|的)|"
    r"我(?:明白|懂|知道|理解|同意|不知道|不确定|不懂|不明白|也是|也觉得)(?:了|啦)?(?:[，。！,.!]|$)|"
    r"加油|恭喜|我的天|我去[！!，]|等我|告诉我|教我|我看看|我试试|需要你|你能|你可以|我先"
)
_OF_OTHERS = lazy_regex(r"[他她它]们?(?!和我|跟我|给我|送我)|[你您]")


def is_statement(plain: str) -> bool:
    """Return whether `plain` can be understood alone: about oneself, more than a few words, no courtesy."""
    return (
        len(plain) >= 6 and bool(_SELF.search(plain)) and not _OF_OTHERS.match(plain) and not _SMALL_TALK.search(plain)
    )


SALIENCE: Final = Salience(
    cues=_STATEMENT, message=(), takes_back=_TAKES_BACK, is_statement=is_statement, is_told=is_statement, own=_SELF
)
