from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench import recorded_model

ASKED = {
    "messages": [{"role": "system", "content": "Say."}, {"role": "user", "content": "What?"}],
    "response_format": {"json_schema": {"schema": {"type": "object"}}},
}


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    server = recorded_model.server(tmp_path, 0, 5.0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1/chat/completions"
    server.shutdown()
    server.server_close()


def fill_in(folder: Path, answer: dict[str, Any]) -> None:
    """Answer the question that waits."""
    while not (files := list(folder.glob("*.json"))):
        time.sleep(0.05)
    written = json.loads(files[0].read_text())
    assert (written["system"], written["text"], written["answer"]) == ("Say.", "What?", None)
    files[0].write_text(json.dumps(written | {"answer": answer}))


def test_a_question_waits_for_its_answer_and_has_it_from_then_on(url: str, tmp_path: Path) -> None:
    threading.Timer(0.2, fill_in, (tmp_path, {"said": "that"})).start()
    for _ in range(2):
        completion = httpx.post(url, json=ASKED, timeout=20).json()
        assert json.loads(completion["choices"][0]["message"]["content"]) == {"said": "that"}
        assert completion["usage"]["prompt_tokens"] > 0
    assert len(list(tmp_path.glob("*.json"))) == 1


def test_what_nobody_answers_is_refused_for_now(tmp_path: Path) -> None:
    assert recorded_model.answer(tmp_path, ASKED, 0.0) is None
