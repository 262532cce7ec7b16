from __future__ import annotations

import hashlib
import importlib.util
import json
import string
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.inference import token_counting
from core.inference.token_counting import ESTIMATED, Estimate, counter, cut

ANY = Estimate()
MEASURED = json.loads(Path(__file__).with_name("measured_tokens.json").read_text())
"""What the vocabularies themselves count in texts of many kinds; `python -m bench.tokens FOLDER --write` made it."""

JOINED = 40
"""Tokens by which a word, or a run of punctuation, may change that is made into another one."""

texts = st.text() | st.text(string.printable) | st.lists(st.sampled_from([t for t, _ in MEASURED])).map("".join)
relaxed = settings(deadline=None, max_examples=60)
estimates = st.sampled_from([token_counting._estimate(name) for name in ("any", *sorted(ESTIMATED))])


@pytest.mark.parametrize(("text", "counts"), MEASURED)
def test_no_vocabulary_counts_more_than_its_estimate_says(text, counts):
    for name, count in counts.items():
        assert ANY.count(text) >= count, name
        if name in ESTIMATED:
            assert token_counting._estimate(name).count(text) >= count, name


@relaxed
@given(texts, estimates)
def test_a_text_costs_no_more_than_its_bytes_and_no_less_than_one(text, estimate):
    count = estimate.count(text)
    assert (count > 0) == bool(text)
    assert count <= 2 * len(text.encode("utf-8", "surrogatepass")) + sum(ord(c) > 0x2000 for c in text) * 20
    assert count <= ANY.count(text)


@relaxed
@given(texts, texts, estimates, st.sampled_from(["\n", ". ", "。", "\n\n"]))
def test_texts_joined_by_more_than_a_space_cost_what_they_cost_apart(one, other, estimate, between):
    parts = estimate.count(one) + estimate.count(between) + estimate.count(other)
    assert abs(estimate.count(one + between + other) - parts) <= JOINED


@relaxed
@given(texts, texts, estimates)
def test_more_text_never_costs_less_but_for_the_word_that_it_completes(one, other, estimate):
    assert estimate.count(one + other) >= estimate.count(one) - JOINED


@relaxed
@given(texts, st.integers(0, 60), estimates)
def test_a_cut_is_a_beginning_within_the_limit(text, limit, estimate):
    said = cut(text, limit, estimate)
    assert estimate.count(said) <= limit
    if estimate.count(text) <= limit:
        assert said == text
    elif said:
        assert said.endswith("…")
        assert text.startswith(said[:-1])


def test_a_cut_ends_at_a_sentence_or_a_word_where_one_is_near():
    assert cut("One two three four. Five six seven eight nine.", 7, ANY) == "One two three four.…"
    assert cut("我喜欢绿茶。他住在上海，也在北京。", 12, ANY).startswith("我喜欢绿茶。")
    said = cut("Ada drinks green tea every single morning without fail", 8, ANY)
    assert said.endswith("…")
    assert {"Ada", "drinks"} <= set(said[:-1].split()) <= set("Ada drinks green tea every single".split())
    assert cut("word " * 100, 0, ANY) == ""


def test_the_estimate_is_quick_enough_to_count_whatever_is_sent():
    text = 'Ada drinks green tea every morning; 她住在上海。 {"id": 4711, "ok": true}\n' * 20_000
    began = time.process_time()
    assert ANY.count(text) > 100_000
    assert time.process_time() - began < 20  # 1.5 MB; it takes about half a second


def test_nothing_of_what_was_counted_is_kept():
    estimate = Estimate()
    before = dict(estimate._costs)
    assert estimate.count("a" * 1_000_000) > 100_000
    assert estimate.count("".join(f"{n:x} " for n in range(200_000))) > 200_000
    assert estimate.count("Zyxwvut Mxyzptlk 安 \ud800 \U0010ffff 4711 !?!?!?") > 8
    assert estimate._costs == before


def test_a_model_of_a_published_vocabulary_has_its_own_estimate_and_any_other_one_the_highest(no_vocabularies):
    assert counter("llama3.1:8b").name == "estimate of llama3"
    assert counter("gpt-4o").name == "estimate of o200k_base"
    assert counter("claude-sonnet-4-5").name == counter("no-such-model").name == counter().name == "estimate"


@pytest.fixture
def no_vocabularies(monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    token_counting._open_vocabulary.cache_clear()
    yield tmp_path
    token_counting._open_vocabulary.cache_clear()


def test_a_file_that_is_not_the_vocabulary_is_never_opened_lest_tiktoken_fetch_another(no_vocabularies, monkeypatch):
    file = hashlib.sha1(token_counting._ORIGIN.format("o200k_base").encode(), usedforsecurity=False).hexdigest()
    (no_vocabularies / file).write_bytes(b"aGVsbG8= 0\n")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: True)
    assert counter("gpt-4o").name == "estimate of o200k_base"
    assert (no_vocabularies / file).read_bytes() == b"aGVsbG8= 0\n"


O200K = json.loads(Path(__file__).with_name("o200k_tokens.json").read_text())
"""Code, tables, runs of tabs and spaces, other scripts and emoji, with what o200k itself counts."""


@pytest.mark.parametrize("name", ["any", "o200k_base"])
def test_o200k_counts_no_more_than_the_estimate_however_tabs_and_scripts_meet(name):
    estimate = token_counting._estimate(name)
    assert [text for text, count in O200K if estimate.count(text) < count] == []
