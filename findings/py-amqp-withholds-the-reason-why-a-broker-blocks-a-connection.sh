#!/usr/bin/env bash
# py-amqp 5.4.2, the client under kombu and Celery: RabbitMQ's method connection.blocked (10, 60) carries the reason as a
# short string, "low on memory" or "low on disk". The method is declared without arguments, so the reason is not read,
# and every callback on_blocked gets the same words: "connection blocked, see broker logs".
# Seen: "broker said 'low on disk', the callback was told 'connection blocked, see broker logs'".
# Expected: the callback gets the broker's reason. It matters because a program that reports the reason to an operator
# cannot: full disks and full memory need different hands, and the broker's logs are often on another machine.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "amqp==5.4.2"
"$folder/venv/bin/python" - <<'PY'
import amqp
from amqp import serialization, spec

told = []
connection = amqp.Connection(on_blocked=told.append)
frames = {reason: serialization.dumps("s", [reason]) for reason in ("low on disk", "low on memory")}
for payload in frames.values():
    connection.dispatch_method(spec.Connection.Blocked, payload, None)
print(f"broker said {list(frames)[0]!r}, the callback was told {told[0]!r}")
assert told == ["connection blocked, see broker logs"] * 2, "the behaviour has changed"
PY
echo "as described: the reason of connection.blocked does not reach the callback"
