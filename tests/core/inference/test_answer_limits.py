from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.inference import prompts
from core.inference.answer_limits import LIMIT_NAMES, OTHER, TASKS, AnswerBounds, AnswerLimits

SENT = {"max_tokens": 4_096, "temperature": 0.0}


def test_every_packaged_prompt_has_limits_of_its_task() -> None:
    tasks = {path.name.partition(".")[0] for path in prompts.FOLDER.glob("*.md")}
    assert tasks == TASKS.keys()


def test_an_operator_bounds_all_answers_and_sets_one_temperature() -> None:
    assert AnswerBounds().of("judge.v1") == TASKS["judge"]
    assert AnswerBounds().of("judge.v1+repair") == TASKS["judge"]
    assert AnswerBounds().of("unheard.v1") == OTHER
    assert AnswerBounds(tokens=100).of("extract.eval.en.v5") == (100, TASKS["extract"].temperature)
    assert AnswerBounds(tokens=10**6, temperature=1).of("judge.v1") == (TASKS["judge"].tokens, 1)
    assert max(task.tokens for task in (*TASKS.values(), OTHER)) <= AnswerBounds().tokens


UNSUPPORTED = {
    "of OpenAI": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
    "instead.",
    "of pydantic": "body.max_tokens: Extra inputs are not permitted",
}


@pytest.mark.parametrize("refusal", UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_a_limit_of_another_name_is_sent_from_then_on(refusal: str) -> None:
    limits = AnswerLimits()
    assert limits.of("judge.v1") == SENT
    renamed = {"max_completion_tokens": 4_096, "temperature": 0.0}
    assert limits.after(refusal, None, "judge.v1", SENT) == limits.of("judge.v1") == renamed


def test_an_endpoint_that_knows_no_limit_gets_none() -> None:
    limits = AnswerLimits()
    for name in LIMIT_NAMES:
        limits.after(f"Unknown parameter: {name}", None, "judge.v1", limits.of("judge.v1"))
    assert limits.of("judge.v1") == {"temperature": 0.0}


@pytest.mark.parametrize(
    ("refusal", "param"),
    [
        ("Unsupported value: 'temperature' does not support 0.3 with this model.", None),
        ("Only the default (1) value is supported.", "temperature"),
    ],
)
def test_an_endpoint_that_refuses_temperatures_gets_none(refusal: str, param: str | None) -> None:
    limits = AnswerLimits()
    assert limits.after(refusal, param, "judge.v1", SENT) == limits.of("judge.v1") == {"max_tokens": 4_096}


TOO_LARGE = {
    "of vLLM": "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is "
    "4096 tokens and your request has 900 input tokens",
    "of older ones": "This model's maximum context length is 4096 tokens. However, you requested 4996 tokens (900 in "
    "the messages, 4096 in the completion).",
    "of DeepSeek": "Invalid max_tokens value, the valid range of max_tokens is [1, 2048]",
}


@pytest.mark.parametrize("refusal", TOO_LARGE.values(), ids=TOO_LARGE.keys())
def test_a_limit_that_leaves_no_room_is_left_out_of_this_question_alone(refusal: str) -> None:
    limits = AnswerLimits()
    assert limits.after(refusal, "max_tokens", "judge.v1", SENT) == {"temperature": 0.0}
    assert limits.of("judge.v1") == SENT


def test_a_refusal_of_something_else_changes_nothing() -> None:
    limits = AnswerLimits()
    for refusal in (
        "Invalid schema",
        "This model's maximum context length is 8192 tokens",
        f"{'x' * 2000} temperature",
    ):
        assert limits.after(refusal, "messages", "judge.v1", SENT) is None
    assert limits.of("judge.v1") == SENT


def test_the_manual_has_the_limits_of_every_task(root: Path) -> None:
    page = (root / "docs" / "models.md").read_text("utf-8")
    rows = re.findall(r"^\| .* \| `(\w+)\.\*` \| ([\d,]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert {task: (int(tokens.replace(",", "")), float(heat)) for task, tokens, heat in rows} == TASKS
