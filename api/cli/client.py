"""The HTTP client of the commands, and their output: for people, or as JSON with `--json`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import IO, Annotated, Any, TypeVar

import httpx
import typer

from api.cli import failures
from api.terminal import as_json
from core.config import ClientSettings
from core.errors import ImprintError, Misconfigured, Problem
from core.settings import faults, user_folder

TIMEOUT_SECONDS = 70
"""Longer than the longest settle."""

SILENCE_SECONDS = 45
"""Silence after which a stream is taken for broken: the server sends something every 15 seconds."""

READ_AGAIN_SECONDS = (0.2, 1.0)
"""Pauses before a GET is sent again whose connection broke: a process of the server has ended or was restarted."""

SETTLE_STEP_SECONDS = 0.25
"""Maximum duration of one request for pending work, so that a waiting command can show its progress."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


Answer = TypeVar("Answer")


class Refused(ImprintError):
    """The server refused the request."""

    def __init__(
        self,
        detail: str,
        problems: list[Problem] | None = None,
        retry_after_s: float | None = None,
        status: int | None = None,
    ) -> None:
        """Name the places in what was sent, the pause that the server asks for, and its HTTP status."""
        self.title = detail
        self.status = status
        self.problems = problems or []
        self.retry_after_s = retry_after_s
        super().__init__("\n".join([detail, *(f"  {p.pointer or '/'}: {p.detail}" for p in self.problems)]))


