"""Import: an export of ChatGPT is read, and accepted by a running stack, beside a bare parse of the same file.

    python -m bench.imports [--talks 1500]

The floor is `json.load` of the whole file. Reading is that of a dry run; importing includes reading a second time.
Then the user is exported again.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import httpx

from bench import arguments
from bench.stand import Stand, show, stack, timed
from core.transfer.reading import PathReading
from core.transfer.records import Conversation

TURNS = 20


def run(talks: int) -> dict[str, float]:
    """Messages a second of reading and importing, and megabytes a second of an export."""
    with tempfile.TemporaryDirectory() as folder, stack() as stand:
        path = Path(folder) / "conversations.json"
        path.write_text(json.dumps([_talk(number) for number in range(talks)]))
        floor = timed(lambda: json.loads(path.read_bytes()))
        began = time.perf_counter()
        messages = sum(len(record.turns) for record in PathReading(path).records() if isinstance(record, Conversation))
        reading = time.perf_counter() - began
        seconds = _import(stand, path)
        size, exporting = _export(stand)
    return {
        "messages": float(messages),
        "floor: json.load, messages/s": messages / floor,
        "read (dry run), messages/s": messages / reading,
        "imported by the command, messages/s": messages / seconds,
        "exported as JSON lines, MB": size / 1e6,
        "exported, MB/s": size / 1e6 / exporting,
    }


def _talk(number: int) -> dict[str, object]:
    nodes: dict[str, object] = {}
    for turn in range(TURNS):
        role = ("user", "assistant")[turn % 2]
        text = f"In talk {number} I say sentence {turn}: we moved the workshop to harbour {number * turn % 97} in May."
        message = {
            "id": f"{number}-{turn}",
            "author": {"role": role},
            "create_time": 1.7e9 + number * 1000 + turn,
            "content": {"content_type": "text", "parts": [text]},
            "recipient": "all",
            "metadata": {"model_slug": "x", "citations": [], "padding": "y" * 500},
        }
        nodes[str(turn)] = {"id": str(turn), "parent": str(turn - 1) if turn else None, "message": message}
    return {"conversation_id": f"c{number}", "title": "T", "mapping": nodes, "current_node": str(TURNS - 1)}


def _import(stand: Stand, path: Path) -> float:
    command = [sys.executable, "-m", "api.cli.main", "import", str(path), "--user", "ada", "--yes", "--json"]
    env = {**os.environ, "IMPRINT_URL": stand.url, "IMPRINT_API_KEY": stand.key}
    return timed(lambda: subprocess.run(command, check=True, env=env, capture_output=True))


def _export(stand: Stand) -> tuple[int, float]:
    """Return the unpacked bytes of the user's archive, and the seconds until it was whole."""
    began = time.perf_counter()
    headers = {"Authorization": f"Bearer {stand.key}"}
    answer = httpx.get(f"{stand.url}/v1/users/ada/export", headers=headers, timeout=600).raise_for_status()
    seconds = time.perf_counter() - began
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return sum(entry.file_size for entry in archive.infolist()), seconds


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--talks", type=int, default=1_500)
    show(__doc__, run(parser.parse_args().talks))


if __name__ == "__main__":
    main()
