"""English signs by which a context is filled. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import ContextCues

CONTEXT: Final = ContextCues(
    depth={
        "all": re.compile(
            r"\b(?:list|enumerate|all|every|each|everything|everyone|both|which .{0,30}\bha(?:ve|s)\b|"
            r"in total|altogether|what (?:kinds?|types?|sorts?) of|what (?:\w+ )?(?:activities|hobbies|books|"
            r"places|events|things|people))\b",
            re.IGNORECASE,
        ),
        "counts": re.compile(
            r"\b(?:how many|how often|how much|number of|count|total|sum|average|how long altogether|"
            r"most often|usually)\b",
            re.IGNORECASE,
        ),
        "compares": re.compile(
            r"\b(?:compare|compared|versus|vs\.?|difference|differ|than|rather|better|worse|similar(?:ly)?|"
            r"same|in common|prefer)\b",
            re.IGNORECASE,
        ),
        "over_time": re.compile(
            r"\b(?:between|since|over the (?:years|months|weeks|past|last)|during|changed?|evolv\w+|used to|"
            r"history|timeline|from .{1,40} (?:to|until|till) |before|after|when did .{0,60} (?:and|then)|"
            r"progress\w*|so far|last (?:year|month))\b",
            re.IGNORECASE,
        ),
        "reasons": re.compile(
            r"\b(?:why|how come|reasons?|because|explain|cause[sd]?|would|might|likely|probably|considered|"
            r"personality|what (?:does|do) .{1,40} (?:think|feel)|recommend|suggest|advice|should|"
            r"summari[sz]e|overview|tell me about)\b",
            re.IGNORECASE,
        ),
        "one_to_another": re.compile(
            r"\b(?:who(?:se)? .{1,60} (?:who|that|which)|the \w+ (?:who|that|where|whose)|\w+'s \w+'s|"
            r"(?:friend|sister|brother|mother|father|boss|colleague|partner|wife|husband|teacher|company|"
            r"team) of)\b",
            re.IGNORECASE,
        ),
    },
    question_words=re.compile(r"\b(?:who|whose|whom|what|when|where|which|why|how)\b", re.IGNORECASE),
    joined=re.compile(r"\b(?:and|or|as well as|also|plus|but)\b|[;；、]", re.IGNORECASE),
    key=re.compile(
        r"err(?:or|no)?s?|exception|fail\w*|fault|warning|status|code|message|reason|detail|title|name|"
        r"(?:\w+_)?id|key|url|total|count",
        re.IGNORECASE,
    ),
    error=re.compile(
        r"(?i:error|exception|traceback|panic|fatal|critical|failed|failure|denied|refused|time[dr]? ?out|"
        r"not found|cannot|unable|undefined|segfault|abort)|\b(?:E|ERR|FAIL)\b"
    ),
    warning=re.compile(r"(?i:\bwarn\w*|deprecated)"),
    of_project=re.compile(
        r"\b(?:th(?:is|e)|our) (?:\w+ )?(?:repo(?:sitory)?|project|code ?base|package|service|app(?:lication)?|"
        r"module|branch)\b|\b(?:in|for|around) here\b"
    ),
)
