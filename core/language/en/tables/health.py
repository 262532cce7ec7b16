"""Health and food, and how to reach someone."""

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
        "allergy": Attribute(Topic.HEALTH, 0.95, values.thing, exclusive=False),
        "intolerance": Attribute(Topic.HEALTH, 0.95, str.lower, exclusive=False),
        "diet": Attribute(Topic.HEALTH, 0.9, str.lower),
        "health.condition": Attribute(Topic.HEALTH, 0.9, values.thing, exclusive=False),
        "health.medication": Attribute(Topic.HEALTH, 0.9, values.thing, exclusive=False),
        "health.blood_type": Attribute(Topic.HEALTH, 0.9),
        "contact.email": Attribute(Topic.CONTACT, 0.85),
        "contact.phone": Attribute(Topic.CONTACT, 0.85),
    },
)

HEALTH: tuple[Pattern, ...] = (
    # health and food
    _slot(
        "allergy",
        r"{who}(?:am|is|are) (?:severely |deathly |highly |mildly |slightly )?allergic to "
        r"(?P<v>[^.;!?()]+?)(?=$|[.;!?()]| [-–—]|"
        r",? (?:but|so|because|which|since|please|that|and (?:I|my|it|she|he|have|cannot|also))\b)",
    ),
    _slot(
        "allergy",
        r"{who}(?:have|has|got) an? (?:severe |serious |mild |bad |slight )?(?P<v>[a-z]+(?: [a-z]+)?) allergy\b"
        r"(?! (?:test|shot|season|medication|pill))",
    ),
    _slot("allergy", r"{who}(?:have|has) an? allergy to {v}{end}"),
    _slot("intolerance", r"{who}(?:am|is) (?P<v>lactose|gluten|fructose|histamine)[- ]intolerant\b"),
    _slot(
        "diet",
        r"\bI (?:am|went|turned|became|have been|eat|have gone) (?:{adv})(?:an? )?(?:strict "
        r")?(?P<v>vegan|vegetarian|"
        r"pescatarian|halal|kosher|gluten[- ]free|dairy[- ]free|keto|flexitarian)(?! (?:restaurant|food|options?|"
        r"recipes?|dish|place|cookbook|meal))\b",
    ),
    _slot(
        "diet",
        r"\bI (?:am|eat) (?:no longer|not(?=[^.!?]* any ?more\b)) (?:an? )?(?:strict )?"
        r"(?P<v>vegan|vegetarian|pescatarian)\b",
        importance=0.8,
        corrects=True,
        negated=True,
    ),
    _slot(
        "health.condition",
        r"{who}(?:was|have been|has been|got|am|is|were) (?:just |recently )?diagnosed with {v}{end}",
    ),
    _slot(
        "health.condition",
        r"{who}(?:have had|has had|have|has|suffer from|suffers from|struggle with|live with|"
        r"am living with) (?:a |an |"
        r"mild |severe |"
        r"chronic |bad )*(?:[a-z]+(?: [a-z]+)? allergy and )?(?P<v>{ill}(?:(?:,| and|, and) {ill})*)\b",
        check=str.lower,
    ),
    _slot(
        "health.medication",
        r"\bI (?:{adv})take (?P<v>[A-Za-z]+(?: \d+ ?mg)?) (?:every (?:day|morning|night)|daily|for my|twice a day|"
        r"once a day)",
    ),
    _slot("health.blood_type", r"\bmy blood type is (?P<v>(?:A|B|AB|O)[+-]?(?: (?:positive|negative))?)"),
    # contact
    _slot(
        "contact.email",
        r"\b(?:my (?:personal |work |new )?e-?mail(?: address)? is|(?:reach|e-?mail|contact|"
        r"write to) me (?:at|on|via)) "
        r"(?P<v>[\w.+-]+@[\w-]+\.[\w.-]*\w)",
    ),
    _slot(
        "contact.phone", r"\bmy (?:new |mobile |cell |phone )*(?:number|phone|mobile) is (?P<v>\+?[\d][\d ()-]{5,}\d)"
    ),
)
