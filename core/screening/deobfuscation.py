"""Undoes homoglyphs, leetspeak, base64, hidden characters. Pure.

Models read full-width letters, look-alike letters of other alphabets, spaced-out words, leetspeak, base64 and
invisible tag characters like plain text. They are converted to plain text here before anything is searched for.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import re2

from core.language import languages

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Invisible characters, as the inside of a character class."""

HAN = "\u3400-\u4dbf\u4e00-\u9fff"

TAGS, SELECTORS, MORE_SELECTORS = range(0xE0000, 0xE0080), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)

READABLE = 0.6
"""Minimum share of letters and spaces in decoded text."""

SHORTEST = 24
"""Minimum characters of an encoded run that is decoded; shorter ones hide no sentence."""

DEPTH = 2
"""Maximum nested encodings that are decoded."""


def fold(text: str) -> str:
    """Return the text in lower case, without accents, invisible characters and look-alikes of Latin letters."""
    return text.lower() if text.isascii() else _FOREIGN.sub(_as_latin, text).casefold()


def words(plain: str) -> bytes:
    """Return the Latin words and numbers of a folded text, with single spaces between them and at both ends."""
    return b" %b " % b" ".join(_mark_sentence_ends(plain).translate(_WORDS, _WITHIN).split())


def without_leetspeak(plain: str) -> bytes | None:
    """Return the words with leetspeak digits and signs as letters, `l` as `i`; None: no word has any."""
    if not _LEET.search(plain):
        return None
    return b" %b " % b" ".join(_mark_sentence_ends(plain).translate(_LETTERS, _WITHIN).split())


def reversed_and_rot13(words: bytes) -> tuple[bytes, bytes]:
    """Return `words` reversed, and with ROT13 applied."""
    return words[::-1], words.translate(_ROT13)


def join_spaced_letters(plain: str) -> tuple[str, bytes] | None:
    """Join words written letter by letter ("i g n o r e"): return the text with them, and them alone as one word.

    None: there are none.
    """
    if not _APART.search(plain):
        return None
    runs = _LETTERS_APART.findall(plain)
    alone = "".join(c for run in runs for c in run if c.isalnum())
    return _LETTERS_APART.sub(_letters, plain), alone.encode("ascii", "ignore")


def han(plain: str) -> str | None:
    """Return simplified Chinese without spaces, every sentence ended by 。; None: there is no Chinese."""
    if not _HAN.search(plain):
        return None
    simple = _TRADITIONAL.sub(lambda match: _SIMPLE[match[0]], plain)
    return _HAN_GAP.sub("", _HAN_END.sub("。", simple))


def decode_escapes(text: str) -> Iterator[str]:
    """Decode percent signs, HTML entities and backslash escapes, if a text has any."""
    if "%" in text and _PERCENT.search(text):
        yield unquote(text)
    if "&#" in text and _ENTITIES.search(text):
        yield html.unescape(text)
    if "\\" in text and _BACKSLASHES.search(text):
        yield _BACKSLASH.sub(lambda match: chr(int(match[1] or match[2], 16)), text)


def decode_runs(text: str, depth: int = DEPTH) -> Iterator[tuple[str, str]]:
    """Return runs of base64, hexadecimal and binary digits with their readable content, else ''."""
    for match in _RUN.finditer(text):
        decoded = _decode_run(match[0])
        yield match[0], decoded
        if decoded and depth > 1:
            yield from decode_runs(decoded, depth - 1)


def decode_tags(text: str) -> str:
    """Return the ASCII text in invisible tag characters and variation selectors."""
    spelled = "".join(map(_tag, _TAGS.findall(text)))
    return "".join(c for c in spelled if c.isprintable())


def _as_latin(match: re.Match[str]) -> str:
    decomposed = unicodedata.normalize("NFKD", _UNSEEN.sub("", match[0]).translate(_LUNATE))
    return "".join(_LATIN.get(c, c) for c in _ACCENTS.sub("", decomposed).casefold())


def _letters(match: re.Match[str]) -> str:
    return "".join(c for c in match[0] if c.isalnum())


def _mark_sentence_ends(plain: str) -> bytes:
    """Convert to ASCII, with a mark at the end of each sentence."""
    line = plain.encode("ascii", "replace").replace(b"\n", b" ")
    return line.replace(b". ", b" \x01 ").replace(b"! ", b" \x01 ").replace(b"? ", b" \x01 ")


