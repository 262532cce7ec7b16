"""English words at the end of a conversation, by the outcome that they show. Data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

OUTCOMES: Final[Mapping[str, re.Pattern[str]]] = {
    "failed": re.compile(
        r"\b(?:fail(?:s|ed|ing)?|(?:did|does|do|has|is|are|was|were|could|can|would)(?: no|"
        r"n['’]?)t(?: \w+){0,2} (?:work|help|fixe?d?|solved?|possible)\w*|still (?:broken|the same|an? error|not)|"
        r"no luck|gave up|giv(?:e|ing) up|out of options)\b",
        re.IGNORECASE,
    ),
    "resolved": re.compile(
        r"\b(?:thank(?:s| you)|thx|solved|resolved|fixed|works? now|it work(?:s|ed)|that (?:did|does) it|"
        r"that helps?|all set|problem gone|perfect)\b",
        re.IGNORECASE,
    ),
    "agreed": re.compile(
        r"\b(?:agreed?|deal|sounds good|works for me|let['’]s do (?:it|that)|see you|it['’]?s settled|"
        r"count me in)\b",
        re.IGNORECASE,
    ),
}
