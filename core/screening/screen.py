"""Finds secrets and prompt injection in a text. Pure.

A person's standing wish ("From now on always answer in French") is an ordinary memory. Hostile text speaks against
the rules of its reader, impersonates someone, hides, or would exfiltrate data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import re2

from core.screening import deobfuscation, secret_scanner
from core.screening.injection_markup import CARRIERS, MARKS
from core.screening.injection_phrases import CARRY, HAN_NEGATED, HAN_PHRASES, HAN_WORDS, NEGATED, PHRASES, TOLD, WORDS

Kind = Literal["instruction", "hidden", "blob", "exfiltration", "secret", "card"]

HOSTILE = frozenset({"instruction", "hidden", "blob", "exfiltration"})

SECRET = frozenset({"secret", "card"})

BLOB = 48
"""Encoded characters from which decodable text is hostile; shorter text is judged by its content."""

OPAQUE = 400
"""Encoded characters from which undecodable content is hostile: no memory needs them."""

SMUGGLED = 3
"""Invisible characters in a row or within words that neither writing nor copying produces."""

SHOWN = 60
"""Characters of a text that a finding quotes."""


@dataclass(frozen=True, slots=True)
class ScreenFinding:
    """A finding: its kind, and a description without the secret."""

    kind: Kind
    detail: str


@dataclass(frozen=True, slots=True)
class Screened:
    """A text with its secrets replaced by labels, and all findings."""

    text: str
    findings: tuple[ScreenFinding, ...]

    @property
    def secret(self) -> bool:
        """Return whether it contained a secret or a card number."""
        return any(finding.kind in SECRET for finding in self.findings)

    @property
    def hostile(self) -> bool:
        """Return whether it tries to command its reader, hides something, or would exfiltrate data."""
        return any(finding.kind in HOSTILE for finding in self.findings)


def screen(text: str) -> Screened:
    """Check a text, including what it hides or encodes. Linear in its length."""
    secrets = secret_scanner.find_secrets(text)
    redacted = secret_scanner.redact(text, secrets)
    plain = deobfuscation.fold(redacted)
    findings = [ScreenFinding(secret.kind, secret.label) for secret in secrets]
    for search in (
        _commands(plain),
        _form_findings(plain),
        _hidden_characters(redacted),
        _encoding_findings(redacted),
        _escape_findings(redacted),
    ):
        findings += search
    return Screened(redacted, tuple(dict.fromkeys(findings)))


def _commands(plain: str) -> Iterator[ScreenFinding]:
    """Return phrases that command, in a folded text, however they are spelled."""
    words = deobfuscation.words(plain)
    yield from _phrase_findings(words, "plain")
    for turned in deobfuscation.reversed_and_rot13(words):
        yield from _phrase_findings(turned, "plain")
    unleeted, unspaced, han = (
        deobfuscation.without_leetspeak(plain),
        deobfuscation.join_spaced_letters(plain),
        deobfuscation.han(plain),
    )
    if unleeted is not None:
        yield from _phrase_findings(unleeted, "leet")
    if unspaced is not None:
        yield from _phrase_findings(deobfuscation.words(unspaced[0]), "plain")
        yield from _phrase_findings(unspaced[1], "unspaced")
    if han is not None:
        yield from _in_chinese(han)


def _phrase_findings(words: bytes, form: str) -> Iterator[ScreenFinding]:
    if not _any_phrase(form).search(words):
        return
    for does in PHRASES:
        for match in _phrases(does, form).finditer(words):
            if not _is_reported(words, match):
                yield _hostile_finding(does, match[0].decode())
                break


_PRAISE = re.compile(
    r"you(?: are|re) now(?: officially| truly)? (?:my|our)(?: new)?(?: (?:favou?rite|best|trusted|beloved|dear|dearest|"
    r"preferred|top|number one|go to)){1,2} (?:ai|bot|chatbot|chat bot|assistant)"
)
"""Praise that ends where it could name a role without rules."""


def _is_reported(words: bytes, match: Any) -> bool:
    """Return whether the phrase is warned of or reported, rather than addressed to the reader."""
    before = words[max(0, match.start() - 12) : match.start()]
    return before.endswith((*NEGATED, *TOLD)) or _PRAISE.fullmatch(match[0].decode().strip()) is not None


def _in_chinese(han: str) -> Iterator[ScreenFinding]:
    if not _ANY_HAN_PHRASE.search(han):
        return
    for does, pattern in _HAN_PATTERNS:
        for match in pattern.finditer(han):
            if not han[: match.start()].endswith(HAN_NEGATED):
                yield _hostile_finding(does, match[0])
                break


def _form_findings(plain: str) -> Iterator[ScreenFinding]:
    """Return findings by form: marks, calls and addresses."""
    if not _ANY_FORM.search(plain):
        return
    for kind, what, pattern in _FORMS:
        match = pattern.search(plain)
        if match:
            yield ScreenFinding(kind, f'{what}: "{_excerpt(match[0])}"')


def _escape_findings(redacted: str) -> Iterator[ScreenFinding]:
    for escaped in deobfuscation.decode_escapes(redacted):
        yield from _commands(deobfuscation.fold(escaped))


def _encoding_findings(redacted: str) -> Iterator[ScreenFinding]:
    """Return findings for long runs of base64 and similar, by their content; not for addresses and identifiers."""
    for run, decoded in deobfuscation.decode_runs(redacted):
        if decoded:
            hostile = list(_commands(deobfuscation.fold(decoded)))
            if hostile or (len(run) >= BLOB and decoded.count(" ") > 1):
                yield ScreenFinding("blob", f"{len(run)} characters that decode to text")
            yield from hostile
        elif len(run) >= OPAQUE and _OPAQUE.match(run):
            yield ScreenFinding("blob", f"{len(run)} encoded characters")


def _hidden_characters(text: str) -> Iterator[ScreenFinding]:
    """Return findings for invisible characters that neither a script nor an emoji needs."""
    if text.isascii() or not _INVISIBLE.search(text):
        return
    left = _NEEDED.sub("", text)
    runs = _SMUGGLED.findall(left)
    if runs:
        yield ScreenFinding("hidden", f"{sum(map(len, runs))} invisible characters in a row")
    elif len(_WITHIN_WORDS.findall(left)) >= SMUGGLED:
        yield ScreenFinding("hidden", "invisible characters within words")
    if _TURNED.search(text):
        yield ScreenFinding("hidden", "characters that show a text in another order than it is read")
    spelled = deobfuscation.decode_tags(left)
    if len(spelled) >= SMUGGLED:
        yield ScreenFinding("hidden", f"{len(spelled)} invisible characters that spell a text")
        yield from _commands(deobfuscation.fold(spelled))


def _hostile_finding(does: str, phrase: str) -> ScreenFinding:
    kind: Kind = "exfiltration" if does == CARRY else "instruction"
    return ScreenFinding(kind, f'{does}: "{_excerpt(phrase)}"')


def _excerpt(phrase: str) -> str:
    phrase = " ".join(phrase.split())
    return phrase if len(phrase) <= SHOWN else phrase[: SHOWN - 1] + "…"


@cache
def _any_phrase(form: str) -> Any:
    return _latin("|".join(_phrase_in_form(pattern, form) for patterns in PHRASES.values() for pattern in patterns))


@cache
def _phrases(does: str, form: str) -> Any:
    return _latin("|".join(_phrase_in_form(pattern, form) for pattern in PHRASES[does]))


def _phrase_in_form(pattern: str, form: str) -> str:
    """Return a phrase for one of the forms that `core.screening.deobfuscation` gives a text."""
    whole = f" {_fill_placeholders(pattern, WORDS)} "
    if form == "leet":
        return whole.replace("l", "i")
    return whole.replace(" ", "") if form == "unspaced" else whole


def _fill_placeholders(pattern: str, expansions: dict[str, str]) -> str:
    return re.sub(r"<([a-z]+)>", lambda name: f"({expansions[name[1]]})", pattern)


def _latin(pattern: str) -> Any:
    """Return a pattern over bytes, one per character: the fastest that RE2 has."""
    options = _options()
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern.encode(), options)


def _compile(patterns: Iterable[str]) -> Any:
    return re2.compile("|".join(patterns), _options())


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors, options.never_capture, options.max_mem = False, True, 64 << 20
    return options


_HAN_PATTERNS = [
    (does, _compile(_fill_placeholders(pattern, HAN_WORDS) for pattern in patterns))
    for does, patterns in HAN_PHRASES.items()
]
_ANY_HAN_PHRASE = _compile(
    _fill_placeholders(pattern, HAN_WORDS) for patterns in HAN_PHRASES.values() for pattern in patterns
)
_FORMS: list[tuple[Kind, str, Any]] = [
    *(("instruction", what, _compile(patterns)) for what, patterns in MARKS.items()),
    *(("exfiltration", what, _compile(patterns)) for what, patterns in CARRIERS.items()),
]
_ANY_FORM = _compile(pattern for forms in (MARKS, CARRIERS) for patterns in forms.values() for pattern in patterns)

_OPAQUE = re.compile(r"(?=.*[0-9])(?=.*[A-Z])(?=.*[a-z])|^[0-9A-Fa-f]+$")
_INVISIBLE = re.compile(f"[{deobfuscation.INVISIBLE}]")
_EMOJI = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_JOINED = "\u0590-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\ufb1d-\ufdff\ufe70-\ufefc"
_NEEDED = re.compile(
    f"\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{{2,6}}\U000e007f"
    f"|(?<=[{_EMOJI}0-9#*])\ufe0f?[\U0001f3fb-\U0001f3ff]?\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_EMOJI}\U0001f3fb-\U0001f3ff\ufe0f])\u200d(?=[{_EMOJI}])"
    f"|(?<=[^\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f](?![\ufe00-\ufe0f\U000e0100-\U000e01ef])"
    f"|(?<=[{deobfuscation.HAN}])[\U000e0100-\U000e01ef](?![\ufe00-\ufe0f\U000e0100-\U000e01ef])"
    f"|(?<=[{_JOINED}])[\u061c\u17b4\u17b5\u180b-\u180e\u200b-\u200f]+"
    f"|[\u200c-\u200f]+(?=[{_JOINED}])"
    "|\u00ad|[\u200e\u200f\u061c\u202a-\u202c\u2066-\u2069]|\ufeff"
)
"""Invisible characters that scripts, emoji, flags, line breaks and bidirectional text need."""

_SMUGGLED = re.compile(f"[{deobfuscation.INVISIBLE}]{{{SMUGGLED},}}")
_WITHIN_WORDS = re.compile(f"(?<=[^\\W\\d_])[{deobfuscation.INVISIBLE}]+(?=[^\\W\\d_])")
_TURNED = re.compile("\u202e|\u202d(?=[^\u202c]{0,80}[A-Za-z\u0590-\u08ff])")