class Client:
    """HTTP client for the server in the settings: IMPRINT_URL and IMPRINT_API_KEY, else the stack in this home."""

    def __init__(self, settings: ClientSettings, key: str | None = None, seconds: float = TIMEOUT_SECONDS) -> None:
        url = settings.url or settings.stack.get("http_url") or f"http://127.0.0.1:{settings.http_port}"
        self.key = _ascii(key or _key(settings))
        headers = {"Authorization": f"Bearer {self.key}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=seconds)
        self.url = url

    def get(self, path: str, **params: Any) -> Any:
        return self._ask("GET", path, params=present(params))

    def items(self, path: str, **params: Any) -> Iterator[Any]:
        """Yield all items of a list, page by page."""
        page = self.get(path, **params)
        while True:
            yield from page["items"]
            if page["next"] is None:
                return
            page = self.get(path, **params, after=page["next"])

    def post(
        self, path: str, body: object, *, if_version: int | None = None, idempotency_key: str | None = None
    ) -> Any:
        """Send a POST request; with `if_version`, conditionally on the version of what it changes."""
        headers = {} if if_version is None else {"If-Match": f'"{if_version}"'}
        headers |= {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        return self._ask("POST", path, json=body, headers=headers)

    def post_text(self, path: str, body: object, **params: Any) -> str:
        """Send a POST request; return the body of the answer as it is."""
        return self._send("POST", path, json=body, params=present(params)).text

    def delete(self, path: str, **params: Any) -> Any:
        return self._ask("DELETE", path, params=params)

    def put(self, path: str, body: object, **params: Any) -> Any:
        return self._ask("PUT", path, json=body, params=params)

    def put_bytes(self, path: str, data: bytes) -> None:
        self._send("PUT", path, content=data, headers={"Content-Type": "application/octet-stream"})

    def patch(self, path: str, body: object) -> Any:
        return self._ask("PATCH", path, json=body)

    def post_mcp(self, path: str, message: bytes, headers: dict[str, str]) -> Any:
        """Send one message of the Model Context Protocol as it is; None: nothing was answered."""
        kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        try:
            answer = self._http.post(path, content=message, headers=kinds | headers)
        except httpx.TransportError as error:
            raise self._silent(error) from None
        if answer.is_error and "problem" in answer.headers.get("content-type", ""):
            raise _refusal(answer)
        return answer.json() if answer.content else None

    def find(self, path: str, **params: Any) -> Any:
        """Like `get`, but return None for 404."""
        try:
            return self.get(path, **params)
        except Refused as refused:
            if refused.status != httpx.codes.NOT_FOUND:
                raise
            return None

    def lines(self, path: str, body: object) -> Iterator[Any]:
        """Yield the lines (NDJSON) of the answer to a POST as they arrive."""
        with self._streamed("POST", path, json=body, headers={"Accept": "application/x-ndjson"}) as answer:
            for line in answer.iter_lines():
                yield json.loads(line)

    def download(self, path: str, target: IO[bytes], **params: Any) -> int:
        """Write the answer to a GET to a file as it arrives; return its bytes."""
        with self._streamed("GET", path, params=params) as answer:
            return sum(target.write(piece) for piece in answer.iter_bytes())

    def stream(self, path: str, **params: Any) -> Iterator[tuple[str, Any]]:
        """Yield id and data of server-sent events for as long as the connection holds; None: only the id."""
        with self._streamed("GET", path, params=present(params), timeout=SILENCE_SECONDS) as answer:
            yield from _sent_events(answer.iter_lines())

    def count_pending(self, token: str, *, flush: bool = False) -> int:
        """Return how much work up to this settle token is still pending after a short wait."""
        answer = self.get("/v1/settle", token=token, timeout=SETTLE_STEP_SECONDS, flush=flush)
        return int(answer["pending"])

    def close(self) -> None:
        self._http.close()

    def _ask(self, method: str, path: str, **how: Any) -> Any:
        answer = self._send(method, path, **how)
        return answer.json() if answer.content else None

    def _send(self, method: str, path: str, **how: Any) -> httpx.Response:
        try:
            for pause in READ_AGAIN_SECONDS if method == "GET" else ():
                with suppress(*_BROKEN):
                    return self._answer(method, path, **how)
                time.sleep(pause)
            return self._answer(method, path, **how)
        except httpx.TransportError as error:
            raise self._silent(error) from None

    @contextmanager
    def _streamed(self, method: str, path: str, **how: Any) -> Iterator[httpx.Response]:
        """Open an answer whose body arrives as it is read."""
        try:
            with self._http.stream(method, path, **how) as answer:
                if answer.is_error:
                    answer.read()
                    raise _refusal(answer)
                yield answer
        except httpx.TransportError as error:
            raise self._silent(error) from None

    def _answer(self, method: str, path: str, **how: Any) -> httpx.Response:
        answer = self._http.request(method, path, **how)
        if answer.is_error:
            raise _refusal(answer)
        return answer

    def _silent(self, error: httpx.TransportError) -> Refused:
        hint = " IMPRINT_URL begins with http:// or https://." if isinstance(error, httpx.UnsupportedProtocol) else ""
        message = f"No answer from {self.url} ({error}).{hint}"
        return Refused(f"{message} Start it with `imprint up`, or set IMPRINT_URL.")


_BROKEN = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
"""Errors of a request whose open connection is lost."""


def present(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is not None."""
    return {name: value for name, value in params.items() if value is not None}


def _sent_events(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif fields:
            if "id" in fields:  # Without a position it is no event: `stream.gap`, on what has left long ago.
                data = json.loads(fields["data"])
                yield fields["id"], data if "event_type" in data else None  # Else it is `stream.position`.
            fields = {}


@contextmanager
def open_client(seconds: float = TIMEOUT_SECONDS) -> Iterator[Client]:
    """Open a client for the configured server, for the duration of a command. `seconds`: for an answer."""
    client = Client(ClientSettings(), seconds=seconds)
    try:
        yield client
    finally:
        client.close()


def call(method: str, path: str, *given: Any, **params: Any) -> Any:
    """Return one answer of the configured server; `method`: of the client."""
    with open_client() as client:
        return getattr(client, method)(path, *given, **params)


def read(path: str, **params: Any) -> Any:
    """Return the answer of the configured server to a GET."""
    return call("get", path, **params)


def show_json(value: object) -> None:
    """Print one JSON document."""
    sys.stdout.write(as_json(value, indent=2) + "\n")


def finish_if_json(as_json: bool, answer: Any) -> Any:
    """Show the answer as JSON and end the command where `--json` asks for it; else return the answer."""
    if as_json:
        show_json(answer)
        raise typer.Exit
    return answer


def show_json_line(value: object) -> None:
    """Print one JSON document as one line (NDJSON)."""
    sys.stdout.write(as_json(value) + "\n")
    sys.stdout.flush()


def moment(value: str | None) -> str:
    """Format a time from the server in the local time zone: `2026-11-21 10:00:03`."""
    return datetime.fromisoformat(value).astimezone().strftime("%Y-%m-%d %H:%M:%S") if value else "–"


def period_end(value: str | None, option: str) -> str | None:
    """Parse a day or time; without an offset it is local time."""
    if value is None:
        return None
    try:
        return datetime.fromisoformat(value).astimezone().isoformat()
    except ValueError:
        message = f"{value!r} is no day or time; write 2026-11-21 or 2026-11-21T10:00:00Z."
        raise typer.BadParameter(message, param_hint=option) from None


def short(value: str, length: int = 100) -> str:
    """Return the text on one line, cut to `length` characters."""
    line = " ".join(value.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def patiently(work: Callable[[], Answer]) -> Answer:
    """Return what the work returns, which is repeated for as long as a busy server postpones it. Refused: otherwise."""
    while True:
        try:
            return work()
        except Refused as refused:
            if refused.retry_after_s is None:
                raise
            time.sleep(refused.retry_after_s)


def _ascii(key: str) -> str:
    """Return a key that can be sent. Misconfigured: no key looks like this."""
    if not key.isascii() or not key.isprintable():
        raise Misconfigured("The key holds characters that no key has; copy it again (IMPRINT_API_KEY).")
    return key


def _key(settings: ClientSettings) -> str:
    if settings.api_key is not None:
        return settings.api_key.get_secret_value()
    path = settings.home / "run" / "api.key"
    if path.exists():
        return path.read_text().strip()
    raise Misconfigured(
        "No key: set IMPRINT_API_KEY (`imprint keys create` creates one), or run `imprint up` in this folder. Commands "
        f"read the environment and {user_folder.folder() / faults.TOML_FILE}, no file of the working folder."
    )


def _refusal(answer: httpx.Response) -> Refused:
    pause = answer.headers.get("retry-after") if answer.status_code == httpx.codes.TOO_MANY_REQUESTS else None
    retry_after_s = float(pause) if pause and pause.isdigit() else None
    path, missing = answer.request.url.path, answer.status_code == httpx.codes.NOT_FOUND
    try:
        problem = answer.json()
        problems = [Problem(fault["pointer"], fault["detail"]) for fault in problem.get("errors", [])]
        message = str(problem["detail"])
        message = "The request is invalid:" if problems else failures.in_commands(message, path, missing=missing)
    except (ValueError, KeyError, TypeError):
        message = f"{answer.url} answered {answer.status_code} {short(answer.text, 200)}".rstrip()
        message = f"{message}. Is it Imprint? Check IMPRINT_URL; `imprint doctor` looks at the service."
        return Refused(message, None, retry_after_s, answer.status_code)
    return Refused(message, problems, retry_after_s, answer.status_code)
