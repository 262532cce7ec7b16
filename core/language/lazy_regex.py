"""Regular expressions of the languages' tables: compiled at first use, and tried only where they can match.

There are hundreds. Compiling them all would take a second at import, and trying them all on each sentence takes most of
the time of an extraction, though nearly all fail. A text without the literals that a match must contain is not tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Final, cast

from core.language.required_literals import Literals, pays, required_literals


class _LazyRegex:
    """Proxy for a compiled pattern: the first attribute access compiles it, later ones use it."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags if flags & re.ASCII else flags | re.UNICODE

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    @cached_property
    def _literals(self) -> Literals:
        found = required_literals(self.pattern, self.flags)
        return found if pays(found) else frozenset()

    def __getattr__(self, name: str) -> Any:
        guarded = name in _WITHOUT_MATCH and self._literals
        value = self._guarded(name) if guarded else getattr(self._compiled, name)
        setattr(self, name, value)
        return value

    def _guarded(self, name: str) -> Callable[..., Any]:
        """Return a method of the pattern that calls it only for texts that may match.

        Calls of functions would take most of the time: the check stands in both, and is a loop.
        """
        ignores = bool(self.flags & re.IGNORECASE) or "(?i" in self.pattern
        literals = sorted({one.lower() for one in self._literals} if ignores else self._literals, key=len)
        without = _WITHOUT_MATCH[name]

        def search(text: str, *more: Any, **named: Any) -> Any:
            folded = text.lower() if ignores else text
            for one in literals:
                if one in folded:
                    break
            else:
                # Outside of ASCII, more letters are alike than `lower` makes so.
                if not ignores or text.isascii():
                    return without(text)
            return getattr(self._compiled, name)(text, *more, **named)

        def substitute(repl: str | Callable[[re.Match[str]], str], text: str, *more: Any, **named: Any) -> Any:
            folded = text.lower() if ignores else text
            for one in literals:
                if one in folded:
                    break
            else:
                if not ignores or text.isascii():
                    return text
            return self._compiled.sub(repl, text, *more, **named)

        return substitute if name == "sub" else search


def lazy_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a proxy for `re.compile(pattern, flags)` that compiles at first use."""
    return cast("re.Pattern[str]", _LazyRegex(pattern, flags))


def either(patterns: Iterable[re.Pattern[str] | None]) -> re.Pattern[str]:
    """Return a pattern that matches what one of these does, those of several languages say; its groups are theirs."""
    return lazy_regex(
        "|".join(f"(?{_flag_letters(pattern)}:{pattern.pattern})" for pattern in patterns if pattern) or "(?!)"
    )


def _flag_letters(pattern: re.Pattern[str]) -> str:
    flags = ((re.IGNORECASE, "i"), (re.MULTILINE, "m"), (re.DOTALL, "s"), (re.VERBOSE, "x"))
    return "".join(letter for flag, letter in flags if pattern.flags & flag)


def _no_match(_text: str) -> None:
    return None


def _no_matches(_text: str) -> Iterator[re.Match[str]]:
    return iter(())


_WITHOUT_MATCH: Final[dict[str, Callable[[str], Any]]] = {
    "search": _no_match,
    "match": _no_match,
    "fullmatch": _no_match,
    "findall": lambda _text: [],
    "finditer": _no_matches,
    "split": lambda text: [text],
    "sub": lambda text: text,
}
"""Result of each method for a text without a match."""
