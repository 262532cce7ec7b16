"""The model's answer, or why rules must give one."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from core.consolidation import llm_judge
from core.errors import Later, Never
from core.forgetting import suggested
from core.inference import ask, prompts
from core.inference.ask import UNGROUNDED, ModelPrompt, ModelRefused
from core.reflection import compression, episodes, generalization
from core.summaries import rolling

PROMPTS = [module.PROMPT for module in (llm_judge, rolling, compression, generalization, episodes, suggested)]


class Word(BaseModel):
    word: str


class Model:
    """A client that answers one word, or raises."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.system = ""

    def ask(self, _prompt: str, system: str, _words: str, shape: type[Any], on_call: Any) -> Any:
        self.system = system
        on_call("called")
        if isinstance(self.answer, Exception):
            raise self.answer
        return shape(word=self.answer)


def asked(answer: str | Exception, *falls_back_on: type[Later | Never]) -> Word | ModelRefused:
    prompt = ModelPrompt("judge.v1", Word, falls_back_on)
    return ask.ask(Model(answer), lambda _call: None, prompt, "Which?", lambda one: one.word != "Atlantis")  # type: ignore[arg-type]


def test_the_answer_is_returned_in_its_shape() -> None:
    assert asked("Utrecht") == Word(word="Utrecht")


def test_an_answer_that_fails_its_check_is_refused() -> None:
    assert asked("Atlantis") == ModelRefused(UNGROUNDED)


@pytest.mark.parametrize("error", [Later("slow down"), Never("no such model")])
def test_a_failure_in_place_of_which_rules_answer_is_refused_with_its_reason(error: Later | Never) -> None:
    assert asked(error, Later, Never) == ModelRefused(error.detail)


def test_any_other_failure_is_raised() -> None:
    with pytest.raises(Later, match="slow down"):
        asked(Later("slow down"), Never)
    with pytest.raises(Never, match="no such model"):
        asked(Never("no such model"))


def test_the_model_is_given_the_text_of_the_prompt_and_each_call_is_reported() -> None:
    model, calls = Model("Utrecht"), list[Any]()
    ask.ask(model, calls.append, ModelPrompt("judge.v1", Word), "Which?")  # type: ignore[arg-type]
    assert (model.system, calls) == (prompts.load("judge.v1"), ["called"])


@pytest.mark.parametrize("prompt", PROMPTS, ids=[prompt.name for prompt in PROMPTS])
def test_every_prompt_has_a_text(prompt: ModelPrompt[Any]) -> None:
    assert len(prompts.load(prompt.name)) > 100
