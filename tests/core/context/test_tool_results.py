from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.context.tool_results import shorten
from core.inference.token_counting import Estimate

COUNTER = Estimate()
WHOLE = "GET /v1/sessions/s/messages/7"
LOG = "\n".join(
    [f"2024-05-03 10:{n % 60:02} INFO request {n} served in {n * 7 % 50} ms" for n in range(300)]
    + ["2024-05-03 ERROR database refused the connection id=77", "  at pool.py:33"]
    + [f"2024-05-03 11:{n % 60:02} INFO request {n} served in {n} ms" for n in range(300, 350)]
    + ["done: 350 requests"]
)
ITEMS = [{"id": n, "name": f"item {n}", "note": "long " * 40, "error": None} for n in range(100)]
ITEMS[33] = ITEMS[33] | {"error": "disk full"}
ANSWER = json.dumps({"status": "ok", "total": 100, "items": ITEMS})
TRACE = "Traceback (most recent call last):\n" + "\n".join(
    f'  File "/app/step_{n}.py", line {n}, in run\n    return follow({n})' for n in range(80)
)
TRACE += "\nValueError: amount must be positive, not -12.50"

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda below: st.lists(below, max_size=30) | st.dictionaries(st.text(), below, max_size=30), max_leaves=30
)
lines = st.lists(st.text(max_size=300) | st.sampled_from(LOG.splitlines()), max_size=60).map("\n".join)
pages = st.lists(
    st.sampled_from(["<p>", "</p>", "<script>", "</script>", "<", ">", "a b", "失败", "&amp;"]), max_size=60
)
results = lines | values.map(json.dumps) | pages.map("".join) | st.text(max_size=3000)


@settings(deadline=None, max_examples=50)
@given(results, st.integers(0, 300), st.sampled_from(["", "request 55", "失败"]), st.sampled_from(["", WHOLE]))
def test_it_is_never_above_the_limit_and_always_the_same(result, limit, query, whole):
    short = shorten(result, limit, COUNTER, query, whole)
    assert short.tokens == COUNTER.count(short.text) <= limit
    assert short == shorten(result, limit, COUNTER, query, whole)
    assert (short.text == result) == (COUNTER.count(result) <= limit) == (short.left_out == "")


@settings(deadline=None, max_examples=25)
@given(
    st.lists(values, min_size=1, max_size=8) | st.dictionaries(st.text(), values, min_size=1, max_size=8),
    st.integers(80, 400),
)
def test_shortened_json_is_json_wherever_the_note_says_so(value, limit):
    short = shorten(json.dumps(value), limit, COUNTER, whole=WHOLE)
    if "of JSON" in short.left_out:
        found = json.loads(short.text)
        assert type(found) is type(value)
        assert WHOLE in str(found)


def test_of_json_the_entry_that_failed_the_one_asked_for_and_both_ends_stay():
    short = shorten(ANSWER, 400, COUNTER, "item 71", WHOLE)
    found = json.loads(short.text)
    assert (found["status"], found["total"]) == ("ok", 100)
    kept = [one["id"] for one in found["items"] if isinstance(one, dict)]
    assert {0, 33, 71, 99} <= set(kept)
    assert kept == sorted(kept)
    assert [one["error"] for one in found["items"] if isinstance(one, dict) and one["id"] == 33] == ["disk full"]
    missing = sum(int(one.split()[1]) for one in found["items"] if isinstance(one, str))
    assert missing + len(kept) == 100


def test_of_a_log_the_error_what_is_asked_and_both_ends_stay_and_gaps_are_counted():
    short = shorten(LOG, 250, COUNTER, "request 55", WHOLE)
    said = short.text.splitlines()
    for line in (LOG.splitlines()[0], LOG.splitlines()[55], LOG.splitlines()[300], "done: 350 requests"):
        assert line in said
    gaps = sum(int(line.split()[1]) for line in said if line.startswith("… "))
    kept = [line for line in said[:-1] if not line.startswith("… ")]
    assert gaps + len(kept) == len(LOG.splitlines())
    assert said[-1] == f"[{gaps} of 353 lines left out; the full text: {WHOLE}]"


def test_of_a_stack_trace_what_went_wrong_stays():
    assert "ValueError: amount must be positive, not -12.50" in shorten(TRACE, 60, COUNTER).text


def test_of_a_page_what_it_says_stays_without_its_markup():
    page = "<html><head><style>a{}</style></head><body>" + "<div class='x'><p>Tea &amp; <b>bread</b></p></div>" * 12
    short = shorten(page + "<script>track()</script>", 150, COUNTER, whole=WHOLE)
    assert short.text == "\n".join(["Tea & bread"] * 12) + f"\n[markup left out; the full text: {WHOLE}]"
    assert short.left_out == "markup"


def test_chinese_text_keeps_the_line_that_is_asked_for():
    text = "\n".join(f"第{n}行：一切正常" for n in range(200)) + "\n支付模块：连接超时，订单 8812"
    text += "\n" + "\n".join(f"第{n}行：一切正常" for n in range(200))
    assert "订单 8812" in shorten(text, 120, COUNTER, "订单 8812").text


@pytest.mark.parametrize(
    "result",
    ["[" * 50_000, '{"a":' * 20_000, "<" * 50_000, "<script>" * 10_000, "a" * 100_000, "[1e999]" * 9_000, "\n" * 9_000],
)
def test_what_was_made_to_be_hard_is_shortened_all_the_same(result):
    short = shorten(result, 60, COUNTER, "a", WHOLE)
    assert short.tokens <= 60
    assert short.left_out


def test_numbers_that_json_could_not_give_back_are_left_as_text():
    short = shorten("[" + ", ".join(["NaN", "1e999", "12.50"] * 60) + "]", 80, COUNTER)
    assert "of JSON" not in short.left_out
