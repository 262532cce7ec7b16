"""Actions that a speaker reports or announces.

Broader than facts worth remembering: what someone said they would bring shows how a conversation went.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from core.extraction import rule_extractor, speakers
from core.language import dates, languages, sentences
from core.types import Category, Message


def actions_of(messages: Sequence[Message]) -> Mapping[str, Sequence[str]]:
    """Return the actions in each message of one conversation: extracted plans and events, and plain sentences."""
    messages = speakers.with_assistants(messages)
    actions: defaultdict[str, list[str]] = defaultdict(list)
    for candidate in rule_extractor.statements_of_rules(messages):
        if candidate.category in {Category.PLAN, Category.EVENT}:
            actions[candidate.evidence[0].message_id].append(candidate.content)
    names = frozenset(name for m in messages if (name := speakers.speaker_of(m)))
    for message in messages:
        speaker = speakers.speaker_of(message)
        if speaker is not None:
            plain_actions = _plain(message, speaker, names - {speaker})
            actions[message.id] += [
                action for action in plain_actions if not _is_said_already(action, actions[message.id])
            ]
    return {message_id: list(dict.fromkeys(ones)) for message_id, ones in actions.items() if ones}


def _plain(message: Message, speaker: str, others: frozenset[str]) -> Iterator[str]:
    """Return the sentences of a message that begin with what its speaker did or will do."""
    addressee = next(iter(others)) if len(others) == 1 else None
    for quote in sentences.split(message.content):
        stated = sentences.asserted_part(quote)
        if stated is None:
            continue
        language = languages.grammar_of(stated)
        chinese, plain = language.code == "zh", language.plain(stated)
        if not (_DONE_ZH if chinese else _DONE_EN).search(plain):
            continue
        dated = dates.written_out(plain, list(dates.find(plain, message.occurred_at, language.dates)))
        sentence = language.third_person(dated, speaker, addressee)
        yield sentence if chinese or sentence.endswith((".", "!", "?")) else f"{sentence}."


def _is_said_already(action: str, listed: Sequence[str]) -> bool:
    """Return whether it is in the list already, possibly followed by another sentence."""
    return any(action.rstrip(".!。！") in other for other in listed)


_DONE_EN = re.compile(
    r"^(?:(?:and|so|then|well|okay|ok|yes|yeah|sure|great|also|but|now|actually|meanwhile|today|yesterday),? )*"
    r"(?:I|we) (?:(?:also|just|already|finally|then|now|both|have|had|definitely|probably|first) )*"
    r"(?:will(?: not)?|am going to|are going to|plan to|promise to|promised to|agreed to|decided to|have to|need to|"
    r"must|bought|brought|built|booked|called|chose|did|drove|flew|found|gave|got|left|lost|made|met|moved|paid|put|"
    r"ran|read|sent|set|sold|spent|spoke|took|told|visited|went|won|wrote|"
    r"(?!(?:want|need|lik|lov|hop|hat|believ|seem|wonder|wish|appreciat|enjoy|agre|prefer|dislik|mention|mean|ask)e?d\b)"
    r"[a-z]{2,}(?<!e)ed)\b",
    re.IGNORECASE,
)

_DONE_ZH = re.compile(
    r"^(?:那|好的?|所以|然后|今天|昨天|刚才|刚刚|其实)?[，,]?我们?(?!觉得|想知道|不知道)"
    r"[^，。！？]{0,12}?(?:会|要|将|打算|准备|决定|得去|已经|刚|去了|买了|订了|做了|完成了|发了|写了|修了|试了)"
)
