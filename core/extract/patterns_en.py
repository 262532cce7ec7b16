"""What English sentences say: tables, read from the top; the first row that fits gives an attribute its value.

`{who}` stands for "I" or for one of the speaker's people ("my sister Anna"); values end at the next clause.
"""

from __future__ import annotations

import re

from core.extract import rewrite, values
from core.extract.reading import Cue, Pattern, Slot, Tables, Theme
from core.types import Category, Topic

KIN = (
    r"wife|husband|spouse|partner|fianc[ée]e?|girlfriend|boyfriend|mother|mom|mum|father|dad|sister|brother|son|"
    r"daughter|"
    r"uncle|aunt|cousin|niece|nephew|grandmother|grandma|grandfather|grandpa|boss|manager|roommate|flatmate|"
    r"best friend|friend|"
    r"colleague|coworker|classmate|neighbou?r|landlord|landlady|therapist|doctor|coach|ex"
)
PETS = r"dog|puppy|cat|kitten|hamster|rabbit|bunny|parrot|horse|turtle|snake|guinea pig|fish|bird|pet"
FREE = r"(?:^|(?<=[,;:] )|(?<=\band )|(?<=\bbut )|(?<=\bbecause )|(?<=\bsince )|(?<=\bso )|(?<=[-–—] )|(?<=\bthat ))"
ADV = (
    r"(?:(?:also|now|currently|actually|still|just|recently|already|really|always|usually|originally|mostly|only|"
    r"finally|absolutely|personally|generally|both|very|so|totally|truly|secretly|have|has|even|officially) )*"
)
WHO = (
    rf"(?:\b(?:I|we)|\b(?:my|our) (?P<kin>(?:older |younger |little |big |elder |twin |"
    rf"late )?(?:{KIN})(?:-in-law)?)(?:,? (?P<kinname>(?-i:[A-Z][a-z]+)))?,?) {ADV}"
)
V = r"(?P<v>(?:(?:St|Dr|Mr|Mrs|Ms|Mt)\. )?[^,.;!?()]+?)"
_AFTER = (
    r"but|because|since|so|which|who|when|while|where|although|though|with my|with our|at the moment|now|"
    r"these days|right now|currently|anymore|any more|instead|for (?:about |over |almost |nearly |the |\d|a |an |"
    r"two|three|four|five|six|seven|eight|nine|ten)|as of|until|"
    r"in order|to be|after|before|during|(?:last|next|this) (?:week|weekend|month|year|summer|winter|spring|fall|"
    r"autumn|morning|evening|afternoon|mon|tue|wed|thu|fri|sat|sun)\w*|yesterday|today|too|as well|from now|"
    r"starting|originally|these|soon|back in|ago|in (?:(?:19|20)\d\d|early|late|mid|january|february|"
    r"march|april|may|june|"
    r"july|august|september|october|november|december)\b|on (?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|"
    r"weekends|weekdays)|at the weekend|every (?:day|week|morning|night|month|evening|sunday|weekend)"
)
"""What comes after a value and is no part of it."""
END = rf"(?=$|[,.;!?()]| [-–—]| (?:and|{_AFTER})\b)"
_CLAUSE = r"I|it|they|we|my|the|so|but|especially|[a-z]+ing (?:my|me)|\w+ (?:is|are|was)|plus|as|and then"
LIST_END = (
    rf"(?=$|[.;!?()]| [-–—]|,? (?:but|so|because|which|who|plus|especially|as I|just) |, (?:and )?(?:{_CLAUSE})\b|"
    rf" (?:and (?:I|it|my|we|then|the|am|have|would|so|can|feel|that|they|he|she)\b|(?:{_AFTER})\b))"
)
"""The same where "A, B and C" is the value."""
P, K = Category.PREFERENCE, Category.SKILL
_PARTS = {"{kin}": KIN, "{list_end}": LIST_END, "{free}": FREE, "{who}": WHO, "{v}": V, "{end}": END, "{adv}": ADV}


def _re(regex: str) -> re.Pattern[str]:
    """`regex` with its placeholders filled in."""
    for name, part in _PARTS.items():
        regex = regex.replace(name, part)
    return re.compile(regex, re.IGNORECASE)


