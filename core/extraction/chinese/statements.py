"""The statements of one Chinese sentence: its clauses with their subjects, those that lean joined to the one before."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from core.extraction.chinese import (
    claims,
    clauses,
    dependent_clauses,
    durable,
    joins,
    life,
    naming,
    patterns,
    people,
    rendering,
    things,
)
from core.extraction.chinese import slots as chinese_slots
from core.extraction.chinese.people import People, Sort, Subject
from core.extraction.chinese.statement import ClauseContext, ClauseStatement
from core.extraction.pattern_types import Slot
from core.language import dates, sentences
from core.language.lazy_regex import lazy_regex
from core.types import Category, Topic

LEAD = lazy_regex(
    r"^(?:(?:对了|哦对|啊对|嗯+|哦+|噢|啊+|哎|诶|唉|嗨|嘿|那个|不过|"
    r"但是|但|而且|所以|然后|另外|还有|还有一条|顺便(?:说一下|一提)?|说实话|老实说|说真的|实话|"
    r"是的|是啊|好的|好|哈+|没错|报告|正经事|还有个喜事|还有件事|其实|"
    r"对|有|没|没有|不了|不|等等|天哪|再有|再就是|第[一二三四五]|首先|其次|最后|总之|反正|好在|"
    r"话说|"
    r"好消息|坏消息|更新一下|汇报一下|补充一下|补充|更正一下|更正|"
    r"说点?正事|说个事|问个事|告诉你|忘了跟你说|还有一件|问你个事|别误会|答对了|做了|买了|去了|考了|问了|不瞒你说|跟你说)(?:[，,、！!：:\s—]+|(?<=哈)))+|^(?:对了|不过|但是|"
    r"而且|所以|另外|然后|好在|其实|话说)(?=[\u4e00-\u9fff]{4})"
)
_EMOJI = lazy_regex(r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+")
_TELLS = lazy_regex(
    r"^(?:发(?:消息|微信|信息)|打电话|微信|亲口|跟我|告诉我|和我|对我)*(?:说|"
    r"讲|告诉我)(?:的?)?(?P<self>他|她|自己)(?!男|女|老|爸|妈|哥|姐|弟|妹|同|们)(?P<said>.{2,})$"
)

_NOT_BUT = lazy_regex(r"(?P<of>[^，。是]{1,16})不是[^，。]{1,16}，(?:而)?是(?P<this>[^，。]{1,24})")
_BUT_NOT = lazy_regex(r"(?P<so>是[^，。]{1,24})，(?:而)?不是[^，。]{1,16}(?=$|[。！])")
"""“不是《活着》，是《平凡的世界》”, “是14号，不是12号”: what it is not is said of nothing."""


def read(quote: str, sentence: str, flow: ClauseContext, known: People) -> list[ClauseStatement]:
    """Return the statements of one sentence. `quote`: the sentence as written in the message."""
    body = LEAD.sub("", _EMOJI.sub(" ", sentence).strip()).replace("本人", "我")
    body = _BUT_NOT.sub(r"\g<so>", _NOT_BUT.sub(r"\g<of>是\g<this>", body)) if "不是" in body else body
    hidden = clauses.mask_quotations(body)
    asks = quote.rstrip("\"'”’)） ").endswith(("?", "？"))
    if not body or (not sentences.is_chinese(body) and len(body) > 12):
        return []
    if patterns.INSTRUCTION.search(hidden) and not asks:
        return _instruction(quote, body, hidden, known)
    if claims.is_imagined(hidden) or _is_request(hidden) or claims.disbelieves(hidden):
        return []
    if not (flow.kept and re.match(r"是(?:个|只|条|男|女|龙)", hidden)):
        flow.before, flow.kept = "", None
    flow.lost, flow.had = False, None
    if not flow.thing:
        flow.subject = Subject(Sort.SPEAKER)
    found: list[ClauseStatement] = []
    parts = clauses.split(body)
    for place, part in enumerate(parts):
        if asks and (place == len(parts) - 1 or "我" not in part.text):
            continue
        found += _clause(quote, part, place, flow, known)
    flow.thing = ""
    flow.told_of = replace(flow.subject, length=0)
    flow.often = any(one.category is Category.PATTERN for one in found)
    if claims.is_sarcastic(hidden):
        found = [one for one in found if one.slots]
    return _without_repeated_slots([one for one in found if one.text])


def _instruction(quote: str, body: str, hidden: str, known: People) -> list[ClauseStatement]:
    """Return a standing instruction in the speaker's words."""
    if patterns.ONE_OFF.search(hidden) or claims.withdraws(hidden) or claims.is_imagined(hidden):
        return []
    text = f"{known.speaker}的长期要求：{body.rstrip('.!。！')}。"
    said = ClauseStatement(quote, body, text, known.speaker, Category.INSTRUCTION, 0.9, instructs=True)
    if called := re.search(
        r"(?:直接叫|改叫|就叫|叫我|称呼我(?:为)?)(?P<name>[\u4e00-\u9fff]{2,4}?)(?=$|[，。吧就])", hidden
    ):
        taken = hidden[: called.start()].endswith(("别", "不要", "再"))
        said.fact = life.Fact("name.preferred", "" if taken else called["name"], Category.INSTRUCTION, Topic.PREFERENCE)
    return [said]


