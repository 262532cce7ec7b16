"""German phrases of attacks. Data."""

from __future__ import annotations

from typing import Final

from core.language.parts import Screening

SCREENING: Final = Screening(
    phrases={
        "drop": r"""
ignorier(e|en sie)?( bitte)? alle (bisherigen|vorherigen|vorigen|obigen|fruheren|vorangegangenen)
    (anweisungen|regeln)
(vergiss|missachte|ignoriere|ubergehe|verwirf)( bitte)?( ab sofort| jetzt)?( alle| all| die| diese| deine){0,3}
    (bisherigen|vorherigen|vorigen|fruheren|obigen|alle|samtliche|deine) (anweisungen|regeln|vorgaben|instruktionen|
    richtlinien|befehle)
""",
        "reveal": r"""
(gib|zeig|zeige|nenn|nenne|verrate)( mir| uns)?( bitte)? (deinen|deine|den|die)( ganzen| vollstandigen| geheimen|
     internen)? (systemprompt|system prompt|systemanweisungen|anweisungen im wortlaut)
""",
    },
)
