"""Calls of the API's own routes, in this process and with the key of the login: the console has no other door."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from http import HTTPStatus
from typing import Annotated, Any, Final

import httpx
from fastapi import Depends, FastAPI, Request

from api.console.gate import OPENED
from api.ingress import log_positions
from core.storage import positions
from core.types import Json

AT_ONCE: Final = 8
"""Calls of one page at a time: a tenant has a limit of requests in flight, which a page is not to exhaust."""


class ApiProblem(Exception):
    """A refusal by a route of the API, as its problem details."""

    def __init__(self, status: int, problem: Json) -> None:
        super().__init__(problem.get("detail", ""))
        self.status = status
        self.problem = problem


class Api:
    """Routes of the API as one login may call them: scopes, limits and screening are those of its key."""

    def __init__(self, client: httpx.AsyncClient, key: str) -> None:
        self._client = client
        # A page shows what the page before it has changed, though no browser tells the position of that.
        self._headers = {"Authorization": f"Bearer {key}", log_positions.HEADER: positions.NEWEST}

    async def get(self, path: str, **query: Any) -> Any:
        """Return the answer of a GET; parameters that are None or empty are left out. ApiProblem."""
        return await self._call("GET", path, query, None)

    async def find(self, path: str, **query: Any) -> Any | None:
        """Return the answer of a GET; None if there is no such thing. ApiProblem: another refusal."""
        try:
            return await self.get(path, **query)
        except ApiProblem as problem:
            if problem.status != HTTPStatus.NOT_FOUND:
                raise
            return None

    async def post(self, path: str, body: Any = None, **query: Any) -> Any:
        """Return the answer of a POST with a JSON body. ApiProblem."""
        return await self._call("POST", path, query, body)

    async def send(self, path: str, raw: bytes, **query: Any) -> Any:
        """Return the answer of a POST whose body is a file. ApiProblem."""
        headers = self._headers | {"Content-Type": "application/octet-stream"}
        return _read(await self._client.post(path, params=query, content=raw, headers=headers))

    async def put(self, path: str, body: Any, *, if_version: str = "", **query: Any) -> Any:
        """Return the answer of a PUT with a JSON body, with `if_version` only of that version. ApiProblem."""
        return await self._call("PUT", path, query, body, {"If-Match": f'"{if_version}"'} if if_version else {})

    async def patch(self, path: str, body: Any) -> Any:
        """Return the answer of a PATCH with a JSON body. ApiProblem."""
        return await self._call("PATCH", path, {}, body)

    async def delete(self, path: str, **query: Any) -> Any:
        """Return the answer of a DELETE. ApiProblem."""
        return await self._call("DELETE", path, query, None)

    async def _call(
        self, method: str, path: str, query: Mapping[str, Any], body: Any, headers: Mapping[str, str] | None = None
    ) -> Any:
        given = {name: value for name, value in query.items() if value not in (None, "", [])}
        headers = {**self._headers, **(headers or {})}
        return _read(await self._client.request(method, path, params=given, json=body, headers=headers))


def _read(answer: httpx.Response) -> Any:
    if answer.is_error:
        raise ApiProblem(answer.status_code, answer.json())
    return answer.json() if answer.content else None


async def together(*calls: Awaitable[Any]) -> list[Any]:
    """Return the answers of several calls, up to `AT_ONCE` at once. All have ended when the first refusal is raised."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def in_turn(call: Awaitable[Any]) -> Any:
        async with turns:
            return await call

    answers = await asyncio.gather(*(in_turn(call) for call in calls), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return answers


def client_of(app: FastAPI) -> httpx.AsyncClient:
    """Return a client whose requests pass every layer of the application, and no network."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://console", trust_env=False, timeout=None)  # noqa: S113 - the routes have their own limits


async def _api(request: Request) -> Api:
    return Api(request.app.state.console, request.scope[OPENED].key)


ApiCalls = Annotated[Api, Depends(_api)]