def _is_request(hidden: str) -> bool:
    return sentences.is_request_zh(hidden) and not re.search("[：:]", hidden)


def _without_repeated_slots(found: list[ClauseStatement]) -> list[ClauseStatement]:
    """Clear a slot filled twice by one sentence: two appointments do not replace each other."""
    often = Counter((one.subject, one.fact.attribute) for one in found if one.fact)
    return [
        replace(one, fact=None)
        if one.fact and often[one.subject, one.fact.attribute] > 1 and not one.fact.over
        else one
        for one in found
    ]


def _clause(quote: str, part: clauses.Clause, place: int, flow: ClauseContext, known: People) -> list[ClauseStatement]:
    text = part.text if place and part.text.startswith("所以") else LEAD.sub("", part.text) or part.text
    if (place and re.match(r"周[一二三四五六日末]", text) and re.search(durable.FREQUENCY, flow.before)) or (
        not place and flow.often and re.match(r"周[一二三四五六日末](?!.*[了要])", text)
    ):
        text = f"每{text}"
    if text.startswith("人家") and flow.subject.sort in {Sort.PERSON, Sort.PET}:
        text = f"{flow.subject.name}{text[2:]}"
    if flow.subject.sort in {Sort.PERSON, Sort.PET} and _AGE.fullmatch(text):
        text = f"{text}岁"
    if _WEIGHED.search(flow.before) and _WEIGHS.fullmatch(text):
        text = f"体重{text}"
    text, hidden = _without_reporting_verb(text, clauses.mask_quotations(text), known)
    naming.note_names_within(hidden, known)
    if _asserts_nothing(hidden) or (part.head and claims.is_others_word(clauses.mask_quotations(part.head))):
        return _skip_clause(hidden, flow, known)
    named = naming.introduce(hidden, flow, known)
    flow.had = naming.person_brought_up(hidden) or flow.had
    if named is None and flow.kept is None and _CALLS_NOBODY.match(hidden) and flow.subject.sort is Sort.SPEAKER:
        return []
    if (meant := _ANSWERS_WHO.match(hidden)) and meant["name"] in known.named:
        return _answered_who(meant["name"], flow, known)
    if named is None:
        return _clause_statements(quote, text, hidden, part, place, flow, known)
    introduced = _introduction(quote, named, flow, known)
    if not hidden[named.end :]:
        return introduced
    cut = 0 if hidden.startswith("我") else named.end - len(named.name)
    told = _clause_statements(quote, text[cut:], hidden[cut:], part, 0, flow, known)
    return told if told and not cut else [*introduced, *told]


