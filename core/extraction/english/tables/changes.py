"""Slots that change over a life: ages, grades, activities, reading, tools, frequencies."""

from __future__ import annotations

import re
from functools import partial

from core.extraction import slot_values
from core.extraction.english.tables.fragments import row
from core.extraction.pattern_types import Attribute, Pattern, pattern
from core.language.lazy_regex import lazy_regex
from core.types import Category, Topic

_SMALL = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|"
    r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|"
    r"eight|nine))?|\d{1,3})"
)
_ENDS = r"(?=$|[.,!;]| (?:now|and|but|today|already|next|in|on|last|this|yesterday)\b)"
_ORDINAL = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\d{1,2}(?:st|nd|rd|th))"
)
_GRADE = (
    rf"(?P<v>(?:{_ORDINAL} (?:grade|year|form)|kindergarten|nursery(?: school)?|pre-?school|pre-?k|primary "
    rf"school|elementary school|"
    r"middle school|junior high|high school|secondary school|grade \w+|year \d+))"
)
_DAYS = (
    r"(?:on )?(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?(?: (?:mornings?|afternoons?|evenings?|"
    r"nights?))?(?:,? and |, | )?)+|"
    r"on (?:weekends|weekdays)|(?:every|each) [a-z]+(?: (?:morning|evening|night|afternoon))?|"
    rf"(?:once|twice|(?:{_SMALL}|a few) times|\d+x) a (?:day|week|month|year)|daily|weekly"
)
_SPORT = (
    r"(?P<cls>swim|run|train|lift|volunteer|bowl|climb|hike|cycle|bike|golf|fish|meditate|jog|box|dance|ski|row|surf|"
    r"play (?:tennis|golf|soccer|football|basketball|squash|badminton|poker|chess|bridge|hockey))"
)
_THING = r"(?!my |it |his |her |that |this |them |me )(?:an? |the )?[a-z][\w' -]{2,30}?"
_TRADE = (
    rf"(?P<v>(?:teach|design|manag|repair|sell|build)ing {_THING}|driv(?:ing) (?:an? |the )?(?:[a-z]+ "
    rf"){{0,2}}(?:lorry|truck|bus|cab|taxi|van|"
    r"train|tram|forklift|ambulance|rig))"
)
_TITLES = lazy_regex(r"(?:(?:The|A|An) )?[A-Z][\w'’-]*(?: (?:(?:of|the|and|in|to|a|for|on|by) )*[A-Z][\w'’-]*)*")


def title(value: str) -> str | None:
    """Return the title of a book or a series, without who wrote it."""
    found = [
        one
        for one in _TITLES.findall(value.partition(" by ")[0])
        if one not in _NO_TITLES and one.lower() not in slot_values.LANGUAGES
    ]
    return (
        found[-1]
        if found and not re.match(r"(?:Chapter|Part|Ticket|Report|Task|Phase|Page|I|World War)\b", found[-1])
        else None
    )


def trade(value: str) -> str | None:
    """Return an occupation in the -ing form."""
    verb, _, rest = value.strip().partition(" ")
    base = re.sub(r"(?<=ch)es$|(?<=[nreld])s$", "", verb.lower())
    done = base if base.endswith("ing") else f"{base.removesuffix('e')}ing"
    return f"{done} {rest}" if rest else None


def habit(value: str) -> str | None:
    """Return a habit such as "bouldering" or "coffee"; no company and no person."""
    if value[:1].isupper():
        return None
    word = value.lower().strip()
    word = re.sub(r"^(?:taking|using|having|eating|drinking) ", "", word)
    word = re.sub(r" back$", "", word)
    if word in _NO_HABITS or word.split()[0] in {
        "it",
        "that",
        "this",
        "my",
        "our",
        "the",
        "a",
        "an",
        "on",
        "trying",
        "him",
        "her",
        "work",
    }:
        return None
    return (
        re.sub(r"(?:(?<=coffee)|(?<=tea)|(?<=beer)|(?<=soda)|(?<=coke)|(?<=latte)|(?<=cigarette))s$", "", word)
        if len(word.split()) <= 2
        else None
    )


def spot(value: str) -> str | None:
    """Return the place where something is kept; no date, no state of mind."""
    cut = re.split(r",| which\b| not\b| where\b| because\b| now\b", value)[0].strip(" .")
    return None if not cut or _NO_SPOT.match(cut) else cut