def _decode_run(run: str) -> str:
    digits = re.sub(r"[^0-9A-Za-z]|\\x", "", run)
    if not digits:
        return ""
    if not digits.strip("01"):
        return _text(int(digits, 2).to_bytes(len(digits) // 8, "big")) if len(digits) % 8 == 0 else ""
    if _HEX.fullmatch(digits):
        return _text(bytes.fromhex(digits[: len(digits) // 2 * 2]))
    return _base64(run)


def _base64(run: str) -> str:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _text(base64.b64decode(body[: len(body) // 4 * 4] + _rest(body), validate=True))
    except (binascii.Error, ValueError):
        return ""


def _rest(body: str) -> str:
    """Return the last, incomplete group of four, padded."""
    left = len(body) % 4
    return body[-left:] + "=" * (4 - left) if left > 1 else ""


def _text(data: bytes) -> str:
    """Return decoded bytes if they are readable text, else ''."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    if not all(c.isprintable() or c.isspace() for c in text):
        return ""
    return text if sum(c.isalpha() or c == " " for c in text) >= READABLE * len(text) else ""


def _tag(character: str) -> str:
    """Return the byte of a tag or variation selector: tags repeat ASCII, selectors 1-16 and 17-256 are bytes."""
    code = ord(character)
    if code in TAGS:
        return chr(code - TAGS[0])
    return chr(code - SELECTORS[0]) if code in SELECTORS else chr(code - MORE_SELECTORS[0] + len(SELECTORS))


def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def _table(letters: dict[str, str]) -> bytes:
    """Return a translation table: letters, digits, sentence ends stay; the rest becomes a space, or as in `letters`."""
    table = bytearray(b" " * 256)
    for code in (*range(97, 123), *range(48, 58), 1):
        table[code] = code
    for sign, letter in letters.items():
        table[ord(sign)] = ord(letter)
    return bytes(table)


_FOREIGN = re.compile(f"[^\x00-\x7f{HAN}，。、！？：；“”（）《》]+")
_UNSEEN = re.compile(f"[{INVISIBLE}]")
_ACCENTS = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")
_WITHIN = b"'*~`^"
"""Deleted characters: apostrophes, and Markdown markers that split a word invisibly."""
_WORDS = _table({})
_LETTERS = _table(dict(zip("013456789@$!|l+(", "oieasgtbgasiiitc", strict=True)))
_ROT13 = bytes.maketrans(b"abcdefghijklmnopqrstuvwxyz", b"nopqrstuvwxyzabcdefghijklm")
_LEET = _compile("[a-z][013457@$!|]|[13457!$@][a-z]|(?:^|[^0-9])0[a-z]")
_GAPPED = rf"(?:[a-z0-9{HAN}][\s.*_/|·,+~-]{{1,3}}){{5,}}[a-z0-9{HAN}]"
_APART, _LETTERS_APART = _compile(_GAPPED), re.compile(f"(?<![a-z0-9]){_GAPPED}(?![a-z0-9])")
_HAN = re.compile(f"[{HAN}]")
_HAN_END = re.compile(r"[。！？；.!?;\n]+(?=\s|$|[^a-z0-9])")
_HAN_GAP = re.compile(rf"(?<=[{HAN}。])[\s·.*_\-~|/,，、]+(?=[{HAN}])|[“”\"'「」『』《》【】\[\]()（）]")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}\w{0,3}){4}")
_ENTITIES = re.compile(r"(?:&#x?[0-9A-Fa-f]{2,6};[\w ]{0,3}){4}")
_BACKSLASHES = re.compile(r"(?:\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})[\w ]{0,3}){4}")
_BACKSLASH = re.compile(r"\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})")
_HEX = re.compile(r"[0-9A-Fa-f]+")
_RUN = _compile(
    "(?:[01]{8} ){4,}[01]{8}|(?:[0-9A-Fa-f]{2}[ :]){15,}[0-9A-Fa-f]{2}"
    f"|[A-Za-z0-9+/_-]{{{SHORTEST},}}={{0,2}}"
)
_TAGS = re.compile("[\U000e0020-\U000e007e\ufe00-\ufe0f\U000e0100-\U000e01ef]")

_LATIN = {
    **dict(zip("аеорсухіјѕһԁԛԝвмнкт", "aeopcyxijshdqwbmhkt", strict=True)),
    **dict(zip("ѵүҽӏґпги", "vyelrnri", strict=True)),
    **dict(zip("αβγεηικμνοπρστυχωϲϳ", "abyenikuvonpotuxwcj", strict=True)),
    **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True)),
    **dict(zip("ıɩɡɑɒøłđħŧƒɓɗƙƴʋ", "iigaaoldhtfbdkyv", strict=True)),
    **{chr(start + i): chr(97 + i) for start in (0x1F150, 0x1F170, 0x1F1E6) for i in range(26)},
    "\u2019": "'",
    "\u02bc": "'",
}
"""Letters that look like Latin ones, after folding."""

_LUNATE = str.maketrans("ϲϹ", "cc")
"""Looks like a c, and is folded into a sigma."""


_SIMPLE = {
    written: plain
    for language in languages.ALL
    if language.screening
    for written, plain in language.screening.alike.items()
}

_TRADITIONAL = re.compile(f"[{''.join(_SIMPLE)}]")
