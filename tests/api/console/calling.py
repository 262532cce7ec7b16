"""Calls of the API's routes, as the console makes them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from api.console import calls
from api.console.calls import Api
from tests.doors import Doors
from tests.samples import TENANT


def ask(door: Doors, work: Callable[[Api], Awaitable[Any]], key: str | None = None) -> Any:
    async def carry_out() -> Any:
        async with calls.client_of(door.client.app) as client:  # type: ignore[arg-type]
            return await work(Api(client, key or door.keys[TENANT]))

    return asyncio.run(carry_out())
