"""Questions of a conversation that nobody has answered yet; in English and Chinese. Pure.

A question is open from when it is asked until the next speaker answers it, or a later sentence has most of its words.
An answer that defers ("I'll check", 还没定) leaves it open. What is said to be open ("still undecided", 待定) counts
as a question. Courtesies, offers, and requests to the assistant do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core.language import sentences
from core.language.terms import terms
from core.summaries.key_messages import KeyMessage, kind_of, speaker
from core.types import Message

KIND: Final = "question"

MOST: Final = 12
"""Open questions kept, the newest: of a chat that leaves many unanswered, the old ones matter to nobody."""

WORDS: Final = 2
"""Least words of content in a question: "Really?" asks nothing."""

SAME: Final = 0.6
"""Share of the words of a question from which a later statement answers it."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A message as answers are judged: who said it, what it states, whether it defers or takes back."""

    by: str
    stated: Sequence[str]
    defers: bool
    takes_back: bool


def still_open(
    earlier: Sequence[KeyMessage], messages: Sequence[Message], later: Sequence[Message]
) -> list[KeyMessage]:
    """Return the questions open after `messages`: of `earlier` and of theirs, without those answered there or `later`.

    Questions asked in `later` are not returned.
    """
    questions, fresh = [key for key in earlier if key.kind == KIND], list[KeyMessage]()
    for index, message in enumerate((*messages, *later)):
        if message.role not in {"user", "assistant"}:
            continue
        reading = _read(message)
        fresh = _unanswered(fresh, reading)
        questions = [key for key in questions if not _answers(key, reading)]
        if fresh and reading.by != fresh[-1].by:  # It had its turn: from now on only its own words answer a question.
            questions, fresh = [*questions, *fresh], []
        if index < len(messages):
            for key in _questions(message, [*questions, *fresh]):
                (questions if _is_left_open(_plain(key.quote)) else fresh).append(key)
    return [*questions, *fresh][-MOST:]


def _read(message: Message) -> _Reading:
    """Read a message; its answers may be fragments, but no questions."""
    parts = [sentence for sentence in sentences.split(message.content) if not _asks(sentence)]
    defers = any(_DEFERS.search(_plain(sentence)) for sentence in parts)
    stated = [sentence for sentence in parts if not _OPEN.search(sentence) and not _DEFERS.search(_plain(sentence))]
    return _Reading(speaker(message), stated, defers, any(_TAKES_BACK.search(_plain(sentence)) for sentence in parts))


def _unanswered(fresh: Sequence[KeyMessage], reading: _Reading) -> list[KeyMessage]:
    """Return those of the latest questions that this message leaves open."""
    if not fresh:
        return []
    if reading.by == fresh[-1].by:
        return [] if reading.takes_back else [key for key in fresh if not _answers(key, reading)]
    if not reading.stated:
        return list(fresh)
    by_words = [key for key in fresh if _answers(key, reading, least=SAME / 2)]
    if reading.defers:
        return [key for key in fresh if key not in by_words] if by_words and len(fresh) > 1 else list(fresh)
    if len(reading.stated) >= len(fresh):
        return []
    answered = by_words or fresh[-1:]  # The last question is the one that a short answer is for.
    return [key for key in fresh if key not in answered]


def _answers(key: KeyMessage, reading: _Reading, least: float = SAME) -> bool:
    question_terms = _content(key.quote)
    return (
        any(len(question_terms & set(terms(statement))) >= least * len(question_terms) for statement in reading.stated)
        if question_terms
        else False
    )


def _questions(message: Message, earlier: Sequence[KeyMessage]) -> Iterator[KeyMessage]:
    """Yield the questions of a message and what it says to be open, each once; not what only puts off an answer."""
    by, quotes = speaker(message), {key.quote for key in earlier}
    is_reply = any(key.position == message.position - 1 and key.by != by for key in earlier)
    for sentence in sentences.split(message.content):
        plain = _plain(sentence)
        is_question = _asks(sentence) and not _IDLE.search(plain) and kind_of(sentence, message.role) is None
        is_open = _is_left_open(plain) and not (is_reply and _DEFERS.search(plain))
        if not (is_question or is_open) or sentence in quotes or len(_content(sentence)) < WORDS:
            continue
        if not (message.role == "assistant" and _OFFER.search(plain)):
            quotes.add(sentence)
            yield KeyMessage(message.id, message.position, KIND, sentence, by)


def _asks(sentence: str) -> bool:
    return bool(_ENDS.search(sentence))


def _is_left_open(plain: str) -> bool:
    """Return whether a sentence names something undecided; not if it is only supposed or quoted."""
    return bool(_OPEN.search(plain)) and not sentences.is_hypothetical(plain) and not sentences.is_quoted(plain)


def _content(sentence: str) -> set[str]:
    return set(terms(_OPEN.sub(" ", _plain(sentence)))) - _ASKING


