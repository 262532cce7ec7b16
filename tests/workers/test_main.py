"""`python -m workers`, before it does any work."""

from __future__ import annotations

import os
import subprocess
import sys


def test_a_worker_that_would_show_zeros_for_what_its_children_count_does_not_start(root):
    environment = {name: value for name, value in os.environ.items() if name != "PROMETHEUS_MULTIPROC_DIR"}
    done = subprocess.run(
        [sys.executable, "-m", "workers", "worker", "--queue", "io"],
        env=environment | {"IMPRINT_METRICS_PORT": "9070"},
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "PROMETHEUS_MULTIPROC_DIR names no folder" in done.stderr
    assert len(done.stderr.splitlines()) == 1
