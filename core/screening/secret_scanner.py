"""Locates credentials and card numbers. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Literal, NamedTuple

from core.screening import secret_patterns as shapes

Kind = Literal["secret", "card"]

CARD_DIGITS = range(14, 20)
"""Lengths of card numbers. Visa has not issued 13 digits for decades, and many other numbers have them."""

CARD_GROUPS = 6
"""Maximum groups of digits in a card number."""

SHORTEST_PASSWORD, SHORTEST_WORD, SHORTEST_BARE = 4, 5, 6
"""Minimum characters of a password: of any, of a plain word after a sign, and of one with weak evidence."""

SHORTEST_KEY, KEY_PIECE, KEY_TURNS, KEY_BITS = 12, 10, 3, 2.5
"""Minimum characters of a key and of its longest piece, changes between letters and digits, and bits per character."""

DIFFERENT, SAME = 8, 2
"""Minimum different characters of a key, and the maximum of a placeholder."""


BETWEEN = "\n\0\n"
"""Stands between texts that are searched together: an end of each, over which no space leads to the next."""


class FoundSecret(NamedTuple):
    """Position and description of a secret."""

    start: int
    end: int
    kind: Kind
    label: str


def find_secrets(text: str) -> list[FoundSecret]:
    """Return all secrets in reading order; of two that overlap, the one that begins first, else the longer."""
    plain = _plain(text)
    if not _may_hold_secrets(plain):
        return []
    everything = chain(
        _secrets_by_form(plain),
        _passwords(plain),
        _announced_passwords(plain),
        _keys(plain),
        _cards(plain),
        _accounts(plain),
    )
    kept: list[FoundSecret] = []
    for secret in sorted(everything, key=lambda s: (s.start, -s.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept


def may_hold_secrets(texts: Iterable[str]) -> bool:
    """Return False only if `find_secrets` finds nothing in any of the texts; one search, where it makes one for each.

    No pattern asks for more beside a secret than the ends of the text or a sign that is no letter, digit or `%`.
    """
    return _may_hold_secrets(_plain(BETWEEN.join(texts)))


def redact(text: str, secrets: Sequence[FoundSecret]) -> str:
    """Return the text with each secret, as returned by `find_secrets`, replaced by its label."""
    parts, at = [], 0
    for secret in secrets:
        parts += [text[at : secret.start], f"[redacted: {secret.label}]"]
        at = secret.end
    return "".join([*parts, text[at:]])


def _may_hold_secrets(plain: str) -> bool:
    return shapes.HINT.search(plain) is not None and shapes.ANY.search(plain) is not None


def _plain(text: str) -> str:
    return text if text.isascii() else shapes.TYPED.sub(lambda sign: shapes.PLAIN[sign[0]], text)


def luhn(digits: str) -> bool:
    """Return whether the check digit of a card number is correct."""
    doubled = (sum(divmod(int(d) * 2, 10)) if index % 2 else int(d) for index, d in enumerate(reversed(digits)))
    return sum(doubled) % 10 == 0


def _secrets_by_form(text: str) -> Iterator[FoundSecret]:
    """Return secrets recognized by form, or by an unambiguous word before them."""
    for shape in shapes.SHAPES:
        for match in shape.pattern.finditer(text):
            if shape.certain or _is_drawn(match[1]):
                yield FoundSecret(match.start(1), match.end(1), "secret", shape.label)
    for match in shapes.ADDRESSES.finditer(text):
        if not _stands_in(match[1]) and match[1].lower() not in shapes.NO_PASSWORDS:
            yield FoundSecret(match.start(1), match.end(1), "secret", "password")
    for match in shapes.CODES.finditer(text):
        if not shapes.POSTAL.search(match[0]):
            yield FoundSecret(match.start(1), match.end(1), "secret", "access code")


def _passwords(text: str) -> Iterator[FoundSecret]:
    """Yield the password after the word that announces it."""
    for match in chain.from_iterable(pattern.finditer(text) for pattern in shapes.PASSWORDS):
        value = match[2].rstrip(shapes.TRAILING)
        start, end = match.start(2), match.start(2) + len(value)
        if _is_password(value, match[1].strip(), text[end : end + 2]):
            yield FoundSecret(start, end, "secret", "password")


def _announced_passwords(text: str) -> Iterator[FoundSecret]:
    """Return passwords in other forms: a login with its password, a value called a password, a passphrase."""
    for match in chain(shapes.LOGIN.finditer(text), shapes.CALLED.finditer(text)):
        value = match[1].rstrip(shapes.TRAILING)
        strong = _is_mixed(value) and not shapes.MEASURE.fullmatch(value.lower())
        if strong and len(value) >= SHORTEST_BARE and not _stands_in(value):
            yield FoundSecret(match.start(1), match.start(1) + len(value), "secret", "password")
    for match in shapes.PASSPHRASE.finditer(text):
        yield FoundSecret(match.start(1), match.end(1), "secret", "passphrase")


def _is_password(value: str, joint: str, then: str) -> bool:
    """Return whether a word is a password rather than a remark about one; `joint` precedes it, `then` follows."""
    if len(value) < SHORTEST_PASSWORD or _stands_in(value) or then.startswith(("(", "[")):
        return False
    lower = value.lower()
    if not joint:
        drawn = _is_mixed(value) and (value.isalnum() or any(c in shapes.SIGNS for c in value))
        return len(value) >= SHORTEST_BARE and drawn and not shapes.NAMED.fullmatch(lower)
    if _is_strong(value):
        return not shapes.MEASURE.fullmatch(lower)
    if not value.isalpha() or lower in shapes.ORDINARY or lower.endswith(shapes.ABOUT):
        return False
    assigned, ends = not joint.isalpha(), not then.strip() or (then[0] in shapes.ENDS and not then[1:].isalpha())
    return len(value) >= SHORTEST_WORD if assigned else ends and len(value) >= SHORTEST_BARE


def _is_strong(value: str) -> bool:
    """Return whether a word contains a digit, a sign or an inner capital, unlike words of a sentence."""
    mixed = value.isalpha() and any(map(str.isupper, value[1:])) and any(map(str.islower, value))
    return mixed or any(c.isdigit() or c in shapes.SIGNS for c in value)


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _keys(text: str) -> Iterator[FoundSecret]:
    """Yield random-looking strings next to a word that announces a key."""
    for match in shapes.KEY.finditer(text):
        value = match[2].rstrip(shapes.TRAILING)
        if match[1].lower() not in shapes.OPEN_KEYS and _is_random(value):
            yield FoundSecret(match.start(2), match.start(2) + len(value), "secret", "key")


def _is_random(value: str) -> bool:
    if len(value) < SHORTEST_KEY or _stands_in(value) or shapes.FILE.search(value):
        return False
    if shapes.GROUPED.fullmatch(value):
        return _is_mixed(value)
    longest = max(re.split(r"[^A-Za-z0-9+/]+", value), key=len)
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in longest]
    turns = sum(kind != next_kind for kind, next_kind in pairwise(kinds))
    return len(longest) >= KEY_PIECE and "d" in kinds and turns >= KEY_TURNS and _entropy(longest) >= KEY_BITS


def _entropy(value: str) -> float:
    """Return bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_drawn(value: str) -> bool:
    """Return whether a string in the form of a key is a real one, not an example."""
    return any(map(str.isdigit, value)) and not _stands_in(value) and len(set(value)) >= DIFFERENT


