"""Context windows and tokenizers of known models.

The table contains what their makers publish, and the smallest window where the members of a family differ. Unknown
models are refused instead of guessed at, because a context that is too long fails only when it is sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from core.errors import Invalid, Problem


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """A family of models. `window`: maximum tokens of a prompt. `vocabulary`: None if unpublished."""

    family: str
    window: int
    vocabulary: str | None = None


_VOCABULARIES: Final = {
    "o200k_base": "gpt-4o gpt-4.1 gpt-4.5 gpt-5 gpt-5.1 gpt-5.2 chatgpt-4o o1 o3 o4-mini gpt-oss",
    "cl100k_base": "gpt-4 gpt-3.5-turbo gpt-35-turbo",
    "llama3": "llama-3 llama-3.1 llama-3.2 llama-3.3",
    "llama4": "llama-4",
    "qwen": "qwen2 qwen2.5 qwen3 qwq",
    "deepseek": "deepseek-chat deepseek-reasoner deepseek-v3 deepseek-v3.1 deepseek-v3.2 deepseek-r1",
    "tekken": "mistral-nemo open-mistral-nemo pixtral-12b ministral-8b",
}

_WINDOWS: Final = {
    4_096: "llama-2",
    8_192: "gpt-4 llama-3 gemma gemma-2",
    16_385: "gpt-3.5-turbo gpt-35-turbo",
    32_000: "mistral open-mistral mistral-tiny",
    32_768: "gpt-4-32k qwen2 qwen2.5 qwen-max qwq mixtral",
    40_960: "qwen3",
    64_000: "deepseek-v3 deepseek-r1",
    128_000: (
        "gpt-4o gpt-4-turbo gpt-4-1106 gpt-4-0125 gpt-4.5 chatgpt-4o gpt-5-chat gpt-5.1-chat gpt-5.2-chat o1-mini "
        "o1-preview command-a command-r codestral mistral-nemo open-mistral-nemo pixtral pixtral-12b "
        "glm-4-flash glm-4.5"
    ),
    131_072: (
        "gpt-oss llama-3.1 llama-3.2 llama-3.3 gemma-3 ministral ministral-8b deepseek-chat deepseek-reasoner "
        "deepseek-v3.1 deepseek-v3.2 qwen-plus qwen-turbo mistral-small mistral-large phi-4-mini"
    ),
    16_384: "phi-4",
    200_000: (
        "o1 o3 o4-mini claude-3 claude-3-5 claude-3.5 claude-3-7 claude-3.7 claude-sonnet-4 claude-opus-4 "
        "claude-haiku-4-5 claude-sonnet-4-5 claude-opus-4-1 claude-opus-4-5 glm-4.6 glm-4.7 glm-5 minimax-m2"
    ),
    256_000: "grok-4 grok-code-fast",
    262_144: "kimi-k2 kimi-k2.5 kimi-k2.6 qwen3-coder qwen3-max qwen3-next gemma-4 mistral-medium-3",
    272_000: "gpt-5 gpt-5-mini gpt-5-nano gpt-5-codex gpt-5.1 gpt-5.2 gpt-5.4-mini gpt-5.4-nano",
    500_000: "grok-4.5",
    922_000: "gpt-5.6 gpt-6",
    1_000_000: (
        "claude-sonnet-4-6 claude-opus-4-6 claude-opus-4-7 claude-opus-4-8 claude-sonnet-5 claude-opus-5 "
        "deepseek-v4 deepseek-v4-flash deepseek-v4-pro grok-4.3 glm-5.3 minimax-m3"
    ),
    1_047_576: "gpt-4.1",
    1_048_576: "gemini-1.5-flash gemini-2 gemini-2.0 gemini-2.5 gemini-3 gemini-3.1 gemini-3.5 llama-4",
    1_050_000: "gpt-5.4 gpt-5.5",
    2_097_152: "gemini-1.5-pro",
}

_VENDOR: Final = re.compile(r"(?:[a-z]{2,6}\.)?(?:anthropic|meta|mistral|cohere|deepseek|qwen|openai|google)\.")
"""Vendor prefixes of cloud providers: `us.anthropic.claude-…`."""

_SEAM: Final = re.compile(r"^([a-z]+)-(?=\d)")
"""`llama-3.1` and `llama3.1` are one name."""


def window(model: str) -> int:
    """Return the context window in tokens of a model, by its name: `gpt-4o-2024-08-06`, `openai/gpt-4o`, `llama3.1:8b`.

    Raises:
        Invalid: at `/model`, for a name of no family that is known; it lists the families.
    """
    family = find_family(model)
    if family is None:
        families = ", ".join(sorted({entry.family for entry in MODELS.values()}))
        raise Invalid([Problem("/model", f"Give a limit in tokens, or a model of a known family: {families}.")])
    return family.window


def vocabulary(model: str) -> str | None:
    """Return the vocabulary in which a model counts (`o200k_base`); None if unpublished."""
    family = find_family(model)
    return family.vocabulary if family else None


def find_family(model: str) -> ModelFamily | None:
    """Return the family with the longest name that `model` is or begins with, up to a `-`, `:`, `@` or `_`."""
    name = _plain(model)
    ends = [at for at, sign in enumerate(name) if sign in "-:@_"]
    return next((MODELS[part] for end in (len(name), *reversed(ends)) if (part := name[:end]) in MODELS), None)


def _plain(model: str) -> str:
    """Return the model's name without vendor, host and spelling variants."""
    name = model.strip().lower().rsplit("/", 1)[-1].removeprefix("ft:").removeprefix("meta-")
    return _SEAM.sub(r"\1", _VENDOR.sub("", name) if _VENDOR.match(name) else name)


def _models() -> dict[str, ModelFamily]:
    counted = {family: name for name, families in _VOCABULARIES.items() for family in families.split()}
    return {
        _plain(family): ModelFamily(family, tokens, counted.get(_counted_as(family, counted)))
        for tokens, families in _WINDOWS.items()
        for family in families.split()
    }


def _counted_as(family: str, counted: dict[str, str]) -> str:
    """Return the family whose vocabulary it shares: itself, or the longest that it begins with."""
    fits = [name for name in counted if family == name or family.startswith(f"{name}-")]
    return max(fits, key=len, default="")


MODELS: Final = _models()
