"""Text of requests and statements in one form, with the places of its sentences, clauses and words. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from core.language.common_words import PLAIN
from core.language.lazy_regex import lazy_regex
from core.language.terms import STOPWORDS, stem, terms

READ: Final = 4_000
"""Characters of a message that are read: a request is short, and what is pasted behind it is none."""

_SIMPLIFIED: Final = str.maketrans(
    "刪記憶請幫說過話資號碼證電錄這個們還給讓從應該對關於麼嗎別須無數據檔銷毀內裡裏剛纔樣張麻煩統淨"
    "凈丟掃講談寫詞問題誰為爲會離職薪貸債錢賬帳戶卡門鑰醫藥術確診鬱焦慮癌腫產懷結檢歲齡歷黑訊信"
    "時場現舊換後條聽見經沒層樓棟區縣鄉鎮務來嘛啦將聯絡繫係總共萬億兩幾點鐘週傳發簡體繁貼圖雲機構"
    "開關愛戀婚訂親飲戒賭獄審罰敗業績學報銀行滿處理覺認識動態庫儲備隱私題專屬實際",
    "删记忆请帮说过话资号码证电录这个们还给让从应该对关于么吗别须无数据档销毁内里里刚才样张麻烦统净"
    "净丢扫讲谈写词问题谁为为会离职薪贷债钱账账户卡门钥医药术确诊郁焦虑癌肿产怀结检岁龄历黑讯信"
    "时场现旧换后条听见经没层楼栋区县乡镇务来嘛啦将联络系系总共万亿两几点钟周传发简体繁贴图云机构"
    "开关爱恋婚订亲饮戒赌狱审罚败业绩学报银行满处理觉认识动态库储备隐私题专属实际",
)
"""Traditional characters of this room's patterns, with their simplified forms; one for one, so that places stay."""

_MARKS: Final = str.maketrans("’‘`´“”„「」『』", '\'\'\'\'"""""""')


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text and its place in it."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def plain(text: str) -> str:
    """Return the text in small letters, simplified characters and straight quotes, each at its place."""
    folded = text.translate(_MARKS).translate(_SIMPLIFIED)
    lowered = folded.lower()
    return lowered if len(lowered) == len(folded) else folded


def sentences(text: str) -> list[Span]:
    """Return the sentences of a text with their places; a stop within an abbreviation or a number ends none."""
    return _pieces(text, _SENTENCE_END)


def statements(text: str) -> list[Span]:
    """Return the sentences of a text, those of two statements divided: "My PIN is 1234 and my code is 5678."."""
    return [
        Span(piece.text, sentence.start + piece.start)
        for sentence in sentences(text)
        for piece in _pieces(sentence.text, _NEXT_STATEMENT)
    ]


def clauses(text: str) -> list[Span]:
    """Return the clauses of a sentence with their places."""
    return _pieces(text, _CLAUSE_END)


def long_tokens(text: str) -> list[re.Match[str]]:
    """Return the tokens of a text that are long enough to be values by themselves, with their places."""
    return [token for token in TOKEN.finditer(text) if _is_long(token.group())]


def _is_long(token: str) -> bool:
    return sum(sign.isdigit() for sign in token) > 2 or (len(token) > 3 and re.search("[A-Za-z]", token) is not None)  # noqa: PLR2004


def content_terms(text: str) -> list[str]:
    """Return the stems of a text that carry a meaning, without those that occur in every talk."""
    stems = terms(text.translate(_SIMPLIFIED))
    return [
        stem for stem in stems if stem not in STOPWORDS and stem not in _EVERYDAY and (len(stem) > 1 or stem > "\u2e80")
    ]


def naming_terms(text: str) -> list[str]:
    """Return the stems of a description, everyday ones too, without those that say that it is to be forgotten."""
    stems = terms(text.translate(_SIMPLIFIED))
    return [stem for stem in stems if stem not in STOPWORDS and stem not in _FRAMING and stem not in STOPS]


