"""First person to third person: "I moved, my sister helped" → "Ada moved, Ada's sister helped".

The speaker is the name wherever they are meant, so that every verb keeps one number. Only a word that is certainly the
speaker is replaced; a sentence in which that is not certain is kept as a quotation.
"""

from __future__ import annotations

import re

from core.language.en.verbs import ADVERBS, BASE_VERBS, LY_VERBS, PRESENT_ED, UNCHANGED
from core.language.lazy_regex import lazy_regex

_KIN = (
    r"(?:[Mm]y|[Oo]ur) (?!(?:[a-z]+ )?(?:wife|husband|partner|m[ou]m|mother|dad|father|sister|brother|son|daughter|"
    r"friend|boss|roommate|neighbou?r|cousin|uncle|aunt|kids?|parents|dog|"
    r"cat) (?!and\b)[a-z])(?:[a-z]+(?:-[a-z]+)? ){0,2}?[a-z]+(?: [A-Z][a-z]+)?"
)
_CLAUSE = r"(?:^|(?<=, )|(?<=\band )|(?<=\bbecause )|(?<=\bso )|(?<=\bwhen )|(?<=\bthat )|(?<=\bwhere )|(?<=\bsince ))"
_JOINT = lazy_regex(
    rf"{_CLAUSE}(?:(?P<first>{_KIN}) and I\b|(?:[Mm]e|I) and (?P<second>{_KIN})(?= [a-z])|"
    rf"(?P<named>[A-Z][a-z]+) and I\b)(?! am\b| was\b)"
)
_TOKEN = lazy_regex(
    r"[\"“][^\"“”]*[\"”]|(?<!\w)[‘'](?=\w)[^‘’'\n]{2,}[’'](?!\w)|"  # what is quoted stays as it is
    r"[A-Za-z]+(?:'[a-z]+)?(?![\w-])|"
    r"\w+(?:[-.'’/]\w+)*|[^\w\"“]+|."
)
_NUMBERED = frozenset(
    "war type gate part phase stage class grade chapter volume vol book act scene level unit table figure fig exhibit "
    "option category article section title tier group platform terminal hall room building block schedule "
    "factor vitamin "
    "division appendix annex model mark step line route zone region quantum calculus physics chemistry algebra "
    "economics "
    "biology french spanish german latin english henry george charles elizabeth william james edward richard "
    "francis louis "
    "leopold albert napoleon nicholas alexander catherine peter ivan philip ferdinand frederick wilhelm otto pius paul "
    "isabella mary maria baudouin".split()
)
"""Words after which a lone "I" may be the Roman one."""
_NEVER_PERSON = _NUMBERED & frozenset(
    "war type phase stage volume vol vitamin factor act scene grade tier appendix annex figure fig exhibit".split()
)
_COLLECTIVE = lazy_regex(
    r"\b(?:we|us|our)\b.*\b(?:both|all|each other|one another|together|met|split up|broke up|between us|couple)\b|"
    r"\b(?:both|all|each|most|some|none|one|either|neither|two|three|four|five|six) of us\b|"
    r"\bwe are (?:now |all |also |just )?(?:a |an |the |two|three|four|five|six|seven|\d)",
    re.IGNORECASE,
)
"""Things that several people are or do together, which are not true of one alone."""
_REFLEXIVE = lazy_regex(r"\b(?:myself|ourselves|yourself)\b", re.IGNORECASE)
_ALONE = lazy_regex(r"\b(?:all )?by (?:myself|ourselves)\b", re.IGNORECASE)
_STRESSED = lazy_regex(
    r"(?<=\w),? (?:myself|ourselves)(?=[.!,;]|$| (?:and|but|last|in|on|at|this|every)\b)", re.IGNORECASE
)
_OBJECT_VERB = lazy_regex(
    r"\b(?:taught|teach|treat(?:ed)?|enjoy(?:ed)?|hurt|cut|burn(?:t|ed)|push(?:ed)?|found|find|made|make|let|see|"
    r"to|for|of|about|with|at|in|on|from|lost|lose|keep|kept|gave|give|bought|buy|get|got|consider|call|"
    r"motivate|express) "
    r"(?:myself|ourselves)\b",
    re.IGNORECASE,
)


def with_article(noun: str) -> str:
    """Return `noun` with "a" or "an" before it, unless it is counted ("two cats") or a title ("CEO")."""
    bare = re.match(r"\d|(?:two|three|four|five|six|several|many|head|chief|lead|[A-Z]{2,})\b", noun)
    vowel = re.match(r"(?!uni|eu|one\b|us)[aeiou]", noun, re.IGNORECASE)
    return noun if bare else f"an {noun}" if vowel else f"a {noun}"


