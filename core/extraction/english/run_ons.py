"""Cutting a chat message that runs on without punctuation: "I'm on nights this week she's on days" → two sentences.

A cut stands before a subject with its verb where the words before it are a sentence already, and where nothing before
governs it: no subordinator, no verb of saying, and no noun that the new clause may describe ("the flat we're buying").
"""

from __future__ import annotations

import re

from core.extraction.english.tables.fragments import KIN, PETS
from core.language.english_verbs import PAST

LONGEST = 400
_ADV = (
    r"(?:(?:also|now|still|just|only|already|never|always|usually|actually|really|finally|basically|even|both|all) )?"
)
_NOT = r"(?:not |n['’]t )?"
_DETERMINER = (
    r"(?:an?|the|my|our|his|her|their|its|some|every|no|this|that|these|those|another|(?-i:[A-Z])[a-z]+|£?\$?\d)"
)
_BE = r"(?:['’](?:s|m|re)| (?:is|am|are|was|were|has been|have been)(?:n['’]t)?|['’](?:s|ve) been)"
_HAVE = r"(?:['’](?:s|ve|d)| (?:has|have|had)(?:n['’]t)?)"
_STATE = (
    r"(?:an?|the|my|our|his|her|their|not|so|very|really|pretty|quite|only|nearly|almost|just|all|no|too|fine|good|"
    r"great|bad|mad|nice|lovely|better|worse|off|out|back|up|down|(?:at|in|on|from|up to|about) (?=[\w£$])|\d|one|"
    r"two|three|four|five|six|"
    r"seven|eight|nine|ten|allergic|pregnant|married|engaged|single|retired|vegan|vegetarian|called|due|scared|afraid|"
    r"obsessed|happy|sad|tired|poorly|ill|sick|gone|dead|grand|five|basically|going to|gonna)\b(?! ?[a-z]{0,12} "
    r"?(?:of|at|with|in|for|about|to)(?:$|[,.;]))"
)
_DOING = rf"(?:[a-z]{{2,}}(?:ing|ed|en|wn)|got|had|done|made|put|sold|bought|told|lost|left|met|found) {_DETERMINER}\b"
_AUX = r"(?:['’]ll| (?:will|won['’]t|can|can['’]t|cannot|must|should|do|does|did)(?:n['’]t)?)"
_PREDICATE = (
    rf"(?:{_BE} {_ADV}{_STATE}|{_BE} {_ADV}(?:[a-z]{{2,}}ing) (?:{_DETERMINER}|him|her|them|it)\b|{_HAVE} "
    rf"{_ADV}{_DOING}|"
    rf"{_HAVE} {_ADV}(?:got|moved|started|signed|come|gone|packed|retired|stopped|switched) (?!to\b)[a-z\d]|"
    rf" (?:had|has|have) {_ADV}{_DETERMINER}\b|{_AUX}{_NOT} {_ADV}[a-z]{{2,}} {_DETERMINER}\b|"
    rf" {_ADV}(?:{PAST}|[a-z]{{3,}}ed|teach(?:es)?|plays?|loves?|hates?|likes?|wants?|needs?|swims?) "
    rf"{_DETERMINER}\b|(?:works?|lives?|moved|started|finished|swims?) (?:in|at|for|as|to|with) {_DETERMINER}\b)"
)
_PERSON = r"(?:I|we|he|she|they)"
_THING = (
    rf"(?:(?:it|there)(?:['’]s| is| was| has)(?:n['’]t| not)? (?:been |got )?{_ADV}(?!to\b|why\b|how\b|what\b|"
    r"because\b)\w|(?:it|there) (?:will|won['’]t|does|doesn['’]t|did|had|cost|costs|starts|ends|finishes)\b)"
)
_SOMEONE = (
    rf"(?:(?:my |our |his |her )?(?:{KIN}|{PETS}|mam|nan|vet|boss|doctor|landlord|physio)|(?-i:[A-Z][a-z]+))"
    rf"(?:(?:['’]s| is| was| has)(?:n['’]t)? {_ADV}(?:{_STATE}|[a-z]{{3,}}ing {_DETERMINER}\b|been\b|got\b|moved\b|"
    rf"(?-i:[A-Z])[a-z]+)| (?:put|made|did|took|gave|says|lives|works|died|moved|starts|does(?:n['’]t)?|"
    r"did(?:n['’]t)?)\b)"
)
_MORE = rf"(?:also|oh and|plus|anyway|and also|no wait|actually) (?={_PERSON}\b|my |it\b|(?-i:[A-Z]))"
_START = re.compile(
    rf"(?<=[\w%)'’\"”]) (?=(?P<person>{_PERSON}{_PREDICATE})|(?P<thing>{_THING})|(?P<someone>{_SOMEONE})|"
    rf"(?P<more>{_MORE})|"
    r"(?P<capital>(?-i:He|She|We|They|It|My|His|Her|But|So|Then|Also|That)(?: |['’](?-i:s|re|ve))))",
    re.IGNORECASE,
)
"""Where a clause may begin: a person or a thing with a verb, or a capital that nothing else explains."""
_OPEN_WORDS = frozenset(
    "that if when whenever because cause cos cuz coz becuase who whom which what where how why whether since "
    "until till while after before as than though although unless once so and but or nor yet plus then now even "
    "just only also think thinks thought say says said saying know knows knew swear swears guess guessed hope "
    "hopes reckon reckons feel feels felt mean means meant bet sure glad sorry afraid happy told tell tells "
    "realise realised realize realized decide decided wish suppose believe believes heard hear hears see sees "
    "saw show shows admit promise promised remember remembers forget forgot figured figure noticed notice claim "
    "claims insists insisted joke joked assume assumed fact case moment way reason minute second thing problem "
    "point bit part one ones all everything anything something nothing everyone anyone everybody place is was "
    "are were be been am 's the a an my our his her their its your this these those some any no not very too "
    "quite really both either neither every each to of in on at for from with without by about into onto over "
    "under between like through during against around near worried proud convinced pleased aware clear obvious "
    "true weird funny turns out imagine pretend explained mentioned whereas otherwise sometimes maybe perhaps "
    "far much many important knowing seeing ask teh reminding i we he she they you it's".split()
)
"""Words that a clause may hang on, or that leave what stands before open."""
_TOLD = re.compile(
    r"\b(?:told|tell|tells|telling|asked|show|showed|shows|promised|remind|reminded|warned|convinced|assured|teaching|"
    r"texted|messaged) (?:me|us|him|her|them|you|(?:(?:my|the|our|a|his|her) )?\w+)$|\b(?:so|such an?|too) \w+$|"
    r"\b(?:first|second|every|only|each|best|worst|how|as) \w+$|\b(?:last|next) (?!week|month|year|night)\w+$|"
    r"\b(?:the|an?|that|one|each|any|what) (?:\w+ )?(?:time|day|week|month|year)$|\b(?:it|that)(?:['’]s| is| was) "
    r"\w+$|^\w+ing$|"
    r"\b(?:found out|finding out|know|knew|think|thought|say|said) \w+$",
    re.IGNORECASE,
)
_VERB = re.compile(
    rf"['’](?:s|m|re|ve|ll|d|t)\b|\b(?:is|am|are|was|were|has|have|had|will|can|cannot|do|does|did|would|must|should|"
    rf"{PAST}|(?:I|we|they|he|she|who) [a-z]+|[a-z]{{3,}}ed|[a-z]{{3,}}s (?:in|at|on|for|the|my|to|it|her|him|"
    r"every))\b",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:^|\b)(?:\d+|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:Jan|Febr)uary|March|April|May|June|July|August|"
    r"(?:Septem|Octo|Novem|Decem)ber)s?$|"
    r"^(?!My\b|Our\b|His\b|Her\b|Their\b|The\b|Your\b|Both\b|All\b)[A-Z][a-z]+$"
)
"""A whole answer without a verb: a number, a day, a name."""
_IS = re.compile(r"\w+(?:['’]| (?:is|are|was|were|am)\b)", re.IGNORECASE)
_ADVERBIAL = re.compile(
    r"(?:(?:and|but|so|then) )*(?:from|in|on|at|by|since|for|with|after|before|of|every|each|last|next|this|some|these|"
    r"today|tonight|yesterday|tomorrow|during|until|most|chapter|part|page|number)\b",
    re.IGNORECASE,
)
"""What only says when or where: it opens the clause behind it."""
_UNREAL = re.compile(r"\b(?:if|unless|imagine|suppose|pretend|wish|whether|wonder\w*|as though)\b", re.IGNORECASE)
_SUBORDINATE = re.compile(
    r"(?:^|, )(?:(?:and|but|so|anyway|oh|yeah) )*(?:when|whenever|while|after|before|since|because|although|though|"
    r"until|"
    r"as|once|now|given|even|where|wherever|what|whatever|whoever|how|why|who|which|that|every time|the (?:day|time|"
    r"way|"
    r"reason|more))\b[^,]*$",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"[\"“”]")
