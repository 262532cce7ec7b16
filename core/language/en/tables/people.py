"""Relations: partner, family, friends, pets."""

from __future__ import annotations

from functools import partial

from core.language.en import values
from core.language.en.tables.fragments import PETS, row
from core.language.language import Attribute, Pattern, pattern
from core.types import Topic

_slot = partial(
    pattern,
    row,
    {
        "relation.{rel}": Attribute(Topic.RELATIONSHIP, 0.75, values.person, exclusive=False),
        "relation.pet": Attribute(Topic.RELATIONSHIP, 0.65, values.person, exclusive=False),
        "relation.spouse": Attribute(Topic.RELATIONSHIP, 0.8, values.person),
        "relation.status": Attribute(Topic.RELATIONSHIP, 0.75, str.lower),
        "family.children": Attribute(Topic.RELATIONSHIP, 0.8, values.count),
    },
)

PEOPLE: tuple[Pattern, ...] = (
    # relations
    _slot(
        "relation.{rel}",
        r"\b(?:my|our) (?P<rel>wife|husband|spouse|partner|fianc[ée]e?|girlfriend|boyfriend|mother|mom|"
        r"mum|mam|father|dad|"
        r"boss|manager)(?:'s name is| is (?:called|named)|,? whose name is|"
        r" is) (?P<v>[A-Z][\w-]+(?: [A-Z]\w+)?)(?=[.,!;]|$| and\b| who\b| but\b)",
        importance=0.8,
        exclusive=True,
    ),
    _slot(
        "relation.{rel}",
        r"\b(?:my|our) (?P<rel>wife|husband|spouse|partner|fianc[ée]e?|girlfriend|boyfriend|mother|mom|"
        r"mum|mam|father|dad|"
        r"boss|manager),? (?P<v>(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?(?-i:[A-Z][\w-]+))\b(?!'s)",
        exclusive=True,
    ),
    _slot(
        "relation.{rel}",
        r"\b(?:my|our) (?:older |younger |little |big |elder |twin |best |oldest |youngest |new )?(?P<rel>sister|"
        r"brother|son|daughter|friend|niece|nephew|cousin|uncle|aunt|grandmother|grandma|grandfather|"
        r"grandpa|roommate|"
        r"therapist|doctor|coach|baby|kid|child|" + PETS + r")(?:'s name is| is (?:called|named)|,? (?:called|named)|"
        r" is) (?P<v>(?:(?:Dr|Mr|Mrs|Ms|Prof)\. )?(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])\w+)?)(?=[.,!;]|$| and\b| who\b|"
        r" but\b| is\b)",
    ),
    _slot(
        "relation.{rel}",
        r"\b(?:my|our) (?:older |younger |little |big |elder |twin |best |oldest |youngest "
        r")?(?P<rel>sister|brother|"
        r"son|daughter|friend|niece|nephew|cousin|uncle|aunt|roommate|"
        + PETS
        + r"),? (?P<v>(?-i:[A-Z][\w-]+))\b(?!'s)",
        importance=0.65,
    ),
    _slot(
        "relation.{rel}",
        r"\b(?:I|we) (?:{adv})(?:have|got|adopted|own|bought|rescued) (?:an? |one |another |"
        r"this )?(?:[a-z-]+ ){0,3}?(?P<rel>"
        + PETS
        + r"|son|daughter|sister|brother|baby|girlfriend|boyfriend|friend)(?:,? (?:named|called|whose name "
        r"is)|,) {v}{end}",
    ),
    _slot(
        "relation.{rel}",
        r"{free}(?P<v>(?-i:[A-Z][\w-]+)(?: (?-i:[A-Z][\w-]+))?)(?:,| is(?: also)?) my (?P<rel>wife|husband|spouse|"
        r"partner|fianc[ée]e?|girlfriend|boyfriend|mother|mom|mum|father|dad|boss|manager)"
        r"(?=[.!;]|$|,(?! and\b)| and\b| who\b| but\b)",
        importance=0.8,
        exclusive=True,
    ),
    _slot(
        "relation.{rel}",
        r"{free}(?P<v>(?-i:[A-Z][\w-]+)(?: (?-i:[A-Z][\w-]+))?)(?:,| is(?: also)?) (?:my|our) (?:older |younger |"
        r"little |big |elder |twin |oldest |youngest )?(?P<rel>sister|brother|son|daughter|niece|nephew|cousin|"
        r"uncle|aunt|grandmother|grandma|grandfather|grandpa|roommate|" + PETS + r")"
        r"(?=[.!;]|$|,(?! and\b)| and\b| who\b| but\b)",
    ),
    _slot("relation.pet", r"\bI named (?:him|her|it|them|the (?:" + PETS + r")) {v}{end}"),
    _slot("relation.spouse", r"\b(?:I am|I got) (?:{adv})married to (?P<v>(?-i:[A-Z][\w-]+))\b"),
    _slot(
        "relation.status",
        r"\b(?:I am|I got|we are|we got) (?:{adv})(?:happily |newly )?(?P<v>married|engaged|divorced|single|"
        r"widowed|"
        r"separated)(?=[.,!]|$|"
        r" now\b| and\b| to my\b| with\b| for\b| last\b| in\b| on\b| but\b| again\b)",
    ),
    _slot(
        "family.children",
        r"\b(?:I|we) (?:{adv})(?:have|have got|got) (?P<v>\d|one|two|three|four|five|six|no|a) (?:(?:young|"
        r"little|small|"
        r"grown|teenage|"
        r"beautiful|wonderful|lovely|grown-up) )?(?:kids?|children|child)\b",
    ),
)
