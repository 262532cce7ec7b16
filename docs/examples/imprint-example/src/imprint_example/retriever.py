"""Retriever of the texts of a JSON file, `{"source": "text"}`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from imprint.plugins import RetrievedText, RetrieverQuery, Settings

WORD = re.compile(r"[a-z0-9]{3,}|[\u4e00-\u9fff]")


class Handbook:
    """Ranks texts by the share of the query's words that they contain."""

    def __init__(self, _settings: Settings) -> None:
        """Load the texts. The settings are Imprint's; a plugin's own come from environment variables of its own."""
        path = os.environ.get("IMPRINT_EXAMPLE_HANDBOOK")
        texts: dict[str, str] = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
        self._texts = [(source, text, set(WORD.findall(text.lower()))) for source, text in texts.items()]

    def retrieve(self, question: RetrieverQuery) -> Sequence[RetrievedText]:
        """Return the matching texts, best first."""
        words = set(WORD.findall(question.query.lower()))
        shares = ((source, text, len(words & own) / max(len(words), 1)) for source, text, own in self._texts)
        matching = [RetrievedText(text, source, share) for source, text, share in shares if share]
        return sorted(matching, key=lambda one: -one.score)[: question.limit]
