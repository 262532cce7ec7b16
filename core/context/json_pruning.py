"""Shrinks JSON that stays valid. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.language import languages
from core.language.lazy_regex import either

MARK: Final = "…"
"""Marker of omissions: the key of a note in an object, the beginning of a note in a list."""

_SIZES: Final = (128, 64, 40, 28, 20, 14, 10, 7, 5, 4, 3, 2, 1)
"""Entries kept of a list or an object, from generous to bare."""

_CHARACTERS: Final = 12
"""Characters kept of a string at each of these sizes; never under `_FEWEST`."""

_FEWEST: Final = 24
_DEEPEST: Final = 24
"""Depth limit; deeper values are replaced by their size."""

_FORMS: Final = [language.context for language in languages.ALL if language.context]
_TELLING: Final = either(forms.key for forms in _FORMS)
"""Keys whose values are kept first."""

Matches = Callable[[str], float]

_SAID: Final = 2000
"""Characters of an entry read to score it."""


@dataclass(frozen=True, slots=True)
class _Size:
    entries: int
    levels: int

    @property
    def characters(self) -> int:
        return max(_FEWEST, self.entries * _CHARACTERS)


def parse_json(text: str) -> Any:
    """Parse a JSON object or list; None: the text is neither, or could not be written as JSON again."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        parsed = json.loads(text, parse_constant=_refuse)
        json.dumps(parsed, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return parsed


def smaller(value: Any, note: str, matches: Matches) -> Iterator[str]:
    """Yield JSON texts, from generous to bare, each with `note` in it, each valid.

    Lists keep their beginning, their end and the entries that `matches` counts most in; objects keep telling keys
    first; strings keep their beginning. Whatever is left out leaves a note with its size.
    """
    pruner = _Pruner(matches)
    for entries in _SIZES:
        for levels in (_DEEPEST, 4, 2) if entries <= _SIZES[-3] else (_DEEPEST,):
            pruned = pruner.pruned(value, _Size(entries, levels))
            yield json.dumps(_with_note(pruned, note), ensure_ascii=False, separators=(",", ":"))


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _with_note(pruned: Any, note: str) -> Any:
    return [*pruned, f"{MARK} {note}"] if isinstance(pruned, list) else {**pruned, MARK + MARK: note}


class _Pruner:
    """Shrinks values; caches their scores, which every size needs again."""

    def __init__(self, matches: Matches) -> None:
        self._matches = matches
        self._known: dict[int, float] = {}  # by identity: the values outlive this

    def pruned(self, value: Any, size: _Size) -> Any:
        if isinstance(value, str):
            beginning = value[: size.characters]
            over = len(value) > size.characters + _FEWEST
            return f"{beginning}{MARK} {len(value) - len(beginning)} characters" if over else value
        if not isinstance(value, (dict, list)) or not value:
            return value
        if not size.levels:
            return f"{MARK} {len(value)} {'keys' if isinstance(value, dict) else 'entries'}"
        below = _Size(size.entries, size.levels - 1)
        return (
            self._listed(value, size.entries, below)
            if isinstance(value, list)
            else self._mapped(value, size.entries, below)
        )

    def _listed(self, values: Sequence[Any], entries: int, below: _Size) -> list[Any]:
        """Return entries of a list in order, with a note for each omission."""
        places = self._places(values, entries)
        listed: list[Any] = []
        for position, following in zip(places, [*places[1:], len(values)], strict=True):
            listed.append(self.pruned(values[position], below))
            if following > position + 1:
                listed.append(f"{MARK} {following - position - 1} more")
        return listed

    def _mapped(self, value: dict[str, Any], entries: int, below: _Size) -> dict[str, Any]:
        kept_keys = self._keys(value, entries)
        less = {MARK: f"{len(value) - len(kept_keys)} more keys"} if len(kept_keys) < len(value) else {}
        return {key: self.pruned(value[key], below) for key in kept_keys} | less

    def _places(self, values: Sequence[Any], entries: int) -> list[int]:
        """Choose positions: the first, the highest scored (half of the room), the last, then from the beginning."""
        if len(values) <= entries + 1:
            return list(range(len(values)))
        weights = [self._telling(value) for value in values]
        least = min(weights)
        matching = [position for position, weight in enumerate(weights) if weight > least]
        matching.sort(key=lambda position: (-weights[position], position))
        chosen = dict.fromkeys([*matching[: max(1, entries // 2)], 0, len(values) - 1, *range(len(values))])
        return sorted(list(chosen)[:entries])

    def _keys(self, value: dict[str, Any], entries: int) -> list[str]:
        """Choose keys in order: identifying ones, matching ones, then plain values."""
        if len(value) <= entries + 1:
            return list(value)
        places = {key: position for position, key in enumerate(value)}
        weights = {key: 2 * bool(_TELLING.fullmatch(key)) + self._telling({key: value[key]}) for key in value}
        chosen = sorted(value, key=lambda k: (-weights[k], isinstance(value[k], (dict, list)), places[k]))
        return sorted(chosen[:entries], key=places.__getitem__)

    def _telling(self, value: Any) -> float:
        relevance = self._known.get(id(value))
        if relevance is None:
            relevance = self._matches(" ".join(_words(value, levels=4))[:_SAID])
            if not isinstance(value, dict) or len(value) != 1:  # those that `_keys` makes do not outlive it
                self._known[id(value)] = relevance
        return relevance


def _words(value: Any, levels: int) -> Iterator[str]:
    """Return the words of a value, without keys whose value is empty, zero or false (`"error": null`)."""
    if isinstance(value, str):
        yield value[:_SAID]
    elif isinstance(value, list):
        for element in value[: _SIZES[0]] if levels else ():
            yield from _words(element, levels - 1)
    elif isinstance(value, dict):
        for key, entry in list(value.items())[: _SIZES[0]] if levels else ():
            if entry:
                yield key
                yield from _words(entry, levels - 1)
    elif value is not None:
        yield str(value)