def _plain(sentence: str) -> str:
    return sentence.replace("’", "'").replace("‘", "'")


_ASKING: Final = frozenset(
    "what which who whom whose when where why how do does did is are was were can could should would will have has "
    "still open question undecided decide decided know need find out yet tbd think 什么 怎么 哪里 哪个 多少 什么时候 "
    "吗 呢 几 谁 还 没 待定 确定 决定 问题".split()
)
"""Words that ask; an answer does not repeat them."""

_ENDS = re.compile(r"[?？][\"'”’」』)）\]]*$")

_IDLE = re.compile(
    r"^(?:(?:oh|hey|hi|hello|well|so|and|but|ok|okay|thanks)\b[,!. ]*)*"
    r"(?:how(?:'s| is| are) (?:you|it going|things|everything|life)|what's up|right|really|you know|see|okay|ready"
    r"|isn't it|don't you think|guess what|know what|who knows|why not|what else|how come|sounds? good)"
    r"\b[^,]{0,25}\?"
    r"|^(?:can|could|would|will) you (?:please )?"
    r"(?:help|write|tell|show|give|explain|make|find|check|send|remind|add)\b"
    r"|^(?:你好|最近怎么样|怎么样|是吗|真的吗|对吧|好吗|行吗|可以吗|知道吗|在吗)[?？]"
    r"|^(?:请问)?(?:你)?(?:能不能|可以|能|可不可以)(?:请你?)?(?:帮|给|告诉|替)",
    re.IGNORECASE,
)
"""Courtesies, tags, and requests that only look like questions."""

_OFFER = re.compile(
    r"\b(?:would you like|do you want (?:me|to)|want me to|shall (?:I|we)|should I|can I|may I|anything else|any other"
    r"|does (?:that|this)|is there anything|how can I|how does|what would you like|sound good|how about"
    r"|what do you think)\b"
    r"|需要我|要我|要不要我|还有(?:什么|其他|别的)|我可以|可以帮|有什么.{0,6}帮|您?觉得(?:怎么样|如何)|怎么样[?？]$",
    re.IGNORECASE,
)
"""Offers of an assistant and questions that keep a conversation going."""

_OPEN = re.compile(
    r"\b(?:open|outstanding|unresolved) (?:question|point|issue)s?\b|\bTBD\b|\bto be (?:decided|determined|confirmed)\b"
    r"|\b(?:is|are|remains?|still|stays?) (?:still )?(?:open|undecided|unresolved|unclear|up in the air)\b"
    r"(?! (?:to|for|until|on|at|from|every)\b)"
    r"|\b(?:haven't|hasn't|have not|has not|not) (?:been )?(?:yet )?(?:decided|figured out|settled|agreed|confirmed)\b"
    r"|\bstill (?:need|have|has|needs) to (?:decide|figure out|find out|clarify|agree|confirm|choose|pick)\b"
    r"|\b(?:I|we) (?:still )?(?:don't|do not) know (?:yet )?(?:what|which|who|when|where|whether|if|how)\b"
    r"|待定|待确认|有待(?:确认|讨论|解决)|悬而未决|还没(?:有)?(?:决定|确定|定|想好|商量好|弄清|搞清)|尚未(?:决定|确定|解决)"
    r"|还(?:不|没)(?:清楚|知道)(?:.{0,8})(?:什么|谁|哪|怎么|几|多少|是否|要不要)|还需要?(?:确认|决定|商量|弄清)",
    re.IGNORECASE,
)
"""Something is said to be undecided."""

_DEFERS = re.compile(
    r"\b(?:I|we)(?:'ll| will|'d| would| need to| have to| must|'m going to| should)? "
    r"(?:\w+ )?(?:check|ask|find out|look into|get back|let you know|think about|look it up|look that up|see about)\b"
    r"|\b(?:let me|lemme) (?:check|ask|think|look|see|find|get back)\b|\b(?:I'm|we're|I am) not (?:sure|certain)\b"
    r"|\bnot sure\b|\b(?:no idea|don't know|do not know|can't say|cannot say|hard to say|too early to say)\b"
    r"|\b(?:depends|it depends)\b|\b(?:don't|do not) have (?:that|this|the) (?:information|details?|answer)\b"
    r"|不(?:太)?(?:知道|清楚|确定|好说)|没(?:有)?(?:想好|定|决定|确定)|再(?:看看|说|想想|确认|问问)|回头|稍后|晚点|等(?:我|会)"
    r"|我(?:去)?(?:问问|查查|查一下|确认一下|想想)|看情况|待定|说不准|拿不准",
    re.IGNORECASE,
)
"""An answer that puts off the answer."""

_TAKES_BACK = re.compile(
    r"\b(?:never ?mind|forget (?:it|I asked|about it)|doesn't matter|figured it out|found it|got it now)\b"
    r"|算了|不用了|没事了|当我没问|别管了|想起来了|找到了|知道了",
    re.IGNORECASE,
)
