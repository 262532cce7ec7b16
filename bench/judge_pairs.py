"""Labelled pairs of statements for `bench/judge.py`, made by rule from public conversations and from our own sentences.

The conversations stay where they are. Written by hand are the rules, the Chinese sentences, and which observations of
LoCoMo's annotators say the same twice (`judge_labels.json`, by their places).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from core.extraction.rule_extractor import statements_of_rules as extract
from core.types import Candidate, Category, Message, Topic

Json = dict[str, Any]
NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)
LABELS = Path(__file__).with_name("judge_labels.json")
MOST = 40
"""Pairs of one family: no rule decides the figures because it fits often."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Known statement, later statement, and the expected verdict on it: same, supersede, or other."""

    first: Candidate
    second: Candidate
    expected: str
    family: str
    near_miss: bool = False

    @property
    def held_out(self) -> bool:
        """Whether it belongs to the half that nobody looked at while building; by the first statement."""
        return hashlib.sha256(self.first.content.encode()).digest()[0] % 2 == 1


def stated(content: str, subject: str = "Ada") -> Candidate:
    """A plain statement of this bench's day."""
    return Candidate(content, Category.FACT, Topic.OTHER, subject, (), NOON)


def made(locomo: Path, longmemeval: Path) -> list[Pair]:
    """Every pair there is, each once; families in a fixed order."""
    samples = json.loads(locomo.read_text(encoding="utf-8"))
    with gzip.open(longmemeval, "rt", encoding="utf-8") as file:
        questions = json.load(file)
    bases = _mixed([o["text"] for o in observations(samples)] + _extracted(questions))
    english = [stated(text) for text in bases]
    pairs = [
        *_capped(english, PARAPHRASES, "same"),
        *_capped(english, NEAR_MISSES, "other"),
        *_capped(english, LATE_PARAPHRASES, "same"),
        *_capped(english, LATE_NEAR_MISSES, "other"),
        *_overtaken(english),
        *_retold(samples),
        *_slots(),
        *_chinese(),
        *_updates(questions),
    ]
    return list({(p.first.content, p.second.content, p.family): p for p in pairs}.values())


def observations(samples: list[Json]) -> list[Json]:
    """Notes of LoCoMo's annotators on each conversation, with their places."""
    return [
        {
            "place": f"{sample['sample_id']}/{session}/{speaker}/{at}", "speaker": speaker, "text": fact[0],
            "turns": frozenset(re.findall(r"D\d+:\d+", json.dumps(fact[1]))), "sample": sample["sample_id"],
        }
        for sample in samples
        for session, speakers in sample["observation"].items()
        for speaker, facts in speakers.items()
        for at, fact in enumerate(facts)
    ]  # fmt: skip


def _mixed(texts: list[str]) -> list[str]:
    """The same order on every machine, and none that the sources have."""
    return sorted(set(texts), key=lambda text: hashlib.sha256(text.encode()).digest())


def _extracted(questions: list[Json]) -> list[str]:
    """Statements that the offline extractor reads from the sessions of LongMemEval's knowledge updates."""
    texts: list[str] = []
    for question in questions:
        if question["question_type"] != "knowledge-update":
            continue
        for session_id, turns in zip(question["haystack_session_ids"], question["haystack_sessions"], strict=True):
            texts += [c.content for c in _read(session_id, turns) if len(c.content) < 200]
    return texts


def _read(session_id: str, turns: list[Json]) -> list[Candidate]:
    messages = [
        Message(session_id, str(at), at + 1, str(at), "Ada", turn["role"], turn["content"], NOON)
        for at, turn in enumerate(turns)
    ]
    return extract(messages)


Rule = Callable[[str], str | None]


def _capped(bases: list[Candidate], rules: dict[str, Rule], expected: str) -> Iterator[Pair]:
    for family, rule in rules.items():
        count = 0
        for base in bases:
            changed = rule(base.content)
            if changed and changed != base.content and count < MOST:
                count += 1
                pair = Pair(base, replace(base, content=changed), expected, family, near_miss=expected == "other")
                # As often said in the one order as in the other.
                yield pair if count % 2 else replace(pair, first=pair.second, second=pair.first)


