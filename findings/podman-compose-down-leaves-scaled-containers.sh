#!/usr/bin/env bash
# podman-compose 1.6.0 with podman 4.3.1 of Debian 12: "down" after "up --scale work=3" removes the first container of
# the service and leaves the others running. It ends with 0; a pod that cannot be removed is the only hint it writes.
# Seen: work_1, work_2, work_3 after "up"; work_2 and work_3, running, after "down"; none after "down --remove-orphans".
# Expected: what the reference of Compose says of "down": all containers of services that are in the file. These are no
# orphans, and "down" takes no --scale. It matters because workers that were scaled up go on taking work, with the old
# image and settings, after their stack was taken down.
# Needs root, apt and Debian 12; installs podman and runc where they are missing. Images and containers are its own.
set -euo pipefail
folder=$(mktemp -d)
export CONTAINERS_CONF=$folder/containers.conf CONTAINERS_STORAGE_CONF=$folder/storage.conf DISABLE_HC_SYSTEMD=true
clean() {
    podman pod rm --all --force --time 0 >/dev/null 2>&1 || true
    podman rm --all --force --time 0 >/dev/null 2>&1 || true
    rm -rf "$folder"
}
trap clean EXIT
cat >"$CONTAINERS_CONF" <<END
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]
[network]
network_config_dir = "$folder/networks"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
END
printf '[storage]\ndriver = "vfs"\ngraphroot = "%s/images"\nrunroot = "%s/run"\n' "$folder"{,} \
    >"$CONTAINERS_STORAGE_CONF"
dpkg -s podman runc >/dev/null 2>&1 || apt-get install -qq -y --no-install-recommends podman runc >/dev/null
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "podman-compose==1.6.0"
mkdir "$folder/garden" "$folder/networks"
cd "$folder/garden"
apt-get download -qq busybox-static 2>/dev/null
dpkg-deb -x busybox-static_*.deb tree
tar -C tree -c . | podman import --quiet - localhost/busybox >/dev/null
cat >compose.yaml <<END
services:
  work:
    image: localhost/busybox
    command: [/bin/busybox, sleep, "600"]
    stop_signal: SIGKILL
    network_mode: none
END
names() { podman ps --filter status=running --sort names --format '{{.Names}}' | xargs; }
compose() { "$folder/venv/bin/podman-compose" "$@" >>"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }; }

podman --version
compose up --detach --scale work=3
up=$(names)
compose down
down=$(names)
compose down --remove-orphans
echo "after up: $up; after down: $down; after down --remove-orphans: $(names)"
[[ "$up|$down|$(names)" == "garden_work_1 garden_work_2 garden_work_3|garden_work_2 garden_work_3|" ]] ||
    { echo "the behaviour has changed"; exit 1; }
echo "as described: down leaves the containers that --scale made"
