"""Connection limits of the HTTP server: number of connections, size and duration of a request's head.

uvicorn's parser (httptools) limits neither; its other one (h11) limits the size, and costs more for every request
(`python -m bench.doorway`).
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Final, cast

import structlog
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.ingress.admission import HEADER_BYTES, HEADERS
from api.ingress.balance import Balance

READ_BYTES: Final = 256 * 1024
"""Maximum bytes per read of the event loop, which are parsed before anything can be counted."""

ROOM: Final = 2
"""Head on the wire, with colons and line ends, per byte of names and values. `AdmissionControl` counts exactly."""

LEAVE_SECONDS: Final = 0.002
"""Time for which a connection is left to a process that has fewer; a busy one does not take it."""

ACCEPT_AGAIN_SECONDS: Final = 0.5
"""Pause in which no connection is accepted after the process has run out of files."""

LINGER_BYTES: Final = 1024 * 1024
LINGER_SECONDS: Final = 2.0
"""Seconds during which input on a refused connection is discarded, so that the answer is not lost to a reset."""

WRITE_SECONDS: Final = 60.0
"""Maximum seconds for which a client may leave an answer unread while the buffers are full."""

REFUSALS: Final = {
    408: ("Request Timeout", "The headers did not arrive in time (IMPRINT_HTTP_HEADER_SECONDS)."),
    431: ("Request Header Fields Too Large", f"At most {HEADERS} headers of {HEADER_BYTES} bytes together."),
    503: ("Service Unavailable", "As many connections are open as may be (IMPRINT_HTTP_CONNECTIONS)."),
}


class Config(uvicorn.Config):
    """uvicorn's settings with two additional ones."""

    def __init__(self, app: Any, *, connections: int, header_seconds: float, **more: Any) -> None:
        """Take the limits. `connections`: open at once; `header_seconds`: from the first byte of a head to its last."""
        self.connections, self.header_seconds = connections, header_seconds
        super().__init__(app, http=BoundedProtocol, ws="none", server_header=False, **more)


LOOK_SECONDS: Final = 1.0
"""Interval at which the server sets the header `Date`: an idle one does nothing else. A signal ends it at once."""


