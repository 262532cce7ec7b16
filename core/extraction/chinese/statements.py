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


def read(quote: str, sentence: str, context: ClauseContext, known_people: People) -> list[ClauseStatement]:
    """Return the statements of one sentence. `quote`: the sentence as written in the message."""
    body = LEAD.sub("", _EMOJI.sub(" ", sentence).strip()).replace("本人", "我")
    body = _BUT_NOT.sub(r"\g<so>", _NOT_BUT.sub(r"\g<of>是\g<this>", body)) if "不是" in body else body
    masked = clauses.mask_quotations(body)
    asks = quote.rstrip("\"'”’)） ").endswith(("?", "？"))
    if not body or (not sentences.is_chinese(body) and len(body) > 12):
        return []
    if patterns.INSTRUCTION.search(masked) and not asks:
        return _instruction(quote, body, masked, known_people)
    if claims.is_imagined(masked) or _is_request(masked) or claims.disbelieves(masked):
        return []
    if not (context.last_statement and re.match(r"是(?:个|只|条|男|女|龙)", masked)):
        context.before, context.last_statement = "", None
    context.lost, context.had = False, None
    if not context.thing:
        context.subject = Subject(Sort.SPEAKER)
    found: list[ClauseStatement] = []
    parts = clauses.split(body)
    for position, part in enumerate(parts):
        if asks and (position == len(parts) - 1 or "我" not in part.text):
            continue
        found += _clause(quote, part, position, context, known_people)
    context.thing = ""
    context.told_of = replace(context.subject, length=0)
    context.often = any(one.category is Category.PATTERN for one in found)
    if claims.is_sarcastic(masked):
        found = [one for one in found if one.slots]
    return _without_repeated_slots([one for one in found if one.text])


def _instruction(quote: str, body: str, masked: str, known_people: People) -> list[ClauseStatement]:
    """Return a standing instruction in the speaker's words."""
    if patterns.ONE_OFF.search(masked) or claims.withdraws(masked) or claims.is_imagined(masked):
        return []
    text = f"{known_people.speaker}的长期要求：{body.rstrip('.!。！')}。"
    statement = ClauseStatement(quote, body, text, known_people.speaker, Category.INSTRUCTION, 0.9, instructs=True)
    if called := re.search(
        r"(?:直接叫|改叫|就叫|叫我|称呼我(?:为)?)(?P<name>[\u4e00-\u9fff]{2,4}?)(?=$|[，。吧就])", masked
    ):
        taken = masked[: called.start()].endswith(("别", "不要", "再"))
        statement.fact = life.Fact(
            "name.preferred", "" if taken else called["name"], Category.INSTRUCTION, Topic.PREFERENCE
        )
    return [statement]


def _is_request(masked: str) -> bool:
    return sentences.is_request_zh(masked) and not re.search("[：:]", masked)


def _without_repeated_slots(found: list[ClauseStatement]) -> list[ClauseStatement]:
    """Clear a slot filled twice by one sentence: two appointments do not replace each other."""
    often = Counter((one.subject, one.fact.attribute) for one in found if one.fact)
    return [
        replace(one, fact=None)
        if one.fact and often[one.subject, one.fact.attribute] > 1 and not one.fact.over
        else one
        for one in found
    ]


def _clause(
    quote: str, part: clauses.Clause, position: int, context: ClauseContext, known_people: People
) -> list[ClauseStatement]:
    text = part.text if position and part.text.startswith("所以") else LEAD.sub("", part.text) or part.text
    if (position and re.match(r"周[一二三四五六日末]", text) and re.search(durable.FREQUENCY, context.before)) or (
        not position and context.often and re.match(r"周[一二三四五六日末](?!.*[了要])", text)
    ):
        text = f"每{text}"
    if text.startswith("人家") and context.subject.sort in {Sort.PERSON, Sort.PET}:
        text = f"{context.subject.name}{text[2:]}"
    if context.subject.sort in {Sort.PERSON, Sort.PET} and _AGE.fullmatch(text):
        text = f"{text}岁"
    if _WEIGHED.search(context.before) and _WEIGHS.fullmatch(text):
        text = f"体重{text}"
    text, masked = _without_reporting_verb(text, clauses.mask_quotations(text), known_people)
    naming.note_names_within(masked, known_people)
    if _asserts_nothing(masked) or (part.head and claims.is_others_word(clauses.mask_quotations(part.head))):
        return _skip_clause(masked, context, known_people)
    person = naming.introduce(masked, context, known_people)
    context.had = naming.person_brought_up(masked) or context.had
    if (
        person is None
        and context.last_statement is None
        and _CALLS_NOBODY.match(masked)
        and context.subject.sort is Sort.SPEAKER
    ):
        return []
    if (meant := _ANSWERS_WHO.match(masked)) and meant["name"] in known_people.named:
        return _answered_who(meant["name"], context, known_people)
    if person is None:
        return _clause_statements(quote, text, masked, part, position, context, known_people)
    introduced = _introduction(quote, person, context, known_people)
    if not masked[person.end :]:
        return introduced
    cut = 0 if masked.startswith("我") else person.end - len(person.name)
    statements = _clause_statements(quote, text[cut:], masked[cut:], part, 0, context, known_people)
    return statements if statements and not cut else [*introduced, *statements]


