"""The HTTP API: one process, or several that accept from the same sockets."""

from __future__ import annotations

import errno
import gc
import resource
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from api import app as http
from api.ingress.balance import Balance
from api.ingress.connection_limits import BoundServer, Config
from api.ingress.shared_counts import ProcessCounts, SharedCounts
from api.stack import prefork
from core import exposition, logs, tracing
from core.config import Settings, unknown
from core.errors import Misconfigured
from core.events.doorbell import broker_url
from core.extraction import extractor_setting
from core.inference.configured_embedder import require_model
from core.inference.embedders import Embedder
from core.inference.local_embedder import LocalEmbedder
from core.inference.local_models.catalog import MODELS

logger = structlog.get_logger()

OTHER_FILES: Final = 100
"""Files that the process opens beside its connections: database, broker, log, model."""

BACKLOG: Final = 2048
"""Connections that may wait to be accepted."""

SWITCH_SECONDS: Final = 0.001
"""Time after which a thread that computes lets another have the interpreter; Python's own is 5 ms. A request waits for
that several times: on the event loop, and after each answer of the database.
"""


def run(settings: Settings, processes: int) -> None:
    """Serve HTTP until a signal. Misconfigured: it cannot."""
    logs.configure(settings.log_level, settings.log_format, "api")
    for sentence in unknown():
        logger.warning("settings.unknown", detail=sentence)
    require_model(settings)
    extractor_setting.require(settings)
    sockets = _listen(settings.http_host, settings.http_port, "HTTP")
    counted = _listen(settings.metrics_host, settings.metrics_port, "METRICS") if settings.metrics_port else []
    if processes == 1:
        _serve(settings, sockets, counted)
        return
    slots = prefork.slots(processes)
    several = _Several(settings, sockets, counted, Balance(slots), SharedCounts(slots))
    prefork.run(processes, several.serve, several.reload, several.forget)


@dataclass(frozen=True, slots=True)
class _Place:
    """A process's number, the connections and the requests of all, and what to call when it accepts some."""

    balance: Balance
    counts: SharedCounts | None = None
    slot: int = 0
    ready: prefork.Ready = lambda: None


class _Several:
    """Sockets, settings and model that the processes share."""

    def __init__(
        self,
        settings: Settings,
        sockets: Sequence[socket.socket],
        counted: Sequence[socket.socket],
        balance: Balance,
        counts: SharedCounts,
    ) -> None:
        self._settings, self._sockets, self._counted = settings, sockets, counted
        self._balance, self._counts = balance, counts
        self._vectors: Embedder | None = None
        self._load()

    def serve(self, ready: prefork.Ready, slot: int) -> None:
        """Serve in one of the processes."""
        position = _Place(self._balance, self._counts, slot, ready)
        _serve(self._settings, self._sockets, self._counted, self._vectors, position)

    def forget(self, pid: int, slot: int) -> None:
        """Forget a process that has ended."""
        exposition.forget(pid)
        self._balance.leave(slot)
        self._counts.clear(slot)

    def reload(self) -> None:
        """Read the settings again. Misconfigured: they are wrong; the processes keep the old ones."""
        before, self._settings = self._settings, Settings()
        require_model(self._settings)
        extractor_setting.require(self._settings)
        if before.embedding != self._settings.embedding:
            self._load()

    def _load(self) -> None:
        """Load the model before the fork: processes share its memory. Its session has no threads that a fork loses."""
        self._vectors = None
        if self._settings.embedding_at_start and (local := MODELS.get(self._settings.embedding)):
            self._vectors = LocalEmbedder(local)
            self._vectors.embed_queries(["Imprint"])
        gc.collect()
        gc.freeze()


def _serve(
    settings: Settings,
    sockets: Sequence[socket.socket],
    counted: Sequence[socket.socket],
    vectors: Embedder | None = None,
    position: _Place | None = None,
) -> None:
    """Run one process of the API; `position`: its place among several."""
    for metric in counted:
        exposition.serve(metric)
    sys.setswitchinterval(SWITCH_SECONDS)
    tracing.start("imprint-api")
    at = position or _Place(Balance(1))
    counts = None if at.counts is None else ProcessCounts(at.counts, at.slot)
    application = http.create(settings, broker_url(settings), vectors, counts)
    config = Config(
        application,
        connections=connections(settings.http_connections),
        header_seconds=settings.http_header_seconds,
        timeout_keep_alive=settings.http_idle_seconds,
        backlog=BACKLOG,
        log_config=None,
        access_log=False,
        lifespan="on",
    )
    server = BoundServer(config, application.state.deps.followers.stop, at.ready, at.balance, at.slot)
    server.run(sockets=list(sockets))
    if not server.started:
        raise Misconfigured("The API could not start; see the log.")


def _listen(host: str, port: int, setting: str) -> list[socket.socket]:
    """Bind the addresses of a host. Misconfigured: one is taken, or none of this machine."""
    sockets: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in dict.fromkeys(
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        ):
            listener = socket.socket(family, kind, protocol)
            sockets.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(address)
            listener.setblocking(False)
    except OSError as error:
        for listener in sockets:
            listener.close()
        if error.errno == errno.EADDRINUSE:
            way_out = f"Set IMPRINT_{setting}_PORT to a free port{'' if setting == 'HTTP' else ', or to 0'}."
            raise Misconfigured(f"port taken: something listens on {host}:{port}. {way_out}") from error
        raise Misconfigured(
            f"Cannot listen on {host}:{port} ({error.strerror or error}). "
            f"Set IMPRINT_{setting}_HOST and IMPRINT_{setting}_PORT."
        ) from error
    return sockets


def connections(requested: int) -> int:
    """Return the configured number of connections, or as many as the process may open files for."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY or requested <= files - OTHER_FILES:
        return requested
    most = max(1, files - OTHER_FILES)
    structlog.get_logger().warning("http.connections", wanted=requested, most=most, reason="ulimit -n")
    return most
