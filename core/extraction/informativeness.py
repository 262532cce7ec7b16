"""Information content of a message. Pure.

The filter is strict, because a message left out here is only not remembered; it stays in the transcript and in
search.
"""

from __future__ import annotations

import re
from typing import Final

from core.extraction.protocol import Window
from core.language import languages, sentences
from core.language.language import Grammar
from core.language.terms import terms
from core.statements import comparison
from core.types import Message

HAN_CHARACTERS = 3
"""Characters that a Chinese character counts as: an English word corresponds to two of them."""

LEAST = 2.0
"""Minimum weight of an informative message: two meaningful words, or a name or number and its verb."""

SPECIFIC = 1.5
"""Weight of a name, a number or a date; any other meaningful word weighs 1."""

SPEAKERS = frozenset({"user", "assistant"})
"""Roles whose messages may state lasting facts. Messages of tools and prompts only provide context."""

CHATTER = frozenset(
    term
    for word in """
        ok okay kay yes yeah yep yup no nope nah sure thanks thank thx ty cheers welcome please sorry pardon hi
        hello hey hiya yo bye goodbye cya morning afternoon evening night good great nice cool awesome amazing
        wonderful lovely fantastic perfect excellent brilliant fine well right alright true exactly absolutely
        definitely totally really indeed agree agreed wow oh ah aha hm hmm um uh haha hahaha lol lmao rofl xd yay
        ugh oops omg congrats congratulations cute sweet glad happy hope know see sound look feel think guess mean
        get got go going come like love want need make say tell talk ask let thing stuff way lot bit later soon
        again today tonight tomorrow now much many more most so too very just only still even also always never ever
        take care day one luck fun great understand welcome back anytime problem worry worries matter makes sense
        point deal idea got gotcha bro dude man guys everyone buddy friend dear test ping
    """.split()
    for term in terms(word)
) | frozenset(
    """
    哈 哈哈 哈哈哈 呵呵 嘿嘿 嘻嘻 嗯 嗯嗯 哦 噢 喔 唉 哎 哇 好 好的 好吧 好啊 好呀 行 可以 没事
    没关系 没问题 不客气 不用 谢谢 多谢 感谢 谢 你好 您好 大家好 早 早安 早上好 晚上 晚上好 上午 下午
    中午 晚安 再见 拜拜 回头 回头见 明天 明天见 今天 对 对的 对啊 是 是的 是啊 当然 真 真的 太 太好了
    太棒了 棒 厉害 牛 赞 不错 挺 很 非常 恭喜 加油 辛苦 辛苦了 收到 明白 知道 知道了 懂 懂了 了解
    原来 原来如此 这样 那样 一样 觉得 想 说 看 看看 来 去 有 没有 没 不 不是 吧 呀 啊 呢 哟 嘛
    抱歉 对不起 不好意思 客气 开心 高兴 期待 希望 一下 什么 怎么 怎么样 为什么 祝 祝你 在吗 在 人 事
    点 见 问题
    """.split()
)
"""Words of courtesies, agreement and greetings; alone they state nothing lasting."""

LOOKED_AT: Final = 4_000
"""Characters of a message that decide whether it is informative."""

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_MINDED_ZH = re.compile(r"^(?:不对|不，|不,|错了|应该是|我说的是|我是说|记住|别忘了|请记住|忘掉|别再)")
_MINDED_EN = re.compile(
    r"^(?:no|nope|wrong|not quite),? (?:it|that|this|i|my|the|we|not)\b|"
    r"^(?:please )?(?:remember|forget|note|keep in mind|don't forget)\b|\b(?:call|address) me\b",
    re.IGNORECASE,
)


def length(text: str) -> int:
    """Return the number of characters; runs of space count as one, a Chinese character as three."""
    return len(" ".join(text.split())) + len(_HAN.findall(text)) * (HAN_CHARACTERS - 1)


def weight(text: str) -> float:
    """Return the total weight of the words of a text; 0 if it consists of courtesies."""
    analysis = comparison.read(text)
    specific = {*analysis.names, *(number for number, _ in analysis.numbers)} - CHATTER
    ordinary = {term for term in terms(text) if term not in CHATTER} - specific
    return len(ordinary) + SPECIFIC * len(specific)


def tells(message: Message, least_characters: int) -> bool:
    """Return whether a message may hold lasting facts: an instruction, a correction, a slot, or enough words."""
    if message.role not in SPEAKERS:
        return False
    text = message.content[:LOOKED_AT]
    if length(text) >= least_characters and weight(text) >= LEAST:
        return True
    return message.role == "user" and (is_minded(text) or states(text))


def is_minded(text: str) -> bool:
    """Return whether it corrects something or sets a rule for the future: such messages are never skipped."""
    return any(_is_minded(sentence) for sentence in sentences.split(text))


def states(text: str) -> bool:
    """Return whether the rules alone read a fact about its speaker from it, as from `I'm Al`."""
    return any(language.slots(plain) for plain, language in _read(text))


def messages_to_read(window: Window, least_characters: int) -> list[Message]:
    """Return the messages that make a window worth reading: those that may hold lasting facts.

    A "yes" means what was asked, so a question right before the fresh messages counts as one of them.
    """
    questions = [message for message in window.before[-1:] if message.content.rstrip().endswith(("?", "？"))]
    return [message for message in (*questions, *window.fresh) if tells(message, least_characters)]


def _is_minded(sentence: str) -> bool:
    if _MINDED_EN.search(sentence) or _MINDED_ZH.search(sentence):
        return True
    return any(
        language.instruction.search(plain) or language.change.search(plain) or language.change.search(sentence)
        for plain, language in _read(sentence)
    )


def _read(text: str) -> list[tuple[str, Grammar]]:
    """Return the sentences that assert something, in plain words, with their language."""
    asserted = [sentence for whole in sentences.split(text) if (sentence := sentences.asserted_part(whole))]
    return [
        (language.plain(sentence), language) for sentence in asserted for language in [languages.grammar_of(sentence)]
    ]