_NO_SPOT = lazy_regex(
    r"(?:a |the )?(?:\d{1,2}(?:st|nd|rd|th)?\b|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun|January|February|March|"
    r"April|May|June|July|August|September|"
    r"October|November|December|the way|trouble|love|charge|fire|time|general|fact|good|bad|shape|order|danger|"
    r"least|all|first|last|it|that|this|"
    r"me|them|him|her|us|noon|night|risk|stake|sale|hold|top|mess|disaster|\w+ing\b)",
    re.IGNORECASE,
)
_NO_TITLES = frozenset("I Book Books Kindle Audible Chapter Page Christopher".split())
_NO_HABITS = frozenset(
    "hope everything something caring looking going running late waiting listening thinking talking working "
    "raining shopping smiling "
    "laughing crying trying there here home soon already early school".split()
)

_KEPT = (
    r"(?P<cls>(?:[a-z]+ )?(?:shed|lathe|car|truck|bike|boat|key|keys|desk|office|workshop|garage|shop|store|"
    r"studio|piano|tent|camper|trailer|"
    r"locker|passport|printer|server|tools|toolbox|ladder|mower|freezer|fridge|safe|will|papers|documents|box|"
    r"boxes|spare key|club|gym|school))"
)
_STATUS = r"(?:is|was|has been|came back|turned out) (?:still |now |also |finally )?"

_slot = partial(
    pattern,
    row,
    {
        "place.{cls}": Attribute(Topic.LOCATION, 0.5, spot),
        "item.{cls}": Attribute(Topic.WORK, 0.5),
        "number.{cls}": Attribute(Topic.WORK, 0.5, slot_values.amount),
        "year.{cls}": Attribute(Topic.OTHER, 0.4),
        "home.city": Attribute(Topic.LOCATION, 0.5, slot_values.place),
        "pregnancy": Attribute(Topic.HEALTH, 0.85),
        "health.blood_type": Attribute(Topic.HEALTH, 0.85),
        "work.employer": Attribute(Topic.WORK, 0.8, slot_values.organisation),
        "relation.{rel}": Attribute(Topic.RELATIONSHIP, 0.75, slot_values.person, exclusive=False),
        "age": Attribute(Topic.PERSONAL, 0.75, slot_values.age),
        "education.grade": Attribute(Topic.PERSONAL, 0.6),
        "work.activity": Attribute(Topic.WORK, 0.7, trade),
        "reading": Attribute(Topic.PREFERENCE, 0.5, title),
        "work.team_size": Attribute(Topic.WORK, 0.6, slot_values.count),
        "habit.{cls}": Attribute(Topic.HABIT, 0.6, category=Category.PATTERN),
        "does": Attribute(Topic.HABIT, 0.7, habit, exclusive=False),
        "life": Attribute(Topic.HISTORY, 0.85, category=Category.EVENT),
    },
)