def third_person(sentence: str, name: str, addressee: str | None = None) -> str:
    """Return `sentence` (contractions spelled out) about `name`; "you" becomes `addressee`.

    If it is uncertain which words mean the speaker, return the sentence itself in quotation marks.
    """
    plain = _STRESSED.sub("", _ALONE.sub("alone", sentence)) if not _OBJECT_VERB.search(sentence) else sentence
    if _REFLEXIVE.search(plain) or _COLLECTIVE.search(plain) or _has_open_quote(plain):
        return quote(sentence, name)
    told: list[str] = []
    tokens = _TOKEN.findall(_merge_joint_subject(plain, name))
    agree, from_here = False, 0
    for place, token in enumerate(tokens):
        shown, verb_follows = _replacement(token, tokens, place, name, addressee)
        if shown is None:
            return quote(sentence, name)
        if verb_follows is not None:
            agree = verb_follows
        elif agree and token.startswith(",") and place > from_here:
            from_here = _next_comma(tokens, place)  # "I, on the other hand, like it"
            agree = from_here > place
        elif agree and place >= from_here and token[0].isalpha() and not _is_adverb(token):
            shown, agree = _conjugate(token, tokens), False
        told.append(shown)
    text = _conjugate_second_verbs("".join(told).replace("\x00", name), name)
    return text if text.startswith(name) else text[:1].upper() + text[1:]


def quote(sentence: str, name: str) -> str:
    """Return the words of the speaker as they are, in quotation marks: `Ada said: “…”`."""
    words = sentence.strip().replace("“", "‘").replace("”", "’").replace('"', "'")
    return f"{name} said: “{words if words.endswith(('.', '!', '?')) else f'{words}.'}”"


def _has_open_quote(sentence: str) -> bool:
    return sentence.count('"') % 2 == 1 or sentence.count("“") != sentence.count("”")


def _merge_joint_subject(sentence: str, name: str) -> str:
    """Rewrite a joint subject ("my wife and I") with the name first."""
    match = _JOINT.search(sentence)
    if not match or (match["named"] or "").lower() in _NUMBERED:
        return sentence
    who = re.sub(
        r"^(?:my|our)\b", f"{name}'s", match["named"] or match["first"] or match["second"], flags=re.IGNORECASE
    )
    return f"{sentence[: match.start()]}\x00 and {who}{sentence[match.end() :]}"


def _is_adverb(token: str) -> bool:
    low = token.lower()
    return low in ADVERBS or (low.endswith("ly") and low not in LY_VERBS)


def _replacement(
    token: str, tokens: list[str], place: int, name: str, addressee: str | None
) -> tuple[str | None, bool | None]:
    """Return the replacement of `token` (None: no change) and whether a verb that must agree follows.

    None in the first place: it may be the speaker and may not be.
    """
    if token == "I":
        return _self(tokens, place, name)
    low = token.lower()
    if token[0].isupper() and not _starts_clause(tokens, place):  # "The Last of Us": part of a title; "US" a country
        return token, None
    if token in {"we", "We"}:
        return name, not _is_inverted(tokens, place)
    if token.isupper() and len(token) > 1:
        return token, None
    return _object_replacement(low, _word_before(tokens, place), name, addressee) or token, None


def _object_replacement(low: str, before: str, name: str, addressee: str | None) -> str | None:
    """Return the replacement of "my", "me", "mine" and, given an addressee, "you" and "your"; None for other words."""
    if low in {"my", "our"} or (low in {"mine", "ours"} and before in _BEFORE_MINE):
        return f"{name}'s"
    if low in {"us", "me"}:
        return name
    if low in {"you", "your", "yours"} and addressee:
        return addressee if low == "you" else f"{addressee}'s"
    return None


_BEFORE_MINE = frozenset(
    "is are was were be of like than as and with to from for at by on that not also still all only".split()
)
_INVERTING = frozenset("can could do did does will would should have had may might must am was".split())


def _starts_clause(tokens: list[str], place: int) -> bool:
    """Return whether the word begins the sentence, or one after a colon."""
    before = "".join(tokens[:place]).rstrip()
    return not before or before.endswith((":", "“", '"', ".", "!", "?"))


def _word_before(tokens: list[str], place: int) -> str:
    """Return the preceding word in lower case; empty if anything but space is between."""
    return tokens[place - 2].lower() if place > 1 and tokens[place - 1] == " " else ""


def _is_inverted(tokens: list[str], place: int) -> bool:
    return _word_before(tokens, place) in _INVERTING