def _sub(pattern: str, to: str | Callable[[re.Match[str]], str], flags: int = 0) -> Rule:
    return lambda text: re.sub(pattern, to, text, count=1, flags=flags) if re.search(pattern, text, flags) else None


def _table(table: str) -> Rule:
    """The first word or phrase of the table that stands in the text, exchanged; `a=b, c=d`."""
    exchanges = [tuple(part.strip().split("=")) for part in table.split(",")]

    def rule(text: str) -> str | None:
        for old, new in exchanges:
            if re.search(rf"\b{old}\b", text):
                return re.sub(rf"\b{old}\b", new, text, count=1)
        return None

    return rule


SHE = "Caroline Melanie Gina Joanna Maria Ada".split()
SPEAKERS = [*SHE, *"Jon John Nate Tim".split()]
_NAME = f"(?:{'|'.join(SPEAKERS)})"
_TIME = (
    r"last (?:week|month|year|night|summer|weekend)|next month|recently|these days|every (?:day|week|morning)|this week"
)


def _reported(text: str) -> str | None:
    match = re.match(rf"({_NAME}) (.+)", text)
    if not match:
        return None
    return f"{match[1]} mentioned that {'she' if match[1] in SHE else 'he'} {match[2]}"


def _fronted(text: str) -> str | None:
    match = re.fullmatch(rf"({_NAME} [^,]+?) ({_TIME})\.", text)
    return f"{match[2][0].upper()}{match[2][1:]}, {match[1]}." if match else None


def _stripped(text: str) -> str | None:
    match = re.fullmatch(r"([^,]{25,}), (?:\w+ing|which|as|and|because) [^,]+\.", text)
    return f"{match[1]}." if match else None


PARAPHRASES: dict[str, Rule] = {
    "filler": _sub(r"\b(is|has|was)\b", r"\1 really"),
    "currently": _sub(rf"^({_NAME}) (\w+s)\b", r"\1 currently \2"),
    "reported": _reported,
    "fronted": _fronted,
    "more behind it": _stripped,
    "aspect": _sub(r"has been (\w+ing)\b", r"is \1"),
    "typing": lambda text: re.sub(r"[.,]", "", text).lower().replace("  ", " ") if len(text) % 3 == 0 else None,
    "full width": lambda text: "".join(chr(ord(c) + 0xFEE0) if c.isdigit() else c for c in text),
    "digits": _table("two=2, three=3, four=4, five=5, six=6, seven=7, eight=8, nine=9, ten=10"),
    "contraction": _table("is not=isn't, does not=doesn't, did not=didn't, cannot=can't, was not=wasn't"),
    "verb": _table(
        "enjoys=likes, loves=enjoys, likes=enjoys, lives in=resides in, started=began, bought=purchased, owns=has, "
        "helps=assists, finished=completed, received=got, attended=went to, mentions=says, considers=regards"
    ),
    "noun": _table(
        "kids=children, mom=mother, dad=father, movie=film, movies=films, photo=picture, pictures=photos, "
        "bike=bicycle, trip=journey, shop=store, job=position, pals=friends"
    ),
    "adjective": _table(
        "grateful=thankful, happy=glad, big=large, important=significant, amazing=wonderful, hard=tough"
    ),
    "phrase": _table(
        "every day=daily, is planning to=plans to, is supportive of=supports, is grateful for=appreciates, "
        "is passionate about=loves, is proud of=takes pride in, wants to=would like to, in order to=to, along with=with"
    ),
}  # fmt: skip

