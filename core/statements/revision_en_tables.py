"""Word tables for revisions of English statements."""

from __future__ import annotations

import re
from typing import Final

from core.language.lazy_regex import lazy_regex
from core.language.terms import stem

NAME: Final = r"(?-i:[A-Z][\w'’&-]+(?: (?:of |the )?[A-Z][\w'’&-]+){0,2})"
NUMBER: Final = (
    r"(?:\d[\d.,]*k?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|a few|half an?)"
)
_CODE: Final = r"(?:number |no\.? |#)?(?P<v>[A-Z]{0,3}-?\d[\w-]*(?:\.\d[\w-]*)*)"
_IS: Final = r"(?: is| are| was|'s|,)? (?:now |called |named |an? [\w-]+, |the |currently |actually |to )*"
_PERIOD: Final = r"(?:day|night|morning|evening|shift|week|month|year|session|night shift)"
_ROLE: Final = (
    r"(?P<v>(?:[a-z-]+ ){0,2}?(?:[a-z]{3,}(?:er|or|ist|ista|ian)|nurse|chef|cook|clerk|vet|assistant|"
    r"consultant|analyst|"
    r"apprentice|intern|manager|lead|head of [a-z]+))"
)


def _row(name: str, *ways: str) -> tuple[str, tuple[re.Pattern[str], ...]]:
    return name, tuple(lazy_regex(way, re.IGNORECASE) for way in ways)


