"""Whether an English statement will still matter later: a sum of cues, each with its weight, by logistic regression.

The weights stand in `lasting.json`, which `python -m bench.lasting` makes anew of labelled sentences; it says there
how well they decide on sentences that they were not made of.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

WEIGHTS_FILE = Path(__file__).with_name("lasting.json")
WEIGHTS: dict[str, float] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
"""By cue; that of the empty name counts for every statement."""
THRESHOLD = 0.5
THRESHOLD_OF_THINGS = 0.6
"""Probabilities from which a statement is kept: one on the speaker and their people, and one with no word of them."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A statement in plain words, and what was read of it already."""

    plain: str
    slots: int = 0
    dated: bool = False
    person: bool = False
    answers: bool = False


def _cue(name: str, pattern: str, *, cased: bool = False) -> tuple[str, re.Pattern[str]]:
    return name, re.compile(pattern, 0 if cased else re.IGNORECASE)


_KIN = (
    r"kids?|children|sons?|daughters?|husband|wife|mom|mum|mam|mother|dad|father|sisters?|brothers?|family|"
    r"grand\w+|cousins?|"
    r"aunt|uncle|parents?|girlfriend|boyfriend|partner|fianc\w+|nieces?|nephews?|twins|baby|in-laws?"
)
_NUM = r"\d[\d.,:]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|dozen|hundred"
_PART = (
    r"(?:been|had|got|done|gone|taken|given|bought|sold|found|left|lost|won|quit|become|begun|made|put|met|"
    r"seen|read|[a-z]+ed)"
)
_DO = (
    "own|drive|ride|play|sing|speak|teach|coach|collect|build|make|sell|bake|brew|knit|paint|write|read|study|"
    "work|live|swim|run|"
    "cycle|bike|walk|lift|bench|fish|hunt|hike|climb|garden|volunteer|vote|use|wear|carry|take|drink|eat|cook|"
    "attend|go to|belong|"
    "train|practi[cs]e|manage|lead|rent|commute|wake up|get up|sleep|listen|watch|follow|support|raise|keep|"
    "breed|code|design|"
    "smoke|vape|meditate|do|pay|earn|see a|love|like|hate|prefer"
)
CUES: tuple[tuple[str, re.Pattern[str]], ...] = (
    _cue("begins with I", r"^I\b", cased=True),
    _cue("begins with we", r"^We\b", cased=True),
    _cue("my thing is", r"^(?:my|our) (?:[\w'’-]+ ){1,5}?(?:is|are|was|were)\b"),
    _cue("someone's thing is", r"^[A-Z][\w-]+['’]s (?:[\w-]+ ){1,4}?(?:is|are|was|were)\b", cased=True),
    _cue("the thing is", r"^the (?:[\w'’-]+ ){1,4}?(?:is|are|was|were)\b"),
    _cue("begins with it or this", r"^(?:it|this|that|these|those|there|here)\b"),
    _cue("begins with they or you", r"^(?:they|you|your|everyone|someone|somebody|people|nobody)\b"),
    _cue("begins with an indefinite", r"^(?:an?|some|one)\b"),
    _cue("begins with a gerund", r"^[a-z]+ing\b"),
    _cue("kin", rf"\b(?:my|our|his|her|'s) (?:[a-z]+ )?(?:{_KIN})\b"),
    _cue("kin word", rf"\b(?:{_KIN}|friend|boss|manager|neighbou?r|colleague|roommate|landlord|coach|teammate)\b"),
    _cue(
        "pet",
        r"\b(?:dog|cat|puppy|kitten|hamster|rabbit|parrot|horse|pony|hens?|chickens?|goldfish|terrier|labrador|"
        r"retriever)\b",
    ),
    _cue(
        "have",
        r"^(?:I|we) (?:also |still |now |only |actually )?(?:have|have got|own|rent|keep)\b (?!to\b|been\b|no "
        r"idea|a feeling|the feeling|[a-z]+ed\b)",
    ),
    _cue("he has", r"^[A-Z][\w-]+ (?:has|owns|keeps|runs) (?:an?|two|three|his|her|got)\b", cased=True),
    _cue(
        "habit",
        r"\b(?:every|each) (?:\w+ )?(?:day|morning|evening|night|week|month|year|other|sunday|monday|tuesday|"
        r"wednesday|thursday|friday|saturday|weekend|summer|winter)\b|"
        r"\b(?:on )?(?:sun|mon|tues|wednes|thurs|fri|satur)days\b|\bon weekends\b|\b(?:once|twice|(?:two|three|"
        r"four|five|six|\d+)(?: times|x)?) (?:a|per) (?:day|week|month|year)\b|\b\d+ ?(?:hours|times|days) a\b",
    ),
    _cue("usually", r"\b(?:usually|always|often|normally|typically|regularly|never|rarely|mostly|generally)\b"),
    _cue("never been", r"\bnever (?:been|had|eaten|learned|learnt|owned|smoked|seen|tried|met)\b"),
    _cue(
        "weekday or month",
        r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|\b(?:January|February|March|April|June|July|August|"
        r"September|October|November|December)\b",
        cased=True,
    ),
    _cue(
        "since",
        r"\bsince (?:\d|I was|last|about|we|he|she|college|high school|[A-Z]\w+)|\bfor (?:about |over |almost |"
        r"nearly |the past )?(?:\w+|\d+) (?:years|months)\b",
    ),
    _cue("year", r"\b(?:19|20)\d\d\b"),
    _cue("number", rf"\b(?:{_NUM})\b"),
    _cue("digits", r"\d"),
    _cue("code", r"\b[A-Z]+[- ]?\d[\w-]*\b|\b\d+-\d+\b|\bnumber\b|\bcode\b|\breference\b", cased=True),
    _cue(
        "proper noun",
        r"(?<=[a-z,] )(?!I\b|I'|Christmas|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)[A-Z][\w'’-]+",
        cased=True,
    ),
    _cue("two proper nouns", r"(?<=[a-z,] )(?!I\b)[A-Z][a-z]\w*.*(?<=[a-z,] )(?!I\b)[A-Z][a-z]", cased=True),
    _cue("named", r"\b(?:named|called)\b"),
    _cue(
        "place",
        r"\b(?:live|lives|lived|move|moved|moving|apartment|house|flat|condo|neighbou?rhood|grew up|born|(?:am|"
        r"is|are|comes?) from)\b",
    ),
    _cue(
        "work",
        r"\b(?:job|works?|worked|working|company|boss|office|shift|team|manager|promoted|promotion|hired|"
        r"career|business|salary|client\w*|engineer|teacher|nurse|driver|retired|laid off|fired|interview|"
        r"contract|internship)\b",
    ),
    _cue(
        "study",
        r"\b(?:school|college|university|degree|course|class|classes|grade|studying|studied|graduat\w+|exam|"
        r"learning|lessons?|major|certificate|kindergarten|semester)\b",
    ),
    _cue(
        "health",
        r"\b(?:allerg\w+|asthma|diabet\w+|doctor|dentist|surgery|diagnos\w+|medication|meds|pills?|tablets?|"
        r"inhaler|blood|knee|tore|broke|sprained|injur\w+|anxiety|adhd|celiac|coeliac|intolerant|vegan|"
        r"vegetarian|pregnant|wears? glasses|migraines?|dementia|alzheimer\w*|cancer|stroke|cholesterol|"
        r"surgeon|physio\w*|therap\w+)\b",
    ),
    _cue(
        "change",
        r"\b(?:no longer|any ?more|used to|instead|switched|moved|changed|quit|gave up|given up|started|"
        r"stopped|new|now|these days|anymore|sold|cancelled|canceled|replaced|dropped|finally)\b",
    ),
    _cue("now or these days", r"\b(?:now|these days|nowadays|currently|at the moment|lately)\b"),
    _cue(
        "life",
        r"\b(?:crashed|totaled|wrecked|accident|heart attack|died|passed away|pregnant|born|birth|divorced?|"
        r"married|engaged|engagement|wedding|diagnosed|surgery|fired|laid off|promoted|graduated|retired|"
        r"adopted|accepted|got into|broke up|buried|funeral|hired)\b",
    ),
    _cue(
        "deed",
        r"^(?:I|we|[A-Z][\w-]+) (?:have |has |just |finally |also |already )*(?:bought|sold|signed up|joined|"
        r"won|finished|passed|booked|planted|built|got|adopted|moved|started|ran|visited|climbed|closed|"
        r"ordered|applied|published|opened|launched|registered|enrolled|painted|broke|tore|lost|met|switched|"
        r"left|quit|gave|found|came|turned|grew|took|learned|went|crashed|totaled|wrecked|cracked|elected)\b",
    ),
    _cue("perfect", rf"\b(?:have|has) (?:also |just |already |never |finally |now |since |recently )?{_PART}\b"),
    _cue(
        "plan",
        r"\b(?:going to|planning|plan to|plan on|will|want to|hope to|hoping to|saving|signed up|booked|due|by "
        r"the end of|next (?:week|month|year|spring|summer|fall|autumn|winter))\b",
    ),
    _cue("goal", r"\b(?:goal|dream|target|aim|resolution|bucket list)\b"),
    _cue(
        "taste",
        r"\b(?:love|loves|likes?(?! (?:a|an|the|I|he|she|me|it|someone|crazy|mad)\b)|hate|hates|prefer|prefers|"
        r"favou?rite|fan of|cannot stand|enjoy|enjoys|obsessed|adore|scared of|afraid of|terrified of|allergic|into)\b",
    ),
    _cue(
        "can do",
        r"\b(?:speak|speaks|play|plays|sing|sings|coach|coaches|teach|teaches|volunteer\w*|collect|collects|"
        r"run|runs|swim|swims|ride|rides|drive|drives|fluent|member|left-handed|bake|bakes|knit|fish|hunt|hike)\b",
    ),
    _cue("cannot", r"^(?:I|we|[A-Z][\w-]+) (?:cannot|do not|does not|am not|is not|have never|never)\b"),
    _cue(
        "I do as a rule",
        rf"^(?:I|we) (?:also |only |mostly |still |now |usually |always |never )*(?:{_DO})\b(?! (?:it|that|"
        rf"this|them|one)\b)",
    ),
    _cue(
        "she does as a rule",
        r"^[A-Z][\w'’-]+(?: [a-z]+)? (?:also |only |mostly |still |now |usually |always |never )*(?:works|"
        r"lives|plays|coaches|teaches|studies|drives|runs|speaks|goes|owns|collects|makes|sells|loves|hates|"
        r"likes|swims|sings|writes|builds|sleeps|eats|drinks|attends|volunteers|wants)\b",
        cased=True,
    ),
    _cue("I am a", r"^(?:I am|[A-Z]\w+ is) (?:also |still |now |more of )?(?:an?|the|half|one of)\b"),
    _cue("acts on it", r"\b[a-z]+ (?:it|them|him|her|that|those|one)\b(?! (?:is|was|has|will)\b)"),
    _cue(
        "the world",
        r"(?-i:\bfrom [A-Z]\w+ to [A-Z])|\b(?:the capital of|main character|in the (?:film|movie|book|story|"
        r"series|show|game|novel|song)|planets|the planet|universe|history|politicians|governments?|humans?|"
        r"mankind|science)\b",
    ),
    _cue("no word of oneself", r"^(?!.*\b(?:I|me|my|we|us|our|mine|ours)\b)"),
    _cue(
        "names a number",
        r"^(?:(?:my|the|our) )?(?:[a-z]+ ){0,2}?(?:number|code|reference|plate|combo|combination|id|size)\b:? "
        r"(?:is )?\S*\s?\S*\d",
    ),
    _cue(
        "was in touch",
        r"\b(?:rang|called|texted|phoned|emailed|messaged|dropped by|visited|sent me|told me|asked me|says|said)\b",
    ),
    _cue(
        "idiom",
        r"\b(?:piece of (?:work|cake)|pain in the|a (?:real |total |complete )?(?:nightmare|saint|angel|"
        r"character|legend|hoot|riot|handful|joke|mess|clown|trip|menace|genius|drama queen)|on fire|out of "
        r"(?:his|her|their|my) mind|the worst|the best|over the moon|under the weather)\b",
    ),
    _cue(
        "once more",
        r"\bagain[.!]?$|^(?:I|we) (?:have )?(?:lost|found|dropped|forgot|burnt|burned|spilled) (?:my |the )",
    ),
    _cue(
        "use or wear",
        r"\b(?:use|uses|wear|wears|carry|carries|take|takes|drink|drinks|eat|eats|drive|drives|read|reads|"
        r"write|writes)\b",
    ),
    _cue("money or size", r"[$€£]|\b(?:dollars|bucks|euros|pounds|kilos|kg|lbs|miles|km|feet|inches|acres|mph|sq)\b"),
    _cue(
        "time of day", r"\b\d{1,2}(?::\d\d)? ?(?:am|pm|a\.m|p\.m|o'clock)\b|\bat (?:six|seven|eight|nine|ten|noon|\d)"
    ),
    _cue(
        "role",
        r"\b(?:is|am|was|as|became|are) (?:an?|the|my) (?:\w+ ){0,2}(?:nurse|teacher|engineer|lawyer|doctor|"
        r"plumber|driver|chef|cook|student|farmer|electrician|carpenter|manager|coach|\w+(?:er|or|ist|ian))\b",
    ),
    _cue("three words or fewer", r"^\S+(?: \S+){0,2}$"),
    _cue("five words or fewer", r"^\S+(?: \S+){0,4}$"),
    _cue("eight words or more", r"^\S+(?: \S+){7,}$"),
    _cue("fourteen words or more", r"^\S+(?: \S+){13,}$"),
    _cue(
        "progressive",
        r"^(?:I|we|he|she|they|the [\w ]+?|my [\w ]+?|[A-Z][\w-]+) (?:am|is|are|was|were) (?:\w+ly |still |now "
        r"|just |all |also )?(?!going to|living|working|studying|learning|training|getting married|reading|"
        r"planning|saving|moving|expecting|taking|doing|building|starting|writing|teaching|dating)[a-z]+ing\b",
    ),
    _cue(
        "lasting progressive",
        r"\b(?:am|is|are|been) (?:also |still |now |currently |really )?(?:living|working|studying|learning|"
        r"training|reading|planning|saving|moving|expecting|taking|doing|building|writing|teaching|dating|"
        r"getting married)\b",
    ),
    _cue(
        "colour or coat",
        r"\b(?:is|are|was) (?:an? )?(?:\w+ )?(?:black|white|brown|gr[ea]y|ginger|orange|tabby|golden|cream|tan|"
        r"blonde?|spotted|striped)\b",
    ),
    _cue(
        "age alone",
        rf"\b(?:is|am|are) (?:now |nearly |almost |only |just )?(?:{_NUM})(?: (?:now|years old|months old))?[.!]?$",
    ),
    _cue(
        "cannot have it",
        r"\bcannot (?:have|eat|drink|take|tolerate|wear|stand|do|watch|read|ride) (?!it\b|that\b|another\b|"
        r"this\b)[a-z]",
    ),
    _cue("fears", r"\b(?:scared|afraid|terrified|frightened|petrified|phobia) of [a-z]"),
    _cue("great liking", r"\b(?:mad|crazy|nuts|obsessed|keen|hooked|passionate) (?:about|on|with)\b"),
    _cue("trains for", r"\b(?:training|studying|preparing|revising|saving(?: up)?|practi[cs]ing) (?:for|to)\b"),
    _cue(
        "needs a thing",
        r"\b(?:needs?|has to (?:have|take|wear)) (?:an? |new |reading |hearing |thyroid )*(?!to\b|it\b)[a-z]+",
    ),
    _cue(
        "result",
        r"\b\d+(?:[:.]\d\d)+\b|\b\d+ ?(?:%|percent\b|per cent\b)|\b\d+-\d+\b|\b\d+(?:st|nd|rd|th) (?:out )?of\b",
    ),
    _cue("off or on a diet", r"\b(?:is|am|are) (?:off|on|back on) (?:the |his |her |my |an? )?[a-z]+"),
    _cue(
        "just done",
        r"^(?:I|we|[A-Z][\w-]+) (?:have |has )?(?:just|only just) (?!started|moved|turned|bought|joined|signed|been "
        r"diagnosed)[a-z]+",
    ),
    _cue(
        "errand",
        r"^(?:I|we) (?:have to|need to|must|am off to|are off to|am going to|will|had to|better) (?:go|get|pick|run|"
        r"head|leave|wash|"
        r"cook|make|sleep|bed|shower|walk|feed|put|do|lie|sit|eat|charge|have|clean|tidy|pack)\b",
    ),
    _cue("off somewhere", r"^(?:I|we) (?:am|are) (?:off|heading|popping|away) (?!sick|work|on)"),
    _cue("even", r"\bcannot even\b|\bnever (?:seen|felt|been|laughed|had|heard) (?:such|so)\b"),
    _cue("keeps doing", r"^(?:I|we|[A-Z][\w-]+) (?:just )?keeps? [a-z]+ing\b"),
    _cue("just wants", r"^(?:I|we) (?:just|only|really) (?:want|wanted|need|needed)\b"),
    _cue("would", r"^(?:I|he|she|they|[A-Z][\w-]+|the [a-z]+) would (?!like|love)"),
    _cue(
        "did to me",
        r"^[A-Z][\w'’-]+(?: [a-z]+)? (?:made|brought|baked|bought|gave|got|told|sent|cooked|handed|threw|showed|put) "
        r"(?:me|us)\b",
    ),
    _cue(
        "got or left",
        r"^(?!I\b|We\b)[A-Z][\w-]+ (?:got|left|stole|wanted|ate|knocked|hid|threw|cried|drew|fell|laughed|looks?|"
        r"cheered)\b",
        cased=True,
    ),
    _cue("ends in a number", r"\b\d[\d.,:]*[.!]?$"),
    _cue("place or thing has", r"^(?:the|our|my) [a-z]+ (?:has|costs?|starts?|ends?|runs|opens) "),
    _cue(
        "mood verb",
        r"\b(?:laugh\w*|cr(?:y|ied|ies|ying)|smil\w+|giggl\w+|sobb\w+|sulk\w*|yell(?:s|ed|ing)?|scream\w*|"
        r"grin\w*|sigh\w*|groan\w*|blush\w*|cheer\w*|snor\w+|star(?:e|ed|ing)|yawn\w*|survived|pretend\w*|"
        r"swear|nodded|panick\w*|shrug\w*|whin\w+|complain\w*|napp\w*|dozed|grumbl\w+|wobbl\w+)\b",
    ),
    _cue(
        "mood",
        r"\b(?:tired|exhausted|happy|sad|bored|boring|annoyed|annoying|excited|nervous|grumpy|hungry|sleepy|"
        r"mad|angry|stressed|fine|okay|ok|glad|sorry|ready|proud|smitten|hooked|funny|awful|ridiculous|"
        r"disgrace|hilarious|insane|crazy|gross|delicious|cozy|beat|wiped|relieved|jealous|petrified|busy|late|"
        r"lost|stuck|good as new)\b",
    ),
    _cue(
        "this moment",
        r"\b(?:today|tonight|this morning|this afternoon|right now|as we speak|just now|earlier|for now|so far "
        r"today|all day|this minute|a minute ago|in a sec\w*|brb|later)\b",
    ),
    _cue(
        "comparison",
        r"\b(?:like (?:a|an|the|i)\b|as if|as though|as \w+ as|than (?:a|an|the|geometry)\b|so \w+ (?:I|that|"
        r"it|we|you|my)\b|enough to\b|the size of)",
    ),
    _cue("exclamation", r"!"),
    _cue("pointing object", r"\b(?:that|this|it|them|those|these|one|so)[.!]?$"),
    _cue(
        "pointing",
        r"\b(?:that|this|those|these)\b(?! (?:week|weekend|month|year|summer|spring|fall|winter|autumn|fall|"
        r"morning|friday|saturday|sunday|monday|tuesday|wednesday|thursday|is\b))",
    ),
    _cue("addressed", r"\b(?:you|your|yours|u|ya)\b"),
    _cue(
        "opinion",
        r"\b(?:think|guess|suppose|bet|wonder|wish|hope|believe|reckon|feel|seems?|sounds?|looks?|tastes?|"
        r"smells?|dare|regret|blame|pretend|imagine|mean|means|deserve\w*)\b",
    ),
    _cue("modal", r"\b(?:could|would|should|might|may|must|had better|ought)\b"),
    _cue("can", r"\b(?:can|cannot)\b"),
    _cue(
        "vague",
        r"\b(?:something|everything|anything|stuff|things?|whatever|somehow|someone|everyone|nobody|everybody|"
        r"anyone|nothing)\b",
    ),
    _cue(
        "absolute",
        r"\b(?:everyone|every single|nobody|whole|entire|forever|never ever|all of|the entire|ever|completely|"
        r"totally|literally|absolutely)\b",
    ),
    _cue("quotation", r"[\"“”]"),
    _cue(
        "fun",
        r"\b(?:joke|ghost|dragon|zombie|pirate|unicorn|king|queen|princess|robot|alien|wizard|monster|heaven|"
        r"hell|donkey|nightmare|apocalypse|war zone|jungle|zoo|circus|gremlin|demon|prison|hostage|lawyer up|"
        r"landlord|nobel|medal|miracle|magic|puddle|coma|peasant)\b",
    ),
    _cue(
        "screen", r"\b(?:error|screen|code|bug|page|link|file|app|website|router|wifi|wi-fi|printer|battery|update)\b"
    ),
    _cue("weather", r"\b(?:rain\w*|snow\w*|weather|sunny|hot|cold|freezing|storm\w*|humid|traffic)\b"),
    _cue("reason", r"\b(?:because|since|so that|due to)\b"),
    _cue("past simple of be", r"^(?:I|we|it|that|he|she|they|the \w+) (?:was|were)\b"),
    _cue(
        "past deed of a moment",
        r"\b(?:walked|sat|stood|fell|dropped|spilled|forgot|ate|drank|watched|looked|woke|slept|ran out|stared|"
        r"talked|chatted|tried|asked|told|said|waited|knocked|jumped|kicked|threw|burned|burnt|hit|bit|slipped|"
        r"bumped)\b",
    ),
)


_GOING_ON = (
    r"going|living|working|studying|learning|training|getting|reading|planning|saving|moving|expecting|taking|"
    r"doing|building|starting|writing|"
    r"teaching|dating|playing|retiring|leaving|joining|coming|flying|having|seeing|looking for|refinancing|"
    r"selling|buying|renovating|remodel\w+|"
    r"restoring|collecting|coaching|volunteering|growing|raising|paying|renting|hosting|organi[sz]ing|applying|"
    r"interviewing|recovering|healing|"
    r"trying to|switching|designing|developing|managing|leading|commuting|suing|divorcing|fostering|adopting|"
    r"speaking|giving|attending|"
    r"visiting|travell?ing|considering|thinking (?:of|about)|turning|staying|running|deploy\w+|transferring|"
    r"opening|closing|launching|using|wearing"
)
_MOMENTARY = re.compile(
    r"^(?:I|we|they|he|she|[A-Z][\w-]+|(?:my|our|the|his|her) (?:[\w'’-]+ ){0,3}?[\w'’-]+) (?:am|is|are|was|"
    r"were) (?:still |now |just |all |also |only |\w+ly )*"
    rf"(?!(?:{_GOING_ON})\b)[a-z]{{2,}}ing\b(?! to\b)",
    re.IGNORECASE,
)


def is_momentary(seen: Seen) -> bool:
    """Whether it tells what somebody is doing right now: "My dog is standing on my foot"."""
    return not seen.dated and bool(_MOMENTARY.search(seen.plain))


def cues(seen: Seen) -> list[str]:
    """The names of the cues that a statement shows."""
    shown = [name for name, pattern in CUES if pattern.search(seen.plain)]
    flags = (
        ("a slot", bool(seen.slots)),
        ("a date", seen.dated),
        ("of a person", seen.person),
        ("an answer", seen.answers),
    )
    return [*shown, *(name for name, holds in flags if holds)]


def probability(seen: Seen) -> float:
    """How likely it is that a statement is worth remembering, 0 to 1."""
    return 1 / (1 + math.exp(-WEIGHTS[""] - sum(WEIGHTS.get(name, 0.0) for name in cues(seen))))
