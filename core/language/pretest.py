"""Regular expressions that are tried only on texts with words that they need. Pure.

Most of the many patterns of a table match few statements, and looking for a word is ten times as fast as a search.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

_MOST: Final = 128
"""Words of one pattern; one that may begin with any of more is not tested."""

_parser: Any = import_module("re._parser")
"""The standard library's reader of patterns, which has no public name."""


class TestedPattern:
    """A compiled pattern with what it needs: of a text in ASCII, one of these words in small letters; None: unknown."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self.needs = needed(pattern)

    def may_match(self, text: str) -> bool:
        """Return False if the pattern certainly occurs nowhere in a text."""
        if self.needs is None or not text.isascii():  # Beyond ASCII letters have more than two forms.
            return True
        small = text.lower()
        for word in self.needs:  # noqa: SIM110 - `any` takes twice as long
            if word in small:
                return True
        return False

    def search(self, text: str) -> re.Match[str] | None:
        return self.pattern.search(text) if self.may_match(text) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.pattern.finditer(text) if self.may_match(text) else iter(())

    def findall(self, text: str) -> list[Any]:
        return self.pattern.findall(text) if self.may_match(text) else []

    def sub(self, replacement: str, text: str) -> str:
        return self.pattern.sub(replacement, text) if self.may_match(text) else text


def compiled(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> TestedPattern:
    """Compile a pattern."""
    return TestedPattern(re.compile(pattern, flags))


def needed(pattern: re.Pattern[str]) -> tuple[str, ...] | None:
    """Return words in small letters of which each ASCII text has one that the pattern matches; None: unknown."""
    found = _of_all(_parser.parse(pattern.pattern, pattern.flags))
    words = _better(found.whole, found.part)
    if not words or "" in words:
        return None
    return tuple(sorted(one for one in words if not any(other in one for other in words if other != one)))


class _Read(NamedTuple):
    """What a part of a pattern matches, if these are all such texts; and texts of which each match has one."""

    whole: frozenset[str] | None
    part: frozenset[str] | None


_NOTHING: Final = _Read(frozenset({""}), None)
_ANYTHING: Final = _Read(None, None)


def _of_all(parts: Iterable[tuple[Any, Any]]) -> _Read:
    """Read parts that follow each other."""
    whole: frozenset[str] | None = frozenset({""})
    run: frozenset[str] = frozenset({""})
    best: frozenset[str] | None = None
    for kind, value in parts:
        read = _of(str(kind), value)
        best = _better(best, read.part)
        longer = None if read.whole is None else _joined(run, read.whole)
        if longer is None:
            best, whole = _better(best, run), None
            run = read.whole or frozenset({""})
        else:
            run = longer
            whole = None if whole is None else run
    return _Read(whole, _better(best, run))


def _of(kind: str, value: Any) -> _Read:
    if kind in {"AT", "ASSERT", "ASSERT_NOT"}:
        return _NOTHING
    read = _READERS.get(kind)
    return _ANYTHING if read is None else read(value)


def _of_repeated(repeat: tuple[int, int, Any]) -> _Read:
    least, most, repeated = repeat
    read = _of_all(repeated)
    if (least, most) == (0, 1):
        return _of_either([read, _NOTHING])
    return _Read(None, _better(read.whole, read.part)) if least else _ANYTHING


def _of_set(members: Iterable[tuple[Any, Any]]) -> _Read:
    """Read a set of characters, if it holds digits and single ones."""
    characters: set[str] = set()
    for kind, value in members:
        if str(kind) == "LITERAL":
            characters.add(chr(value).lower())
        elif str(value) == "CATEGORY_DIGIT":
            characters.update("0123456789")
        else:
            return _ANYTHING
    return _Read(frozenset(characters), None)


def _of_either(every: Sequence[_Read]) -> _Read:
    wholes = [one.whole for one in every]
    whole = frozenset[str]().union(*(one for one in wholes if one)) if None not in wholes else None
    parts = [_better(one.whole, one.part) for one in every]
    part = frozenset[str]().union(*(one for one in parts if one)) if None not in parts else None
    return _Read(*(None if one is None or len(one) > _MOST else one for one in (whole, part)))


def _joined(before: frozenset[str], after: frozenset[str]) -> frozenset[str] | None:
    """Return each text with each that follows; None: too many."""
    return None if len(before) * len(after) > _MOST else frozenset(a + b for a in before for b in after)


def _better(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """Return the texts that say more: their shortest is longer."""
    least, least_other = (min(map(len, texts), default=0) if texts else 0 for texts in (one, other))
    return other if least_other > least else one


_READERS: Final[Mapping[str, Callable[[Any], _Read]]] = {
    "LITERAL": lambda value: _Read(frozenset({chr(value).lower()}), None),
    "IN": _of_set,
    "SUBPATTERN": lambda value: _of_all(value[-1]),
    "BRANCH": lambda value: _of_either([_of_all(one) for one in value[1]]),
    "MAX_REPEAT": _of_repeated,
    "MIN_REPEAT": _of_repeated,
}