def _introduction(
    quote: str, named: naming.NamedInApposition, flow: ClauseContext, known: People
) -> list[ClauseStatement]:
    """State who somebody named in passing is; they become the subject of the next clauses."""
    slots = naming.relation_slots(named.kin, named.name)
    plain = f"我的{people.kinship(named.kin)}叫{named.name}"
    flow.subject, flow.thing, flow.lost = Subject(Sort.SPEAKER), "", False
    content = rendering.third_person(plain, known.speaker)
    said = _build(quote, plain, f"{content}。", plain, flow, known, slots, None, None)
    flow.subject = Subject(Sort.PERSON, named.name)
    flow.before, flow.kept, flow.leader = named.name, None, flow.subject
    return [said]


_WEIGHED = lazy_regex(r"体重称了|称(?:了)?(?:一下)?体重|上秤|过秤")
_WEIGHS = lazy_regex(r"\d{2,3}(?:\.\d+)?(?:公斤|斤)?了?")
"""“今天称体重，71.5”."""
_CALLS_NOBODY = lazy_regex(r"(?:就|都)?叫(?!我|做|停|醒|外卖|车|过|[他她它])[\u4e00-\u9fff]{2,4}$")
_AGE = lazy_regex(r"[1-9]\d?|[二三四五六七八九]?十[一二三四五六七八九]?")
"""“小陈，陈璐，27，…”: how old somebody is."""
_ANSWERS_WHO = lazy_regex(r"(?:当然|肯定|应该|就|那|必须)*是(?P<name>[\u4e00-\u9fff]{2,3})$")


def _clause_statements(
    quote: str, text: str, hidden: str, part: clauses.Clause, place: int, flow: ClauseContext, known: People
) -> list[ClauseStatement]:
    """Return the statements of an asserting clause."""
    own = people.subject_of(clauses.mask_quotations(part.head) if part.head else hidden, known)
    subject = _subject(own, hidden, place, flow)
    if subject is None:
        flow.lost, flow.before, flow.kept = True, "", None
        return []
    if (place or flow.kept) and dependent_clauses.ends_statement_before(
        own, hidden, text, flow, listed=bool(part.head)
    ):
        return _join_to_statement(quote, text, hidden, flow, known)
    if known.is_stranger(subject.name) and _ENCYCLOPAEDIC.search(hidden):
        return []
    flow.subject = replace(subject, length=0) if subject.sort is not Sort.SPEAKER else subject
    known.remember_last(subject)
    if (
        subject.sort is Sort.SPEAKER
        and (age := chinese_slots.slots_of(text, hidden, subject))
        and any(chinese_slots.is_a_childs(slot) for slot in age)
    ):
        return []
    return _own_statement(quote, text, hidden, part, subject, own, flow, known)


_ENCYCLOPAEDIC = lazy_regex(r"是[^，]{1,12}(?:人|家|皇帝|总统|明星|演员|导演|歌手|作者)$|演唱会|新歌|新片|上映|当选")


def _answered_who(name: str, flow: ClauseContext, known: People) -> list[ClauseStatement]:
    """Make the answer “当然是年糕” the subject of the next clauses."""
    flow.subject = Subject(known.named[name], name)
    flow.before, flow.kept = "", None
    return []


def _without_reporting_verb(text: str, hidden: str, known: People) -> tuple[str, str]:
    """Reduce “老梁说他升职了” to “老梁升职了”."""
    who = people.subject_of(hidden, known)
    told = _TELLS.match(hidden[who.length :]) if who.sort is Sort.PERSON else None
    if told is None:
        return text, hidden
    text = text[: who.length] + text[who.length + told.start("said") :]
    return text, clauses.mask_quotations(text)


def _skip_clause(hidden: str, flow: ClauseContext, known: People) -> list[ClauseStatement]:
    named = people.subject_of(hidden, known)
    if named.sort in {Sort.PERSON, Sort.PET}:
        known.remember_last(named)
        flow.subject = replace(named, length=0)
    flow.lost = claims.is_others_word(hidden)
    flow.before, flow.kept = ("" if flow.lost or claims.is_question(hidden) else hidden), None
    return []


