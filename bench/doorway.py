"""The layer in front of every route: what it costs a request, against the same server without it, in the same run.

    python -m bench.doorway

Three servers on one database, asked in turn: with the layer (bounded connections, routes, key, scope, limits, turns),
without it (uvicorn as it is, the caller handed to the endpoint at once), and with the layer behind h11, uvicorn's other
parser, which has a bound for headers of its own.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from api import app as application
from api.ingress import admission, error_responses
from api.ingress.connection_limits import Config
from api.ingress.dependencies import ADMITTED, Admitted, Dependencies
from api.ingress.route_bounds import RouteTable
from api.stack.broker import Broker
from api.stack.postgres import Postgres
from bench import arguments
from bench.stand import free_port, show
from core.config import Settings
from core.storage import db, schema
from core.tenancy import tenants
from core.tenancy.tenants import Caller
from rules.registry import store

TENANT = "default"
ROUNDS = 400
VARIANTS = ("layer", "none", "h11")

REQUESTS: dict[str, tuple[str, str, object]] = {
    "GET /healthz": ("GET", "/healthz", None),
    "GET /v1/tenant": ("GET", "/v1/tenant", None),
    "POST /v1/search": ("POST", "/v1/search", {"user_id": "ada", "query": "cheese"}),
    "POST /v1/events": ("POST", "/v1/events", {"event_type": "a.b", "source": "bench", "payload": {}}),
}


class Bare:
    """In place of the layer: hands the caller to the endpoint, with the scope that its route asks for."""

    def __init__(self, app: ASGIApp, deps: Dependencies, table: RouteTable, counts: object) -> None:  # noqa: ARG002
        self._app, self._who = app, Caller(TENANT, "0" * 32, frozenset({"admin"}))
        self._scopes = {
            path: table.find(method, path).scope for method, path, _ in REQUESTS.values() if path != "/healthz"
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] in self._scopes:
            scope[ADMITTED] = Admitted(self._who, self._scopes[scope["path"]])
        await self._app(scope, receive, send)


def serve(variant: str, port: int) -> None:
    """One of the three servers, as a process of its own."""
    settings = Settings()
    if variant == "none":
        admission.AdmissionControl, error_responses.PROTECTIVE = Bare, ()  # type: ignore[misc,assignment]
    app = application.create(settings, str(settings.broker_url and settings.broker_url.get_secret_value()))
    if variant == "layer":
        config = Config(
            app, connections=1000, header_seconds=10, port=port, log_config=None, access_log=False, lifespan="on"
        )
        uvicorn.Server(config).run()
    else:
        parser = "h11" if variant == "h11" else "httptools"
        uvicorn.run(app, port=port, log_config=None, access_log=False, http=parser)


def run() -> dict[str, float]:
    """Median milliseconds of each request by server, and the ratio of layer and h11 to none."""
    with servers() as (urls, key):
        took = {name: {variant: list[float]() for variant in urls} for name in REQUESTS}
        clients = {variant: http.client.HTTPConnection(url) for variant, url in urls.items()}
        for number in range(ROUNDS + 20):
            for name, request in REQUESTS.items():
                for variant, client in clients.items():
                    seconds = _ask(client, key, request)
                    if number >= 20:
                        took[name][variant].append(seconds)
    figures: dict[str, float] = {}
    for name, by_variant in took.items():
        medians = {variant: 1000 * statistics.median(times) for variant, times in by_variant.items()}
        figures |= {f"{name}, {variant}, ms": median for variant, median in medians.items()}
        figures[f"{name}, ratio layer / none"] = medians["layer"] / medians["none"]
        figures[f"{name}, ratio h11 / layer"] = medians["h11"] / medians["layer"]
    return figures


def _ask(client: http.client.HTTPConnection, key: str, request: tuple[str, str, object]) -> float:
    method, path, body = request
    if path == "/v1/events":
        body = {**body, "id": uuid.uuid4().hex}  # type: ignore[dict-item]
    raw = None if body is None else json.dumps(body)
    began = time.perf_counter()
    client.request(method, path, raw, {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    answer = client.getresponse()
    answer.read()
    assert answer.status < 300, answer.status
    return time.perf_counter() - began


@contextmanager
def servers() -> Iterator[tuple[dict[str, str], str]]:
    """The three, on one database; where each answers, and a key."""
    with ExitStack() as last, tempfile.TemporaryDirectory(prefix="imprint-bench-") as folder:
        postgres, broker = Postgres(Path(folder), durable=False), Broker(Path(folder), durable=False)
        for server in (postgres, broker):
            server.start()
            last.callback(server.stop)
        settings = Settings(home=Path(folder), database_url=postgres.url, embedding="hash")
        schema.upgrade(settings, ("hash", 384))
        app = db.connect(db.app_url(settings), 1)
        with app.tenant(TENANT) as tx:
            tenants.ensure(tx, TENANT)
            store.install_defaults(tx, TENANT)
            _, key = tenants.create_key(tx, TENANT, ("admin",))
        app.close()
        variables = {"HOME": folder, "DATABASE_URL": postgres.url, "BROKER_URL": broker.url, "EMBEDDING": "hash"}
        variables["TENANT_LIMITS"] = json.dumps({"events_waiting": 10**9})
        environment = {**os.environ, **{f"IMPRINT_{name}": value for name, value in variables.items()}}
        urls = {}
        for variant in VARIANTS:
            port = free_port()
            process = subprocess.Popen(
                [sys.executable, "-m", "bench.doorway", variant, str(port)], env=environment, stderr=subprocess.DEVNULL
            )
            last.callback(process.wait)
            last.callback(process.terminate)
            urls[variant] = f"127.0.0.1:{port}"
            _await(f"http://{urls[variant]}/healthz")
        yield urls, key
        last.close()


def _await(url: str) -> None:
    for _ in range(300):
        try:
            if httpx.get(url).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise SystemExit(f"{url} does not answer")


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("serve", nargs="*", help=argparse.SUPPRESS)
    if serving := parser.parse_args().serve:
        serve(serving[0], int(serving[1]))
    else:
        show(__doc__, run())


if __name__ == "__main__":
    main()
