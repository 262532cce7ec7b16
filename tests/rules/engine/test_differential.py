"""The compiled conditions beside a plain interpreter of the document, and beside JSONLogic where the two agree."""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import datalogic_py
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.types import Event, Json
from rules.document.schema import parse
from rules.engine.conditions import compile_conditions, explain
from rules.engine.ruleset import Ruleset
from rules.expressions.facts import Facts
from rules.expressions.operators import OPERATORS
from tests.rules.samples import NOON, a_document, a_rule, an_event

NOT_THERE = object()
MOMENTS = {
    "2026-11-21T10:00:00Z": datetime(2026, 11, 21, 10, tzinfo=UTC),
    "2026-11-21T11:00:00+01:00": datetime(2026, 11, 21, 10, tzinfo=UTC),
    "2026-11-21T12:00:00Z": NOON,
    "2030-01-01T00:00:00Z": datetime(2030, 1, 1, tzinfo=UTC),
}
DURATIONS = {"1h": 3600, "90s": 90, "7d": 7 * 86_400}
LOOKED_UP = {"session.message_count": 1, "user.memory_count": 0, "memory.importance": None}

# ------------------------------------------------------------------------------------------------ the interpreter


class Reading:
    """The conditions of the contract, read off the document one node at a time, with no thought of speed."""

    def __init__(self, event: Event, item: Any = NOT_THERE) -> None:
        self.event, self.item = event, item

    def holds(self, tree: Json) -> bool:
        if "op" not in tree:
            return (
                all(self.holds(node) for node in tree.get("all", []))
                and ("any" not in tree or any(self.holds(node) for node in tree["any"]))
                and not any(self.holds(node) for node in tree.get("none", []))
            )
        actual, expected = self.read(tree["field"]), tree.get("value")
        if tree["op"] == "missing":
            return actual is NOT_THERE
        if actual is NOT_THERE:
            return False
        if tree["op"] in {"any_of", "all_of"}:
            return self.quantified(tree["op"], actual, tree["value"])
        if isinstance(expected, dict):
            expected = self.read(expected["field"])
        if tree["op"] == "means":
            return kind(actual) == "text" and nearness(actual, expected) >= tree.get("threshold", 0.5)
        return expected is not NOT_THERE and MEANING[tree["op"]](actual, expected) is True

    def quantified(self, op: str, actual: Any, inner: Json) -> bool:
        if not isinstance(actual, list) or not actual:
            return False
        results = [Reading(self.event, item).holds(inner) for item in actual]
        return any(results) if op == "any_of" else all(results)

    def read(self, path: str) -> Any:
        root, *steps = re.findall(r"[^.\[\]]+", path)
        if path in LOOKED_UP:
            return NOT_THERE if LOOKED_UP[path] is None else LOOKED_UP[path]
        if root not in {"payload", "item"}:
            value = getattr(self.event, root)
            return NOT_THERE if value is None else value
        value = self.event.payload if root == "payload" else self.item
        for step in steps:
            try:
                value = value[int(step)] if isinstance(value, list) else value[step]
            except (KeyError, IndexError, TypeError, ValueError):
                return NOT_THERE
        return value


def nearness(text: str, meaning: str) -> float:
    """A stand-in for embeddings: the share of characters that two texts have in common."""
    return len(set(text) & set(meaning)) / max(len(set(text) | set(meaning)), 1)


def kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    names = {int: "number", float: "number", str: "text", list: "list", dict: "object", datetime: "time"}
    return names.get(type(value), "null")


def moment(value: Any) -> datetime | None:
    return value if isinstance(value, datetime) else MOMENTS.get(value) if isinstance(value, str) else None


def equal(left: Any, right: Any) -> bool:
    if moment(left) is not None or moment(right) is not None:
        return moment(left) == moment(right)
    if kind(left) != kind(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[name], right[name]) for name in left)
    return bool(left == right)


def comparable(left: Any, right: Any) -> bool:
    """Whether asking if they are equal makes sense; of null it always does."""
    if left is None or right is None or kind(left) == kind(right):
        return True
    return moment(left) is not None and moment(right) is not None


def is_equal(actual: Any, expected: Any) -> bool | None:
    return equal(actual, expected) if comparable(actual, expected) else None


def negated(test: Callable[[Any, Any], bool | None]) -> Callable[[Any, Any], bool | None]:
    def opposite(actual: Any, expected: Any) -> bool | None:
        answer = test(actual, expected)
        return None if answer is None else not answer

    return opposite


def sorted_as(value: Any) -> tuple[str, Any] | None:
    """By what a value is ordered, and where it stands there."""
    when = moment(value)
    if when is not None:
        return "time", when
    return (kind(value), value) if kind(value) in {"number", "text"} else None


