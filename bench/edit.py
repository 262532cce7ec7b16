"""From edit to effect: a rule is saved over HTTP while events flow, on a running stack with two routers.

    python -m bench.edit

To reach: p95 < 1 s. An event is published every few milliseconds; the time runs from before the save to the publishing
of the first event from which on every one was decided by the new version, whichever router it came to.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from typing import Any

from bench import arguments
from bench.stand import Stand, percentiles, show, stack

EDITS = 25
PROBE_SECONDS = 1.5
RULE = "probe"


def run() -> dict[str, float]:
    """Milliseconds over some edits, after one that is not counted."""
    with stack(embedding="hash") as stand:
        second = _second_router(stand)
        try:
            _save(stand, 0)
            took = [_edit(stand, number) for number in range(1, EDITS + 1)]
        finally:
            second.send_signal(signal.SIGTERM)
            second.wait(30)
    return {f"edit to effect, ms, {name} (p95 to reach: 1,000)": value for name, value in percentiles(took[1:]).items()}


def _second_router(stand: Stand) -> subprocess.Popen[bytes]:
    own = {"IMPRINT_HOME": str(stand.home), "IMPRINT_METRICS_PORT": "0", "IMPRINT_EMBEDDING": "hash"}
    return subprocess.Popen([sys.executable, "-m", "workers", "router"], env={**os.environ, **own})


def _edit(stand: Stand, number: int) -> float:
    began = time.perf_counter()
    version = _save(stand, number)
    probes: list[tuple[float, str]] = []
    while time.perf_counter() - began < PROBE_SECONDS:
        probes.append(((time.perf_counter() - began) * 1000, _publish(stand)))
    stand.settle(stand.call("POST", "/v1/events", _probe())["settle_token"])
    last_old = max((at for at, event_id in probes if _decided_by(stand, event_id) < version), default=0.0)
    return next((at for at, _ in probes if at > last_old), last_old)


def _save(stand: Stand, number: int) -> int:
    rule = {
        "name": RULE,
        "description": f"Edit {number}",
        "event_type": "bench.probe",
        "actions": [{"action_type": "notify", "channel": "log", "template": "{{payload.id}}"}],
        "action_mode": "shadow",
    }
    return int(stand.call("PUT", f"/v1/rules/{RULE}", rule)["version"])


def _probe() -> dict[str, Any]:
    return {"id": uuid.uuid4().hex, "event_type": "bench.probe", "source": "bench", "payload": {}}


def _publish(stand: Stand) -> str:
    probe = _probe()
    stand.call("POST", "/v1/events", probe)
    return str(probe["id"])


def _decided_by(stand: Stand, event_id: str) -> int:
    """Return the version that an event was decided by; 0: the router did not know the rule yet."""
    rules = stand.call("GET", f"/v1/events/{event_id}/trace")["rules"]
    return next((int(rule["version"]) for rule in rules if rule["rule"] == RULE), 0)


def main() -> None:
    arguments.parser(__doc__).parse_args()
    show(__doc__, run())


if __name__ == "__main__":
    main()
