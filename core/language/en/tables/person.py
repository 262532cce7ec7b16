"""Identity and residence."""

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
        "name.full": Attribute(Topic.PERSONAL, 0.9, values.person),
        "name.preferred": Attribute(Topic.PERSONAL, 0.9, values.person),
        "birthday": Attribute(Topic.PERSONAL, 0.9, values.birthday),
        "birth.year": Attribute(Topic.PERSONAL, 0.8),
        "origin": Attribute(Topic.PERSONAL, 0.75, values.place),
        "age": Attribute(Topic.PERSONAL, 0.75, values.age),
        "pronouns": Attribute(Topic.PERSONAL, 0.85),
        "identity": Attribute(Topic.PERSONAL, 0.8),
        "religion": Attribute(Topic.PERSONAL, 0.75, str.capitalize),
        "nationality": Attribute(Topic.PERSONAL, 0.8, values.place),
        "home.city": Attribute(Topic.LOCATION, 0.8, values.place),
        "home.address": Attribute(Topic.LOCATION, 0.85),
        "timezone": Attribute(Topic.LOCATION, 0.8),
    },
)

PERSON: tuple[Pattern, ...] = (
    # identity
    _slot("name.full", r"(?:\bmy (?:full |real |legal )?|^the )name is {v}{end}"),
    _slot(
        "name.preferred",
        r"(?<!n['’]t )(?<!not )(?<!never )\b(?:please call me|you can call me|call me|I go by|everyone calls me|"
        r"people call me|my friends call me) {v}{end}",
    ),
    _slot(
        "birthday",
        r"\bmy (?:(?P<kin>(?:older |younger |little |big |elder |twin |late )?(?:{kin})(?:-in-law)?)"
        r"(?: (?P<kinname>(?-i:[A-Z][a-z]+)))?'s )?(?:birthday|date of birth|"
        r"birth ?date) is (?:on )?(?P<v>.+?(?:, ?(?:19|20)\d\d)?)(?=[.!;,]|,? (?:and|but|so)\b|$)",
    ),
    _slot("birthday", r"\bI was born on (?P<v>.+?)(?=[.!;]| in [A-Z]|,? (?:and|but|so)\b|$)"),
    _slot("birth.year", r"{who}(?:am|is|was) born in (?P<v>(?:19|20)\d\d)\b"),
    _slot("origin", r"{who}(?:was|am|is) born (?:and raised )?in {v}{end}"),
    _slot("origin", r"{who}grew up in {v}{end}", importance=0.7),
    _slot("origin", r"{who}(?:am|is|are|come|comes) (?:originally )?from {v}{end}", importance=0.7),
    _slot(
        "origin",
        r"{who}(?:am|is) an? (?:(?!\b(?:of|fan|letter|message|call|gift|package|refund|order|who|"
        r"that)\b)[^,.;!?]){3,30}? "
        r"from {v}{end}",
        importance=0.65,
    ),
    _slot("origin", r"\bmy (?:home ?town|home country) is {v}{end}"),
    _slot("age", r"{who}(?:am|is) (?P<v>\d{1,2}|[a-z]+(?:[- ][a-z]+)?) years? old\b"),
    _slot("age", r"{who}(?:am|is) (?P<v>[1-9]\d)(?=[.,!]|$| and\b| now\b| years?\b)", importance=0.7),
    _slot(
        "age",
        r"(?<!when )(?<!after )(?<!since )(?<!before )(?<!until )(?<!till ){who}turned (?P<v>\d{2}|"
        r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|"
        r"four|five|six|seven|eight|nine))?|(?:six|seven|eigh|nine)teen|(?:one|two|three|"
        r"four|five|six|seven|eight|nine|ten|eleven|twelve)(?=[.!,]|$| (?:yesterday|today|last|this|in|on|"
        r"and)\b))\b"
        r"(?! (?:times|minutes|degrees))",
        importance=0.7,
    ),
    _slot("age", r"^I am (?-i:[A-Z])[a-z]+, (?P<v>[1-9]\d)(?=[.,!]|$| and\b)"),
    _slot(
        "pronouns", r"\b(?:I (?:am|use)|my (?:gender )?pronouns are) (?P<v>(?:she|he|they)/(?:her|him|them)(?:/\w+)?)"
    ),
    _slot(
        "identity",
        r"\bI am (?:a |an )?(?P<v>transgender|trans|non-binary|nonbinary|gay|lesbian|bisexual|queer|"
        r"asexual)(?: (?:wo)?man| person)?\b",
    ),
    _slot(
        "religion",
        r"\bI am (?P<v>Christian|Catholic|Muslim|Jewish|Buddhist|Hindu|atheist|agnostic|Sikh|Mormon|Protestant|"
        r"Orthodox)\b",
    ),
    _slot("nationality", r"\bmy nationality is {v}{end}"),
    _slot(
        "nationality",
        r"\bI am (?P<v>Portuguese|German|French|American|British|English|Irish|Scottish|Welsh|Chinese|"
        r"Japanese|Korean|"
        r"Indian|Spanish|Italian|Canadian|Australian|Brazilian|Mexican|Dutch|Swedish|Norwegian|Danish|"
        r"Finnish|Polish|"
        r"Russian|Ukrainian|Turkish|Greek|Swiss|Austrian|Belgian|Taiwanese|Vietnamese|Thai|Filipino|"
        r"Nigerian|Kenyan|"
        r"Egyptian|Israeli|Iranian|Pakistani|Argentinian|Chilean|Colombian)(?=[.,!]|$| and\b| but\b)",
        check=str.capitalize,
    ),
    _slot(
        "name.full",
        r"^I am (?P<v>(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+)?)(?=[.!]?$|,? (?:by the way|nice to meet|"
        r"from)\b|, \d\d\b|, an? )",
        importance=0.8,
        check=values.own_name,
    ),
    # places
    _slot("home.city", r"^in (?P<v>(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)?),? I (?:now )?live\b"),
    _slot("home.city", r"\bI (?:do not|no longer) live in {v}(?: any ?more)?{end}", corrects=True, negated=True),
    _slot(
        "home.city",
        r"(?:{who}|^I am (?:[^,.;!?]{1,20}, ){1,2}(?:now |currently )?(?=living |based )|"
        r"^I am (?:(?!\b(?:of|with|for|at|by|who|company|firm|startup|called|"
        r"band)\b)[^.;!?]){2,50}? (?=living |based ))"
        r"(?:(?:am|is|are) (?:living|based)|(?<=, )(?:living|based)|(?<=\w )(?:living|based)|will be living|"
        r"live(?: and work)?|lives(?: and works)?|reside|resides|(?:have |has )?been living|have lived|"
        r"has lived|(?:have|has) always lived) (?:here )?in {v}{end}",
        importance=0.85,
    ),
    _slot(
        "home.city",
        r"{who}(?:moved|relocated|emigrated|immigrated|am moving|are moving|is moving)(?: (?:from "
        r"[A-Z]\w+|here|back|"
        r"over|abroad|away))* to {v}{end}",
        importance=0.85,
        corrects=True,
    ),
    _slot(
        "home.city",
        r"(?:\bmy (?:home|house|apartment|flat|place) is in|^home (?:for me )?is(?: now)?(?: in)?) {v}{end}",
    ),
    _slot("home.address", r"\bmy (?:home |postal |mailing )?address is (?P<v>[^!?;]+?)(?=[.!]?$)"),
    _slot("timezone", r"\bmy time ?zone is {v}{end}"),
    _slot(
        "timezone",
        r"\bI am in (?:the )?(?P<v>UTC[+-]?\d*|GMT[+-]?\d*|CET|CEST|EST|EDT|PST|PDT|CST|MST|IST|JST|BST|"
        r"Pacific time|"
        r"Eastern time|Central time)\b",
    ),
)
