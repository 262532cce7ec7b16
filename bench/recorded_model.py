"""Serves recorded answers of a language model, and waits for those that are missing.

    python -m bench.recorded_model FOLDER [--port 18100] [--wait 900]

An endpoint in OpenAI's form for `bench.model_quality`. A question is known by its prompt and its text, so answers hold
for exactly these. The folder has a file `KEY.json` for each: `system`, `text`, `schema` and `answer` (a JSON object). A
question without an answer is written as `KEY.json` with `answer` null, and waits for somebody to fill it in.
"""

from __future__ import annotations

import hashlib
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from bench import arguments
from core.language.terms import token_estimate

Json = dict[str, Any]

LOOK_SECONDS: Final = 0.5


def answer(folder: Path, question: Json, seconds: float) -> Json | None:
    """Return the completion of a question; None: nobody has answered it in time."""
    system, text = (message["content"] for message in question["messages"][:2])
    key = hashlib.sha256(f"{system}\\n{text}".encode()).hexdigest()[:16]
    path = folder / f"{key}.json"
    if not path.exists():
        schema = question.get("response_format", {}).get("json_schema", {}).get("schema")
        _write(path, {"system": system, "text": text, "schema": schema, "answer": None})
    ends = time.monotonic() + seconds
    while (written := _read(path)) is None or written["answer"] is None:
        if time.monotonic() > ends:
            return None
        time.sleep(LOOK_SECONDS)
    content = json.dumps(written["answer"], ensure_ascii=False)
    usage = {"prompt_tokens": token_estimate(system + text), "completion_tokens": token_estimate(content)}
    message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    usage["total_tokens"] = sum(usage.values())
    completion = {"id": path.stem, "object": "chat.completion", "created": 0, "model": "recorded"}
    return {**completion, "choices": [message], "usage": usage}


def _write(path: Path, value: Json) -> None:
    whole = path.with_suffix(".part")
    whole.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
    whole.replace(path)


def _read(path: Path) -> Json | None:
    """Return a file's content; None: it is being written."""
    try:
        read: Json = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return read


def server(folder: Path, port: int, seconds: float) -> ThreadingHTTPServer:
    """Return the endpoint, not started yet."""
    folder.mkdir(parents=True, exist_ok=True)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            completion = answer(folder, question, seconds)
            raw = json.dumps(completion or {"error": {"message": "Nobody has answered."}}).encode()
            self.send_response(200 if completion else 503)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    serving = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    serving.daemon_threads = True
    return serving


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=18100)
    parser.add_argument("--wait", type=float, default=900, help="seconds to wait for an answer")
    parsed = parser.parse_args()
    print(f"http://127.0.0.1:{parsed.port}/v1")
    server(parsed.folder, parsed.port, parsed.wait).serve_forever()


if __name__ == "__main__":
    main()
