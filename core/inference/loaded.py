"""Models in memory: read when they are first used, freed when they are idle."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar
from weakref import WeakSet

from core import heap

Model = TypeVar("Model")

IDLE_SECONDS: Final = 300.0
"""A model that has done nothing for so long is freed, unless the settings say otherwise."""


class Loaded(Generic[Model]):
    """A model and when it was last used; safe to share between threads."""

    def __init__(self, load: Callable[[], Model], idle_seconds: float = IDLE_SECONDS) -> None:
        """`idle_seconds` 0: it stays."""
        self._load, self._idle_seconds = load, idle_seconds
        self._model: Model | None = None
        self._loading = threading.Lock()
        self._used = 0.0
        _MODELS.add(self)

    def get(self) -> Model:
        """Return the model, read if it is not in memory."""
        with self._loading:
            if self._model is None:
                self._model = self._load()
                heap.trim()  # Reading leaves twice the model behind, free.
            self._used = time.monotonic()
            return self._model

    def touch(self) -> None:
        """Note that the model has just been used."""
        self._used = time.monotonic()

    def release_if_idle(self) -> None:
        """Free the model if it was not used for a while; a pass under way keeps it to its end."""
        with self._loading:
            if self._idle_seconds and time.monotonic() - self._used >= self._idle_seconds:
                self._model = None


_MODELS: WeakSet[Loaded[Any]] = WeakSet()
"""All models of this process."""


def sweep() -> None:
    """Free the models that are idle."""
    for model in list(_MODELS):
        model.release_if_idle()
