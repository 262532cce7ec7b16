from __future__ import annotations

import pytest

from core.language.identification import is_foreign


@pytest.mark.parametrize(
    "sentence",
    ["Ich wohne in Berlin.", "Je suis à Paris depuis mai.", "Vivo en Madrid con mi hermana.", "Eu moro em Lisboa."],
)
def test_another_language_is_foreign(sentence: str) -> None:
    assert is_foreign(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["I live in Berlin.", "We were in La Paz and St. Pölten last year.", "My sister lives in São Paulo.", "Hm"],
)
def test_english_with_foreign_names_is_not_foreign(sentence: str) -> None:
    assert not is_foreign(sentence)