def _asserts_nothing(hidden: str) -> bool:
    if claims.is_question(hidden) or claims.is_others_word(hidden):
        return True
    return claims.is_mood(hidden) and not durable.FREQUENCY_OR_END.search(hidden)


_IS_A = lazy_regex(r"是(?:一)?(?:[个只条名位]|种)")
"""“是一只柴犬”: of whom the sentence before spoke."""
_OF_A_THING = frozenset("日子 日期 时间 地点 酒店 人数 价格 成绩 首周".split())


def _subject(own: Subject, hidden: str, place: int, flow: ClauseContext) -> Subject | None:
    """Return the subject of a clause, its own or that of the one before; None if it is unknown."""
    if own.sort is Sort.UNKNOWN:
        return None
    if own.sort in {Sort.PERSON, Sort.PET, Sort.SPEAKER}:
        flow.thing, flow.lost = "", False
        return own
    if re.search(r"(?<!自)我(?![校国市省县院党方军])", hidden):
        flow.lost = False
        flow.thing = own.name or flow.thing
        return Subject(Sort.SPEAKER)
    if flow.lost:
        return None
    return _of_before(own, hidden, place, flow)


def _of_before(own: Subject, hidden: str, place: int, flow: ClauseContext) -> Subject:
    """Return the subject of a clause that names nobody."""
    if place == 0 and own.sort is Sort.NONE and _IS_A.match(hidden) and flow.told_of.sort is not Sort.SPEAKER:
        return flow.told_of
    if own.sort is Sort.THING and not joins.depends_on_clause_before(hidden):
        flow.thing = flow.thing if own.name in _OF_A_THING and flow.thing else own.name
        return Subject(Sort.SPEAKER) if place == 0 else flow.subject
    return flow.subject


def _join_to_statement(quote: str, text: str, hidden: str, flow: ClauseContext, known: People) -> list[ClauseStatement]:
    """Append a clause to the statement before it, which may become lasting only by this."""
    lasting = durable.sign_of(hidden, people=True)
    plain = joins.join(flow.before, text)
    content = rendering.content(plain, clauses.Clause(text), flow.leader if flow.before else flow.subject, flow, known)
    slots = [
        slot
        for slot in chinese_slots.slots_of(text, hidden, flow.subject)
        if not slot.attribute.startswith(("name.", "home."))
    ]
    fact = _of_the_end(hidden, flow)
    flow.before = plain
    if flow.kept is None and (lasting is None or lasting.name == "gave up") and not slots:
        return []
    if named := known.newest(hidden):
        flow.subject, fact = named, life.Fact(f"have.{named.name}", "养着", Category.FACT, Topic.RELATIONSHIP)
        flow.kept = naming.named_pet(flow.kept, fact, known)
    if flow.kept is not None and not _is_another(flow.kept, fact):
        flow.kept.plain, flow.kept.text = plain, content
        flow.kept.found = (*flow.kept.found, *dates.find(text, flow.said_at, chinese=True))
        if not flow.kept.slots and flow.kept.fact is None:
            flow.kept.slots, flow.kept.fact = tuple(slots), fact if not slots else None
        return []
    if flow.kept is not None:
        plain = rendering.plain(text, hidden, replace(flow.subject, length=0))
        content = rendering.content(plain, clauses.Clause(text), flow.subject, flow, known)
    said = _build(quote, plain, content, hidden, flow, known, slots, fact, lasting)
    flow.kept = said
    return [said]


def _of_the_end(hidden: str, flow: ClauseContext) -> life.Fact | None:
    """Return the slot that the end of a statement fills for the topic of its beginning."""
    about = "租" if re.search(r"[租]", flow.before) else flow.thing
    return things.fact(hidden, flow.thing, Category.FACT) or (
        things.fact(f"{about}{hidden}", "", Category.FACT) if about else None
    )


def _is_another(kept: ClauseStatement, fact: life.Fact | None) -> bool:
    """Return whether a dependent clause adds a slot of its own to that of the statement."""
    return bool(
        fact
        and fact.attribute.startswith(("relation.", "education."))
        and (kept.slots or kept.fact)
        and kept.attributes != {fact.attribute}
    )


