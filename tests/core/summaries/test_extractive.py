from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.language.terms import token_estimate
from core.storage.db import Database
from core.summaries import extractive, key_messages
from core.summaries.key_messages import KeyMessage
from core.summaries.rolling import SummaryInput, WrittenNarrative, by_rules
from tests.core.summaries.summed import a_message


def a_key(quote: str, n: int = 1, kind: str = "decision") -> KeyMessage:
    return KeyMessage(f"m{n}", n, kind, quote, "ada")


def test_what_tells_more_is_told_first_and_all_in_its_order() -> None:
    contract = "The contract with Nordwind ends on 3 March 2027."
    lines = ["Hello there!", "Thank you so much!", contract, "Okay.", "好的，谢谢！"]
    told_lines = extractive.summarize("", [a_message(one, n) for n, one in enumerate(lines)], [], 30).splitlines()
    assert told_lines == ["2026-11-21", f"ada: {contract}"]
    both = extractive.summarize("2026-11-20\nBob: The old one.", [a_message(contract)], [], 100)
    assert both == f"2026-11-20\nBob: The old one.\n2026-11-21\nada: {contract}"


MESSAGES = st.lists(
    st.tuples(st.text(max_size=400), st.sampled_from(["user", "assistant", "tool", "system"])), min_size=1, max_size=20
)


@given(MESSAGES, st.text(max_size=500), st.integers(min_value=0, max_value=200))
def test_the_words_never_take_more_tokens_than_they_may(given_: list[tuple[str, str]], old: str, tokens: int) -> None:
    messages = [a_message(content, n, role) for n, (content, role) in enumerate(given_)]
    assert token_estimate(extractive.summarize(old, messages, [], tokens)) <= tokens


KEYS = st.lists(st.tuples(st.text(min_size=1, max_size=400), st.sampled_from(extractive.FIRST)), max_size=60)


@given(KEYS, st.integers(min_value=1, max_value=1200))
def test_the_key_messages_fit_and_each_is_still_there(given_: list[tuple[str, str]], tokens: int) -> None:
    several = [a_key(quote, n, kind) for n, (quote, kind) in enumerate(given_)]
    fitted = extractive.fit_key_messages(several, tokens)
    assert token_estimate(extractive.render("", fitted)) <= tokens
    assert [(one.message_id, one.kind) for one in fitted] == [(one.message_id, one.kind) for one in several]


def test_where_there_are_too_many_what_binds_keeps_its_words_longest() -> None:
    several = [a_key("We decided to use supplier A.", 1), a_key("It must run on Python 3.11.", 2, "constraint")]
    several += [a_key(f"I'll send you the part number {n} of it.", n, "commitment") for n in range(3, 9)]
    fitted = extractive.fit_key_messages(several, 40)
    assert [one.quote for one in fitted if one.quote][:2] == [one.quote for one in several[:2]]
    assert any(not one.quote for one in fitted[2:])


def test_it_is_laid_out_with_the_kinds_and_speakers() -> None:
    assert extractive.render("Told.", [a_key("We agreed on 5.")]) == "- [decision] ada: We agreed on 5.\n\nTold."
    assert extractive.render("Told.", []) == "Told."
    assert extractive.render("", []) == ""


def test_a_written_summary_says_by_whom(app: Database) -> None:
    assert by_rules(SummaryInput("", [a_message("The harbour had 5 boats.")], [], 300)) == WrittenNarrative(
        "2026-11-21\nada: The harbour had 5 boats."
    )
    assert key_messages.speaker(a_message("x", role="assistant")) == "assistant"
