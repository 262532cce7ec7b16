from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from core.statements import condense
from core.statements.condense import condense_all, details, marks, words_of

NAMES = ["Ada", "Bob", "Dr. Chen", "Lisbon", "Initech", "O'Neill", "ticket A-17"]
PLAIN = ["walks", "likes tea", "met a friend", "bought bread", "was late again"]
DATES = ["on 3 May 2024", "on Friday", "in March", "on 2025-02-28", "at 10:30", "for twenty euros", "for 3.5 %"]
CHINESE = ["小明喜欢绿茶", "小明周三跑了5公里。", "小红在北京买了3本书！", "小明住在上海", "他每天七点起床。"]

english = st.builds(lambda *parts: " ".join(parts) + ".", *map(st.sampled_from, (NAMES, PLAIN, DATES)))
statements = st.lists(st.one_of(english, st.sampled_from(CHINESE)), min_size=1, max_size=10)


@settings(deadline=None)  # The dictionary of Chinese words is read once.
@given(statements)
def test_every_number_name_and_date_survives_and_nothing_is_invented(said: list[str]) -> None:
    core = condense_all(said)
    assert core is not None
    assert frozenset[str]().union(*map(marks, said)) <= marks(core)
    assert words_of(core) <= frozenset[str]().union(*map(words_of, said))
    han = "".join(re.findall(r"[\u4e00-\u9fff]", core))
    assert set(han) <= set("".join(said))


@settings(deadline=None)  # The dictionary of Chinese words is read once.
@given(statements)
def test_each_number_keeps_what_it_counts_and_chinese_each_word(said: list[str]) -> None:
    core = condense_all(said)
    assert core is not None
    spoken = [word.casefold() for word in condense._words(core)]
    kept = {(one,) for one in spoken} | {(one, "") for one in spoken} | set(pairwise(spoken)) | details(core)
    assert {detail for one in said for sentence in condense._sentences(one) for detail in details(sentence)} <= kept


def test_what_is_too_much_for_one_statement_is_not_cut() -> None:
    assert condense_all([f"Ada met person number {n} at noon in Lisbon." for n in range(60)]) is None


def test_what_says_nothing_new_goes_first() -> None:
    said = ["Ada likes tea.", "Ada likes tea", "Ada drinks tea with Bob at 5 pm.", "Ada likes tea with Bob."]
    core = condense_all(said)
    assert core == "Ada likes tea. Ada drinks tea with Bob at 5 pm."


def test_an_abbreviation_does_not_end_a_sentence() -> None:
    assert list(condense._sentences("Ada met Dr. Chen. She paid 3.5 euros. 她走了。他没走。")) == [
        "Ada met Dr. Chen.",
        "She paid 3.5 euros.",
        "她走了。",
        "他没走。",
    ]


def test_the_same_number_of_something_else_is_another_detail() -> None:
    assert details("Ada paid 80 euros.") != details("Ada ran 80 kilometres.")
    core = condense_all(["Ada paid 80 euros to Bob in Lisbon.", "Ada ran 80 kilometres."])
    assert core == "Ada paid 80 euros to Bob in Lisbon. Ada ran 80 kilometres."
