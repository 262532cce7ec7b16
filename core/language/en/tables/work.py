"""Employers and occupations."""

from __future__ import annotations

from functools import partial

from core.language.en import values
from core.language.en.tables.fragments import row
from core.language.language import Attribute, Pattern, pattern
from core.types import Topic

_slot = partial(
    pattern,
    row,
    {
        "work.employer": Attribute(Topic.WORK, 0.8, values.organisation),
        "work.role": Attribute(Topic.WORK, 0.8, values.role),
    },
)

WORK: tuple[Pattern, ...] = (
    # work
    _slot(
        "work.employer",
        r"\bI (?:do not|no longer) work (?:at|for) {v}(?: any ?more)?{end}",
        corrects=True,
        negated=True,
    ),
    _slot(
        "work.employer",
        r"\bI (?:{adv})(?:quit|left|resigned from|got (?:fired|laid off) from|was (?:fired|"
        r"laid off) from) (?:my job at |my position at |my role at )?{v}{end}",
        corrects=True,
        negated=True,
    ),
    _slot(
        "work.role",
        r"{who}(?:work|works|(?:am|is) working|have worked|has worked|(?:have |has )?been working|am employed|"
        r"is employed)(?: (?:full[- ]time|part[- ]time|remotely|(?:night|day|late|early) shifts|nights|"
        r"weekends))? as (?:an? |the )?(?P<v>[^,.;!?()]+?)(?: (?:at|for|in|with) |(?=$|[,.;!?]| and\b| "
        r"but\b|"
        r" since\b| now\b))",
    ),
    _slot(
        "work.employer",
        r"{who}(?:work|works|(?:am|is) working|(?:have |has )?been working|have worked|has worked|(?:am|"
        r"is) employed)(?: full[- ]time| part[- ]time| remotely)? (?:at|for|with) {v}{end}",
    ),
    _slot(
        "work.employer",
        r"{who}(?:got|landed|accepted|started|found|have|am starting|am in) (?:a |an |my |the )?(?:new )?(?:job|"
        r"position|role|internship|offer|work|gig) (?:as (?:an? )?[^,.;]+? )?(?:at|with|from) {v}{end}",
    ),
    _slot(
        "work.role",
        r"{who}(?:joined|started at|started working (?:at|for)|(?:am|is) joining|will join) [^,.;!?]{2,40}?,? as "
        r"(?:an? |the |their )?(?:new )?(?P<v>[^,.;!?()]+?)(?: (?:at|for|in|with) |{end})",
        corrects=True,
    ),
    _slot(
        "work.role",
        r"{who}(?:got|landed|accepted|started|found|have|(?:am|is) starting) (?:a |an |my |the )?(?:new )?"
        r"(?:work|working|job|position|role|internship|work|gig)(?: (?:at|with|"
        r"from) [^,.;!?]+?)?,? as (?:an? |the )?"
        r"(?P<v>[^,.;!?()]+?)(?: (?:at|for|in|with) |(?=$|[,.;!?]| and\b| but\b))",
    ),
    _slot(
        "work.role",
        r"{who}(?:started|began|(?:am|is) starting) as (?:an? |the )?(?P<v>[^,.;!?()]+?)(?: (?:at|for|in|"
        r"with) |{end})",
        importance=0.75,
        check=values.occupation,
    ),
    _slot(
        "work.employer",
        r"\bI (?:am|have)? ?(?:just )?(?:moving|moved|relocating|relocated) [^.;!?]{2,40} for (?:an?|my|"
        r"the) (?:new )?"
        r"(?:job|position|role) (?:at|with) {v}{end}",
        corrects=True,
    ),
    _slot(
        "work.employer",
        r"\b(?:(?:switched|changed) (?:jobs|companies|employers)|(?:left|quit) (?:my job|(?-i:[A-Z])\w+))\b"
        r"(?:(?!\b(?:he|she|they|wife|husband|partner)\b)[^.!?]){0,30}\bI am (?:now )?(?:at|with) {v}{end}",
        corrects=True,
    ),
    _slot(
        "work.employer",
        r"{who}(?:work|works|(?:am|is) working|(?:am|is)|became) (?:as )?an? (?:(?!\b(?:who|whose|that|which|of|"
        r"fan|friend|customer|regular|member|guest|patient|believer)\b)[^,.;!?()]){3,41}? (?:at|for) {v}{end}",
    ),
    _slot(
        "work.employer",
        r"{who}(?:joined|start(?:ed)? at|started working at|started working for|am joining|will join) {v}(?: "
        r"as\b.*)?{end}",
    ),
    _slot("work.employer", r"\bmy (?:employer|company) is(?: called)? {v}{end}"),
    _slot(
        "work.role",
        r"\b(?:my profession is|my occupation is|my job title is|my (?:job|role) is(?= (?:being |an? |the |as )"
        r"))(?: being| as)? (?:an? |the )?{v}{end}",
    ),
    _slot(
        "work.role",
        r"{who}(?:work|works|(?:am|is) working|(?:have|has) worked) (?:at|for|with) [^,.;!?]{2,40}? as "
        r"(?:an? |the )?{v}{end}",
    ),
    _slot(
        "work.role",
        r"{who}(?:was|got|is|(?:have |has )?been|were) promoted(?:,? (?:too|as well|again|last \w+|this "
        r"\w+))?(?: to(?: be)?|:) (?:an? |the )?{v}{end}",
    ),
    _slot(
        "work.role",
        r"{who}(?:am|is|became|am now|been) (?:an? |the )?(?P<v>[^,.;!?()]+?)(?: (?:at|for|in|with|by|from|of|"
        r"working) |(?=$|"
        r"[,.;!?]| and\b| but\b| who\b| now\b))",
        importance=0.75,
        check=values.occupation,
    ),
    _slot(
        "work.role",
        r"^I am (?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+)?, an? (?P<v>[^,.;!?()]+?)"
        r"(?: (?:at|for|in|with|by|from|of|working|living|based) |(?=$|[,.;!?]| and\b| who\b))",
        check=values.occupation,
    ),
    _slot(
        "work.role",
        r"{who}(?:am|is) (?:the |an? )?(?P<v>(?:head|director|vice president|VP) of [a-z]+(?: [a-z]+)?)"
        r"(?= at\b| in\b| for\b|$|[.,;!])",
        check=None,
    ),
    _slot(
        "work.employer",
        r"{who}(?:am|is) (?:the |an? )?(?:head|director|vice president|VP) of [a-z]+(?: [a-z]+)? (?:at|"
        r"for) {v}{end}",
    ),
)
