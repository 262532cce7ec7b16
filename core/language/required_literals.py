"""Literals without which a regular expression cannot match: looking for them is ten times faster than matching.

Read from the parse tree of the standard library's `re`. A construct that is not known here requires nothing, so that a
pattern is only ever tried once too often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

MOST: Final = 48
"""Literals of one pattern: looking for more takes as long as matching it."""

_SHARES: Final = (1, 0.5, 0.25, 0.06, 0.02, 0.005)
"""Estimated share of sentences that contain a literal, by its length; the last also stands for longer ones."""

_SIGN_SHARE: Final = 0.1
"""The same of a sign that is no letter and no space."""

_WORTH_IT: Final = 0.6
"""Share of the sentences from which on the look-up does not pay."""

Literals = frozenset[str]

_NOTHING: Final[Literals] = frozenset()

_INNER: Final[Mapping[Any, Callable[[Any], Iterable[Any]]]] = {
    op.SUBPATTERN: lambda value: value[3],
    op.ASSERT: lambda value: value[1],
    op.ATOMIC_GROUP: lambda value: value,
}
"""Access to the parts of a construct in the parse tree that a match cannot do without."""

_REPEATS: Final = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def required_literals(pattern: str, flags: int = 0) -> Literals:
    """Return strings of which each match contains at least one, in some case if it ignores case; empty: none is known.

    re.error: `pattern` is no regular expression.
    """
    return _of(_parser.parse(pattern, flags))


def pays(literals: Literals) -> bool:
    """Return whether few enough sentences contain one of them."""
    return bool(literals) and _share(literals) < _WORTH_IT


def _of(items: Iterable[Any]) -> Literals:
    """Return the rarest set of literals among those that the parts of a sequence require."""
    return min((literals for literals in _required(items) if 0 < len(literals) <= MOST), key=_share, default=_NOTHING)


def _required(items: Iterable[Any]) -> Iterator[Literals]:
    """Yield what each part of a sequence requires; literals in a row are one."""
    run = ""
    for code, value in items:
        if code is op.LITERAL:
            run += chr(value)
        elif code is not op.AT:  # A boundary takes no place: the literals around it stay in a row.
            yield _run(run)
            run = ""
            yield _of_part(code, value)
    yield _run(run)


def _run(run: str) -> Literals:
    return frozenset({run}) if run else _NOTHING


def _of_part(code: Any, value: Any) -> Literals:
    if code in _INNER:
        return _of(_INNER[code](value))
    if code in _REPEATS and value[0] > 0:
        return _of(value[2])
    if code is op.BRANCH:
        return _any_of([_of(branch) for branch in value[1]])
    if code is op.IN and all(kind is op.LITERAL for kind, _ in value):
        return frozenset(chr(sign) for _, sign in value)
    return _NOTHING


def _any_of(branches: list[Literals]) -> Literals:
    return frozenset().union(*branches) if all(branches) else _NOTHING


def _share(literals: Literals) -> float:
    return sum(_share_of(literal) for literal in literals)


def _share_of(literal: str) -> float:
    if len(literal) == 1 and not (literal.isalpha() or literal.isspace()):
        return _SIGN_SHARE
    return _SHARES[min(len(literal.strip()), len(_SHARES) - 1)]