def _introduction(
    quote: str, person: naming.NamedInApposition, context: ClauseContext, known_people: People
) -> list[ClauseStatement]:
    """State who somebody named in passing is; they become the subject of the next clauses."""
    slots = naming.relation_slots(person.kin, person.name)
    plain = f"我的{people.kinship(person.kin)}叫{person.name}"
    context.subject, context.thing, context.lost = Subject(Sort.SPEAKER), "", False
    content = rendering.third_person(plain, known_people.speaker)
    statement = _build(quote, plain, f"{content}。", plain, context, known_people, slots, None, None)
    context.subject = Subject(Sort.PERSON, person.name)
    context.before, context.last_statement, context.leader = person.name, None, context.subject
    return [statement]


_WEIGHED = lazy_regex(r"体重称了|称(?:了)?(?:一下)?体重|上秤|过秤")
_WEIGHS = lazy_regex(r"\d{2,3}(?:\.\d+)?(?:公斤|斤)?了?")
"""“今天称体重，71.5”."""
_CALLS_NOBODY = lazy_regex(r"(?:就|都)?叫(?!我|做|停|醒|外卖|车|过|[他她它])[\u4e00-\u9fff]{2,4}$")
_AGE = lazy_regex(r"[1-9]\d?|[二三四五六七八九]?十[一二三四五六七八九]?")
"""“小陈，陈璐，27，…”: how old somebody is."""
_ANSWERS_WHO = lazy_regex(r"(?:当然|肯定|应该|就|那|必须)*是(?P<name>[\u4e00-\u9fff]{2,3})$")


def _clause_statements(
    quote: str,
    text: str,
    masked: str,
    part: clauses.Clause,
    position: int,
    context: ClauseContext,
    known_people: People,
) -> list[ClauseStatement]:
    """Return the statements of an asserting clause."""
    own = people.subject_of(clauses.mask_quotations(part.head) if part.head else masked, known_people)
    subject = _subject(own, masked, position, context)
    if subject is None:
        context.lost, context.before, context.last_statement = True, "", None
        return []
    if (position or context.last_statement) and dependent_clauses.ends_statement_before(
        own, masked, text, context, listed=bool(part.head)
    ):
        return _join_to_statement(quote, text, masked, context, known_people)
    if known_people.is_stranger(subject.name) and _ENCYCLOPAEDIC.search(masked):
        return []
    context.subject = replace(subject, length=0) if subject.sort is not Sort.SPEAKER else subject
    known_people.remember_last(subject)
    if (
        subject.sort is Sort.SPEAKER
        and (age := chinese_slots.slots_of(text, masked, subject))
        and any(chinese_slots.is_a_childs(slot) for slot in age)
    ):
        return []
    return _own_statement(quote, text, masked, part, subject, own, context, known_people)


_ENCYCLOPAEDIC = lazy_regex(r"是[^，]{1,12}(?:人|家|皇帝|总统|明星|演员|导演|歌手|作者)$|演唱会|新歌|新片|上映|当选")


def _answered_who(name: str, context: ClauseContext, known_people: People) -> list[ClauseStatement]:
    """Make the answer “当然是年糕” the subject of the next clauses."""
    context.subject = Subject(known_people.named[name], name)
    context.before, context.last_statement = "", None
    return []


def _without_reporting_verb(text: str, masked: str, known_people: People) -> tuple[str, str]:
    """Reduce “老梁说他升职了” to “老梁升职了”."""
    who = people.subject_of(masked, known_people)
    report = _TELLS.match(masked[who.length :]) if who.sort is Sort.PERSON else None
    if report is None:
        return text, masked
    text = text[: who.length] + text[who.length + report.start("said") :]
    return text, clauses.mask_quotations(text)


