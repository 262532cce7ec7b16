"""Detection of English among texts in Latin letters; the English rules read no other language."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ENGLISH = frozenset(
    "the a an i i'm i've i'll i'd im ive my me we we're we've our us you you're your he he's she she's it it's "
    "its they they're their them this that that's "
    "these those is are was were am be been being have has had do does did don't doesn't didn't can can't cannot could "
    "will won't would should not no and or but so because if when while with without for from of to in on at by about "
    "into as than then there here what who which how why where just also now still only very really too some any all "
    "every most more much many lot get got go going went make made like love want need know think see work "
    "live lives home "
    "day days week month year time last next please always never yes yeah".split()
)
_OTHERS = frozenset(
    # German, Dutch
    "ich bin ist und nicht der die das ein eine einen einem mein meine meinen meinem mich mir du sie er wir "
    "ihr habe hat haben "
    "auch mit auf für von zu zum zur im bei nach aus seit wohne arbeite heiße sehr gerne gern noch schon aber "
    "oder wenn wie war "
    "ik ben het een niet mijn ben je jij hij zij wij met op voor van naar bij ook maar heb heeft woon werk "
    "graag nog wel dat deze "
    # French
    "je suis j'ai j'habite le la les un une des du de et ne pas mon ma mes nous vous il elle est sont avec "
    "pour dans sur chez "
    "mais très aussi c'est qui que où depuis travaille au aux ce cette "
    # Spanish, Portuguese
    "soy estoy el los las una unos y no es mi mis tengo vivo en con por para pero muy también que del al se me "
    "gusta trabajo "
    "eu sou estou o os as um uma e não meu minha tenho moro em com mas muito também gosto do da dos das no na "
    "trabalho sim "
    # Italian, Scandinavian, Polish
    "io sono ho il lo gli uno mio mia che non di è abito lavoro con ma anche della nel "
    "jag är och inte min mitt har bor jeg er og ikke mitt på med til som av det den "
    "jestem mam nie się w na z mój moja jest i to mieszkam".split()
) - {
    "a",
    "i",
    "me",
    "no",
    "do",
    "an",
    "in",
    "is",
    "so",
    "as",
    "on",
    "at",
    "we",
    "he",
    "was",
    "war",
    "her",
    "die",
    "to",
    "also",
    "mail",
    "com",
    "em",
    "sim",
    "min",
    "am",
    "man",
    "den",
    "my",
    "you",
}
_LETTERS = re.compile(r"[àâçèéêëîïôœùûäöüßñáíóúãõåæøłąęśżźć¿¡]", re.IGNORECASE)


def is_foreign(sentence: str) -> bool:
    """Return whether a sentence in Latin letters is another language than English, by its small words."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(sentence)]
    # Names and places say nothing: "St. Pölten", "La Paz".
    small = [
        word
        for word, written in zip(words, _WORD.findall(sentence), strict=True)
        if written.islower() or written in words[:1]
    ]
    first = words[:1]
    english = sum(word in _ENGLISH for word in words)
    other = sum(word in _OTHERS for word in {*small, *first}) + min(
        2, sum(bool(_LETTERS.search(word)) for word in small)
    )
    return (other >= 2 and other >= english) or (other >= 1 and english == 0 and len(words) >= 2)