_NUMBERS = "two=three, three=five, four=two, five=six, six=nine, seven=four, eight=ten, nine=seven, ten=eight"
_OPPOSITES = (
    "older=younger, before=after, first=last, happy=sad, morning=evening, more=less, easy=difficult, loves=hates, "
    "likes=dislikes, enjoys=detests, won=lost, bought=sold, started=stopped, new=old, big=small, increase=decrease, "
    "always=never, with=without, best=worst, indoor=outdoor, accepted=rejected, support=oppose"
)
_KIND = (
    "dance=yoga, painting=pottery, turtles=lizards, dog=cat, cat=dog, dogs=cats, coffee=tea, guitar=violin, "
    "piano=flute, brother=sister, son=daughter, kids=parents, shelter=hospital, studio=gallery, movie=play, "
    "book=poem, job=house, "
    "camping=sailing, hiking=cycling, counseling=teaching, car=boat, milk=juice, ice cream=pie, school=church"
)


def _other_number(text: str) -> str | None:
    if match := re.search(r"\d+", text):
        return f"{text[: match.start()]}{int(match[0]) + 1}{text[match.end() :]}"
    return _table(_NUMBERS)(text)


def _other_name(text: str) -> str | None:
    """A name behind the first word becomes another one."""
    match = re.search(rf"(?<=. )({_NAME})\b", text)
    other = SPEAKERS[(SPEAKERS.index(match[1]) + 1) % len(SPEAKERS)] if match else ""
    return f"{text[: match.start()]}{other}{text[match.end() :]}" if match else None


def _swapped(text: str) -> str | None:
    """Two people change places."""
    names = list(dict.fromkeys(re.findall(_NAME, text)))
    if len(names) < 2:
        return None
    there = {names[0]: names[1], names[1]: names[0]}
    return re.sub(_NAME, lambda m: there.get(m[0], m[0]), text)


BACK = ("as a joke", "in a dream", "but only on paper", "unless it rains", "or so people claim", "in a novel")

NEAR_MISSES: dict[str, Rule] = {
    "number": _other_number,
    "name": _other_name,
    "people swapped": _swapped,
    "date": _table(
        "January=March, February=April, March=May, April=June, May=July, June=August, July=May, August=October, "
        "September=November, October=December, November=January, December=February, Monday=Tuesday, Tuesday=Friday, "
        "Friday=Sunday, Saturday=Sunday, Sunday=Monday, last week=last year, next month=next week, yesterday=today"
    ),
    "negation": _sub(r"\b(is|was|has been|can|will)\b", r"\1 not"),
    "negated verb": _sub(rf"^({_NAME}) (\w+?)s\b", r"\1 does not \2"),
    "never": _sub(rf"^({_NAME}) (\w+s)\b", r"\1 never \2"),
    "opposite": _table(_OPPOSITES),
    "another of its kind": _table(_KIND),
    "only wished": _sub(rf"^({_NAME}) (?:is|has) ", r"\1 wants to be "),
    "someone else's": _sub(rf"^({_NAME}) ", r"\1's sister "),
    "friend of": _sub(rf"^({_NAME}) (is|has|\w+s) ", r"A friend of \1 \2 "),
    "on a day": lambda text: f"{text.rstrip('.')} on 5 May 2023." if len(text) % 2 else None,
    "with a count": lambda text: f"{text.rstrip('.')} 3 times." if len(text) % 2 else None,
    "small word": _table(
        "in the=on the, to the=from the, with her=for her, with his=for his, for the=by the, about=against"
    ),
    "whose": _table("his=her, her=his"),
    "compound": lambda text: f"{text.rstrip('.')} club." if len(text) % 3 else None,
    "taken back": lambda text: f"{text.rstrip('.')}, {BACK[len(text) % len(BACK)]}.",
    "turned into a plan": _sub(rf"^({_NAME}) (\w+?)s\b", r"\1 hopes to \2"),
}


