"""A retriever: texts of a JSON file, `{"where it stands": "what it says"}`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from core.config import Settings
from core.context.retrievers import RetrievedText, RetrieverQuery

WORD = re.compile(r"[a-z0-9]{3,}|[\u4e00-\u9fff]")


class Handbook:
    """Answers with the texts that have most of the question's words."""

    def __init__(self, _settings: Settings) -> None:
        """The settings are Imprint's; a plugin's own come from an environment variable of its own."""
        path = os.environ.get("IMPRINT_EXAMPLE_HANDBOOK")
        texts: dict[str, str] = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
        self._texts = [(source, text, set(WORD.findall(text.lower()))) for source, text in texts.items()]

    def retrieve(self, question: RetrieverQuery) -> Sequence[RetrievedText]:
        """What answers, the best first."""
        asked = set(WORD.findall(question.query.lower()))
        found = [
            RetrievedText(text, source, len(asked & words) / len(asked)) for source, text, words in self._texts if asked
        ]
        return sorted((one for one in found if one.score > 0), key=lambda one: -one.score)[: question.limit]
