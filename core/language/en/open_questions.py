"""English questions without an answer. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import OpenQuestions

OPEN_QUESTIONS: Final = OpenQuestions(
    asking=frozenset(
        "what which who whom whose when where why how do does did is are was were can could should would "
        "will have has still open question undecided decide decided know need find out yet tbd think".split()
    ),
    idle=re.compile(
        r"^(?:(?:oh|hey|hi|hello|well|so|and|but|ok|okay|thanks)\b[,!. ]*)*(?:how(?:'s| is| are) (?:you|it going|"
        r"things|everything|life)|what's up|right|really|you know|see|okay|ready|isn't it|don't you think|"
        r"guess what|know what|who knows|why not|what else|how come|sounds? good)\b[^,]{0,25}\?|^(?:can|could|"
        r"would|will) you (?:please )?(?:help|write|tell|show|give|explain|make|find|check|send|remind|add)\b",
        re.IGNORECASE,
    ),
    offer=re.compile(
        r"\b(?:would you like|do you want (?:me|to)|want me to|shall (?:I|we)|should I|can I|may I|anything else|"
        r"any other|does (?:that|this)|is there anything|how can I|how does|what would you like|sound good|"
        r"how about|what do you think)\b",
        re.IGNORECASE,
    ),
    open=re.compile(
        r"\b(?:open|outstanding|unresolved) (?:question|point|issue)s?\b|\bTBD\b|\bto be (?:decided|determined|"
        r"confirmed)\b|\b(?:is|are|remains?|still|stays?) (?:still )?(?:open|undecided|unresolved|unclear|"
        r"up in the air)\b(?! (?:to|for|until|on|at|from|every)\b)|\b(?:haven't|hasn't|have not|has not|"
        r"not) (?:been )?(?:yet )?(?:decided|figured out|settled|agreed|confirmed)\b|\bstill (?:need|have|has|"
        r"needs) to (?:decide|figure out|find out|clarify|agree|confirm|choose|pick)\b|\b(?:I|"
        r"we) (?:still )?(?:don't|do not) know (?:yet )?(?:what|which|who|when|where|whether|if|how)\b",
        re.IGNORECASE,
    ),
    defers=re.compile(
        r"\b(?:I|we)(?:'ll| will|'d| would| need to| have to| must|'m going to| should)? (?:\w+ )?(?:check|ask|"
        r"find out|look into|get back|let you know|think about|look it up|look that up|see about)\b|\b(?:let me|"
        r"lemme) (?:check|ask|think|look|see|find|get back)\b|\b(?:I'm|we're|I am) not (?:sure|certain)\b|"
        r"\bnot sure\b|\b(?:no idea|don't know|do not know|can't say|cannot say|hard to say|too early to say)\b|"
        r"\b(?:depends|it depends)\b|\b(?:don't|do not) have (?:that|this|the) (?:information|details?|answer)\b",
        re.IGNORECASE,
    ),
    takes_back=re.compile(
        r"\b(?:never ?mind|forget (?:it|I asked|about it)|doesn't matter|figured it out|found it|got it now)\b",
        re.IGNORECASE,
    ),
)
