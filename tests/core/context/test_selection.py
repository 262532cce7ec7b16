from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from core.context.selection import Chosen, SelectionItem, choose

TEXTS = [
    "Ada drinks green tea every morning.",
    "Ada drinks green tea every morning",
    "Every morning Ada drinks green tea.",
    "Ada drinks 2 cups of green tea every morning.",
    "Ada never drinks green tea.",
    "Ada works at Initech in Lisbon.",
    "Ada works at Globex in Lisbon.",
    "Bob fixed the roof of the barn on 3 May 2024.",
    "小明喜欢绿茶。",
    "小明不喜欢绿茶。",
    "",
    "🙂",
]
DAYS = [None, datetime(2024, 5, 3, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC)]
KEYS = "abcdefghij"


@st.composite
def offered(draw) -> list[SelectionItem]:
    keys = draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=len(KEYS)))
    return [
        SelectionItem(
            key,
            draw(st.sampled_from(TEXTS)),
            draw(st.integers(0, 30)),
            draw(st.floats(0, 3)),
            draw(st.sampled_from(DAYS)),
            draw(st.frozensets(st.sampled_from(KEYS), max_size=1)),
        )
        for key in keys
    ]


budgets = st.integers(0, 120)
queries = st.sampled_from(["", "What does Ada drink?", "小明喜欢什么？"])
relaxed = settings(deadline=None)  # The dictionary of Chinese words is read once.


def names(chosen: Chosen) -> set[str]:
    return {item.key for item in chosen.kept}


@relaxed
@given(offered(), budgets, queries, st.none() | st.integers(0, 5))
def test_it_is_never_above_the_budget_and_every_item_is_kept_or_left_out_with_a_reason(items, tokens, query, most):
    chosen = choose(items, tokens, query, most)
    assert chosen.tokens == sum(max(1, item.tokens) for item in chosen.kept) <= tokens
    assert most is None or len(chosen.kept) <= most
    shown = [item.key for item in chosen.kept] + [one.key for one in chosen.left_out]
    assert sorted(shown) == sorted(item.key for item in items)
    assert all(one.why for one in chosen.left_out)


@relaxed
@given(offered(), budgets, queries, st.randoms(use_true_random=False))
def test_the_order_of_the_items_plays_no_part(items, tokens, query, random):
    turned = list(items)
    random.shuffle(turned)
    assert choose(items, tokens, query) == choose(turned, tokens, query)


@relaxed
@given(offered(), budgets, budgets, queries, st.none() | st.integers(1, 5))
def test_a_larger_budget_never_says_less(items, tokens, more, query, most):
    assert choose(items, tokens + more, query, most).coverage >= choose(items, tokens, query, most).coverage - 1e-9


@relaxed
@given(offered(), budgets, queries)
def test_what_denies_each_other_is_kept_or_left_out_together_and_stands_by_date(items, tokens, query):
    chosen = choose(items, tokens, query)
    known, places = {item.key for item in items}, [item.key for item in chosen.kept]
    for item in items:
        for other in item.conflicts & known:
            assert (item.key in places) == (other in places)
    first = datetime.min.replace(tzinfo=UTC)
    for one, other in zip(chosen.kept, chosen.kept[1:], strict=False):
        if other.key in one.conflicts or one.key in other.conflicts:
            assert (one.occurred_at or first) <= (other.occurred_at or first)


def item(key: str, text: str, score: float = 1.0, tokens: int = 10, **more) -> SelectionItem:
    return SelectionItem(key, text, tokens, score, **more)


def why(chosen: Chosen, key: str) -> str:
    return next(one.why for one in chosen.left_out if one.key == key)


def test_what_says_the_same_is_shown_once_and_the_reason_names_the_other():
    chosen = choose([item("a", TEXTS[0], 1.0), item("b", TEXTS[1], 0.9), item("c", TEXTS[2], 0.8)], 100)
    assert names(chosen) == {"a"}
    assert why(chosen, "b") == why(chosen, "c") == "says the same as a"


