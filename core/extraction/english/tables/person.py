"""Identity and residence."""

from __future__ import annotations

from core.extraction import slot_values
from core.extraction.english.tables.fragments import row
from core.extraction.pattern_types import Pattern
from core.types import Topic

PERSON: tuple[Pattern, ...] = (
    # identity
    Pattern(
        row(r"(?:\bmy (?:full |real |legal )?|^the )name is {v}{end}"),
        "name.full",
        Topic.PERSONAL,
        0.9,
        slot_values.person,
    ),
    Pattern(
        row(
            r"\b(?:please call me|you can call me|call me|I go by|everyone calls me|people call me|"
            r"my friends call me) {v}{end}"
        ),
        "name.preferred",
        Topic.PERSONAL,
        0.9,
        slot_values.person,
    ),
    Pattern(
        row(
            r"\bmy (?:(?P<kin>(?:older |younger |little |big |elder |twin |late )?(?:{kin})(?:-in-law)?)"
            r"(?: (?P<kinname>(?-i:[A-Z][a-z]+)))?'s )?(?:birthday|date of birth|"
            r"birth ?date) is (?:on )?(?P<v>.+?(?:, ?(?:19|20)\d\d)?)(?=[.!;,]|,? (?:and|but|so)\b|$)"
        ),
        "birthday",
        Topic.PERSONAL,
        0.9,
        slot_values.birthday,
    ),
    Pattern(
        row(r"\bI was born on (?P<v>.+?)(?=[.!;]| in [A-Z]|,? (?:and|but|so)\b|$)"),
        "birthday",
        Topic.PERSONAL,
        0.9,
        slot_values.birthday,
    ),
    Pattern(row(r"{who}(?:am|is|was) born in (?P<v>(?:19|20)\d\d)\b"), "birth.year", Topic.PERSONAL, 0.8),
    Pattern(
        row(r"{who}(?:was|am|is) born (?:and raised )?in {v}{end}"), "origin", Topic.PERSONAL, 0.75, slot_values.place
    ),
    Pattern(row(r"{who}grew up in {v}{end}"), "origin", Topic.PERSONAL, 0.7, slot_values.place),
    Pattern(
        row(r"{who}(?:am|is|are|come|comes) (?:originally )?from {v}{end}"),
        "origin",
        Topic.PERSONAL,
        0.7,
        slot_values.place,
    ),
    Pattern(
        row(
            r"{who}(?:am|is) an? (?:(?!\b(?:of|fan|letter|message|call|gift|package|refund|order|who|"
            r"that)\b)[^,.;!?]){3,30}? "
            r"from {v}{end}"
        ),
        "origin",
        Topic.PERSONAL,
        0.65,
        slot_values.place,
    ),
    Pattern(row(r"\bmy (?:home ?town|home country) is {v}{end}"), "origin", Topic.PERSONAL, 0.75, slot_values.place),
    Pattern(
        row(r"{who}(?:am|is) (?P<v>\d{1,2}|[a-z]+(?:[- ][a-z]+)?) years? old\b"),
        "age",
        Topic.PERSONAL,
        0.75,
        slot_values.age,
    ),
    Pattern(
        row(r"{who}(?:am|is) (?P<v>[1-9]\d)(?=[.,!]|$| and\b| now\b| years?\b)"),
        "age",
        Topic.PERSONAL,
        0.7,
        slot_values.age,
    ),
    Pattern(
        row(
            r"(?<!when )(?<!after )(?<!since )(?<!before )(?<!until )(?<!till ){who}turned (?P<v>\d{2}|"
            r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|"
            r"four|five|six|seven|eight|nine))?|(?:six|seven|eigh|nine)teen|(?:one|two|three|"
            r"four|five|six|seven|eight|nine|ten|eleven|twelve)(?=[.!,]|$| (?:yesterday|today|last|this|in|on|"
            r"and)\b))\b"
            r"(?! (?:times|minutes|degrees))"
        ),
        "age",
        Topic.PERSONAL,
        0.7,
        slot_values.age,
    ),
    Pattern(
        row(r"^I am (?-i:[A-Z])[a-z]+, (?P<v>[1-9]\d)(?=[.,!]|$| and\b)"), "age", Topic.PERSONAL, 0.75, slot_values.age
    ),
    Pattern(
        row(r"\b(?:I (?:am|use)|my (?:gender )?pronouns are) (?P<v>(?:she|he|they)/(?:her|him|them)(?:/\w+)?)"),
        "pronouns",
        Topic.PERSONAL,
        0.85,
    ),
    Pattern(
        row(
            r"\bI am (?:a |an )?(?P<v>transgender|trans|non-binary|nonbinary|gay|lesbian|bisexual|queer|"
            r"asexual)(?: (?:wo)?man| person)?\b"
        ),
        "identity",
        Topic.PERSONAL,
        0.8,
    ),
    Pattern(
        row(
            r"\bI am (?P<v>Christian|Catholic|Muslim|Jewish|Buddhist|Hindu|atheist|agnostic|Sikh|Mormon|Protestant|"
            r"Orthodox)\b"
        ),
        "religion",
        Topic.PERSONAL,
        0.75,
        str.capitalize,
    ),
    Pattern(row(r"\bmy nationality is {v}{end}"), "nationality", Topic.PERSONAL, 0.8, slot_values.place),
    Pattern(
        row(
            r"\bI am (?P<v>Portuguese|German|French|American|British|English|Irish|Scottish|Welsh|Chinese|"
            r"Japanese|Korean|"
            r"Indian|Spanish|Italian|Canadian|Australian|Brazilian|Mexican|Dutch|Swedish|Norwegian|Danish|"
            r"Finnish|Polish|"
            r"Russian|Ukrainian|Turkish|Greek|Swiss|Austrian|Belgian|Taiwanese|Vietnamese|Thai|Filipino|"
            r"Nigerian|Kenyan|"
            r"Egyptian|Israeli|Iranian|Pakistani|Argentinian|Chilean|Colombian)(?=[.,!]|$| and\b| but\b)"
        ),
        "nationality",
        Topic.PERSONAL,
        0.8,
        str.capitalize,
    ),
    Pattern(
        row(
            r"^I am (?P<v>(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+)?)(?=[.!]?$|,? (?:by the way|nice to meet|"
            r"from)\b|, \d\d\b|, an? )"
        ),
        "name.full",
        Topic.PERSONAL,
        0.8,
        slot_values.own_name,
    ),
    # places
    Pattern(
        row(r"^in (?P<v>(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)?),? I (?:now )?live\b"),
        "home.city",
        Topic.LOCATION,
        0.8,
        slot_values.place,
    ),
    Pattern(
        row(r"\bI (?:do not|no longer) live in {v}(?: any ?more)?{end}"),
        "home.city",
        Topic.LOCATION,
        0.8,
        slot_values.place,
        corrects=True,
        negated=True,
    ),
    Pattern(
        row(
            r"(?:{who}|^I am (?:[^,.;!?]{1,20}, ){1,2}(?:now |currently )?(?=living |based )|"
            r"^I am (?:(?!\b(?:of|with|for|at|by|who|company|firm|startup|called|"
            r"band)\b)[^.;!?]){2,50}? (?=living |based ))"
            r"(?:(?:am|is|are) (?:living|based)|(?<=, )(?:living|based)|(?<=\w )(?:living|based)|will be living|"
            r"live(?: and work)?|lives(?: and works)?|reside|resides|(?:have |has )?been living|have lived|"
            r"has lived|(?:have|has) always lived) (?:here )?in {v}{end}"
        ),
        "home.city",
        Topic.LOCATION,
        0.85,
        slot_values.place,
    ),
    Pattern(
        row(
            r"{who}(?:moved|relocated|emigrated|immigrated|am moving|are moving|is moving)(?: (?:from "
            r"[A-Z]\w+|here|back|"
            r"over|abroad|away))* to {v}{end}"
        ),
        "home.city",
        Topic.LOCATION,
        0.85,
        slot_values.place,
        corrects=True,
    ),
    Pattern(
        row(r"(?:\bmy (?:home|house|apartment|flat|place) is in|^home (?:for me )?is(?: now)?(?: in)?) {v}{end}"),
        "home.city",
        Topic.LOCATION,
        0.8,
        slot_values.place,
    ),
    Pattern(
        row(r"\bmy (?:home |postal |mailing )?address is (?P<v>[^!?;]+?)(?=[.!]?$)"),
        "home.address",
        Topic.LOCATION,
        0.85,
    ),
    Pattern(row(r"\bmy time ?zone is {v}{end}"), "timezone", Topic.LOCATION, 0.8),
    Pattern(
        row(
            r"\bI am in (?:the )?(?P<v>UTC[+-]?\d*|GMT[+-]?\d*|CET|CEST|EST|EDT|PST|PDT|CST|MST|IST|JST|BST|"
            r"Pacific time|"
            r"Eastern time|Central time)\b"
        ),
        "timezone",
        Topic.LOCATION,
        0.8,
    ),
)
