"""Plain English out of chat English: no greetings and fillers, contractions spelled out, a missing "I" put back."""

from __future__ import annotations

import re

from core.extraction.english.tables.fragments import KIN, PETS
from core.extraction.english.tables.names import COMMON_WORDS, FEMALE, MALE
from core.language.lazy_regex import lazy_regex

_FILLERS = (
    r"hey|hi|hello|yo|yeah|yep|yup|yes|nope|no(?= problem| worries|,|!)|nah|sure(?: thing)?|definitely|absolutely|"
    r"totally|e+h+(?: no)?|wow|woah|whoa|oh(?: my| no| yeah| yes| wow| man)?|"
    r"ah|aw+|ooh|haha\w*|lol|hmm+|well|okay|ok|alright|so|and|but|or|also|plus|anyway|anyways|by the way|btw|fyi|"
    r"honestly|"
    r"frankly|to be honest|tbh|in fact|of course|obviously|luckily|fortunately|unfortunately|sadly|man|dude|like|"
    r"you know|"
    r"i mean|right|exactly|true|cool|nice|great|awesome|amazing|sweet|perfect|same here|me too|agreed|"
    r"good question|speaking of which|"
    r"that said|that being said|guess what|believe it or not|as (?:i|you) (?:said|know|mentioned)|"
    r"thanks(?: so much| a lot| a bunch| again| for \w+)?|thank you(?: so much)?|"
    r"congrats|sorry|first of all|as for me|for me|personally|besides|otherwise|apparently|basically|btw|p\.?s\.?|"
    r"quick update|update|"
    r"actually|correction|in that case|i think|i guess|i believe|i feel like|i'd say|let me tell you|hopefully|gosh|"
    r"just so you know|no offen[cs]e(?:,? but)?|one more thing|(?:it )?turns out(?: that)?|on another note|what can "
    r"i say|long story short|for context|for "
    r"what it's worth|"
    r"for the record|please note(?: that)?|note(?: that)?|remember(?: that)?|please remember(?: that)?|"
    r"don't forget(?: that)?|ugh+|argh+|get this|jesus|christ|(?:oh )?(?:my )?god|bloody hell|righto|mate|nup|ha|"
    r"haha|phew|"
    r"look|listen|(?:big |good |bad |great |sad )?news(?: though)?|oh and|and another thing"
)
_BARE = (
    r"hey|hi|yep|yup|yeah|yes|ugh+|alright|all right|right|righto|anyway|oh and|ok|okay|nah|nope|nup|jesus|christ|god|"
    r"ha(?:ha)*|lol|ah|argh+|look|mate|also|get this|big news|sure|obviously|basically|"
    r"and|but|so|also|plus|or|like|oh|yeah|well|actually|i think|i guess|i believe|i feel like|i mean|honestly|"
    r"btw|fyi|by the way|please remember(?: that)?|remember that|please note(?: that)?|note that|"
    r"don't forget that|for context|unfortunately|luckily|(?:ok|okay|alright|right) so|(?:it )?turns out(?: that)?|"
    r"(?:the |my )?only (?:problem|"
    r"thing|catch|downside|snag) is(?: that)?"
)
_LEAD = lazy_regex(
    rf"^(?:(?:{_FILLERS})(?:,? (?P<name>[A-Z][a-z]+))?(?:\s*[,!.:;—–…-]+\s*|\s+-\s+)|speaking of [\w' ]+,\s*|"
    rf"(?:and|but|so|then|plus|or) (?!then\b|far\b|much\b|many\b)|(?:{_BARE}),?\s+(?=(?i:i|i'm|i've|my|we|our|he|she|"
    r"in|"
    rf"last|it|the|this|there|yesterday|today|next|when|since|that)\b)|"
    r"(?:hey|oh|oh and|also|and|so|ok|okay|yeah|right|alright),? (?=(?:keep|stop|call|do not|don't|never|"
    r"always|remind|"
    r"remember|no more) )|"
    r"(?:hey|yep|yup|yeah|yes|ugh+|alright|anyway|oh and|oh|righto|ha(?:ha)*|nah|nup|jesus|christ|also|so|ok|okay),? "
    r"(?=(?-i:[A-Z][a-z]+)(?: (?-i:[A-Z][a-z]+))?(?:['’]s| (?:and|is|was|has|had|got|will|[a-z]+s|[a-z]+ed)\b))|"
    r"[,;:!.()\-–—…\s]+)",
    re.IGNORECASE,
)

_EXPANSIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (lazy_regex(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"[’‘`]", "'"),
        (r"\b(he|she|that|who|there)s (?=\w)", r"\1's "),
        (r"\bI ain'?t (?=got\b|had\b|been\b|seen\b|done\b|never\b)", "I have not "),
        (r"\bI ain'?t\b", "I am not"),
        (r"\baint\b", "is not"),
        (r"\bi\b(?=[ '])(?<!type i)(?<!phase i)(?<!stage i)(?<!war i)(?<!part i)", "I"),
        (r"\bim\b(?= )", "I am"),
        (r"\bive\b(?= )", "I have"),
        (r"\bI'm\b", "I am"),
        (r"\b(I|we|you|they)'ve\b", r"\1 have"),
        (r"\b(I|we|you|they|he|she|it|that|this|there)'ll\b", r"\1 will"),
        (
            r"\b(I|we|you|they|he|she|it)'d (?=(?:really |absolutely |definitely |actually )?(?:like|love|"
            r"rather|prefer|"
            r"be|want|hate|say|do|go)\b)",
            r"\1 would ",
        ),
        (r"\b(I|we|you|they|he|she|it)'d (?=better\b)", r"\1 had "),
        (r"\b(I|we|you|they|he|she|it)'d (?=\w+(?:ed|en|wn|ne)\b|never|always|already|been|had|just)", r"\1 had "),
        (r"\b(I|we|you|they|he|she|it)'d\b", r"\1 would"),
        (r"\b(we|you|they)'re\b", r"\1 are"),
        (
            r"\b(he|she|who|(?-i:(?!It|That|There|This|What|Here)[A-Z][\w-]+))'s (?=(?:just |already |also |"
            r"finally |recently )?(?:moved|switched|handed|started|"
            r"joined|finished|passed|turned|changed|decided|opened|closed|landed|stopped|graduated|inherited|"
            r"applied|bought|"
            r"sold|lost|quit|won|given up|taken|left for|left the|left his|left her|accepted|signed)\b)",
            r"\1 has ",
        ),
        (
            r"(?<!')\b((?-i:[A-Z])[\w-]+|(?:the|my|our|his|her|their) (?:[a-z-]+ )?[a-z-]+)'s (?=(?:meant|supposed|"
            r"allowed|"
            r""
            r"booked|scheduled|expected) (?:to|for|on|in|at|off)\b)",
            r"\1 is ",
        ),
        (
            r"(?<!')\b((?-i:[A-Z])[\w-]+|he|she|(?:my|our|his|her|their) (?:[a-z-]+ )?[a-z-]+)'s (?=(?:just |already |"
            r"also "
            r"|finally |even )?(?:[a-z]{2,}ed|given|thrown|driven|chosen|come|begun|run|gone|"
            r"put|set|cut) (?:in|up|off|out|"
            r""
            r"back|down|over|the|an?|my|our|his|her|their|it|me|us|to)\b)",
            r"\1 has ",
        ),
        (
            r"^((?:(?:so|and|but) )?(?:(?:my|our|the|his|her|their) )?(?:[a-z-]+ ){0,2}[a-z]+)'s "
            r"(?=(?:(?:Dr|Mr|Mrs|Ms|Miss)\.? )?(?-i:[A-Z])\w+(?: (?-i:[A-Z])\w+)?(?:[,.;!]|$| (?:and|at|in|on|"
            r"from)\b))",
            r"\1 is ",
        ),
        (
            r"^((?:[a-z-]+ ){0,2}(?!let|who|what|that|it|he|she|there|here)[a-z]{3,})'s (?=(?:due|acting|holding|"
            r"playing up|called|the|an?)\b)",
            r"\1 is ",
        ),
        (
            r"(?<!')\b((?-i:[A-Z])[\w-]+|(?:the|my|our|his|her|their) (?:[a-z-]+ ){0,2}[a-z-]+)'s (?=(?:in|at|on|up "
            r"to|out of|"
            r"off|a|an|the|not|now|still|from|"
            r"about|around|behind|valid|called|named|due|allergic|vegan|vegetarian|pregnant|married|engaged|"
            r"divorced|retired|"
            r"dead|gone|so|very|obsessed|called|number|(?:[a-z]{3,}ing) (?:to|for|in|at|as|an?|the|on|with|his|her|"
            r"my)|really|turning|going|getting|having|working|living|moving|coming|my|our|his|her|their|"
            r"doing|starting|"
            r"studying|learning|staying|expecting|looking|only|nearly|almost|\d+|three|four|five|six|seven|"
            r"eight|nine|ten|eleven|"
            r"twelve)\b(?! (?:of|in-law)))",
            r"\1 is ",
        ),
        (
            r"\b((?-i:[A-Z])[\w-]+|(?:my|our|his|her|their|the) (?:[a-z-]+ ){0,2}[a-z]+)'s (?=(?:(?:just|already|also|"
            r"finally|never|recently|only) )*(?:been|caught|found|made|built|begun|written|broken|had|done|seen|grown|"
            r"learn(?:ed|t)|paid|put|spent|told|asked|eaten|gotten|got)\b)",
            r"\1 has ",
        ),
        (
            r"\b(he|she|it|that|this|there|here|everything|nothing|everyone)'s (?=(?:really |just |always |already |"
            r"also |only )?(?:been|got|gotten|had|become|made|taken|given|taught|brought|gone|grown|come|kept|"
            r"(?:shown|\w+ed) (?:me|us|my|our|them|so much|a lot))\b)",
            r"\1 has ",
        ),
        (r"\b(he|she|it|that|this|there|here|everything|nothing|who|what)'s\b", r"\1 is"),
        (r"\b(everyone)'s (?=\w+ing\b|so\b|not\b|a\b|very\b|really\b|here\b|there\b|happy\b|fine\b)", r"\1 is "),
        (r"\b([a-z]+ing)'s (?=a|an|the|my|so|really|been|not|great|fun)\b", r"\1 is "),
        (
            r"\b(name|birthday|job|number|email|husband|wife|budget|boss)'s (?=(?:[A-Z]|\d|on|the|a|an|not|"
            r"\$)\w*)(?!name|"
            r"birthday|job)",
            r"\1 is ",
        ),
        (
            r"\b(boss|manager|supervisor|landlord|landlady|roommate|flatmate|housemate|dentist|doctor|physio|therapist|"
            r"coach|trainer|tutor|vet)'s (?=(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)?(?:[,.;!]|$| and\b| who\b| now\b))",
            r"\1 is ",
        ),
        (r"\bcan't\b|\bcant\b", "cannot"),
        (r"\bwon't\b", "will not"),
        (r"\bain't\b", "is not"),
        (r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should|must|need)n't\b", r"\1 not"),
        (r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should)nt\b", r"\1 not"),
        (r"\bwont\b(?= [a-z])", "will not"),
        (r"\bits (?=(?:a|an|the|my|been|so|not|too|on|in|like|now|called|gonna|going|just|still|from|at)\b)", "it is "),
        (r"\b(they|you)re\b", r"\1 are"),
        (r"\b(we|they|you)ve\b", r"\1 have"),
        (r"\bthe fam\b", "the family"),
        (r"(?<!\w)thru\b", "through"),
        (
            r"(^|[,;] )(?=(?:new|old) (?:boss|manager|job|car|truck|place|house|apartment|doctor|roommate|"
            r"landlord)(?:'s| is| was)\b)",
            r"\1my ",
        ),
        (
            rf"^({PETS})(?=(?:'s| is) (?:called |named )?(?-i:[A-Z])[a-z]+)",
            r"my \1",
        ),
        (
            r"^(mom|mum|mam|dad|grandma|grandpa|granny|nana|hubby|wifey|(?:wife|husband)(?= (?:is|has|works|"
            r"got|just|and I)\b|'s ))(?=(?:'s)? [a-z0-9])(?! (?:jokes?|jeans|bod|blog)\b)",
            r"my \1",
        ),
        (r"\bhubby\b", "husband"),
        (r"\bwifey\b", "wife"),
        (
            r"\b(my (?:[a-z]+ )?(?:mom|mum|dad|wife|husband|son|daughter|brother|sister|boss|oldest|"
            r"youngest))'s (?=\d|(?:in|at|on|a|an|the|not|now|still|from|turning|going|getting|working|moving)\b)",
            r"\1 is ",
        ),
        (r"\b(?:have|has) been told (?:that )?(?:he|she|I|they) (needs?|has to|have to|must|should)\b", r"\1"),
        (r"\bgonna\b", "going to"),
        (r"\bwanna\b", "want to"),
        (r"\bgotta\b", "have to"),
        (r"^(?:I )?got to (?=(?!know\b|meet\b|see\b)[a-z]+)", "I have to "),
        (r"\b(I am|my name is) ([A-Z]\w+), (?=\2 [A-Z])", r"\1 "),
        (r"\bkinda\b", "kind of"),
        (r"\bsorta\b", "sort of"),
        (r"(?<!\w)'?(?:cuz|coz|cause)\b(?= (?:i|it|the|my|we|they|he|she|that|of)\b)", "because"),
        (r"(?<!\w)'em\b", "them"),
        (r"\bw/(?= ?\w)", "with "),
        (r"\b(mother|father|brother|sister|son|daughter|parents) in law\b", r"\1-in-law"),
        (r"^yours truly ([a-z]*(?:o|sh|ch|ss|x))es (?=\w)", r"I \1 "),
        (r"^yours truly ([a-z]+)s (?=\w)", r"I \1 "),
        (r"^guess who (?:just |finally )?(?=[a-z]{3,} (?:a|an|the|my|\d|in|at|to)\b)", "I "),
        (r"^it is ([A-Z]\w+|my [a-z]+) who (?=[a-z])", r"\1 "),
        (r" because of (?:it|that|this|them|him|her)(?=[.!,]|$)", ""),
        (r"\bfav(?:e|s)?\b", "favorite"),
        (r"\bbday\b", "birthday"),
        (r"\b(\w{3,})in'(?!\w)", r"\1ing"),
        (r"\s+", " "),
    )
)

