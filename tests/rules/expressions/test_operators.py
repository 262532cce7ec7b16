from __future__ import annotations

import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.document.schema import parse
from rules.engine.conditions import compile_conditions, explain
from rules.engine.ruleset import Ruleset
from rules.expressions.facts import MISSING, Facts
from rules.expressions.operators import OPERATORS, same
from tests.rules.samples import a_document, a_leaf, a_rule, an_event
from tests.spent import spent

FITS, FALSE, MISMATCH = "fits", "false", "mismatch"
NAN = float("nan")
TEN = "2026-11-21T10:00:00Z"
TEN_IN_PARIS = "2026-11-21T11:00:00+01:00"
FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}"
COMPOSED, DECOMPOSED = "\N{LATIN SMALL LETTER E WITH ACUTE}", "e\N{COMBINING ACUTE ACCENT}"
HALF = "\ud800"
HUGE = 10**400

TABLE: list[tuple[str, Any, Any, str]] = [
    # op, value of the rule, actual, outcome
    ("==", 3, 3.0, FITS),
    ("==", 3, 4, FALSE),
    ("==", 1, True, MISMATCH),
    ("==", True, 1, MISMATCH),
    ("==", 0, False, MISMATCH),
    ("==", True, True, FITS),
    ("==", "3", 3, MISMATCH),
    ("==", None, None, FITS),
    ("==", None, "a", FALSE),
    ("==", "a", None, FALSE),
    ("==", "", "", FITS),
    ("==", TEN, TEN_IN_PARIS, FITS),
    ("==", TEN, "2026-11-21", FALSE),
    ("==", [1, 2], [1.0, 2], FITS),
    ("==", [1], [True], FALSE),
    ("==", [TEN], [TEN_IN_PARIS], FITS),
    ("==", [1], {"a": 1}, MISMATCH),
    ("==", "é", "e\N{COMBINING ACUTE ACCENT}", FALSE),
    ("==", 2**53, 2**53 + 1, FALSE),
    ("==", 1, NAN, FALSE),
    ("!=", 3, 4, FITS),
    ("!=", 3, 3.0, FALSE),
    ("!=", 3, "3", MISMATCH),
    ("!=", 1, True, MISMATCH),
    ("!=", None, "a", FITS),
    ("!=", "a", None, FITS),
    ("!=", None, None, FALSE),
    ("!=", 3, MISSING, FALSE),
    (">=", 3, 3, FITS),
    (">=", 3, 2.999, FALSE),
    (">=", 3, True, MISMATCH),
    (">=", 0, False, MISMATCH),
    (">=", 3, "4", MISMATCH),
    (">=", 3, None, MISMATCH),
    (">=", 3, [4], MISMATCH),
    (">=", 3, MISSING, FALSE),
    (">", 3, 10**400, FITS),
    (">", 3, NAN, FALSE),
    ("<", "b", "a", FITS),
    ("<", "b", "B", FITS),
    ("<", "b", 1, MISMATCH),
    ("<", TEN, "2026-11-21T10:30:00+01:00", FITS),
    ("<", TEN_IN_PARIS, TEN, FALSE),
    ("<", TEN, "2026-11-21", MISMATCH),
    ("<", "b", TEN, MISMATCH),
    ("<=", TEN, TEN_IN_PARIS, FITS),
    ("between", [1, 10], 1, FITS),
    ("between", [1, 10], 10.5, FALSE),
    ("between", [1, 10], "5", MISMATCH),
    ("between", [TEN, "2026-11-21T12:00:00Z"], "2026-11-21T12:30:00+01:00", FITS),
    ("between", ["a", "c"], "b", FITS),
    ("in", ["user", "assistant"], "user", FITS),
    ("in", ["user", "assistant"], "tool", FALSE),
    ("in", ["user"], 1, MISMATCH),
    ("in", ["user"], ["user"], MISMATCH),
    ("in", ["user"], MISSING, FALSE),
    ("in", [1, "a"], 1.0, FITS),
    ("in", [1, "a"], True, MISMATCH),
    ("in", [True], 1, MISMATCH),
    ("in", ["a"], None, FALSE),
    ("in", ["a", None], None, FITS),
    ("in", [TEN], TEN_IN_PARIS, FITS),
    ("not_in", ["user"], "tool", FITS),
    ("not_in", ["user"], "user", FALSE),
    ("not_in", ["user"], 1, MISMATCH),
    ("not_in", ["user"], None, FITS),
    ("not_in", ["user"], MISSING, FALSE),
    ("not_in", [None], 1, FITS),
    ("not_in", [None, "user"], 1, FITS),
    ("in", [None, "user"], 1, FALSE),
    ("not_in", [None], None, FALSE),
    ("contains", "a", ["a", "b"], FITS),
    ("contains", "a", "cat", FITS),
    ("contains", 1, [True], FALSE),
    ("contains", 1, "1", MISMATCH),
    ("contains", "a", {"a": 1}, MISMATCH),
    ("contains", "好", "你好", FITS),
    ("not_contains", "x", ["a"], FITS),
    ("not_contains", "a", ["a"], FALSE),
    ("not_contains", "x", 1, MISMATCH),
    ("not_contains", "x", MISSING, FALSE),
    ("contains_any", ["x", "a"], ["a"], FITS),
    ("contains_any", ["x", "y"], "abc", FALSE),
    ("contains_any", [1], "1", MISMATCH),
    ("contains_any", ["a"], [["a"]], FALSE),
    ("contains_all", ["a", "b"], ["b", "a", "c"], FITS),
    ("contains_all", ["a", "b"], ["a"], FALSE),
    ("contains_all", ["a", "b"], "a cab", FITS),
    ("contains_all", ["a"], [], FALSE),
    ("starts_with", "vip", "vip-1", FITS),
    ("starts_with", "vip", 7, MISMATCH),
    ("ends_with", ".pdf", "a.pdf", FITS),
    ("ends_with", ".pdf", "a.PDF", FALSE),
    ("iequals", "Straße", "STRASSE", FITS),
    ("iequals", "é", "E\N{COMBINING ACUTE ACCENT}", FITS),
    ("iequals", "a", "b", FALSE),
    ("iequals", "a", None, MISMATCH),
    ("matches", "^(yes|no)$", "yes", FITS),
    ("matches", "lo+", "hello", FITS),
    ("matches", "^a$", "a\n", FALSE),
    ("matches", r"\p{Han}", "我搬到了里斯本", FITS),
    ("matches", "a", 1, MISMATCH),
    ("matches", "a", "\ud800a", MISMATCH),
    ("wildcard", "bot-*", "bot-7\n", FITS),
    ("wildcard", "bot-?", "bot-名", FITS),
    ("wildcard", "bot.?", "botx7", FALSE),
    ("wildcard", "bot", "a bot", FALSE),
    ("wildcard", "[a]", "a", FALSE),
    ("length_==", 3, "你好吗", FITS),
    ("length_==", 3, FAMILY, FITS),
    ("length_==", 0, [], FITS),
    ("length_>", 1, {"a": 1, "b": 2}, FITS),
    ("length_<", 2, "ab", FALSE),
    ("length_<", 2, 1, MISMATCH),
    ("length_<", 2, None, MISMATCH),
    ("length_<", 2, MISSING, FALSE),
    ("older_than", "1h", TEN, FITS),
    ("older_than", 7200, TEN, FALSE),
    ("older_than", 7199, TEN_IN_PARIS, FITS),
    ("older_than", "1h", "yesterday", MISMATCH),
    ("older_than", "1h", 1_700_000_000, MISMATCH),
    ("newer_than", "3h", TEN, FITS),
    ("newer_than", "3h", "2030-01-01T00:00:00Z", FITS),
    ("newer_than", "3h", MISSING, FALSE),
    ("any_of", {"field": "item", "op": ">", "value": 2}, [1, 3], FITS),
    ("any_of", {"field": "item", "op": ">", "value": 2}, [], FALSE),
    ("any_of", {"field": "item", "op": ">", "value": 2}, 3, MISMATCH),
    ("any_of", {"field": "item.name", "op": "==", "value": "search"}, [{"name": "search"}], FITS),
    (
        "any_of",
        {"all": [a_leaf("==", 1, field="item.a"), a_leaf("==", 2, field="item.b")]},
        [{"a": 1}, {"b": 2}],
        FALSE,
    ),
    ("all_of", {"field": "item", "op": ">", "value": 2}, [3, 4], FITS),
    ("all_of", {"field": "item", "op": ">", "value": 2}, [3, 1], FALSE),
    ("all_of", {"field": "item", "op": ">", "value": 2}, [], FALSE),
    ("all_of", {"field": "item", "op": "any_of", "value": a_leaf("==", 1, field="item")}, [[1, 2], [1]], FITS),
    ("all_of", {"field": "item", "op": ">", "value": 2}, MISSING, FALSE),
    ("any_of", {"field": "item.who", "op": "==", "value": {"field": "source"}}, [{"who": "support-bot"}], FITS),
    # Unicode: texts are code points; only `iequals` knows that two ways of writing are one
    ("==", COMPOSED, DECOMPOSED, FALSE),
    ("in", [COMPOSED], DECOMPOSED, FALSE),
    ("contains", "e", DECOMPOSED, FITS),
    ("contains", "e", COMPOSED, FALSE),
    ("starts_with", "e", DECOMPOSED, FITS),
    ("length_==", 1, COMPOSED, FITS),
    ("length_==", 2, DECOMPOSED, FITS),
    ("iequals", COMPOSED, DECOMPOSED, FITS),
    ("iequals", "İ", "i\N{COMBINING DOT ABOVE}", FITS),
    ("iequals", "ς", "Σ", FITS),
    ("iequals", "你好", "你好", FITS),
    ("==", FAMILY, FAMILY, FITS),
    ("contains", "\N{WOMAN}", FAMILY, FITS),
    ("wildcard", "???", FAMILY, FITS),
    ("matches", "^.{3}$", FAMILY, FITS),
    ("==", "里斯本", "里斯本", FITS),
    ("<", "里", "本", FITS),
    ("ends_with", "本", "里斯本", FITS),
    ("==", "a\N{NO-BREAK SPACE}b", "a b", FALSE),
    ("==", "а", "a", FALSE),  # the first is Cyrillic
    # half a surrogate pair, which no rule can hold and no event of the log, is a text like any other, but none for RE2
    ("==", "a", HALF, FALSE),
    ("contains", "a", f"a{HALF}", FITS),
    ("length_==", 1, HALF, FITS),
    ("iequals", "a", HALF, FALSE),
    ("wildcard", "*", HALF, MISMATCH),
    # numbers
    ("==", HUGE, HUGE, FITS),
    ("==", 2**53, float(2**53), FITS),
    ("==", 2**53 + 1, float(2**53), FALSE),
    ("in", [2**53], float(2**53), FITS),
    ("<", 1e308, HUGE, FALSE),
    ("between", [0, 1.5], HUGE, FALSE),
    (">", 0, float("inf"), FITS),
    ("in", [1, 2], float("inf"), FALSE),
    ("==", 0, -0.0, FITS),
    ("==", 0.3, 0.1 + 0.2, FALSE),
    ("!=", 1, NAN, FITS),
    ("in", [1], NAN, FALSE),
    ("between", [0, 1], NAN, FALSE),
    ("<", 1, NAN, FALSE),
    ("==", 1, Decimal(1), FITS),
    ("==", 0.1, Decimal("0.1"), FALSE),
    (">", 0.5, Decimal("0.6"), FITS),
    ("in", [1, 2], Decimal(2), FITS),
    (">", 1, Decimal("Infinity"), FITS),
    ("==", 1, Decimal("NaN"), MISMATCH),
    (">", 1, Decimal("NaN"), MISMATCH),
    ("<=", 1, Decimal("sNaN"), MISMATCH),
    ("in", [1], Decimal("sNaN"), MISMATCH),
    ("contains", 1, [Decimal("sNaN"), 1], FITS),
    # booleans are not numbers, numbers not booleans, and neither is a text
    (">", 0, True, MISMATCH),
    ("in", [0, 1], True, MISMATCH),
    ("in", [True, False], 0, MISMATCH),
    ("in", [True, 0], 1, FALSE),
    ("contains", True, [1], FALSE),
    ("contains", False, [0, False], FITS),
    ("between", [0, 1], True, MISMATCH),
    ("==", "true", True, MISMATCH),
    ("length_>", 0, True, MISMATCH),
    # times: RFC 3339 with an offset, and nothing that merely looks like it
    ("==", "2026-11-21T10:00:00.000Z", TEN, FITS),
    ("==", "2026-11-21t10:00:00z", TEN, FITS),
    ("==", "2026-11-21 10:00:00Z", TEN, FITS),
    ("==", TEN, "2026-11-21T10:00:00", FALSE),
    ("==", TEN, "2026-11-21T10:00:00-00:00", FITS),
    (">", TEN, "2026-11-21T10:00:00.000001Z", FITS),
    ("<", TEN, "2026-13-21T10:00:00Z", MISMATCH),
    ("==", "2026-11-21T23:59:60Z", "2026-11-21T23:59:60Z", FITS),
    ("<", "2026-11-21T23:59:59Z", "2026-11-21T23:59:60Z", MISMATCH),
    ("<", TEN, "0001-01-01T00:00:00+14:00", FITS),
    (">", TEN, "9999-12-31T23:59:59-14:00", FITS),
    ("in", ["0001-01-01T00:00:00+14:00"], "0001-01-01T00:00:00+14:00", FITS),
    ("older_than", "7d", "0001-01-01T00:00:00+14:00", FITS),
    ("newer_than", "7d", "9999-12-31T23:59:59-14:00", FITS),
    ("newer_than", 0, "2026-11-21T12:00:00Z", FALSE),
    ("starts_with", "2026", TEN, FITS),
    ("length_==", 20, TEN, FITS),
    # nothing is there
    ("==", "", MISSING, FALSE),
    ("==", None, MISSING, FALSE),
    ("in", [None], MISSING, FALSE),
    ("!=", None, MISSING, FALSE),
    ("contains_any", ["a"], MISSING, FALSE),
    ("matches", ".*", MISSING, FALSE),
    ("older_than", "1s", MISSING, FALSE),
    ("between", [0, 1], None, MISMATCH),
    ("starts_with", "", None, MISMATCH),
    ("contains", None, [None], FITS),
]


