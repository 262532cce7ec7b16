"""Recognition of Chinese texts."""

from __future__ import annotations

import re

from core.language.lazy_regex import lazy_regex

_HAN = lazy_regex(r"[\u4e00-\u9fff]")
_OPENS = lazy_regex(r"\s*[\u4e00-\u9fff]{2}")
_FUNCTION = lazy_regex(
    r"\b(?:the|an?|is|are|am|was|were|be|to|of|and|or|in|on|at|for|with|my|your|his|her|i|you|he|she|it|we|they|"
    r"that|this|"
    r"not|do|does|did|has|have|had|will|can)\b",
    re.IGNORECASE,
)
"""Words of English, of whose texts some have Chinese names in them."""
_KANA = lazy_regex(r"[\u3041-\u30ff]")


def is_chinese(text: str) -> bool:
    """Return whether `text` is to be read as Chinese: a fifth or more of Han characters, and few kana among them.

    Fewer are enough if it opens in Chinese and has no English function word: "我们用 PostgreSQL 16".
    """
    han = len(_HAN.findall(text))
    many = han * 5 >= len(text.strip()) > 0 or (_OPENS.match(text) is not None and not _FUNCTION.search(text))
    return many and len(_KANA.findall(text)) * 4 <= han
