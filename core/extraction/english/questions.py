"""An English question turned into the statement that its answer completes, by its grammar alone.

"When do you train?" – "Tuesdays." → "I train on Tuesdays."; "Can you swim?" – "No." → "I cannot swim.". What the tables
of `answers` know better is asked of them first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.language import third_person

LONGEST = 110
"""Characters of an answer."""
LONGEST_ROLE, LONGEST_THING, LONGEST_HABIT = 4, 8, 5
"""Words of what somebody works as, of an answer that has neither a name nor a number, and of a habit asked for."""

_LEAD = re.compile(
    r"^(?:(?:and|so|but|oh|ok(?:ay)?|nice|great|well|wow|congratulations|cool|lovely|then|now|hi|hello|thanks|"
    r"(?!when|where|who|what|which|how|do|can|will|are|is|have|any)[a-z]+,)[,!]? "
    r"(?=(?:when|where|who|what|which|how|do|does|did|can|will|are|is|have|any)\b))+",
    re.IGNORECASE,
)
_SHORT = (
    (re.compile(r"[’‘]"), "'"),
    (re.compile(r"\b(when|where|who|what|how)'s\b", re.IGNORECASE), r"\1 is"),
    (re.compile(r"\b(who|what)'re\b", re.IGNORECASE), r"\1 are"),
    (re.compile(r"\b(when|where|who|what|how)'d\b", re.IGNORECASE), r"\1 did"),
    (
        re.compile(
            r",? (?:if I may ask|by the way|then|exactly|these days|now|at the moment|yet|though|again)(?=\s*\?)"
        ),
        "",
    ),
    (re.compile(r"\byours\b"), "mine"),
    (re.compile(r"\byour\b"), "my"),
)
_AUX = r"(?:do|does|did|is|are|was|were|have|has|had|will|can|would)"
_WH = (
    r"(?P<wh>when|where|who|whom|what time|what|which|how long|how often|how many|how much|how far|how|"
    r"(?:what|which|how many|how much|at what|what kind of) (?P<noun>(?!is\b|are\b|do\b)[a-z]+(?: [a-z]+)?))"
)
_SUBJECT = (
    r"(?P<who>you|he|she|it|they|there|(?-i:[A-Z])[\w-]+|(?:my|the|his|her|their|its|that|this) (?:[\w'-]+ "
    r"){0,3}?[\w'-]+)"
)
_ASKED = re.compile(
    rf"^(?:(?P<prep>for|with|at|to|on|from) )?{_WH} (?P<aux>{_AUX}) {_SUBJECT}(?P<rest>(?: [^?,]+)?)\?$", re.IGNORECASE
)
_OPEN = re.compile(r"^(?P<aux>do|can|will|are|have|did) you (?P<rest>[^?,]{2,60})\?$", re.IGNORECASE)
_ONLY = re.compile(r"^(?:just|only) (?:the |my )?(?P<what>(?:one|two|three|a|an|my|\d)\b[^,;]{2,50})", re.IGNORECASE)
_ANY = re.compile(
    r"^(?:do you have (?=any|an?\b|other)|have you got )?(?:any |an? )?(?:other )?(?P<noun>[a-z]+(?: [a-z]+)?)(?: at "
    r"home)?\?$",
    re.IGNORECASE,
)
_VERBLESS = re.compile(
    r"^(?:and )?(?:what about |how about )?(?:the |my )?(?P<noun>(?!(?:any|and|really|sure|right|ok|okay|yes|no|how|"
    r"what|when|where|who|why|which|"
    r"same|older|better|so|too|is|are|do|did|the|like|still|more)\b)[a-z]+(?: (?!or\b)[a-z]+){0,2})\?$",
    re.IGNORECASE,
)
_BE = frozenset({"is", "are", "was", "were"})
_PRONOUNS = frozenset({"you", "he", "she", "they", "it"})
_GOES = re.compile(r"(?:went|go|goes|going|travel\w*|fly|flies|flew|flying|moved?|moving)\b")
_SPOT = re.compile(r"^(?:the|an?) |^\d| and | Street\b| Road\b| & ", re.IGNORECASE)
_ROLE = re.compile(
    r"(?:er|or|ist|ian|ant|nurse|tect|vet|cook|chef|clerk|man|woman|ee|aide|pilot|student|intern|guard|coach|lead|head)$"
)
_PAST = dict(
    pair.split(":")
    for pair in (
        "get:got go:went do:did see:saw buy:bought make:made take:took have:had meet:met find:found pay:paid sell:sold "
        "leave:left run:ran swim:swam eat:ate drink:drank give:gave begin:began come:came win:won lose:lost "
        "write:wrote "
        "read:read cost:cost put:put quit:quit set:set cut:cut choose:chose spend:spent sleep:slept ride:rode "
        "drive:drove fly:flew grow:grew break:broke build:built teach:taught send:sent tell:told hear:heard say:said "
        "know:knew think:thought feel:felt fall:fell hurt:hurt keep:kept speak:spoke wear:wore become:became "
        "bring:brought"
    ).split()
)
_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
)
_WHEN = (
    (
        re.compile(
            rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b|{_MONTH} \d{{1,2}}\b(?!\d)|{_DAY}|the "
            r"\d{1,2}(?:st|nd|rd|th)\b",
            re.IGNORECASE,
        ),
        "on ",
    ),
    (
        re.compile(
            rf"(?:early |late |mid-? ?)?{_MONTH}\b|(?:19|20)\d\d\b|(?:the )?(?:early |late )?(?:spring|summer|autumn|"
            r"fall|winter|half[- ]term|morning|evening|afternoon)\b(?! of)",
            re.IGNORECASE,
        ),
        "in ",
    ),
    (
        re.compile(
            r"\d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?(?=$|[ ,.])(?! (?:days|weeks|months|years|minutes|hours))|half "
            r"past|quarter (?:past|to)|noon|midnight|(?:six|seven|eight|nine|ten|eleven)\b",
            re.IGNORECASE,
        ),
        "at ",
    ),
)
_OFTEN = re.compile(rf"{_DAY}|(?:first|second|third|last)\b", re.IGNORECASE)
_ADVERBIAL = re.compile(
    r"^(?:on|in|at|by|from|since|for|with|to|until|till|after|before|every|each|once|twice|three times|daily|weekly|"
    r"next|last|this|"
    rf"tomorrow|yesterday|today|{_DAY}s?|early|late|about|around|almost|nearly|over|mostly at|near|next to|behind|"
    r"under|"
    rf"\d+ (?:days|weeks|months|years|times)|usually|all|the whole)\b",
    re.IGNORECASE,
)
_DROPPED = re.compile(
    r"^(?:(?:well|oh|um+|uh|hm+|actually|currently|originally|just|only|probably|still|so|mostly|mainly|it is|it's|"
    r"that's|"
    r"that would be|that is|I think|I guess)[, ]+)+|,? (?:I (?:think|guess|believe|suppose)|thanks?|please|though|"
    r"lol)$",
    re.IGNORECASE,
)
_EVADES = re.compile(
    r"^(?:no|nope|nah|none|nothing|not|never|nowhere|nobody|why|what|how|who|which|when|where|sorry|thanks?|please|"
    r"hmm?|"
    r"same|too|old|depends|secret|private|some\w*|any\w*|maybe|ask|hello|hi|hey|ok|okay|yes|yeah|yep|sure|good|great|"
    r"fine|bad|badly|long|hard|lovely|brilliant|terrible|awful|exhausting|busy|here|there|that|this|it|they|he|she|let|"
    r"guess|don't|do|can|could|would|will|if|because|whatever|ugh|soon|later|better|worse|both|like|right|"
    r"to be|by now|don['’]t|doesn['’]t|isn['’]t|far|a (?:bit|lot|little|few)|the (?:usual|same|other|rest)|all|"
    r"most)\b|\b(?:you|your|I|we|my|if|we['’]\w+|I['’]\w+|he|she|they|haha|lol)\b",
    re.IGNORECASE,
)
_BEGINS_SMALL = re.compile(
    r"(?:an?|the|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|first|"
    r"second|third|"
    r"last|about|around|every|since|for|in|on|at|by|from|to|until|next|this|half|once|twice|over|almost|nearly|with|"
    r"[a-z]+ly)\b",
    re.IGNORECASE,
)
_NUMBER = (
    r"(?:\d[\d.,:]*|[€£$]\s?\d[\d.,]*\w*|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|"
    r"thirty|forty|fifty)"
)
_COUNTED = re.compile(
    rf"^(?:about |around |over |almost |nearly |roughly )?{_NUMBER}(?![\w-]*[a-z]ly)\b|^[€£$]\d", re.IGNORECASE
)
_NAMED = re.compile(r"(?:(?<=^)|(?<= ))(?:the )?[A-Z][\w'’.-]*|\d")
_SMALL_TALK = re.compile(
    r"\b(?:help|tell|tried|try|mean|think|like me|want me|need|want|mind|know|say|feel|remember|notice|worry|hear|"
    r"sound|go wrong|happen\w*|wrong|matter|doing|asking|hoping|looking|thinking|fancy|prefer|say|like to|up to|"
    r"believe|care|expect|okay|ok|ready|sure|free|finding|manage|coping|holding|plan on doing)\b",
    re.IGNORECASE,
)
_FLEETING = re.compile(
    r"\b(?:today|tonight|right now|yesterday|this (?:morning|evening|afternoon)|so far|weather|joke|story|again)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"^(?:(?:ever|also|still|usually|often|really|currently) )*(?:drive|swim|smoke|drink|cook|bake|sing|dance|ski|"
    r"skate|vape|ride|run|garden|"
    r"speak|play|own|work|live|eat|have (?:kids|children|pets|siblings|an? [a-z]+)|wear|take|study|read music|know "
    r"how to|"
    r"married|single|vegan|vegetarian|religious|left-handed|retired|been to|visit|commute|rent|watch|use|like|love|"
    r"hate|enjoy)\b",
    re.IGNORECASE,
)


_POINTS = re.compile(r"\b(?:it|that|this|them|one)\b")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: whether it says yes or no, and the rest of its first sentence."""

    yes: bool
    no: bool
    rest: str


