"""British and American spelling as one, for comparison: nobody's words are written in another spelling. Pure."""

from __future__ import annotations

import re
from typing import Final


def american(word: str) -> str:
    """Return a word of small letters in American spelling, in which British and American ones are compared."""
    if word in _ALONE:
        return _ALONE[word]
    if not _VARIED.search(word):
        return word
    return next((pattern.sub(form, word) for pattern, form in _SPELLINGS if pattern.match(word)), word)


_ALONE: Final = dict(
    pair.split("=")
    for pair in (
        "grey=gray programme=program programmes=programs catalogue=catalog catalogues=catalogs dialogue=dialog "
        "tyre=tire tyres=tires cheque=check cheques=checks defence=defense offence=offense licence=license "
        "practise=practice practised=practiced practising=practicing jewellery=jewelry aluminium=aluminum "
        "pyjamas=pajamas moustache=mustache mould=mold cosy=cozy sceptical=skeptical enrol=enroll fulfil=fulfill "
        "skilful=skillful mum=mom mums=moms"
    ).split()
)

_OUR: Final = (
    "fav disfav behavi misbehavi neighb col discol hon hum lab rum flav harb vap arm od parl endeav sav splend val vig "
    "clam glam tum succ"
)
_RE: Final = "cent theat met kilomet centimet millimet lit fib calib spect lust meag somb"
_ISE: Final = (
    "organ reorgan recogn real apolog special memor custom final minim maxim optim priorit summar visual author "
    "central critic digit emphas general global harmon immun legal modern normal personal popular social standard "
    "stabil sympath util vandal categor hospital fantas mobil neutral steril synchron theor energ civil"
)
_YSE: Final = "anal paral catal"
_LL: Final = "travel cancel model label fuel signal jewel level marvel quarrel counsel dial"

_SPELLINGS: Final = tuple(
    (re.compile(f"^({stems.replace(' ', '|')}){british}({rest})$"), rf"\g<1>{american_}\g<2>")
    for stems, british, american_, rest in (
        (_OUR, "our", "or", ".*"),
        (_RE, "re", "er", "s?"),
        (_ISE, "is", "iz", "e|es|ed|er|ers|ing|ation|ations"),
        (_YSE, "ys", "yz", "e|es|ed|er|ers|ing"),
        (_LL, "l", "", "ed|ing|er|ers|or|ors"),
    )
)
"""Stems of words whose spelling varies, with the British and the American form, and what may follow."""

_VARIED: Final = re.compile(r"our|res?$|[iy]s[ei]|isation|ll[eio]")
"""Substrings that every matching word contains."""
