"""Cutting a Chinese sentence into clauses that can stand, change and be erased each for itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.language.lazy_regex import lazy_regex

QUOTED, TITLED = "\ue000", "\ue001"
"""What stands for each character of a quotation and of a title, so that neither is read or rewritten."""

_QUOTATION = lazy_regex(
    r"“[^“”]{0,400}(?:”|$)|\"[^\"]{0,400}(?:\"|$)|「[^「」]{0,400}(?:」|$)|『[^『』]{0,400}(?:』|$)|‘[^‘’]{0,200}’"
)
_TITLE = lazy_regex(r"《[^《》]{0,80}》|〈[^〈〉]{0,80}〉")
_BREAK = lazy_regex(r"[，；;。！!？?…~～]+|,(?!\d)|——+|(?<=\s)-+(?=\s)")
_COLON = lazy_regex(r"(?<!\d)：|：(?!\d)|:(?!\d)")
_LABEL = lazy_regex(
    r"^(?:帮我|给我|替我|请|麻烦|你)*(?:记|存|备忘|补充|更正|更新|报告|汇报|正经事|好消息|坏消息|喜事|对了|事情|提醒|"
    r"重点|另外|还有|一件事|两件事|顺便|说明|通知|备注|最新|进展|说点?正事|实话|[\u4e00-\u9fff]{2}(?:更新|汇报|进展|情况|清单))[^，：:]{0,8}$|^.{1,2}$"
)
_DISTRIBUTED = lazy_regex(
    r"(?P<left>[^，；：:。]{1,30}(?:、[^，；：:。、]{1,30}){1,9})[，,]?(?:这?[几两三四五]个)?分别(?P<verb>是|"
    r"为|叫|在|对应|到|要)?"
    r"(?P<right>[^，；：:。]{1,30}(?:、[^，；：:。、]{1,30}){1,9})"
)


_QUOTES = lazy_regex(
    r"^[^：:，。]{0,12}(?:说|问|讲|喊|唱|曰|道|表示|回复|回答|留言|写着|台词|歌词|标题|例句|签名|口号)[：:]"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause as written. `head`: the words before a colon that introduce it and its neighbours."""

    text: str
    head: str = ""


def mask_quotations(text: str) -> str:
    """Replace each character of quotations and titles by a placeholder."""
    masked = _QUOTATION.sub(lambda found: QUOTED * len(found.group()), text)
    return _TITLE.sub(lambda found: TITLED * len(found.group()), masked)


_BETWEEN = lazy_regex(r"(?<=[\u4e00-\u9fff])[ \u3000]+(?=[\u4e00-\u9fff])")
_GAP = lazy_regex(r"(?<=[^\s，。！？；、：,.!?;:~～…])[ \u3000]+(?=[^\s，。！？；、：,.!?;:~～…)])")


def is_spaced(text: str) -> bool:
    """Return whether a message has spaces where others have commas: one stands between Han characters, and no comma."""
    masked = mask_quotations(text)
    return bool(_BETWEEN.search(masked)) and not re.search("[，,。；]", masked)


def with_commas(text: str) -> str:
    """Replace the spaces between clauses by commas; spaces between Latin words stay."""
    masked = mask_quotations(text)
    pieces, start = [], 0
    for gap in _GAP.finditer(masked):
        if not (masked[gap.start() - 1].isascii() and masked[gap.end()].isascii()):
            pieces += [text[start : gap.start()], "，"]
            start = gap.end()
    return "".join([*pieces, text[start:]])


def split(sentence: str) -> list[Clause]:
    """Split a sentence into clauses; a list with “分别” or after a colon gives one clause for each item."""
    sentence = sentence.strip()
    if _QUOTES.match(mask_quotations(sentence)):
        return []
    paired = _DISTRIBUTED.search(mask_quotations(sentence))
    if paired and (dealt := _distribute(sentence, paired)):
        return dealt
    head, body = _split_heading(sentence)
    pieces = _pieces(body)
    if head and len(pieces) == 1 and not _LABEL.match(head):
        return [Clause(f"{head}：{pieces[0]}")]
    return [Clause(piece, "" if _LABEL.match(head) else head) for piece in pieces]


def _pieces(text: str) -> list[str]:
    masked, start, found = mask_quotations(text), 0, []
    for cut in _BREAK.finditer(masked):
        found.append(text[start : cut.start()])
        start = cut.end()
    found.append(text[start:])
    return [piece.strip(" 　、，。") for piece in found if piece.strip(" 　、，。")]


def _split_heading(sentence: str) -> tuple[str, str]:
    """Split at the first colon: the heading, empty if there is none, and the rest."""
    colon = _COLON.search(mask_quotations(sentence))
    if colon is None or colon.start() > 24:
        return "", sentence
    return sentence[: colon.start()].strip(" ，"), sentence[colon.end() :]


def _distribute(sentence: str, paired: re.Match[str]) -> list[Clause] | None:
    """Split “甲、乙分别是子、丑” into “甲是子” and “乙是丑”; None if the lists differ in length."""
    left, right = (sentence[paired.start(side) : paired.end(side)].split("、") for side in ("left", "right"))
    if len(left) != len(right):
        return None
    verb = paired["verb"] or "是"
    rest = _pieces(sentence[paired.end() :])
    return [*(Clause(f"{one.strip()}{verb}{other.strip()}") for one, other in zip(left, right, strict=True)),
            *map(Clause, rest)]  # fmt: skip
