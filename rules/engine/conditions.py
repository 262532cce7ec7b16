"""Conditions: compiled into closures over constants, and explained node by node on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from core.types import Json
from rules.document.condition_tree import Group, Leaf, Reference
from rules.expressions.facts import MISSING, Facts, json_value
from rules.expressions.operators import DEFAULT_THRESHOLD, OPERATORS, Test, Unfit, similar
from rules.expressions.paths import getter, parse_path

Predicate = Callable[[Facts], bool]
Node = Leaf | Group

MAX_EXPLAINED_ITEMS = 20
MAX_MEANT: Final = 100
"""Maximum texts that a quantifier compares by meaning; a longer list is a mismatch, because each must be embedded."""
_COST_OF_LOOKUP: Final = 10**12
_COST_OF_MEANING: Final = 10**15
_COSTS: Final = {"matches": 10, "wildcard": 10, "contains_any": 5, "contains_all": 5}


def compile_conditions(tree: Node | None) -> Predicate:
    """Return a function that evaluates the conditions; without conditions it returns True.

    It raises only errors of lookups and similarity. Within a group cheap nodes come first and evaluation stops at the
    outcome, so lookups and embeddings are requested only if they still matter.
    """
    if tree is None:
        return lambda _: True
    if isinstance(tree, Leaf):
        return _compile_leaf(tree)
    makers = {"all": _all_of, "any": _any_of, "none": _none_of}
    members = sorted(tree.members(), key=lambda member: sum(map(cost, member[1])))
    return _all_of(
        [makers[name]([compile_conditions(node) for node in sorted(nodes, key=cost)]) for name, nodes in members]
    )


def cost(node: Node) -> int:
    """Return the cost of evaluating a node, relative to one plain comparison.

    A looked-up field costs more than all plain comparisons of a rule, and a similarity more than those.
    """
    if isinstance(node, Group):
        return sum(cost(child) for _, nodes in node.members() for child in nodes)
    inner = cost(node.value) if isinstance(node.value, Leaf | Group) else 0
    looked_up = _COST_OF_LOOKUP if names_looked_up(node) else 0
    meaning = _COST_OF_MEANING if node.op == "means" else 0
    return _COSTS.get(node.op, 1) + 10 * inner + looked_up + meaning


def names_looked_up(node: Node) -> frozenset[str]:
    """Return the looked-up names that a node may ask for."""
    if isinstance(node, Group):
        return frozenset().union(*(names_looked_up(child) for _, nodes in node.members() for child in nodes))
    inner = names_looked_up(node.value) if isinstance(node.value, Leaf | Group) else frozenset()
    named = [node.field, *([node.value.field] if isinstance(node.value, Reference) else [])]
    return inner | {name for name in named if parse_path(name).is_looked_up}


def has_meaning(node: Node) -> bool:
    """Return whether a node compares texts by meaning."""
    if isinstance(node, Group):
        return any(has_meaning(child) for _, nodes in node.members() for child in nodes)
    return node.op == "means" or (isinstance(node.value, Leaf | Group) and has_meaning(node.value))


def texts_compared(node: Node, facts: Facts) -> Iterator[str]:
    """Return the texts that the node's `means` may compare, on both sides: they are embedded before it is decided."""
    if isinstance(node, Group):
        for _, nodes in node.members():
            for child in nodes:
                yield from texts_compared(child, facts)
    elif node.op == "means":
        actual = getter(parse_path(node.field))(facts)
        if type(actual) is str:
            yield actual
            yield str(node.value)
    elif isinstance(node.value, Leaf | Group) and has_meaning(node.value):
        items = getter(parse_path(node.field))(facts)
        texts = _texts_of_items(node.value, items, facts) if type(items) is list else []
        yield from texts if len(texts) <= 2 * MAX_MEANT else ()


def _texts_of_items(inner: Node, items: list[Any], facts: Facts) -> list[str]:
    """Return the texts of all items, or one pair more than the limit if they are too many."""
    outer = facts.item
    texts: list[str] = []
    for item in items:
        facts.item = item
        texts += islice(texts_compared(inner, facts), 2 * MAX_MEANT + 2 - len(texts))
        if len(texts) > 2 * MAX_MEANT:
            break
    facts.item = outer
    return texts


def _all_of(tests: list[Predicate]) -> Predicate:
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:  # noqa: PLR2004
        first, second = tests
        return lambda facts: first(facts) and second(facts)

    def every(facts: Facts) -> bool:
        for test in tests:  # noqa: SIM110 - a loop takes half the time of all() over a generator
            if not test(facts):
                return False
        return True

    return every


def _any_of(tests: list[Predicate]) -> Predicate:
    if len(tests) == 1:
        return tests[0]

    def some(facts: Facts) -> bool:
        for test in tests:  # noqa: SIM110 - a loop takes half the time of any() over a generator
            if test(facts):
                return True
        return False

    return some


def _none_of(tests: list[Predicate]) -> Predicate:
    some = _any_of(tests)
    return lambda facts: not some(facts)


def _compile_leaf(leaf: Leaf) -> Predicate:
    get = getter(parse_path(leaf.field))
    if leaf.op == "missing":
        return lambda facts: get(facts) is MISSING
    if leaf.op == "exists":
        return lambda facts: get(facts) is not MISSING
    if isinstance(leaf.value, Reference):
        return _compile_reference(leaf, leaf.value)
    test = _bind(leaf)
    field, op = leaf.field, leaf.op

    def holds(facts: Facts) -> bool:
        actual = get(facts)
        if actual is MISSING:
            return False
        answer = test(actual, facts)
        if answer is None:
            facts.mismatch(field, op)
            return False
        return answer

    return holds


