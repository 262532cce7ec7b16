"""Abilities, training and possessions."""

from __future__ import annotations

from core.extraction import slot_values
from core.extraction.english.tables.fragments import PETS, row
from core.extraction.pattern_types import Pattern
from core.types import Category, Topic

MEANS: tuple[Pattern, ...] = (
    # language and education
    Pattern(
        row(r"\bmy (?:native|first|mother) (?:language|tongue) is {v}{end}"),
        "language.native",
        Topic.PERSONAL,
        0.8,
        slot_values.language,
    ),
    Pattern(
        row(r"\bI (?:{adv})speak (?:fluent |native |perfect )?(?P<v>[A-Z][a-z]+(?:(?:,| and|, and) [A-Z][a-z]+)*)"),
        "language",
        Topic.SKILL,
        0.7,
        slot_values.language,
        exclusive=False,
    ),
    Pattern(
        row(r"\bI am (?:{adv})fluent in (?P<v>[A-Z][a-z]+(?:(?:,| and|, and) [A-Z][a-z]+)*)"),
        "language",
        Topic.SKILL,
        0.7,
        slot_values.language,
        exclusive=False,
    ),
    Pattern(
        row(r"\bI (?:am|have been|started) (?:{adv})learning (?P<v>[A-Z][a-z]+)\b"),
        "language.learning",
        Topic.SKILL,
        0.65,
        slot_values.language,
        exclusive=False,
    ),
    Pattern(
        row(
            r"{who}(?:graduated from|studied at|(?:am|is) (?:studying|a student) at|go to|goes to|attend|"
            r"attends|study at|"
            r"(?:am|is) enrolled (?:at|in)|got into|(?:am|is) in (?:my|her|his) (?:\w+ ){1,2}(?:at|of)) {v}{end}"
        ),
        "education.school",
        Topic.HISTORY,
        0.7,
        slot_values.school,
    ),
    Pattern(
        row(
            r"{who}(?:(?:am|is) majoring in|major in|majored in|(?:have|has|got|earned|received|finished|"
            r"completed) (?:an? |my )?(?:master'?s?(?: degree)?|bachelor'?s?(?: degree)?|degree|phd|doctorate|diploma|"
            r"mba) in|(?:am|is) doing (?:a|my) (?:phd|master'?s?(?: degree)?|bachelor'?s?) in|(?:study|studies|"
            r"studied)(?! (?:at|"
            r"in|for|with|abroad|all|every)\b)|graduated (?:with a degree )?in|(?:am|is) studying(?! (?:at|for|with|"
            r"abroad|all|hard)\b)) {v}(?: (?:at|from) [^,.;]+)?{end}"
        ),
        "education.field",
        Topic.HISTORY,
        0.7,
        slot_values.field,
    ),
    # possessions, money, skills
    Pattern(
        row(
            r"{who}(?:drive|drives|own|owns|bought|(?:am|is) driving) an? (?P<v>(?:(?:new|used|old|red|blue|"
            r"black|white|"
            r"second-hand|\d{4}) )*(?-i:[A-Z])\w+(?: (?:(?-i:[A-Z])|\d)\w*)*)"
        ),
        "possession",
        Topic.OTHER,
        0.5,
        slot_values.thing,
        exclusive=False,
    ),
    Pattern(
        row(
            r"\b(?:I|we) (?:{adv})(?:have|own|got|bought|adopted) (?P<v>(?:an?|two|three|four|five|"
            r"\d) (?:[a-z-]+ ){0,2}?(?:"
            + PETS
            + r"|house|apartment|flat|condo|cottage|cabin|car|motorcycle|motorbike|van|truck|bike|boat|garden|farm|"
            r"telescope|guitar|piano|violin|3d printer|greenhouse|caravan|camper)s?)(?=$|[,.;!?]| and\b| but\b| with\b|"
            r" in\b| at home\b| last\b| from\b| that\b| which\b)"
        ),
        "possession",
        Topic.OTHER,
        0.5,
        slot_values.thing,
        exclusive=False,
    ),
    Pattern(
        row(
            r"\bmy (?P<cls>(?:monthly |annual |yearly |weekly )?(?:budget|salary|income|rent)) is (?:about |around |"
            r"roughly )?(?P<v>[$€£¥]? ?\d[\d,.]*\d?[km]?(?: ?(?:dollars|euros|pounds|usd|eur|a month|per month|a year|"
            r"per year))*)"
        ),
        "finance.{cls}",
        Topic.FINANCE,
        0.75,
        slot_values.amount,
    ),
    Pattern(
        row(
            r"\bI (?:{adv})(?:can (?=play the ))?play (?:the )?(?P<v>piano|guitar|violin|drums?|bass|cello|"
            r"flute|saxophone|clarinet|trumpet|"
            r"ukulele|harp|chess|tennis|basketball|soccer|football|volleyball|badminton|golf|baseball|hockey)\b"
        ),
        "skill",
        Topic.SKILL,
        0.6,
        str.lower,
        Category.SKILL,
        exclusive=False,
    ),
)
