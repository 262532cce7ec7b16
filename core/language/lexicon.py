"""Word lists for comparing statements: negation, modality, synonyms, numbers."""

from __future__ import annotations

import re

from core.language.lazy_regex import lazy_regex
from core.language.terms import terms

HAN = lazy_regex(r"[\u3400-\u9fff\uf900-\ufaff]")
_LETTER = rf"(?:(?!{HAN.pattern})[^\W_])"
TOKEN = lazy_regex(
    rf"(?<!\w)[+-]?\d+(?:[.,:/-]\d+)*(?![a-zA-Z])|[〇零一二三四五六七八九十百千万亿两]{{1,20}}"
    rf"(?=[年月日号点个岁次元块只名位本辆天周])"
    rf"|{HAN.pattern}|{_LETTER}+(?:[-.'/+]{_LETTER}+)*|[^\w\s]"
)
THOUSANDS = lazy_regex(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
NUMERAL = lazy_regex(r"[〇零一二三四五六七八九十百千万亿两]+")
NUMERALS = dict(zip("〇零一二两三四五六七八九十", "0 0 1 2 2 3 4 5 6 7 8 9 10".split(), strict=True))

FORMS = tuple(
    (lazy_regex(pattern, re.IGNORECASE), form)
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
        (r"\bnot\b ([^,;.!?]{1,80}?) any(?: ?more|longer)\b", r"nolonger \1"),
        (r"\bany ?more\b|\bany longer\b", "nolonger"),
        (r"\bno longer\b|\bused to\b|\b(?:gave|given) up\b", "nolonger"),
        (r"\b(?:says?|said|mention(?:s|ed)?|note[sd]?|state[sd]?|shared?s?) that\b", ""),
        (r"\b(?:every|each) (?:single )?day\b", "daily"),
        (r"\b(?:every|each) week\b", "weekly"),
        (r"\b(?:every|each) month\b", "monthly"),
        (r"\b(?:every|each) year\b", "yearly"),
        (r"\bat the moment\b|\bright now\b|\bthese days\b|\bat present\b|\bas well\b|\ba lot\b", ""),
        (r"不再|再也不|戒了", " nolonger "),
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

HINTS = tuple(
    "'|can't|cannot|like to|wants to|along with|together with|supportive of|ful for|passionate about|pride in|used to|"
    "no longer|gave up|given up|any more|anymore|any longer| that|every|each|at the moment|right now|these days|"
    "at present|as well|a lot".split("|")
)
"""One of these stands in every text without Chinese characters in which any of those ways is found."""

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
PLURAL = lazy_regex(r"^[a-z]{2,}[^s\W\d]s$")
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
"""Stems whose addition makes a different statement rather than a more detailed one."""

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

PLEASANTRY = lazy_regex(
    r"(?:hi|hello|hey|thanks?|thankyou|goodmorning|goodevening|goodnight|bye|goodbye|ok|okay|yes|no|sure|great|please"
    r"|welcome|cool|nice|you|so|much|very|alot|there|again|all|are|你好|您好|谢谢|好的|再见|早上好|晚安|嗯|哈|啊|了|您|你)*"
)
