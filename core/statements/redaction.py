"""Removal of statements from a text, clause by clause and value by value. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core.language import languages
from core.language.lazy_regex import either
from core.statements.comparison import read
from core.statements.succession import Gathered, normal_value

LEAST_WORDS: Final = 2
"""Minimum meaningful words, besides the subject's name, to find a statement within another text."""


ERASED: Final = "[erased]"
"""Stands in a text where a passage of it was erased."""

MASKED: Final = "[redacted: "
"""Stands in a memory where a secret was masked."""

Spot = tuple[int, int]
"""Start and end of a passage of a text."""


@dataclass(frozen=True, slots=True)
class RedactedStatement:
    """A statement to remove from other texts: its subject, and the list values that it adds, if any."""

    content: str
    subject: str
    gathered: Gathered | None = None


def blanked_at(said: str, spots: Sequence[Spot]) -> str:
    """Return a text with `ERASED` in the place of each passage."""
    for start, end in sorted(merged(spots), reverse=True):
        said = said[:start] + ERASED + said[end:]
    return said


def merged(spots: Iterable[Spot]) -> list[Spot]:
    """Return places in order, those that touch joined."""
    joined: list[Spot] = []
    for start, end in sorted(spots):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def with_clauses(content: str, subject: str, gathered: Gathered | None = None) -> list[RedactedStatement]:
    """Return a statement, and each of its clauses that is distinguishable from others."""
    whole = RedactedStatement(content, subject, gathered)
    parts = [RedactedStatement(clause, subject) for clause in _clauses(content)]
    return [whole, *(one for one in parts if len(_content_words(one.content, subject)) >= LEAST_WORDS)]


def without(text: str, statements: Sequence[RedactedStatement], subject: str = "") -> str | None:
    """Return the text without the clauses and values that repeat one of these statements; None: there are none.

    Empty: nothing else is left. `subject`: of the text, named where a remaining clause has none.
    """
    listed = _without_values(text, statements)
    clauses = list(_split(listed or text))
    left = [(joint, clause) for joint, clause in clauses if not any(_says(clause, one, subject) for one in statements)]
    if len(left) == len(clauses):
        return listed
    if not any(_content_words(clause, subject) for _, clause in left):
        return ""
    joined = "".join(clause if index == 0 else f"{joint}{clause}" for index, (joint, clause) in enumerate(left))
    completed = _with_name(joined, subject) if left[0] != clauses[0] else joined
    return (
        completed
        if completed.endswith((*".!?。！？", '"', "”")) or not text.endswith((".", "。"))
        else f"{completed}{text[-1]}"
    )


def blanked(text: str, pieces: Sequence[str]) -> str:
    """Return a text with each of these passages replaced by a mark, where it stands as whole words."""
    for piece in sorted(pieces, key=len, reverse=True):
        word = re.escape(piece)
        first = r"(?<![0-9A-Za-z])" if piece[:1].isascii() and piece[:1].isalnum() else ""
        last = r"(?![0-9A-Za-z])" if piece[-1:].isascii() and piece[-1:].isalnum() else ""
        text = re.sub(f"{first}{word}{last}", ERASED, text) if piece else text
    return text


def without_marks(text: str) -> str:
    """Return a text without the clauses of which something was erased: what is left of them states nothing."""
    if ERASED not in text:
        return text
    return "".join(clause for clause in _CLAUSE.findall(text) if ERASED not in clause).strip()


def _says(clause: str, told_one: RedactedStatement, subject: str) -> bool:
    """Return whether a clause says a statement: all its words, few others, no other denial, number or person."""
    statement_words, clause_words = (
        _content_words(told_one.content, told_one.subject),
        _content_words(clause, subject or told_one.subject),
    )
    if not statement_words or not statement_words <= clause_words:
        return False
    if len(clause_words - statement_words) > (
        len(statement_words) // 2 if len(statement_words) >= LEAST_WORDS else 0
    ) + _date_words(clause):
        return False
    one, other = read(told_one.content), read(clause)
    return one.denials % 2 == other.denials % 2 and one.ended == other.ended and not other.bound - one.bound


def _date_words(clause: str) -> int:
    """Return words of a date, which a clause may contain in addition."""
    return len(_DATE.findall(clause))


def _content_words(text: str, subject: str) -> frozenset[str]:
    return frozenset(read(text).words) - frozenset(read(subject).words) - _NOBODY


def _without_values(text: str, statements: Sequence[RedactedStatement]) -> str | None:
    """Return the text without the values, if it lists others as well; None: it lists none of them."""
    left = text
    for one in statements:
        if one.gathered is None or not _meant_verb(text, one):
            continue
        for value in one.gathered.values:
            word = re.escape(value)
            before = re.compile(rf"(?<![\w-]){word}(?![\w-])(?:{_BETWEEN})(?!{_SOMEBODY}\b)(?=\S)", re.IGNORECASE)
            behind = re.compile(rf"(?:{_BETWEEN}|, ){word}(?![\w-])", re.IGNORECASE)
            if normal_value(value) in normal_value(left):
                left = behind.sub("", left, count=1) if behind.search(left) else before.sub("", left, count=1)
    return left if left != text else None


def _meant_verb(text: str, one: RedactedStatement) -> bool:
    """Return whether a text is about the list of a statement: it has its words other than the value."""
    values = frozenset(word for value in (one.gathered.values if one.gathered else ()) for word in read(value).words)
    verb = _content_words(one.content, one.subject) - values
    statement_reading, text_reading = read(one.content), read(text)
    return (
        bool(verb)
        and verb <= frozenset(text_reading.words)
        and statement_reading.denials % 2 == text_reading.denials % 2
    )


def _clauses(text: str) -> list[str]:
    found = [clause for _, clause in _split(text)]
    return found if len(found) > 1 else []


def _split(text: str) -> Iterator[tuple[str, str]]:
    """Yield each clause with its joint to the one before."""
    start, joint = 0, ""
    for cut in _JOINT.finditer(text):
        if cut.start() > start:
            yield joint, text[start : cut.start()]
            start, joint = cut.end(), cut.group()
    if start < len(text):
        yield joint, text[start:]


def _with_name(text: str, subject: str) -> str:
    """Return a text that begins with a pronoun, with the subject's name in its place."""
    if not subject:
        return text
    for pattern, form in _PRONOUNS:
        replaced, count = pattern.subn(lambda _, form=form: form.format(subject), text, count=1)  # type: ignore[misc]
        if count:
            return replaced
    return text


_FORMS: Final = [language.statements for language in languages.ALL if language.statements]

_SOMEBODY: Final = f"(?:{'|'.join(forms.somebody for forms in _FORMS if forms.somebody)})"

_BETWEEN: Final = "|".join(forms.between for forms in _FORMS)

_JOINT: Final = re.compile("|".join(forms.joint for forms in _FORMS), re.IGNORECASE)

_PRONOUNS: Final = [pair for forms in _FORMS for pair in forms.pronouns]

_NOBODY: Final = frozenset[str]().union(*(forms.nobody for forms in _FORMS))

_DATE: Final = either(forms.date for forms in _FORMS)

_CLAUSE = re.compile(r"(?:[^,，.。!！?？;；\n]|[.,](?=\S))*[,，.。!！?？;；\n]*\s*")
