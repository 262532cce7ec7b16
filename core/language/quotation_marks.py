"""Recognition of text in quotation marks. Pure."""

from __future__ import annotations

from core.language.lazy_regex import lazy_regex

QUOTED = lazy_regex(r"[\"“][^\"”]*[\"”]|(?<!\w)[‘'][^'’]{3,}?['’](?!\w)|「[^」]*」|『[^』]*』")


def is_mostly_quoted(sentence: str) -> bool:
    """Return whether more than half of `sentence` is in quotation marks."""
    return sum(map(len, QUOTED.findall(sentence))) * 2 > len(sentence)
