from __future__ import annotations

import pytest

from core.errors import Invalid
from core.inference.model_catalog import MODELS, vocabulary, window
from core.inference.token_counting import ESTIMATED


@pytest.mark.parametrize(
    ("model", "size", "counted"),
    [
        ("gpt-4o-2024-08-06", 128_000, "o200k_base"),
        ("openai/gpt-4o-mini", 128_000, "o200k_base"),
        ("ft:gpt-4o-2024-08-06:org::id", 128_000, "o200k_base"),
        ("gpt-4", 8_192, "cl100k_base"),
        ("gpt-4-0613", 8_192, "cl100k_base"),
        ("gpt-4-turbo-2024-04-09", 128_000, "cl100k_base"),
        ("gpt-4.1-mini", 1_047_576, "o200k_base"),
        ("gpt-5-mini", 272_000, "o200k_base"),
        ("llama3.1:8b", 131_072, "llama3"),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", 131_072, "llama3"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", 200_000, None),
        ("claude-sonnet-4-20250514", 200_000, None),
        ("Qwen/Qwen2.5-7B-Instruct", 32_768, "qwen"),
        ("deepseek-r1:14b", 64_000, "deepseek"),
        ("gemini-2.5-flash", 1_048_576, None),
    ],
)
def test_a_model_is_known_by_its_family_whatever_stands_around_it(model, size, counted):
    assert (window(model), vocabulary(model)) == (size, counted)


@pytest.mark.parametrize("model", ["gpt-9", "gpt-4oops", "qwen3.5:9b", "", "😀", "a" * 10_000, "-:@_" * 1000])
def test_a_model_that_is_not_known_is_refused_with_all_that_are(model):
    with pytest.raises(Invalid) as caught:
        window(model)
    assert caught.value.problems[0].pointer == "/model"
    assert all(one.family in caught.value.problems[0].detail for one in MODELS.values())
    assert vocabulary(model) is None


def test_every_family_is_found_by_its_own_name_and_has_an_estimate_of_its_vocabulary():
    for one in MODELS.values():
        assert window(one.family) == one.window
        assert one.vocabulary is None or one.vocabulary in ESTIMATED


def test_a_model_of_the_first_glm_generation_is_known_with_its_vendor() -> None:
    assert window("zai/glm-4-flash") == window("glm-4-flash-250414") == 128_000
