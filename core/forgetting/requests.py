"""Reads what requests to forget name, in English and Chinese. Pure.

`core.forgetting.recognition` decides which sentences ask. What a request means, among what was said, is found by
`core.forgetting.matching`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.forgetting import asking as wishes
from core.forgetting import extent
from core.forgetting.asking import AGREES, OF_VALUE
from core.forgetting.extent import ABOUT_SELF, UNSAID, ForgetScope
from core.forgetting.recognition import STRETCH, recognise
from core.forgetting.text import READ, TextSpan, clauses, plain, sentences
from core.forgetting.wording import COMMAND
from core.language.lazy_regex import lazy_regex

BEFORE: Final = 2
"""Sentences before the one that asks which may name what is meant."""


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A request to forget, as it was worded.

    `asking`: the sentences that ask. `widened`: descriptions of what is meant, the narrowest first; a wider one counts
    if the narrower finds nothing. `kept`: clauses that name what stays or replaces it. `agrees`: whether it may answer
    someone else's request. `about_self`: whether it asks for what others said about the speaker. `before`: the
    sentence to which it points ("delete it"). `around`: the sentences from two before the first one that asks to the
    last one. `of_value`: whether it asks for a code, a phrase or the like. `values_only`: whether it means nothing but
    values that it names.
    """

    text: str
    scope: ForgetScope
    asking: Sequence[TextSpan]
    widened: Sequence[str]
    kept: Sequence[str] = ()
    agrees: bool = False
    about_self: bool = False
    before: str = ""
    around: Sequence[str] = ()
    of_value: bool = False
    values_only: bool = False

    @property
    def heard(self) -> str:
        """Return what the trained model reads: the whole message, of a long one the sentences around those that ask."""
        return self.text if len(self.text) <= STRETCH or not self.around else " ".join(self.around)


def read(message: str, asking: Sequence[int]) -> ForgetRequest | None:
    """Return the request that a message makes with these sentences, as `recognition.recognise` numbers them."""
    text = message[:READ]
    pieces = sentences(plain(text))
    return _request(text, pieces, [index for index in asking if index < len(pieces)])


def by_words(message: str) -> ForgetRequest | None:
    """Return the request that a message makes for certain, as far as words alone tell; None if it makes none."""
    recognised = recognise(message)
    return read(message, recognised.sentences) if recognised is not None and recognised.sure else None


def commands(message: str) -> ForgetRequest | None:
    """Return commands to delete, "delete the PIN 6714", as a request for their values, if none names the memory.

    Where one does, the others say what it means.
    """
    text = message[:READ]
    if not COMMAND.search(plain(text)):
        return None
    pieces = sentences(plain(text))
    recognised = recognise(message)
    asking = [] if recognised is None else recognised.sentences
    bare = [index for index, piece in enumerate(pieces) if wishes.commands(piece.text)]
    request = _request(text, pieces, sorted({*asking, *bare}))
    return request if request is None or asking else replace(request, scope=ForgetScope.UNNAMED, values_only=True)


def _request(text: str, pieces: Sequence[TextSpan], asking: Sequence[int]) -> ForgetRequest | None:
    if not asking:
        return None
    own = [_original(text, pieces[index]) for index in asking]
    folded = " ".join(piece.text for piece in pieces)
    return ForgetRequest(
        text=text,
        scope=extent.scope_of(" ".join(plain(sentence.text) for sentence in own)),
        asking=own,
        widened=_widened(text, pieces, asking),
        kept=_kept_clauses(text, pieces, asking),
        agrees=AGREES.search(folded) is not None,
        about_self=ABOUT_SELF.search(folded) is not None,
        before=_pointed_at(text, pieces, asking),
        around=[_original(text, piece).text for piece in pieces[max(0, asking[0] - BEFORE) : asking[-1] + 1]],
        of_value=any(OF_VALUE.search(pieces[index].text) for index in asking),
    )


def declared(message: str) -> ForgetRequest | None:
    """Return the request that a statement amounts to that something is deleted: "Logged: deleted the code 4471".

    It counts in groups whose members may all ask, and means values alone that it names.
    """
    text = message[:READ]
    pieces = sentences(wishes.without_quotations(plain(text)))
    declaring = [index for index, piece in enumerate(pieces) if wishes.declares(piece.text)]
    if not declaring:
        return None
    own = [_original(text, pieces[index]) for index in declaring]
    kept = _kept_clauses(text, pieces, declaring)
    return ForgetRequest(
        text, ForgetScope.FACT, own, [sentence.text for sentence in own], kept, agrees=True, values_only=True
    )


def _original(text: str, piece: TextSpan) -> TextSpan:
    return TextSpan(text[piece.start : piece.end], piece.start)


def _pointed_at(text: str, pieces: Sequence[TextSpan], asking: Sequence[int]) -> str:
    """Return the sentence before the first one that asks, if that one points at it."""
    first = asking[0]
    points = first > 0 and _POINTS.search(pieces[first].text) is not None
    return _original(text, pieces[first - 1]).text if points else ""


def _widened(text: str, pieces: Sequence[TextSpan], asking: Sequence[int]) -> list[str]:
    """Return the clauses that ask, the sentences that ask, these with the one before, and the whole message."""
    originals = [_original(text, piece).text for piece in pieces]
    narrow = [
        clause.text for index in asking for clause in clauses(originals[index]) if not extent.is_kept(clause.text)
    ]
    asking_texts = [originals[index] for index in asking]
    before = [
        originals[index - 1]
        for index in asking
        if index and index - 1 not in asking and not extent.is_kept(originals[index - 1])
    ]
    rest = [sentence for sentence in originals if not extent.is_kept(sentence)]
    steps = [" ".join(narrow), " ".join(asking_texts), " ".join([*before, *asking_texts]), " ".join(rest)]
    return list(dict.fromkeys(step for step in steps if step))


def _kept_clauses(text: str, pieces: Sequence[TextSpan], asking: Sequence[int]) -> list[str]:
    """Return the clauses that say what stays or what the new value is."""
    return [
        clause.text
        for index, piece in enumerate(pieces)
        for clause in clauses(_original(text, piece).text)
        if extent.is_kept(clause.text) or (index not in asking and index > asking[0] and not UNSAID.search(piece.text))
    ]


_POINTS: Final = lazy_regex(r"\b(?:it|this|that|them|these|those|that one|this one|both)\b(?! \w+ (?:i|we|he|she)\b)")