_REMINDER = lazy_regex(
    r"^(?:[^,.;!?]{1,60} )?(?:that|it|this) (?:is|was|(?:really |always |just )?remind(?:s|"
    r"ed) me)(?: of)?(?: exactly| also| probably)? "
    r"(?:why|how much|one of the (?:main )?reasons(?: why)?|the reason(?: why)?) (?=I\b)",
    re.IGNORECASE,
)
_SINCE_LAST = lazy_regex(
    r"^(?:[^,;.!?]{0,60} )?since (?:we|our) (?:\w+ )?(?:last|spoke|talked|chatted)(?: \w+)?(?:,| [-–—])\s+(?=\w)",
    re.IGNORECASE,
)
_TAIL = lazy_regex(
    r"\s*(?:[,;]|[-–—]|\band\b|\bso\b|\bbut\b)\s*(?:so |and |just |please |hey )*(?:let us|let's|let me|"
    r"check (?:it|this|them|these|that|out)|take a look|look at|"
    r"wish me luck|what about|how about|you (?:know|should|can|could|will|must|earned|have|are)|thanks?|haha|lol|"
    r"(?:I )?hope you|(?:I )?know what I mean|"
    r"(?:I )?can(?:no|')t wait)\b[^,;]*$|"
    r",? (?:should|do|does|did|is|are|was|were|have|has|can|could|would|will)(?:n't| not) (?:I|we|you|it|he|she|they)"
    r"[.!?]*$",
    re.IGNORECASE,
)
_PAST = (
    r"went|got|lost|made|met|had|took|found|bought|won|started|finished|saw|ran|moved|quit|left|joined|tried|read|"
    r"wrote|"
    r"gave|built|began|spent|visited|learned|signed up|picked up|came|brought|watched|adopted|attended|launched|"
    r"opened|decided|"
    r"hiked|played|used to|grew up|graduated|celebrated|received|sold|cooked|baked|painted|drew|fell|broke|hosted|"
    r"volunteered"
)
_GERUND = (
    r"going to (?!be (?!(?:an? )?(?:\w+ )?(?:dad|mom|mum|mother|father|parents?|aunt|auntie|uncle|grand\w+|"
    r"teacher|nurse|doctor|late|away|busy|there|in|at|on|back|working|moving|starting|\w+ing|\d+)\b))|planning|"
    r"working|looking forward|hoping|trying|thinking of|thinking about|considering|learning|"
    r"studying|living|"
    r"training|preparing|reading|watching|saving|starting|getting ready|heading|finishing up|still \w+ing|"
    r"currently \w+ing|visiting|moving|"
    r"taking (?:a|an|up)|allergic|vegetarian|vegan|married|single|engaged|divorced|excited to|happy to|stoked to|"
    r"keen on|passionate about|"
    r"(?!getting|being|during|nothing|something|anything|everything|knowing|judging|including|depending|according|"
    r"speaking|"
    r"seeing as|nearing|following|missing|using|talking|having said|bring|spring|sting|king|wing|morning|evening|"
    r"wedding|building|interesting|exciting|amazing|boring|string|thing|sibling)(?:[a-z]{2,}ing) (?=(?:an?|the|my|"
    r"our|in|at|on|with|"
    r"for|as|\d|(?-i:[A-Z]))\b)|"
    r"based in|originally from|born (?:in|on)|a (?:big|huge) fan"
)
_ELIDED: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        lazy_regex(
            rf"^(?P<adv>(?:just|also|recently|finally|already|actually|even|still) )?(?P<rest>(?:{_PAST})\b(?!,| by\b|"
            rf" my (?:day|heart)|(?<=took) (?:me|us|ages|forever|hours|days|weeks|months|years|longer|so long|some|a "
            rf"(?:while|lot|long)|\d)|(?<=went) (?:really |so |pretty |very |quite |super )?(?:well|great|fine|"
            rf"smoothly|by|fast|badly|ok|okay|amazing|better|perfectly|over|viral)|(?<=made|gave) (?:me|us|it)\b|"
            rf"(?<=came|fell) (?:out|true|apart|together)|(?<=got) (?:cold|dark|hot|worse|better|easier|harder|late|"
            rf"crazy|wild|out of hand)|(?<=started) (?:raining|snowing|off|out|in)\b|(?<=brought) (?:me|us|back)\b))",
            re.IGNORECASE,
        ),
        "I ",
    ),
    (
        lazy_regex(
            r"^(?P<adv>(?:just|also|recently|finally|already|never|always) )?(?P<rest>(?:been|never been|had been)\b"
            r"(?!.*\bfor (?:me|us)\b| (?:hectic|raining|snowing|fun|ages|quite|a (?:while|long|(?:\w+ )*(?:week|"
            r"day|month|year|"
            r"ride|journey|time|blast))\b)))",
            re.IGNORECASE,
        ),
        "I have ",
    ),
    (
        lazy_regex(
            rf"^(?P<adv>(?:just|also|currently|now|still) )?(?P<rest>(?:{_GERUND})\b(?!(?:(?! and (?!\w+ing\b)|"
            rf" but | so |"
            rf"[,;-]).)*\b(?:is|are|was|were|has|have been|can|will|makes?|gives?|helps?|brings?|takes?|requires?|"
            r"fascinates?|costs?|means?|keeps?|feels?|sounds?|seems?|beats|gets?|got|must|should|would)\b))",
            re.IGNORECASE,
        ),
        "I am ",
    ),
    (
        lazy_regex(
            r"^(?P<adv>(?:really|also|still|always|usually|never|just) )?(?P<rest>(?:(?:love|loved)(?! and\b|"
            r" is\b| it\b|"
            r" that\b| the\b| this\b| your\b| how\b)|hate|prefer|want to|need to|have to|plan to|hope to|"
            r"work at|work for|"
            r"work as|live in|like to) )",
            re.IGNORECASE,
        ),
        "I ",
    ),
    (lazy_regex(r"^(?P<adv>)(?P<rest>(?:so )?(?:glad|proud|stoked)\b)", re.IGNORECASE), "I am "),
    (lazy_regex(r"^(?P<adv>just|recently) (?P<rest>(?!need|speed)\w{2,}ed\b(?! by\b))", re.IGNORECASE), "I "),
    (
        lazy_regex(
            rf"^(?P<adv>(?:[a-z]+ly |just |also |finally |even |then )?)(?P<rest>(?:{_PAST}|survived|handed|sent|"
            r"hated|loved|liked|"
            r"enjoyed|[a-z]{3,}ed) (?:in |up |out |off |down |back )?(?:my|our|the|an?|every|another|some|"
            r"(?-i:[A-Z])[a-z]+|\d)"
            r"(?! (?:me|us)\b)(?!.*\b(?:is|was|are|were)\b))",
            re.IGNORECASE,
        ),
        "I ",
    ),
    (
        lazy_regex(
            r"^(?P<adv>(?:also|still|just|now|only) )?(?P<rest>(?:turning (?=\d)|down to (?=\d|one|two|three|four|"
            r"an?\b)|(?<=still )(?:at|in|with|on) "
            r"(?:the )?(?-i:[A-Z])|(?:lactose|gluten)[- ]intolerant|coeliac|celiac|colou?r[- ]?blind|left-handed|"
            r"pescatarian))",
            re.IGNORECASE,
        ),
        "I am ",
    ),
    (lazy_regex(r"^(?P<adv>)(?P<rest>(?:do|did) not (?:like|eat|drink|have|want|smoke)\b)", re.IGNORECASE), "I "),
)