@pytest.mark.parametrize(("op", "value", "actual", "outcome"), TABLE)
def test_an_operator_means_what_its_row_says(op: str, value: Any, actual: Any, outcome: str) -> None:
    assert _outcome(a_leaf(op, value), {} if actual is MISSING else {"x": actual}) == outcome


@pytest.mark.parametrize(
    ("op", "payload", "outcome"),
    [
        ("exists", {"x": None}, FITS),
        ("exists", {}, FALSE),
        ("missing", {}, FITS),
        ("missing", {"x": None}, FALSE),
        ("is_null", {"x": None}, FITS),
        ("is_null", {"x": 0}, FALSE),
        ("is_null", {}, FALSE),
    ],
)
def test_presence_is_told_from_null(op: str, payload: dict[str, Any], outcome: str) -> None:
    assert _outcome(a_leaf(op), payload) == outcome
    assert _outcome(a_leaf(op, True), payload) == outcome


@pytest.mark.parametrize("op", [op for op in OPERATORS if OPERATORS[op].referable])
def test_a_missing_field_is_false_on_either_side_of_a_reference(op: str) -> None:
    leaf = a_leaf(op, {"field": "payload.y"})
    assert _outcome(leaf, {"y": 1}) == FALSE
    assert _outcome(leaf, {"x": 1}) == FALSE


