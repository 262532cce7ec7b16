"""Exports shaped like those of other services: 41 conversations, with branches, tools, pictures and odd types."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from core.transfer.reading import PathReading
from core.transfer.records import Conversation, Record, Skipped
from core.types import Json

NUMBER = 41

ROOT = "00000000-0000-4000-8000-000000000000"


def chatgpt(number: int) -> Json:
    """A conversation: every eighth has a branch that was left, every tenth must not be remembered."""
    nodes: Json = {"root": {"id": "root", "parent": None, "children": ["a"], "message": None}}
    parent = "root"

    def add(name: str, role: str, content: Json, **more: object) -> None:
        nonlocal parent
        message = {
            "id": f"{name}-{number}",
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": 1_700_000_000.5 + number * 86_400 + len(nodes),
            "content": content,
            "status": "finished_successfully",
            "recipient": "all",
            "metadata": {},
            **more,
        }
        nodes[name] = {"id": name, "parent": parent, "children": [], "message": message}
        parent = name

    def text(*parts: object) -> Json:
        return {"content_type": "text", "parts": list(parts)}

    add("system", "system", text(""), metadata={"is_visually_hidden_from_conversation": True})
    add("context", "user", {"content_type": "user_editable_context", "user_profile": "hidden profile"})
    add("question", "user", text(f"My sister number {number} lives in Porto."))
    add("thought", "assistant", {"content_type": "thoughts", "thoughts": [{"content": "hidden thought"}]})
    add("recap", "assistant", {"content_type": "reasoning_recap", "content": "hidden recap"})
    add("call", "assistant", {"content_type": "code", "text": "hidden search()"}, recipient="web.run")
    add("tool", "tool", {"content_type": "execution_output", "text": "hidden output"})
    if number % 5 == 0:
        add("bio", "assistant", text(f"[2025-05-02] Has {number} sisters.\nLikes Porto."), recipient="bio")
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x", "width": 1}
    spoken = {"content_type": "audio_transcription", "text": "Spoken words.", "direction": "in"}
    add("picture", "user", {"content_type": "multimodal_text", "parts": [picture, "What is this?", spoken]})
    if number % 8 == 0:
        kept = parent
        add("left", "assistant", text("This answer was regenerated."))
        parent = kept
    add("answer", "assistant", text(f"It is bridge {number}."))
    add("browsing", "tool", {"content_type": "tether_browsing_display", "result": "hidden page"})
    return {
        "conversation_id": f"c{number}",
        "title": f"Talk {number}",
        "create_time": 1_700_000_000 + number,
        "mapping": nodes,
        "current_node": parent,
        "is_do_not_remember": number % 10 == 3,
        "memory_scope": "global_enabled",
        "gizmo_id": None,
        "moderation_results": [],
    }


def claude(number: int) -> Json:
    """A conversation: every eighth has a regenerated answer, every third names no parents, as older exports."""
    base = {"created_at": f"2025-03-{1 + number % 28:02}T10:00:00.123456Z", "attachments": [], "files": []}
    messages: list[Json] = [
        {
            **base,
            "uuid": f"q{number}",
            "sender": "human",
            "text": f"My cat {number} is called Mia.",
            "content": [{"type": "text", "text": f"My cat {number} is called Mia."}],
            "parent_message_uuid": ROOT,
            "files": [{"file_uuid": "f", "file_name": "cat.png"}],
        },
        {
            **base,
            "uuid": f"left{number}",
            "sender": "assistant",
            "text": "This answer was regenerated.",
            "content": [{"type": "text", "text": "This answer was regenerated."}],
            "parent_message_uuid": f"q{number}",
        },
        {
            **base,
            "uuid": f"a{number}",
            "sender": "assistant",
            "text": "hidden thought and Noted.",
            "content": [
                {"type": "thinking", "thinking": "hidden thought"},
                {"type": "tool_use", "name": "search", "input": {"q": "hidden"}},
                {"type": "tool_result", "content": [{"type": "text", "text": "hidden result"}]},
                {"type": "text", "text": "Noted.", "citations": []},
                {"type": "of tomorrow", "text": "hidden type"},
            ],
            "parent_message_uuid": f"q{number}",
        },
    ]
    if number % 8:
        del messages[1]
    if number % 3 == 0 and number % 8:
        for message in messages:
            del message["parent_message_uuid"]
    return {"uuid": f"u{number}", "name": f"Talk {number}", "summary": "", "chat_messages": messages, "account": {}}


def claude_code(number: int) -> list[Json]:
    """The lines of a session: a summary, what was said, tools, and what the program has put in."""
    base = {"sessionId": f"s{number}", "cwd": "/home/ada/Shop", "timestamp": "2026-01-02T03:04:05.678Z", "version": "2"}

    def line(kind: str, name: str, content: object, **more: object) -> Json:
        told = {"type": kind, "uuid": f"{name}{number}", "message": {"role": kind, "content": content}}
        return {**base, **told, **more}

    return [
        {"type": "summary", "summary": "hidden summary", "leafUuid": "x"},
        line("user", "q", f"We deploy shop {number} on Fridays."),
        line("assistant", "c", [{"type": "tool_use", "name": "Bash", "input": {"command": "hidden"}}]),
        line("user", "r", [{"type": "tool_result", "content": "hidden result"}]),
        line("assistant", "a", [{"type": "thinking", "thinking": "hidden"}, {"type": "text", "text": "Understood."}]),
        line("user", "m", "hidden meta", isMeta=True),
        line("user", "i", "<system-reminder>hidden</system-reminder>"),
        line("assistant", "s", [{"type": "text", "text": "hidden side"}], isSidechain=True),
    ]


def mem0_page() -> Json:
    at = "2025-01-01T00:00:00Z"
    results = [
        {"id": f"m{n}", "memory": f"Has {n} bicycles", "user_id": "ada", "metadata": {"n": n}, "created_at": at}
        for n in range(NUMBER)
    ]
    return {"count": NUMBER, "next": None, "previous": None, "results": [*results, {"id": "x", "memory": " "}]}


def langgraph() -> list[Json]:
    at = "2025-01-01 00:00:00+00"
    rows: list[Json] = [
        {"prefix": "ada.memories", "key": f"k{n}", "value": {"content": f"Owns boat {n}"}, "created_at": at}
        for n in range(NUMBER)
    ]
    nested = {"prefix": "ada", "key": "n", "value": {"kind": "Memory", "content": {"content": "Nested boat"}}}
    return [*rows, nested, {"prefix": "ada", "key": "y", "value": {"count": 3}}]


def hindsight(number: int) -> Json:
    facts = [{"text": f"Ada visited city {number}.", "fact_type": "experience", "mentioned_at": "2025-02-03T00:00:00Z"}]
    return {"id": f"d{number}", "original_text": f"We went to city {number}.", "facts": facts, "chunks": []}


def locomo() -> Json:
    told: Json = {"speaker_a": "Ada", "speaker_b": "Bob"}
    for n in range(1, NUMBER + 1):
        told[f"session_{n}_date_time"] = "1:56 pm on 8 May, 2023"
        told[f"session_{n}"] = [
            {"speaker": "Ada", "dia_id": f"D{n}:1", "text": f"I ran {n} miles."},
            {"speaker": "Bob", "dia_id": f"D{n}:2", "text": "Well done!", "img_url": ["x"], "blip_caption": "a shoe"},
        ]
    return {"sample_id": "conv-1", "conversation": told, "qa": []}


def read(path: Path, only: str | None = None, *, forbidden: bool = False) -> list[Record]:
    return list(PathReading(path, only, forbidden).records())


def written(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def lines(path: Path, values: Sequence[Json]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def said(records: Sequence[Record]) -> list[str]:
    return [turn.text for one in records if isinstance(one, Conversation) for turn in one.turns]


def kept(records: Sequence[Record], kind: type[Record]) -> list[Record]:
    return [one for one in records if isinstance(one, kind)]


def reasons(records: Sequence[Record]) -> dict[str, int]:
    """How much was left out for each reason."""
    counts = Counter[str]()
    for record in records:
        if isinstance(record, Skipped):
            counts[record.reason] += record.number
    return dict(counts)


def zipped(entries: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return raw.getvalue()


CHATGPT = [chatgpt(number) for number in range(NUMBER)]
CLAUDE = [claude(number) for number in range(NUMBER)]
