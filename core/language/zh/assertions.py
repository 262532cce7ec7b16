"""Chinese sentences that assert something, and those that do not."""

from __future__ import annotations

from typing import Final

from core.language.lazy_regex import lazy_regex
from core.language.parts import Assertions, LeadIn

_SPEECH = lazy_regex(
    r"(?:说|问|喊|写道|回答|告诉我|表示|台词|歌词)(?:过|了|道)?[:：,，]?\s*[“\"「『]|听说|据说|(?:他|"
    r"她|人家|朋友|老板|有人)说"
)
_HYPOTHETICAL = lazy_regex(
    r"如果|假如|要是|假设|万一|倘若|要不是|我(?:真)?希望我|但愿|恨不得|(?:真|好)想(?:变成|当个|是)|"
    r"就好了|比如说?|例如|梦见|梦到|开玩笑|也许我|可能会|说不定"
)
_QUESTION = lazy_regex(
    r"[吗呢么](?:[。.!！]|$)|^(?:请问|怎么|什么|为什么|哪|谁|几|多少|能不能|可不可以|是不是|有没有)|"
    r"(?:怎么样|怎么办|怎么做|好不好|行不行|对不对)(?:[。.]|$)"
)
_REQUEST = lazy_regex(
    r"^(?:请|麻烦你?|帮忙)?(?:帮我|给我|替我)?(?:写|翻译|总结|生成|起草|解释|列出|列|介绍|修改|润色|查|画|把)(?!完|了)[^，,]*$"
)
_STANDING = lazy_regex(r"以后|每次|总是|一直|始终|从现在|今后")
_ASKING_TAIL = lazy_regex(
    r"^(?P<said>.{4,}?)[，,](?:[^，,]*(?:吗|呢|什么|怎么|哪|谁|几|多少|能不能|可以|推荐|有没有)[^，,]*)[？?]$"
)
_LEAD_IN = lazy_regex(r"^(?P<lead>[^：:，。！？“「]{1,12})[：:]\s*(?=我|请|以后|不要|别|记住|从现在|每次)")
_NO_LEAD = lazy_regex(r"[说问写讲喊回译例题句诗歌信]")
_STATED_ITSELF = lazy_regex(r"我")


def is_question(sentence: str) -> bool:
    """Return whether a sentence has the form of a question."""
    return bool(_QUESTION.search(sentence))


def is_request(sentence: str) -> bool:
    """Return whether a sentence only asks for something to be done once."""
    return bool(_REQUEST.match(sentence)) and not _STANDING.search(sentence)


def is_quoted(sentence: str) -> bool:
    """Return whether a sentence gives someone else's words."""
    return bool(_SPEECH.search(sentence))


ASSERTIONS: Final = Assertions(
    is_question=is_question,
    is_request=is_request,
    is_quoted=is_quoted,
    hypothetical=_HYPOTHETICAL,
    asking_tail=_ASKING_TAIL,
    asks_for=lazy_regex(r"(?:请|麻烦|帮我?|给我|替我|告诉我|推荐|教我|能不能|可以)(?!假|教|问题)"),
    lead_in=LeadIn(_LEAD_IN, _NO_LEAD, _STATED_ITSELF),
)