def stated(question: str, reply: Reply) -> tuple[str, bool] | None:
    """The statement that a question and its answer make, and whether it is sure to last; None: they make none."""
    asked = question.strip()
    for pattern, full in _SHORT:
        asked = pattern.sub(full, asked)
    asked = _LEAD.sub("", asked)
    if _FLEETING.search(asked) or re.search(r"\b(?:I|me|us)\b", asked) or len(reply.rest) > LONGEST:
        return None
    made = _completed(asked, reply) or _confirmed(asked, reply) or _listed(asked, reply)
    passing = re.search(r"\b(?:did|was|were)\b", asked, re.IGNORECASE) and not re.search(r"\d", made or "")
    return (f"{made[:1].upper()}{made[1:]}.", not passing) if made else None


def _value(said: str) -> str | None:
    for _ in range(2):
        said = _DROPPED.sub("", said).strip(" ,.!")
    said = said[:1].lower() + said[1:] if _BEGINS_SMALL.match(said) else said
    return said if said and not _EVADES.search(said) else None


def _completed(asked: str, reply: Reply) -> str | None:
    """An answer to "when", "where", "who", "what", "how many" in its place in the statement."""
    found, value = _ASKED.match(asked), _value(reply.rest)
    if found is None or value is None or reply.no or reply.yes or not _is_telling(value, found):
        return None
    wh, aux, who, rest = found["wh"].lower(), found["aux"].lower(), found["who"], found["rest"].strip()
    if wh == "what" and re.match(r"(?:be )?do(?:ing)?\b", rest):
        return _occupation(aux, _subject(who), value)
    if _SMALL_TALK.search(rest) or re.match(r"(?:do|be)\b", rest) or (wh in {"how long", "how far"} and aux == "do"):
        return None
    of_thing = aux in _BE and not rest and who.lower() not in _PRONOUNS
    placed = value if of_thing and wh == "how long" else _placed(wh, found["prep"], value)
    if placed is None or (wh == "where" and rest.endswith("work") and placed.startswith("in ")):
        return None  # "Berlin." may be a town, or who employs them
    if of_thing or (aux in _BE and who.lower() == "it" and not rest):
        return f"{who} {aux} {placed}" if wh != "how" or _COUNTED.match(value) else None
    return None if wh == "how" else _acted(found, placed)


