"""The page about limits says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from api.ingress import admission, bodies, connection_limits, fair_share, large_json, route_bounds
from core.settings.limits import TenantLimits


def page(root: Path, name: str = "guarantees.md") -> str:
    return (root / "docs" / name).read_text(encoding="utf-8")


def test_the_table_of_limits_is_the_model(root: Path) -> None:
    _, limits = page(root, "settings.md").split("\n## Limits of a tenant\n")
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (.+) \|$", limits, re.MULTILINE)
    fields = TenantLimits.model_fields
    assert rows == [(name, str(of.default), of.description) for name, of in fields.items()]


def test_the_bounds_of_every_request_are_those_of_the_code(root: Path) -> None:
    said, mib = page(root), 1024 * 1024
    assert f"{admission.HEADERS} headers of {admission.HEADER_BYTES // 1024} KiB" in said
    assert f"| all others | {route_bounds.BODY_BYTES // mib} MiB |" in said
    assert f"may hold {large_json.VALUES:,} values" in said
    assert f"A JSON body of {large_json.LARGE_BYTES // 1024} KiB" in said
    assert f"one second more for each {bodies.SLOWEST // 1024} KiB" in said
    assert f"Up to {bodies.DRAINED_BYTES // mib} MiB" in said
    assert f"{fair_share.WAIT_SECONDS:.0f} seconds at the most" in said
    assert f"after {connection_limits.WRITE_SECONDS:.0f} seconds" in said
    kib = admission.HEADER_BYTES // 1024
    assert f"more than {admission.HEADERS} headers, or more than {kib} KiB" in page(root, "http.md")
