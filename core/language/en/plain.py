"""Plain English out of chat English: without what leads into a sentence, contractions spelled out."""

from __future__ import annotations

import re

from core.language.lazy_regex import lazy_regex

_LEAD = lazy_regex(
    r"^(?:(?:hey|hi|hello|yeah|yep|yup|yes|no(?=,)|nope|nah|sure|oh|ah|haha\w*|lol|hm+|well|okay|ok|alright|right|so|"
    r"and|but|also|plus|anyways?|by the way|btw|fyi|honestly|tbh|in fact|of course|obviously|luckily|fortunately|"
    r"unfortunately|sadly|actually|thanks|thank you|sorry|personally|basically|apparently|hopefully|for context|"
    r"for the record|just so you know|quick update|update|i think|i guess|i believe|i mean|"
    r"(?:please )?(?:note|remember)(?: that)?(?= (?:i|my|we|our)\b))(?:\s*[,!.:;—–-]+\s*|\s+)"
    r"(?=\S{1,20}\s))+",
    re.IGNORECASE,
)
_PRONOUN = r"(I|we|you|they|he|she|it|that|this|there)"
_EXPANSIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (lazy_regex(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"[’‘`]", "'"),
        (r"\bi\b(?=[ '])(?<!type i)(?<!phase i)(?<!stage i)(?<!war i)(?<!part i)", "I"),
        (r"\bim\b(?= )|\bI'm\b", "I am"),
        (r"\bive\b(?= )", "I have"),
        (r"\b(I|we|you|they)'ve\b", r"\1 have"),
        (r"\b(we|you|they)'re\b", r"\1 are"),
        (rf"\b{_PRONOUN}'ll\b", r"\1 will"),
        (rf"\b{_PRONOUN}'d (?=(?:really )?(?:like|love|rather|prefer|be|want|hate|say|do|go)\b)", r"\1 would "),
        (rf"\b{_PRONOUN}'d (?=(?:never|always|already|just)? ?(?:been|had|\w+ed|\w+en)\b)", r"\1 had "),
        (rf"\b{_PRONOUN}'d\b", r"\1 would"),
        (r"\b(he|she|it|that|this|there|here|who|what)'s (?=(?:just |always |already |also )?(?:been|got|had|become))",
         r"\1 has "),
        (r"\b(he|she|it|that|this|there|here|who|what)'s\b", r"\1 is"),
        (r"\b(name|birthday|job|number|email|boss|manager|budget)'s (?=[A-Z\d]|on\b|the\b|an?\b|not\b)", r"\1 is "),
        (r"\bcan(?:'t|not)\b|\bcant\b", "cannot"),
        (r"\bwon't\b", "will not"),
        (r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should|must|need)n'?t\b", r"\1 not"),
        (r"\bgonna\b", "going to"),
        (r"\bwanna\b", "want to"),
        (r"\s+", " "),
    )
)  # fmt: skip


def plain(sentence: str) -> str:
    """Return `sentence` without the words that lead into it, with contractions spelled out."""
    for pattern, full in _EXPANSIONS:
        sentence = pattern.sub(full, sentence)
    sentence = _LEAD.sub("", sentence).strip()
    return sentence[:1].upper() + sentence[1:]


_ASKED_FOR = lazy_regex(
    r"^(?:can|could|would|will) you (?:please )?(?:just )?(?P<wish>[a-z].*?)(?P<reason>, [^,]*)?(?:,? please)?\?+$",
    re.IGNORECASE,
)


def as_order(sentence: str) -> str:
    """Return a sentence as `plain` does, and what a question asks to be done as an order: "Keep your replies brief"."""
    text = plain(sentence)
    asked_for = _ASKED_FOR.match(text)
    wish = re.sub(r"^not ", "do not ", asked_for["wish"], flags=re.IGNORECASE) if asked_for else text
    return wish[:1].upper() + wish[1:]
