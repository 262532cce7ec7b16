"""An English question turned into the statement that its answer completes, by its grammar alone.

"When do you train?" – "Tuesdays." → "I train on Tuesdays."; "Can you swim?" – "No." → "I cannot swim.". What the tables
of `answers` know better is asked of them first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.extract import rewrite

LONGEST = 110
"""Characters of an answer."""

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
_BE = {"is", "are", "was", "were"}
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


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: whether it says yes or no, and the rest of its first sentence."""

    yes: bool
    no: bool
    rest: str


def stated(question: str, reply: Reply) -> tuple[str, bool] | None:
    """The statement that a question and its answer make together, and whether it is sure to last; None: they make none."""
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
    found = _ASKED.match(asked)
    value = _value(reply.rest)
    if found is None or value is None or reply.no or reply.yes:
        return None
    wh, aux, who, rest = found["wh"].lower(), found["aux"].lower(), found["who"], found["rest"].strip()
    if (
        _SMALL_TALK.search(rest)
        or (re.match(r"(?:do|be)\b(?! doing)", rest) and wh != "what")
        or (wh in {"how long", "how far"} and aux == "do")
    ):
        return None
    noun = found["noun"]
    if wh == "what" and re.match(r"(?:be )?do(?:ing)?\b", rest):
        return _occupation(aux, who, value)
    if wh == "what" and aux in _BE and rest and not rest.endswith("ing") and " " not in rest:
        return None
    value = value if wh == "how long" and aux in _BE and who.lower() != "you" else _placed(wh, found["prep"], value)
    if wh == "where" and rest.endswith("work") and value and value.startswith("in "):  # a town, or who employs them
        return None
    if value is None:
        return None
    if aux in _BE and not rest and who.lower() not in {"you", "he", "she", "they", "it"}:
        return f"{who} {aux} {value}" if _is_telling(value) and (wh != "how" or _COUNTED.match(value)) else None
    if wh == "how":
        return None
    if aux in _BE and who.lower() != "you" and not rest.endswith(("ing", "ed")):
        who, rest = _split_noun(who, rest)
        if rest:
            return None
        return f"{who} {aux} {value}" if who.lower() == "it" and _is_telling(value) else None
    subject = "I" if who.lower() == "you" else who
    if not rest:
        who, rest = _split_noun(who, "")
        subject = "I" if who.lower() == "you" else who
    verb = _verb(aux, subject, rest)
    if verb is None or not _is_telling(value):
        return None
    if noun and wh.startswith(("how many", "how much")) and re.fullmatch(_NUMBER, value, re.IGNORECASE):
        value = f"{value} {noun}"
    if wh == "where" and re.match(
        r"(?:went|go|going|travel\w*|fly|flew|flying|moved?|moving|am going|moved)\b", verb.split()[-1]
    ):
        value = re.sub(r"^(?:in|at) ", "to ", value)
    return f"{subject} {verb} {value}"


def _split_noun(who: str, rest: str) -> tuple[str, str]:
    """A subject of several words with its verb: "my shift start" → "my shift", "start"."""
    words = f"{who} {rest}".split()
    return (" ".join(words[:-1]), words[-1]) if len(words) > 2 and not rest else (who, rest)


def _occupation(aux: str, who: str, value: str) -> str | None:
    subject = "I" if who.lower() == "you" else who
    be = {"will": "will be", "do": "am", "does": "is", "did": "was", "are": "am", "is": "is"}.get(aux)
    role = re.split(r",| at | in | on | for ", re.sub(r"^(?:an?|the) ", "", value))[0]
    if (
        be is None
        or len(role.split()) > 4
        or not re.search(
            r"(?:er|or|ist|ian|ant|nurse|tect|vet|cook|chef|clerk|man|woman|cian|ee|aide|pilot|student|intern|guard|"
            r"coach|lead|head)$",
            role,
        )
    ):
        return None
    return f"{subject} {be} {value if re.match(r'(?:an?|the) ', value) else rewrite.with_article(value)}"


