"""German dates, resolved against the time of their message."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.language import dates
from core.language.de.language import GERMAN

SAID_AT = datetime(2026, 5, 20, 21, 0, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Letzte Woche war ich in Porto", "In der Woche vom 11. Mai 2026 war ich in Porto"),
        ("Ich heirate am 3. März", "Ich heirate am 3. März 2027"),
        ("Ich habe am 3. März geheiratet", "Ich habe am 3. März 2026 geheiratet"),
        ("Vorgestern habe ich gekündigt", "Am 18. Mai 2026 habe ich gekündigt"),
        ("Gestern Abend hat Ada angerufen", "Am Abend des 19. Mai 2026 hat Ada angerufen"),
        ("Ich ziehe nächsten Monat um", "Ich ziehe im Juni 2026 um"),
        ("Die Prüfung ist am Montag", "Die Prüfung ist am Montag, 25. Mai 2026"),
        ("Am Montag war ich beim Arzt", "Am Montag, 18. Mai 2026 war ich beim Arzt"),
        ("Vor drei Jahren bin ich umgezogen", "Im Jahr 2023 bin ich umgezogen"),
        ("In zwei Wochen fliege ich", "In der Woche vom 1. Juni 2026 fliege ich"),
        ("Ich wohne seit letztem Sommer hier", "Ich wohne seit Sommer 2025 hier"),
        ("Seit dem 12. September 2024 arbeite ich hier", "Seit dem 12. September 2024 arbeite ich hier"),
        ("Der Vertrag läuft bis 31.12.2026", "Der Vertrag läuft bis zum 31. Dezember 2026"),
    ],
)
def test_a_date_is_written_out(text: str, written: str) -> None:
    assert dates.written_out(text, dates.find(text, SAID_AT, GERMAN.dates)) == written


@pytest.mark.parametrize(
    "text", ["Guten Morgen", "Am Morgen trinke ich Tee", "Mein Geburtstag ist am 3. März", "Ich komme am 30. Februar"]
)
def test_what_is_no_date_stays(text: str) -> None:
    assert dates.find(text, SAID_AT, GERMAN.dates) == []