CHANGES: tuple[Pattern, ...] = (
    _slot(
        "place.{cls}",
        rf"\b(?:my|our|the) {_KEPT}(?: there| now)? (?:is|are|lives|stands|sits|stays|has moved|moved)(?: "
        rf"now| kept| parked| stored)*(?: to)? "
        r"(?P<v>(?:in|at|on|behind|under|near|by|next to|beside|above|below|out back)\b [^.;!?]+)",
        weak=True,
    ),
    _slot(
        "item.{cls}",
        rf"^(?:ticket |issue |case |order |invoice |bug |task )?(?:[A-Z]{{2,}}-)?(?P<cls>\d{{3,6}}) "
        rf"{_STATUS}(?P<v>mine|yours|open|done|closed|finished|fixed|resolved|"
        r"on my desk|assigned to \w+|paid|unpaid|shipped)\b",
        weak=True,
    ),
    _slot(
        "item.{cls}",
        r"\b(?:[A-Z]{2,}-)(?P<cls>\d{3,6}) is (?:still )?(?P<v>open|closed|done|fixed|unpaid|"
        r"paid)\b",
        weak=True,
    ),
    _slot(
        "item.{cls}",
        r"^(?:ticket |issue |case |order |invoice |bug |task )?(?:[A-Z]{2,}-)?(?P<cls>\d{3,6}) (?:turned "
        r"out|was)\b.*\b(?:so|and) (?:that|it) (?:is|has been) "
        r"(?P<v>closed|done|fixed|resolved)\b",
        weak=True,
    ),
    _slot(
        "item.{cls}",
        r"\bI (?:have |just |also |been |finally )*(?P<v>closed|finished|fixed|resolved|handed|assigned|"
        r"got|inherited|paid|reopened)(?: (?:ticket|issue|case|order|invoice|bug|task))? "
        r"(?:[A-Z]{2,}-)?(?P<cls>\d{3,6})\b",
        weak=True,
    ),
    _slot(
        "number.{cls}",
        r"\bmy (?P<cls>locker|badge|parking spot|parking space|desk|seat|extension|mailbox)(?: number)? is "
        r"(?:now )?(?:number |no\.? |#)?(?P<v>[A-Z]?\d[\w.-]*)",
        weak=True,
    ),
    _slot(
        "number.{cls}",
        r"\bI (?:have |just |already )*(?:handed in|gave back|returned|turned in|gave up|given up|given "
        r"back) (?:my )?(?P<cls>locker|badge|parking spot|desk)(?: number)? (?P<v>[A-Z]?\d[\w.-]*)",
        corrects=True,
        negated=True,
    ),
    _slot(
        "year.{cls}",
        r"\b(?:my|our|the) (?P<cls>[a-z]+) is from (?P<v>(?:17|18|19|"
        r"20)\d\d)\b",
        weak=True,
    ),
    _slot(
        "home.city",
        r"(?<!\bI )(?<!\bwe )\bmy (?P<kin>{kin}) (?P<kinname>(?-i:[A-Z][a-z]+)) works in "
        r"{v}{end}",
    ),
    _slot("pregnancy", r"{who}(?:am|is|got) (?:now )?(?P<v>pregnant|expecting)\b"),
    _slot(
        "pregnancy",
        r"{who}(?P<v>had (?:her|the|our|a|my) (?:baby|babies|twins|little girl|little boy)|gave birth|"
        r"miscarried|lost the baby)\b",
        topic=Topic.RELATIONSHIP,
        corrects=True,
    ),
    _slot(
        "health.blood_type",
        r"\bI am (?:blood (?:type|group) )?(?P<v>(?:A|B|AB|O)[ -]?(?:positive|negative|pos|neg)|type (?:A|"
        r"B|AB|O)(?:[ -]?(?:positive|negative))?)\b",
    ),
    _slot(
        "work.employer",
        r"\b(?:at|for|with|to) an? (?:[a-z-]+ ){0,2}?(?:company|firm|start-?up|shop|store|agency|bank|"
        r"bakery|restaurant|studio|clinic|outfit|place) (?:called|named) {v}{end}",
    ),
    _slot(
        "work.employer",
        r"\b(?:I have (?:now )?been (?:working )?(?:at|with)|I (?:have )?accepted (?:the |an |their "
        r")?(?:offer|job|position)(?: offer)? (?:from|at|with)|"
        r"(?:week|day|month|year) (?:one|two|three|four|five|six|\d+) (?:at|with)|my (?:first|second|third|"
        r"new) (?:day|week|month|job) (?:at|with)) {v}{end}",
        corrects=True,
    ),
    _slot(
        "relation.{rel}",
        r"(?<!not have )(?<!not own )(?<!want )(?<!get )(?<!buy )"
        r"\b(?:an?|our|my|the) (?:[a-z-]+ ){0,3}?(?P<rel>dog|puppy|cat|kitten|hamster|rabbit|parrot|horse|"
        r"pony|goat|lizard|snake|turtle|fish|lurcher|terrier|beagle|lab|poodle)"
        r"(?:,)? (?:named|called) (?P<v>(?-i:[A-Z][\w-]+))",
    ),
    _slot(
        "age",
        rf"{{who}}(?:is|has (?:just )?turned|just turned|turned) (?:now |already |only |still "
        rf")?(?P<v>{_SMALL})(?: years old)?{_ENDS}",
    ),
    _slot(
        "education.grade",
        rf"{{who}}(?:am|is|are|will be) (?:now |already |only |still )?(?:in|going into) (?:the |her |his "
        rf")?{_GRADE}\b",
    ),
    _slot(
        "education.grade",
        rf"{{who}}(?:have |has )?(?:just )?(?:started|starts|is starting|entered|began) (?:in )?(?:the |"
        rf"her |his )?{_GRADE}\b",
        corrects=True,
    ),
    _slot(
        "work.activity",
        rf"{{who}}(?:(?:am|is|will be|has been|have been|started|switched to|went back to) )+(?:now |"
        rf"currently )?{_TRADE}(?= (?:at|for|in|on)\b|[.,;!]|$| and\b| (?:back|since|now))",
        corrects=True,
    ),
    _slot(
        "work.activity",
        rf"{{who}}(?P<v>(?:teach|design|manage|repair)(?:e?s)? {_THING}|drives (?:an? |the )?(?:[a-z]+ "
        rf"){{0,2}}(?:lorry|truck|bus|cab|taxi|van|train|tram|"
        r"forklift|ambulance|rig))(?= (?:at|for|in|on|up|down)\b|[.,;!]|$| and\b| now\b)",
    ),
    _slot(
        "relation.{rel}",
        r"\b(?:my|our) (?:new |current )?(?P<rel>boss|manager|landlord|landlady|therapist|dentist|doctor|"
        r"coach)(?: is|,) (?:now )?(?:an? [A-Za-z]+(?: [a-z]+)?, |(?:an? [a-z]+ )?(?:called |named ))?"
        r"(?P<v>(?-i:[A-Z][\w-]+)(?: (?-i:[A-Z][\w-]+))?)(?=[.,;!]|$| and\b| who\b|,| is\b)",
        importance=0.8,
        exclusive=True,
    ),
    _slot("reading", r"{who}(?:am|is) (?:\w+ )?(?:reading|re-?reading|listening to) (?P<v>[^.;!?]+)"),
    _slot(
        "reading",
        r"{who}(?:am|is) (?:now |about |already |only )*(?:(?:[a-z]+ )?(?:hundred |fifty |\d+ )?pages into|"
        r"halfway (?:through|into)|in the middle of|almost done with) (?P<v>[^.;!?]+)",
    ),
    _slot(
        "reading",
        r"{who}(?:have |has )?(?:finally |just |already )?(?:finished(?: reading)?|given up on|gave up on|"
        r"abandoned|stopped reading|quit reading) (?P<v>(?-i:[A-Z])[^.;!?]+)",
        corrects=True,
        negated=True,
    ),
    _slot(
        "work.team_size",
        rf"\b(?P<v>{_SMALL}) people (?:now )?report to (?:me|"
        rf"us)\b",
    ),
    _slot(
        "work.team_size",
        rf"\b(?:my|our|the) team (?:is|has|has grown to|has gone)(?: now| up| down)*(?: to)? "
        rf"(?P<v>{_SMALL})(?: people| members| of us)?(?=[.,;!]|$| now\b)",
    ),
    _slot(
        "work.team_size",
        rf"\bI (?:{{adv}})(?:manage|lead|run|head) a team of "
        rf"(?P<v>{_SMALL})\b",
    ),
    _slot(
        "habit.{cls}",
        rf"\b(?:I|we) (?:do not|no longer) (?:go )?{_SPORT}(?:m?m?ing)?\b[^,.;]{{0,30}}?(?P<v>{_DAYS})",
        corrects=True,
        negated=True,
    ),
    _slot(
        "habit.{cls}",
        rf"{{who}}(?:go )?{_SPORT}s?(?:ming|ning|ing)?\b(?! "
        rf"out\b)[^,.;]{{0,30}}?(?P<v>(?:{_DAYS}).*?)(?=[.,;!]|$| but\b| and (?:I|my)\b)",
    ),
    _slot(
        "habit.{cls}",
        rf"^(?:my )?(?P<cls>running|swimming|training|climbing|cycling|lifting|jogging|golf) (?:has gone|"
        rf"is|went|is down|is up)(?: up| down| now)*(?: to)? (?P<v>{_DAYS})",
        corrects=True,
    ),
    _slot(
        "does",
        r"{who}(?:have |has )?(?:now |finally |also |just )?(?:gave up|given up|quit|stopped|cut out|"
        r"kicked|went off) (?:drinking |eating )?(?P<v>[a-z]+(?: [a-z]+)?)(?= for good|[.,;!]|$| (?:in|on|"
        r"last|because|and|for|since|two|three|a)\b)",
        corrects=True,
        negated=True,
    ),
    _slot(
        "does",
        r"\b(?:I|we) (?:{adv})(?:go|goes) "
        r"(?P<v>[a-z]+ing)\b",
        importance=0.5,
        category=Category.PATTERN,
    ),
    _slot(
        "does",
        rf"\bI (?:{{adv}})(?:drink|have|am on|am down to|smoke)(?: about| around| roughly| maybe)? "
        rf"{_SMALL} (?:cups? of |mugs? of |cans? of )?(?P<v>[a-z]+)(?= a day|,? every day| each)",
        importance=0.6,
        category=Category.PATTERN,
    ),
    _slot(
        "life",
        r"{who}(?:has |have )?(?P<v>died|passed away|passed(?= in \d| last|[.!]?$))(?! (?:laughing|of "
        r"boredom|inside|down))",
    ),
)