@pytest.mark.parametrize(
    ("op", "left", "right", "outcome"),
    [
        ("==", 1, 1.0, FITS),
        ("==", {"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, FITS),
        ("<", 1, "b", MISMATCH),
        ("in", "a", ["a"], FITS),
        ("in", "a", [], FALSE),
        ("not_in", "a", [], FITS),
        ("in", "a", "abc", MISMATCH),
        ("between", 5, [1, 10], FITS),
        ("between", 5, [10, 1], MISMATCH),
        ("between", 5, [1, "a"], MISMATCH),
        ("length_>", "abc", 2, FITS),
        ("length_>", "abc", -2, MISMATCH),
        ("older_than", TEN, 10**400, MISMATCH),
        (">", 1, NAN, MISMATCH),
        (">", 1, 10**400, FALSE),
    ],
)
def test_a_field_is_compared_with_another_field(op: str, left: Any, right: Any, outcome: str) -> None:
    assert _outcome(a_leaf(op, {"field": "payload.y"}), {"x": left, "y": right}) == outcome


def test_the_time_of_the_event_is_a_time() -> None:
    assert _outcome(a_leaf(">", TEN, field="time"), {}) == FITS
    assert _outcome(a_leaf("in", ["2026-11-21T13:00:00+01:00"], field="time"), {}) == FITS
    assert _outcome(a_leaf(">", 5, field="time"), {}) == MISMATCH


def test_meaning_is_asked_of_the_embedder_with_the_rules_threshold() -> None:
    leaf = a_leaf("means", "moving house", threshold=0.6)
    assert _outcome(leaf, {"x": "I moved"}, nearness=0.6) == FITS
    assert _outcome(leaf, {"x": "I moved"}, nearness=0.59) == FALSE
    assert _outcome(leaf, {"x": 5}, nearness=1.0) == MISMATCH
    assert _outcome(leaf, {"x": "I moved"}) == MISMATCH
    assert _outcome(a_leaf("means", "moving house"), {"x": "I moved"}, nearness=0.5) == FITS


def test_a_hostile_expression_takes_linear_time() -> None:
    assert _outcome(a_leaf("matches", "^(a+)+$"), {"x": "a" * 100_000 + "!"}) == FALSE


def test_deeply_nested_values_are_compared_without_failing() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    assert _outcome(a_leaf("==", {"field": "payload.y"}), {"x": deep, "y": deep}) == FALSE


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text() | st.sampled_from([TEN, HALF]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from([op for op in OPERATORS if OPERATORS[op].referable]), JSON, JSON)
def test_no_pair_of_values_makes_an_operator_fail(op: str, left: Any, right: Any) -> None:
    assert _outcome(a_leaf(op, {"field": "payload.y"}), {"x": left, "y": right}) in {FITS, FALSE, MISMATCH}


@given(JSON, JSON)
def test_equality_does_not_depend_on_the_side(left: Any, right: Any) -> None:
    assert same(left, right) == same(right, left)


def _outcome(leaf: Any, payload: dict[str, Any], nearness: float | None = None) -> str:
    tree = parse(a_document(conditions=leaf)).conditions
    counted: list[str] = []
    similarity = None if nearness is None else lambda _text, _meaning: nearness
    facts = Facts(an_event(payload), similarity=similarity, on_mismatch=lambda field, _op: counted.append(field))
    holds = compile_conditions(tree)(facts)
    told = explain(tree, Facts(an_event(payload), similarity=similarity))
    assert told["result"] is holds
    assert (told.get("reason") == "mismatch") == (leaf["field"] in counted)
    return FITS if holds else MISMATCH if leaf["field"] in counted else FALSE


def test_texts_made_to_be_slow_do_not_fit_and_cost_little() -> None:
    marks = "a" + "\u0301\u0316" * 60_000
    many = [f"{n:06}" for n in range(30_000)]
    cases = [
        ("iequals", "!=", marks, marks),
        ("iequals", "==", "\u00e9" * 10, marks),
        ("contains_any", "in", many, "x" * 100_000),
        ("contains_all", "in", many, "x" * 100_000),
    ]
    for op, cheap, expected, actual in cases:
        assert _cost(op, expected, actual) < 40 * _cost(cheap, expected, actual), op


def _cost(op: str, expected: Any, actual: Any) -> float:
    """Seconds in which a rule that does not fit is decided."""
    reference = {"field": "payload.a", "op": op, "value": {"field": "payload.b"}}
    rule = parse(a_document(event_type="*", conditions=reference))
    met = an_event(payload={"a": actual, "b": expected})

    def decide() -> None:
        assert Ruleset([(rule, 1)]).decide(met) == []

    return spent(decide)


@pytest.mark.parametrize("wrap", [lambda number: number, lambda number: [number], lambda number: {"a": number}])
@pytest.mark.parametrize("op", ["contains", "contains_any", "contains_all"])
def test_numbers_made_to_have_one_hash_cost_little(op: str, wrap: Any) -> None:
    conditions = a_leaf(op, {"field": "payload.wanted"}, field="payload.numbers")
    test = compile_conditions(a_rule(conditions={"all": [conditions]}).conditions)

    def cost(factor: int) -> float:
        """Seconds for so many numbers as an event can hold, all as long as one another."""
        numbers = [wrap(number * factor) for number in range(1, 16_000)]
        facts = Facts(an_event({"numbers": numbers, "wanted": 3 if op == "contains" else numbers[:-9:-1]}))

        def decide() -> None:
            assert test(facts) is (op != "contains")

        return spent(decide)

    assert cost(sys.hash_info.modulus) < 20 * cost(sys.hash_info.modulus + 2)


@pytest.mark.parametrize("number", [2**61 - 1, -(2**61), 2**64, 10**30, 10**300])
def test_large_numbers_are_equal_however_they_are_written(number: int) -> None:
    assert same(number, int(str(number)))
    assert not same(number, number + 1)
    assert same(float(number), int(float(number)))
    assert same([Decimal(number)], [number])
    assert not same(float("inf"), number)
