"""English signs of what statements are about, and how often. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import Activities

_GOING = frozenset("go goes went going gone".split())
_LEADS = frozenset(
    """a an the my his her hers its our their your some any this that these those another each every
    in on at for with about of into from through during after before by via play plays played playing love loves loved
    enjoy enjoys enjoyed like likes""".split()
)
_ADVERBS = frozenset(
    "just finally also even often usually always really actually recently sometimes still then".split()
)
_AUXILIARY = (
    _GOING
    | _ADVERBS
    | frozenset("has have had been is are was were all and both others again started starts keeps finished".split())
)
"""Words allowed between a subject and its verb."""

ACTIVITIES: Final = Activities(
    unreal=re.compile(
        r"\b(?:might|would|wish(?:es)?|hop(?:e|es|ing)|wants? to|wanted to|plan(?:s|ning)? to|thinking (?:of|"
        r"about)|if|dream(?:s|t)? of|used to|as a kid|when (?:they|he|she|\w+) (?:was|were) (?:a |young|kids?|"
        r"little))\b",
        re.IGNORECASE,
    ),
    vague=re.compile(r"\b(?:week|weekend|month|year|about|in [A-Z][a-z]+ \d{4}|in \d{4})\b"),
    leads=_LEADS,
    adverbs=_ADVERBS,
    auxiliary=_AUXILIARY,
)