def ordered(answer: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool | None]:
    def test(actual: Any, expected: Any) -> bool | None:
        one, other = sorted_as(actual), sorted_as(expected)
        return answer(one[1], other[1]) if one and other and one[0] == other[0] else None

    return test


def between(actual: Any, expected: Any) -> bool | None:
    if not isinstance(expected, list) or len(expected) != 2:
        return None
    low, high, value = map(sorted_as, (*expected, actual))
    if low is None or high is None or value is None or not low[0] == high[0] == value[0] or low[1] > high[1]:
        return None
    return bool(low[1] <= value[1] <= high[1])


def is_in(actual: Any, expected: Any) -> bool | None:
    if not isinstance(expected, list):
        return None
    if expected and not any(comparable(actual, each) for each in expected):
        return None
    return any(equal(actual, each) for each in expected)


def contains(actual: Any, expected: Any) -> bool | None:
    if isinstance(actual, list):
        return any(equal(item, expected) for item in actual)
    return expected in actual if kind(actual) == kind(expected) == "text" else None


def contains_many(quantify: Callable[[Any], bool]) -> Callable[[Any, Any], bool | None]:
    def test(actual: Any, expected: Any) -> bool | None:
        if not isinstance(expected, list) or kind(actual) not in {"text", "list"}:
            return None
        if kind(actual) == "text" and any(kind(each) != "text" for each in expected):
            return None
        return quantify(contains(actual, each) for each in expected)

    return test


def textual(answer: Callable[[str, str], bool]) -> Callable[[Any, Any], bool | None]:
    return lambda actual, expected: answer(actual, expected) if kind(actual) == kind(expected) == "text" else None


def folded(text: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())


def length(answer: Callable[[int, int], bool]) -> Callable[[Any, Any], bool | None]:
    def test(actual: Any, expected: Any) -> bool | None:
        if type(expected) is not int or expected < 0 or kind(actual) not in {"text", "list", "object"}:
            return None
        return answer(len(actual), expected)

    return test


def age(answer: Callable[[float, float], bool]) -> Callable[[Any, Any], bool | None]:
    def test(actual: Any, expected: Any) -> bool | None:
        seconds = DURATIONS.get(expected) if isinstance(expected, str) else expected
        when = moment(actual)
        if kind(seconds) != "number" or seconds < 0 or when is None:
            return None
        return answer((NOON - when).total_seconds(), seconds)

    return test


MEANING: dict[str, Callable[[Any, Any], bool | None]] = {
    "==": is_equal,
    "!=": negated(is_equal),
    ">": ordered(lambda one, other: bool(one > other)),
    ">=": ordered(lambda one, other: bool(one >= other)),
    "<": ordered(lambda one, other: bool(one < other)),
    "<=": ordered(lambda one, other: bool(one <= other)),
    "between": between,
    "in": is_in,
    "not_in": negated(is_in),
    "contains": contains,
    "not_contains": negated(contains),
    "contains_any": contains_many(any),
    "contains_all": contains_many(all),
    "starts_with": textual(lambda one, other: one[: len(other)] == other),
    "ends_with": textual(lambda one, other: not other or one[-len(other) :] == other),
    "iequals": textual(lambda one, other: folded(one) == folded(other)),
    "matches": textual(lambda one, other: re.search(other, one) is not None),
    "wildcard": textual(fnmatch.fnmatchcase),
    "exists": lambda _actual, _expected: True,
    "is_null": lambda actual, _expected: actual is None,
    "length_==": length(lambda one, other: one == other),
    "length_>": length(lambda one, other: one > other),
    "length_<": length(lambda one, other: one < other),
    "older_than": age(lambda one, other: one > other),
    "newer_than": age(lambda one, other: one < other),
}

# ------------------------------------------------------------------------------------------------ what is tried

TEXTS = st.sampled_from(["", "a", "A", "ab", "ba", "é", "e\N{COMBINING ACUTE ACCENT}", "É", "ß", "SS", "你好"])
TIMES = st.sampled_from(sorted(MOMENTS))
NUMBERS = st.sampled_from([-2, 0, 1, 2, 3, 0.0, 1.0, 1.5, 2**60, 2**60 + 1, 1e300])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS | TIMES | st.sampled_from(sorted(DURATIONS))
LISTS = st.lists(SCALARS, min_size=1, max_size=3)
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.sampled_from("ab"), SCALARS, max_size=2)
PAYLOADS = st.dictionaries(st.sampled_from("xyz"), VALUES | st.lists(VALUES, max_size=2), max_size=3)
EVENTS = st.builds(
    lambda payload, subject: an_event(payload, subject=subject), PAYLOADS, st.sampled_from([None, "a", "session:s1"])
)
PLACES = ["payload.x", "payload.y", "payload.z", "payload.x[0]", "payload.y.a", "payload.x[1].b"]
OUTSIDE = st.sampled_from(PLACES) | st.sampled_from([*LOOKED_UP, "time", "source", "subject", "event_type"])
INSIDE = st.sampled_from(["item", "item.a", "item[0]"])