_LAST = re.compile(r"[\w'’-]+$")


def spread(text: str, several: list[str]) -> tuple[str, list[str]]:
    """`text` and its sentences (`several`), where they run on cut again; a line for each then."""
    pieces = [piece for sentence in several for piece in split(sentence)]
    return ("\n".join(pieces), pieces) if len(pieces) > len(several) else (text, several)


def split(sentence: str) -> list[str]:
    """`sentence` cut where it runs on into another; itself alone where it does not, or where it asks or quotes."""
    if len(sentence) > LONGEST or sentence.rstrip().endswith("?") or _QUOTE.search(sentence):
        return [sentence]
    pieces, start = [], 0
    for found in _START.finditer(sentence):
        left = sentence[start : found.start()]
        if _may_cut(left, found):
            pieces.append(left)
            start = found.end()
    return [piece.strip() for piece in (*pieces, sentence[start:]) if piece.strip()]


def _may_cut(left: str, found: re.Match[str]) -> bool:
    """Whether `left` is a sentence, and `found` begins one that does not hang on it."""
    last = _LAST.search(left[-40:])
    shown = last.group() if last else ""
    word = shown.lower().strip("'’")
    if not word or word in _OPEN_WORDS or word.endswith("ly") or _UNREAL.search(left) or _TOLD.search(left[-60:]):
        return False
    if found["capital"]:
        return not shown[:1].isupper()
    if found["someone"] and _belongs(found["someone"], shown, left):
        return False
    return not _SUBORDINATE.search(left) and _is_whole(left, found["person"])


def _belongs(name: str, shown: str, left: str) -> bool:
    """Whether a name goes with the word before it, `shown`: "my friend Tom is", "Anna Berg has"."""
    owned = shown.lower().endswith(("'s", "’s", "ing"))
    return owned or bool(_APPOSED.search(left[-40:])) or (name[0].isupper() and shown[:1].isupper())


def _is_whole(left: str, person: str | None) -> bool:
    """Whether `left` may end here: it has a verb, or answers with a day or a name before something else is said."""
    last_part = left.rsplit(",", 1)[-1].strip()
    if _VERB.search(left):
        return bool(_VERB.search(last_part)) or not _ADVERBIAL.match(last_part)
    return not _ADVERBIAL.match(last_part) and bool(_BARE.search(left)) and (not person or bool(_IS.match(person)))


_APPOSED = re.compile(
    rf"\b(?:{KIN}|{PETS}|friends?|mate|boss|colleague|teacher|neighbou?r|saint|st|mr|mrs|ms|miss|dr|called|named|old|"
    r"new|big|little|best|late|own|poor|former|young|other|first)$",
    re.IGNORECASE,
)
"""Words before a name that belong to it: "my friend Tom is", "Aunt Meg has", "Anna Berg lives"."""