_CALENDAR = lazy_regex(
    r"\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b|"
    r"\b(?:january|february|april|june|july|august|september|october|november|december)\b|"
    r"(?<=\bin )(?:may|march)\b|(?<=\bsince )(?:may|march)\b|(?<=\blast )(?:may|march)\b|(?<=\bnext )(?:may|march)\b"
)
_AFTER_KIN = lazy_regex(rf"\b(?P<kin>(?:my|our) (?:[a-z]+ )?(?:{KIN}|{PETS})(?:-in-law)?) (?P<name>[a-z]+)\b")


_NAME_HAS = lazy_regex(
    r"(?P<before>^|[,;] )(?P<name>[A-Za-z][a-z]+?)s (?=(?:got|had|been|handed|moved|started|left|quit|bought|sold|lost|"
    r"won|passed|failed|signed|given|gone|joined|finished|stopped|changed|switched|packed)\b)"
)
_NAME_IS = lazy_regex(
    r"(?P<before>^|[,;] )(?P<name>[A-Za-z][a-z]+?)s (?=(?:getting|going|having|turning|moving|working|starting|in|at|"
    r"on|a|an|the|not|now|still|been|\d+)\b)"
)


def _named_is(found: re.Match[str]) -> str:
    """Put back what chat leaves out of a name and its verb: "brandons getting deployed", "brandons got a dog"."""
    name = found["name"].lower()
    is_name = (name in FEMALE or name in MALE) and name not in COMMON_WORDS
    if not is_name:
        return found.group()
    verb = "has" if found.re.pattern == _NAME_HAS.pattern else "is"
    return f"{found['before']}{name.capitalize()} {verb} "