def _placed(wh: str, prep: str | None, value: str) -> str | None:
    """The answer as an adverbial where a time or a place is asked for."""
    if prep:
        return f"{prep} {value}"
    if wh in {"when", "what time", "how often", "how long"}:
        if _ADVERBIAL.match(value) and not re.match(rf"{_DAY}", value, re.IGNORECASE):
            return value
        if wh == "how long":
            return f"for {value}" if _COUNTED.match(value) and re.search(r"year|month|week|day|decade", value) else None
        if wh == "how often":
            return (
                value
                if _COUNTED.match(value)
                or re.match(_DAY, value)
                or re.match(r"(?:first|second|third|last)\b", value, re.IGNORECASE)
                else None
            )
        return next((f"{before}{value}" for pattern, before in _WHEN if pattern.match(value)), None)
    if wh == "where":
        if _ADVERBIAL.match(value):
            return value
        if not re.search(r"[A-Z]", value) and not value.startswith(("the ", "a ", "an ")):
            return None
        return (
            f"at {value}"
            if re.match(r"the |an? |\d", value, re.IGNORECASE) or re.search(r" and | Street| Road| & ", value)
            else f"in {value}"
        )
    return value


def _is_telling(value: str) -> bool:
    """Whether the answer names something: a number, a time, a name, or a thing in a few words."""
    return bool(_NAMED.search(value) or _COUNTED.match(value) or _ADVERBIAL.match(value) or 1 < len(value.split()) <= 8)


def _verb(aux: str, subject: str, rest: str) -> str | None:
    """The verb of the statement in the form that the question's auxiliary asks for."""
    if not rest:
        return None
    verb, _, after = rest.partition(" ")
    after = f" {after}" if after else ""
    if aux == "do":
        return rest
    if aux == "does":
        return rewrite.with_s(verb) + after
    if aux == "did":
        past = _PAST.get(verb) or (f"{verb}d" if verb.endswith("e") else re.sub(r"(?<=[^aeiou])y$", "i", verb) + "ed")
        return past + after
    if subject == "I":
        aux = {"are": "am", "were": "was"}.get(aux, aux)
    return f"{aux} {rest}" if aux != "would" else None


def _confirmed(asked: str, reply: Reply) -> str | None:
    """A yes or a no to what the speaker does, can or will do, with the time or place that follows it."""
    found = _OPEN.match(asked)
    if found is None or not (reply.yes or reply.no):
        return None
    aux, rest = found["aux"].lower(), found["rest"].strip()
    if _SMALL_TALK.search(rest):
        return None
    value = _value(reply.rest) if reply.yes and reply.rest else None
    placed = value and (value if _ADVERBIAL.match(value) else None)
    placed = f"on {placed}" if placed and re.match(_DAY, placed) else placed
    if reply.yes and placed:
        verb = _verb(aux, "I", rest) if aux != "have" else f"have {rest}"
        return f"I {verb} {placed}" if aux != "are" or rest.endswith("ing") else f"I am {rest} {placed}"
    if not _LASTING.match(rest) or len(rest.split()) > 5 or re.search(r"\b(?:it|that|this|them|one)\b", rest):
        return None
    if reply.no:
        plain = re.sub(r"^(?:ever|also|still|usually|really) ", "", rest)
        form = {"do": "do not", "can": "cannot", "are": "am not", "have": "have never", "did": "did not"}.get(aux)
        plain = re.sub(r"^ever ", "", plain)
        plain = re.sub(r"\b(?:a|an|any) (?=\w+$)", "any " if aux == "do" and plain.startswith("have") else "a ", plain)
        return f"I {form} {plain}" if form else None
    return f"I {_verb(aux, 'I', re.sub('^ever ', '', rest))}" if not reply.rest and aux != "did" else None


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