def _acted(found: re.Match[str], value: str) -> str | None:
    """What somebody does, with the answer behind the verb."""
    wh, aux, who, rest = found["wh"].lower(), found["aux"].lower(), found["who"], found["rest"].strip()
    if aux in _BE and not rest.endswith(("ing", "ed")) and (who.lower() != "you" or wh == "what"):
        return None
    words = who.split()
    if not rest and len(words) > 2:  # "my shift start": the verb is the last word of what looks like the subject
        who, rest = " ".join(words[:-1]), words[-1]
    subject = _subject(who)
    verb = _verb(aux, subject, rest)
    if verb is None:
        return None
    if wh.startswith(("how many", "how much")) and re.fullmatch(_NUMBER, value, re.IGNORECASE):
        value = f"{value} {found['noun']}"
    if wh == "where" and _GOES.match(verb.split()[-1]):
        value = re.sub(r"^(?:in|at) ", "to ", value)
    return f"{subject} {verb} {value}"


def _subject(who: str) -> str:
    return "I" if who.lower() == "you" else who


def _occupation(aux: str, subject: str, value: str) -> str | None:
    """What somebody does for a living: "What does she do?" – "Architect."."""
    be = {"will": "will be", "do": "am", "does": "is", "did": "was", "are": "am", "is": "is"}.get(aux)
    value = value[:1].lower() + value[1:] if value[1:].islower() else value
    role = re.split(r",| at | in | on | for ", re.sub(r"^(?:an?|the) ", "", value))[0]
    if be is None or len(role.split()) > LONGEST_ROLE or not _ROLE.search(role):
        return None
    return f"{subject} {be} {value if re.match(r'(?:an?|the) ', value) else third_person.with_article(value)}"


