#!/bin/sh
# Begin as root, own the volume, go on as `rabbitmq`, with the user and the password of the environment.
set -eu

if [ "$(id -u)" = 0 ]; then
    chown -R rabbitmq:rabbitmq /var/lib/rabbitmq
    exec setpriv --reuid=rabbitmq --regid=rabbitmq --clear-groups "$0" "$@"
fi

umask 077
printf 'default_user = %s\ndefault_pass = %s\n' "$RABBITMQ_DEFAULT_USER" "$RABBITMQ_DEFAULT_PASS" > /tmp/rabbitmq.conf
export HOME=/var/lib/rabbitmq RABBITMQ_CONFIG_FILE=/tmp/rabbitmq RABBITMQ_LOGS=-
exec "$@"
