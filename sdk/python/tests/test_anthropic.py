"""Anthropic's memory tool: answers as the SDK's own tool for a folder, and what is known as files; against a stack."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from echoes import ECHO, FACT, QUESTION, assert_learnt_nothing

from imprint_client import AsyncImprint, Imprint
from imprint_client.adapters.anthropic import AsyncImprintMemoryTool, ImprintMemoryTool

Json = dict[str, Any]

KEPT = ("/memories/profile.md", "/memories/topics/location.md")
LINES = "one\ntwo\nthree\nfour\nfive two\n"

COMMANDS: tuple[Json, ...] = (
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/none.md"},
    {"command": "create", "path": "/memories/notes/tea.md", "file_text": LINES},
    {"command": "create", "path": "/memories/notes/tea.md", "file_text": "again"},
    {"command": "create", "path": "/memories/notes", "file_text": "a directory"},
    {"command": "create", "path": "/memories/empty.txt", "file_text": ""},
    {"command": "create", "path": "/memories/blank.txt", "file_text": " \n\n"},
    {"command": "create", "path": "/memories/a/b/c/d.md", "file_text": "deep\r\nlines\r\n"},
    {"command": "create", "path": "/memories/.hidden/x.md", "file_text": "x"},
    {"command": "create", "path": "/memories/a/.x.md", "file_text": "x"},
    {"command": "create", "path": "/memories/a.md", "file_text": "ü" * 700},
    {"command": "create", "path": "/memories/notes/%2e%2e/x y.md", "file_text": "---\ntitle: no\n---\n# Head\n\ttab"},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/"},
    {"command": "view", "path": "/memories/a"},
    {"command": "view", "path": "/memories/.hidden"},
    {"command": "view", "path": "/memories/notes/../a//b/c/d.md"},
    {"command": "view", "path": "/memories/notes/tea.md"},
    {"command": "view", "path": "/memories/notes/%2e%2e/x y.md"},
    {"command": "view", "path": "/memories/empty.txt"},
    {"command": "view", "path": "/memories/blank.txt"},
    *(
        {"command": "view", "path": "/memories/notes/tea.md", "view_range": between}
        for between in ([2, 3], [4, -1], [0, 1], [5, 99], [9, 12], [3, 2])
    ),
    {"command": "str_replace", "path": "/memories/notes/tea.md", "old_str": "two", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/notes/tea.md", "old_str": "six", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/notes/tea.md", "old_str": "three\nfour", "new_str": "3\n3½\n4"},
    {"command": "str_replace", "path": "/memories/notes/tea.md", "old_str": "one\n", "new_str": ""},
    {"command": "str_replace", "path": "/memories/notes", "old_str": "a", "new_str": "b"},
    {"command": "str_replace", "path": "/memories/none.md", "old_str": "a", "new_str": "b"},
    {"command": "insert", "path": "/memories/notes/tea.md", "insert_line": 0, "insert_text": "first\n"},
    {"command": "insert", "path": "/memories/notes/tea.md", "insert_line": 2, "insert_text": "a\nb\n\n"},
    {"command": "insert", "path": "/memories/notes/tea.md", "insert_line": 99, "insert_text": "no"},
    {"command": "insert", "path": "/memories/notes/tea.md", "insert_line": -1, "insert_text": "no"},
    {"command": "insert", "path": "/memories/empty.txt", "insert_line": 0, "insert_text": "no longer"},
    {"command": "insert", "path": "/memories/notes", "insert_line": 0, "insert_text": "no"},
    {"command": "insert", "path": "/memories/none.md", "insert_line": 0, "insert_text": "no"},
    {"command": "view", "path": "/memories/notes/tea.md"},
    {"command": "view", "path": "/memories/empty.txt"},
    {"command": "rename", "old_path": "/memories/notes/tea.md", "new_path": "/memories/a.md"},
    {"command": "rename", "old_path": "/memories/notes/tea.md", "new_path": "/memories/drinks/green/tea.md"},
    {"command": "rename", "old_path": "/memories/notes/tea.md", "new_path": "/memories/x.md"},
    {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/z/y"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
    {"command": "view", "path": "/memories/z/y/b/c/d.md"},
    {"command": "view", "path": "/memories/drinks/green/tea.md"},
    {"command": "delete", "path": "/memories/z"},
    {"command": "delete", "path": "/memories/z"},
    {"command": "delete", "path": "/memories/a.md"},
    {"command": "delete", "path": "/memories"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "view", "path": "/memories/../../etc/passwd"},
    {"command": "create", "path": "/memories/../x", "file_text": "x"},
    {"command": "rename", "old_path": "/memories/empty.txt", "new_path": "/memories/../x"},
    {"command": "delete", "path": "memories/empty.txt"},
    {"command": "view", "path": "/memories/drinks"},
)


@pytest.fixture
def client(service: tuple[str, str]) -> Iterator[Imprint]:
    with Imprint(*service) as opened:
        yield opened


@pytest.fixture
def tool(client: Imprint, user: str) -> ImprintMemoryTool:
    return ImprintMemoryTool(client, user_id=user)


def said(tool: BetaAbstractMemoryTool, command: Json) -> tuple[str, str]:
    """Return whether a command was carried out, and the answer; sizes of directories belong to a file system."""
    try:
        answer = str(tool.call(command))
    except ToolError as error:
        return "refused", str(error)
    if answer.startswith("Here're"):
        head, own, *entries = answer.split("\n")
        answer = "\n".join([head, own.partition("\t")[2], *(re.sub(r"^\S+(?=\t.*/$)", "", one) for one in entries)])
    return "answered", answer


def test_files_are_those_of_the_reference(tool: ImprintMemoryTool, tmp_path: Path) -> None:
    reference = BetaLocalFilesystemMemoryTool(str(tmp_path))
    for command in COMMANDS:
        assert said(tool, command) == said(reference, command), command
    assert tool.clear_all_memory() == reference.clear_all_memory()
    empty = {"command": "view", "path": "/memories"}
    assert said(tool, empty) == said(reference, empty)


def test_what_a_file_system_could_not_hold_is_refused(tool: ImprintMemoryTool) -> None:
    tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})
    for command in (
        {"command": "create", "path": "/memories/a/b.md", "file_text": "x"},
        {"command": "create", "path": "/memoriesx", "file_text": "x"},
        {"command": "create", "path": f"/memories/{'x' * 700}", "file_text": "x"},
        {"command": "create", "path": "/memories/a\nb", "file_text": "x"},
        {"command": "create", "path": "/memories/nul", "file_text": "a\0b"},
        {"command": "str_replace", "path": "/memories/a", "old_str": "", "new_str": "y"},
        {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/a/b"},
    ):
        with pytest.raises(ToolError):
            tool.call(command)
    assert said(tool, {"command": "view", "path": "/memories"})[1].count("\n") == 2


def test_what_is_known_can_be_read_and_not_changed(tool: ImprintMemoryTool, client: Imprint, user: str) -> None:
    client.remember("Ada lives in Lisbon.", user_id=user)
    client.remember("Always answer in French.", user_id=user)
    listed = str(tool.call({"command": "view", "path": "/memories"}))
    for path in (*KEPT, "/memories/topics/"):
        assert re.search(rf"(?m)^[0-9.]+[BK]\t{re.escape(path)}$", listed)
    profile, location = (str(tool.call({"command": "view", "path": path})) for path in KEPT)
    assert "answer in French" in profile
    assert re.search(r"     1\t- Ada lives in Lisbon\. \(\d{4}-\d\d-\d\d\)\n     2\t$", location)
    for command in (
        *({"command": "delete", "path": path} for path in (*KEPT, "/memories/topics")),
        *({"command": "create", "path": path, "file_text": "x"} for path in (*KEPT, "/memories/topics/new.md")),
        {"command": "str_replace", "path": KEPT[1], "old_str": "Lisbon", "new_str": "Porto"},
        {"command": "insert", "path": KEPT[0], "insert_line": 0, "insert_text": "x"},
        {"command": "rename", "old_path": "/memories/topics", "new_path": "/memories/mine"},
    ):
        with pytest.raises(ToolError, match=r"cannot be changed\. Write to another file"):
            tool.call(command)


def test_users_have_files_of_their_own_and_searches_find_them(
    tool: ImprintMemoryTool, client: Imprint, user: str
) -> None:
    tool.call({"command": "create", "path": "/memories/tea.md", "file_text": "Green tea is brewed at 80 degrees."})
    other = ImprintMemoryTool(client, user_id=f"{user}-other")
    with pytest.raises(ToolError, match="does not exist"):
        other.call({"command": "view", "path": "/memories/tea.md"})
    (found,) = client.search("green tea", user_id=user, include=["documents"])
    assert found["uri"] == "memory-tool:/memories/tea.md"


def test_a_service_that_is_away_is_an_error_for_the_model(user: str) -> None:
    tool = ImprintMemoryTool(Imprint("http://127.0.0.1:9", "key"), user_id=user)
    with pytest.raises(ToolError, match="Go on without it"):
        tool.call({"command": "view", "path": "/memories"})


class Api:
    """Anthropic's HTTP API with a model that looks into a file, writes one that is there, and answers."""

    def __init__(self, path: str) -> None:
        self.asked: list[Json] = []
        self._calls: list[Json] = [
            {"command": "view", "path": path},
            {"command": "create", "path": "/memories/seen.md", "file_text": ECHO},
            {"command": "create", "path": "/memories/seen.md", "file_text": ECHO},
        ]

    def answer(self, asked: Json) -> Json:
        self.asked.append(asked)
        turn = len(self.asked) - 1
        done = turn == len(self._calls)
        call = {"type": "tool_use", "id": f"t{turn}", "name": "memory", "input": None if done else self._calls[turn]}
        return {
            "id": f"m{turn}",
            "type": "message",
            "role": "assistant",
            "model": "local",
            "stop_sequence": None,
            "content": [{"type": "text", "text": ECHO}] if done else [call],
            "stop_reason": "end_turn" if done else "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }


@contextmanager
def served(api: Api) -> Iterator[str]:
    """Serve the API on this machine; yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = json.dumps(api.answer(json.loads(self.rfile.read(int(self.headers["content-length"])))))
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *_words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


RUN: Json = {"model": "local", "max_tokens": 100, "messages": [{"role": "user", "content": QUESTION}]}


def check(api: Api) -> None:
    assert api.asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    (seen, written, again) = [asked["messages"][-1]["content"][0] for asked in api.asked[1:]]
    assert FACT in json.dumps(seen)
    assert "File created successfully at: /memories/seen.md" in json.dumps(written)
    assert again["is_error"]
    assert "File /memories/seen.md already exists" in json.dumps(again)


def test_the_runner_of_the_sdk_uses_it_and_what_was_seen_is_not_learnt_again(
    service: tuple[str, str], client: Imprint, tool: ImprintMemoryTool, user: str
) -> None:
    known = client.remember(FACT, user_id=user)["memory"]
    path = f"/memories/topics/{known['topic']}.md"
    api = Api(path)
    with served(api) as url, Anthropic(api_key="x", base_url=url) as claude:
        final = claude.beta.messages.tool_runner(**RUN, tools=[tool]).until_done()
    assert final.content[0].text == ECHO
    check(api)
    session = client.session(user_id=user, session_id=f"s-{user}")
    session.add("user", QUESTION)
    session.add("assistant", final.content[0].text)

    async def learn() -> None:
        async with AsyncImprint(*service) as opened:
            await assert_learnt_nothing(opened, user, f"s-{user}", known)

    asyncio.run(learn())


def test_the_asynchronous_runner_uses_it_too(client: Imprint, user: str) -> None:
    known = client.remember(FACT, user_id=user)["memory"]
    api = Api(f"/memories/topics/{known['topic']}.md")
    tool = AsyncImprintMemoryTool(client, user_id=user)

    async def run(url: str) -> None:
        async with AsyncAnthropic(api_key="x", base_url=url) as claude:
            final = await claude.beta.messages.tool_runner(**RUN, tools=[tool]).until_done()
        assert final.content[0].text == ECHO
        assert await tool.clear_all_memory() == "All memory cleared"

    with served(api) as url:
        asyncio.run(run(url))
    check(api)
