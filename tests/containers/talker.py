"""A tenant's client of a stack."""

from __future__ import annotations

import json
from typing import Any

import httpx

from core.memory import receipts
from core.types import Json
from tests.containers.stack import Stack
from tests.patience import wait_until
from tests.samples import ended, said


class Talker:
    """Talks to the service with an admin key, which is made in the container of the API."""

    def __init__(self, stack: Stack, tenant: str = "acme") -> None:
        told = stack.inside("api", "imprint", "keys", "create", "--tenant", tenant, "--scopes", "admin", "--json")
        self.key = key = json.loads(told)["key"]
        self.http = httpx.Client(base_url=stack.url, headers={"authorization": f"Bearer {key}"}, timeout=60)

    def close(self) -> None:
        self.http.close()

    def call(self, method: str, path: str, **more: Any) -> Any:
        answer = self.http.request(method, path, **more)
        assert answer.is_success, f"{method} {path}: {answer.text}"
        return answer.json()

    def settle(self, token: str) -> None:
        asked = {"token": token, "flush": True, "timeout": 5}
        wait_until(lambda: self.call("GET", "/v1/settle", params=asked)["settled"])

    def tell(self, session: str, *words: str, user: str = "ada") -> None:
        events = [*(said(text, session=session, user=user) for text in words), ended(session, user)]
        self.settle(self.call("POST", "/v1/events", json=events)["settle_token"])

    def search(self, query: str, user: str = "ada") -> list[str]:
        body = {"user_id": user, "query": query, "include": ["memories"]}
        return [result["content"] for result in self.call("POST", "/v1/search", json=body)["results"]]

    def memories(self, user: str) -> list[Json]:
        items: list[Json] = self.call("GET", "/v1/memories", params={"user_id": user})["items"]
        return items

    def is_genuine(self, receipt: Json) -> bool:
        key = self.call("GET", "/v1/receipts/key")["public_key"]
        return receipts.verify(receipt["receipt"], receipt["signature"], key)
