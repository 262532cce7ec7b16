"""English messages that begin something. Data."""

from __future__ import annotations

from typing import Final

from core.language.parts import Openings

OPENINGS: Final = Openings(
    lead=(
        r"(?:oh|ok|okay|so|well|and|but|hey|right|great|thanks|thank you|cool|nice|wow|yes|yeah|no|sure|alright)"
        r"[,.!… ]+"
    ),
    topic=r"""
        by\ the\ way\b | btw\b | any(?:ways?|how)\b(?!\ (?:you|to)\b) | that\ reminds\ me\b
        | speaking\ of\ which\b | before\ i\ forget\b | moving\ on\b | in\ other\ news\b | quick\ question\b
        | topic\ change\b | (?:just\ )?(?:changing|switching|change)\ (?:the\ |of\ )?(?:topics?|subject|gears)\b
        | let(?:['’]?s|\ us|\ me)\ (?:now\ )?(?:talk|chat|speak|turn|get\ back)\ (?:about|to)\b
        | let(?:['’]?s|\ us|\ me)\ (?:now\ )?(?:move|go)\ on\b(?!\ an?\b|\ the\b)
        | let(?:['’]?s|\ us|\ me)\ (?:now\ )?(?:switch|change)\ (?:the\ )?(?:topics?|subject|gears)\b
        | (?:a\ )?(?:new|next|different|another|separate|unrelated)\ (?:topic|subject|question|item|issue|matter)\b
        (?!\ (?:is|was|i|we|you|that)\b)
        | (?:on|in)\ (?:a|an|another)\ (?:\w+\ )?(?:note|topic|subject)\b
        | (?:totally\ |completely\ )?unrelated(?=\ but\b|[,:])
        | one\ (?:more|other|last)\ (?:thing|question)\b
    """,
    greeting=r"""
        (?:hey|hi|hiya|hello)(?:\b(?!\ (?:there|again)\ (?:is|are|was))|$)
        | good\ (?:morning|afternoon|evening)\b | long\ time\ no\ (?:see|talk)\b
    """,
)
