"""The operators of conditions: one table, each with its description and its semantics.

An operator is bound to the value a rule compares with, which gives a test of an actual value. A test returns True,
False, or None if the types do not fit; the leaf is then false and counted. No test raises.

Kinds: null, bool, number, string, list, object, time. Booleans are not numbers. A string that is an RFC 3339
date-time is a time when compared with a time. Null equals only null, and that comparison always fits.
"""

from __future__ import annotations

import math
import operator
import sys
import unicodedata
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from types import NoneType
from typing import Any, Final, Literal

import re2

from rules.expressions.facts import Facts
from rules.expressions.times import as_time, parse_duration, parse_time

Test = Callable[[Any, Facts], bool | None]
Takes = Literal["value", "nothing", "condition", "meaning"]

MAX_PATTERN = 1_000
MAX_PATTERN_MEMORY = 1 << 20  # bytes a compiled expression may take; RE2 falls back to slower matching
MAX_MARKS = 30  # combining marks in a row: the Stream-Safe Text Format of UAX #15, which no script needs to exceed
MAX_SCANNED = 100_000_000  # characters that one `contains_any` or `contains_all` reads at the most: a twentieth second
MAX_DEPTH = 50
HASH_WRAPS = sys.hash_info.modulus
LONGEST_AGE = 10_000 * 366 * 86_400  # seconds; all of the calendar
_KINDS: Final = {
    NoneType: "null",
    bool: "bool",
    int: "number",
    float: "number",
    str: "string",
    list: "list",
    dict: "object",
    datetime: "time",
}
DEFAULT_THRESHOLD: Final = 0.5
_SIZED: Final = (str, list, dict)


class Unfit(ValueError):
    """The value does not suit the operator; the message says which values do."""


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator by its name: description, semantics, and the JSON Schema of the literals it takes.

    `bind` raises Unfit for an unsuitable value. `referable`: the value may be `{"field": "…"}`.
    """

    name: str
    doc: str
    bind: Callable[[Any], Test]
    schema: dict[str, Any]
    referable: bool = True
    takes: Takes = "value"


def is_finite(number: Any) -> bool:
    """Return whether a number is neither infinite nor NaN."""
    return isinstance(number, int) or math.isfinite(number)


def kind(value: object) -> str:
    """Return the kind of a value in rules."""
    return _KINDS.get(type(value)) or _kind_of_stranger(value)


def _kind_of_stranger(value: object) -> str:
    """Return the kind of another type: a Decimal is a number unless it is NaN, which Python refuses to compare."""
    return "number" if type(value) is Decimal and not value.is_nan() else "other"


def key(value: object, depth: int = 0) -> Hashable:
    """Return a key that is equal for two values exactly if rules call them equal, up to 50 levels deep."""
    if isinstance(value, str):
        moment = parse_time(value)
        return value if moment is None else ("time", moment)
    if value is None:
        return value
    if kind(value) == "number":
        return _key_of_number(value)
    if isinstance(value, datetime):
        return ("time", as_time(value))
    if isinstance(value, bool):
        return ("bool", value)
    return _key_of_many(value, depth + 1) if depth < MAX_DEPTH else object()


def _key_of_number(number: Any) -> int | float | Decimal | tuple[str, str]:
    """Return the number, or a text if Python's hash of it would wrap: an event could hold 10,000 with one hash."""
    if -HASH_WRAPS < number < HASH_WRAPS or not is_finite(number) or number != int(number):
        return number  # type: ignore[no-any-return]
    return ("number", hex(int(number)))


def _key_of_many(value: object, depth: int) -> Hashable:
    if isinstance(value, list):
        return ("list", *(key(item, depth) for item in value))
    if isinstance(value, dict):
        return ("object", frozenset((name, key(item, depth)) for name, item in value.items()))
    return object()


def same(left: object, right: object) -> bool | None:
    """Return whether two values are equal; None where their kinds cannot be."""
    if left is None or right is None:
        return left is right
    kinds = {kind(left), kind(right)}
    if len(kinds) == 1:
        return not _differ_in_size(left, right) and key(left) == key(right)
    if kinds == {"string", "time"}:
        moments = as_time(left), as_time(right)
        return None if None in moments else moments[0] == moments[1]
    return None


def _differ_in_size(left: object, right: object) -> bool:
    return isinstance(left, list | dict) and isinstance(right, list | dict) and len(left) != len(right)


