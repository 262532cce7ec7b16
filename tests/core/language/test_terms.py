from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language.scripts import has_han
from core.language.terms import STOPWORDS, TERM_IDS, term_id, terms, token_estimate


def test_words_of_one_stem_fall_into_one_term() -> None:
    assert terms("moved") == terms("moving") == terms("moves")


def test_light_words_are_left_out_and_months_are_not() -> None:
    assert terms("what did she do in May?") == ["may"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ﬁne café", "FINE CAFE"),
        ("cafe\u0301", "caf\u00e9"),
        ("Straße", "STRASSE"),
        ("2023", "２０２３"),
        ("Caroline’s", "Caroline's"),
    ],
    ids=["ligature", "combining accent", "sharp s", "full width", "apostrophe"],
)
def test_what_looks_alike_falls_into_the_same_terms(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


def test_an_id_a_date_and_an_address_are_kept_whole_and_in_parts() -> None:
    assert terms("INV-2231") == ["inv-2231", "inv", "2231"]
    assert terms("2023-05-07") == ["2023-05-07", "2023", "05", "07"]
    assert terms("ada@example.com")[0] == "ada@example.com"


def test_thousands_are_read_as_one_number() -> None:
    assert terms("$1,000,000") == ["1000000"]


def test_a_compound_without_digits_is_only_its_parts() -> None:
    assert terms("support-group/club") == ["support", "group", "club"]


def test_vowel_signs_stay_in_their_word() -> None:
    assert terms("हिन्दी में") == ["हिन्दी", "में"]


def test_scripts_without_spaces_are_cut_into_pairs() -> None:
    assert terms("カタカナ") == ["カタ", "タカ", "カナ"]


def test_chinese_is_cut_into_words_and_the_words_within() -> None:
    found = terms("我上个月搬到了里斯本,在一家软件公司工作")
    assert {"上个月", "里斯本", "软件", "公司", "工作"} <= set(found)
    assert not {"我", "了", "在"} & set(found)


def test_a_chinese_name_in_no_dictionary_is_found_by_its_end() -> None:
    assert "小鹏" in terms("王小鹏喜欢火锅")
    assert "小鹏" in terms("小鹏的生日是哪一天?")


def test_chinese_between_english_keeps_both() -> None:
    assert terms("I love 火锅!") == ["love", "火锅"]
    assert has_han("I love 火锅!")
    assert not has_han("カタカナ hot pot")


def test_the_chinese_dictionary_is_loaded_without_a_word_and_only_when_it_is_needed() -> None:
    code = (
        "import sys; from core.language.terms import terms; terms('hello'); assert 'jieba' not in sys.modules;"
        "terms('你好世界'); assert 'jieba' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_overlong_word_is_cut() -> None:
    assert terms("x" * 10_000) == ["x" * 64]


def test_threads_do_not_disturb_one_another() -> None:
    text = "Adopting agencies were running wonderfully interesting meetings " * 20
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(terms, [text] * 64))
    assert all(each == found[0] for each in found)


@given(st.text())
def test_any_text_gives_clean_terms(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= 64
        assert not any(character.isspace() for character in term)
        assert 1 <= term_id(term) <= TERM_IDS


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_case_makes_no_difference(text: str) -> None:
    assert terms(text.upper()) == terms(text.lower())


def test_a_term_keeps_its_place_for_ever() -> None:
    assert (term_id("lisbon"), term_id("里斯本")) == (837_066_161, 460_750_814)


def test_every_stopword_is_in_the_form_that_is_compared() -> None:
    assert all(word == word.casefold() for word in STOPWORDS)


def test_tokens_are_estimated_by_script() -> None:
    assert token_estimate("") == 0
    assert token_estimate("four") == 1
    assert token_estimate("a" * 4000) == 1000
    assert token_estimate("里斯本") == 3