ASPECTS: Final = (
    _row(
        "favourite",
        r"\bfavou?rite (?P<key>[a-z]+)(?: team| player)?(?: these days| now| at the moment| ever| came up)*"
        r"(?:,| is| has become| became)? (?:now |it is |still |not )*(?P<v>[^,.;]{2,40})",
        rf"(?P<v>{NAME}) (?:is|has become) \S+ (?:new )?favou?rite (?P<key>[a-z]+)",
    ),
    _row(
        "superior",
        rf"\breports? (?:directly )?to (?P<v>{NAME})",
        rf"\b(?:boss|(?:line )?manager|supervisor|team lead){_IS}(?P<v>{NAME})",
    ),
    _row(
        "base",
        rf"\b(?:works?|drives?|runs?|operates?)\b[^.;]{{0,40}}? out of (?:the )?(?P<v>{NAME})",
        r"\bstationed (?:at|in) (?:the )?(?P<v>[A-Z]\w+)",
    ),
    _row(
        "route",
        r"\b(?:drives?|driving|switched to|moved to|is on|now on|back on) the (?P<v>\d{1,3}[A-Z]?)\b",
    ),
    _row(
        "unit of work",
        r"\b(?:is|works?|working|be|moving|moved|transferred|transferring|switched|nurse) (?:now |over )?"
        r"(?:on|to|in) the (?P<v>[a-z]+) (?:ward|unit|department|floor|desk|team|section)\b",
    ),
    _row(
        "commute",
        r"\bcommut(?:e|es|ing)(?: to work)? (?:is|takes|by|on|now)(?: now| by| on)* (?P<v>[^,.;]{2,60})",
        r"\b(?P<v>(?:cycles|bikes|walks|drives|runs|rides|takes|gets|goes)\b[^,.;]{0,40}? to work\b[^,.;]{0,25})",
    ),
    _row(
        "amount",
        r"\b(?P<key>rent|salary|pay|wage|mortgage|pension)\b[^.;]{0,25}? "
        r"(?P<v>[$€£]?\d[\d,.]*k?)\b",
        r"\b(?P<v>\d[\d.]*) ?(?:mg|mcg|ml|units|iu) (?:of )?(?P<key>[a-z]+)\b",
    ),
    _row(
        "number",
        rf"\b(?P<key>(?:[\w'’-]+ )?(?:locker|desk|extension|badge|parking spot|bay|mailbox|pigeonhole|"
        rf"flat|apartment|unit|bib|membership))(?: there| number| no\.?)*{_IS}{_CODE}",
        rf"\b(?P<key>(?:[\w'’-]+ )?(?:code|pin|combination|password))(?: there| number)*{_IS}{_CODE}",
    ),
    _row(
        "age",
        r"\bis (?:now |already |only |still )*(?P<v>\d{1,3}|[a-z]+(?:-[a-z]+)?) years old\b",
        r"\b(?P<v>\d{1,3}|(?!few\b|many\b)[a-z]+(?:-[a-z]+)?) years old\b",
    ),
    _row(
        "count",
        rf"\b(?P<v>{NUMBER}|once|twice) (?:[a-z]+ (?:of )?)?(?P<key>[a-z]+) (?:a|per|each|every|on an?) {_PERIOD}\b",
        rf"\b(?P<key>[a-z]+) (?P<v>(?:once|twice|(?:{NUMBER}) times)) (?:a|per|each|every) {_PERIOD}\b",
        rf"\bonly do (?P<v>{NUMBER}) (?P<key>[a-z]+) an? {_PERIOD}\b",
    ),
    _row(
        "saved",
        r"^(?!.*\bwants?\b)[^.;]{1,40}?\b(?:has|have|got|hit|reached|at|up to|passed)\b[^.;]{0,12}? "
        r"(?P<v>[$€£]?\d[\d,.]*k?) (?:saved|in (?:\w+ )?savings)",
    ),
    _row(
        "goal",
        r"\b(?:goal|target)s? (?:is|to|of|has changed to|went up to)(?: now| be)* (?P<v>[^.;]{2,80})",
        r"\bwants? to (?P<v>(?:have|save|put aside) [$€£]?\d[\d,.]*k?[^.;]{0,60})",
    ),
    _row(
        "best",
        r"\b(?P<key>\d+ ?km?|marathon|half|mile)? ?(?:personal )?(?:best|PB|record)(?: time| so far)?"
        r"(?: is| of| to|:)+(?: now)? (?P<v>\d{1,2}:\d\d(?::\d\d)?)",
    ),
    _row(
        "role",
        rf"\b(?:works? as|is|became|promoted to|starts as|started as)(?: now| been)* (?:an?|the) {_ROLE}"
        rf"(?= now\b| at\b| in\b| for\b| on\b|[.,;!]|$)",
        rf"\bgot (?:an?|the) {_ROLE} (?:job|position|role)\b",
    ),
    _row(
        "employer",
        rf"\bworks?\b[^.;]{{0,40}}? (?:at|for) (?:the )?(?P<v>{NAME})",
        rf"\bgot (?:the|an?) (?:[\w-]+ ){{0,3}}?(?:job|position|role|place|offer) (?:at|with) (?:the )?(?P<v>{NAME})",
    ),
    _row(
        "home",
        rf"^[\w ]{{1,40}} lives? (?:up |over |out |down )?in (?P<v>{NAME})",
        rf"\b(?:flat|apartment|house|condo|studio) (?:up |over |out |down )?in (?P<v>{NAME})",
        rf"\bmoved (?:in)?to (?:an? [\w -]{{1,30}}? in )?(?P<v>{NAME})",
    ),
    _row(
        "day off",
        r"\b(?:fixed |weekly |usual )?day off is (?:now )?(?P<v>[A-Z][a-z]+day)",
    ),
    _row(
        "called",
        rf"\bcall (?:me|him|her|them) (?P<v>{NAME})",
        rf"\b(?:stick with|go back to) (?P<v>{NAME})",
        rf"^\S+ is called (?P<v>{NAME})\.$",
    ),
)
"""Aspects of which one has one at a time: patterns with the value, and `key` if there is one of each sort."""

BY_ATTRIBUTE: Final = {
    "relation.boss": "superior",
    "relation.manager": "superior",
    "work.employer": "employer",
    "work.role": "role",
    "home.city": "home",
    "age": "age",
    "name.preferred": "called",
}
"""Slots that represent an aspect; `preference.…` and `number.…` the aspect with that key."""

NEEDS_CHANGE: Final = frozenset({"role", "unit of work", "home", "employer", "number"})
"""Aspects of which one may have two: the newer statement must mention a change."""

