"""English forms of questions and answers. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import Questions

_NO_LIST = r"(?:this|was|is|does|has|as|its|us|yes|always|besides|perhaps|news|\w*(?:ss|ous))\b"

QUESTIONS: Final = Questions(
    several=re.compile(
        rf"\b(?:what|which) (?:[\w'-]+ )?(?:(?!{_NO_LIST})[a-z]{{3,}}s|people)\b|\b(?:kind|type|sort)s of\b"
        r"|\bhow (?:many|often)\b|\b(?:both|in common|share|has|have)\b",
        re.IGNORECASE,
    ),
    told_me=re.compile(
        r"\byou(?:'d|'ve| had| have)?(?: \w+)? (?:told|said|gave|recommended|suggested|mentioned|provided|"
        r"listed|explained"
        r"|described|advised|wrote|named|showed|shared|offered|helped|proposed|came up)\b"
        r"|\bdid you (?:\w+ )?(?:tell|say|give|recommend|suggest|mention|provide|list|explain|describe|advise|"
        r"write|name"
        r"|show|share|offer|propose)\b"
        r"|\bour (?:\w+ )?(?:conversation|chat|discussion|talk|session)s?\b"
        r"|\b(?:previous|earlier|last|past) (?:conversation|chat|discussion)s?\b|\bas you said\b",
        re.IGNORECASE,
    ),
    remind=re.compile(r"\bremind me\b", re.IGNORECASE),
    to_me=re.compile(r"\b(?:tell|show|help|give) me\b", re.IGNORECASE),
    of_me=re.compile(r"\b(?:[Ii]|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|[Oo]ur|[Oo]urs|us)\b"),
    asks_time=re.compile(
        r"\b(?:when|how long|how recently|(?:what|which) (?:year|month|day|date|time))\b", re.IGNORECASE
    ),
    tells_time=re.compile(
        r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|recently|week|weekend|months?|years?|morning|"
        r"mon|tues|wednes|thurs|fri|satur|sun)(?:day)?\b|\b(?:january|february|march|april|june|july|august|"
        r"september|october|november|december)\b|\b(?:19|20)\d\d\b|\b\d+ days\b",
        re.IGNORECASE,
    ),
)
"""The perfect is among the forms that ask for several things: "has been to" asks for all there ever was."""
