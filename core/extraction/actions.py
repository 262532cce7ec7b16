"""Actions that a speaker reports or announces.

Broader than facts worth remembering: what someone said they would bring shows how a conversation went.
"""

from __future__ import annotations

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
        plain = language.plain(stated)
        if not language.done.search(plain):
            continue
        dated = dates.made_absolute(plain, message.occurred_at, language.dates)
        sentence = language.third_person(dated, speaker, addressee)
        yield sentence if sentence.endswith((".", "!", "?")) else f"{sentence}{language.ends}"


def _is_said_already(action: str, listed: Sequence[str]) -> bool:
    """Return whether it is in the list already, possibly followed by another sentence."""
    return any(action.rstrip(".!。！") in other for other in listed)
