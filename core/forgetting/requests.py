"""Recognises requests to forget, in English and Chinese, and reads what they name. Pure.

A request is a command or a wish addressed to the assistant. Reports of what others deleted, questions how something is
deleted, idioms ("forget it"), quotations, and commands about files, texts and households are none. What a request
means, among what was said, is found by `core.forgetting.matching`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.forgetting import asking as wishes
from core.forgetting import extent
from core.forgetting.asking import AGREES, ELSEWHERE, MEMORY, OF_VALUE
from core.forgetting.extent import ABOUT_SELF, UNSAID, ForgetScope
from core.forgetting.text import READ, Span, clauses, plain, sentences
from core.forgetting.wording import CUE
from core.language.lazy_regex import lazy_regex


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A request to forget, as it was worded.

    `asking`: the sentences that ask. `widened`: descriptions of what is meant, the narrowest first; a wider one counts
    if the narrower finds nothing. `kept`: clauses that name what stays or replaces it. `agrees`: whether it may answer
    someone else's request. `about_self`: whether it asks for what others said about the speaker. `before`: the
    sentence to which it points ("delete it"). `doubtful`: whether it may be about something else than the memory,
    unless it names a value that was said. `of_value`: whether it asks for a code, a phrase or the like in the memory.
    """

    text: str
    scope: ForgetScope
    asking: Sequence[Span]
    widened: Sequence[str]
    kept: Sequence[str] = ()
    agrees: bool = False
    about_self: bool = False
    before: str = ""
    doubtful: bool = False
    of_value: bool = False


def read(message: str) -> ForgetRequest | None:
    """Return the request that a message makes; None if it makes none."""
    text = message[:READ]
    if not CUE.search(plain(text)):
        return None
    bare = wishes.without_quotations(plain(text))
    if ELSEWHERE.search(bare):
        return None
    pieces = sentences(bare)
    asking = [index for index, piece in enumerate(pieces) if wishes.asks(piece.text, bare)]
    doubtful = not asking
    if doubtful:
        asking = [index for index, piece in enumerate(pieces) if wishes.asks(piece.text, bare, value=True)]
    if not asking:
        return None
    own = [_original(text, pieces[index]) for index in asking]
    scope = extent.scope_of(" ".join(plain(one.text) for one in own))
    return ForgetRequest(
        text=text,
        scope=scope,
        asking=own,
        widened=_widened(text, pieces, asking),
        kept=_kept(text, pieces, asking),
        agrees=AGREES.search(bare) is not None,
        about_self=ABOUT_SELF.search(bare) is not None,
        before=_pointed_at(text, pieces, asking),
        doubtful=doubtful,
        of_value=any(OF_VALUE.search(pieces[one].text) for one in asking) and MEMORY.search(bare) is not None,
    )


def declared(message: str) -> ForgetRequest | None:
    """Return the request that a statement amounts to that something is deleted: "Logged: deleted the code 4471".

    It counts in groups whose members may all ask, and means values alone that it names.
    """
    text = message[:READ]
    bare = wishes.without_quotations(plain(text))
    pieces = sentences(bare)
    said = [index for index, piece in enumerate(pieces) if wishes.declares(piece.text)]
    if not said:
        return None
    own = [_original(text, pieces[index]) for index in said]
    kept = _kept(text, pieces, said)
    return ForgetRequest(text, ForgetScope.FACT, own, [one.text for one in own], kept, agrees=True)


def _original(text: str, piece: Span) -> Span:
    return Span(text[piece.start : piece.end], piece.start)


def _pointed_at(text: str, pieces: Sequence[Span], asking: Sequence[int]) -> str:
    """Return the sentence before the first one that asks, if that one points at it."""
    first = asking[0]
    points = first > 0 and _POINTS.search(pieces[first].text) is not None
    return _original(text, pieces[first - 1]).text if points else ""


def _widened(text: str, pieces: Sequence[Span], asking: Sequence[int]) -> list[str]:
    """Return the clauses that ask, the sentences that ask, these with the one before, and the whole message."""
    told = [_original(text, piece).text for piece in pieces]
    narrow = [clause.text for index in asking for clause in clauses(told[index]) if not extent.is_kept(clause.text)]
    asked = [told[index] for index in asking]
    before = [
        told[index - 1] for index in asking if index and index - 1 not in asking and not extent.is_kept(told[index - 1])
    ]
    rest = [one for one in told if not extent.is_kept(one)]
    steps = [" ".join(narrow), " ".join(asked), " ".join([*before, *asked]), " ".join(rest)]
    return list(dict.fromkeys(one for one in steps if one))


def _kept(text: str, pieces: Sequence[Span], asking: Sequence[int]) -> list[str]:
    """Return the clauses that say what stays or what the new value is."""
    return [
        clause.text
        for index, piece in enumerate(pieces)
        for clause in clauses(_original(text, piece).text)
        if extent.is_kept(clause.text) or (index not in asking and index > asking[0] and not UNSAID.search(piece.text))
    ]


_POINTS: Final = lazy_regex(r"\b(?:it|this|that|them|these|those|that one|this one|both)\b(?! \w+ (?:i|we|he|she)\b)")