def _skip_clause(masked: str, context: ClauseContext, known_people: People) -> list[ClauseStatement]:
    subject = people.subject_of(masked, known_people)
    if subject.sort in {Sort.PERSON, Sort.PET}:
        known_people.remember_last(subject)
        context.subject = replace(subject, length=0)
    context.lost = claims.is_others_word(masked)
    context.before, context.last_statement = ("" if context.lost or claims.is_question(masked) else masked), None
    return []


def _asserts_nothing(masked: str) -> bool:
    if claims.is_question(masked) or claims.is_others_word(masked):
        return True
    return claims.is_mood(masked) and not durable.FREQUENCY_OR_END.search(masked)


_IS_A = lazy_regex(r"是(?:一)?(?:[个只条名位]|种)")
"""“是一只柴犬”: of whom the sentence before spoke."""
_OF_A_THING = frozenset("日子 日期 时间 地点 酒店 人数 价格 成绩 首周".split())


def _subject(own: Subject, masked: str, position: int, context: ClauseContext) -> Subject | None:
    """Return the subject of a clause, its own or that of the one before; None if it is unknown."""
    if own.sort is Sort.UNKNOWN:
        return None
    if own.sort in {Sort.PERSON, Sort.PET, Sort.SPEAKER}:
        context.thing, context.lost = "", False
        return own
    if re.search(r"(?<!自)我(?![校国市省县院党方军])", masked):
        context.lost = False
        context.thing = own.name or context.thing
        return Subject(Sort.SPEAKER)
    if context.lost:
        return None
    return _of_before(own, masked, position, context)


def _of_before(own: Subject, masked: str, position: int, context: ClauseContext) -> Subject:
    """Return the subject of a clause that names nobody."""
    if position == 0 and own.sort is Sort.NONE and _IS_A.match(masked) and context.told_of.sort is not Sort.SPEAKER:
        return context.told_of
    if own.sort is Sort.THING and not joins.depends_on_clause_before(masked):
        context.thing = context.thing if own.name in _OF_A_THING and context.thing else own.name
        return Subject(Sort.SPEAKER) if position == 0 else context.subject
    return context.subject


def _join_to_statement(
    quote: str, text: str, masked: str, context: ClauseContext, known_people: People
) -> list[ClauseStatement]:
    """Return append a clause to the statement before it, which may become lasting only now."""
    lasting = durable.sign_of(masked, people=True)
    plain = joins.join(context.before, text)
    content = rendering.content(
        plain, clauses.Clause(text), context.leader if context.before else context.subject, context, known_people
    )
    slots = [
        slot
        for slot in chinese_slots.slots_of(text, masked, context.subject)
        if not slot.attribute.startswith(("name.", "home."))
    ]
    fact = _of_the_end(masked, context)
    context.before = plain
    if context.last_statement is None and (lasting is None or lasting.name == "gave up") and not slots:
        return []
    if pet := known_people.newest(masked):
        context.subject, fact = pet, life.Fact(f"have.{pet.name}", "养着", Category.FACT, Topic.RELATIONSHIP)
        context.last_statement = naming.named_pet(context.last_statement, fact, known_people)
    if context.last_statement is not None and not _is_another(context.last_statement, fact):
        context.last_statement.plain, context.last_statement.text = plain, content
        context.last_statement.found = (*context.last_statement.found, *dates.find(text, context.said_at, chinese=True))
        if not context.last_statement.slots and context.last_statement.fact is None:
            context.last_statement.slots, context.last_statement.fact = tuple(slots), fact if not slots else None
        return []
    if context.last_statement is not None:
        plain = rendering.plain(text, masked, replace(context.subject, length=0))
        content = rendering.content(plain, clauses.Clause(text), context.subject, context, known_people)
    statement = _build(quote, plain, content, masked, context, known_people, slots, fact, lasting)
    context.last_statement = statement
    return [statement]


def _of_the_end(masked: str, context: ClauseContext) -> life.Fact | None:
    """Return the slot that the end of a statement fills for the topic of its beginning."""
    about = "租" if re.search(r"[租]", context.before) else context.thing
    return things.fact(masked, context.thing, Category.FACT) or (
        things.fact(f"{about}{masked}", "", Category.FACT) if about else None
    )


