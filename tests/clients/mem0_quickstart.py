"""The quickstart of mem0's Python SDK, run by test_mem0.py with the interpreter that has it; prints what came back."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from mem0 import MemoryClient  # type: ignore[import-not-found]
from mem0.exceptions import AuthenticationError, MemoryNotFoundError  # type: ignore[import-not-found]

SECONDS = 60
METADATA = {"source": "chat", "deep": {"a": [1.5, None]}}


def found(client: Any, **asked: Any) -> list[dict[str, Any]]:
    """Search until there is an answer: what was added is remembered in the background."""
    for _ in range(SECONDS * 4):
        results: list[dict[str, Any]] = client.search("What are my dietary restrictions?", **asked)["results"]
        if results:
            return results
        time.sleep(0.25)
    return []


def error_of(kind: type[Exception], call: Any) -> bool:
    try:
        call()
    except kind:
        return True
    return False


def main(host: str) -> None:
    """Walk through every call of the quickstart and the reference of the SDK."""
    client = MemoryClient(api_key=os.environ["MEM0_API_KEY"], host=host)
    messages = [
        {"role": "user", "content": "I'm a vegetarian and allergic to nuts."},
        {"role": "assistant", "content": "Got it! I'll remember your dietary preferences."},
    ]
    added = client.add(messages, user_id="user123", metadata=METADATA)
    results = found(client, filters={"user_id": "user123"})
    kept = client.add("User123 prefers window seats.", user_id="user123", infer=False)["results"][0]
    updated = client.update(kept["id"], text="User123 prefers aisle seats.", metadata={"trip": 7})
    told = {
        "status": added["status"],
        "memories": [one["memory"] for one in results],
        "metadata": results[0]["metadata"],
        "listed": client.get_all(filters={"AND": [{"user_id": "user123"}, {"trip": {"gte": 5}}]})["count"],
        "updated": [updated["memory"], updated["metadata"]],
        "got": client.get(kept["id"])["memory"],
        "history": [one["event"] for one in client.history(kept["id"])],
        "users": [one["name"] for one in client.users()["results"]],
        "batch": client.batch_update([{"memory_id": kept["id"], "text": "User123 prefers seats at the back."}]),
        "deleted": [client.batch_delete([{"memory_id": kept["id"]}]), client.delete(results[0]["id"])],
        "missing": error_of(MemoryNotFoundError, lambda: client.get(kept["id"])),
        "emptied": client.delete_all(user_id="user123"),
        "left": client.get_all(filters={"user_id": "user123"})["count"],
        "erased": client.delete_users(user_id="user123"),
        "refused": error_of((ValueError, AuthenticationError), lambda: MemoryClient(api_key="wrong", host=host)),  # type: ignore[arg-type]
    }
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
