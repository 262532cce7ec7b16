"""An example question for each packaged prompt, and the shape of the answer, for previews."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import BaseModel

from core.answering import model_answer
from core.consolidation import llm_judge
from core.extraction import llm_extractor
from core.forgetting import suggested
from core.reflection import compression, episodes, generalization
from core.summaries import rolling
from core.types import Message


@dataclass(frozen=True, slots=True)
class PromptExample:
    """The shape of the answers to a prompt, and a question as it follows the prompt."""

    shape: type[BaseModel]
    question: str


_NOON: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)

_TALK: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "en": (
        ("user", "I moved to Lisbon in May, and I still work for the harbour."),
        ("assistant", "How do you like it there?"),
        ("user", "A lot. By the way, I am allergic to peanuts."),
    ),
    "zh": (
        ("user", "我五月搬到了里斯本，还在港口工作。"),
        ("assistant", "喜欢那里吗？"),
        ("user", "喜欢。我对花生过敏。"),
    ),
}


def _window(language: str) -> str:
    """Return a window of messages, of which the first two were read before."""
    messages = [
        Message(
            "s1", f"m{n}", n, f"e{n}", "ada", role, words, _NOON + timedelta(minutes=n),
            speaker="Ada" if role == "user" else None,
        )
        for n, (role, words) in enumerate(_TALK[language], 1)
    ]  # fmt: skip
    numbered = dict(enumerate(messages, 1))
    return llm_extractor.transcript(numbered, {3: numbered[3]})


_MEMORIES: Final = "1. (2026-03-02) Ada runs by the river.\n2. (2026-03-09) Ada runs in the park before work."

_TASKS: Final[Mapping[str, PromptExample]] = {
    "judge": PromptExample(
        llm_judge.PROMPT.shape,
        '{"pair": 1, "about": "Ada", "known": "Ada teaches the violin.", "known_said": "2026-11-21", '
        '"new": "Ada gives violin lessons.", "new_said": "2026-11-30"}',
    ),
    "summary": PromptExample(
        rolling.PROMPT.shape,
        "Earlier summary:\n(none)\n\nKey messages, kept beside it:\n(none)\n\nTranscript:\n"
        "Ada: I moved to Lisbon in May.\nassistant: How do you like it there?\n\nCharacters at the most: 600.",
    ),
    "episode": PromptExample(
        episodes.PROMPT.shape,
        "People:\nAda\n\nTranscript:\n2026-11-21 12:01 Ada: I moved to Lisbon in May.\n"
        "2026-11-21 12:02 assistant: How do you like it there?",
    ),
    "compress": PromptExample(
        compression.PROMPT.shape, f"{_MEMORIES}\n\nStatements to write, if so few can hold it all: 1."
    ),
    "patterns": PromptExample(generalization.PROMPT.shape, _MEMORIES),
    "forget": PromptExample(
        suggested.PROMPT.shape,
        'Messages:\n{"message": 1, "by": "Ada", "text": "I moved to Lisbon in May."}\n\n'
        'Newest message:\n{"by": "Ada", "text": "I wish that move had never come up here."}',
    ),
    "answer": PromptExample(
        model_answer.PROMPT.shape,
        '{"question": "Where do I live?", "today": "2026-11-21 Saturday", "owner": "ada"}\n'
        '{"n": 1, "said": "2026-05-30", "by": "Ada", "text": "I moved to Lisbon in May."}',
    ),
}


def example(name: str) -> PromptExample:
    """Return the example of a packaged prompt, by its name without the version."""
    task, *rest = name.split(".")
    return _TASKS[task] if task in _TASKS else PromptExample(llm_extractor.Extraction, _window(rest[-1]))
