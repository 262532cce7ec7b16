"""The official parser of AsyncAPI understands the document, and finds nothing wrong with it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from api.ingress import asyncapi
from core.types import Json

pytestmark = [pytest.mark.clients]


def parsed(root: Path, document: Json) -> Any:
    script = root / ".clients/asyncapi.mjs"  # Node looks for packages beside the script.
    shutil.copy(Path(__file__).with_name("asyncapi.mjs"), script)
    told = json.dumps(document)
    done = subprocess.run(["node", str(script)], input=told, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_document_is_valid(root: Path) -> None:
    assert parsed(root, asyncapi.document("0.1.0")) == {"understood": True, "found": []}


def test_a_broken_one_is_not(root: Path) -> None:
    nowhere = {"accept": {"action": "receive", "channel": {"$ref": "#/channels/none"}}}
    assert parsed(root, asyncapi.document("0.1.0") | {"operations": nowhere})["found"]
