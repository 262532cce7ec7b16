"""Standing instructions to an assistant: their wording, their withdrawal, their topics."""

from __future__ import annotations

import re

from core.language.lazy_regex import lazy_regex

_VERB = (
    r"(?:give|write|use|keep|call|answer|reply|respond|send|show|tell|make|put|speak|talk|address|refer|"
    r"suggest|recommend|remind|"
    r"ask|say|include|add|explain|format|translate|convert|spell|sign|start|begin|end|stop|avoid|skip|leave|"
    r"cut|drop|quit|stick|"
    r"assume|remember|check|mention|list|text|be|go easy|hold|limit|do not|don['’]?t|never|always|no)"
)
_EVER = (
    r"(?:from (?:now|here|today|this point) on(?:wards?)?|going forward|in (?:the )?future|every time|for "
    r"?ever|for good|henceforth|"
    r"whenever (?:I|you|we)|always|ever(?: again)?|at all times|until I say otherwise|by default|as a rule)"
)
STANDING = (
    rf"^(?:please,? |just |so |and |ok(?:ay)?,? )*(?:{_EVER},? )?{_VERB}\b.*\b{_EVER}(?:$|[.!,;:])"
    r"|^no (?:more )?[a-z]+(?: [a-z]+)?(?:,? (?:please|ever|thanks|thank you|with me))+(?:,? ever)?[.!]*$"
    rf"|^(?:please |just )*(?:do not|stop|avoid|skip|drop|cut|quit|leave out|go easy on|lay off|no need for|no "
    rf"need to use)\b"
    r".{0,40}\b(?:emojis?|smileys?|exclamation (?:marks|points)|jargon|bullet points|bullets|small talk|"
    r"apologi[sz]ing|pleasantries|"
    r"flattery|hashtags|caps|slang|calling (?:me|it|everything)|call me|sugarcoat\w*)\b"
    r"|^(?:please |just )*(?:keep (?:it|things|answers|replies|your \w+)|be) (?:\w+ )?(?:short|brief|concise|"
    r"simple|casual|formal|blunt|polite)\b"
    r"(?!.*\b(?:essay|letter|poem|e-?mail|this one)\b)"
    r"|^(?:please |just |and )*(?:use|speak|write|answer|reply|stick to|talk|keep (?:it|things))\b(?! (?:this|that|"
    r"it) )[^,]{2,40} (?:with|to) me\b"
    r"|^(?:when|whenever|every time|any ?time|if) (?:you|I) [^,]{3,60}, (?:please )?(?:always|never|do not|use|keep|"
    r"answer|reply|write|give|"
    r"show|say|make|leave|skip|stick)\b"
    r"|^(?:you )?(?:can|may) (?:now )?(?!call\b)[a-z]+ .*\b(?:again|from (?:now|here) on|any ?more)\b"
    r"|^you (?:can|may) (?:also |now )?(?:write|use|give|answer|reply|be|make|send|stop)\b.*\b(?:answers?|"
    r"repl(?:y|ies)|emojis?|longer|shorter|"
    r"bullets?|units?|me|detail\w*)\b"
    r"|^you (?:do not have to|need not|do not need to|no longer (?:have|need) to) (?:keep|use|answer|reply|"
    r"write|avoid|be|call|stick)\b"
    r"|^(?:please |just )*call me (?-i:[A-Z])[\w'’-]+(?: again|,? (?:not|instead of|rather than) (?-i:[A-Z]))"
    r"|^(?:please |just |then |let['’]s )*(?:stick with|go back to) (?-i:[A-Z])[\w'’-]+(?:,|[.!]*$)"
    r"|(?:^|\byou (?:can|may) (?:now )?)(?:forget|drop|ignore|scrap|lift) (?:the|that|my) [\w -]{2,40}"
    r"(?:rule|instruction|request|ban)\b"
    r"|^I(?:['’]d| would)? (?:prefer|rather|like|love|want) (?:it if |that )?you(?:r| to)? (?!were|had|could)"
)
LIFTS = lazy_regex(
    r"\b(?:again|stick with|go back to|forget|scrap|lift|any ?more|"
    r"no longer|after all|instead)\b|^you (?:can|may|do not have|need not|do not need|no "
    r"longer)|^(?:can|may) ",
    re.IGNORECASE,
)
"""Phrases that revoke an instruction, or allow what one forbade."""