def test_numbers_names_and_denials_that_differ_are_never_the_same():
    texts = [TEXTS[place] for place in (0, 3, 4, 5, 6, 8, 9)]
    items = [item(str(n), text, 1.0) for n, text in enumerate(texts)]
    assert len(choose(items, 1000, least=0).kept) == len(texts)


def test_it_stops_when_more_says_almost_nothing():
    items = [item("a", TEXTS[5], 1.0), item("b", TEXTS[7], 0.1), item("c", "Ada works.", 0.9)]
    chosen = choose(items, 1000)
    assert names(chosen) == {"a"} | ({"c"} & names(chosen))
    assert why(chosen, "b") == "adds almost nothing to what is shown"


def test_the_cheaper_of_two_that_say_as_much_is_taken():
    items = [item("long", TEXTS[0], 1.0, 60), item("short", TEXTS[7], 1.0, 10)]
    chosen = choose(items, 65)
    assert names(chosen) == {"short"}
    assert why(chosen, "long") == "no room: 60 tokens, 55 left"


def test_one_item_that_says_more_than_all_the_cheap_ones_is_taken_instead():
    items = [item("all", TEXTS[0], 10.0, 100), item("crumb", TEXTS[7], 2.0, 1)]
    chosen = choose(items, 100)
    assert names(chosen) == {"all"}
    assert why(chosen, "crumb") == "no room: 1 tokens, 0 left"


def test_the_best_item_is_shown_however_many_cheaper_ones_there_are():
    cheap = [item(f"c{n:02}", f"Ada met friend{n} in town{n}.", 0.9, 5) for n in range(20)]
    best = item("best", "Ada works at Nordtec as a nurse, on the third floor of the building by the river.", 1.0, 80)
    chosen = choose([*cheap, best], 8_000, "Where does Ada work?", 10)
    assert "best" in names(chosen)
    assert len(chosen.kept) == 10


@given(
    st.lists(st.tuples(st.sampled_from(TEXTS), st.floats(0.01, 1), st.integers(1, 50)), min_size=1, max_size=12),
    st.integers(1, 100),
    st.integers(1, 6),
)
def test_the_best_item_that_there_is_room_for_is_never_left_out(found, tokens, most):
    items = [item(f"i{n}", text, score, cost) for n, (text, score, cost) in enumerate(found)]
    fitting = [one for one in items if one.tokens <= tokens]
    chosen = choose(items, tokens, "What does Ada drink?", most)
    if fitting:
        highest = max(one.score for one in fitting)
        assert max((one.score for one in chosen.kept), default=0) == highest or "has too little" in str(chosen.left_out)


def test_each_thing_that_is_asked_for_is_met_before_more_of_the_same():
    drinks = [item(f"t{n}", f"Ada drinks tea {word}.", 1.0) for n, word in enumerate(["black", "cold", "slowly"])]
    works = item("w", "Ada works at Initech.", 0.6)
    assert "w" in names(choose([*drinks, works], 20, "What does Ada drink, and where does she work?"))


def test_a_contradiction_is_shown_whole_with_the_earlier_first_or_not_at_all():
    old = item("z", TEXTS[5], 0.9, occurred_at=DAYS[3], conflicts=frozenset("a"))
    new = item("a", TEXTS[6], 1.0, occurred_at=DAYS[2])
    assert [one.key for one in choose([new, old], 20).kept] == ["z", "a"]
    chosen = choose([new, old], 19)
    assert not chosen.kept
    assert "no room" in why(chosen, "a")
    assert "together with z" in why(chosen, "a")


def test_no_more_than_most_are_kept_and_the_rest_knows_why():
    items = [item(str(n), text) for n, text in enumerate((TEXTS[0], TEXTS[5], TEXTS[7]))]
    chosen = choose(items, 1000, most=2, least=0)
    assert len(chosen.kept) == 2
    assert {one.why for one in chosen.left_out} == {"2 are enough for this question"}


def test_of_nothing_nothing_is_chosen():
    assert choose([], 100, "Ada?") == Chosen((), (), 0, 0.0)
