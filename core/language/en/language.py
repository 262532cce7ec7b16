"""English, as `core.language.language.Language` asks of it."""

from __future__ import annotations

import re

from core.language.en import clock_times, plain, pretence, slots, third_person, unnamed_user
from core.language.en.activities import ACTIVITIES
from core.language.en.assertions import ASSERTIONS
from core.language.en.chat import CHAT
from core.language.en.context import CONTEXT
from core.language.en.dates import DATES
from core.language.en.forgetting import FORGETTING
from core.language.en.key_sentences import KEY_SENTENCES
from core.language.en.lexicon import LEXICON
from core.language.en.open_questions import OPEN_QUESTIONS
from core.language.en.openings import OPENINGS
from core.language.en.outcomes import OUTCOMES
from core.language.en.people import PEOPLE
from core.language.en.phrases import PHRASES
from core.language.en.plans import PLANS
from core.language.en.questions import QUESTIONS
from core.language.en.salience import SALIENCE
from core.language.en.screening import SCREENING
from core.language.en.statements import STATEMENTS
from core.language.en.tables import at_work, cues, orders
from core.language.en.time_spans import TIME_SPANS
from core.language.language import Grammar, Language
from core.language.lazy_regex import lazy_regex

_REFERENCE = lazy_regex(
    r"\b(?:he|she|it|they|him|her|his|hers|its|them|their|theirs|this|that|these|those|there|one|ones|both|another|"
    r"either|neither|same|so)\b(?! (?:morning|afternoon|evening|week|weekend|month|year|spring|summer|autumn|fall|"
    r"winter)\b)|^(?:and|but|because|which|or|then|also|not|no|yes|yeah|yep|still|instead|only|just)\b|"
    r"^(?:I|We) (?:now )?live (?:near|by|close to|next to|across from) (?:the|an?) [a-z ]+[.!]?$",
    re.IGNORECASE,
)
_OWN_SUBJECT = lazy_regex(
    r"\b(?:I|[Ww]e|[Mm]y|[Oo]ur|me|us)\b|^(?:The|A|An|There|Please)\b|[a-z,] [A-Z][a-z]|"
    r"^[A-Z][\w’']+ (?:is|was|has|had|will|[a-z]+s|[a-z]+ed|and [A-Z]\w+) |^[A-Z]\w+['’]s\b"
)
"""Sentences with their own subject: the speaker, a name, a thing."""
_SIMPLE = lazy_regex(
    r"^(?:(?:actually|oh|so|well|now|sorry|right|ok(?:ay)?|hi|hey|hello|by the way|btw),? )*"
    r"(?:I|I['’](?:m|ve|ll|d)|My|We|We['’](?:re|ve|ll)|Our)\b[^,;:—]*$",
    re.IGNORECASE,
)
_OWN = lazy_regex(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|us|[Oo]urs?|[Oo]urselves)\b")
"""Words by which people refer to themselves; a sentence without them stays as it was said."""
_DONE = lazy_regex(
    r"^(?:(?:and|so|then|well|okay|ok|yes|yeah|sure|great|also|but|now|actually|meanwhile|today|yesterday),? )*"
    r"(?:I|we) (?:(?:also|just|already|finally|then|now|both|have|had|definitely|probably|first) )*"
    r"(?:will(?: not)?|am going to|are going to|plan to|promise to|promised to|agreed to|decided to|have to|need to|"
    r"must|bought|brought|built|booked|called|chose|did|drove|flew|found|gave|got|left|lost|made|met|moved|paid|put|"
    r"ran|read|sent|set|sold|spent|spoke|took|told|visited|went|won|wrote|"
    r"(?!(?:want|need|lik|lov|hop|hat|believ|seem|wonder|wish|appreciat|enjoy|agre|prefer|dislik|mention|mean|ask)e?d\b)"
    r"[a-z]{2,}(?<!e)ed)\b",
    re.IGNORECASE,
)
_UNDECIDED = lazy_regex(
    r"\b(?:we['’]ll see|not (?:yet )?(?:sure|decided)|it depends)\b|\b(?:keeps?|kept) saying\b",
)
_SOMEBODY = lazy_regex(r"\b(?:he|she|him|her|his|hers|they|them|their)\b")
_NAMES = lazy_regex(
    r"(?<=[a-z,'’] )(?!I\b)[A-Z][a-z]+|^[A-Z][a-z]+(?= (?:is|was|has|had|will|wants|got|said|and [A-Z]|"
    r"[a-z]+ed)\b|['’]s\b)|"
    r"\b[Mm]y (?:mum|mom|dad|wife|husband|son|daughter|sister|brother|partner|boss|friend|mate|nan|gran|aunt|uncle)\b"
)
"""Names that “he” or “she” may refer to."""
_ABOUT_LISTENER = lazy_regex(r"^(?!.*\b(?:I|me|we)\b).*\byour?\b", re.IGNORECASE)
_CORRECTS = lazy_regex(
    r"^(?:oh,? |ah,? |um,? |er,? )?(?:no,? wait|wait,? no|no,? sorry|sorry,? no|no,? hang on|scratch that|correction|"
    r"i meant?|make that|my mistake|strike that|no,? actually|actually,? no)\b",
    re.IGNORECASE,
)


_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e a.m p.m u.s u.k no inc ltd approx dept jan feb mar apr jun jul aug "
    "sep sept oct nov dec".split()
)


def refers_back(sentence: str) -> bool:
    """Return whether a sentence can be understood only from what was said around it."""
    return bool(_REFERENCE.search(sentence)) or not _OWN_SUBJECT.search(sentence)


def is_meant(sentence: str) -> bool:
    """Return whether a sentence is neither sarcasm nor hearsay, as far as its words tell."""
    return pretence.is_meant(sentence) and not pretence.is_hearsay(sentence)


GRAMMAR = Grammar(
    code="en",
    plain=plain.plain,
    as_order=plain.as_order,
    third_person=third_person.third_person,
    slots=slots.slots,
    stated=cues.STATED,
    labels={},
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
    standing="{who}'s standing instruction: {wish}.",
    order_topics=orders.TOPICS,
    lifts=orders.LIFTS,
    change=cues.CHANGE,
    about_listener=_ABOUT_LISTENER,
    short=60,
    word_length=None,
    joiner=" and ",
    dates=DATES,
    ends=".",
    own=_OWN,
    done=_DONE,
    undecided=_UNDECIDED,
    somebody=_SOMEBODY,
    names=_NAMES,
    with_article=third_person.with_article,
    as_said=slots.as_said,
    full_stop=".",
)

ENGLISH = Language(
    code="en",
    grammar=GRAMMAR,
    abbreviations=_ABBREVIATIONS,
    assertions=ASSERTIONS,
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
    salience=SALIENCE,
    chat=CHAT,
    statements=STATEMENTS,
    joins=lazy_regex(r"\b(?:and|but|because|although)\b", re.IGNORECASE),
    hours=clock_times.hours,
    names_user=unnamed_user.about,
    lexicon=LEXICON,
    forgetting=FORGETTING,
    people=PEOPLE,
    screening=SCREENING,
)