def _is_another(statement: ClauseStatement, fact: life.Fact | None) -> bool:
    """Return whether what a leaning clause adds has a slot of its own beside that of the statement."""
    return bool(
        fact
        and fact.attribute.startswith(("relation.", "education."))
        and (statement.slots or statement.fact)
        and statement.attributes != {fact.attribute}
    )


def _own_statement(
    quote: str,
    text: str,
    masked: str,
    part: clauses.Clause,
    subject: Subject,
    own: Subject,
    context: ClauseContext,
    known_people: People,
) -> list[ClauseStatement]:
    statement = _statement(quote, text, masked, part, subject, own, context, known_people)
    context.before = statement.plain if statement else rendering.plain(text, masked, subject)
    context.last_statement, context.leader = statement, subject
    if claims.is_advice(masked) or claims.is_done_to_me(masked):
        context.subject = Subject(Sort.SPEAKER)
    if called := naming.CALLED.search(masked):
        context.subject = Subject(known_people.named.get(called["name"], Sort.PERSON), called["name"])
    elif has := naming.HAS.search(masked):
        context.subject = naming.subject_after_having(has["kin"], subject, known_people)
    return [statement] if statement else []


def _statement(
    quote: str,
    text: str,
    masked: str,
    part: clauses.Clause,
    subject: Subject,
    own: Subject,
    context: ClauseContext,
    known_people: People,
) -> ClauseStatement | None:
    plain = rendering.plain(text, masked, subject)
    about = subject.sort in {Sort.PERSON, Sort.PET}
    slots = chinese_slots.slots_of(text, masked, subject)
    if slots and all(slot.attribute.startswith("name.") and slot.value == known_people.speaker for slot in slots):
        return _build(
            quote,
            plain,
            f"{known_people.speaker}的名字是{known_people.speaker}。",
            masked,
            context,
            known_people,
            slots,
            None,
            None,
        )
    of_speaker = about or own.sort is not Sort.THING or "我" in masked or bool(part.head) or durable.is_ones_own(masked)
    lasting = durable.sign_of(masked, people=of_speaker)
    fact = things.fact(masked, context.thing, lasting.category if lasting else Category.FACT)
    if lasting is None and fact and fact.attribute.startswith("date."):
        lasting = durable.sign_of(masked, people=True)
    if (
        not slots
        and lasting is None
        and not (fact and len(masked) > 2 and (fact.over or not fact.attribute.startswith(("plan.", "date."))))
    ):
        return None
    if not slots and fact is None and lasting and lasting.name in {"gave up", "habit"} and not things.key(masked):
        return None
    if (not slots and claims.is_scene(masked) and not durable.outlasts(masked)) or joins.is_intro(masked):
        return None
    plain, slots = chinese_slots.with_home_town(plain, slots, known_people)
    content = rendering.content(plain, part, subject, context, known_people)
    return _build(quote, plain, content, masked, context, known_people, slots, fact, lasting)


def _counts_beside(fact: life.Fact | None, slots: list[Slot]) -> bool:
    """Return whether the slot of a thing counts beside those that the tables read: it is over, or they are lists."""
    if fact is None or not slots:
        return fact is not None
    return fact.over or (fact.attribute.startswith("habit.") and all(map(chinese_slots.may_stand_by, slots)))


def _build(
    quote: str, plain: str, content: str, masked: str, context: ClauseContext, known_people: People, slots: list[Slot],
    fact: life.Fact | None, lasting: durable.Sign | None,
) -> ClauseStatement:  # fmt: skip
    subject = context.subject
    if fact and subject.sort is Sort.PERSON and fact.attribute == "work.employer" and fact.over:
        fact = replace(fact, attribute="work.role")
    if fact and fact.attribute.startswith("habit.") and any(slot.pattern.negated for slot in slots):
        fact = None
    shared = fact is not None and fact.attribute.startswith(("relation.", "number.房租"))
    return ClauseStatement(
        quote, plain, content, known_people.speaker if shared else subject.name or known_people.speaker,
        lasting.category if lasting else Category.FACT, lasting.importance if lasting else 0.55,
        tuple(dates.find(plain, context.said_at, chinese=True)), tuple(slots),
        fact if _counts_beside(fact, slots) else None,
        context.corrects or bool(patterns.CORRECTION.search(masked) or patterns.CORRECTION.search(quote)),
    )  # fmt: skip
