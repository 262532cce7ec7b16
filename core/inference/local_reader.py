"""The reader of this installation: trained judgements about texts, made on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from core import deferred
from core.config import Settings
from core.inference.embedders import Floats
from core.inference.loaded import IDLE_SECONDS, Loaded
from core.inference.local_embedder import GRAPHS, is_installed, read_files
from core.inference.local_models.catalog import MULTILINGUAL

ASKS: Final = "asks"
"""Head: the text asks an assistant to forget something."""

MEANT: Final = "meant"
"""Head: the first text, a request to forget, means the second one."""


SLIPS: Final = "slips"
"""Head: the last text corrects a slip of its author in the first one; between them stands what was replied."""


ENDS: Final = "ends"
"""Head: the text ends or changes something that was said before."""

OVER: Final = "over"
"""Head: what the second text says no longer holds after the first one, which was said later."""


MATTERS: Final = "matters"
"""Head: the first text, a sentence, matters for months; the second is the end of what was said before it."""


LEANS: Final = "leans"
"""Head: the first text, a sentence, is understood only with what was said before it, the end of which is the second."""


EXPLAINS: Final = "explains"
"""Head: the first text, said earlier, says who or what is meant in the second, a sentence that leans."""


class LocalReader:
    """A model that judges texts; loaded on first use, freed when idle, and safe to share between threads."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        """`idle_seconds` 0: it stays in memory."""
        self._reader: Loaded[Any] = Loaded(_load, idle_seconds)

    def asks(self, texts: Sequence[str]) -> Floats:
        """Return the log-odds that each text asks to forget something. Misconfigured: the model is not installed."""
        return self._log_odds(ASKS, [(text,) for text in texts])

    def meant(self, request: str, statements: Sequence[str]) -> Floats:
        """Return the log-odds that a request to forget means each statement. Raises as `asks` does."""
        return self._log_odds(MEANT, [(request, statement) for statement in statements])

    def slips(self, statements: Sequence[str], reply: str, message: str) -> Floats:
        """Return the log-odds that a message corrects a slip in each statement. Raises as `asks` does.

        `reply`: what somebody else said in between.
        """
        return self._log_odds(SLIPS, [(statement, reply, message) for statement in statements])

    def matters(self, sentences: Sequence[tuple[str, str]]) -> Floats:
        """Return the log-odds that each sentence matters for months. Raises as `asks` does.

        With each sentence goes the end of what was said before it.
        """
        return self._log_odds(MATTERS, sentences)

    def leans(self, sentences: Sequence[tuple[str, str]]) -> Floats:
        """Return the log-odds that each sentence is understood only with what was said before it.

        With each sentence goes the end of what was said before it. Raises as `asks` does.
        """
        return self._log_odds(LEANS, sentences)

    def explains(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return the log-odds that the first text of each pair says who or what the second one means.

        Raises as `asks` does.
        """
        return self._log_odds(EXPLAINS, pairs)

    def ends(self, texts: Sequence[str]) -> Floats:
        """Return the log-odds that each text ends anything that was said before. Raises as `asks` does."""
        return self._log_odds(ENDS, [(text,) for text in texts])

    def over(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return the log-odds that the first text of each pair ends what the second one says. Raises as `asks` does."""
        return self._log_odds(OVER, pairs)

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
