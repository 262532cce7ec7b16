"""The reader of this installation: trained judgements about texts, made on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from core import deferred
from core.config import Settings
from core.inference.embedders import Floats
from core.inference.loaded import IDLE_SECONDS, Loaded
from core.inference.local_embedder import GRAPHS, is_installed, read_files
from core.inference.local_models.catalog import MULTILINGUAL


class LocalReader:
    """A model that judges texts; loaded on first use, freed when idle, and safe to share between threads."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        """`idle_seconds` 0: it stays in memory."""
        self._reader: Loaded[Any] = Loaded(_load, idle_seconds)

    def asks(self, texts: Sequence[str]) -> Floats:
        """Return the log-odds that each text asks to forget something. Misconfigured: the model is not installed."""
        return self._log_odds("asks", [(text,) for text in texts])

    def meant(self, request: str, statements: Sequence[str]) -> Floats:
        """Return the log-odds that a request to forget means each statement. Raises as `asks` does."""
        return self._log_odds("meant", [(request, statement) for statement in statements])

    def slips(self, statements: Sequence[str], reply: str, message: str) -> Floats:
        """Return the log-odds that a message corrects a slip in each statement. Raises as `asks` does.

        `reply`: what somebody else said in between.
        """
        return self._log_odds("slips", [(statement, reply, message) for statement in statements])

    def matters(self, sentences: Sequence[tuple[str, str]]) -> Floats:
        """Return the log-odds that each sentence matters for months. Raises as `asks` does.

        With each sentence goes the end of what was said before it.
        """
        return self._log_odds("matters", sentences)

    def leans(self, sentences: Sequence[tuple[str, str]]) -> Floats:
        """Return the log-odds that each sentence is understood only with what was said before it.

        With each sentence goes the end of what was said before it. Raises as `asks` does.
        """
        return self._log_odds("leans", sentences)

    def explains(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return the log-odds that the first text of each pair says who or what the second one means.

        Raises as `asks` does.
        """
        return self._log_odds("explains", pairs)

    def ends(self, texts: Sequence[str]) -> Floats:
        """Return the log-odds that each text ends anything that was said before. Raises as `asks` does."""
        return self._log_odds("ends", [(text,) for text in texts])

    def over(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return the log-odds that the first text of each pair ends what the second one says. Raises as `asks` does."""
        return self._log_odds("over", pairs)

    def which(self, text: str, earlier: Sequence[str]) -> Floats:
        """Return the log-odds that a text ends each of some earlier ones, read all together. Raises as `asks` does."""
        if not earlier:
            return np.empty(0, dtype=np.float32)
        result: Floats = self._reader.get().log_odds_of_each("which", text, earlier)
        self._reader.touch()
        return result

    def values(self, statement: str, reply: str, message: str) -> tuple[str, str, float]:
        """Return the value of a statement that a message corrects, the right one, and how probable both are.

        Raises as `asks` does.
        """
        result: tuple[str, str, float] = self._reader.get().values((statement, reply, message))
        self._reader.touch()
        return result

    def _log_odds(self, head: str, texts: Sequence[tuple[str, ...]]) -> Floats:
        if not texts:
            return np.empty(0, dtype=np.float32)
        result: Floats = self._reader.get().log_odds(head, texts)
        self._reader.touch()
        return result


def reader(settings: Settings) -> LocalReader | None:
    """Return the reader, shared in this process; None where its model is not installed."""
    return _shared(settings.embedding_idle_seconds) if is_installed(MULTILINGUAL) else None


@cache
def _shared(idle_seconds: float) -> LocalReader:
    return LocalReader(idle_seconds)


def _load() -> Any:
    # Imported here: most processes never judge anything.
    model = deferred.load("core.inference.local_models.reader:Reader")
    return model(GRAPHS / MULTILINGUAL.graph, read_files(MULTILINGUAL))
