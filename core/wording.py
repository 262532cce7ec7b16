"""What a statement says, as far as words show it: numbers, names, denials, its words in one form and order. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.text import STOPWORDS, terms

READ = 16_384
"""Statements whose reading is kept in memory: a sweep meets the same neighbours again and again."""

DERIVED = 5
"""Letters that words must share at their beginning to be taken for one where the vectors say so too."""


@dataclass(frozen=True, slots=True)
class Wording:
    """One statement, taken apart.

    `words`: what carries meaning, in order, synonyms and inflections in one form; `apart`: for each of them whether a
    comma or a small word stands before it; `order`: they and the words that give them a direction. `spoken`: every word
    as it stands. `trails`: whether it ends with a small word. `denials`: how often it says no; `ended`:
    whether it says that something is over. `bound`: words that turn the whole statement into another one (might, wants,
    before, sister). `past`, `present`: verbs by the form they have; `single`, `plural`: things likewise.
    """

    numbers: frozenset[tuple[str, int]]
    names: frozenset[str]
    signs: frozenset[str]
    denials: int
    ended: bool
    bound: frozenset[str]
    words: tuple[str, ...]
    apart: tuple[bool, ...]
    order: tuple[str, ...]
    spoken: tuple[str, ...]
    trails: bool
    past: tuple[str, ...]
    present: tuple[str, ...]
    single: frozenset[str]
    plural: frozenset[str]


@lru_cache(maxsize=READ)
def read(text: str) -> Wording:
    """Take a statement apart; the same text always gives the same."""
    tokens = TOKEN.findall(_one_form(text))
    spoken = [t.casefold() for t in tokens if not _is_sign(t)]
    stems = [_stem(word) for word in spoken]
    kept = list(_content(tokens))
    return Wording(
        numbers=frozenset(Counter(filter(None, map(_number, spoken))).items()),
        names=frozenset(_names(tokens)),
        signs=frozenset(word for word, _ in kept if HAN.fullmatch(word)),
        denials=sum(word in DENIALS or stem in DISLIKES for word, stem in zip(spoken, stems, strict=True)),
        ended=any(word in ENDINGS for word in spoken),
        bound=BOUND.intersection(spoken) | BOUND_STEMS.intersection(stems),
        words=tuple(word for word, _ in kept),
        apart=tuple(apart for _, apart in kept),
        order=tuple(meant for w in spoken if (meant := w if w in DIRECTED else _meant(w))),
        spoken=tuple(spoken),
        trails=bool(spoken) and not _meant(spoken[-1]),
        past=tuple(_verbs(spoken, past=True)),
        present=tuple(_verbs(spoken, past=False)),
        single=frozenset(stem for word, *after in _threes(spoken) if word in ARTICLES for stem in map(_stem, after)),
        plural=frozenset(stem for word, stem in zip(spoken, stems, strict=True) if PLURAL.search(word)),
    )


def denial(one: Wording, other: Wording) -> str | None:
    """What one denies and the other says; None: they agree in that."""
    if one.ended != other.ended:
        return "one says that it is over"
    return "one denies what the other says" if one.denials != other.denials else None


def difference(one: Wording, other: Wording) -> str | None:
    """What else forbids taking two statements for one; None: nothing does."""
    small, others = (Counter(w for w in said.spoken if w in SMALL) for said in (one, other))
    reasons = {
        "numbers or dates differ": one.numbers != other.numbers,
        "names differ": bool(
            one.names - set(other.spoken)
            or other.names - set(one.spoken)
            or (one.signs - other.signs and other.signs - one.signs)
        ),
        "a small word stands in another's place": bool(small - others and others - small),
        "one depends on something, or is about someone else": one.bound != other.bound,
        "one was so and the other is": _was_once(one, other) or _was_once(other, one),
        "one is about a single thing": _counts_apart(one, other) or _counts_apart(other, one),
        "what stands before and after has changed places": _turned(one.order, other.order),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def is_same(one: Wording, other: Wording) -> bool:
    """Whether they say the same in the same words, or with a phrase moved from the end to the front."""
    return bool(one.words) and _turns_into(one.words, other.words)


def is_derived(one: Wording, other: Wording) -> bool:
    """The same, where words that share their beginning count as one (appreciates, appreciative)."""
    if not one.words or len(one.words) != len(other.words):
        return False
    return all(
        a == b or (len(a) >= DERIVED and a.isalpha() and a[:DERIVED] == b[:DERIVED])
        for a, b in zip(one.words, other.words, strict=True)
    )


def says_more(one: Wording, other: Wording) -> bool:
    """Whether `one` is `other` with something set apart behind it: `…, finding it hard`, `… with milk`."""
    length = len(other.words)
    within = 1 < length < len(one.words) and one.words[:length] == other.words
    return within and one.apart[length] and not other.trails


def begins_with(one: Wording, other: Wording) -> bool:
    """The same, where the beginning is `other` word for word."""
    return says_more(one, other) and one.spoken[: len(other.spoken)] == other.spoken


def is_empty(text: str, subject: str) -> str | None:
    """Why nothing can be learnt from a text about a subject; None: something can."""
    wording = read(text)
    if text.rstrip(" \"'”’」)").endswith(("?", "？")):
        return "a question"
    if PLEASANTRY.fullmatch("".join(wording.spoken)):
        return "a pleasantry"
    return None if set(wording.words) - set(read(subject).words) else "no word that says anything"


def _one_form(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    for pattern, form in FORMS:
        plain = pattern.sub(form, plain)
    return plain


def _is_sign(token: str) -> bool:
    return not token[0].isalnum() and not (len(token) > 1 and token[1].isdigit()) and token[0] != "+"


def _content(tokens: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The words that carry meaning, each with whether something sets it apart from the one before."""
    apart = False
    for token in tokens:
        word = token.casefold()
        is_sign = _is_sign(token)
        meant = _meaning_of_sign(word) if is_sign else _meant(word)
        if meant:
            yield meant, apart
        apart = not meant and (apart or word in LINKS or (is_sign and word in SEPARATORS))