def _own_statement(
    quote: str,
    text: str,
    hidden: str,
    part: clauses.Clause,
    subject: Subject,
    own: Subject,
    flow: ClauseContext,
    known: People,
) -> list[ClauseStatement]:
    said = _statement(quote, text, hidden, part, subject, own, flow, known)
    flow.before = said.plain if said else rendering.plain(text, hidden, subject)
    flow.kept, flow.leader = said, subject
    if claims.is_advice(hidden) or claims.is_done_to_me(hidden):
        flow.subject = Subject(Sort.SPEAKER)
    if called := naming.CALLED.search(hidden):
        flow.subject = Subject(known.named.get(called["name"], Sort.PERSON), called["name"])
    elif has := naming.HAS.search(hidden):
        flow.subject = naming.subject_after_having(has["kin"], subject, known)
    return [said] if said else []


def _statement(
    quote: str,
    text: str,
    hidden: str,
    part: clauses.Clause,
    subject: Subject,
    own: Subject,
    flow: ClauseContext,
    known: People,
) -> ClauseStatement | None:
    plain = rendering.plain(text, hidden, subject)
    about = subject.sort in {Sort.PERSON, Sort.PET}
    slots = chinese_slots.slots_of(text, hidden, subject)
    if slots and all(slot.attribute.startswith("name.") and slot.value == known.speaker for slot in slots):
        return _build(quote, plain, f"{known.speaker}的名字是{known.speaker}。", hidden, flow, known, slots, None, None)
    mine = about or own.sort is not Sort.THING or "我" in hidden or bool(part.head) or durable.is_ones_own(hidden)
    lasting = durable.sign_of(hidden, people=mine)
    fact = things.fact(hidden, flow.thing, lasting.category if lasting else Category.FACT)
    if lasting is None and fact and fact.attribute.startswith("date."):
        lasting = durable.sign_of(hidden, people=True)
    if (
        not slots
        and lasting is None
        and not (fact and len(hidden) > 2 and (fact.over or not fact.attribute.startswith(("plan.", "date."))))
    ):
        return None
    if not slots and fact is None and lasting and lasting.name in {"gave up", "habit"} and not things.key(hidden):
        return None
    if (not slots and claims.is_scene(hidden) and not durable.outlasts(hidden)) or joins.is_intro(hidden):
        return None
    plain, slots = chinese_slots.with_home_town(plain, slots, known)
    content = rendering.content(plain, part, subject, flow, known)
    return _build(quote, plain, content, hidden, flow, known, slots, fact, lasting)


def _counts_beside(fact: life.Fact | None, slots: list[Slot]) -> bool:
    """Return whether the slot of a thing counts in addition to those of the tables: it is over, or they are lists."""
    if fact is None or not slots:
        return fact is not None
    return fact.over or (fact.attribute.startswith("habit.") and all(map(chinese_slots.may_stand_by, slots)))


def _build(
    quote: str, plain: str, content: str, hidden: str, flow: ClauseContext, known: People, slots: list[Slot],
    fact: life.Fact | None, lasting: durable.Sign | None,
) -> ClauseStatement:  # fmt: skip
    subject = flow.subject
    if fact and subject.sort is Sort.PERSON and fact.attribute == "work.employer" and fact.over:
        fact = replace(fact, attribute="work.role")
    if fact and fact.attribute.startswith("habit.") and any(slot.pattern.negated for slot in slots):
        fact = None
    shared = fact is not None and fact.attribute.startswith(("relation.", "number.房租"))
    return ClauseStatement(
        quote, plain, content, known.speaker if shared else subject.name or known.speaker,
        lasting.category if lasting else Category.FACT, lasting.importance if lasting else 0.55,
        tuple(dates.find(plain, flow.said_at, chinese=True)), tuple(slots),
        fact if _counts_beside(fact, slots) else None,
        flow.corrects or bool(patterns.CORRECTION.search(hidden) or patterns.CORRECTION.search(quote)),
    )  # fmt: skip
