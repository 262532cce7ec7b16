"""Routes that FastAPI describes with their first request: describing all of them is a sixth of a start."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from fastapi.routing import APIRoute
from starlette.routing import compile_path

DESCRIBING: Final = threading.RLock()
"""Held while a route is described: another thread waits for what it reads of it."""


class LazyRoute(APIRoute):
    """A route that knows what it matches; parameters, models and handler are made when one of them is first read."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Keep what FastAPI describes later."""
        self._options = options
        self.path, self.endpoint = path, endpoint
        self.methods = {method.upper() for method in options.get("methods") or ["GET"]}
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that is not there yet."""
        with DESCRIBING:
            options = self.__dict__.pop("_options", None)
            if options is not None:
                super().__init__(self.path, self.endpoint, **options)
            return self.__getattribute__(name)
