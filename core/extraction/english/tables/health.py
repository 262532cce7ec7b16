"""Health and food, and how to reach someone."""

from __future__ import annotations

from core.extraction import slot_values
from core.extraction.english.tables.fragments import row
from core.extraction.pattern_types import Pattern
from core.types import Topic

HEALTH: tuple[Pattern, ...] = (
    # health and food
    Pattern(
        row(
            r"{who}(?:am|is|are) (?:severely |deathly |highly |mildly |slightly )?allergic to "
            r"(?P<v>[^.;!?()]+?)(?=$|[.;!?()]| [-–—]|"
            r",? (?:but|so|because|which|since|please|that|and (?:I|my|it|she|he|have|cannot|also))\b)"
        ),
        "allergy",
        Topic.HEALTH,
        0.95,
        slot_values.thing,
        exclusive=False,
    ),
    Pattern(
        row(
            r"{who}(?:have|has|got) an? (?:severe |serious |mild |bad |slight )?(?P<v>[a-z]+(?: [a-z]+)?) allergy\b"
            r"(?! (?:test|shot|season|medication|pill))"
        ),
        "allergy",
        Topic.HEALTH,
        0.95,
        slot_values.thing,
        exclusive=False,
    ),
    Pattern(
        row(r"{who}(?:have|has) an? allergy to {v}{end}"),
        "allergy",
        Topic.HEALTH,
        0.95,
        slot_values.thing,
        exclusive=False,
    ),
    Pattern(
        row(r"{who}(?:am|is) (?P<v>lactose|gluten|fructose|histamine)[- ]intolerant\b"),
        "intolerance",
        Topic.HEALTH,
        0.95,
        str.lower,
        exclusive=False,
    ),
    Pattern(
        row(
            r"\bI (?:am|went|turned|became|have been|eat|have gone) (?:{adv})(?:an? )?(?:strict "
            r")?(?P<v>vegan|vegetarian|"
            r"pescatarian|halal|kosher|gluten[- ]free|dairy[- ]free|keto|flexitarian)(?! (?:restaurant|food|options?|"
            r"recipes?|dish|place|cookbook|meal))\b"
        ),
        "diet",
        Topic.HEALTH,
        0.9,
        str.lower,
    ),
    Pattern(
        row(
            r"\bI (?:am|eat) (?:no longer|not(?=[^.!?]* any ?more\b)) (?:an? )?(?:strict )?"
            r"(?P<v>vegan|vegetarian|pescatarian)\b"
        ),
        "diet",
        Topic.HEALTH,
        0.8,
        str.lower,
        corrects=True,
        negated=True,
    ),
    Pattern(
        row(r"{who}(?:was|have been|has been|got|am|is|were) (?:just |recently )?diagnosed with {v}{end}"),
        "health.condition",
        Topic.HEALTH,
        0.9,
        slot_values.thing,
        exclusive=False,
    ),
    Pattern(
        row(
            r"{who}(?:have had|has had|have|has|suffer from|suffers from|struggle with|live with|"
            r"am living with) (?:a |an |"
            r"mild |severe |"
            r"chronic |bad )*(?:[a-z]+(?: [a-z]+)? allergy and )?(?P<v>{ill}(?:(?:,| and|, and) {ill})*)\b"
        ),
        "health.condition",
        Topic.HEALTH,
        0.9,
        str.lower,
        exclusive=False,
    ),
    Pattern(
        row(
            r"\bI (?:{adv})take (?P<v>[A-Za-z]+(?: \d+ ?mg)?) (?:every (?:day|morning|night)|daily|for my|twice a day|"
            r"once a day)"
        ),
        "health.medication",
        Topic.HEALTH,
        0.9,
        slot_values.thing,
        exclusive=False,
    ),
    Pattern(
        row(r"\bmy blood type is (?P<v>(?:A|B|AB|O)[+-]?(?: (?:positive|negative))?)"),
        "health.blood_type",
        Topic.HEALTH,
        0.9,
    ),
    # contact
    Pattern(
        row(
            r"\b(?:my (?:personal |work |new )?e-?mail(?: address)? is|(?:reach|e-?mail|contact|"
            r"write to) me (?:at|on|via)) "
            r"(?P<v>[\w.+-]+@[\w-]+\.[\w.-]*\w)"
        ),
        "contact.email",
        Topic.CONTACT,
        0.85,
    ),
    Pattern(
        row(r"\bmy (?:new |mobile |cell |phone )*(?:number|phone|mobile) is (?P<v>\+?[\d][\d ()-]{5,}\d)"),
        "contact.phone",
        Topic.CONTACT,
        0.85,
    ),
)