def _meaning_of_sign(sign: str) -> str:
    """Currency, emoji and marks of a script carry meaning; punctuation does not."""
    return "" if unicodedata.category(sign[0])[0] in "PZ" else sign


def _meant(word: str) -> str:
    """What a word stands for; empty for one that says nothing by itself, or says no."""
    if word in DENIALS or word in ENDINGS or word in SILENT:
        return ""
    stem = _number(word) or _stem(word)
    return "like" if stem in DISLIKES else stem


@lru_cache(maxsize=READ)
def _stem(word: str) -> str:
    """A word in the form that stands for it and its synonyms; empty for one that says nothing by itself."""
    if word in STOPWORDS:
        return ""
    base = IRREGULAR.get(word, word)
    stemmed = terms(base)[0] if base.isascii() and base.isalpha() else word
    return SYNONYMS.get(stemmed, stemmed)


def _number(word: str) -> str:
    """A number, month or weekday in one form; empty for any other word."""
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    if word[-1].isdigit() and not any(c.isalpha() for c in word):
        return word.replace(",", "") if THOUSANDS.fullmatch(word) else word
    return NUMERALS.get(word, word) if word in CALENDAR or NUMERAL.fullmatch(word) else ""


def _names(tokens: Sequence[str]) -> Iterator[str]:
    """Words that look like names or identifiers: capitalised behind the first, or letters mixed with digits."""
    for place, token in enumerate(tokens):
        word = token.casefold()
        mixed = any(c.isdigit() for c in token) and any(c.isalpha() for c in token)
        if mixed or (place and token[0].isupper() and word not in STOPWORDS and word not in CALENDAR):
            yield word


def _verbs(spoken: Sequence[str], *, past: bool) -> Iterator[str]:
    for word in spoken:
        if word in BEING:
            if BEING[word][1] is past:
                yield BEING[word][0]
        elif word.isascii() and word.isalpha() and not word.endswith("ing"):
            stem = _stem(word)
            if stem and (word in IRREGULAR or (word.endswith("ed") and stem != word)) is past:
                yield stem


