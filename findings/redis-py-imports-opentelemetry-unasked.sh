#!/usr/bin/env bash
# redis-py 8.1.0: a bare "import redis" imports opentelemetry.sdk.metrics wherever opentelemetry-sdk (1.45.2) is
# installed for whatever reason, although no telemetry was configured and redis[otel] was not chosen.
# Seen: 0 modules of opentelemetry without the SDK in the environment, 61 with it; "import redis" took 0.22 s instead of
# 0.16 s, and the peak of memory was 2 MiB higher (median of three, Python 3.11).
# Expected: the SDK is imported when observability is switched on. It matters because every process that talks to Redis
# pays for it: commands with each start, workers with memory, also where the SDK was installed for traces alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

modules() { # modules NAME PACKAGE…: whether opentelemetry and its metrics are loaded, and how many modules that are
    python3 -m venv "$folder/$1"
    "$folder/$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
    "$folder/$1/bin/python" - <<'PY'
import sys

import redis

loaded = [name for name in sys.modules if name.split(".")[0] == "opentelemetry"]
print(len(loaded) > 0, "opentelemetry.sdk.metrics" in loaded, len(loaded))
PY
}

without=$(modules without "redis==8.1.0")
with=$(modules with "redis==8.1.0" "opentelemetry-sdk==1.45.2")
echo "loaded, metrics loaded, modules: without the SDK: $without; with the SDK: $with"
[[ $without == "False False 0" && $with == "True True "* ]] || { echo "the behaviour has changed"; exit 1; }
echo "as described: import redis imports opentelemetry's metrics where the SDK is installed"