LATE_PARAPHRASES: dict[str, Rule] = {
    "late: connective": _table(
        "because=since, such as=like, as well as=and, and=as well as, a lot of=many, but=although"
    ),
    "late: adverb": _table("often=frequently, recently=lately, always=constantly, usually=normally, finally=at last"),
    "late: word order": _sub(r"(\w{4,}) and (\w{4,})\.$", r"\2 and \1."),
}
LATE_NEAR_MISSES: dict[str, Rule] = {
    "late: quantity": _table("some=all, many=few, most=some, all=none of, every=no, both=neither, several=two"),
    "late: ordinal": _table("first=second, second=third, third=fourth, fourth=fifth"),
    "late: tense": _table("is=was, are=were, was=is, were=are, has=had, will=did"),
    "late: certainty": _sub(rf"^({_NAME}) is ", r"\1 may be "),
    "late: plural": _table(
        "a dog=dogs, a cat=cats, a book=books, a new=two new, a friend=friends, a car=cars, a job=jobs"
    ),
}
"""Written when the judge stood, and measured once."""


def _overtaken(bases: list[Candidate]) -> Iterator[Pair]:
    """Pairs of a statement and a later one that it is over, or is so again."""
    for family, form in (("is over", "used to"), ("no longer", "no longer")):
        rule = _sub(rf"^({_NAME}) ([a-z]{{3,}}?)s\b", rf"\1 {form} \2" + ("s" if form == "no longer" else ""))
        for pair in _capped(bases, {family: rule}, "supersede"):
            later = NOON + timedelta(days=30)
            so, over = sorted((pair.first, pair.second), key=lambda c: form in c.content)
            yield replace(pair, first=so, second=replace(over, occurred_at=later))


def _retold(samples: list[Json]) -> Iterator[Pair]:
    """Pairs of observations that rest on the same turn, or that a person found alike; labelled by hand."""
    same = {frozenset(pair) for pair in json.loads(LABELS.read_text(encoding="utf-8"))["same"]}
    noted = observations(samples)
    for note, other_note in combinations(noted, 2):
        if note["sample"] != other_note["sample"] or note["speaker"] != other_note["speaker"]:
            continue
        is_same = frozenset((note["place"], other_note["place"])) in same
        if is_same or note["turns"] & other_note["turns"]:
            first, second = stated(note["text"]), stated(other_note["text"])
            yield Pair(first, second, "same" if is_same else "other", "told twice" if is_same else "of one turn")


_CITIES = "Lisbon Porto Berlin Vienna Toronto Madrid Oslo Dublin Seattle Kyoto".split()
_FIRMS = "Acme Globex Initech Umbrella Hooli Stripe Nokia Siemens Bosch Canon".split()
_HAN_CITIES = "北京 上海 广州 深圳 杭州 成都 南京 武汉 西安 重庆".split()
_HAN_FIRMS = "腾讯 华为 百度 小米 京东 美团 网易 联想 海尔 格力".split()
CHANGES = (
    ("I live in {}.", "I moved to {} last month.", _CITIES),
    ("My home is in {}.", "I live in {} now.", _CITIES),
    ("I work at {}.", "I work for {} now.", _FIRMS),
    ("I work for {}.", "I started working at {}.", _FIRMS),
    ("我住在{}。", "我搬到{}了。", _HAN_CITIES),
    ("我在{}工作。", "我现在在{}工作。", _HAN_FIRMS),
)


def _slots() -> Iterator[Pair]:
    """One attribute with another value later, read by the offline extractor; and the same of somebody else."""
    for before, after, values in CHANGES:
        for value, other in zip(values, values[1:] + values[:1], strict=True):
            first, second = _slot(before.format(value), 0), _slot(after.format(other), 30)
            if first and second:
                yield Pair(first, second, "supersede", "changed")
            again = _slot(after.format(value), 30)
            if first and again:
                yield Pair(first, again, "same", "same value")
            if first and second:
                else_ = replace(second, subject="Bea", content=second.content.replace("Ada", "Bea"))
                yield Pair(first, else_, "other", "someone else's slot", near_miss=True)


def _slot(text: str, day: int) -> Candidate | None:
    at = NOON + timedelta(days=day)
    candidates = extract([Message("s", "m", 1, "e", "Ada", "user", text, at)])
    return next((c for c in candidates if c.attribute), None)


