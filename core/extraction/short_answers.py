"""Turns a question and a short answer into a statement.

The resulting sentence is read by the same tables as any other, which also decide whether the answer is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from core.extraction import slot_values
from core.extraction.english.tables import fragments as words_en
from core.language import chinese_household, sentences, third_person
from core.language import chinese_household as words_zh
from core.language.lazy_regex import lazy_regex

LONGEST = 80
"""Maximum characters of an answer; longer ones are read by themselves."""

_QUESTION = lazy_regex(r"[^.!?。！？\n]*[?？]")
_FIRST = lazy_regex(
    r"\s*(?:(?:oh|well|um+|嗯)[,，\s]+)?"
    r"(?:(?P<yes>(?:yes|yep|yeah|yup|correct|right|exactly|indeed|I do|I am)(?![\w'’])|"
    r"是的|是(?=$|[，,。！])|对的|对(?=$|[，,。！])|有的|没错)|"
    r"(?P<no>(?:no|nope|nah|not anymore|not any more|I do not|"
    r"I don['’]t)(?![\w'’])|不是|不了|不(?=$|[，,。！])|已经不|没有))?[\s,，、]*"
    r"(?P<rest>(?:\b(?:St|Dr|Mr|Mrs|Ms|Prof)\. |[^.!?。！？\n]|(?<=\w)\.(?=\w))*)",
    re.IGNORECASE,
)
_LEAD = lazy_regex(
    r"^(?:(?:well|oh|um+|uh|hm+|still|actually|currently|originally|now|just|only|probably|definitely|so|that would be|"
    r"(?:his|her|its|their) name is|that is|that's|it is|it's|its|they are|mostly|mainly|I guess|I think|"
    r"right now|at the moment)[,\s]+)+",
    re.IGNORECASE,
)
_ARTICLE = lazy_regex(r"an? ", re.IGNORECASE)
_TAIL = lazy_regex(
    r",? (?:I (?:think|guess|believe|suppose)|for now|at the moment|these days|thanks?|please)$", re.IGNORECASE
)
_EVADES = lazy_regex(
    r"^(?:no|nope|none|nothing|well\b|not|never|nah|nowhere|nobody|why|what|how|who|which|when|where|that|this|"
    r"it|there|here|"
    r"sorry|thanks?|please|does|do|did|is|are|was|guess|same|too|old|depends|secret|private|some\w*|any\w*|all|"
    r"both|several|many|lots|can|ones?|few|a few|most|plenty|other|another|"
    r"could|let|maybe|ask|hello|hi|hey|ok|okay|yes|yeah|sure|good|fine|home|hard)\b|\b(?:you|your|I|we|my|if|"
    r"that|which|who|whom)\b",
    re.IGNORECASE,
)
_EVADES_ZH = lazy_regex(
    r"^(?:不|没|无|别|为|干嘛|保密|秘密|随便|谁|关|怎么|什么|哪|都|好的|谢|还|暂)|[我你您吗呢么他她]|告诉|知道"
)
_WORD_EN = r"[A-Za-z][\w'’ -]{2,30}?"
_KIN = rf"(?P<who>(?:older |younger |little |big |elder |twin )?(?:{words_en.KIN})(?:-in-law)?)"
_KIND = rf"(?P<who>{words_en.KIN}|{words_en.PETS})"


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """The words of an answer, and the resulting statement. `sure`: it is kept even if it fills no slot."""

    quote: str
    statement: str
    sure: bool = False


@dataclass(frozen=True, slots=True)
class _QuestionForm:
    """A question, and the statement that its answer completes: `{a}` is the answer without `lead`.

    `wants` says whether a piece of text can be such an answer; `on` is the yes or no that a form without `{a}` needs.
    `common`: the answer is no name, and begins small within a sentence.
    """

    question: re.Pattern[str]
    form: str
    lead: re.Pattern[str] | None = None
    wants: Callable[[str], object] | None = None
    on: str = ""
    common: bool = False


def question_in(text: str) -> str | None:
    """Return the last question of a message, which the next message may answer."""
    questions = _QUESTION.findall(text[-sentences.LONGEST :])
    return questions[-1].strip() if questions and not re.search(r"[\"“「]", questions[-1]) else None


def read(question: str, text: str) -> ShortAnswer | None:
    """Return the beginning of `text` as an answer to `question`; None if it is not understood."""
    first = _FIRST.match(text)
    if first is None or text[first.end() : first.end() + 1] in {"?", "？"}:
        return None
    chinese = sentences.is_chinese(question)
    for asks in _ZH if chinese else (*_EN, *_ANY):
        match = asks.question.search(question)
        statement = match and _complete(asks, match, first, chinese=chinese)
        if statement:
            return ShortAnswer(
                _answer_words(text, first.start("rest") if asks.on else first.end()), statement, asks in _ANY
            )
    return None


def _answer_words(text: str, end: int) -> str:
    """Return the words up to `end`, including the full stop."""
    kept = text[:end].rstrip(" ,，、")
    stops = len(text[len(kept) :]) - len(text[len(kept) :].lstrip(".!。！"))
    return text[: len(kept) + stops].strip()


def _complete(asks: _QuestionForm, match: re.Match[str], first: re.Match[str], *, chinese: bool) -> str | None:
    groups = {name: (value or "").strip() for name, value in match.groupdict().items()}
    if asks.on:
        return asks.form.format(**groups) if first[asks.on] else None
    answer = first["rest"].strip()
    if not chinese:
        answer = _TAIL.sub("", _LEAD.sub("", answer))
    if asks.lead:
        answer = asks.lead.sub("", answer, count=1)
    answer = answer.strip(" ,，")
    if first["no"] or not answer or len(answer) > LONGEST or (_EVADES_ZH if chinese else _EVADES).search(answer):
        return None
    if asks.wants and not asks.wants(answer):
        return None
    answer = _small(answer) if asks.common else answer
    stated = asks.form.format(
        a=answer, an=answer if _ARTICLE.match(answer) else third_person.with_article(answer), **groups
    )
    return _PAST.sub(lambda found: _past(found[1]), stated)


_PAST = lazy_regex(r"([a-z]+)\x02")


def _past(verb: str) -> str:
    return _DID.get(verb) or (
        f"{verb}d" if verb.endswith("e") else f"{verb[:-1]}ied" if verb.endswith("ry") else f"{verb}ed"
    )


def _small(answer: str) -> str:
    """Lower the first letter, unless it is a title or an abbreviation ("Software developer", not "CEO")."""
    word, _, rest = answer.partition(" ")
    small = word[1:].islower() and (
        word.lower() in {"at", "for", "with", "by", "on", "in", "since", "from", "about"} or not rest[:1].isupper()
    )
    return answer[:1].lower() + answer[1:] if small else answer


def _is_role(answer: str) -> object:
    """Return whether it is an occupation, or a word formed like one after an article."""
    role = re.split(r" (?:at|for|in|with|by|and)\b|,", answer)[0]
    made = re.search(r"(?:[a-z]{2}(?:er|or|ist|ian|eer|man|woman|ant|wright|smith))$", role) and role.count(" ") < 4
    return slot_values.is_role(role) or (_ARTICLE.match(role) and made)


def _like(pattern: str) -> Callable[[str], object]:
    return lazy_regex(pattern, re.IGNORECASE).search


def _asks(
    question: str,
    form: str,
    lead: str | None = None,
    wants: Callable[[str], object] | None = None,
    *,
    on: str = "",
    common: bool = False,
) -> _QuestionForm:
    start = lazy_regex(lead, re.IGNORECASE) if lead else None
    return _QuestionForm(lazy_regex(question, re.IGNORECASE), form, start, wants, on, common)


_WHAT = r"\bwhat(?:'s|’s| is| are| was)"
_HERE = r"(?:currently |now |actually |still )?"
_EN = (
    _asks(
        rf"\bwhere (?:do|are) you {_HERE}(?:live|living|based|located|residing)\b|"
        rf"\b(?:which|what) (?:city|town|country|place) (?:do you {_HERE}live|are you {_HERE}(?:based|living)) in\b|"
        rf"\b(?:which|what) (?:city|town|country) (?:are you in|do you call home)\b|\bwhere(?:'s| is) (?:your )?home\b",
        "I live in {a}.",
        r"^(?:I (?:live|am) |I['’]m |living |based )?(?:in|at) ",
    ),
    _asks(rf"\bwhere does your {_KIN} {_HERE}live\b", "My {who} lives in {a}.", r"^in "),
    _asks(rf"\bwhere do your {_KIN} {_HERE}live\b", "My {who} live in {a}.", r"^in "),
    _asks(
        r"\bwhere (?:are you|do you come) (?:originally )?from\b|\bwhere are you originally from\b",
        "I am from {a}.",
        r"^(?:originally )?(?:I am |I['’]m )?(?:originally )?from ",
    ),
    _asks(
        rf"{_WHAT} your (?:full |first |real )?name\b|\bwhat your name is\b|\bwho am I (?:speaking|"
        rf"talking) (?:to|with)\b|"
        r"\b(?:have|get|know) your (?:full |first )?name\b",
        "My name is {a}.",
        None,
        lazy_regex(r"^[A-Z][\w'’-]+(?: [\w'’-]+){0,4}$").search,
    ),
    _asks(
        r"\bwhat (?:should|can|may|shall|do) (?:I|people|your friends|they|we) call you\b|\bwhat do you go by\b|"
        r"\bhow (?:should|may|can) I address you\b",
        "You can call me {a}.",
        r"^(?:call me |you can call me |me )",
    ),
    _asks(
        rf"\bhow old is your {_KIN}\b",
        "My {who} is {a} years old.",
        r"^(?:he is|she is|he's|she's) ",
        _like(r"^\w+$"),
        common=True,
    ),
    _asks(
        r"\bhow old are you\b|" + _WHAT + r" your age\b",
        "I am {a} years old.",
        None,
        _like(r"^\w+(?:[- ]\w+)?(?: years?(?: old)?)?$"),
        common=True,
    ),
    _asks(
        r"\bwhat do you do(?: for (?:a living|work|a job)| professionally| exactly| these days)?\s*(?:,[^?]*)?\?|"
        + _WHAT
        + r" your (?:current |official |exact )?(?:job|occupation|profession|(?:job )?title|position|role(?! "
        r"like)|line of work)\b|"
        r"\bwhat (?:kind|sort|type|line) of (?:work|job)\b|\bwhat are you (?:working as|by profession)\b",
        "I work as {an}.",
        r"^(?:I am |I['’]m |I work as |as |working as )(?=an? )",
        _is_role,
        common=True,
    ),
    _asks(r"\bwhere do you (?:currently )?work\b", "I work {a}.", None, _like(r"^(?:at|for) "), common=True),
    _asks(
        r"\b(?:who|which company|what company) do you (?:currently )?work (?:for|at)\b|\bwho(?:'s| is) your employer\b",
        "I work at {a}.",
        r"^(?:at|for) ",
    ),
    _asks(
        r"\b(?:any|your) (?:\w+ ){0,2}allerg(?:y|ies)\b|\bare you allergic to (?:any|some)|"
        r"\bwhat are you allergic to\b|"
        r"\bwhat allergies\b|\banything you(?:'re| are) allergic to\b",
        "I am allergic to {a}.",
        r"^(?:to |I am allergic to )",
        _like(r"^(?:[\w'’-]+(?: [\w'’-]+){0,2}(?:,? and |, ?|$)){1,5}$"),
        common=True,
    ),
    _asks(
        r"\bwhen(?:'s|’s| is) your birthday\b|" + _WHAT + r" your (?:birthday|date of birth|birth ?date)\b|"
        r"\bwhen were you born\b",
        "My birthday is {a}.",
        r"^(?:on )?(?:the )?",
    ),
    _asks(
        r"\b(?:what|who|which)(?:'s|’s| is| are) your (?:all[- ]time |"
        r"absolute )?favou?rite (?P<what>[a-z]+(?: [a-z]+){0,2})\s*\?",
        "My favorite {what} is {a}.",
        None,
        _like(r"^\S+(?: \S+){0,3}$"),
        common=True,
    ),
    _asks(
        rf"{_WHAT} your {_KIND}(?:'s|’s) name\b|{_WHAT} your {_KIND.replace('who', 'whose')} (?:called|named)\b",
        "My {who}{whose} is called {a}.",
    ),
    _asks(rf"{_WHAT} the name of your {_KIND}\b", "My {who} is called {a}."),
    _asks(r"\b(?:what|which|how many) languages (?:do|can) you speak\b", "I speak {a}."),
    _asks(r"\bhow many (?:kids|children) do you have\b", "I have {a} children.", None, _like(r"^\w+$"), common=True),
    _asks(
        r"\b(?:any|your|a) (?:\w+ )?diet\b|\bdietary (?:restrictions?|requirements?|needs|preferences)\b",
        "I am {a}.",
        r"^(?:I am |I['’]m )?(?:an? )?",
        _like(
            r"^(?:vegan|vegetarian|pescatarian|halal|kosher|gluten[- ]free|dairy[- ]free|keto|flexitarian|"
            r"lactose intolerant)\b"
        ),
        common=True,
    ),
    _asks(_WHAT + r" your e-?mail\b|\bwhich e-?mail\b", "My email is {a}."),
    _asks(_WHAT + r" your (?:phone |mobile |cell )*(?:number|phone)\b", "My number is {a}."),
    _asks(
        r"\bare you (?:still |already |currently )?(?P<x>married|engaged|divorced|single|widowed|vegan|vegetarian|"
        r"pescatarian|lactose intolerant|gluten intolerant)\s*\?",
        "I am {x}.",
        on="yes",
    ),
    _asks(rf"\bare you (?:really )?allergic to (?P<x>(?!any|some){_WORD_EN})\?", "I am allergic to {x}.", on="yes"),
    _asks(rf"\bdo you (?:still )?(?P<x>(?:live in|work (?:at|for)) {_WORD_EN})\?", "I {x}.", on="yes"),
    _asks(
        rf"\byou (?P<x>(?:live in|work (?:at|for)) {_WORD_EN}), (?:right|correct|don['’]t you)\?", "I {x}.", on="yes"
    ),
    _asks(rf"\bdo you still (?P<x>(?:live in|work (?:at|for)) {_WORD_EN})\?", "I no longer {x}.", on="no"),
    _asks(
        rf"\bdo you (?P<x>(?:eat|drink) (?!any|some|out|well|healthy|breakfast|lunch|dinner|there){_WORD_EN})\?",
        "I do not {x}.",
        on="no",
    ),
)
_ANY = (
    _asks(
        r"\bhow old is (?P<who>[A-Z][\w-]+)\b",
        "{who} is {a} years old.",
        r"^(?:he is|she is|he's|she's) |,? (?:they|we|I) think$",
        _like(r"^(?:\d{1,3}|[a-z]+(?:-[a-z]+)?)$"),
        common=True,
    ),
    _asks(
        r"\bwhat (?P<what>[a-z]+(?: [a-z]+)?) do you (?:like|love|enjoy|prefer)(?: (?:best|most|the (?:best|"
        r"most)))?\s*\?",
        "My favourite {what} is {a}.",
        None,
        _like(r"^\S+(?: \S+){0,4}$"),
        common=True,
    ),
    _asks(
        _WHAT
        + r" your (?P<what>(?!mind|plans?|thoughts?|opinion|take|view|idea|point|question|problem|issue|role like|day|"
        r"weekend|goals?\b|next|e-?mail|phone|name)[a-z]+(?: (?!like\b|about\b|on\b)[a-z]+){0,3}?)"
        r"(?: (?:now|these days|at the moment|in [^?]{2,30}))?\s*(?:, [^?]{1,30})?\?",
        "My {what} is {a}.",
        None,
        _like(r"^\S+(?: \S+){0,7}$"),
        common=True,
    ),
    _asks(
        r"\b(?:any|what(?:'s|’s| is| are)(?: your)?|do you have (?:a|any)) (?:\w+ ){0,2}(?:goals?|targets?|"
        r"aims?|resolutions?)\b",
        "My goal is {a}.",
        r"^(?:to have|I want|I'd like) (?=to )",
        _like(r"^(?:to [a-z]+|[a-z]+ing\b|an? ).*"),
        common=True,
    ),
    _asks(
        r"\b(?:what|which) (?P<what>(?!time\b|day\b|date\b|one\b|kind\b|sort\b)[a-z]+(?: [a-z]+)?) (?:is|was) "
        r"(?:that|it|this)\b(?! (?:about|for|like))",
        "The {what} is {a}.",
        None,
        _like(r"^(?:[Tt]he |an? )?[A-Z][\w'’-]*(?: [\w'’-]+){0,5}$"),
    ),
    _asks(
        r"\b(?:any|do you have any|have you (?:got )?any) (?:other |more )?(?:siblings|brothers or sisters|"
        r"brothers|sisters|kids|children|"
        r"pets|animals|hobbies|instruments|tattoos|cars?)\b",
        "I have {a}.",
        r"^(?:I have |I've got )?(?:just |only )?",
        _like(r"^(?:an?|one|two|three|four|five|six|\d+|my)\b"),
        common=True,
    ),
    _asks(
        r"\bdo you (?P<do>[a-z]+(?: [a-z]+){0,3}?) (?:with )?(?:anyone|anybody|someone)\b",
        "I {do} {a}.",
        None,
        _like(r"^with [A-Z]|^with my\b"),
        common=True,
    ),
    _asks(
        r"\bhow (?:do|are) you (?P<do>get(?:ting)? (?:to|there|around|home)[^?]{0,20}?|commut(?:e|ing)|"
        r"travel(?:l?ing)?(?: to \w+)?)"
        r"(?: (?:now|these days))?\s*\?",
        "I {do} {a}.",
        None,
        _like(r"^(?:by|on|with|in) "),
        common=True,
    ),
    _asks(
        r"\bwhen did you (?P<do>finish|graduate|retire|start|quit|stop|marry|leave|move)(?P<what> [^?]{2,30})?\s*\?",
        "I {do}\x02{what} in {a}.",
        r"^(?:back )?in ",
        _like(
            r"^(?:(?:January|February|March|April|May|June|July|August|September|October|November|December) "
            r")?(?:19|20)\d\d$"
        ),
    ),
    _asks(
        r"\bhow long have you been (?:living )?in (?P<where>[A-Z][\w-]+)\b",
        "I have been in {where} {a}.",
        None,
        _like(r"^(?:since|for) "),
        common=True,
    ),
)
"""General question forms, tried if none of the others fits."""
_DID = {"quit": "quit", "leave": "left", "stop": "stopped"}
_PERSON_ZH = rf"(?P<who>{chinese_household.KIN})"
_ZH = (
    _asks(rf"[你您](?:的)?{_PERSON_ZH}(?:现在|目前)?(?:住在?|家在)哪", "我的{who}住在{a}。", r"^(?:住)?在"),
    _asks(
        r"[你您](?:现在|目前|平时)?(?:住在?|家住?在|人在|居住在|定居在)(?:的)?(?:哪|什么)|[你您](?:现在|目前)?在哪(?:里|儿|个城市)?住",
        "我住在{a}。",
        r"^(?:目前|现在|一直|就)?(?:我?住)?在?",
    ),
    _asks(
        r"[你您](?:是|来自)(?:哪|什么地方)|老家(?:是|在)?哪|家乡(?:是|在)?哪",
        "我是{a}。",
        r"^我?是",
        _like(r"^[\u4e00-\u9fff]{2,4}人$"),
    ),
    _asks(
        r"[你您](?:是|来自)(?:哪|什么地方)|老家(?:是|在)?哪|家乡(?:是|在)?哪",
        "我来自{a}。",
        r"^(?:来自|在)",
        _like(r"^[\u4e00-\u9fff]{2,5}$"),
    ),
    _asks(
        rf"[你您]家?(?:的)?(?P<who>{chinese_household.KIN}|{words_zh.PETS})(?:的名字)?(?:是)?叫什么",
        "我的{who}叫{a}。",
        r"^(?:名字)?叫",
    ),
    _asks(
        r"[你您](?:的名字)?叫什么|[你您]的(?:名字|姓名)是|怎么称呼[你您]?|[你您]贵姓",
        "我叫{a}。",
        r"^叫",
        _like(r"^[\u4e00-\u9fff·]{2,4}$|^[A-Z][a-z]+$"),
    ),
    _asks(
        rf"[你您](?:的|家)?{_PERSON_ZH}(?:今年)?(?:多大|几岁)",
        "我的{who}{a}岁。",
        r"岁$",
        _like(r"^(?:\d{1,3}|[一二两三四五六七八九十]{1,3})$"),
    ),
    _asks(
        r"[你您](?:今年)?(?:多大|几岁|贵庚)|[你您]的年龄|多大年[纪龄]",
        "我{a}岁。",
        r"岁$",
        _like(r"^(?:\d{1,3}|[一二两三四五六七八九十]{1,3})$"),
    ),
    _asks(
        r"[你您]对(?:什么|哪些|啥)(?:东西|食物)?过敏|过敏(?:史|吗|的(?:食物|东西|药))|(?:药物|食物)过敏|(?:什么|哪些)[^，。？?]{0,4}过敏",
        "我对{a}过敏。",
        r"^对|过敏$",
        _like(r"^[\u4e00-\u9fff、和跟]{1,12}$"),
    ),
    _asks(
        r"[你您]?(?:是)?在(?:哪|什么)[^，。？?住]{0,6}(?:工作|上班|任职|就职)",
        "我在{a}工作。",
        r"^在|(?:工作|上班)$",
        _like(r"^[^，。、\s]{2,12}$"),
    ),
    _asks(
        r"[你您](?:是)?(?:做|干|从事)(?:的)?(?:是)?(?:什么|哪)|[你您]的(?:职业|工作)是|什么(?:职业|工作)",
        "我是{a}。",
        r"^(?:我?是|当|做)(?:一名|一个|个)?",
    ),
    _asks(r"[你您](?:的)?生日(?:是)?(?:在)?(?:哪|几|什么|多少)", "我的生日是{a}。", r"^是"),
    _asks(
        r"[你您]最(?:喜欢|爱)(?:吃|喝|看|听)?的(?P<what>[\u4e00-\u9fff]{1,5}?)是",
        "我最喜欢的{what}是{a}。",
        r"^是",
        _like(r"^[^，。]{1,10}$"),
    ),
    _asks(
        r"[你您]最(?:喜欢|爱)(?:吃|喝|看|听)?(?:的)?(?:什么|哪(?:个|种|部|本|首)?)(?P<what>[\u4e00-\u9fff]{1,5})[？?]",
        "我最喜欢的{what}是{a}。",
        r"^是",
        _like(r"^[^，。]{1,10}$"),
    ),
    _asks(r"[你您](?:有)?几个(?:孩子|小孩|娃)", "我有{a}孩子。", r"^有", _like(r"^[一两二三四1-4]个$")),
    _asks(r"[你您](?:会)?(?:说|讲)(?:什么|哪些|几种)(?:语言|话)", "我会说{a}。", r"^(?:会)?(?:说)?"),
    _asks(r"[你您](?P<is>是|吃)(?P<x>素食主义者|素食者|素)(?:吗|么)", "我{is}{x}。", on="yes"),
    _asks(r"[你您]对(?P<x>[\u4e00-\u9fff]{1,6})过敏(?:吗|么)", "我对{x}过敏。", on="yes"),
    _asks(r"[你您](?:还|仍然)住在(?P<x>[\u4e00-\u9fff]{2,6})(?:吗|么)", "我不住在{x}了。", on="no"),
)