SLOTS: tuple[Pattern, ...] = (
    # identity
    Pattern(_re(r"\bmy (?:full |real |legal )?name is {v}{end}"), "name.full", Topic.PERSONAL, 0.9, values.person),
    Pattern(
        _re(
            r"\b(?:please call me|you can call me|call me|I go by|everyone calls me|people call me|"
            r"my friends call me) {v}{end}"
        ),
        "name.preferred",
        Topic.PERSONAL,
        0.9,
        values.person,
    ),
    Pattern(
        _re(
            r"\bmy (?:(?P<kin>(?:older |younger |little |big |elder |twin |late )?(?:{kin})(?:-in-law)?)"
            r"(?: (?P<kinname>(?-i:[A-Z][a-z]+)))?'s )?birthday is (?:on )?(?P<v>.+?)(?=[.!;,]|,? (?:and|but|so)\b|$)"
        ),
        "birthday",
        Topic.PERSONAL,
        0.9,
        values.birthday,
    ),
    Pattern(
        _re(r"\bI was born on (?P<v>.+?)(?=[.!;]| in [A-Z]|,? (?:and|but|so)\b|$)"),
        "birthday",
        Topic.PERSONAL,
        0.9,
        values.birthday,
    ),
    Pattern(_re(r"{who}(?:am|is|was) born in (?P<v>(?:19|20)\d\d)\b"), "birth.year", Topic.PERSONAL, 0.8),
    Pattern(_re(r"{who}(?:was|am|is) born (?:and raised )?in {v}{end}"), "origin", Topic.PERSONAL, 0.75, values.place),
    Pattern(_re(r"{who}grew up in {v}{end}"), "origin", Topic.PERSONAL, 0.7, values.place),
    Pattern(
        _re(r"{who}(?:am|is|come|comes) (?:originally )?from {v}{end}"), "origin", Topic.PERSONAL, 0.7, values.place
    ),
    Pattern(_re(r"\bmy (?:home ?town|home country) is {v}{end}"), "origin", Topic.PERSONAL, 0.75, values.place),
    Pattern(
        _re(r"{who}(?:am|is) (?P<v>\d{1,2}|[a-z]+(?:[- ][a-z]+)?) years? old"), "age", Topic.PERSONAL, 0.75, values.age
    ),
    Pattern(
        _re(r"{who}(?:am|is) (?P<v>[1-9]\d)(?=[.,!]|$| and\b| now\b| years?\b)"), "age", Topic.PERSONAL, 0.7, values.age
    ),
    Pattern(_re(r"{who}turned (?P<v>\d{2}|thirty|forty|fifty|sixty|twenty)\b"), "age", Topic.PERSONAL, 0.7, values.age),
    Pattern(
        _re(r"\b(?:I am|my (?:gender )?pronouns are) (?P<v>(?:she|he|they)/(?:her|him|them)(?:/\w+)?)"),
        "pronouns",
        Topic.PERSONAL,
        0.85,
    ),
    Pattern(
        _re(
            r"\bI am (?:a |an )?(?P<v>transgender|trans|non-binary|nonbinary|gay|lesbian|bisexual|queer|"
            r"asexual)(?: (?:wo)?man| person)?\b"
        ),
        "identity",
        Topic.PERSONAL,
        0.8,
    ),
    Pattern(
        _re(
            r"\bI am (?P<v>Christian|Catholic|Muslim|Jewish|Buddhist|Hindu|atheist|agnostic|Sikh|Mormon|Protestant|"
            r"Orthodox)\b"
        ),
        "religion",
        Topic.PERSONAL,
        0.75,
        str.capitalize,
    ),
    Pattern(_re(r"\bmy nationality is {v}{end}"), "nationality", Topic.PERSONAL, 0.8, values.place),
    Pattern(
        _re(
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
        _re(r"^I am (?P<v>(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+)?)(?=[.!]?$|,? (?:by the way|nice to meet|from)\b)"),
        "name.full",
        Topic.PERSONAL,
        0.8,
        values.own_name,
    ),
    # places
    Pattern(
        _re(r"\bI (?:do not|no longer) live in {v}(?: any ?more)?{end}"),
        "home.city",
        Topic.LOCATION,
        0.8,
        values.place,
        corrects=True,
        negated=True,
    ),
    Pattern(
        _re(
            r"{who}(?:(?:am|is|are) (?:living|based)|live|lives|reside|resides|(?:have |has )?been living|have lived|"
            r"has lived|(?:have|has) always lived) (?:here )?in {v}{end}"
        ),
        "home.city",
        Topic.LOCATION,
        0.85,
        values.place,
    ),
    Pattern(
        _re(
            r"{who}(?:moved|relocated|emigrated|immigrated|am moving|are moving|is moving)(?: (?:from "
            r"[A-Z]\w+|here|back|"
            r"over|abroad|away))* to {v}{end}"
        ),
        "home.city",
        Topic.LOCATION,
        0.85,
        values.place,
        corrects=True,
    ),
    Pattern(
        _re(r"\bmy (?:home|house|apartment|flat|place) is in {v}{end}"), "home.city", Topic.LOCATION, 0.8, values.place
    ),
    Pattern(
        _re(r"\bmy (?:home |postal |mailing )?address is (?P<v>[^!?;]+?)(?=[.!]?$)"),
        "home.address",
        Topic.LOCATION,
        0.85,
    ),
    Pattern(_re(r"\bmy time ?zone is {v}{end}"), "timezone", Topic.LOCATION, 0.8),
    Pattern(
        _re(
            r"\bI am in (?:the )?(?P<v>UTC[+-]?\d*|GMT[+-]?\d*|CET|CEST|EST|EDT|PST|PDT|CST|MST|IST|JST|BST|"
            r"Pacific time|"
            r"Eastern time|Central time)\b"
        ),
        "timezone",
        Topic.LOCATION,
        0.8,
    ),
    # work
    Pattern(
        _re(r"\bI (?:do not|no longer) work (?:at|for) {v}(?: any ?more)?{end}"),
        "work.employer",
        Topic.WORK,
        0.8,
        values.organisation,
        corrects=True,
        negated=True,
    ),
    Pattern(
        _re(
            r"\bI (?:{adv})(?:quit|left|resigned from|got (?:fired|laid off) from|was (?:fired|"
            r"laid off) from) (?:my job at |my position at |my role at )?{v}{end}"
        ),
        "work.employer",
        Topic.WORK,
        0.8,
        values.organisation,
        corrects=True,
        negated=True,
    ),
    Pattern(
        _re(
            r"{who}(?:work|works|(?:am|is) working|have worked|has worked|(?:have |has )?been working|am employed|"
            r"is employed)(?: (?:full[- ]time|part[- ]time|remotely|(?:night|day|late|early) shifts|nights|"
            r"weekends))? as (?:an? |the )?(?P<v>[^,.;!?()]+?)(?: (?:at|for|in|with) |(?=$|[,.;!?]| and\b| "
            r"but\b|"
            r" since\b| now\b))"
        ),
        "work.role",
        Topic.WORK,
        0.8,
        values.role,
    ),
    Pattern(
        _re(
            r"{who}(?:work|works|(?:am|is) working|(?:have |has )?been working|have worked|has worked|(?:am|"
            r"is) employed)(?: full[- ]time| part[- ]time| remotely)? (?:at|for|with) {v}{end}"
        ),
        "work.employer",
        Topic.WORK,
        0.8,
        values.organisation,
    ),
    Pattern(
        _re(
            r"{who}(?:got|landed|accepted|started|found|have|am starting|am in) (?:a |an |my |the )?(?:new )?(?:job|"
            r"position|role|internship|offer|work|gig) (?:as (?:an? )?[^,.;]+? )?(?:at|with|from) {v}{end}"
        ),
        "work.employer",
        Topic.WORK,
        0.8,
        values.organisation,
    ),
    Pattern(
        _re(
            r"{who}(?:joined|started at|started working (?:at|for)|(?:am|is) joining|will join) [^,.;!?]{2,40}?,? as "
            r"(?:an? |the |their )?(?:new )?(?P<v>[^,.;!?()]+?)(?: (?:at|for|in|with) |{end})"
        ),
        "work.role",
        Topic.WORK,
        0.8,
        values.role,
        corrects=True,
    ),
    Pattern(
        _re(
            r"{who}(?:got|landed|accepted|started|found|have|(?:am|is) starting) (?:a |an |my |the )?(?:new )?"
            r"(?:job|position|role|internship|work|gig)(?: (?:at|with|from) [^,.;!?]+?)?,? as (?:an? |the )?"
            r"(?P<v>[^,.;!?()]+?)(?: (?:at|for|in|with) |(?=$|[,.;!?]| and\b| but\b))"
        ),
        "work.role",
        Topic.WORK,
        0.8,
        values.role,
    ),
    Pattern(
        _re(
            r"{who}(?:work|works|(?:am|is) working|(?:am|is)|became) (?:as )?an? (?:(?!\b(?:who|whose|that|which|of|"
            r"fan|friend|customer|regular|member|guest|patient|believer)\b)[^,.;!?()]){3,41}? (?:at|for) {v}{end}"
        ),
        "work.employer",
        Topic.WORK,
        0.8,
        values.organisation,
    ),
    Pattern(
        _re(
            r"{who}(?:joined|started at|started working at|started working for|am joining|will join) {v}(?: "
            r"as\b.*)?{end}"
        ),
        "work.employer",
        Topic.WORK,
        0.8,
        values.organisation,
    ),
    Pattern(
        _re(r"\bmy (?:employer|company) is(?: called)? {v}{end}"), "work.employer", Topic.WORK, 0.8, values.organisation
    ),
    Pattern(
        _re(
            r"\b(?:my job is|my profession is|my occupation is|my job title is|my role is)(?: being)? (?:an? |"
            r"the )?{v}{end}"
        ),
        "work.role",
        Topic.WORK,
        0.8,
        values.role,
    ),
    Pattern(
        _re(
            r"{who}(?:work|works|(?:am|is) working|(?:have|has) worked) (?:at|for|with) [^,.;!?]{2,40}? as "
            r"(?:an? |the )?{v}{end}"
        ),
        "work.role",
        Topic.WORK,
        0.8,
        values.role,
    ),
    Pattern(
        _re(r"{who}(?:was|got|is|been|were) promoted to (?:an? |the )?{v}{end}"),
        "work.role",
        Topic.WORK,
        0.8,
        values.role,
    ),
    Pattern(
        _re(
            r"{who}(?:am|is|became|am now) (?:an? |the )?(?P<v>[^,.;!?()]+?)(?: (?:at|for|in|with|by|from|of) |(?=$|"
            r"[,.;!?]| and\b| but\b| who\b| now\b))"
        ),
        "work.role",
        Topic.WORK,
        0.75,
        values.occupation,
    ),
    # relations
    Pattern(
        _re(
            r"\b(?:my|our) (?P<rel>wife|husband|spouse|partner|fianc[ée]e?|girlfriend|boyfriend|mother|mom|"
            r"mum|father|dad|"
            r"boss|manager)(?:'s name is| is (?:called|named)|,? whose name is|"
            r" is) (?P<v>[A-Z][\w-]+(?: [A-Z]\w+)?)(?=[.,!;]|$| and\b| who\b| but\b)"
        ),
        "relation.{rel}",
        Topic.RELATIONSHIP,
        0.8,
        values.person,
    ),
    Pattern(
        _re(
            r"\b(?:my|our) (?P<rel>wife|husband|spouse|partner|fianc[ée]e?|girlfriend|boyfriend|mother|mom|"
            r"mum|father|dad|"
            r"boss|manager),? (?P<v>(?-i:[A-Z][a-z]+))\b(?!'s)"
        ),
        "relation.{rel}",
        Topic.RELATIONSHIP,
        0.75,
        values.person,
    ),
    Pattern(
        _re(
            r"\b(?:my|our) (?:older |younger |little |big |elder |twin |best |oldest |youngest |new )?(?P<rel>sister|"
            r"brother|son|daughter|friend|niece|nephew|cousin|uncle|aunt|grandmother|grandma|grandfather|"
            r"grandpa|roommate|"
            r"therapist|doctor|coach|baby|kid|child|"
            + PETS
            + r")(?:'s name is| is (?:called|named)|,? (?:called|named)|"
            r" is) (?P<v>(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])\w+)?)(?=[.,!;]|$| and\b| who\b| but\b| is\b)"
        ),
        "relation.{rel}",
        Topic.RELATIONSHIP,
        0.75,
        values.person,
        exclusive=False,
    ),
    Pattern(
        _re(
            r"\b(?:my|our) (?:older |younger |little |big |elder |twin |best |oldest |youngest "
            r")?(?P<rel>sister|brother|"
            r"son|daughter|friend|niece|nephew|cousin|uncle|aunt|roommate|"
            + PETS
            + r"),? (?P<v>(?-i:[A-Z][a-z]+))\b(?!'s)"
        ),
        "relation.{rel}",
        Topic.RELATIONSHIP,
        0.65,
        values.person,
        exclusive=False,
    ),
    Pattern(
        _re(
            r"\b(?:I|we) (?:{adv})(?:have|got|adopted|own|bought|rescued) (?:an? |another |"
            r"this )?(?:[a-z-]+ ){0,3}?(?P<rel>"
            + PETS
            + r"|son|daughter|sister|brother|baby|girlfriend|boyfriend|friend)(?:,? (?:named|called|whose name "
            r"is)) {v}{end}"
        ),
        "relation.{rel}",
        Topic.RELATIONSHIP,
        0.75,
        values.person,
        exclusive=False,
    ),
    Pattern(
        _re(
            r"{free}(?P<v>(?-i:[A-Z][a-z]+)(?: (?-i:[A-Z][a-z]+))?)(?:,| is(?: also)?) my (?P<rel>wife|husband|spouse|"
            r"partner|fianc[ée]e?|girlfriend|boyfriend|mother|mom|mum|father|dad|boss|manager)"
            r"(?=[.!;]|$|,(?! and\b)| and\b| who\b| but\b)"
        ),
        "relation.{rel}",
        Topic.RELATIONSHIP,
        0.8,
        values.person,
    ),
    Pattern(
        _re(
            r"{free}(?P<v>(?-i:[A-Z][a-z]+)(?: (?-i:[A-Z][a-z]+))?)(?:,| is(?: also)?) (?:my|our) (?:older |younger |"
            r"little |big |elder |twin |oldest |youngest )?(?P<rel>sister|brother|son|daughter|niece|nephew|cousin|"
            r"uncle|aunt|grandmother|grandma|grandfather|grandpa|roommate|" + PETS + r")"
            r"(?=[.!;]|$|,(?! and\b)| and\b| who\b| but\b)"
        ),
        "relation.{rel}",
        Topic.RELATIONSHIP,
        0.75,
        values.person,
        exclusive=False,
    ),
    Pattern(
        _re(r"\bI named (?:him|her|it|them|the (?:" + PETS + r")) {v}{end}"),
        "relation.pet",
        Topic.RELATIONSHIP,
        0.65,
        values.person,
        exclusive=False,
    ),
    Pattern(
        _re(r"\b(?:I am|I got) (?:{adv})married to (?P<v>(?-i:[A-Z][a-z]+))\b"),
        "relation.spouse",
        Topic.RELATIONSHIP,
        0.8,
        values.person,
    ),
    Pattern(
        _re(
            r"\b(?:I am|I got|we are|we got) (?:{adv})(?P<v>married|engaged|divorced|single|widowed|"
            r"separated)(?=[.,!]|$|"
            r" now\b| and\b| to my\b| with\b| for\b| last\b| in\b| on\b| but\b| again\b)"
        ),
        "relation.status",
        Topic.RELATIONSHIP,
        0.75,
        str.lower,
    ),
    Pattern(
        _re(
            r"\b(?:I|we) (?:{adv})have (?P<v>\d|one|two|three|four|five|six|no|a) (?:(?:young|little|small|"
            r"grown|teenage|"
            r"beautiful|wonderful|lovely|grown-up) )?(?:kids?|children|child)\b"
        ),
        "family.children",
        Topic.RELATIONSHIP,
        0.8,
        values.count,
    ),
    # health and food
    Pattern(
        _re(
            r"{who}(?:am|is) (?:severely |deathly |highly |mildly |slightly )?allergic to "
            r"(?P<v>[^.;!?()]+?)(?=$|[.;!?()]| [-–—]|"
            r",? (?:but|so|because|which|since|please|that|and (?:I|my|it|she|he|have|cannot|also))\b)"
        ),
        "allergy",
        Topic.HEALTH,
        0.95,
        values.thing,
        exclusive=False,
    ),
    Pattern(
        _re(r"{who}(?:have|has) an? (?:severe |serious |mild |bad |slight )?(?P<v>[a-z]+(?: [a-z]+)?) allergy\b"),
        "allergy",
        Topic.HEALTH,
        0.95,
        values.thing,
        exclusive=False,
    ),
    Pattern(
        _re(r"{who}(?:have|has) an? allergy to {v}{end}"), "allergy", Topic.HEALTH, 0.95, values.thing, exclusive=False
    ),
    Pattern(
        _re(r"{who}(?:am|is) (?P<v>lactose|gluten|fructose|histamine)[- ]intolerant\b"),
        "intolerance",
        Topic.HEALTH,
        0.95,
        str.lower,
        exclusive=False,
    ),
    Pattern(
        _re(
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
        _re(r"{who}(?:was|have been|has been|got|am|is|were) (?:just |recently )?diagnosed with {v}{end}"),
        "health.condition",
        Topic.HEALTH,
        0.9,
        values.thing,
        exclusive=False,
    ),
    Pattern(
        _re(
            r"{who}(?:have|has|suffer from|suffers from|struggle with|live with|am living with) (?:a |an |"
            r"mild |severe |"
            r"chronic |bad )*(?P<v>(?:type [12] )?(?:asthma|diabetes|depression|anxiety|adhd|autism|"
            r"arthritis|migraines?|"
            r"epilepsy|cancer|hypertension|high blood pressure|celiac disease|coeliac disease|insomnia|back pain|"
            r"heart condition|ibs|crohn's disease|ptsd|ocd|dyslexia|anemia|eczema|psoriasis|endometriosis|tinnitus|"
            r"asperger's|sleep apnea|bipolar disorder|hay fever|knee injury|food poisoning|thyroid condition))\b"
        ),
        "health.condition",
        Topic.HEALTH,
        0.9,
        str.lower,
        exclusive=False,
    ),
    Pattern(
        _re(
            r"\bI (?:{adv})take (?P<v>[A-Za-z]+(?: \d+ ?mg)?) (?:every (?:day|morning|night)|daily|for my|twice a day|"
            r"once a day)"
        ),
        "health.medication",
        Topic.HEALTH,
        0.9,
        values.thing,
        exclusive=False,
    ),
    Pattern(
        _re(r"\bmy blood type is (?P<v>(?:A|B|AB|O)[+-]?(?: (?:positive|negative))?)"),
        "health.blood_type",
        Topic.HEALTH,
        0.9,
    ),
    # contact
    Pattern(
        _re(r"\bmy (?:personal |work |new )?e-?mail(?: address)? is (?P<v>[\w.+-]+@[\w-]+\.[\w.-]*\w)"),
        "contact.email",
        Topic.CONTACT,
        0.85,
    ),
    Pattern(
        _re(r"\bmy (?:new |mobile |cell |phone )*(?:number|phone|mobile) is (?P<v>\+?[\d][\d ()-]{5,}\d)"),
        "contact.phone",
        Topic.CONTACT,
        0.85,
    ),
    # language and education
    Pattern(
        _re(r"\bmy (?:native|first|mother) (?:language|tongue) is {v}{end}"),
        "language.native",
        Topic.PERSONAL,
        0.8,
        values.language,
    ),
    Pattern(
        _re(r"\bI (?:{adv})speak (?P<v>[A-Z][a-z]+(?:(?:,| and|, and) [A-Z][a-z]+)*)"),
        "language",
        Topic.SKILL,
        0.7,
        values.language,
        exclusive=False,
    ),
    Pattern(
        _re(r"\bI am (?:{adv})fluent in (?P<v>[A-Z][a-z]+(?:(?:,| and|, and) [A-Z][a-z]+)*)"),
        "language",
        Topic.SKILL,
        0.7,
        values.language,
        exclusive=False,
    ),
    Pattern(
        _re(r"\bI (?:am|have been|started) (?:{adv})learning (?P<v>[A-Z][a-z]+)\b"),
        "language.learning",
        Topic.SKILL,
        0.65,
        values.language,
        exclusive=False,
    ),
    Pattern(
        _re(
            r"{who}(?:graduated from|studied at|(?:am|is) (?:studying|a student) at|go to|goes to|attend|"
            r"attends|study at|"
            r"(?:am|is) enrolled (?:at|in)|got into) {v}{end}"
        ),
        "education.school",
        Topic.HISTORY,
        0.7,
        values.school,
    ),
    Pattern(
        _re(
            r"{who}(?:(?:am|is) majoring in|major in|majored in|(?:have|has|got|earned|received|finished|"
            r"completed) (?:an? |my )?(?:master'?s?(?: degree)?|bachelor'?s?(?: degree)?|degree|phd|doctorate|diploma|"
            r"mba) in|(?:am|is) doing (?:a|my) (?:phd|master'?s?(?: degree)?|bachelor'?s?) in|(?:study|"
            r"studied)(?! (?:at|"
            r"in|for|with|abroad|all|every)\b)|graduated (?:with a degree )?in|(?:am|is) studying(?! (?:at|for|with|"
            r"abroad|all|hard)\b)) {v}(?: (?:at|from) [^,.;]+)?{end}"
        ),
        "education.field",
        Topic.HISTORY,
        0.7,
        values.field,
    ),
    # possessions, money, skills
    Pattern(
        _re(
            r"{who}(?:drive|drives|own|owns|bought|(?:am|is) driving) an? (?P<v>(?:(?:new|used|old|red|blue|"
            r"black|white|"
            r"second-hand|\d{4}) )*(?-i:[A-Z])\w+(?: (?:(?-i:[A-Z])|\d)\w*)*)"
        ),
        "possession",
        Topic.OTHER,
        0.5,
        values.thing,
        exclusive=False,
    ),
    Pattern(
        _re(
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
        values.thing,
        exclusive=False,
    ),
    Pattern(
        _re(
            r"\bmy (?P<cls>(?:monthly |annual |yearly |weekly )?(?:budget|salary|income|rent)) is (?:about |around |"
            r"roughly )?(?P<v>[$€£¥]? ?\d[\d,.]*\d?[km]?(?: ?(?:dollars|euros|pounds|usd|eur|a month|per month|a year|"
            r"per year))*)"
        ),
        "finance.{cls}",
        Topic.FINANCE,
        0.75,
        values.amount,
    ),
    Pattern(
        _re(
            r"\bI (?:{adv})play (?:the )?(?P<v>piano|guitar|violin|drums?|bass|cello|flute|saxophone|clarinet|trumpet|"
            r"ukulele|harp|chess|tennis|basketball|soccer|football|volleyball|badminton|golf|baseball|hockey)\b"
        ),
        "skill",
        Topic.SKILL,
        0.6,
        str.lower,
        K,
        exclusive=False,
    ),
    # likes and dislikes
    Pattern(
        _re(
            r"\bmy (?:all[- ]time |absolute |current )?favorite (?P<cls>[a-z]+(?: [a-z]+)?)(?: of all time| ever|"
            r" to \w+)? (?:is|has to be|would be|has always been|are)(?: probably| definitely)? {v}{end}"
        ),
        "preference.{cls}",
        Topic.PREFERENCE,
        0.7,
        values.favourite,
        P,
    ),
    Pattern(
        _re(
            r"^(?P<v>[^,.;!?()]{2,40}?) (?:is|are) (?:probably |definitely |still )?my (?:all[- ]time |"
            r"absolute )?favorite (?P<cls>[a-z]+(?: [a-z]+)?)(?=[.,!;]|$| because\b| and\b| of all\b| ever\b)"
        ),
        "preference.{cls}",
        Topic.PREFERENCE,
        0.7,
        values.favourite,
        P,
    ),
    Pattern(
        _re(
            r"{free}{who}(?:do not|does not|did not) (?:really |particularly |even )?(?:like|enjoy|"
            r"care for) (?P<v>[^.;!?()]+?){list_end}"
        ),
        "dislikes",
        Topic.PREFERENCE,
        0.6,
        values.liked,
        P,
        exclusive=False,
    ),
    Pattern(
        _re(r"{free}{who}(?:do not|does not|never|no longer|cannot) (?:eat|drink) (?P<v>[^.;!?()]+?){list_end}"),
        "avoids",
        Topic.HEALTH,
        0.75,
        values.liked,
        P,
        exclusive=False,
    ),
    Pattern(
        _re(
            r"{free}{who}(?:hate|hates|dislike|dislikes|cannot stand|detest|loathe|despise|(?:am|is) not "
            r"(?:a fan of|into|"
            r"fond of)) (?P<v>[^.;!?()]+?){list_end}"
        ),
        "dislikes",
        Topic.PREFERENCE,
        0.6,
        values.liked,
        P,
        exclusive=False,
    ),
    Pattern(
        _re(
            r"(?:{free}{who}|\bI (?:(?!\b(?:who|they|she|he|my|our|people|friends)\b)[^,.;!?])*?\band {adv}"
            r"(?=love |enjoy |adore ))(?:like|love|enjoy|adore|likes|loves|enjoys|(?:am|"
            r"is) (?:a (?:big|huge|massive) fan of|fond of|obsessed with|(?:really |super )?into|crazy about|"
            r"passionate about|keen on)) (?P<v>[^.;!?()]+?){list_end}"
        ),
        "likes",
        Topic.PREFERENCE,
        0.55,
        values.liked,
        P,
        exclusive=False,
    ),
    Pattern(
        _re(
            r"{free}{who}(?:prefer|prefers|would rather have) {v}(?: (?:over|to|rather than|instead of|"
            r"than) [^,.;!?]+)?{end}"
        ),
        "prefers",
        Topic.PREFERENCE,
        0.65,
        values.liked,
        P,
        exclusive=False,
    ),
)

INSTRUCTION = re.compile(
    r"^(?:please )?(?:from now on|going forward|from here on|in (?:the )?future,|in future|henceforth|"
    r"starting now|as a rule)\b"
    r"|\bfrom now on[.!]?$|\bgoing forward[.!]?$|\bfrom now on,? (?:please|call|use|answer|reply|always|never|"
    r"do not|I want you)\b"
    r"|^(?:please )?(?:always|never|don't ever|do not ever) (?!\w+ed\b|saw\b|went\b|did\b|felt\b|came\b|heard\b|"
    r"been|had|seen|thought|knew|gets?\b|got\b|good|a\b|fun|great|heard|been\b|mind|give up|forget|stop|"
    r"lose)[a-z]+\b"
    r"|^(?:please,? )(?:do not|avoid|stop|refrain|only|make sure|remember to|keep (?:your|answers|responses|"
    r"replies|it)|use|answer|reply|respond|write|address|refer)\b.*"
    r"\b(?:answers?|responses?|repl(?:y|ies)|emojis?|jargon|me|tone|bullets?|bullet points|format|units?|language|"
    r"english|spanish|german|french|chinese|metric|ask(?:ing)?|call(?:ing)?|suggest(?:ing)?|recommend(?:ing)?|use|"
    r"using|mention(?:ing)?|short|brief|concise|remind(?:ing)?|contact(?:ing)?|share|sharing|book(?:ing)?|"
    r"schedul(?:e|ing))\b"
    r"|^(?:do not|stop|avoid) (?:ever )?(?:call(?:ing)? me|us(?:e|ing)|ask(?:ing)? me|suggest(?:ing)?|"
    r"recommend(?:ing)?|send(?:ing)?|remind(?:ing)?|mention(?:ing)?|apologi[sz](?:e|ing)|repeat(?:ing)?|"
    r"schedul(?:e|ing)|book(?:ing)?|contact(?:ing)?|shar(?:e|ing) my)\b"
    r"|\bI (?:want|need|would like|expect) you to (?:always|never|only|stop|keep|use|answer|reply|avoid|call)\b"
    r"|\b(?:you (?:should|must)) (?:always|never|not)\b|\bwhenever I (?:ask|say|mention|request|write|send)\b|"
    r"^when I (?:ask|say|mention|write)\b.*,\s*(?:please )?(?!I\b|it\b|they\b)[a-z]+",
    re.IGNORECASE,
)
ONE_OFF = re.compile(
    r"\b(?:this time|for this (?:one|answer|task|question)|just this once|in this (?:email|essay|code|case|"
    r"function|paragraph|text|letter)|below|above|the following|right now|to me\?)\b",
    re.IGNORECASE,
)
CORRECTION = re.compile(
    r"^(?:no|oh|well|sorry|but|and|hmm|wait)?[, ]*actually\b|\bactually\b.*, not\b|\bno longer\b|\bany ?more\b|"
    r"\bI (?:\w+ )?moved (?:to|back)\b|\bnot .{2,30} but\b|\bchanged (?:my|to)\b|\bswitched (?:to|from)\b|"
    r"^correction\b|\bI meant\b|\bI was wrong\b|\bused to\b.*\bbut\b|\binstead of\b|\bnot true any\b|"
    r"\bstopped \w+ing\b|\bgave up \w+ing\b|\bnew (?:job|position|role)\b|\bpromoted to\b|"
    r"\b(?:changed|switched) jobs\b",
    re.IGNORECASE,
)
CATEGORIES: tuple[Cue, ...] = (
    Cue(
        re.compile(
            r"\b(?:I|we) (?:\w+ )?(?:am|are) (?:\w+ )?(?:going to|planning|hoping to|looking forward to|about to|"
            r"thinking (?:of|about)|considering|aiming to|saving (?:up )?(?:for|to)|getting ready (?:for|to)|"
            r"preparing (?:for|to))\b|\b(?:I|we) (?:\w+ )?(?:plan|intend|aim|hope|want|would like|would "
            r"love) to\b|\b(?:I|"
            r"we) (?:will|shall)\b|\bmy (?:goal|plan|dream|aim|next (?:step|goal)) (?:is|for)\b|\b(?:I|we) (?:have|am|"
            r"are) .*\b(?:planned|scheduled|booked|coming up|lined up)\b|\b(?:next|this coming) (?:week|"
            r"month|year|summer|"
            r"weekend)\b|\btomorrow\b",
            re.IGNORECASE,
        ),
        Category.PLAN,
        0.55,
    ),
    Cue(
        re.compile(
            r"\b(?:every|each) (?:single )?(?:day|morning|evening|night|week|month|year|other|sunday|monday|tuesday|"
            r"wednesday|thursday|friday|saturday|weekend|summer|winter)\b|\b(?:I|we) (?:usually|always|often|normally|"
            r"typically|regularly|never|rarely|sometimes|generally) |\bon (?:sundays|mondays|tuesdays|wednesdays|"
            r"thursdays|fridays|saturdays|weekends|weekdays)\b|\b(?:once|twice|\w+ times) (?:a|per) (?:day|week|month|"
            r"year)\b|\bmy (?:daily|morning|evening|weekly) routine\b",
            re.IGNORECASE,
        ),
        Category.PATTERN,
        0.55,
    ),
    Cue(
        re.compile(
            r"\b(?:I|we) (?:\w+ )?(?:love|like|enjoy|adore|hate|prefer|dislike|cannot stand)\b|\bfavorite\b|\b(?:big|"
            r"huge) fan\b|\bpassionate about\b|\bmakes? me (?:feel|so|happy|smile)\b|\bhelps? me\b|\bgo-to\b",
            re.IGNORECASE,
        ),
        Category.PREFERENCE,
        0.5,
    ),
    Cue(
        re.compile(
            r"\b(?:yesterday|last (?:night|week|weekend|month|year|summer|winter|fall|spring|mon|tue|wed|thu|fri|sat|"
            r"sun)\w*|ago|today|this (?:morning|week|weekend)|recently|the other day|"
            r"just(?! (?:like|as|so|to|a|the|one|how|what|in case|for|love|enjoy|want)\b)|lately)\b|\b(?:I|"
            r"we) (?:(?!am\b|"
            r"are\b|do\b|was\b|need\b)\w+ )?(?:went|met|ran|won|lost|got|bought|visited|attended|finished|started|"
            r"signed up|moved|joined|saw|hosted|celebrated|adopted|graduated|made|had|took|gave|found|tried|did|hiked|"
            r"painted|organi[sz]ed|launched|received|participated|volunteered|\w{3,}ed)\b",
            re.IGNORECASE,
        ),
        Category.EVENT,
        0.5,
    ),
)
THEMES: tuple[Theme, ...] = tuple(
    Theme(topic, re.compile(rf"\b(?:{words})\b", re.IGNORECASE))
    for topic, words in (
        (
            Topic.HEALTH,
            r"health\w*|doctor|hospital|allerg\w+|diagnos\w+|therap\w+|medic\w+|diet|injur\w+|sick|surgery|pain|asthma|"
            r"anxiety|depress\w+|sleep\w*|workout|gym|yoga|fitness|marathon|weight",
        ),
        (Topic.FINANCE, r"money|budget|salary|rent|mortgage|loan|debts?|invest\w*|savings?|bank|afford|funding|grant"),
        (
            Topic.WORK,
            r"work\w*|jobs?|business|company|career|office|boss|colleagues?|coworkers?|project|clients?|interview|"
            r"promot\w+|startup|studio|store|shop|internship|employ\w*|team at|engineer\w*|endorsements?",
        ),
        (
            Topic.RELATIONSHIP,
            r"wife|husband|partner|girlfriend|boyfriend|married|wedding|kids?|children|son|daughter|sister|"
            r"brother|m[ou]m|"
            r"dad|mother|father|parents?|family|friends?|dogs?|cats?|pupp(?:y|ies)|grand\w+|aunt|uncle|cousin|breakup|"
            r"adopt\w*",
        ),
        (
            Topic.LOCATION,
            r"live in|moved|home|house|apartment|city|trip|travel\w*|visit\w*|beach|mountains?|country|hotel|flight|"
            r"vacation",
        ),
        (
            Topic.SKILL,
            r"learn\w*|course|class(?:es)?|lessons?|play (?:the )?(?:piano|guitar|violin)|certificat\w+|"
            r"coding|language|"
            r"skills?|workshop",
        ),
        (
            Topic.HISTORY,
            r"when I was|grew up|childhood|used to|school|college|university|degree|graduat\w+|years ago|born",
        ),
        (Topic.GOAL, r"goals?|dreams?|plan\w*|hop(?:e|ing) to|want to|aim\w*|going to"),
        (Topic.HABIT, r"every (?:day|morning|night|week\w*|sunday)|usually|always|routine|habit|often"),
        (Topic.PREFERENCE, r"love|like|enjoy|favorite|prefer|hate|fan of|passion\w*"),
    )
)

STATED = {
    "": "{who}'s {what} is {value}.",
    "home.city": "{who} lives in {value}.",
    "home.country": "{who} lives in {value}.",
    "not home.city": "{who} no longer lives in {value}.",
    "not home.country": "{who} no longer lives in {value}.",
    "work.employer": "{who} works at {value}.",
    "not work.employer": "{who} no longer works at {value}.",
    "work.role": "{who} works as {a_value}.",
    "name": "{who} is called {value}.",
    "origin": "{who} comes from {value}.",
    "age": "{who} is {value} years old.",
    "identity": "{who} is {value}.",
    "religion": "{who} is {value}.",
    "nationality": "{who} is {value}.",
    "relation": "{who}'s {what} is called {value}.",
    "relation.status": "{who} is {value}.",
    "family.children": "{who} has {value} children.",
    "allergy": "{who} is allergic to {value}.",
    "intolerance": "{who} is {value} intolerant.",
    "diet": "{who} is {value}.",
    "health.condition": "{who} has {value}.",
    "health.medication": "{who} takes {value}.",
    "language": "{who} speaks {value}.",
    "language.learning": "{who} is learning {value}.",
    "education.school": "{who} studied at {value}.",
    "education.field": "{who} studied {value}.",
    "possession": "{who} has {a_value}.",
    "skill": "{who} plays {value}.",
    "preference": "{who}'s favorite {what} is {value}.",
    "likes": "{who} likes {value}.",
    "dislikes": "{who} dislikes {value}.",
    "avoids": "{who} avoids {value}.",
    "prefers": "{who} prefers {value}.",
}
"""How an attribute reads as a sentence, by its full name or its first part."""
_ONE_OF_SEVERAL = frozenset({"allergy", "language", "likes", "dislikes", "avoids"})
_CANONICAL = {
    "mom": "mother",
    "mum": "mother",
    "dad": "father",
    "wife": "spouse",
    "husband": "spouse",
    "grandma": "grandmother",
    "grandpa": "grandfather",
    "puppy": "dog",
    "kitten": "cat",
    "bunny": "rabbit",
    "manager": "boss",
}


def slots(sentence: str) -> list[Slot]:
    """The attributes and values that `sentence` (plain English, first person) states, the surest first."""
    found: list[Slot] = []
    for pattern in SLOTS:
        for match in pattern.regex.finditer(sentence):
            read, groups = _values(pattern, match), match.groupdict()
            attribute, about = _attribute(pattern.attribute, groups, read[0] if read else ""), _about(groups)
            if not any((slot.attribute, slot.about) == (attribute, about) for slot in found):
                found += [Slot(attribute, value, pattern, about) for value in dict.fromkeys(read)]
    return found


def _values(pattern: Pattern, match: re.Match[str]) -> list[str]:
    """The captured value in its plain form, or the several that it lists."""
    captured = match["v"].strip(" '\"")
    parts = _several(captured) if pattern.attribute in _ONE_OF_SEVERAL else [captured]
    plain = [pattern.check(part) if pattern.check else part for part in parts]
    return [value for value in plain if value] if plain and plain[0] else []


def _attribute(attribute: str, groups: dict[str, str | None], value: str) -> str:
    for name in ("rel", "cls"):
        word = (groups.get(name) or "").lower()
        attribute = attribute.replace(f"{{{name}}}", _CANONICAL.get(word, word).replace(" ", "_"))
    return "home.country" if attribute == "home.city" and values.is_country(value) else attribute


def _about(groups: dict[str, str | None]) -> str | None:
    return groups.get("kinname") or groups.get("kin")


def _several(value: str) -> list[str]:
    """The members of "A, B and C" while each is short and none starts another clause ("tea and work here")."""
    parts = [part.strip() for part in re.split(r",\s*(?:and |or )?| and | or ", value) if part.strip()]
    kept: list[str] = []
    for part in parts:
        words = part.lower().split()
        if kept and (len(words) > 4 or words[0] in rewrite.BASE_VERBS or words[0] in _NO_MEMBER):
            break
        if kept and _PREPOSITION.search(kept[-1]):
            break
        kept.append(part)
    return kept


_PREPOSITION = re.compile(r"\b(?:about|between|with|for|of|in|on|to|as|at|from)\b", re.IGNORECASE)
_NO_MEMBER = frozenset(
    "i it they he she we my the a so then am have has would can that this you is are was there even "
    "just what how especially not as really badly very quite no please too which since because unfortunately "
    "seriously severely apparently luckily sadly mostly mainly including like yes sorry".split()
)


TABLES = Tables(slots, INSTRUCTION, ONE_OFF, CORRECTION, CATEGORIES, THEMES, STATED)
