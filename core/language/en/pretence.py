"""Speech that is not meant, in English: games, tests, jokes, another person typing, sarcasm, hearsay."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from core.language.lazy_regex import lazy_regex

LONGEST_GAME = 6
"""Messages of the speaker after which a game that nobody ended is over."""


class Play(StrEnum):
    """Effect of a message on whether it and its neighbours are meant."""

    BEGINS = "begins"
    ENDS = "ends"
    HERE = "here"
    BEFORE = "before"


_BEGINS = lazy_regex(
    r"\blet['’]?s (?:play|pretend|role-?play|do a role-?play)\b|\bpretend (?:you(?:['’]re| are)|to be|"
    r"I(?:['’]m| am)|that)\b|"
    r"\brole[- ]?play(?:ing)?\b|\b(?:you(?:['’]re| are|['’]ll be)|you be) (?:an?|the) [\w ]{2,30}?,? and "
    r"(?:I(?:['’]m| am|['’]ll be)|I be)\b|"
    r"\b(?:I['’]ll|I will|let me) (?:be|play) (?:the|an?) (?!bit\b|little\b|guitar|piano)[\w ]{2,30}(?:,| and) "
    r"(?:and )?you\b|"
    r"\bact as (?:if|though|an?|my)\b|\bin character\b",
    re.IGNORECASE,
)
_ENDS = lazy_regex(
    r"^(?:ok(?:ay)?|alright|right|well|anyway|so|and)?[,.! ]*(?:enough|stop|game over|end of (?:game|scene|"
    r"role-?play)|back to (?:reality|real life|"
    r"normal|business)|out of character|the end|curtain|i(?:'m| am) done|that['’]?s enough|scene)\b|"
    r"\b(?:enough (?:of that|playing|games)|back to reality|game over|(?:stop|end|quit) the (?:game|role[- ]?play|"
    r"act|show))\b",
    re.IGNORECASE,
)
_LEAVES = lazy_regex(
    r"^(?:ok(?:ay)?|alright|anyways?|right|lol|lmao|haha\w*)?,? ?(?:so that['’]?s|so,? |but |back |now |anyway|by "
    r"the way|btw|seriously|"
    r"(?:can|could) you (?!be\b|play\b|pretend\b)|thanks|how do I|what(?:['’]s| is) the)",
    re.IGNORECASE,
)
"""Words with which somebody turns from a game to something else; what they say then is meant."""
_HERE = lazy_regex(
    r"^(?:testing|test|mic check)\b[,:. !]*(?:testing|test|one|1|\d)?\b|\bjust (?:checking|testing) (?:whether|"
    r"if|that|you)\b|"
    r"\b(?:that|this|it) (?:was|is) (?:just |only )?(?:a )?(?:test|joke|prank)\b|\b(?:just|only|i(?:'m| am|"
    r"['’]m)?) (?:kidding|joking|messing with you)\b|"
    r"\bjk\b|\bj/k\b|\bapril fool|\bpulling your leg\b|\b(?:gotcha|psych)[!.]|\bi made (?:that|it) up\b|\bnone "
    r"of (?:that|this) is true\b|"
    r"\b(?:wants?|insists?|asked) (?:to (?:type|write|say)|on (?:typing|writing)) (?:something|a (?:few|"
    r"message|line)|hi|hello)|"
    r"\b(?:ignore|disregard|forget) (?:her|him|them|that|the (?:last|above|previous)|what (?:he|she|they|i) "
    r"(?:just )?(?:typed|wrote|said))\b|"
    r"\b(?:my|the) (?:kid|son|daughter|cat|toddler|brother|sister|friend|\w+) (?:grabbed|stole|took|got hold "
    r"of|typed|has) (?:my |the )?"
    r"(?:phone|keyboard|laptop|tablet|this)\b",
    re.IGNORECASE,
)
_BEFORE = lazy_regex(
    r"^(?:ha+|haha\w*|lol|no|nah|nope|ok(?:ay)?|well|hey|sorry|oh)?[,.! ]*(?:(?:i(?:'m| am|['’]m) |just |only "
    r")+(?:kidding|joking|messing)|jk|j/k|"
    r"april fools?|(?:that|it) was (?:just |only )?(?:a )?(?:test|joke|prank)|gotcha|psych|i made (?:that|it) "
    r"up|not really|kidding)\b",
    re.IGNORECASE,
)
_SARCASM = lazy_regex(
    r"\b(?:who needs|who doesn['’]?t|what could (?:possibly )?go wrong|what(?:'s|’s| is) not to (?:love|like)|"
    r"because why not|"
    r"said no one ever|as if|yeah,? right|lucky me|oh,? joy|how (?:lovely|wonderful|exciting|thrilling) "
    r"(?:that|it)|just what I needed|"
    r"be still my|truly (?:a|an) |ten out of ten|10/10|what I (?:really |always )+(?:needed|wanted)|what a (?:joy|"
    r"treat|delight|surprise)|thanks,? "
    r"(?:universe|life|obama)|"
    r"living the dream|best day ever|couldn['’]t be happier|so that(?:'s|’s| is) (?:fun|great|nice)|i just "
    r"love (?:it )?(?:when|how|that)|"
    r"(?:simply|just|absolutely) (?:adore|love) (?:it )?(?:when|how|that|being|having to|waiting|sitting|"
    r"getting|my alarm|mondays?|our monday)|(?-i:LOVE|ADORE) \w+ing|"
    r"nothing (?:like|better than|says)|always (?:a|such a) (?:pleasure|joy)|sure,? because)\b|(?:^|\s)/s\b|🙄",
    re.IGNORECASE,
)
_HYPERBOLE = lazy_regex(
    r"(?<!\d)!{3,}|\b(?:a|one) (?:million|billion|zillion|gazillion|trillion)\b(?! (?:dollars|euros|pounds|people|"
    r"users|in|bucks))|"
    r"\binternational (?:jewel|art|bank) thief\b|\bsecret(?:ly)? (?:agent|a spy|a vampire|a wizard|batman|a "
    r"superhero)\b|\bbatman\b|"
    r"\b(?:could|can) sleep (?:for|standing|a)\b|\b(?:literally|practically|basically) (?:dying|dead|died|"
    r"killed|kill(?:ing)?|on fire|a zombie)\b|"
    r"\bi(?:'m| am) (?:dying|dead|starving|a zombie|a walking|the queen|the king|a genius|a vampire|a robot|a "
    r"potato|a goldfish)\b|"
    r"\b(?:could|would) eat a (?:horse|whale|house)\b|\bsince the (?:dawn of time|stone age)\b.*\bsince the\b|"
    r"\b(?:kill|murder|strangle)(?:ed|ing)? (?:him|her|them|me|my|the)\b|"
    r"\bover my dead body\b|\bsell my soul\b|\bmy (?:brain|head|heart|eyelid|soul|knees?|feet|back) (?:is|are|"
    r"was) (?:\w+ )?(?:mush|melting|fried|exploding|"
    r"dancing|singing|screaming|soup|jelly|on strike|killing)\b",
    re.IGNORECASE,
)
_HEARSAY = lazy_regex(
    r"\b(?:or so (?:the |my )?\w+(?: \w+)? (?:says?|said|claims?|tells?)|(?:[Rr]umou?r|[Ww]ord) has it|supposedly|"
    r"allegedly|if you believe|"
    r"so (?:they|people) say|according to (?!my doctor|the doctor|my GP|the vet))\b|"
    r"^(?:[A-Z][\w'’-]+|[Mm]y [a-z' -]{2,25}?|[Hh]e|[Ss]he|[Tt]hey|[Ee]veryone|[Ss]omeone|[Ss]omebody|[Ss]ome \w+|"
    r"[Tt]he [a-z]+)(?: [A-Z][\w'’-]+)? "
    r"(?:also |still |always |keeps |once )?(?:swears?|swore|claims?|claimed|reckons?|insists?|insisted|claiming|"
    r"saying|jokes?|joked|"
    r"is convinced|are convinced|was convinced|heard|bets|predicts)\b(?! on\b)"
)
"""A claim of somebody else, which the speaker only reports."""


def plays(text: str) -> frozenset[Play]:
    """Return the signs of play in `text`."""
    signs = ((Play.BEGINS, _BEGINS), (Play.ENDS, _ENDS), (Play.HERE, _HERE), (Play.BEFORE, _BEFORE))
    return frozenset(play for play, sign in signs if sign.search(text))


def is_meant(sentence: str) -> bool:
    """Return whether a sentence is neither sarcasm nor hyperbole, as far as its words tell."""
    return not (_SARCASM.search(sentence) or _HYPERBOLE.search(sentence))


def is_hearsay(statement: str) -> bool:
    """Return whether it reports what somebody else believes."""
    return bool(_HEARSAY.search(statement))


def in_earnest(texts: Iterable[str]) -> list[bool]:
    """Return for each message of one speaker, in order, whether it is meant.

    A game lasts until it is ended; what is taken back as a joke at the start of the next message was none either.
    """
    earnest: list[bool] = []
    left = 0
    for text in texts:
        signs = plays(text)
        if left and Play.ENDS in signs:
            left = 0
            earnest.append(False)
            continue
        if left and Play.BEGINS not in signs and _LEAVES.match(text):
            left = 0
        if Play.BEGINS in signs:
            left = LONGEST_GAME
        if Play.BEFORE in signs and earnest:
            earnest[-1] = False
        earnest.append(not left and Play.HERE not in signs)
        left = max(left - 1, 0)
    return earnest
