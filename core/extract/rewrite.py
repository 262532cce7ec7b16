"""What someone says of themselves, said about them: "I moved, my sister helped" → "Ada moved, their sister helped".

The first mention is the name; later ones are singular "they", which fits everyone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.extract.tables_zh.words import KIN as KIN_ZH

_ADVERBS = (
    "really just also always never usually often still currently recently actually only even already mostly sometimes "
    "finally definitely probably absolutely generally normally typically rarely hardly barely now then truly totally "
    "honestly simply mainly certainly regularly occasionally frequently personally both all basically eventually "
    "originally officially strongly especially particularly kind sort of deeply highly seriously "
    "mostly firmly strictly "
    "gladly happily proudly literally almost nearly quite soon ever too no longer".split()
)
_LY_VERBS = frozenset("fly rely apply reply supply comply multiply rally bully tally".split())
_ADVERB_SET = frozenset(_ADVERBS)
_UNCHANGED = frozenset(
    "will would can could should must might may shall had was did cannot ought been used went got made met took found "
    "bought won saw ran left quit wrote gave built began spent came brought lost felt thought knew "
    "told said grew became "
    "heard kept taught sold fell broke drew drove ate drank slept spoke stood sat sang swam threw "
    "understood wore held paid "
    "sent caught chose fought flew forgot led lent rode rose shot stuck struck swore tore woke "
    "rewrote redid forgave froze "
    "hid dug fed fled bent bled bred dealt dreamt leapt learnt lit meant meditated hung laid lay "
    "let put cut hit hurt set "
    "shut split spread bet cost burst cast upset rang sank blew shook sought spun swung stole sped "
    "stung strode bound clung crept overcame underwent undertook withdrew "
    "s not who whom that which and or but with in on at for to from as the a an".split()
)
_PRESENT_ED = frozenset("need feed speed proceed succeed exceed breed bleed weed seed heed embed".split())
BASE_VERBS = frozenset(
    "live work love like enjoy want need have play go run study teach speak eat drink drive own use "
    "make take try plan hope "
    "prefer hate know think feel believe write paint draw cook bake dance sing swim hike travel "
    "visit help volunteer coach "
    "practice train read watch collect grow keep spend get give find see meet look start do am come bring build create "
    "design code develop manage lead sell buy save earn pay wake sleep walk ride cycle bike climb "
    "ski surf fish hunt garden "
    "knit sew listen record perform compete attend tend care worry miss value appreciate support "
    "struggle suffer dislike "
    "avoid wear wish dream believe consider commute jog meditate stretch relax rest stay remember "
    "follow share teach".split()
)
_SELF = re.compile(r"(?:I am|My (?:first |full )?name is|我是|我叫|我的名字[是叫]) ?", re.IGNORECASE)
_AFTER_NAME = re.compile(r",? and |,? but |[,，。.!]\s*|$", re.IGNORECASE)
_KIN = (
    r"(?:[Mm]y|[Oo]ur) (?!(?:[a-z]+ )?(?:wife|husband|partner|m[ou]m|mother|dad|father|sister|brother|son|daughter|"
    r"friend|boss|roommate|neighbou?r|cousin|uncle|aunt|kids?|parents|dog|"
    r"cat) (?!and\b)[a-z])(?:[a-z]+(?:-[a-z]+)? ){0,2}?[a-z]+(?: [A-Z][a-z]+)?"
)
_CLAUSE = r"(?:^|(?<=, )|(?<=\band )|(?<=\bbecause )|(?<=\bso )|(?<=\bwhen )|(?<=\bthat )|(?<=\bwhere )|(?<=\bsince ))"
_JOINT = re.compile(
    rf"{_CLAUSE}(?:(?P<first>{_KIN}) and I\b|(?:[Mm]e|I) and (?P<second>{_KIN})(?= [a-z])|"
    rf"(?P<named>[A-Z][a-z]+) and I\b)(?! am\b| was\b)"
)
_TOKEN = re.compile(r"[\"“][^\"“”]*[\"”]|[A-Za-z]+(?:-[A-Za-z]+)+|[A-Za-z]+(?:'[a-z]+)?|[^A-Za-z\"“]+|.")
_TOGETHER = re.compile(
    r"\b(?:with|and) (?:my|our) (?P<who>(?:whole |entire |little )?(?:family|husband|wife|partner|kids|children|"
    r"friends?|girlfriend|boyfriend|"
    r"son|daughter|team|teammates|colleagues|coworkers|parents|mom|mum|dad|brother|sister|siblings|dogs?|"
    r"fianc[ée]e?|roommates?|band|crew|church|club))\b"
)


@dataclass(slots=True)
class _Voice:
    """Who speaks and who is spoken to, and how far the sentence has already named the speaker."""

    name: str
    addressee: str | None
    company: str | None
    named: bool = False
    subject: bool = False


def with_article(noun: str) -> str:
    """`noun` with "a" or "an" before it, unless it is counted ("two cats") or a title ("CEO")."""
    bare = re.match(r"\d|(?:two|three|four|five|six|several|many|head|chief|lead|[A-Z]{2,})\b", noun)
    vowel = re.match(r"(?!uni|eu|one\b|us)[aeiou]", noun, re.IGNORECASE)
    return noun if bare else f"an {noun}" if vowel else f"a {noun}"


def without_own_name(sentence: str, name: str) -> str:
    """`sentence` without an introduction that says no more than `name`, which is known: "I am Ada and …"."""
    # No pattern with a name in it: `re` keeps those it was given.
    said = _SELF.match(sentence)
    end = said.end() + len(name) if said else 0
    after = _AFTER_NAME.match(sentence, end) if said and sentence[said.end() : end].lower() == name.lower() else None
    rest = sentence[after.end() :] if after else sentence
    if after and re.match(r"(?:an?|the|from|\d+)\b", rest):
        return f"I am {rest}"
    return rest[:1].upper() + rest[1:]


def third_person(sentence: str, name: str, addressee: str | None = None, context: str = "") -> str:
    """`sentence` (contractions spelled out) about `name`; "you" becomes `addressee`; `context` says who "we" are."""
    voice = _Voice(name, addressee, _company(context, sentence))
    tokens = _TOKEN.findall(_joined(sentence))
    out: list[str] = []
    agree = False
    for place, token in enumerate(tokens):
        replaced, verb_follows = _replacement(token, tokens, place, voice)
        if verb_follows is not None:
            agree = verb_follows
        elif agree and replaced == token and token[0].isalpha() and not _is_adverb(token):
            replaced, agree = _agreed(token, tokens), False
        out.append(replaced)
    text = _coordinated("".join(out), name)
    return text[:1].upper() + text[1:] if not text.startswith(name) else text


def _company(context: str, sentence: str) -> str | None:
    """Who "we" are beside the speaker; None where the sentence itself says "with my family"."""
    if _TOGETHER.search(sentence):
        return None
    together = _TOGETHER.search(context)
    return f"their {together['who']}" if together else "others"


def _joined(sentence: str) -> str:
    """Two people as one subject ("my wife and I"): plural, the name first."""
    match = _JOINT.search(sentence)
    if not match:
        return sentence
    who = re.sub(r"^(?:my|our)\b", "their", match["named"] or match["first"] or match["second"], flags=re.IGNORECASE)
    return f"{sentence[: match.start()]}\x00 and {who}{sentence[match.end() :]}"


def _is_adverb(token: str) -> bool:
    low = token.lower()
    return low in _ADVERB_SET or (low.endswith("ly") and low not in _LY_VERBS)


def _replacement(token: str, tokens: list[str], place: int, voice: _Voice) -> tuple[str, bool | None]:
    """What stands for `token`, and whether a verb that must agree with a single person follows (None: no change)."""
    if "\x00" in token:
        voice.named = voice.subject = True
        return token.replace("\x00", voice.name), False
    if token == "I":
        return _self(tokens, place, voice)
    low = token.lower()
    if token[0].isupper() and place:  # "The Last of Us": part of a title
        return token, None
    if low in {"we", "us"}:
        alone = low == "we" and not voice.subject and voice.company is None
        return _plural(low, voice), alone
    return _owned(low, voice) or token, None


def _self(tokens: list[str], place: int, voice: _Voice) -> tuple[str, bool]:
    first = not voice.subject
    voice.subject = voice.named = True
    inverted = "".join(tokens[max(place - 2, 0) : place]).strip().lower() in _INVERTING
    return (voice.name, not inverted) if first else (_they(tokens, place), False)


def _owned(low: str, voice: _Voice) -> str | None:
    """my, me, mine, your, you … after who they stand for; None for any other word."""
    if low in {"my", "our"}:
        shown = "their" if voice.named else f"{voice.name}'s"
        voice.named = True
        return shown
    if low in _OBJECTS:
        known = voice.subject or low.endswith(("self", "selves"))
        voice.subject = voice.named = True
        return _OBJECTS[low] if known else _NAMED[low].format(voice.name)
    if low in {"you", "your", "yours", "yourself"} and voice.addressee:
        return voice.addressee if low in {"you", "yourself"} else f"{voice.addressee}'s"
    return None


_OBJECTS = {"me": "them", "myself": "themselves", "mine": "theirs", "ours": "theirs", "ourselves": "themselves"}
_NAMED = {"me": "{}", "mine": "{}'s", "ours": "{}'s"}
_INVERTING = frozenset("can could do did does will would should have had may might must am was".split())


def _they(tokens: list[str], place: int) -> str:
    for later in range(place + 1, min(place + 6, len(tokens))):
        if tokens[later] in {"am", "was"}:
            tokens[later] = {"am": "are", "was": "were"}[tokens[later]]
            break
        if tokens[later].strip() and not _is_adverb(tokens[later]):
            break
    return "they"


def _plural(low: str, voice: _Voice) -> str:
    if voice.subject:
        return {"we": "they", "us": "them"}[low]
    voice.named = True
    if low == "we":
        voice.subject = True
    return f"{voice.name} and {voice.company}" if voice.company else voice.name


def _agreed(token: str, tokens: list[str]) -> str:
    """The verb after the name: am → is, have → has, live → lives; the past and modals stay."""
    low = token.lower()
    irregular = {"am": "is", "has": "has", "have": "has", "do": "does", "go": "goes", "was": "was", "are": "is"}
    if low in irregular:
        return irregular[low]
    if low in _UNCHANGED or (low.endswith("ed") and low not in _PRESENT_ED) or _PARTICIPLE.search(low):
        return token
    if low == "read" and re.search(
        r"\b(?:yesterday|last|ago|back|finished|just|recently|once|before|was|were|when|on \d)", "".join(tokens)
    ):
        return token
    return with_s(token)


_PARTICIPLE = re.compile(r"(?<!^s)(?<!^r)(?<!^w)(?<!^br)(?<!^cl)(?<!^sw)(?<!^st)(?<!^spr)ing$")


def with_s(verb: str) -> str:
    """The third person singular of a regular verb: live → lives, study → studies, teach → teaches."""
    if re.search(r"(?:s|sh|ch|x|z|o)$", verb):
        return f"{verb}es"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}s"


_FIRST_VERB = re.compile(
    r"^(?:[a-z]+ly |also |always |still |usually |often )*(?P<verb>is|has|does|"
    r"[a-z]+s)\b(?P<between>[^.;!?]*?)(?=,? (?:and|but|or) )"
)
_SECOND_VERB = re.compile(
    r",? (?:and|but|or) (?P<adv>(?:[a-z]+ly |also |always |still |usually |often |"
    r"then )*)(?P<verb>[a-z]+)\b(?= (?!is\b|are\b|was\b)\w)"
)


def _coordinated(text: str, name: str) -> str:
    """The second verb of one subject agrees too."""
    start = text.find(name)
    if start < 0:
        return text
    rest = text[start + len(name) :].lstrip()
    offset = len(text) - len(rest)
    first = _FIRST_VERB.match(rest)
    if not first or re.search(
        r"\b(?:to|will|would|can|could|should|not|who|that|they|going|how|what|which|where|is|are|was|because|it)\b",
        first["between"],
    ):
        return text
    second = _SECOND_VERB.match(rest, first.end())
    if not second or second["verb"] not in BASE_VERBS:
        return text
    verb = second["verb"]
    shown = {"am": "is", "have": "has", "do": "does"}.get(verb) or with_s(verb)
    at = offset + second.start("verb")
    return f"{text[:at]}{shown}{text[at + len(verb) :]}"


def third_person_zh(sentence: str, name: str, addressee: str | None = None) -> str:
    """The same for Chinese: 我 → the name, 我们 → the name and others."""
    text = re.sub(
        r"^(?:其实|对了|嗯|哦|啊|那个|不过|但是|而且|所以|然后|另外|还有|顺便说一下|说实话|老实说|是的|"
        r"对|好的|哈哈+)[，,、！!\s]*",
        "",
        sentence,
    )
    text = re.sub(
        r"我们(?:家|公司|学校|团队|班)",
        lambda m: f"{name}的{m.group()[2:]}" if m.group() != "我们家" else f"{name}家",
        text,
    )
    text = re.sub(rf"我们?(?=(?:{KIN_ZH}))|我(?=(?:家[乡人里庭]|公司|生日|名字))", lambda _: f"{name}的", text)
    text = text.replace("我们俩", f"{name}和同伴").replace("我们", f"{name}和其他人").replace("咱们", f"{name}和其他人")
    text = text.replace("我自己", name).replace("我", name)
    text = re.sub(r"您|你(?!好)", lambda _: addressee or "助手", text)
    return text if text.startswith(name) or name in text else f"{name}：{text}"