def pairs(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.tuples(values, values).map(lambda pair: sorted(pair, key=lambda value: MOMENTS.get(value, value)))


PLAIN = st.sampled_from(["", "a", "A", "ab", "ba", "é", "你好"])
LITERALS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("==", "!="), SCALARS | LISTS),
    **dict.fromkeys((">", ">=", "<", "<="), NUMBERS | TEXTS | TIMES),
    "between": pairs(NUMBERS) | pairs(PLAIN) | pairs(TIMES),
    **dict.fromkeys(("in", "not_in", "contains_any", "contains_all"), LISTS),
    **dict.fromkeys(("contains", "not_contains"), SCALARS),
    **dict.fromkeys(("starts_with", "ends_with", "iequals"), TEXTS),
    "matches": st.sampled_from(["a", "^a", "b$", "^(a|é)+$", "[^a]", "你"]),
    "wildcard": st.sampled_from(["*", "a*", "?", "??", "*好", "a?*", "b"]),
    **dict.fromkeys(("exists", "missing", "is_null"), st.just(True)),
    **dict.fromkeys(("length_==", "length_>", "length_<"), st.integers(0, 3)),
    **dict.fromkeys(("older_than", "newer_than"), st.sampled_from([0, 3600, 7200, 90.5, "1h", "90s", "7d"])),
    "means": st.sampled_from(["a", "ab", "你好"]),
}
SCANS = {"in", "not_in", "contains_any", "contains_all", "iequals"}


def leaf_of(field: str, op: str, value: Any) -> Json:
    more = {"threshold": 0.4} if op == "means" else {}
    return {"field": field, "op": op, "value": value, **more}


def leaves(fields: st.SearchStrategy[str], beside: st.SearchStrategy[str] | None) -> st.SearchStrategy[Json]:
    """A comparison with a literal or, where the operator can, with another field."""

    def of(op: str) -> st.SearchStrategy[Json]:
        others = fields if beside is None or op in SCANS else fields | beside
        references = others.map(lambda name: {"field": name})
        values = LITERALS[op] | references if OPERATORS[op].referable else LITERALS[op]
        return st.builds(leaf_of, fields, st.just(op), values)

    return st.sampled_from(sorted(LITERALS)).flatmap(of)