class BoundServer(uvicorn.Server):
    """uvicorn's server on bound sockets, which other processes may accept from, too.

    It accepts one connection at a time, and leaves it to the others for a moment where one of them has fewer. The event
    loop's own server takes all that wait, so that one process would get most of a client's pool. It ends the streams of
    events before it waits for open answers.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        end_streams: Callable[[], None],
        ready: Callable[[], None] = lambda: None,
        balance: Balance | None = None,
        slot: int = 0,
    ) -> None:
        """`end_streams` ends what never ends by itself; `ready` is called when connections are accepted.

        `balance`: connections of all processes, this one's in a `slot`.
        """
        super().__init__(config)
        self._end_streams = end_streams
        self._ready = ready
        self._balance, self._slot = balance or Balance(slot + 1), slot
        self._has_waited = False
        self._tell: Callable[[], object] = lambda: None
        self._opening: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(None if sockets is None else [])
        loop = asyncio.get_running_loop()
        for listener in sockets or ():
            listener.listen(self.config.backlog)
            loop.add_reader(listener, self._accept, listener, loop)
        self._balance.note(self._slot, 0)
        self._ready()

    async def main_loop(self) -> None:
        """Wait for the end; the clock of the header `Date` goes on once a second."""
        ending, loop = asyncio.Event(), asyncio.get_running_loop()
        self._tell = lambda: loop.call_soon_threadsafe(ending.set)
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await ending.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._tell()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._balance.leave(self._slot)
        for listener in sockets or ():
            asyncio.get_running_loop().remove_reader(listener)
        self._end_streams()
        await super().shutdown(sockets)

    def _accept(self, listening: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        self._balance.note(self._slot, len(self.server_state.connections) + len(self._opening))
        if not self._has_waited and self._balance.is_ahead(self._slot):
            self._has_waited = True
            self._pause(listening, loop, LEAVE_SECONDS)
            return
        self._has_waited = False
        try:
            connection, _ = listening.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return  # Another process was faster, or the client has gone.
        except OSError as error:  # No file is free; one will be when a connection closes.
            structlog.get_logger().warning("http.not_accepted", error=error.strerror)
            self._pause(listening, loop, ACCEPT_AGAIN_SECONDS)
            return
        connection.setblocking(False)
        self._balance.note(self._slot, len(self.server_state.connections) + len(self._opening) + 1)
        opening = loop.create_task(self._open(connection, loop))
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)

    async def _open(self, connection: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        made = cast("type[BoundedProtocol]", self.config.http_protocol_class)

        def protocol() -> asyncio.Protocol:
            return made(self.config, server_state=self.server_state, app_state=self.lifespan.state)

        with suppress(OSError):  # The client has gone.
            await loop.connect_accepted_socket(protocol, connection)

    def _pause(self, listening: socket.socket, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        loop.remove_reader(listening)
        loop.call_later(seconds, self._accept_again, listening, loop)

    def _accept_again(self, listening: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        if not self.should_exit:
            loop.add_reader(listening, self._accept, listening, loop)


class BoundedProtocol(HttpToolsProtocol):
    """A connection. A request beyond a limit is answered at once, and parsing stops."""

    def __init__(self, config: uvicorn.Config, *given: Any, **named: Any) -> None:
        super().__init__(config, *given, **named)
        self._bounds = cast("Config", config)
        self._in_head = False
        self._refused = False
        self._lines = self._length = 0
        """Bytes of the head parsed so far."""
        self._unparsed = 0
        """Bytes since something was parsed that bounds itself: the beginning of a head, or a piece of a body."""
        self._discarded = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast("asyncio.Transport", transport))
        if len(self.connections) > self._bounds.connections:
            self._refuse(503)
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            self._discard(len(data))
            return
        self._unparsed += len(data)
        super().data_received(data)
        if self._refused:
            return
        if self._unparsed > READ_BYTES + ROOM * HEADER_BYTES:
            self._refuse(431)
        elif self._in_head or (self._is_idle() and self.timeout_keep_alive_task is None):
            self._await_head()

    def on_message_begin(self) -> None:
        if not self._refused:
            self._in_head, self._lines, self._length, self._unparsed = True, 0, 0, 0
            super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        if self._is_within_bounds(len(url)):
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._lines += 1
        if self._is_within_bounds(len(name) + len(value)) and self._in_head:  # Trailers are counted, and say nothing.
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._refused:
            return
        self._in_head, self._unparsed = False, 0
        self._cancel_deadline()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            self._unparsed = 0
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._refused:
            self._unparsed = 0
            super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _is_within_bounds(self, size: int) -> bool:
        """Return whether the parsed part of a head is within its limits; refuse the request if not."""
        self._length += size
        if not self._refused and (self._lines > HEADERS or self._length > ROOM * HEADER_BYTES):
            self._refuse(431)
        return not self._refused

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _await_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self._bounds.header_seconds, self._on_deadline)

    def _on_deadline(self) -> None:
        self._deadline = None
        if self._in_head:
            self._refuse(408)
        else:
            self.transport.close()

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, status: int) -> None:
        """Answer without the application, and close; during another answer only close."""
        self._refused = True
        self._cancel_deadline()
        if not self._is_idle():
            self.transport.close()
            return
        title, detail = REFUSALS[status]
        body = json.dumps({"type": "about:blank", "title": title, "status": status, "detail": detail}).encode()
        head = (
            f"HTTP/1.1 {status} {title}\r\nContent-Type: application/problem+json\r\nContent-Length: {len(body)}\r\n"
            "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self._deadline = self.loop.call_later(LINGER_SECONDS, self.transport.close)

    def _discard(self, size: int) -> None:
        self._discarded += size
        if self._discarded > LINGER_BYTES:
            self.transport.close()