CHANGED: Final = lazy_regex(
    r"\bnow\b|\bthese days\b|\bnowadays\b|\binstead\b|\bno longer\b|\bany ?more\b|\bswitched\b|\bswapped\b|"
    r"\bchang(?:ed|ing)\b|\bmov(?:ed|ing) (?:\w+ ){0,2}?(?:to|back|from|up)\b|\bpushed\b|\w['’]s new\b|"
    r"\bput (?:back|off)\b|\bpostponed\b|"
    r"\brescheduled\b|\bbrought forward\b|\bup to\b|\bdown to\b|\bback to\b|\bover to\b|"
    r"\b(?:up|down|back|over)ped to\b|\braised\b|\blower(?:ed|ing)\b|"
    r"\breplaced\b|\bturns out\b|\bovertaken\b|\bnew \w+ (?:is|are)\b|\bfrom now on\b|\brather than\b|"
    r"\bpromoted\b|\bgot the\b|\b(?:gone|went|goes) (?:up|down)\b|, not\b",
    re.IGNORECASE,
)
"""Words for a change."""

ONE_AT_A_TIME: Final = (
    r"(?P<thing>choir|band|gym|dentist|doctor|GP|vet|therapist|physio|coach|teacher|tutor|boss|manager|landlord|landlady|"
    r"flat|apartment|job|school|nursery|phone|laptop|bank|hairdresser|barber|accountant|childminder|nanny|babysitter)"
)
"""Things of which most people have one, so that a new one replaces the old one."""

NEW_ONE: Final = lazy_regex(
    rf"\b(?:found|got|has|have|joined|started|bought|switched to|changed to|moved to) (?:an?|the|my|our|his|her|their) "
    rf"(?:new|different) {ONE_AT_A_TIME}\b",
    re.IGNORECASE,
)

BESIDE: Final = lazy_regex(
    r"\balso\b|\bas well\b|\btoo\b(?! (?:\w+ )?(?:much|many|far|hard|early|late|expensive|long))|\banother\b|"
    r"\bin addition\b|\bbesides\b|\bsecond (?:job|one|home)\b|\bon the side\b",
    re.IGNORECASE,
)
"""Words for an addition to what was there."""

DENIED: Final = lazy_regex(
    r"\b(?:not|instead of|rather than|no longer|over)\s+(?!been\b|to\b)(?P<what>[^,.;!?]{2,40})", re.IGNORECASE
)

_OBJECT: Final = r"(?P<object>[^,.;:!?]{2,60})"
_ADVERB: Final = r"(?:finally |just |also |already |recently |had to |have to |ever |really |even )*"

GIVEN: Final = lazy_regex(
    rf"\b(?:sold|gave away|given away|g(?:a|i)ven?(?= [\w' ]{{2,30}} away\b)|"
    rf"got rid of|getting rid of|scrapped|traded in|wrecked|"
    rf"(?<!get )(?<!gets )(?<!got )(?<!getting )lost(?! in\b)|totall?ed|threw out|"
    rf"donated|rehomed|returned|handed back|gave back|given back|no longer (?:has|owns|drives)) {_OBJECT}",
    re.IGNORECASE,
)
"""Verbs of giving something up that one had."""

QUIT: Final = lazy_regex(
    rf"\b(?:quit|quits|dropped(?: out of)?(?! off)|left|leaving|gave up(?: on)?|given up(?: on)?|stopped|"
    rf"cancell?ed|cut out|cut(?= [\w ]{{2,20}} out\b)|packed in|jacked in|"
    rf"ditched|resigned from|retired from|unsubscribed from|done with|called off|pulled out of|dropping|"
    rf"(?:has|have) had to stop|no longer {_ADVERB}[a-z]+|(?:is|are|am) no longer(?: in| on| at)?|"
    rf"(?:do|does|did|is|are|will|can|could)(?: not|n't|not) {_ADVERB}(?:be )?[a-z]+"
    rf"(?= [^,.;]{{1,50}}? any ?more\b)) {_OBJECT}",
    re.IGNORECASE,
)
"""Verbs of quitting an activity or a group."""

