"""Cutting an English sentence into self-contained statements, so that one can change without the others.

"Maeve is eight and in third grade; her brother is five" → "Maeve is eight", "Maeve is in third grade", "her brother
is five". A cut is made only where a subject with its verb follows; everything else stays in one piece.
"""

from __future__ import annotations

import re

from core.language.english_verbs import BASE_VERBS, PAST
from core.language.lazy_regex import lazy_regex

FINITE = (
    r"(?:am|is|are|was|were|has|have|had|does|do|did|will|would|can|cannot|could|should|must|may|might|"
    rf"{PAST}|[a-z]{{2,}}(?<!e)ed|[a-z]{{3,}}(?<!s)s|turned)"
)
"""A verb in a form that has a subject; words that end like one are nouns as well, and count only behind a subject."""
_ADV = (
    r"(?:(?:also|now|still|just|only|already|never|always|often|usually|sometimes|actually|really|currently|finally|"
    r"recently|both|even|simply|mostly|mainly|probably|certainly|[a-z]{3,}ly) )*"
)
_BASE = "|".join(
    sorted(BASE_VERBS | {"use", "call", "drop", "turn", "ask", "swear", "carry", "move", "rehearse", "meet", "report"})
)
_THIRD = "|".join(
    "am is are was were has have had does do did will would can cannot could should must lives works goes "
    "plays loves likes "
    "hates wants needs takes makes gets gives runs keeps starts ends turns studies teaches comes prefers "
    "drives speaks sings "
    "sells owns rides uses writes reads swims paints cooks bakes thinks believes sees knows stays sleeps eats "
    "drinks moves "
    "leaves opens closes meets rehearses wears rents sits stands feels becomes means changes swears belongs "
    "costs brings "
    "arrives returns visits helps manages moved died turned started finished joined changed passed graduated "
    "retired opened "
    "closed adopted switched decided stopped helped worked lived loved wanted needed called asked".split()
)
_NAME = r"(?!(?-i:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-Z][\w'’-]*[a-z0-9]\w*(?: [A-Z][\w'’.-]+){0,2}"
_NOUNS = (
    r"(?:my|our|his|her|their|its|the|a|an) (?:(?!and\b|or\b|who\b|which\b|that\b|is\b|are\b|was\b|in\b|of "
    r"(?:it|them)\b)"
    r"[\w'’-]+ ){1,5}?"
)
_SUBJECT = (
    rf"(?:(?:I|we|they|you) {_ADV}(?:{_BASE}|{FINITE}|(?!to\b|of\b|and\b|or\b|all\b)[a-z]{{3,}}(?= (?:my|our|"
    rf"the|her|his|their|a|an|to|in|on|at)\b))"
    rf"|(?:he|she|there|someone|somebody|everyone|everybody|nobody) {_ADV}{FINITE}"
    rf"|(?:both|all|most|some|none|neither|each) of (?:them|us|the \w+) {_ADV}(?:{_BASE}|{_THIRD})"
    rf"|(?:both|all|most|some|two|three|four|five|six|several|many) (?:[a-z]+ ){{1,2}}?{_ADV}(?:are|were|have|"
    rf"had|will|{_BASE})"
    rf"|{_NOUNS}{_ADV}(?:{_THIRD}|{PAST})"
    rf"|(?-i:{_NAME})(?:['’]s [a-z]+(?: [a-z]+)?)? {_ADV}(?-i:{_THIRD}|{PAST})"
    r")\b(?!['’-])"
)
_LEADS = (
    rf"(?:(?:then|now|also|in fact|actually|instead|(?:on|in|at|from|since|until|by) [\w ]{{2,20}}?),? )?{_SUBJECT}"
)
_CUT = lazy_regex(
    rf"\s*;\s+(?:and |but |so |whereas |while )?(?=\S+ \S)|\s+[-–—]+\s+(?:and |but |so )?(?={_LEADS})|"
    rf":\s+(?={_LEADS})|"
    rf",\s+(?:and|but|so|yet|whereas|while|though|although|plus|or)\s+(?={_LEADS}|it (?:is|was|has)\b)|"
    rf"\s+(?:and|but|whereas|so)\s+(?=(?:I|we|he|she|they) |(?:my|our|his|her|the) (?:[a-z]+ ){{1,2}}?(?:is|"
    rf"are|was|has|had|lives|"
    rf"works)\b|(?-i:[A-Z][a-z]+) (?:{_THIRD})\b)(?={_SUBJECT})|"
    rf",\s+(?={_SUBJECT}|it (?:is|was|has)\b)",
    re.IGNORECASE,
)
_OF_A_THING = lazy_regex(
    r"^(?P<np>(?:my|our|the|(?-i:[A-Z])[\w-]+)(?: (?!is\b|was\b|and\b)[\w'’-]+){0,3}) (?:is|was|has|had)\b",
    re.IGNORECASE,
)
_SUBORDINATE = lazy_regex(
    r"^(?:and |but |so )?(?:if|when|whenever|while|after|before|since|because|although|though|unless|until|as|"
    r"once|where|"
    r"wherever|even|that|which|who|whose|having|being|on|in|at|from|by|for|during|with|without|despite|like|to)\b"
    r"(?!.*,)",
    re.IGNORECASE,
)
_OPENS = lazy_regex(
    r"\b(?:that|if|when|because|who|which|where|how|why|whether|since|until|while|after|before|as|than|think|"
    r"thinks|say|"
    r"says|said|told me|tells me|swears|guess|know|hope|reckon|so)$",
    re.IGNORECASE,
)
_FINITE = lazy_regex(rf"(?<=\s)(?:{_THIRD}|{PAST}|{_BASE}|[a-z]{{3,}}ed)\b")
_TWO_SIDED = lazy_regex(
    r"^(?P<subject>I|[Ww]e|[Hh]e|[Ss]he|(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Tt]he)(?: (?!is\b|are\b|"
    r"was\b)[\w'’-]+,?){1,4}|"
    r"(?!It\b|This\b|That\b|There\b)[A-Z][\w'’-]+(?: [a-z]+)?) (?P<be>am|is|are|was|were) (?P<one>[^,;]{1,60}?),? "
    r"and (?P<two>(?:still |now |"
    r"already |also |all )?"
    r"(?:in|at|on|from|an?|the|based|alone|married|allergic|vegan|vegetarian|left-handed|\d+|[a-z]+ (?:years|"
    r"months) \w+)\b[^;]*)$"
)
_DETERMINED = lazy_regex(r"^(?:the|an?) ", re.IGNORECASE)
_SIDE = lazy_regex(
    r",? (?:by the way|of all things|to be honest|believe it or not|would you believe(?: it)?|thank "
    r"(?:goodness|god)|touch wood|"
    r"knock on wood|mind you|it turns out|of course|obviously|apparently|naturally|I must say|I guess|I "
    r"suppose|I think|"
    r"I swear|as far as I know|if I remember right|needless to say|sad to say|as it happens|in case you wondered|"
    r"you know|though|tho|lol|lmao|haha|btw|tbh|imo|ngl)(?=[,.!;:?]|$)",
    re.IGNORECASE,
)
_COMMENT = lazy_regex(
    r", (?:which (?:is|was|means?|explains?|makes?|made|would|sounds?|feels?|seems?|says?|has been)|"
    r"(?:absurd|strange|odd|weird|silly|sad|funny|crazy|annoying|hard) as (?:that|it) (?:is|sounds?|may be)|"
    r"as (?:he|she|they|everyone) (?:tells?|says?|told)|you(?:'d| would) think|whatever|"
    r"as [a-z]+ as [a-z]+ (?:allows|can be)|in case I|best|worst|(?:it|that) (?:was|is) (?:just |all |far |"
    r"much )?(?:too|so|a bit|very|really) [a-z]+$)\b[^;]*$",
    re.IGNORECASE,
)
_TELLS_MORE = lazy_regex(r"\d|(?-i:[^.] [A-Z][a-z])|\bcalled\b")


