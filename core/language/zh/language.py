"""Chinese, as `core.language.language.Language` asks of it."""

from __future__ import annotations

from core.language.language import Grammar, Language
from core.language.lazy_regex import lazy_regex
from core.language.scripts import has_han
from core.language.zh import clock_times, plain, slots, third_person, unnamed_user
from core.language.zh.activities import ACTIVITIES
from core.language.zh.assertions import ASSERTIONS
from core.language.zh.chat import CHAT
from core.language.zh.context import CONTEXT
from core.language.zh.dates import DATES
from core.language.zh.details import DETAILS
from core.language.zh.forgetting import FORGETTING
from core.language.zh.key_sentences import KEY_SENTENCES
from core.language.zh.lexicon import LEXICON
from core.language.zh.open_questions import OPEN_QUESTIONS
from core.language.zh.openings import OPENINGS
from core.language.zh.outcomes import OUTCOMES
from core.language.zh.people import PEOPLE
from core.language.zh.phrases import PHRASES
from core.language.zh.plans import PLANS
from core.language.zh.questions import QUESTIONS
from core.language.zh.recognition import is_chinese
from core.language.zh.salience import SALIENCE
from core.language.zh.screening import SCREENING
from core.language.zh.statements import STATEMENTS
from core.language.zh.tables import at_work, cues, orders
from core.language.zh.time_spans import TIME_SPANS
from core.language.zh.variants import simplified

_REFERENCE = lazy_regex(r"[他她它]|[这那](?![周月年]|个月)|人家|对方|^(?!.*[我咱])")
_SIMPLE = lazy_regex(r"^(?:今天|昨天|最近|现在|上周|下周)?[我咱][^，,；：]*$")
_DONE = lazy_regex(
    r"^(?:那|好的?|所以|然后|今天|昨天|刚才|刚刚|其实)?[，,]?我们?(?!觉得|想知道|不知道)"
    r"[^，。！？]{0,12}?(?:会|要|将|打算|准备|决定|得去|已经|刚|去了|买了|订了|做了|完成了|发了|写了|修了|试了)"
)
_UNDECIDED = lazy_regex(r"再看看|看情况|再说吧|还没(?:想好|定)|不一定")
_ABOUT_LISTENER = lazy_regex(r"^(?!.*我).*[你您]")
_CORRECTS = lazy_regex(
    r"^(?:[啊哦呃额诶等一下慢着，,]*)(?:不对|不是不是|说错|算错|看错|记错|打错|写错|搞错|弄错|讲错|说反|记反|口误|笔误|"
    r"更正|纠正|改正|订正|错了|嘴瓢|手误|(?:时间|日期|日子)?(?:改期?|变|推迟|提前|延期)了[，,])"
)
_UNMEANT = lazy_regex(r"听说|据说|传[言闻说]|谣言|八卦|真(?:是|的是)?太[^，]{1,8}了(?:呢|呀|啊)?$")


def refers_back(sentence: str) -> bool:
    """Return whether a sentence can be understood only from what was said around it."""
    return bool(_REFERENCE.search(sentence))


def is_meant(sentence: str) -> bool:
    """Return whether a sentence is neither sarcasm nor hearsay, as far as its words tell."""
    return not _UNMEANT.search(sentence)


GRAMMAR = Grammar(
    code="zh",
    plain=plain.plain,
    as_order=plain.plain,
    third_person=third_person.third_person,
    slots=slots.slots,
    stated=cues.STATED,
    labels=slots.LABELS,
    categories=cues.CATEGORIES,
    themes=cues.THEMES,
    refers_back=refers_back,
    simple=_SIMPLE,
    corrects=_CORRECTS,
    is_meant=is_meant,
    lasting=at_work.LASTING,
    momentary=at_work.MOMENTARY,
    order=at_work.ORDER,
    instruction=orders.INSTRUCTION,
    one_off=orders.ONE_OFF,
    to_assistant=orders.PLAIN,
    standing="{who}的长期要求：{wish}。",
    order_topics=orders.TOPICS,
    lifts=orders.LIFTS,
    change=cues.CHANGE,
    about_listener=_ABOUT_LISTENER,
    short=20,
    word_length=1.6,
    joiner="、",
    dates=DATES,
    ends="",
    own=None,
    done=_DONE,
    undecided=_UNDECIDED,
    somebody=None,
    names=None,
    with_article=str,
    as_said=lambda what, _: what,
    full_stop="。",
)

CHINESE = Language(
    code="zh",
    grammar=GRAMMAR,
    is_of=is_chinese,
    assertions=ASSERTIONS,
    has_script=has_han,
    dates=DATES,
    questions=QUESTIONS,
    time_spans=TIME_SPANS,
    context=CONTEXT,
    plans=PLANS,
    phrases=PHRASES,
    outcomes=OUTCOMES,
    activities=ACTIVITIES,
    key_sentences=KEY_SENTENCES,
    open_questions=OPEN_QUESTIONS,
    openings=OPENINGS,
    details=DETAILS,
    salience=SALIENCE,
    chat=CHAT,
    statements=STATEMENTS,
    joins=lazy_regex(r"并且|而且|但是|但|所以|不过|还有|因为"),
    written_plainly=simplified,
    hours=clock_times.hours,
    names_user=unnamed_user.about,
    lexicon=LEXICON,
    forgetting=FORGETTING,
    people=PEOPLE,
    screening=SCREENING,
)
