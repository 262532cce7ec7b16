#!/bin/sh
# Begin as root, own the volume, go on as `postgres`; make the database where there is none, then be the server.
set -eu

if [ "$(id -u)" = 0 ]; then
    mkdir -p "$PGDATA"
    chown -R postgres:postgres "$PGDATA"
    chmod 700 "$PGDATA"
    exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi

if [ ! -s "$PGDATA/PG_VERSION" ]; then
    secret=$(mktemp)
    printf '%s' "$POSTGRES_PASSWORD" > "$secret"
    initdb --pgdata "$PGDATA" --username "$POSTGRES_USER" --pwfile "$secret" --auth-host scram-sha-256 --encoding UTF8 \
        --locale C --locale-provider builtin --builtin-locale C.UTF-8
    rm "$secret"
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl --pgdata "$PGDATA" --wait --options "-c listen_addresses=''" start
    [ "$POSTGRES_DB" = postgres ] || createdb --username "$POSTGRES_USER" "$POSTGRES_DB"
    pg_ctl --pgdata "$PGDATA" --wait --mode fast stop
fi

exec "$@" -c "listen_addresses=*"