def is_word_at(text: str, start: int, end: int) -> bool:
    """Return whether a piece of a text begins and ends at the edges of words, where its script has edges."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_joins(before, text[start]) or _joins(text[end - 1], after))


def loose(text: str) -> str:
    """Return the text in plain form with hyphens as spaces, each at its place: "blue-bin" is "blue bin"."""
    return plain(text).replace("-", " ")


def find_all(text: str, piece: str) -> list[tuple[int, int]]:
    """Return the places of a piece in a text, whole words only, regardless of case, hyphens and form of characters."""
    hay, needle = loose(text), loose(piece)
    places: list[tuple[int, int]] = []
    at = hay.find(needle) if needle else -1
    while at >= 0:
        end = at + len(needle)
        if is_word_at(hay, at, end):
            places.append((at, end))
        at = hay.find(needle, end)
    return places


def _joins(character: str, other: str) -> bool:
    return (
        bool(character and other)
        and character.isascii()
        and other.isascii()
        and character.isalnum()
        and other.isalnum()
    )


def _pieces(text: str, ends: re.Pattern[str]) -> list[Span]:
    pieces, start = [], 0
    for match in ends.finditer(text):
        pieces.append(_trimmed(text, start, match.end()))
        start = match.end()
    pieces.append(_trimmed(text, start, len(text)))
    return [piece for piece in pieces if piece.text]


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(piece.strip(), start + len(piece) - len(piece.lstrip()))


_SENTENCE_END: Final = lazy_regex(
    r"(?<![ .](?:mr|ms|dr|st|no|vs))(?<! mrs)[.!?…](?=[\"')\]]?(?:\s|$))[\"')\]]?|"
    r"(?<=[一-鿿])[!?]+|[。！？；;][”’」』\"]?|\n",
    re.IGNORECASE,
)

_NEXT_STATEMENT: Final = lazy_regex(
    r"(?<=\w)(?:,(?=\s)|,?\s(?=and\s)|,?\s(?=but\s)|;)(?=\s?(?:(?:and|but)\s)?(?:my|our|his|her|their|the|"
    r"[A-Z][a-z]+'s) (?:[\w'-]+ ){1,4}(?:is|are|was|were) )|"
    r"[，,；](?=(?:而|但|还有)?(?:我|他|她|我们|我家)的?[^，。,]{1,10}是)",
    re.IGNORECASE,
)
"""End of a statement before another that says what something is."""

_CLAUSE_END: Final = lazy_regex(
    r",(?=\s)(?!\s(?:19|20)\d\d\b)|(?<=[一-鿿]),|;(?=\s)|[，、：]|:(?=\s)| - |[—–]|"
    r"\b(?:now that|because|since|but|although|though|while)(?=\s)|"
    r"\band(?= (?:just |only |please )?(?:keep|retain|use|rely|leave|remember|do not|don't|never|stop)\b)|"
    r"\bas(?= (?:the|it|we|I)\b)",
    re.IGNORECASE,
)

STOPS: Final = frozenset(
    "the a an my our your his her its their this that these those and or but to of from at in on by for with as is are "
    "was were be been has have had will should must can now too also well again already just please it any all so "
    "because once after since until before while when if than then there here no not only".split()
)
"""Function words of English, which begin and end no value."""

TOKEN: Final = lazy_regex(
    r"\d{2,4}年\d{1,2}月(?:\d{1,2}[日号])?|\d{1,2}月\d{1,2}[日号]|[A-Za-z0-9_@+-]*(?:\d|[A-Za-z]@)[A-Za-z0-9_@./:+-]*"
    r"(?:,\d{3}(?!\d))*(?:\.\d+)?"
)
"""A word with a digit, an address of mail, a Chinese date."""

_TELLING: Final = frozenset(
    stem(word)
    for word in "job school money dad mom mum mother father brother sister son daughter wife husband grandma grandpa "
    "grandmother grandfather aunt uncle cousin nephew niece boss neighbor house apartment car dog cat doctor church "
    "baby girl boy boyfriend girlfriend parents kid kids team".split()
)
"""Words that are common in talk, and yet tell one thing from another."""

_FRAMING: Final = frozenset(
    "delet eras forget remov wipe scrub purg dump scrap strike drop discard redact clear keep kept store save rememb "
    "retain memori record hold hang thing bit stuff part old new former previous earlier current exact piec detail "
    "inform data entri pleas tell told said say mention talk know longer anymor need rather sure make want like "
    "get rid take let just last now one still ever noth someth someon somebodi assist list note messag chat "
    "删 "
    "删掉 "
    "删除 忘 忘掉 忘记 清 清掉 清空 清除 抹 抹掉 记 记忆 记录 记住 保留 留 存 存着 丢 扔 销 请 帮 帮我 说 说过 讲 "
    "话 "
    "事 "
    "事情 信息 内容 东西 资料 那个 这个 那件 这件 那条 那句 那段 刚才 别 不要 不用 没 没有 已经 现在 以前 之前 旧 新 "
    "你 "
    "我 "
    "他 她 的 了 吧 就 还 再 也 都 全 全部 所有 一切 凡是 统统 自己 人 一 条 句 段 件 个 串 可以 知道 告诉 提 处 里 "
    "那 这 给 用 要 想 不 是 有 在 去 上 下 好 行 什么 怎么 觉得 还是 最好 当 当作 过 着 掉".split()
)
"""Stems that say that something is to be forgotten, not what."""

_EVERYDAY: Final = (PLAIN - _TELLING) | _FRAMING