def _placed(wh: str, prep: str | None, value: str) -> str | None:
    """The answer as an adverbial where a time or a place is asked for."""
    if prep:
        return f"{prep} {value}"
    if wh not in {"when", "what time", "how often", "how long", "where"}:
        return value
    if _ADVERBIAL.match(value) and not re.match(_DAY, value, re.IGNORECASE):
        return value
    if wh == "where":
        return _at(value)
    if wh == "how long":
        return f"for {value}" if _COUNTED.match(value) and re.search(r"year|month|week|day|decade", value) else None
    return _when(wh, value)


def _when(wh: str, value: str) -> str | None:
    """A time with the preposition before it: "on 18 May"."""
    if wh == "how often":
        return value if _COUNTED.match(value) or _OFTEN.match(value) else None
    return next((f"{before}{value}" for pattern, before in _WHEN if pattern.match(value)), None)


def _at(value: str) -> str | None:
    """A place with the preposition before it: "in Leeds", "at the library"."""
    if _SPOT.search(value):
        return f"at {value}"
    return f"in {value}" if re.search(r"[A-Z]", value) else None


def _is_telling(value: str, asked: re.Match[str]) -> bool:
    """Whether the answer names something: a number, a time, a name, a trade, or a thing in a few words."""
    named = _NAMED.search(value) or _COUNTED.match(value) or _ADVERBIAL.match(value)
    return bool(
        named or 1 < len(value.split()) <= LONGEST_THING or re.match(r"(?:be )?do(?:ing)?\b", asked["rest"].strip())
    )


def _verb(aux: str, subject: str, rest: str) -> str | None:
    """The verb of the statement in the form that the question's auxiliary asks for."""
    if not rest:
        return None
    verb, _, after = rest.partition(" ")
    after = f" {after}" if after else ""
    if aux == "do":
        return rest
    if aux == "does":
        return third_person.with_s(verb) + after
    if aux == "did":
        past = _PAST.get(verb) or (f"{verb}d" if verb.endswith("e") else re.sub(r"(?<=[^aeiou])y$", "i", verb) + "ed")
        return past + after
    if subject == "I":
        aux = {"are": "am", "were": "was"}.get(aux, aux)
    return f"{aux} {rest}" if aux != "would" else None


def _confirmed(asked: str, reply: Reply) -> str | None:
    """A yes or a no to what the speaker does, can or will do, with the time or place that follows it."""
    found = _OPEN.match(asked)
    if found is None or not (reply.yes or reply.no) or _SMALL_TALK.search(found["rest"]):
        return None
    aux, rest = found["aux"].lower(), found["rest"].strip()
    value = _value(reply.rest) if reply.yes and reply.rest else None
    if value and _ADVERBIAL.match(value):
        return f"I {_verb(aux, 'I', rest)} {'on ' if re.match(_DAY, value) else ''}{value}"
    lasts = _LASTING.match(rest) and len(rest.split()) <= LONGEST_HABIT and not _POINTS.search(rest)
    if not lasts or (reply.yes and (reply.rest or aux == "did")):
        return None
    plain = re.sub(r"^ever ", "", rest)
    return f"I {_verb(aux, 'I', plain)}" if reply.yes else _denied(aux, plain)


def _denied(aux: str, plain: str) -> str | None:
    form = {"do": "do not", "can": "cannot", "are": "am not", "have": "have never", "did": "did not"}.get(aux)
    plain = re.sub(r"^(?:also|still|usually|really) ", "", plain)
    return f"I {form} {plain}" if form else None


def _listed(asked: str, reply: Reply) -> str | None:
    """What somebody has, asked for with "any": "One cat, Pickle."."""
    found, only = _ANY.match(asked), _ONLY.match(reply.rest)
    value = _value(reply.rest)
    about = _VERBLESS.match(asked)
    if about and value and re.search(r"\d", value):
        return f"my {about['noun'].lower()} is {value}"
    if found and reply.no and only:
        return f"I only have {only['what'].strip(' .!')}"
    if found is None or reply.no or value is None or not re.match(rf"{_NUMBER}\b", value, re.IGNORECASE):
        return None
    return f"I have {value}"
