#!/bin/sh
# Run a server as `valkey`, which owns its volume; anything else as it is.
set -eu

if [ "$1" = valkey-server ] && [ "$(id -u)" = 0 ]; then
    chown -R valkey:valkey .
    exec setpriv --reuid=valkey --regid=valkey --clear-groups "$0" "$@"
fi

exec "$@"