def _stands_in(value: str) -> bool:
    """Return whether it is only a placeholder of a secret."""
    lower = value.lower()
    return len(set(lower)) <= SAME or lower in shapes.STANDINS or bool(shapes.STANDIN.search(lower))


def _cards(text: str) -> Iterator[FoundSecret]:
    """Return card numbers: known prefix, length and check digit, in one piece or in the usual groups."""
    for run in shapes.DIGITS.finditer(text):
        groups = [(run.start() + g.start(), run.start() + g.end()) for g in re.finditer(r"\d+", run[0])]
        at = 0
        while at < len(groups):
            ends = range(min(len(groups), at + CARD_GROUPS), at, -1)
            upto = next((end for end in ends if _is_card(text, groups[at:end])), None)
            if upto is not None:
                yield FoundSecret(groups[at][0], groups[upto - 1][1], "card", "card number")
            at = upto or at + 1


def _is_card(text: str, groups: Sequence[tuple[int, int]]) -> bool:
    pieces = [text[start:end] for start, end in groups]
    digits, sizes = "".join(pieces), [len(piece) for piece in pieces]
    if len(digits) not in CARD_DIGITS or not shapes.ISSUER.match(digits):
        return False
    usual = len(sizes) == 1 or (sizes[0] in shapes.FIRST_GROUPS and min(sizes[:-1]) >= min(shapes.FIRST_GROUPS))
    start = groups[0][0]
    return usual and luhn(digits) and not shapes.GLUE.search(text[max(0, start - 2) : start])


def _accounts(text: str) -> Iterator[FoundSecret]:
    """Return international bank account numbers: country, length and check digits."""
    for match in shapes.IBAN.finditer(text):
        length = shapes.IBAN_LENGTHS.get(match[1][:2].upper())
        positions = [position for position, c in enumerate(match[1]) if c.isalnum()]
        if length is None or len(positions) < length:
            continue
        end = positions[length - 1] + 1
        if _is_account("".join(c for c in match[1][:end] if c.isalnum())):
            yield FoundSecret(match.start(1), match.start(1) + end, "card", "bank account number")


def _is_account(number: str) -> bool:
    return int("".join(str(int(c, 36)) for c in number[4:] + number[:4])) % 97 == 1
