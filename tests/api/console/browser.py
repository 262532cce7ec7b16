"""A browser of the tests: it keeps cookies, and repeats the token of its login like the pages do."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fastapi.testclient import TestClient
from httpx import Response

HOST = "http://testserver"


@dataclass
class Browser:
    """A client of the console with a login, if it has one."""

    client: TestClient
    token: str = ""

    def log_in(self, key: str, target: str = "/console") -> Response:
        answer = self.client.post(
            "/console/login", data={"key": key, "next": target}, headers={"origin": HOST}, follow_redirects=False
        )
        if answer.status_code == 303:
            shown = self.client.get("/console")
            found = re.search(r'"X-CSRF-Token": "([0-9a-f]+)"', shown.text)
            assert found, shown.text
            self.token = found[1]
        return answer

    def get(self, path: str, **more: str) -> Response:
        return self.client.get(f"/console{path}", headers=more, follow_redirects=False)

    def press(self, path: str, **fields: str) -> Response:
        """Send a form as htmx does."""
        headers = {"hx-request": "true", "x-csrf-token": self.token, "origin": HOST}
        return self.client.post(f"/console{path}", data=fields, headers=headers, follow_redirects=False)