def _equal(expected: Any) -> Test:
    if type(expected) is not str or parse_time(expected) is not None:
        return lambda actual, _: same(actual, expected)
    return lambda actual, _: actual == expected if type(actual) is str else same(actual, expected)


def _negate(bind: Callable[[Any], Test]) -> Callable[[Any], Test]:
    def bind_value(expected: Any) -> Test:
        test = bind(expected)

        def negation(actual: Any, facts: Facts) -> bool | None:
            answer = test(actual, facts)
            return None if answer is None else not answer

        return negation

    return bind_value


Compare = Callable[[Any, Any], bool]


def _order_by(compare: Compare) -> Callable[[Any], Test]:
    def bind_value(expected: Any) -> Test:
        if kind(expected) == "number":
            return _compare_numbers(compare, expected)
        moment = as_time(expected)
        if moment is not None:
            return _compare_times(compare, moment)
        if isinstance(expected, str):
            return _compare_strings(compare, expected)
        raise Unfit("compare with a number, a string or an RFC 3339 time such as `2026-11-21T10:00:00Z`")

    return bind_value


def _compare_numbers(compare: Compare, expected: Any) -> Test:
    if not is_finite(expected):
        raise Unfit("compare with a finite number")
    return lambda actual, _: compare(actual, expected) if kind(actual) == "number" else None


def _compare_times(compare: Compare, expected: datetime) -> Test:
    def test(actual: Any, _: Facts) -> bool | None:
        moment = as_time(actual)
        return None if moment is None else compare(moment, expected)

    return test


def _compare_strings(compare: Compare, expected: str) -> Test:
    def test(actual: Any, _: Facts) -> bool | None:
        if type(actual) is not str or parse_time(actual) is not None:
            return None
        return compare(actual, expected)

    return test


def _between(expected: Any) -> Test:
    if not isinstance(expected, list) or len(expected) != 2:  # noqa: PLR2004
        raise Unfit("give the lowest and the highest value, both inclusive: `[1, 10]`")
    low, high = expected
    above, below = _order_by(operator.ge)(low), _order_by(operator.le)(high)
    if _family(low) != _family(high):
        raise Unfit("both ends must have the same type: numbers, times or strings")
    if not _ordered_pair(low, high):
        raise Unfit("the lowest value comes first; no value is between these two")

    def test(actual: Any, facts: Facts) -> bool | None:
        enough = above(actual, facts)
        return enough and below(actual, facts)

    return test


def _ordered_pair(low: Any, high: Any) -> bool:
    moments = as_time(low), as_time(high)
    if moments[0] is not None and moments[1] is not None:
        return moments[0] <= moments[1]
    return bool(low <= high)


def _family(value: object) -> str:
    return "time" if as_time(value) is not None else kind(value)


def _in(expected: Any) -> Test:
    if not isinstance(expected, list):
        raise Unfit('give a list: `["user", "assistant"]`')
    keys = frozenset(key(item) for item in expected)
    if all(type(item) is str for item in keys):
        return _in_strings(frozenset(keys))
    kinds = {kind(item) for item in expected} | {_family(item) for item in expected}
    fits_any = not kinds or "null" in kinds

    def test(actual: Any, _: Facts) -> bool | None:
        if kind(actual) not in kinds and actual is not None and not fits_any:
            return None
        return key(actual) in keys

    return test


def _in_strings(strings: frozenset[Hashable]) -> Test:
    def test(actual: Any, _: Facts) -> bool | None:
        if type(actual) is str:
            return actual in strings
        return None if strings and actual is not None else False

    return test


def _contains(expected: Any) -> Test:
    expected_key = key(expected)

    def test(actual: Any, _: Facts) -> bool | None:
        if type(actual) is str:
            return expected in actual if type(expected) is str else None
        if type(actual) is list:
            return any(key(item) == expected_key for item in actual)
        return None

    return test


def _contains_many(every: bool) -> Callable[[Any], Test]:
    quantify = all if every else any

    def bind_value(expected: Any) -> Test:
        if not isinstance(expected, list):
            raise Unfit('give a list: `["urgent", "blocked"]`')
        expected_keys = {key(item) for item in expected}
        textual = all(type(item) is str for item in expected)

        def test(actual: Any, _: Facts) -> bool | None:
            if type(actual) is str:
                affordable = len(expected) * len(actual) <= MAX_SCANNED
                return quantify(item in actual for item in expected) if textual and affordable else None
            if type(actual) is list:
                present = {key(item) for item in actual}
                return expected_keys <= present if every else not expected_keys.isdisjoint(present)
            return None

        return test

    return bind_value


