"""`imprint mcp`: the Model Context Protocol over standard input and output, answered by `/mcp` of the service."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from mcp.shared.inbound import encode_header_value

from api.cli.client import Client, Refused, open_client
from core.errors import ImprintError
from core.types import Json

PATH: Final = "/mcp"

LINE_BYTES: Final = 1024 * 1024
"""Maximum size of a message, as over HTTP."""

VERSION: Final = "io.modelcontextprotocol/protocolVersion"
"""Field that names the version of the protocol in a message without a handshake before it."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
UNAVAILABLE: Final = -32603
"""Codes of JSON-RPC."""


def mcp() -> None:
    """Serve MCP on standard input and output, for agents that start their servers by a command.

    Example: claude mcp add imprint -- imprint mcp
    """
    negotiated = ""
    with open_client() as client:
        while line := sys.stdin.buffer.readline(LINE_BYTES + 1):
            if len(line) > LINE_BYTES:
                _skip_rest(line)
                _write(_fault(None, INVALID_REQUEST, f"A message may have {LINE_BYTES} bytes."))
            elif line.strip():
                answer = _answer(client, line, negotiated)
                if answer is not None:
                    negotiated = _version_of(answer) or negotiated
                    _write(answer)


def _answer(client: Client, line: bytes, negotiated: str) -> Json | None:
    """Return the service's answer to one message; None: it was a notification."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _fault(None, PARSE_ERROR, "The line is no JSON; send one message a line.")
    if not isinstance(message, dict):
        return _fault(None, INVALID_REQUEST, "Send one message a line, as an object.")
    try:
        answer: Json | None = client.post_mcp(PATH, line, headers(message, negotiated))
    except ImprintError as error:
        detail = error.title if isinstance(error, Refused) else error.detail
        return _fault(message["id"], UNAVAILABLE, detail) if "id" in message else None
    return answer


def headers(message: Json, negotiated: str) -> dict[str, str]:
    """Return the headers that repeat parts of a message over HTTP: version, method and name.

    A name that no header can hold is sent as the protocol says, in base64.
    """
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    version = meta.get(VERSION) if isinstance(meta, dict) else None
    candidates = {
        "MCP-Protocol-Version": version or negotiated,
        "Mcp-Method": message.get("method"),
        "Mcp-Name": _encoded(params.get("name") or params.get("uri")),
    }
    texts = {name: value for name, value in candidates.items() if isinstance(value, str) and value}
    return {name: value for name, value in texts.items() if value.isascii() and value.isprintable()}


def _encoded(name: Any) -> Any:
    try:
        return encode_header_value(name) if isinstance(name, str) else None
    except UnicodeEncodeError:  # Half a surrogate pair: the service says what is wrong.
        return None


def _version_of(answer: Json) -> str:
    """Return the version that a handshake has agreed upon; empty: it was no handshake."""
    result = answer.get("result")
    return str(result.get("protocolVersion") or "") if isinstance(result, dict) else ""


def _skip_rest(line: bytes) -> None:
    """Read to the end of a line that is too long, in pieces."""
    while line and not line.endswith(b"\n"):
        line = sys.stdin.buffer.readline(LINE_BYTES)


def _fault(message_id: Any, code: int, detail: str) -> Json:
    return {"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": detail}}


def _write(answer: Json) -> None:
    """Write one message as one line of ASCII, so that no locale of the terminal matters."""
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii") + b"\n")
    sys.stdout.flush()
