"""Reads how much a request to forget covers, and which of its clauses say what stays. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from core.forgetting.asking import DECLARED
from core.forgetting.text import plain
from core.forgetting.wording import COMMAND, PLACE
from core.language.lazy_regex import lazy_regex


class ForgetScope(StrEnum):
    """Extent of a request: a value or statement, what was said last, a person or topic, or everything.

    `UNNAMED`: a value that was said, without a word of the memory. `SIMILAR`: the statement that is nearest to it in
    meaning, which is a guess. `SUGGESTED`: what a model takes it to mean.
    """

    FACT = "fact"
    LAST = "last"
    ALL_ABOUT = "all_about"
    EVERYTHING = "everything"
    UNNAMED = "unnamed"
    SIMILAR = "similar"
    SUGGESTED = "suggested"


def scope_of(request: str) -> ForgetScope:
    """Return the extent of a request in `text.plain` form."""
    text = _SOURCE.sub(" ", request)
    if _EVERYTHING.search(text) and not _SOMEONE_ELSE.search(text):
        return ForgetScope.EVERYTHING
    if _ALL_ABOUT.search(text):
        return ForgetScope.ALL_ABOUT
    if _LAST.search(text):
        return ForgetScope.LAST
    return ForgetScope.FACT


def is_kept(clause: str) -> bool:
    """Return whether a clause of a request says what stays, or names the value that replaces another."""
    text = plain(clause)
    if _NO_LONGER.search(text):
        return False
    asks = COMMAND.search(text) or DECLARED.search(text) or _NOT_KEPT.search(text)
    return _KEEPS.search(text) is not None and not (asks and not _STAYS.search(text))


_SOURCE: Final = lazy_regex(rf"\b(?:from|out of|off|in|among) {PLACE}")

_EVERYTHING: Final = lazy_regex(
    r"\b(?:everything|anything|all(?: of (?:it|that|this))?|every(?: single)? (?:word|thing|message|"
    r"bit))\b.{0,24}\b(?:i|i've|we|we've)\b"
    r".{0,14}\b(?:told|said|shared|written|wrote|mentioned|typed|talked|discussed|ever)\b|"
    r"\b(?:everything|anything|all(?: of)?(?: the)?(?: (?:data|info\w*|memor\w+))?) (?:you(?:'ve| have| know| got|"
    r" hold| remember| stored| saved)?"
    r".{0,12} )?(?:about|on|of) (?:me|us|myself)\b|\bclean slate\b|\bnothing (?:i|i've|that i)\b.{0,40}\b(?:kept|"
    r"stored|saved|"
    r"remembered|retained|stay|remain)|\bforget (?:about )?me\b|\ball (?:of )?my (?:data|memories|messages|"
    r"information|info|details|"
    r"stuff)\b|\bwipe (?:your|the|my|its|all|everything|it all)(?: (?:whole|entire))?(?: (?:memory|memories|"
    r"slate))?\b(?! (?:down|off))|"
    r"\b(?:your|the) (?:whole|entire) memory\b|\b(?:delete|erase|forget|purge|clear|remove|wipe|"
    r"scrub) (?:absolutely |literally |"
    r"simply |just )?(?:everything|it all|the lot|all of it)(?=\s*(?:[.!,;]|$|please|from|now|in here|here|you))|"
    r"\bnone of what i\b|\bnot a (?:single )?word\b|\bever (?:told you|said to you)\b.{0,30}\b(?:gone|deleted|"
    r"erased)\b|"
    r"(?:所有|全部|一切|凡是|任何|每一?句|每一?条|通通|统统|全都?|都).{0,12}我.{0,8}(?:说|讲|聊|告诉|提|发|交代)|"
    r"我.{0,14}(?:说|讲|聊|告诉你|提|发|交代)(?:过|的|了)?.{0,10}(?:所有|全部|一切|每一?[句条]|统统|通通|全都?|都|"
    r"一[句字]不[留剩])|"
    r"(?:关于|有关|跟|和|属于)我的?(?:有关的?)?(?:所有|一切|全部|任何)|(?:所有|一切|全部|任何)(?:关于|有关|跟|"
    r"和)我(?!的)|我的(?:所有|全部|一切)(?:信息|资料|数据|记录|内容|记忆)|"
    r"清空(?:你的)?(?:记忆|资料|一切|所有|全部)|记忆(?:全部?|都|统统|通通)?(?:清空|清零|清除|删光)|从[头零](?:开始|"
    r"来过)|一张白纸|当(?:作|成)?不?认识我|归零|清零|"
    r"(?:这里|这儿|咱们?|我们)(?:聊|说|讲|谈)(?:过|的)?.{0,6}(?:全|都|一切|所有).{0,6}(?:删|清|忘|抹)"
)

_SOMEONE_ELSE: Final = lazy_regex(
    r"\b(?:about|on|regarding|concerning|of) (?:him|her|them|my \w+|our \w+|the \w+|that \w+|this \w+)\b(?! memory)|"
    r"\b(?!i\b|i've\b)\w+ (?:has )?(?:told|said to) you about me\b|(?:关于|有关|跟|和)(?!我|"
    r"你)[^，。]{1,10}(?:有关|沾边|相关|的)"
)

_ALL_ABOUT: Final = lazy_regex(
    r"\b(?:everything|anything|all|whatever|any(?:\s+and all)?|every (?:trace|mention|bit|detail|thing)|"
    r"(?:all )?traces?|the lot)\b.{0,50}"
    r"\b(?:about|on|of|regarding|concerning|related to|mentioning|involving|to do with|with)\b|"
    r"\bwhatever \w+ (?:has )?(?:told|said)\b|"
    r"\b(?:take|cut|wipe|scrub|get|leave|write|strike|erase|delete|remove|forget|purge|drop) (?:him|her|them)\b"
    r"(?! (?:a|the|to|off|home|some)\b)|\b(?:run into|come across|be reminded of|hear of|"
    r"see) [\w' -]{2,40}? (?:in here|here|"
    r"with you|from you) (?:ever )?again\b|"
    r"\b(?:everything|anything|all|every \w+)\b.{0,30}\b(?:he|she|they|him|her|them)\b|"
    r"(?:所有|全部|一切|凡是|任何|但凡|只要).{0,24}(?:有关|相关|沾边|沾|关于|提到|牵扯|涉及|的事|的内容|的记录|"
    r"的话|的信息|的一切|的)|"
    r"(?:有关|关于|跟|和).{1,14}(?:有关|相关|沾边)?的?(?:所有|一切|全部|内容|东西|事).{0,8}(?:统统|全|都|一并|通通)"
)

_LAST: Final = lazy_regex(
    r"\b(?:i|we) (?:have |'ve )?just (?:said|told|wrote|mentioned|shared|sent|typed|let slip|blurted|confessed)\b|"
    r"\bwhat i just\b|"
    r"\b(?:that|the|my) (?:very )?last (?:bit|thing|message|part|sentence|line|remark|comment|one|statement|piece)\b|"
    r"\bmy (?:previous|last) \w+\b|\bthat bit\b|\b(?:said|told you|mentioned|sent|wrote) (?:a (?:moment|minute|"
    r"second) ago|just now|"
    r"(?:right )?before this)\b|刚才|刚刚|刚说|刚讲|刚发|刚提|上一[句条段个]|上[句条]|最后[一那](?:句|条|段)|"
    r"前一[句条]|前面那?[句条段]|方才|"
    r"\bthat (?:\w+ ){0,2}(?:remark|comment|confession|outburst|rant|slip|joke|sentence|message)\b(?! (?:about|on|"
    r"of)\b)"
)

ABOUT_SELF: Final = lazy_regex(
    r"\b(?:told|said|wrote|mentioned|shared|have|got|know|says?)\b.{0,30}\babout me\b|(?:说|讲|聊|提|写)(?:到|起|"
    r"过|了)?我的|"
    r"(?:说|讲|提|写)(?:到|起|过|了)?我(?:那|什么|些|坏|的)|关于我"
)

_KEEPS: Final = lazy_regex(
    r"(?<!-)\b(?:keep|leave|retain|only|new|newer|newest|now|currently|current|remains?|instead|replace[sd]?|"
    r"from today|"
    r"use|stays?|rely|"
    r"active|approved|switched to|changed to|the right one|correct one|it's|is enough|can stay)\b|"
    r"新的?|换成|改成|改为|换到|(?<!别)(?<!不要)(?<!再)(?<!想)留着|保留|现在[是用]|以后用|留下|别动|不动|照旧|只留|其他的?(?:留|不)"
)

_NO_LONGER: Final = lazy_regex(r"\b(?:is|are|was|were) (?:no longer|not) (?:active|current|valid|needed|used|in use)\b")

_NOT_KEPT: Final = lazy_regex(
    r"(?:\bnot|n't|\bno|\bnever|\bstop)\b.{0,20}\b(?:keep|kept|stor|sav|remember|retain|hold|hang|have|know|knew|"
    r"recall|log|note)"
    r"|(?:别|不要|不用|不必|不许)(?:再|替我|给我)?(?:留|存|记|保)"
)

_STAYS: Final = lazy_regex(
    r"^(?:and |but |just |please |only )*(?:keep|leave|retain|use|rely|remember)\b|\b(?:remains?|stays?|"
    r"should remain|can stay|is enough)\b|"
    r"(?:新的|其他的?|别的|剩下的?).{0,6}(?:留|保留|不动|记)|(?<!别)(?<!不要)(?<!再)(?<!想)留着|换成|改成|改为|别动"
)

UNSAID: Final = lazy_regex(
    r"\b(?:no one|nobody|none|not|never|n't|cannot|without|no)\b.{0,40}\b(?:recall\w*|confirm\w*|reus\w+|repeat\w*|"
    r"restor\w+|reconstruct\w*|retriev\w+|recover\w*|retain\w*|keep|kept|answer\w*|reveal\w*|surfac\w+|hint\w*|"
    r"mention\w*|stor\w+|us(?:e|ed)|longer|active|valid|current)\b|\bunavailable\b|不再|作废"
)
"""Statements that something is not to be said again, rather than that it stays."""