def groups(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    nodes = st.lists(inner, min_size=1, max_size=3)
    words = st.lists(st.sampled_from(["all", "any", "none"]), min_size=1, max_size=2, unique=True)
    return words.flatmap(lambda chosen: st.fixed_dictionaries(dict.fromkeys(chosen, nodes)))


def quantified(fields: st.SearchStrategy[str], inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.builds(leaf_of, fields, st.sampled_from(["any_of", "all_of"]), inner)


ITEMS = leaves(INSIDE, st.sampled_from(PLACES))
ITEM_TREES = ITEMS | groups(ITEMS) | quantified(INSIDE, leaves(INSIDE, None))
TREES = st.recursive(leaves(OUTSIDE, None) | quantified(st.sampled_from(PLACES), ITEM_TREES), groups, max_leaves=8)


def facts(event: Event) -> Facts:
    return Facts(event, LOOKED_UP.__getitem__, similarity=nearness)


@given(TREES, EVENTS)
def test_compiled_conditions_decide_as_the_plain_reading_of_the_document(tree: Json, event: Event) -> None:
    conditions = parse(a_document(conditions=tree)).conditions
    expected = Reading(event).holds(tree)
    assert compile_conditions(conditions)(facts(event)) is expected
    assert explain(conditions, facts(event))["result"] is expected


@given(st.lists(TREES, min_size=1, max_size=6), st.lists(EVENTS, min_size=1, max_size=4))
def test_a_ruleset_meets_the_rules_that_the_plain_reading_meets(trees: list[Json], events: list[Event]) -> None:
    ruleset = Ruleset([(a_rule(f"r{place}", conditions=tree), 1) for place, tree in enumerate(trees)])
    for event in events:
        verdicts = ruleset.decide(event, LOOKED_UP.__getitem__, similarity=nearness)
        expected = [f"r{place}" for place, tree in enumerate(trees) if Reading(event).holds(tree)]
        assert [verdict.name for verdict in verdicts] == expected


@given(st.lists(TREES, min_size=1, max_size=6), EVENTS)
def test_what_is_asked_beforehand_is_all_that_is_asked(trees: list[Json], event: Event) -> None:
    ruleset = Ruleset([(a_rule(f"r{place}", conditions=tree), 1) for place, tree in enumerate(trees)])
    names, texts = ruleset.asks(event), ruleset.texts(event)

    def known(text: str, meaning: str) -> float:
        assert {text, meaning} <= texts
        return nearness(text, meaning)

    ruleset.decide(event, {name: LOOKED_UP[name] for name in names}.__getitem__, similarity=known)


@pytest.mark.parametrize("op", sorted(OPERATORS))
def test_no_operator_is_left_out(op: str) -> None:
    assert op in {*LITERALS, "any_of", "all_of"}


# ------------------------------------------------------------------------------------------------ JSONLogic
#
# Where the two part, and what is therefore left out of what is tried:
# - A missing variable is null to JSONLogic; here every comparison of a missing field is false. All fields are there.
# - JSONLogic calls values truthy (`"0"` is, `[]` is not); here a condition is a comparison and is true or false.
#   Only comparisons are tried.
# - `==` coerces there ("1" equals 1): its `===` is what `==` means here. `!=` of two kinds is false here and true
#   there; `!=` is tried between values of one kind, or null.
# - `<` and its kin turn texts, booleans and null into numbers there; here that is a mismatch. They are tried with
#   numbers alone.
# - `in` there also looks for a piece of a text; here that is `contains`.

STRICT = {"==": "===", "!=": "!==", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "in": "in"}
SMALL = st.sampled_from([-2, 0, 1, 2, 0.5, 1.0, 1.5])
PLAIN_TEXTS = st.sampled_from(["", "a", "ab", "你好", "0"])


def logic(tree: Json) -> Any:
    """The tree in JSONLogic."""
    if "op" not in tree:
        parts = [{"and": [logic(node) for node in tree["all"]]}] if "all" in tree else []
        parts += [{"or": [logic(node) for node in tree["any"]]}] if "any" in tree else []
        return {"and": parts + [{"!": [logic(node)]} for node in tree.get("none", [])]}
    field = tree["field"]
    variable = {"var": "" if field == "item" else field.removeprefix("payload.")}
    if tree["op"] in {"any_of", "all_of"}:
        return {{"any_of": "some", "all_of": "all"}[tree["op"]]: [variable, logic(tree["value"])]}
    return {STRICT[tree["op"]]: [variable, tree["value"]]}


def expressible(number: str, text: str) -> st.SearchStrategy[Json]:
    """Comparisons of a field that holds numbers and of one that holds texts."""
    return st.one_of(
        st.builds(leaf_of, st.just(number), st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), SMALL),
        st.builds(leaf_of, st.just(text), st.sampled_from(["==", "!="]), PLAIN_TEXTS),
        st.builds(leaf_of, st.sampled_from([number, text]), st.just("=="), SMALL | PLAIN_TEXTS | st.none()),
        st.builds(leaf_of, st.just(number), st.just("in"), st.lists(SMALL, min_size=1, max_size=3)),
        st.builds(leaf_of, st.just(text), st.just("in"), st.lists(PLAIN_TEXTS, min_size=1, max_size=3)),
    )


NUMBER_ITEMS = st.builds(leaf_of, st.just("item"), st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), SMALL)
EXPRESSIBLE = st.recursive(
    expressible("payload.n", "payload.t")
    | st.builds(
        leaf_of,
        st.just("payload.l"),
        st.sampled_from(["any_of", "all_of"]),
        NUMBER_ITEMS | groups(NUMBER_ITEMS),
    ),
    groups,
    max_leaves=8,
)


@given(EXPRESSIBLE, SMALL, PLAIN_TEXTS, st.lists(SMALL, max_size=3))
def test_what_jsonlogic_can_say_it_decides_alike(tree: Json, number: float, text: str, items: list[float]) -> None:
    payload = {"n": number, "t": text, "l": items}
    holds = compile_conditions(parse(a_document(conditions=tree)).conditions)(Facts(an_event(payload)))
    assert datalogic_py.apply(logic(tree), payload) is holds


@pytest.mark.parametrize(
    ("tree", "loose", "payload"),
    [
        (leaf_of("payload.n", "==", None), {"==": [{"var": "n"}, None]}, {}),
        (leaf_of("payload.n", "==", 1), {"==": [{"var": "n"}, 1]}, {"n": "1"}),
        (leaf_of("payload.n", "!=", 1), {"!==": [{"var": "n"}, 1]}, {"n": "a"}),
        (leaf_of("payload.n", "<", 1), {"<": [{"var": "n"}, 1]}, {"n": None}),
        (leaf_of("payload.n", "in", ["ab"]), {"in": [{"var": "n"}, "ab"]}, {"n": "a"}),
    ],
)
def test_where_jsonlogic_coerces_imprint_says_no(tree: Json, loose: Json, payload: Json) -> None:
    assert datalogic_py.apply(loose, payload) is True
    assert compile_conditions(parse(a_document(conditions=tree)).conditions)(Facts(an_event(payload))) is False