FINISHED: Final = lazy_regex(
    rf"\b(?:finished(?: up| off| with)?|completed|graduated from|passed|wrapped up|"
    rf"got through|given up on|gave up on|abandoned|"
    rf"(?:could|can|did)(?: not|n't|not) (?:get through|finish)) "
    rf"(?:reading |watching |doing )?(?![^,.;]*\bwriting\b){_OBJECT}",
    re.IGNORECASE,
)
"""Verbs of finishing something."""

OVER: Final = lazy_regex(
    r"(?P<object>[^,.;:!?]{2,60}?) (?:(?:is|are|was|were|has been|have been|got) (?:all |now |finally |officially )*"
    r"(?:(?:over|off)(?=[.,;!]|$| now\b| for)|cancell?ed|called off|scrapped|finished|closed|disbanded|discontinued)|"
    r"(?:has |have )?(?:fell through|fallen through|shut down|closed down|folded)(?=[.,;!]|$| in\b| last\b))",
    re.IGNORECASE,
)
"""Verbs by which a thing itself ends."""

DISPLACED: Final = lazy_regex(
    rf"\b(?:overtaken|overtook|replaced|dethroned|ousted|beaten|beats|bumped|knocked(?: out)?|toppled) {_OBJECT}"
    rf"|(?P<thing>[^,.;:!?]{{2,60}}?) (?:has been|was|got) (?:overtaken|replaced|dethroned|ousted|bumped|toppled)\b",
    re.IGNORECASE,
)
"""Verbs of replacement."""

DIED: Final = lazy_regex(
    rf"(?P<object>{NAME}) (?:has |had )?(?:died|passed away|was put (?:down|to sleep)|ran away|was rehomed)\b"
)
MOVED_OUT: Final = lazy_regex(
    rf"(?P<object>{NAME}) (?:has |is |just )*"
    rf"(?:moved? out|moving out|moved away|gone|left us|stayed behind|moved back)\b"
)
LIVING_WITH: Final = lazy_regex(
    r"\b(?:room-?mates?|flat-?mates?|house-?mates?|liv(?:es?|ing) with|shar(?:es?|ing)|has the room|got the room|"
    r"came with|lodgers?|tenants?|moved in)\b",
    re.IGNORECASE,
)
PETS: Final = lazy_regex(
    r"\b(?:dog|cat|kitten|puppy|hamster|rabbit|parrot|horse|pony|goat|bird|budgie|tortoise|fish|gecko|ferret|shares?|"
    r"has|have|walks|feeds|lives with|terrier|lurcher|beagle|poodle)\b",
    re.IGNORECASE,
)