def _textual(compare: Callable[[str, str], bool]) -> Callable[[Any], Test]:
    def bind_value(expected: Any) -> Test:
        if not isinstance(expected, str):
            raise Unfit("give a string")
        text = expected
        return lambda actual, _: compare(actual, text) if type(actual) is str else None

    return bind_value


def _is_piled_up(text: str) -> bool:
    """Return whether there are more consecutive combining marks than any script needs."""
    if text.isascii():
        return False
    run = 0
    for sign in text:
        run = run + 1 if unicodedata.combining(sign) else 0
        if run > MAX_MARKS:
            return True
    return False


def caseless(text: str) -> str:
    """Return the form in which texts that differ only in case are equal (Unicode 3.13, D145)."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())


def _iequals(expected: Any) -> Test:
    """Compare without case; None for longer runs of combining marks than scripts have: sorting them is quadratic."""
    if not isinstance(expected, str):
        raise Unfit("give a string")
    if _is_piled_up(expected):
        raise Unfit(f"more than {MAX_MARKS} consecutive combining marks; remove them")
    folded = caseless(expected)

    def test(actual: Any, _: Facts) -> bool | None:
        if type(actual) is not str:
            return None
        if len(actual) > len(folded):  # Neither decomposing nor folding makes a text shorter.
            return False
        return None if _is_piled_up(actual) else caseless(actual) == folded

    return test


def _limits() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_PATTERN_MEMORY
    return options


def _search(pattern: str) -> Test:
    try:
        compiled = re2.compile(pattern, _limits())
    except re2.error as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else error
        raise Unfit(f"not a valid RE2 expression (no look-around, no back-references): {reason}") from error
    except UnicodeEncodeError as error:
        raise Unfit("the pattern contains half a surrogate pair; remove it") from error

    def test(actual: Any, _: Facts) -> bool | None:
        if type(actual) is not str:
            return None
        try:
            return compiled.search(actual.encode()) is not None
        except UnicodeEncodeError:
            return None

    return test


def _matches(expected: Any) -> Test:
    if not isinstance(expected, str) or len(expected) > MAX_PATTERN:
        raise Unfit(f"give a regular expression of at most {MAX_PATTERN} characters, e.g. `^(yes|no)$`")
    return _search(expected)


def _wildcard(expected: Any) -> Test:
    if not isinstance(expected, str) or len(expected) > MAX_PATTERN:
        raise Unfit(f"give a pattern of at most {MAX_PATTERN} characters, e.g. `bot-*`")
    signs = {"*": ".*", "?": "."}
    return _search("(?s)^" + "".join(signs.get(sign) or re2.escape(sign) for sign in expected) + r"\z")


def _length(compare: Compare) -> Callable[[Any], Test]:
    def bind_value(expected: Any) -> Test:
        if type(expected) is not int or expected < 0:
            raise Unfit("give a whole number, 0 or more")
        return lambda actual, _: compare(len(actual), expected) if type(actual) in _SIZED else None

    return bind_value


def _age(compare: Compare) -> Callable[[Any], Test]:
    def bind_value(expected: Any) -> Test:
        seconds: Any = parse_duration(expected) if isinstance(expected, str) else expected
        if kind(seconds) != "number" or not 0 <= seconds <= LONGEST_AGE:
            raise Unfit("give seconds (`3600`) or a duration (`90s`, `15m`, `1h30m`, `7d`, `2w`)")

        def test(actual: Any, facts: Facts) -> bool | None:
            moment = as_time(actual)
            return None if moment is None else compare((facts.now - moment).total_seconds(), float(seconds))

        return test

    return bind_value


def _present(expected: Callable[[Any], bool]) -> Callable[[Any], Test]:
    return lambda _: lambda actual, _facts: expected(actual)


def _condition(_: Any) -> Test:
    raise Unfit('give a condition on `item`: `{"field": "item.name", "op": "==", "value": "search"}`')


def similar(meaning: Any, threshold: float = DEFAULT_THRESHOLD) -> Test:
    """Return a test whether a text is at least as similar to `meaning` as `threshold` (cosine, -1 to 1)."""
    if not isinstance(meaning, str) or not meaning.strip():
        raise Unfit("describe the meaning, e.g. `wants to cancel the contract`")

    def test(actual: Any, facts: Facts) -> bool | None:
        nearness = facts.similarity(actual, meaning) if type(actual) is str else None
        return None if nearness is None else nearness >= threshold

    return test


_STRING: Final = {"type": "string"}
_SCALAR: Final = {"type": ["string", "number", "boolean", "null"]}
_LIST: Final = {"type": "array", "items": _SCALAR, "minItems": 1}
_COMPARABLE: Final = {"type": ["string", "number"]}
_PAIR: Final = {"type": "array", "items": _COMPARABLE, "minItems": 2, "maxItems": 2}
_COUNT: Final = {"type": "integer", "minimum": 0}
_EITHER: Final = {"type": ["array", *_SCALAR["type"]]}

_TABLE: Final = (
    Operator("==", "equal; only null equals null", _equal, _EITHER),
    Operator("!=", "not equal, but of the same kind (null differs from everything else)", _negate(_equal), _EITHER),
    Operator(">", "a greater number, a later time, a string that sorts after it", _order_by(operator.gt), _COMPARABLE),
    Operator(">=", "a greater or equal number, a time not earlier", _order_by(operator.ge), _COMPARABLE),
    Operator("<", "a smaller number, an earlier time", _order_by(operator.lt), _COMPARABLE),
    Operator("<=", "a smaller or equal number, a time not later", _order_by(operator.le), _COMPARABLE),
    Operator("between", "from the first value to the second, both inclusive", _between, _PAIR),
    Operator("in", "one of the values in the list", _in, _LIST),
    Operator(
        "not_in",
        "none of the values in the list, but of their kind (of any kind if the list contains null)",
        _negate(_in),
        _LIST,
    ),
    Operator("contains", "a list with this item, or a text with this substring", _contains, _SCALAR),
    Operator("not_contains", "a list or text without it", _negate(_contains), _SCALAR),
    Operator("contains_any", "a list or text with at least one of these", _contains_many(every=False), _LIST),
    Operator("contains_all", "a list or text with all of these", _contains_many(every=True), _LIST),
    Operator("starts_with", "a text with this prefix", _textual(str.startswith), _STRING),
    Operator("ends_with", "a text with this suffix", _textual(str.endswith), _STRING),
    Operator("iequals", "an equal text, ignoring case (Unicode case folding)", _iequals, _STRING),
    Operator(
        "matches",
        "a text in which the RE2 expression matches anywhere; anchor it with ^ and $",
        _matches,
        {"type": "string", "maxLength": MAX_PATTERN},
        referable=False,
    ),
    Operator(
        "wildcard",
        "a text that matches as a whole: * matches any characters, ? exactly one",
        _wildcard,
        {"type": "string", "maxLength": MAX_PATTERN},
        referable=False,
    ),
    Operator(
        "exists", "the field is present, even if null", _present(lambda _: True), {}, referable=False, takes="nothing"
    ),
    Operator("missing", "the field is missing", _present(lambda _: False), {}, referable=False, takes="nothing"),
    Operator("is_null", "the field is null", _present(lambda a: a is None), {}, referable=False, takes="nothing"),
    Operator("length_==", "a text, list or object with this many characters or entries", _length(operator.eq), _COUNT),
    Operator(
        "length_>",
        "a text, list or object with more than this many characters or entries",
        _length(operator.gt),
        _COUNT,
    ),
    Operator(
        "length_<",
        "a text, list or object with fewer than this many characters or entries",
        _length(operator.lt),
        _COUNT,
    ),
    Operator("older_than", "a time longer ago than this many seconds or this duration", _age(operator.gt), _COMPARABLE),
    Operator("newer_than", "a time less long ago, or in the future", _age(operator.lt), _COMPARABLE),
    Operator(
        "any_of",
        "a list of which at least one `item` satisfies the condition in `value`",
        _condition,
        {"type": "object"},
        referable=False,
        takes="condition",
    ),
    Operator(
        "all_of",
        "a non-empty list of which every `item` satisfies the condition in `value`",
        _condition,
        {"type": "object"},
        referable=False,
        takes="condition",
    ),
    Operator(
        "means",
        "a text similar in meaning to `value`: cosine similarity of at least `threshold` (default 0.5)",
        similar,
        {"type": "string", "minLength": 1},
        referable=False,
        takes="meaning",
    ),
)
OPERATORS: Final[dict[str, Operator]] = {entry.name: entry for entry in _TABLE}