_HAN = (
    "Ada喜欢喝咖啡。|Ada住在北京。|Ada养了两只猫。|Ada每天跑5公里。|Ada在医院当护士。|Ada对花生过敏。|Ada会弹钢琴。|Ada的妈妈是老师。"
    "|Ada打算明年三月去日本旅行。|Ada不吃香菜。|Ada喜欢吃火锅。|Ada有三个孩子。|Ada周末常去爬山。|Ada正在学法语。|Ada的生日是5月3日。"
    "|Ada买了一辆自行车。|Ada喜欢看科幻小说。|Ada每周去两次健身房。|Ada的狗叫豆豆。|Ada从2019年开始写博客。|Ada喜欢听古典音乐。"
    "|Ada在学校教数学。|Ada晚上十点睡觉。|Ada喜欢打羽毛球。|Ada的弟弟在上海读书。|Ada开一家小花店。|Ada害怕坐飞机。|Ada喜欢蓝色。"
    "|Ada每个月存3000元。|Ada刚换了新手机。"
).split("|")


def _han_table(table: str) -> Rule:
    exchanges = [tuple(part.split("=")) for part in table.split()]
    return lambda text: next((text.replace(a, b, 1) for a, b in exchanges if a in text), None)


HAN_PARAPHRASES: dict[str, Rule] = {
    "zh filler": _sub("喜欢|住|有|会|打算|害怕", r"非常\g<0>"),
    "zh now": lambda text: text.replace("Ada", "Ada现在", 1) if "明年" not in text else None,
    "zh typing": lambda text: text.replace("。", "！").replace("Ada", "Ａｄａ"),
    "zh width": lambda text: "".join(chr(ord(c) + 0xFEE0) if c.isdigit() else c for c in text),
    "zh verb": _sub("喜欢(?=[喝吃看听打])", "爱"),
    "zh numeral": lambda text: text.replace("两", "2").replace("三个", "3个"),
    "zh more": lambda text: f"{text[:-1]}，觉得很开心。",
    "zh noun": _han_table("妈妈=母亲 孩子=小孩 买了=购买了 教数学=教授数学"),
}
_HAN_OTHERS = (
    "咖啡=绿茶 北京=南京 猫=狗 护士=医生 花生=牛奶 钢琴=吉他 老师=律师 日本=韩国 香菜=芹菜 火锅=烧烤 爬山=游泳 "
    "法语=德语 自行车=摩托车 科幻=武侠 健身房=图书馆 豆豆=球球 博客=日记 古典=流行 数学=物理 羽毛球=乒乓球 "
    "弟弟=哥哥 花店=书店 飞机=火车 蓝色=红色 手机=电脑"
)

HAN_NEAR_MISSES: dict[str, Rule] = {
    "zh number": _sub(r"\d+|[两三十](?=[个只次点月])", lambda m: str(int(m[0]) + 1) if m[0].isdigit() else "四"),
    "zh negation": _sub("喜欢|住|会|打算|害怕|吃(?=香菜)", r"不\g<0>"),
    "zh never": lambda text: text.replace("Ada", "Ada从不", 1) if "不" not in text else None,
    "zh another": _han_table(_HAN_OTHERS),
    "zh someone else's": lambda text: text.replace("Ada", "Ada的姐姐", 1),
    "zh only wished": lambda text: text.replace("Ada", "Ada想", 1),
    "zh over": lambda text: text.replace("Ada", "Ada以前", 1),
}


def _chinese() -> Iterator[Pair]:
    bases = [stated(text) for text in _HAN]
    yield from _capped(bases, HAN_PARAPHRASES, "same")
    yield from _capped(bases, HAN_NEAR_MISSES, "other")


def _updates(questions: list[Json]) -> Iterator[Pair]:
    """LongMemEval's own updates: the turn that said it first, and the turn that said otherwise."""
    for question in questions:
        if question["question_type"] == "knowledge-update":
            turns = [turn for session in question["haystack_sessions"] for turn in session if turn.get("has_answer")]
            for one, other in pairwise(turns):
                later = replace(stated(other["content"]), occurred_at=NOON + timedelta(days=30))
                yield Pair(stated(one["content"]), later, "supersede", "knowledge update")