def _restore_capitals(sentence: str) -> str:
    """Restore capitals that chat leaves out: weekdays, months, first names after "my wife"."""
    sentence = _NAME_HAS.sub(_named_is, _NAME_IS.sub(_named_is, sentence))
    sentence = _CALENDAR.sub(lambda found: found.group().capitalize(), sentence)
    return _AFTER_KIN.sub(
        lambda found: (
            f"{found['kin']} {found['name'].capitalize()}"
            if found["name"] in FEMALE or (found["name"] in MALE and found["name"] not in COMMON_WORDS)
            else found.group()
        ),
        sentence,
    )


def clean(sentence: str, names: frozenset[str]) -> str:
    """Return `sentence` without what leads into it, with contractions spelled out and an elided "I" put back."""
    for pattern, full in _EXPANSIONS:
        sentence = pattern.sub(full, sentence)
    sentence = _restore_capitals(sentence)
    sentence = _REMINDER.sub("", _SINCE_LAST.sub("", _without_lead(sentence, names)))
    sentence = _TAIL.sub("", sentence)
    for pattern, subject in _ELIDED:
        match = pattern.match(sentence)
        if match:
            sentence = re.sub(r"\b(and|but) (?=going to\b)", r"\1 I am ", subject + _lower_first(sentence))
            break
    return sentence


