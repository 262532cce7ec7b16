"""A collector of traces: another process, which takes OTLP over HTTP as the protocol describes it."""

from __future__ import annotations

import gzip
import http.server
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

LENGTH = struct.Struct(">I")
KINDS = {
    WireSpan.SPAN_KIND_INTERNAL: "internal",
    WireSpan.SPAN_KIND_SERVER: "server",
    WireSpan.SPAN_KIND_CLIENT: "client",
    WireSpan.SPAN_KIND_PRODUCER: "producer",
    WireSpan.SPAN_KIND_CONSUMER: "consumer",
}


@dataclass(frozen=True)
class Exported:
    """A span as it arrived, with the attributes of its process."""

    wire: WireSpan
    process: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.wire.name

    @property
    def service(self) -> str:
        return str(self.process["service.name"])

    @property
    def id(self) -> str:
        return self.wire.span_id.hex()

    @property
    def trace(self) -> str:
        return self.wire.trace_id.hex()

    @property
    def parent(self) -> str:
        """The id of its parent; empty: it has none."""
        return self.wire.parent_span_id.hex()

    @property
    def kind(self) -> str:
        return KINDS[self.wire.kind]

    @property
    def failed(self) -> bool:
        return self.wire.status.code == Status.STATUS_CODE_ERROR

    @property
    def links(self) -> list[str]:
        return [link.span_id.hex() for link in self.wire.links]

    @cached_property
    def attributes(self) -> dict[str, Any]:
        return values(self.wire.attributes)


def values(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(item) for item in value.array_value.values] if kind == "array_value" else getattr(value, kind)


@dataclass(frozen=True, slots=True)
class Collector:
    """Where it listens, and the file of what it has got."""

    url: str
    file: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a process is told to export to it; spans wait until it ends, unless there are many."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, "OTEL_BSP_SCHEDULE_DELAY": "3600000"}

    def bodies(self) -> Iterator[bytes]:
        """What has arrived, request by request."""
        raw = self.file.read_bytes() if self.file.exists() else b""
        at = 0
        while at < len(raw):
            (size,) = LENGTH.unpack_from(raw, at)
            yield raw[at + LENGTH.size : at + LENGTH.size + size]
            at += LENGTH.size + size

    def spans(self) -> list[Exported]:
        """All spans that have arrived, oldest first."""
        spans = []
        for body in self.bodies():
            for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                process = values(group.resource.attributes)
                spans += [Exported(wire, process) for scope in group.scope_spans for wire in scope.spans]
        return sorted(spans, key=lambda span: span.wire.start_time_unix_nano)


@contextmanager
def collecting(folder: Path) -> Iterator[Collector]:
    """A collector on a port that the system chooses."""
    told, file = folder / "collector.port", folder / "collector.bin"
    process = subprocess.Popen([sys.executable, "-m", "tests.collector", str(told), str(file)])
    try:
        while not told.exists():
            assert process.poll() is None
            time.sleep(0.02)
        yield Collector(f"http://127.0.0.1:{told.read_text()}", file)
    finally:
        process.terminate()
        process.wait()


def main(told: Path, file: Path) -> None:
    """Collect until the end."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            is_known = self.path == "/v1/traces" and self.headers["content-type"] == "application/x-protobuf"
            if is_known:
                ExportTraceServiceRequest.FromString(body)
                with file.open("ab") as kept:
                    kept.write(LENGTH.pack(len(body)) + body)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200 if is_known else 404)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    # One request after the other: their parts in the file must not mix.
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        part = told.with_suffix(".part")
        part.write_text(str(server.server_port))
        part.rename(told)
        server.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
