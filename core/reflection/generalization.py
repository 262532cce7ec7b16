"""What a cluster shows, by rules or model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from core.errors import Never
from core.inference import prompts
from core.inference.client import Client, OnCall
from core.language.common_words import PLAIN_ZH, plain_stems
from core.language.terms import has_han, terms
from core.reflection import clustering
from core.statements import condense
from core.types import Category

PROMPT: Final = "patterns.v1"

SUPPORT: Final = 4
"""Memories that a pattern rests on at the least."""

OCCASIONS: Final = 2
"""Sessions or days that they come from at the least: what was said twice in one breath is no habit."""

SHARED: Final = 0.5
"""Share of the memories in which a word must stand to be what they have in common."""

NAMED: Final = 3
"""Words in common that are named at the most."""

HABITS: Final = frozenset({Category.PREFERENCE, Category.EVENT, Category.PATTERN})
"""Categories that make no knowledge where most of a group has them."""


class Finding(NamedTuple):
    """What memories show together: of which category it is, in which words, and which of them it rests on.

    `cited`: so many of them, the first, have their evidence cited; the others are counted alone. `theme`: what comes
    again, and on how many `days`.
    """

    category: Category
    content: str
    members: Sequence[Any]
    cited: int
    theme: str | None = None
    days: int = 0


class Group(NamedTuple):
    """Memories that belong together, and what they show in plain words; None: without a model nothing."""

    members: Sequence[Any]
    plain: Finding | None


Wording = Callable[[Group], Finding | None]
"""From a group to what it shows; None: nothing."""


def plain(group: Group) -> Finding | None:
    """In words that claim no more than the memories say."""
    return group.plain


def by_model(client: Client, on_call: OnCall) -> Wording:
    """In a model's words, where they bring no name or number that the memories do not have; else in plain ones."""
    system = prompts.load(PROMPT)

    def ask(group: Group) -> Finding | None:
        rows = group.members[: clustering.MOST]
        listed = "\n".join(f"{n}. ({row.occurred_at:%Y-%m-%d}) {row.content}" for n, row in enumerate(rows, 1))
        try:
            answer = client.ask(PROMPT, system, listed, _Answer, on_call)
        except Never:
            return group.plain
        if answer.category == "none":
            return None
        bare = group.plain or Finding(Category.PATTERN, "", group.members, len(group.members))
        finding = bare._replace(category=Category(answer.category), content=answer.statement.strip())
        return finding if _is_grounded(finding) else group.plain

    return ask


class _Answer(BaseModel):
    """What the model sees in a group."""

    model_config = ConfigDict(extra="forbid")

    category: Literal["pattern", "knowledge", "none"]
    statement: Annotated[str, Field(max_length=400)]


def knowledge(group: Sequence[Any]) -> Finding | None:
    """What is known of one thing, where most of it are facts that have a word in common; in their own sentences."""
    shared = _shared([row.content for row in group], group[0].subject)
    members = [row for row in group if shared.keys() & _said(row.content).keys()]
    habits = sum(row.category in HABITS for row in members) * 2 > len(members)
    if not shared or habits or not is_supported(members):
        return None
    content = _of_thing(members, list(shared.values()))
    return None if content is None else Finding(Category.KNOWLEDGE, content, members, len(members))


def is_supported(group: Sequence[Any]) -> bool:
    """Whether there are enough of them, from more than one occasion."""
    sessions = {row.session_id for row in group if row.session_id}
    days = {row.occurred_at.date() for row in group}
    return len(group) >= SUPPORT and max(len(sessions), len(days)) >= OCCASIONS


def _of_thing(members: Sequence[Any], shared: Sequence[str]) -> str | None:
    """What is known of one thing, in the words of the memories; None: too much for one statement."""
    said = condense.condensed([row.content for row in sorted(members, key=lambda row: (row.occurred_at, row.id))])
    if said is None:
        return None
    return f"关于{'、'.join(shared)}：{said}" if has_han(said) else f"About {', '.join(shared)}: {said}"


def _shared(contents: Sequence[str], subject: str) -> dict[str, str]:
    """The words that most of the texts have in common, by their stems, the commonest first; not who they are about."""
    said = [_said(content) for content in contents]
    counts = Counter(stem for words in said for stem in words)
    common = [stem for stem, n in counts.items() if n >= max(SUPPORT - 1, SHARED * len(contents))]
    own = set(_said(subject)) | set(terms(subject))
    # Whoever is spoken of stands in nearly every statement, and is what they all are about.
    own |= {stem for stem in common if all(content.casefold().startswith(stem) for content in contents)}
    ranked = sorted((stem for stem in common if stem not in own), key=lambda stem: -counts[stem])[:NAMED]
    return {stem: next(words[stem] for words in said if stem in words) for stem in ranked}


def _said(content: str) -> dict[str, str]:
    """The words of a text that not everybody uses, as they stand in it, by their stems; numbers are no words."""
    spaced = {found[0]: word for word in _WORD.findall(content) if len(found := terms(word)) == 1}
    han = {term: term for term in terms(content) if len(term) > 1 and has_han(term)}
    words = spaced | han
    return {
        stem: word
        for stem, word in words.items()
        if stem not in plain_stems() | PLAIN_ZH and not any(c.isdigit() for c in stem)
    }


def _is_grounded(finding: Finding) -> bool:
    """Whether each name and number of a statement, and in Chinese each word, stands in what it rests on."""
    there = [*(row.content for row in finding.members), finding.members[0].subject]
    words = frozenset[str]().union(*map(condense.words_of, there))
    said = {term for text in there for term in terms(text)} | OFTEN
    han = {term for term in terms(finding.content) if len(term) > 1 and has_han(term)}
    return bool(finding.content) and condense.marks(finding.content) <= words and han <= said


OFTEN: Final = frozenset("经常 常常 通常 总是 习惯 喜欢 每天 每周 每月 多次 反复 一直 规律 偏好".split())
"""Words for what comes again, which a statement in Chinese may use of its own."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
