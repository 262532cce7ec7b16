"""YAML front matter."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.errors import ImprintError

FORMAT: Final = "imprint-mirror/1"

KEYS: Final = ("format", "tenant", "user", "file", "memories", "generated")
"""Keys that the service writes; others belong to whoever added them."""

NAMES: Final = frozenset({"tenant", "user"})
"""Keys whose values others have chosen."""

BOM: Final = "\ufeff"

_LONGEST = 200
"""Maximum lines of front matter; a marker further down is a horizontal rule."""

_KEY = re.compile(r"(?P<key>[A-Za-z_][\w-]*):(?:[ \t]+(?P<value>.*?))?[ \t]*\r?\n?")


class UnreadableFile(ImprintError):
    """The file cannot be read as a mirror."""


@dataclass(frozen=True, slots=True)
class Front:
    """The front matter as written, with its two markers, and the values of the service's own keys."""

    raw: tuple[str, ...]
    values: Mapping[str, str]

    def text(self) -> str:
        return "".join(self.raw)


def fresh(values: Mapping[str, str]) -> Front:
    """Return front matter with these values only."""
    return Front(("---\n", *(f"{key}: {_yaml_value(key, values[key])}\n" for key in KEYS), "---\n"), dict(values))


def parse(lines: list[str]) -> tuple[Front, int]:
    """Return the front matter at the beginning of the lines, and its number of lines. UnreadableFile: there is none."""
    if not lines or lines[0].removeprefix(BOM).rstrip() != "---":
        raise UnreadableFile("It does not begin with front matter, the lines between two `---`.")
    end = next((n for n, line in enumerate(lines[1:_LONGEST], 1) if line.rstrip() in {"---", "..."}), None)
    if end is None:
        raise UnreadableFile("Its front matter has no second `---`.")
    values: dict[str, str] = {}
    for line in lines[1:end]:
        match = _KEY.fullmatch(line)
        if match is None or match["key"] not in KEYS:
            continue
        if match["key"] in values:
            raise UnreadableFile(f"Its front matter gives `{match['key']}` twice.")
        values[match["key"]] = _parse_value(match["value"] or "")
    return Front(tuple(lines[: end + 1]), values), end + 1


def update(front: Front, values: Mapping[str, str]) -> Front:
    """Return it with other values; other lines stay, and a missing key is restored before the second marker."""
    newline = "\r\n" if front.raw[0].endswith("\r\n") else "\n"
    lines, missing = list[str](), dict(values)
    for line in front.raw[:-1]:
        match = _KEY.fullmatch(line)
        key = match["key"] if match else ""
        if key not in values:
            lines.append(line)
            continue
        missing.pop(key, None)
        same = front.values.get(key) == values[key]
        lines.append(line if same else f"{key}: {_yaml_value(key, values[key])}{newline}")
    lines += [f"{key}: {_yaml_value(key, value)}{newline}" for key, value in missing.items()]
    return Front((*lines, front.raw[-1]), {**front.values, **values})


def require(front: Front, expected: Mapping[str, str]) -> None:
    """Check the values. UnreadableFile: it belongs to another user, or has another format."""
    for key, value in expected.items():
        if front.values.get(key) != value:
            actual = front.values.get(key)
            problem = "is missing" if actual is None else f"says {actual!r}"
            raise UnreadableFile(f"In its front matter `{key}` {problem}, and should say {value!r}.")


def _yaml_value(key: str, value: str) -> str:
    """Return a value as YAML: names in double quotes, since `no` is a name too; the service's own values are plain."""
    return _quote(value) if key in NAMES else value


def _quote(value: str) -> str:
    quoted = json.dumps(value, ensure_ascii=not value.isprintable())
    # A preview that does not know front matter shows it as text, in which nothing may be markup.
    return quoted.replace("<", "\\u003c").replace("[", "\\u005b")


def _parse_value(text: str) -> str:
    """Parse a value of one line. Unreadable: it is more than that."""
    if text.startswith('"'):
        try:
            value, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            raise UnreadableFile(f"In its front matter {text[:60]!r} is not a quoted string.") from None
        if text[end:].strip() and not text[end:].lstrip().startswith("#"):
            raise UnreadableFile(f"In its front matter there is text after the quoted string {text[:60]!r}.")
        return str(value)
    if text.startswith("'"):
        match = re.fullmatch(r"'((?:[^']|'')*)'\s*(?:#.*)?", text)
        if match is None:
            raise UnreadableFile(f"In its front matter {text[:60]!r} is not a quoted string.")
        return match[1].replace("''", "'")
    return re.split(r"\s#", text, maxsplit=1)[0].strip()