def _bind(leaf: Leaf) -> Test:
    if isinstance(leaf.value, Leaf | Group):
        quantified = _quantifier(every=leaf.op == "all_of", inner=compile_conditions(leaf.value))
        return _limit_texts(leaf.value, quantified) if has_meaning(leaf.value) else quantified
    if leaf.op == "means":
        return similar(leaf.value, _threshold(leaf))
    return OPERATORS[leaf.op].bind(leaf.value)


def _threshold(leaf: Leaf) -> float:
    return DEFAULT_THRESHOLD if leaf.threshold is None else leaf.threshold


def _compile_reference(leaf: Leaf, reference: Reference) -> Predicate:
    get, get_expected = getter(parse_path(leaf.field)), getter(parse_path(reference.field))
    bind, field, op = OPERATORS[leaf.op].bind, leaf.field, leaf.op

    def holds(facts: Facts) -> bool:
        actual, expected = get(facts), get_expected(facts)
        if actual is MISSING or expected is MISSING:
            return False
        try:
            answer = bind(expected)(actual, facts)
        except Unfit:
            answer = None
        if answer is None:
            facts.mismatch(field, op)
            return False
        return answer

    return holds


def _quantifier(*, every: bool, inner: Predicate) -> Test:
    def test(actual: Any, facts: Facts) -> bool | None:
        if type(actual) is not list:
            return None
        outer = facts.item
        try:
            for item in actual:
                facts.item = item
                if inner(facts) is not every:
                    return not every
        finally:
            facts.item = outer
        return every and bool(actual)

    return test


def _limit_texts(inner: Node, quantified: Test) -> Test:
    """Restrict a quantifier over meanings to lists whose texts are few enough to be embedded."""

    def test(actual: Any, facts: Facts) -> bool | None:
        if type(actual) is list and len(_texts_of_items(inner, actual, facts)) > 2 * MAX_MEANT:
            return None
        return quantified(actual, facts)

    return test


def explain(tree: Node | None, facts: Facts) -> Json:
    """Return every node of the conditions with its outcome; nothing is skipped, so all looked-up fields are requested.

    A group is `{"op": "all" | "any" | "none", "result", "nodes"}`; a leaf is `{"op", "field", "actual", "expected",
    "result"}` and, where applicable, `"reason": "missing" | "mismatch"`, `"similarity"` and `"threshold"`, `"items"`
    (the first 20). No conditions are an empty `all`. The facts must know the texts of `texts_compared`.
    """
    if tree is None:
        return {"op": "all", "result": True, "nodes": []}
    if isinstance(tree, Leaf):
        return _explain_leaf(tree, facts)
    members = [_outcome(keyword, [explain(node, facts) for node in nodes]) for keyword, nodes in tree.members()]
    return members[0] if len(members) == 1 else _outcome("all", members)


def _outcome(keyword: str, nodes: list[Json]) -> Json:
    results = [node["result"] for node in nodes]
    result = {"all": all(results), "any": any(results), "none": not any(results)}[keyword]
    return {"op": keyword, "result": result, "nodes": nodes}


def _explain_leaf(leaf: Leaf, facts: Facts) -> Json:
    actual = getter(parse_path(leaf.field))(facts)
    expected = getter(parse_path(leaf.value.field))(facts) if isinstance(leaf.value, Reference) else leaf.value
    answer = _answer(leaf, actual, expected, facts)
    explanation: Json = {"op": leaf.op, "field": leaf.field, "actual": json_value(actual), "result": bool(answer)}
    explanation |= _explain_expected(leaf, expected)
    if MISSING in (actual, expected):
        explanation["reason"] = "missing"
    elif answer is None:
        explanation["reason"] = "mismatch"
    if leaf.op == "means" and type(actual) is str:
        explanation["similarity"] = facts.similarity(actual, str(leaf.value))
    if isinstance(leaf.value, Leaf | Group) and isinstance(actual, list) and answer is not None:
        explanation["items"] = _explain_items(leaf.value, actual, facts)
    return explanation


def _answer(leaf: Leaf, actual: Any, expected: Any, facts: Facts) -> bool | None:
    if leaf.op == "missing":
        return actual is MISSING
    if actual is MISSING or expected is MISSING:
        return False
    try:
        return (OPERATORS[leaf.op].bind(expected) if isinstance(leaf.value, Reference) else _bind(leaf))(actual, facts)
    except Unfit:
        return None


def _explain_expected(leaf: Leaf, expected: Any) -> Json:
    if isinstance(leaf.value, Reference):
        return {"expected": json_value(expected), "expected_field": leaf.value.field}
    if isinstance(leaf.value, Leaf | Group):
        return {"expected": leaf.value.model_dump(mode="json", exclude_unset=True)}
    if leaf.op == "means":
        return {"expected": leaf.value, "threshold": _threshold(leaf)}
    return {} if OPERATORS[leaf.op].takes == "nothing" else {"expected": leaf.value}


def _explain_items(inner: Node, actual: list[Any], facts: Facts) -> list[Json]:
    outer = facts.item
    explanations = []
    for item in actual[:MAX_EXPLAINED_ITEMS]:
        facts.item = item
        explanations.append(explain(inner, facts))
    facts.item = outer
    return explanations
