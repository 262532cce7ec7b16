"""Inflected words of other languages share a term with their text; English ones get no other term."""

from __future__ import annotations

import pytest

from core.language import inflection


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("스코프 랩스", "오늘 스코프 랩스에서 면접을 봤다."),
        ("김치찌개", "저녁에 김치찌개를 먹었다."),
        ("게임", "게임을 좋아한다"),
        ("집", "집에 간다"),
        ("체크리스트", "배포 전에 체크리스트를 확인한다"),
        ("пароля", "Мой пароль изменён."),
        ("стейджинг", "Сервер упал на стейджинге"),
        ("чеклист", "Обнови чеклисты перед релизом"),
        ("книги", "Я купил книгу"),
        ("Passwörter", "Das Passwort ist neu und ich habe es geändert"),
        ("Häuser", "Ich habe ein Haus in Berlin gekauft"),
        ("contraseñas", "Mi contraseña es nueva"),
        ("voitures", "Notre voiture est en panne"),
        ("şifre", "Şifremi unuttum ve bu yüzden giremiyorum"),
        ("ev", "Ben yeni bir evde yaşıyorum"),
        ("talo", "Minä asun talossa ja se on punainen"),
        ("книга", "книгами"),
        ("υπολογιστές", "Ο υπολογιστής χάλασε"),
        ("كتاب", "قرأت الكتاب أمس"),
    ],
)
def test_a_question_in_another_form_of_a_word_shares_a_term(question: str, text: str) -> None:
    assert set(inflection.of_question(question)) & set(inflection.of_text(text))


@pytest.mark.parametrize(
    "text", ["I moved to Lisbon in May.", "We play chess at the café.", "Deploy on Friday", "12:30"]
)
def test_english_and_what_shows_no_language_is_stored_by_its_words_alone(text: str) -> None:
    assert inflection.of_text(text) == []


def test_an_english_question_is_asked_by_its_words_alone() -> None:
    assert inflection.of_question("Where does Ada live?") == []


def test_a_question_that_shows_no_language_is_asked_in_all_of_them() -> None:
    assert {"~passwort", "~passworter"} <= set(inflection.of_question("Passwörter"))


def test_no_term_is_that_of_a_word() -> None:
    assert all(term.startswith("~") for term in inflection.of_text("Мой пароль ist nicht geändert und 게임"))