def _was_once(one: Wording, other: Wording) -> bool:
    was, is_ = Counter(one.past) - Counter(other.past), Counter(other.present) - Counter(one.present)
    return not was.keys().isdisjoint(is_)


def _counts_apart(one: Wording, other: Wording) -> bool:
    """Whether one speaks of a dog, and the other of dogs."""
    return bool((one.single - one.plural) & (other.plural - other.single) - {""})


def _threes(spoken: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(spoken[at : at + 3]) for at in range(len(spoken)))


def _turned(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether texts that compare or direct (tea over coffee, from Rome to Bern) share words in another order."""
    if not (DIRECTED.intersection(one) or DIRECTED.intersection(other)):
        return False
    counts, others = Counter(one), Counter(other)
    mine, theirs = (tuple(w for w in words if counts[w] == others[w]) for words in (one, other))
    return not _turns_into(mine, theirs)


def _turns_into(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one is the other, whole or with its end moved to the front."""
    if one == other:
        return True
    if len(one) != len(other) or len(one) < 3:  # noqa: PLR2004 - of two words, each order is the other's turn
        return False
    twice = one + one
    return any(twice[at : at + len(one)] == other for at in range(1, len(one)))


HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LETTER = rf"(?:(?!{HAN.pattern})[^\W_])"
TOKEN = re.compile(
    rf"(?<!\w)[+-]?\d+(?:[.,:/-]\d+)*(?![a-zA-Z])|[〇零一二三四五六七八九十百千万亿两]+(?=[年月日号点个岁次元块只名位本辆天周])"
    rf"|{HAN.pattern}|{_LETTER}+(?:[-.'/+]{_LETTER}+)*|[^\w\s]"
)
THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
NUMERAL = re.compile(r"[〇零一二三四五六七八九十百千万亿两]+")
NUMERALS = dict(zip("〇零一二两三四五六七八九十", "0 0 1 2 2 3 4 5 6 7 8 9 10".split(), strict=True))

FORMS = tuple(
    (re.compile(pattern, re.IGNORECASE), form)
    for pattern, form in (
        (r"\bcan't\b|\bcannot\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"'s\b|(?<=s)'(?!\w)", ""),
        (r"'m\b|'re\b|'ve\b|'d\b|'ll\b", ""),
        (r"\b(?:would|['’]d) like to\b|\bwants to\b", "want to"),
        (r"\b(?:along|together) with\b", "with"),
        (r"\b(?:is|are) supportive of\b", "supports"),
        (r"\b(?:is|are) (?:grateful|thankful) for\b", "appreciates"),
        (r"\b(?:is|are) passionate about\b", "loves"),
        (r"\b(?:takes?|taking) pride in\b", "is proud of"),
        (r"\bno longer\b|\bused to\b|\b(?:gave|given) up\b", "nolonger"),
        (r"\b(?:says?|said|mention(?:s|ed)?|note[sd]?|state[sd]?|shared?s?) that\b", ""),
        (r"\b(?:every|each) (?:single )?day\b", "daily"),
        (r"\b(?:every|each) week\b", "weekly"),
        (r"\b(?:every|each) month\b", "monthly"),
        (r"\b(?:every|each) year\b", "yearly"),
        (r"\bat the moment\b|\bright now\b|\bthese days\b|\bat present\b|\bas well\b|\ba lot\b", ""),
        (r"不再|戒了", "nolonger "),
        (r"讨厌|反感", "不喜欢"),
        (r"从来不|从来没有?|从不|从未|没有|並不|并不", "不"),
        (r"(?<![可恋热])爱(?=[吃喝看听玩打读])|喜爱|热爱", "喜欢"),
        (r"目前|现在|如今|平时|真的|非常|特别|十分|其实", ""),
        (r"居住", "住"),
        (r"购买", "买"),
        (r"小孩", "孩子"),
        (r"母亲", "妈妈"),
        (r"父亲", "爸爸"),
        (r"常常|时常", "经常"),
        (r"每天都", "每天"),
    )
)  # fmt: skip
"""Ways of saying the same that are longer than a word."""

CALENDAR = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday".split()
)
NUMBER_WORDS = {
    word: str(n)
    for n, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split(),
        2,
    )
} | {w: w for w in "thirty forty fifty sixty seventy eighty ninety hundred thousand million half twice".split()}