def split(sentence: str) -> list[str]:
    """Return the statements that `sentence` (contractions spelled out) makes, in order."""
    pieces: list[str] = []
    start = 0
    thing = ""
    for cut in _CUT.finditer(sentence):
        left, right = sentence[start : cut.start()], sentence[cut.end() :]
        if not _may_cut(left, right, cut.group()):
            continue
        whose = _OF_A_THING.match(left) if right.lower().startswith("it ") else None
        if right.lower().startswith("it ") and whose is None:
            continue
        pieces.append(thing + left)
        start, thing = (cut.end() + 2, whose["np"]) if whose else (cut.end(), "")
    pieces.append(thing + sentence[start:])
    return [one for piece in pieces for one in _sides(without_comment(piece.strip(" ,;:–—-"))) if one]


def without_comment(statement: str) -> str:
    """Return `statement` without what only comments on it: "…, would you believe", "…, which is awkward"."""
    statement = _SIDE.sub("", statement)
    comment = _COMMENT.search(statement)
    if comment and comment.start() > 8 and not _TELLS_MORE.search(comment.group()[1:]):
        statement = statement[: comment.start()]
    return statement.strip(" ,")


_ANSWERS = lazy_regex(r"(?:he|she|they|I|we) (?:said (?:yes|no)|agreed|accepted|refused|declined)\b", re.IGNORECASE)
"""Words that mean nothing without the question they answer."""


