"""Publishes events in batches, and keeps them while the service does not answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections import deque
from types import TracebackType
from typing import Any

import httpx

from imprint_client._async.client import AsyncImprint
from imprint_client.errors import BufferFull, ImprintError
from imprint_client.retrying import Retries, may_pass

Json = dict[str, Any]

MOST_BYTES = 4 * 1024 * 1024
"""Of one request."""


class AsyncPublisher:
    """A bounded buffer before `POST /v1/events`.

    Each event has its id before it is sent first, so a batch that is sent again after a restart of the service is
    stored once. Events that the service refuses for good are in `refused`, and the others are sent without them.
    """

    def __init__(
        self, client: AsyncImprint, *, batch: int = 200, capacity: int = 10_000, retries: Retries | None = None
    ) -> None:
        self.batch = batch
        self.capacity = capacity
        self.refused: deque[tuple[Json, ImprintError]] = deque(maxlen=1_000)
        self.settle_token: str | None = None
        self._client = client
        self._retries = retries or Retries(attempts=12)
        self._waiting: deque[Json] = deque()
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> AsyncPublisher:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.flush()

    def __len__(self) -> int:
        return len(self._waiting)

    async def add(self, event: Json) -> None:
        """Buffer an event; a full batch is sent. While the service is away events wait, up to `capacity`."""
        if len(self._waiting) >= self.capacity:
            await self._try()
        if len(self._waiting) >= self.capacity:
            raise BufferFull(len(self._waiting))
        self._waiting.append({"id": str(uuid.uuid4()), "source": self._client.source, **event})
        if len(self._waiting) % self.batch == 0:
            await self._try()

    async def flush(self) -> None:
        """Send everything that waits, and try again for as long as `retries` allows; the last error otherwise."""
        attempt = 0
        while self._waiting:
            try:
                await self._drain()
            except (ImprintError, httpx.TransportError):  # noqa: PERF203 - a request takes a thousand times as long
                attempt += 1
                if attempt >= self._retries.attempts:
                    raise
                await asyncio.sleep(self._retries.pause(attempt, None))

    async def settle(self, *, timeout: float = 20.0, flush: bool = False) -> bool:
        """Send what waits, then wait until it and what follows from it has ended; whether it has."""
        await self.flush()
        if self.settle_token is None:
            return True
        return await self._client.settle(self.settle_token, timeout=timeout, flush=flush)

    async def _try(self) -> None:
        """Send what waits; what the service does not take now stays."""
        with contextlib.suppress(ImprintError, httpx.TransportError):
            await self._drain()

    async def _drain(self) -> None:
        async with self._lock:
            while self._waiting:
                batch = self._next_batch()
                try:
                    answer = await self._client.publish(batch)
                except ImprintError as error:
                    if may_pass(error.status):
                        raise
                    await self._one_by_one(batch)
                else:
                    self.settle_token = answer["settle_token"]
                    self._drop(len(batch))

    async def _one_by_one(self, batch: list[Json]) -> None:
        """Send the events of a refused batch alone, so that one bad event costs nothing but itself."""
        for event in batch:
            try:
                answer = await self._client.publish([event])
                self.settle_token = answer["settle_token"]
            except ImprintError as error:
                if may_pass(error.status):
                    raise
                self.refused.append((event, error))
            self._drop(1)

    def _next_batch(self) -> list[Json]:
        chosen: list[Json] = []
        size = 0
        for event in self._waiting:
            size += len(json.dumps(event).encode())
            if chosen and (len(chosen) == self.batch or size > MOST_BYTES):
                break
            chosen.append(event)
        return chosen

    def _drop(self, count: int) -> None:
        for _ in range(count):
            self._waiting.popleft()
