"""Chinese sentences in plain words."""

from __future__ import annotations

from core.language.lazy_regex import lazy_regex

_BESIDES = lazy_regex(r"^(?:请|麻烦|能不能|可以)?(?:帮我|给我|替我|推荐|告诉我|教我)[^，,。]*[，,]\s*(?=我)")
_LEAD = lazy_regex(
    r"^(?:对了|嗯+|哦+|啊|不过|但是|而且|所以|然后|另外|还有|顺便说一下|说实话|老实说|是的|好的|"
    r"哈哈+|没错)[，,、！!\s]*"
)
_ELIDED = lazy_regex(
    r"^(?=(?:最近|昨[天晚]|前天|今[天早]|上周|上个?月|去年|经常|每[天周晚早]|一直|打算|准备|刚刚?|"
    r"平时|正在|已经)[^他她它你您这那]*$)(?!.*我)(?!.*(?:天气|下雨|股市|新闻))"
)


def plain(sentence: str) -> str:
    """Strip introductory words from Chinese, and restore an omitted 我."""
    sentence = sentence.replace("本人", "我")
    return _ELIDED.sub("我", _BESIDES.sub("", _LEAD.sub("", sentence)), count=1)