STAGES: Final = tuple(
    (lazy_regex(new, re.IGNORECASE), lazy_regex(old, re.IGNORECASE))
    for new, old in (
        (
            r"\bhad (?:(?:an?|the|her|their) )?(?:[\w-]+ )?(?:baby|girl|boy|son|daughter|twins)\b|\bgave birth\b",
            r"\bpregnant\b|\bexpecting\b|\bbaby (?:is )?due\b",
        ),
        (
            r"\b(?:went|been|flew|travell?ed|drove|back) (?:to|from)\b|\bfirst (?:time|trip|visit)\b|\bvisited\b",
            rf"\bnever (?:been to|gone to|travell?ed to|visited|seen|set foot in) (?:the )?(?P<what>{NAME})",
        ),
        (
            (
                r"\b(?:drinks?|eats?|smokes?|runs?|plays?|does|takes?|[a-z]+ing) (?P<what>[^,.;]{2,30}?) again\b|"
                r"\bback on (?P<thing>[^,.;]{2,30})"
            ),
            r"\b(?:given up|gave up|quit|stopped|no longer|not (?:eat|drink|smoke)|not\b.* any ?more)\b",
        ),
        (
            r"\b(?:got|is|are)(?: now)? (?:engaged|married|divorced)\b|\b(?:broke|split) up\b",
            r"\bis (?:single|engaged to|dating|seeing|married to)\b",
        ),
        (
            r"\bnot (?:actually |really )?(?:allergic|intolerant) to (?P<what>[^,.;]{2,40}?)(?= after all|[,.;]|$)",
            r"(?<!not )(?<!actually )\b(?:allergic|intolerant)\b",
        ),
        (
            r"\b(?:eats?|eating) (?:meat|chicken|fish)\b.* again\b|\bstarted eating (?:meat|fish)\b",
            r"\bis (?:an? )?(?:vegetarian|vegan)\b",
        ),
        (
            r"\bpassed (?:the|my|his|her|their|\S+) (?:driving|theory|road) test\b|\bgot \S+ licen[cs]e\b",
            r"\blearning to drive\b|\bdriving lessons\b|\bcannot drive\b",
        ),
        (
            (
                r"\b(?:forget|drop|lift|scrap|ignore) (?:the |my |that )?"
                r"(?P<what>(?!the\b|my\b|that\b)[\w -]{2,40}?) (?:rule|ban)\b|"
                r"\b(?:forget|drop|lift|scrap|ignore) (?:the |my |that )?(?:rule|ban) (?:about|on|against) "
                r"(?P<thing>[^,.;]{2,60})|\b(?:can|may) (?P<deed>[^,.;]{2,40}?) again\b|"
                r"\binstruction: (?P<subject>[^,.;]{2,40}?) (?:is|are) fine again\b"
            ),
            r"\binstruction: (?!.*\bagain\b).*\b(?:never|no|not|don['’]t|always|please|keep|use|avoid|from now on)\b",
        ),
    )
)
"""Successive stages: the later one ends the earlier. A group is what both must name, with all its words."""

ALIKE: Final = {
    stem(word): stem(group.split()[0])
    for group in (
        "climb boulder climbing bouldering",
        "film movie cinema",
        "choir rehearse rehearsal sing chorus",
        "class course lesson",
        "flight fly flies flew",
        "run running jog jogging",
        "cycle bike cycling biking bicycle",
        "photo picture",
        "mother mum mom mam",
        "father dad",
        "roommate flatmate housemate",
        "boss manager supervisor",
        "tablet pill",
        "car automobile",
        "defence defense",
        "colour color",
        "favourite favorite",
        "exam test",
        "start begin",
        "wedding married marry",
    )
    for word in group.split()
}
"""Synonyms here, by their stems."""

GENERIC: Final = frozenset(
    stem(word)
    for word in (
        "have get go do be make take give come put say tell know think see look want need use find keep let seem try "
        "start begin stop end change switch move meet bring hold turn call run-in work play live stay leave feel find "
        "time day week month year night morning evening afternoon weekend date hour minute today tomorrow yesterday "
        "thing bit lot one ones way place good great big small old new first last next same other more most much many "
        "people person man woman guy someone now then again still always never usually often really just also even "
        "about around nearly almost only early late long short own full whole half part kind sort monday tuesday "
        "wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays "
        "january february march april may june july august september october november december two three four five "
        "six seven eight nine ten eleven twelve twenty thirty summer winter spring autumn fall said standing "
        "got gave took made went came had instruction "
        "eat drink along mostly usually twice once times push back down gone home favourite"
    ).split()
)
"""Stems that statements about different things may share."""

PAST: Final = lazy_regex(
    r"^(?:(?:After|Before|When|While|In|On|At|During|Since|By|Then|Last|Back)\b[^,]{2,60}, )?"
    r"(?:\S+)?(?: \w+ly| also| just| finally)? (?:was|were|had|did|went|bought|sold|got rid|met|lost|won|finished|"
    r"left|moved|took|"
    r"gave|made|saw|found|joined|tried|visited|broke|paid|quit|spent|tore|ran|grew|studied|used to|no longer|"
    r"has (?:been to|sold|lost|finished|quit|left|given up|stopped)|(?!need)[a-z]+ed)\b",
    re.IGNORECASE,
)
"""Past events, which stay true."""
