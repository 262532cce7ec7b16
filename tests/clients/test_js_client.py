"""The npm client: its types are those of this checkout's document, and it works with a stack, as does its recipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from standardwebhooks import Webhook

from bench.stand import Stand, stack

pytestmark = [pytest.mark.clients, pytest.mark.slow]

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    with stack(embedding="hash") as running:
        yield running


def run(folder: Path, *command: str, **more: str) -> None:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **more}, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def signed_webhook() -> str:
    """A webhook as the service signs it (workers/delivery/webhook_client.py)."""
    body, identifier, now = json.dumps({"event_type": "memory.created"}), "acme:1", int(time.time())
    signature = Webhook(SECRET).sign(identifier, datetime.fromtimestamp(now, UTC), body)
    headers = {"webhook-id": identifier, "webhook-timestamp": str(now), "webhook-signature": signature}
    return json.dumps({"body": body, "headers": headers, "secret": SECRET, "tenant": "acme"})


def test_the_types_are_generated_anew_as_they_stand(root: Path) -> None:
    client = root / "sdk/js"
    before = (client / "src/schema.ts").read_text(encoding="utf-8")
    run(root, sys.executable, str(client / "generate.py"), PYTHONPATH=str(root))
    assert (client / "src/schema.ts").read_text(encoding="utf-8") == before


def test_the_client_passes_the_strictest_check_of_types(root: Path) -> None:
    run(root / "sdk/js", "npm", "run", "--silent", "check")


def test_what_needs_no_service(root: Path) -> None:
    run(root / "sdk/js", "node", "--test", "test/offline.test.mjs")


def test_the_client_works_with_a_stack(root: Path, stand: Stand) -> None:
    own = {"IMPRINT_URL": stand.url, "IMPRINT_API_KEY": stand.key, "IMPRINT_SIGNED_WEBHOOK": signed_webhook()}
    run(root / "sdk/js", "node", "--test", "test/stack.test.mjs", **own)


def test_the_recipe_for_the_vercel_ai_sdk_works_with_a_stack(root: Path, stand: Stand) -> None:
    recipe = root / "docs/examples/recipes/vercel-ai-sdk"
    run(recipe, "npm", "run", "--silent", "build")
    run(recipe, "node", "--test", "dist/memory.test.js", IMPRINT_URL=stand.url, IMPRINT_API_KEY=stand.key)
