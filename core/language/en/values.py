"""Validators for slot values: names, places, ages, dates."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import dateparser

from core.language.lazy_regex import lazy_regex

_NOT_NAMES = frozenset(
    "a an the my our your his her their this that these those some any it me him them us here there home place new old "
    "another not so very really just all in on at to of and or but for with from good great fine ok "
    "okay happy sad tired sorry "
    "sure back busy ready done glad excited well better best moved going doing being such what how who which one two "
    "still far somewhere anywhere nowhere does did everyone everything something someone nothing same different "
    "both each more less much many few "
    "lot lots fun work school "
    "bed town downtown church college university student teacher nurse amazing awesome love "
    "he she they we you i everybody somebody nobody today tomorrow yesterday music dance art nature life now".split()
)
COUNTRIES = frozenset(
    "portugal spain france germany italy england scotland wales ireland uk britain usa us america "
    "canada mexico brazil argentina chile "
    "peru colombia china japan korea india pakistan bangladesh nepal thailand vietnam indonesia "
    "malaysia singapore philippines australia "
    "sweden norway denmark finland iceland netherlands belgium switzerland austria poland czechia "
    "hungary romania bulgaria greece turkey "
    "russia ukraine egypt morocco nigeria kenya ghana ethiopia israel iran iraq taiwan croatia "
    "serbia slovenia slovakia estonia latvia "
    "lithuania luxembourg cuba jamaica uruguay ecuador bolivia venezuela panama lebanon jordan "
    "qatar tunisia algeria uganda tanzania".split()
) | {
    "united states",
    "united kingdom",
    "south africa",
    "new zealand",
    "south korea",
    "saudi arabia",
    "costa rica",
    "sri lanka",
    "czech republic",
    "hong kong",
}
LANGUAGES = frozenset(
    "english spanish german french portuguese italian dutch swedish norwegian danish finnish polish "
    "czech russian ukrainian turkish "
    "greek arabic hebrew hindi urdu bengali punjabi tamil mandarin cantonese chinese japanese "
    "korean vietnamese thai indonesian malay "
    "swahili persian farsi hungarian romanian bulgarian serbian croatian catalan basque irish welsh "
    "latin tagalog".split()
)
_ROLE_HEADS = frozenset(
    "teacher nurse doctor engineer developer programmer designer architect lawyer attorney "
    "accountant manager director chef cook baker "
    "barista waiter waitress driver pilot mechanic plumber electrician carpenter artist painter "
    "musician singer dancer writer author "
    "journalist editor photographer videographer scientist researcher professor lecturer tutor "
    "counselor counsellor therapist "
    "psychologist psychiatrist dentist pharmacist veterinarian vet surgeon paramedic firefighter "
    "soldier policeman officer detective "
    "consultant analyst economist banker broker trader salesperson salesman cashier clerk secretary "
    "assistant administrator "
    "receptionist librarian translator interpreter technician programmer entrepreneur founder ceo "
    "cto cfo coo freelancer contractor "
    "student intern farmer gardener fisherman builder welder tailor hairdresser barber stylist "
    "model actor actress director producer "
    "coach trainer athlete player footballer physicist chemist biologist mathematician statistician "
    "historian geologist astronomer "
    "philosopher priest pastor monk judge politician activist streamer blogger youtuber podcaster "
    "marketer recruiter planner "
    "strategist coordinator supervisor specialist expert advisor agent guard janitor cleaner nanny "
    "babysitter caregiver midwife "
    "optician radiologist cardiologist physiotherapist nutritionist dietitian stewardess attendant "
    "sailor captain conductor composer "
    "animator illustrator sculptor potter jeweler florist butcher bartender sommelier tester "
    "administrator sysadmin devops "
    "professional principal dean superintendent retiree homemaker postdoc apprentice ranger "
    "bookkeeper auditor underwriter paralegal "
    "screenwriter novelist playwright poet curator archivist".split()
)
_DEMONYMS = frozenset(
    "catholic muslim jewish hindu sikh mormon protestant orthodox atheist agnostic german french "
    "dutch greek swiss thai czech".split()
)
_SMALL_NUMBERS = {
    w: str(n) for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"a": "1", "no": "0"}
_TENS = {w: 10 * n for n, w in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_TEENS = {
    w: n
    for n, w in enumerate("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(), 10)
}
_MONTHS = frozenset("January February March April May June July August September October November December".split())
_SMALL_WORDS = frozenset("of de da do das dos del della la le les el los the upon and und van von den & for".split())


def _without_article(value: str) -> str:
    return re.sub(r"^(?:the|an?|my|our|some) ", "", value.strip(), flags=re.IGNORECASE)


def _is_name(value: str, most: int) -> bool:
    words = value.split()
    if not words or len(words) > most or words[0].lower() in _NOT_NAMES:
        return False
    capital = [w[0].isupper() or w[0].isdigit() or w.lower() in _SMALL_WORDS for w in words]
    return all(capital) and words[0][0].isupper()


def person(value: str) -> str | None:
    """Return a name: one to three capitalised words that are no common word."""
    cut = re.match(
        r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[^\W\d_][\w'’-]*(?: (?:(?:d[aeo]s?|del|della|di|la|van|von|der|den|bin|"
        r"al) ){0,2}"
        r"[A-Z][\w'’-]*){0,3}",
        value,
    )
    if not cut:
        return None
    name = cut.group()
    return name if _is_name(name, 6) and name.lower() not in LANGUAGES | COUNTRIES else None


def own_name(value: str) -> str | None:
    """Return a name after "I am …", where a nationality or a faith is no name."""
    alone = " " not in value
    if alone and (value.lower() in _DEMONYMS or value.lower().endswith(("ish", "ese", "ian", "ist", "ing"))):
        return None
    return person(value)


def amount(value: str) -> str:
    """Return an amount of money as written, without the full stop after it."""
    return value.rstrip(" .,")


def place(value: str) -> str | None:
    """Return a place: capitalised words, or an all-lower-case word that is a known country."""
    cut = re.split(r" (?:with|for|as|near|by|where|together|alone|again|to|in|on|at|from|since|until)\b", value)[0]
    cut = re.sub(
        r"^(?:the (?=city of|town of|USA?\b|UK\b|Netherlands|Philippines|Bay)|city of |town of )", "", cut
    ).strip()
    if cut in _MONTHS:
        return None
    if cut.lower() in COUNTRIES:
        return cut if cut[0].isupper() else cut.title()
    return cut if _is_name(cut, 5) else None


def is_country(value: str) -> bool:
    """Return whether `value` is the name of a country rather than a town."""
    return value.lower().removeprefix("the ") in COUNTRIES


def organisation(value: str) -> str | None:
    """Return an employer: capitalised words, without what it is called in passing ("a bank" is none)."""
    cut = re.split(
        r" (?:as|in|on|where|since|doing|to)\b", re.sub(r"^(?:the|a company called|a startup called) ", "", value)
    )[0].strip()
    return cut if _is_name(cut, 5) else None


def school(value: str) -> str | None:
    """Return a school or university by name."""
    cut = re.split(r" (?:with|in (?:19|20)|where|as)\b", re.sub(r"^the ", "", value))[0].strip()
    looks = re.search(
        r"\b(?:University|College|School|Institute|Academy|MIT|[A-Z]{3,}|Oxford|Cambridge|Harvard|Yale|Stanford|"
        r"Princeton)\b",
        cut,
    )
    return cut if looks and (_is_name(cut, 7) or re.match(r"University of [A-Z]", cut)) else None


def field(value: str) -> str | None:
    """Return a subject of study: a few plain words."""
    cut = re.split(r" (?:at|in|for|with|from|to)\b", value)[0].strip()
    if not 1 <= len(cut.split()) <= 4 or re.match(
        r"(?:the|a|my|it|this|that|hard|how|what|more|some|and|up|so)\b", cut, re.IGNORECASE
    ):
        return None
    return cut


def role(value: str) -> str | None:
    """Return an occupation of at most five words."""
    cut = _without_article(value)
    return (
        cut
        if 1 <= len(cut.split()) <= 5 and not re.search(r"\b(?:team$|usual|well|much|possible|hard)\b", cut)
        else None
    )


def occupation(value: str) -> str | None:
    """Return an occupation after "I am a …", where only known occupations count."""
    cut = _without_article(value)
    words = cut.split()
    if not 1 <= len(words) <= 4 or words[-1].lower() not in _ROLE_HEADS:
        return None
    if words[0].endswith("ing"):
        return None
    vague = {
        "good",
        "great",
        "bad",
        "better",
        "terrible",
        "big",
        "huge",
        "team",
        "hard",
        "my",
        "your",
        "not",
        "decent",
        "no",
        "amazing",
        "such",
        "talented",
        "best",
    }
    return None if vague & {w.lower() for w in words} else cut


def thing(value: str) -> str | None:
    """Something one can name in a few words."""
    cut = _without_article(value)
    return (
        cut
        if 1 <= len(cut.split()) <= 8 and cut.lower() not in {"it", "that", "this", "them", "everything", "something"}
        else None
    )


_EMPTY_LIKES = lazy_regex(
    r"^(?:it|that|this|them|these|those|him|her|you|your|how|what|when|hearing|having you|seeing you|to hear|"
    r"to know|to see (?:you|your|it)|"
    r"to (?:chat|catch up|talk|think|say|ask|share)\b|everything|something|anything|nothing|all (?:of|the)|your|"
    r"everyone|everywhere|myself|yourself|me|us|being able|that you|one|not\b|"
    r"and|or|is|are|so|as|to be|my|our|their|his|some|having|[-–—])\b|^[-–—]",
    re.IGNORECASE,
)
_THE = lazy_regex(
    r"^the (?![A-Z]|outdoors\b|beach|ocean|sea\b|mountains|countryside|snow|rain|cold|heat|sun\b|summer|winter|"
    r"city\b|night|taste of|smell of|color \w+)"
)
_POINTING = lazy_regex(r"\b(?:you|your|it|them|they|that|this|these|those|there|here|ones?|what|how)\b", re.IGNORECASE)


def liked_thing(value: str) -> str | None:
    """Return something nameable that is liked or not; no pronoun, courtesy or reaction ("the colours")."""
    if _EMPTY_LIKES.match(value) or _THE.match(value) or _POINTING.search(value):
        return None
    cut = re.sub(r"^(?:to (?:eat|drink|have)|eating|drinking) ", "", value)
    cut = re.sub(
        r" (?:a lot|so much|very much|with a passion|the most|most|best|at all|more|too|together|lately)$", "", cut
    )
    cut = re.sub(r" (?:and|or|with|in|of|to|for|at|on)$", "", cut)
    cut = re.sub(r"\b(?:my|our)sel(?:f|ves)\b", "themselves", re.sub(r"\b(?:my|our)\b", "their", cut))
    return None if cut in {"to", "and"} else thing(cut)


def favourite(value: str) -> str | None:
    """Return the one that is favoured: short, and no whole clause."""
    if _EMPTY_LIKES.match(value) or re.match(r"(?:when|that|to|because|probably|not|one of)\b", value):
        return None
    return thing(value) if len(value.split()) <= 6 else None


def language(value: str) -> str | None:
    """Return one or more languages."""
    words = [w for w in re.findall(r"[A-Za-z]+", value) if w.lower() in LANGUAGES]
    return " and ".join(w.capitalize() for w in words) or None


def age(value: str) -> str | None:
    """Years as digits, 1 to 120."""
    word = value.lower().replace("-", " ")
    tens, _, ones = word.partition(" ")
    number = (
        int(word)
        if word.isdigit()
        else _TEENS.get(word)
        or (_TENS[tens] + int(_SMALL_NUMBERS.get(ones, "0")) if tens in _TENS else int(_SMALL_NUMBERS.get(word, "0")))
    )
    return str(number) if 0 < number <= 120 else None


def count(value: str) -> str:
    """Return a small number as digits."""
    return _SMALL_NUMBERS.get(value.lower(), value)


def birthday(value: str) -> str | None:
    """Return a birthday as `MM-DD`, or `YYYY-MM-DD` where the year is said."""
    phrase = re.sub(r"^the | of\b|(?<=\d)(?:st|nd|rd|th)\b", "", value.strip(), flags=re.IGNORECASE)
    year = re.search(r"\b(?:19|20)\d\d\b", phrase)
    if not re.search(r"\d", phrase) or not re.search(r"[A-Za-z]{3}|\d[-/.]\d", phrase):
        return None
    day = dateparser.parse(
        phrase,
        languages=["en"],
        settings={"RELATIVE_BASE": datetime(2000, 1, 1, tzinfo=UTC), "REQUIRE_PARTS": ["day", "month"]},
    )
    if day is None:
        return None
    return f"{day:%Y-%m-%d}" if year else f"{day:%m-%d}"