PLAIN = lazy_regex(r"\bplease\b|\bfrom now on\b|\bgoing forward\b|\bin (?:the )?future\b", re.IGNORECASE)
"""Requests to an assistant rather than to each other, when several people talk."""
TOPICS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, lazy_regex(rf"\b(?:{words})\b", re.IGNORECASE))
    for name, words in (
        ("emoji", r"emojis?|smileys?|emoticons?"),
        (
            "units",
            r"metric|imperial|grams?|celsius|fahrenheit|kilomet\w+|miles|cups|ounces|pounds|inches|24[- "
            r"]hour|12[- ]hour|units?",
        ),
        (
            "language",
            r"(?:in|speak|use) (?:english|german|french|spanish|chinese|dutch|italian|portuguese|"
            r"japanese|korean|polish)",
        ),
        (
            "length",
            r"(?:short|shorter|brief|briefer|long|longer|concise|detailed|two|three|"
            r"one)\b.*\b(?:answers?|repl\w+|responses?|messages?|sentences?|"
            r"paragraphs?|explanations?)|(?:answers?|repl\w+|responses?|messages?|explanations?|it|"
            r"things)\b.*\b(?:short|shorter|brief|briefer|long|longer|concise|detailed)",
        ),
        (
            "name",
            r"(?:stick with|go back to) (?-i:[A-Z])[a-z]+|"
            r"(?:call(?:ing)?|address(?:ing)?) me (?!before|after|at|on|when|if|about|in|every|again|back)",
        ),
        ("bullets", r"bullets?|bullet points|numbered lists?"),
        ("tone", r"formal|casual|polite|blunt|sarcas\w+|tone"),
    )
)
"""Topics of instructions; a later instruction on the same topic replaces the earlier one."""

INSTRUCTION = lazy_regex(
    r"^(?:please )?(?:from now on|going forward|from here on|in (?:the )?future,|in future|henceforth|"
    r"starting now|as a rule)\b"
    r"|\bfrom now on[.!]?$|\bgoing forward[.!]?$|\bfrom now on,? (?:please|call|use|answer|reply|always|never|"
    r"do not|I want you)\b"
    r"|^(?:please )?(?:always|never|don't ever|do not ever) (?!\w+ed\b|saw\b|went\b|did\b|felt\b|came\b|heard\b|"
    r"going to|look on|have I\b|have we\b|in (?:my|a)\b|before\b|again\b|been|had|seen|thought|knew|gets?\b|"
    r"got\b|good|a\b|fun|"
    r"great|heard|been\b|mind|give up|forget|stop|"
    r"lose)[a-z]+\b"
    r"|^(?:please,? )(?:do not|avoid|stop|refrain|only|make sure|remember to|keep (?:your|answers|responses|"
    r"replies|it)|use|answer|reply|respond|write|address|refer)\b.*"
    r"\b(?:answers?|responses?|repl(?:y|ies)|emojis?|jargon|me|tone|bullets?|bullet points|format|units?|language|"
    r"english|spanish|german|french|chinese|metric|ask(?:ing)?|call(?:ing)?|suggest(?:ing)?|recommend(?:ing)?|use|"
    r"using|mention(?:ing)?|short|brief|concise|remind(?:ing)?|contact(?:ing)?|share|sharing|book(?:ing)?|"
    r"schedul(?:e|ing))\b"
    r"|^(?:please )?remember (?:to (?:always|never)|never to|not to)\b"
    r"|^(?:do not|stop|avoid) (?:ever )?(?:call(?:ing)? me|us(?:e|ing)|ask(?:ing)? me|suggest(?:ing)?|"
    r"recommend(?:ing)?|send(?:ing)?|remind(?:ing)?|mention(?:ing)?|apologi[sz](?:e|ing)|repeat(?:ing)?|"
    r"schedul(?:e|ing)|book(?:ing)?|contact(?:ing)?|shar(?:e|ing) my)\b"
    r"|\bI (?:want|need|would like|expect) you to (?:always|never|only|stop|keep|use|answer|reply|avoid|call)\b"
    r"|\b(?:you (?:should|must)) (?:always|never|not)\b|\bwhenever I (?:ask|say|mention|request|write|send)\b|"
    r"^when I (?:ask|say|mention|write)\b.*,\s*(?:please )?(?!I\b|it\b|they\b)[a-z]+|" + STANDING,
    re.IGNORECASE,
)
ONE_OFF = lazy_regex(
    r"\b(?:this time|for this (?:one|answer|task|question)|just this once|in this (?:email|essay|code|case|"
    r"function|paragraph|text|letter)|below|above|the following|right now|to me\?)\b",
    re.IGNORECASE,
)