def _may_cut(left: str, right: str, mark: str) -> bool:
    """Return whether both sides say something, and the right one does not depend on the left."""
    if mark.strip() == ";":
        return len(left.split()) > 1
    if mark.strip().startswith(":"):
        return True
    if mark.count(",") and not mark.strip(" ,") and (_SUBORDINATE.match(left) or not _speaks(left)):
        return False
    if _ANSWERS.match(right) or not _speaks(left) or _OPENS.search(left) or _in_brackets(left):
        return False
    if _SUBORDINATE.match(left) and "," not in left:
        return False
    last = left.rsplit(",", 1)[-1]
    return not (re.search(r"\bbetween\b|\bboth\b[^,]*$", last) and "," not in mark) and len(right.split()) > 1


_WISH = lazy_regex(
    r"(?:please |just |and |so )*(?:keep|stop|call me|do not|never|always|use|remind me|no more|avoid|remember) [a-z]",
    re.IGNORECASE,
)


def _speaks(left: str) -> bool:
    """Return whether there is a verb behind a subject, or a wish: "Keep it short, I am busy"."""
    return bool(_FINITE.search(left) or _WISH.match(left))


def _in_brackets(left: str) -> bool:
    return left.count("(") > left.count(")") or left.count('"') % 2 == 1 or left.count("“") > left.count("”")


_IN_TRADE = lazy_regex(
    r"^(?P<subject>[A-Z][a-z]+) is (?P<what>an? (?:[a-z-]+ ){0,3}[a-z]*(?:er|or|ist|ian|nurse|vet|cook|chef|"
    r"guard|clerk|surgeon)) in "
    r"(?P<place>(?:the )?[A-Z][\w-]+(?: [A-Z][\w-]+)?)(?P<end>[.!]?)$"
)
_HAVE = lazy_regex(
    r"^(?P<have>(?:I|we) (?:have|have got|own) (?:an?|the|my) (?P<noun>[\w -]+?)) (?:from|built in) "
    r"(?P<year>(?:17|18|19|20)\d\d)"
    r"(?:,? (?P<place>(?:in|at) [^,;]+))?(?P<end>[.!]?)$",
    re.IGNORECASE,
)


def _sides(statement: str) -> list[str]:
    """Return two things that are said of one subject: "Maeve is eight and in third grade"."""
    trade, have = _IN_TRADE.match(statement), _HAVE.match(statement)
    if trade:
        return [f"{trade['subject']} is {trade['what']}", f"{trade['subject']} works in {trade['place']}"]
    if have:
        noun = have["noun"].split()[-1]
        place = [f"The {noun} is {have['place']}"] if have["place"] else []
        return [have["have"], f"The {noun} is from {have['year']}", *place]
    both = _TWO_SIDED.match(statement)
    if (
        both is None
        or re.search(r"\b(?:between|both|who|which|that)\b", both["one"])
        or re.search(r"\b(?:I|we|he|she|they|is|are|was|were|has|have|had)\b", both["two"])
        or (_DETERMINED.match(both["two"]) and _FINITE.search(both["two"]))
    ):
        return [statement]
    subject = both["subject"].strip()
    return [*_sides(f"{subject} {both['be']} {both['one']}"), f"{subject} {both['be']} {both['two']}"]