DENIALS = frozenset(
    "no not never none nobody nothing neither nor without hardly nolonger stopped stops quit quits former formerly "
    "不 没 沒 無 无 未 别 別 勿".split()
)
ENDINGS = frozenset("nolonger stopped stops quit quits former formerly anymore".split())
LINKS = frozenset(
    "and with at in on for by as because since while which that who where so but or of about during along".split()
)
SEPARATORS = frozenset(",;:，；：、。.(（—–")
SILENT = frozenset(
    "really very quite truly definitely actually also too just simply currently now nowadays presently still own s "
    "的 了 着 在 是 我 你 您 他 她 它 们 吗 呢 啊 吧 也 都 就 很 过".split()
)
"""Words that may be there or not."""

SMALL = frozenset("in on at by with for to of about into he she his her him my your our we you 我 你 他 她".split())
"""Words that may be there or not, but not in each other's place."""

BEING = {
    "is": ("be", False), "are": ("be", False), "am": ("be", False), "was": ("be", True), "were": ("be", True),
    "has": ("have", False), "have": ("have", False), "had": ("have", True),
}  # fmt: skip

ARTICLES = frozenset("a an another one".split())
PLURAL = re.compile(r"^[a-z]{2,}[^s\W\d]s$")
BOUND = frozenset(
    "might may could would should will shall must can maybe perhaps probably almost nearly partly only if unless until "
    "till before after against except instead than from under over between".split()
)
BOUND_STEMS = frozenset(
    "want wish hope plan intend consid dream tri attempt pretend refus forget sister brother mother father son "
    "daughter cousin aunt uncl grandmoth grandfath husband wife partner boyfriend girlfriend friend boss colleagu "
    "neighbor "
    "neighbour roommat parent joke rumour rumor novel fiction claim alleg suppos".split()
)
"""Where one of these is added, the statement is not the same with more to it, but another."""

DIRECTED = frozenset("than over from to before after instead rather for by 比 从 到 给 被 把".split())
DISLIKES = frozenset("hate dislik detest loath".split())

IRREGULAR = dict(
    pair.split("=")
    for pair in (
        "went=go got=get took=take made=make gave=give came=come bought=buy began=begin saw=see met=meet found=find "
        "told=tell felt=feel left=leave became=become ran=run sold=sell kept=keep knew=know paid=pay spoke=speak "
        "taught=teach wrote=write drove=drive ate=eat drank=drink slept=sleep won=win lost=lose spent=spend "
        "thought=think brought=bring grew=grow held=hold sent=send sang=sing chose=choose flew=fly broke=break "
        "built=build heard=hear swam=swim rode=ride wore=wear caught=catch fell=fall stood=stand understood=understand"
    ).split()
)
"""Verbs whose past does not end in -ed."""

SYNONYMS = {
    terms(word)[0]: terms(group.split()[0])[0]
    for group in (
        "like enjoy love adore",
        "live reside dwell",
        "start begin commence",
        "buy purchase",
        "child kid children",
        "mother mom mum",
        "father dad",
        "often frequently regularly usually",
        "big large",
        "help assist",
        "film movie",
        "photo photograph picture",
        "bicycle bike",
        "doctor physician",
        "happy glad",
        "grateful thankful",
        "try attempt",
        "get receive obtain",
        "hard tough difficult",
        "wonderful amazing awesome fantastic",
        "finish complete",
        "trip journey",
        "recently lately",
        "shop store",
        "important significant",
        "speak talk",
        "quickly fast",
        "relocate move",
        "work job",
    )
    for word in group.split()
}
"""Words that stand for each other, by their stems."""

PLEASANTRY = re.compile(
    r"(?:hi|hello|hey|thanks?|thankyou|goodmorning|goodevening|goodnight|bye|goodbye|ok|okay|yes|no|sure|great|please"
    r"|welcome|cool|nice|you|so|much|very|alot|there|again|all|are|你好|您好|谢谢|好的|再见|早上好|晚安|嗯|哈|啊|了|您|你)*"
)
