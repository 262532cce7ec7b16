"""Recognition of German texts by their small words."""

from __future__ import annotations

import re

LEAST = 2
"""Small words from which a text is German, if it has fewer of English."""

READ = 2_000
"""Characters of a text that are read."""

_WORD = re.compile(r"[a-zäöüß]+")
_GERMAN = frozenset(
    "ich und nicht ist das den dem eine einem einen einer eines mein meine meinem meinen meiner dein deine deinem "
    "deinen deiner wir mit auf für zum zur im bei nach aus auch aber oder wenn wie wer wann wo wohin woher "
    "warum welche "
    "welchem welchen welcher welches habe haben hatte hast sind bist wurde wird werde gestern vorgestern heute letzte "
    "letztem letzten letzter letztes woche monat jahr seit vor schon noch sehr gern wohne wohnt arbeite arbeiten "
    "arbeitet heiße heißt über mich dich mir uns unser unsere unserem unseren unserer vom kein keine keinem keinen "
    "keiner".split()
)
_ENGLISH = frozenset(
    "the a an and or of to on at for with from is are were been have has had do does did i my me you your he she it we "
    "they this that not what when where who which how why".split()
)


def is_german(text: str) -> bool:
    """Return whether a text has small words of German, and fewer of English."""
    text = text[:READ].lower()
    if _GERMAN.isdisjoint(text.split()):  # Nearly always, and much faster.
        return False
    words = _WORD.findall(text)
    german = sum(word in _GERMAN for word in words)
    return german >= LEAST and german > sum(word in _ENGLISH for word in words)