def _self(tokens: list[str], place: int, name: str) -> tuple[str | None, bool | None]:
    """Return the replacement of a lone "I" (the speaker, or a Roman numeral), and whether a verb follows."""
    before = _word_before(tokens, place)
    after = tokens[place + 2].lower() if tokens[place + 1 : place + 2] == [" "] and place + 2 < len(tokens) else ""
    is_verb = after in BASE_VERBS or after in UNCHANGED or after in {"am", "have"} or after.endswith("ed")
    if before in _NUMBERED:
        own = after in {"am", "have", "was", "had", "will", "would", "did", "do"} and before not in _NEVER_PERSON
        return (None, None) if own else ("I", None)
    capital = place > 1 and tokens[place - 2][:1].isupper() and before
    if capital and not is_verb and after and not _is_adverb(after):
        return None, None
    if not after and tokens[place + 1 : place + 2] and tokens[place + 1][0] not in ",.!?;:)… " and place:
        return None, None  # "I/O", "I&D"
    return name, not _is_inverted(tokens, place)


def _next_comma(tokens: list[str], place: int) -> int:
    """Return the position of the next comma within a few words; 0 if there is none."""
    return next((later for later in range(place + 1, min(place + 12, len(tokens))) if tokens[later][0] == ","), 0)


def _conjugate(token: str, tokens: list[str]) -> str:
    """Return the verb after the name: am → is, have → has, live → lives; the past and modals stay."""
    low = token.lower()
    irregular = {
        "am": "is", "has": "has", "have": "has", "do": "does", "go": "goes", "was": "was", "are": "is", "were": "was",
    }  # fmt: skip
    if low in irregular:
        return irregular[low]
    if low in UNCHANGED or (low.endswith("ed") and low not in PRESENT_ED) or _PARTICIPLE.search(low):
        return token
    if low == "read" and re.search(
        r"\b(?:yesterday|last|ago|back|finished|just|recently|once|before|was|were|when|on \d)", "".join(tokens)
    ):
        return token
    return with_s(token)


_PARTICIPLE = lazy_regex(r"(?<!^s)(?<!^r)(?<!^w)(?<!^br)(?<!^cl)(?<!^sw)(?<!^st)(?<!^spr)ing$")


def with_s(verb: str) -> str:
    """Return the third person singular of a regular verb: live → lives, study → studies, teach → teaches."""
    if re.search(r"(?:s|sh|ch|x|z|o)$", verb):
        return f"{verb}es"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}s"


_FIRST_VERB = lazy_regex(
    r"^(?:[a-z]+ly |also |always |still |usually |often )*(?P<verb>is|has|does|"
    r"[a-z]+s)\b(?P<between>[^.;!?]*?)(?=,? (?:and|but|or) )"
)
_SECOND_BE = lazy_regex(
    r",? (?:and|but|or) (?:(?:[a-z]+ly|also|always|still|never|now|then|just) )*(?P<verb>am|are|have|do)\b"
)
_NO_SECOND = lazy_regex(
    r"\b(?:to|will|would|can|could|should|not|who|that|they|going|how|what|which|where|is|are|was|because|it)\b"
)
_LISTED_VERB = lazy_regex(r"[^,.;]*, (?P<verb>[a-z]+)\b(?= [^,.;]+,? and [a-z])")
_SECOND_VERB = lazy_regex(
    r",? (?:and|but|or) (?P<adv>(?:[a-z]+ly |also |always |still |usually |often |"
    r"then )*)(?P<verb>[a-z]+)\b(?= (?!is\b|are\b|was\b)\w)"
)


def _conjugate_second_verbs(text: str, name: str) -> str:
    """Conjugate the second verb of every clause that begins with `name`."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        text = text[:end] + _conjugate_second_verb(text[end:])
        start = text.find(name, end)
    return text


def _conjugate_second_verb(rest: str) -> str:
    """Return the words after a name, with the second verb in the number of the first."""
    bare = rest.lstrip()
    first = _FIRST_VERB.match(bare) if bare != rest else None
    have = _SECOND_BE.search(bare) if first else None
    if first and have and have.start() == first.end():
        verb = {"am": "is", "are": "is", "have": "has", "do": "does"}[have["verb"]]
        return f" {bare[: have.start('verb')]}{verb}{bare[have.end('verb') :]}"
    if not first or _NO_SECOND.search(first["between"]):
        return rest
    listed = _LISTED_VERB.match(bare, first.start("between"))
    if listed and listed["verb"] in BASE_VERBS:
        bare = f"{bare[: listed.start('verb')]}{with_s(listed['verb'])}{bare[listed.end('verb') :]}"
        first = _FIRST_VERB.match(bare) or first
        rest = f" {bare}"
    second = _SECOND_VERB.match(bare, first.end())
    if not second or second["verb"] not in BASE_VERBS:
        return rest
    return f" {bare[: second.start('verb')]}{with_s(second['verb'])}{bare[second.end('verb') :]}"
