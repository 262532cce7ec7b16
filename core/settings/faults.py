"""Errors in settings as sentences: the setting, its value, its source, what is allowed; and unknown names."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from core.errors import Misconfigured

PREFIX: Final = "IMPRINT_"
ENV_FILE: Final = ".env"
TOML_FILE: Final = "imprint.toml"
ENVIRONMENT: Final = "the environment"

COMPOSE_NAMES: Final = frozenset(
    f"{PREFIX}{name}_PASSWORD" for name in ("POSTGRES", "APP", "ROUTER", "BROKER", "GRAFANA")
)
"""Variables that docker-compose.yml reads from the same `.env`, without being settings."""

MASK: Final = "********"

HIDDEN: Final = frozenset({"notify_channels"})
"""Settings whose addresses may contain a token, beside those of the type `SecretStr`."""

URL_LOGIN: Final = re.compile(r"(?<=://)[^\s/@]*@")
"""User and password in a URL."""


@dataclass(frozen=True, slots=True)
class Files:
    """Files with settings."""

    env: str | None
    toml: str


PROJECT: Final = Files(ENV_FILE, TOML_FILE)
"""Files of the working folder."""

_ASSIGNED = re.compile(r"\s*(?:export\s+)?(\w+)\s*=")

_PLAIN: Final[Mapping[str, str]] = {
    "is not a valid": "should be a valid",
    "a valid integer, unable to parse string as an integer": "a whole number",
    "a valid number, unable to parse string as a number": "a number",
    "a valid boolean, unable to interpret input": "true or false",
    "a valid URL, relative URL without a base": "a URL such as https://example.com/v1",
}
"""Terms of pydantic, and their meaning for an operator."""

Fields = Mapping[str, FieldInfo]


def toml(path: str = TOML_FILE) -> dict[str, Any]:
    """Return the content of a TOML file, empty if there is none. Misconfigured: it cannot be read."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(f"{path} is not valid TOML: {error}.") from None
    except UnicodeDecodeError as error:
        raise Misconfigured(f"{path} is not UTF-8 at byte {error.start}.") from None
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}.") from None


def origin(name: str, files: Files = PROJECT) -> str | None:
    """Return the source of a setting's value, in order of precedence; None if it is the default."""
    variable = f"{PREFIX}{name}".upper()
    if any(key.upper() == variable for key in os.environ):
        return ENVIRONMENT
    lines = [number for number, assigned in _env_lines(files) if assigned.upper() == variable]
    if lines:
        return f"{files.env}, line {lines[-1]}"
    if name in toml(files.toml):
        return f"{files.toml}, line {_toml_line(name, files)}"
    return None


def of_validation(error: ValidationError, fields: Fields, files: Files = PROJECT) -> Misconfigured:
    """Build the error with one sentence for each wrong value."""
    sentences = dict.fromkeys(
        wrong(str(detail["loc"][0]), fields, detail["input"], _allowed_phrase(detail["msg"]), files)
        for detail in error.errors()
        if detail["loc"]
    )
    return Misconfigured("\n".join(sentences))


def of_json(name: str, fields: Fields, given: str) -> Misconfigured:
    """Build the error for a list or object that is not JSON."""
    example = '{"ops": "https://example.com/hook"}' if "dict" in str(fields[name].annotation) else '["example.com"]'
    return Misconfigured(wrong(name, fields, given, f"should be JSON such as {example}"))


def wrong(name: str, fields: Fields, given: object, allowed: str, files: Files = PROJECT) -> str:
    """Return the sentence about one wrong value; secret values are left out."""
    where = origin(name, files)
    location = f" in {where}" if where else ""
    variable = f"{PREFIX}{name.upper()}"
    if is_secret(name, fields):
        return f"{variable}{location} has a value that {allowed} (the value is secret and not shown)."
    return f"{variable}{location} is {printable(given)}, but {allowed}."


def unknown(fields: Fields) -> list[str]:
    """Return a sentence for each name in the environment, `.env` and `imprint.toml` that is no setting."""
    known_names = {f"{PREFIX}{name.upper()}" for name in fields} | COMPOSE_NAMES
    variables = [(name, ENVIRONMENT) for name in sorted(os.environ)]
    variables += [(name, f"{ENV_FILE}, line {number}") for number, name in _env_lines(PROJECT)]
    sentences = [
        f"{name} in {where} is no setting{_plain_term(name.upper(), known_names) or '.'}"
        for name, where in variables
        if name.upper().startswith(PREFIX) and name.upper() not in known_names
    ]
    for key, value in toml().items():
        if key in fields:
            continue
        kind = "table" if isinstance(value, dict) else "key"
        hint = _plain_term(key.lower().removeprefix(PREFIX.lower()), fields)
        hint = hint or ("; settings stand at the top of the file, in no table." if kind == "table" else ".")
        sentences.append(f"The {kind} {key!r} in {TOML_FILE}, line {_toml_line(key, PROJECT)}, is no setting{hint}")
    return sentences


def is_secret(name: str, fields: Fields) -> bool:
    """Return whether a value must not be shown: passwords, keys, and addresses that contain them."""
    return name in fields and ("SecretStr" in str(fields[name].annotation) or name in HIDDEN)


def printable(value: object) -> str:
    """Return a value for printing, with logins in URLs masked."""
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    masked = URL_LOGIN.sub(f"{MASK}@", text)
    return repr(masked) if isinstance(value, str) else masked


def _allowed_phrase(message: str) -> str:
    """Turn pydantic's message into a phrase to follow the name of a setting."""
    phrase = re.sub(r"^(?:Input|String|Value|List|Dictionary|URL|value|Value error,) (should|must|is)", r"\1", message)
    for technical, plain in _PLAIN.items():
        phrase = phrase.replace(technical, plain)
    return phrase if phrase.startswith(("should", "must")) else f"should be something else: {phrase}"


def _plain_term(name: str, known_names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known_names), n=1, cutoff=0.75)
    return f"; did you mean {near[0]}?" if near else ""


def _env_lines(files: Files) -> Iterator[tuple[int, str]]:
    """Yield line and name of each assignment in `.env`."""
    if files.env is None:
        return
    try:
        lines = Path(files.env).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for number, line in enumerate(lines, 1):
        if match := _ASSIGNED.match(line):
            yield number, match[1]


def _toml_line(key: str, files: Files) -> int:
    assigned = re.compile(rf"""\s*(?:\[+\s*)?["']?{re.escape(key)}["']?\s*(?:[=\].])""")
    lines = Path(files.toml).read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if assigned.match(line)), 1)