def _without_lead(sentence: str, names: frozenset[str]) -> str:
    before = ""
    while before != sentence:
        before = sentence
        lead = _LEAD.match(sentence)
        if lead and lead.end() < len(sentence):
            sentence = sentence[lead.end() :]
        for name in names:
            # No pattern with a name in it: `re` keeps those it was given.
            if sentence.startswith(name) and _CALLED_FIRST.match(sentence, len(name)):
                sentence = sentence[len(name) :].lstrip(" ,!.-")
    sentence = _without_calls(sentence, names)
    return sentence[:1].upper() + sentence[1:]


def _without_calls(sentence: str, names: frozenset[str]) -> str:
    """Without names between commas or at the end: "See you, Ann!"."""
    pieces, start = [], 0
    for comma in _COMMA.finditer(sentence):
        ends = (comma.end() + len(name) for name in names if sentence.startswith(name, comma.end()))
        end = next((one for one in ends if _CALLED_LAST.match(sentence, one)), None)
        if end is not None and comma.start() >= start:
            pieces.append(sentence[start : comma.start()])
            start = end
    return "".join([*pieces, sentence[start:]])


_CALLED_FIRST = lazy_regex(r"\s*[,!.-]+\s+")
_CALLED_LAST = lazy_regex(r"[,.!?;]|$")
_COMMA = lazy_regex(r",\s*")


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
