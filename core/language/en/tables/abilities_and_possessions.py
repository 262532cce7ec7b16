"""Abilities, training and possessions."""

from __future__ import annotations

from functools import partial

from core.language.en import values
from core.language.en.tables.fragments import PETS, row
from core.language.language import Attribute, Pattern, pattern
from core.types import Category, Topic

_slot = partial(
    pattern,
    row,
    {
        "language.native": Attribute(Topic.PERSONAL, 0.8, values.language),
        "language": Attribute(Topic.SKILL, 0.7, values.language, exclusive=False),
        "language.learning": Attribute(Topic.SKILL, 0.65, values.language, exclusive=False),
        "education.school": Attribute(Topic.HISTORY, 0.7, values.school),
        "education.field": Attribute(Topic.HISTORY, 0.7, values.field),
        "possession": Attribute(Topic.OTHER, 0.5, values.thing, exclusive=False),
        "finance.{cls}": Attribute(Topic.FINANCE, 0.75, values.amount),
        "skill": Attribute(Topic.SKILL, 0.6, str.lower, category=Category.SKILL, exclusive=False),
    },
)

MEANS: tuple[Pattern, ...] = (
    # language and education
    _slot("language.native", r"\bmy (?:native|first|mother) (?:language|tongue) is {v}{end}"),
    _slot(
        "language",
        r"\bI (?:{adv})speak (?:fluent |native |perfect )?(?P<v>[A-Z][a-z]+(?:(?:,| and|, and) [A-Z][a-z]+)*)",
    ),
    _slot("language", r"\bI am (?:{adv})fluent in (?P<v>[A-Z][a-z]+(?:(?:,| and|, and) [A-Z][a-z]+)*)"),
    _slot("language.learning", r"\bI (?:am|have been|started) (?:{adv})learning (?P<v>[A-Z][a-z]+)\b"),
    _slot(
        "education.school",
        r"{who}(?:graduated from|studied at|(?:am|is) (?:studying|a student) at|go to|goes to|attend|"
        r"attends|study at|"
        r"(?:am|is) enrolled (?:at|in)|got into|(?:am|is) in (?:my|her|his) (?:\w+ ){1,2}(?:at|of)) {v}{end}",
    ),
    _slot(
        "education.field",
        r"{who}(?:(?:am|is) majoring in|major in|majored in|(?:have|has|got|earned|received|finished|"
        r"completed) (?:an? |my )?(?:master'?s?(?: degree)?|bachelor'?s?(?: degree)?|degree|phd|doctorate|diploma|"
        r"mba) in|(?:am|is) doing (?:a|my) (?:phd|master'?s?(?: degree)?|bachelor'?s?) in|(?:study|studies|"
        r"studied)(?! (?:at|"
        r"in|for|with|abroad|all|every)\b)|graduated (?:with a degree )?in|(?:am|is) studying(?! (?:at|for|with|"
        r"abroad|all|hard)\b)) {v}(?: (?:at|from) [^,.;]+)?{end}",
    ),
    # possessions, money, skills
    _slot(
        "possession",
        r"{who}(?:drive|drives|own|owns|bought|(?:am|is) driving) an? (?P<v>(?:(?:new|used|old|red|blue|"
        r"black|white|"
        r"second-hand|\d{4}) )*(?-i:[A-Z])\w+(?: (?:(?-i:[A-Z])|\d)\w*)*)",
    ),
    _slot(
        "possession",
        r"\b(?:I|we) (?:{adv})(?:have|own|got|bought|adopted) (?P<v>(?:an?|two|three|four|five|"
        r"\d) (?:[a-z-]+ ){0,2}?(?:"
        + PETS
        + r"|house|apartment|flat|condo|cottage|cabin|car|motorcycle|motorbike|van|truck|bike|boat|garden|farm|"
        r"telescope|guitar|piano|violin|3d printer|greenhouse|caravan|camper)s?)(?=$|[,.;!?]| and\b| but\b| with\b|"
        r" in\b| at home\b| last\b| from\b| that\b| which\b)",
    ),
    _slot(
        "finance.{cls}",
        r"\bmy (?P<cls>(?:monthly |annual |yearly |weekly )?(?:budget|salary|income|rent)) is (?:about |around |"
        r"roughly )?(?P<v>[$€£¥]? ?\d[\d,.]*\d?[km]?(?: ?(?:dollars|euros|pounds|usd|eur|a month|per month|a year|"
        r"per year))*)",
    ),
    _slot(
        "skill",
        r"\bI (?:{adv})(?:can (?=play the ))?play (?:the )?(?P<v>piano|guitar|violin|drums?|bass|cello|"
        r"flute|saxophone|clarinet|trumpet|"
        r"ukulele|harp|chess|tennis|basketball|soccer|football|volleyball|badminton|golf|baseball|hockey)\b",
    ),
)
