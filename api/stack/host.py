"""Facts about the machine: the wheels' programs, memory, shared memory, and a user for PostgreSQL."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from api.stack.process import OsAccount
from core.errors import Misconfigured

MEBIBYTE = 1024 * 1024
FREE_DISK_BYTES = 200 * MEBIBYTE
ROOMY_SHARED_MEMORY_BYTES = 1024 * MEBIBYTE
SMALL_CACHE_MEBIBYTES = 128


def packaged_program(package: str, pattern: str) -> Path:
    """Return a program in an installed wheel, without importing the wheel.

    Raises:
        Misconfigured: the wheel is not installed or has no programs for this machine.
    """
    spec = importlib.util.find_spec(package)
    folders: Sequence[str] = (spec.submodule_search_locations or []) if spec else []
    programs = [path for folder in folders for path in sorted(Path(folder).glob(pattern))]
    if not programs:
        raise Misconfigured(
            f"{package} is not installed for this machine. Install `imprint-service[local]`, "
            "or set IMPRINT_DATABASE_URL and IMPRINT_BROKER_URL to your own servers."
        )
    return programs[0].resolve()


def account_for(data: Path, *paths: Path) -> OsAccount | None:
    """Return the user for PostgreSQL, which refuses to run as root; None unless run by root.

    It is the owner of `data` if that exists. If one of `paths` is in a folder closed to others, the user keeps the
    right to traverse it.

    Raises:
        Misconfigured: there is no such user.
    """
    if os.geteuid() != 0:
        return None
    passage = not all(_open_to_others(path) for path in paths)
    if data.exists() and data.stat().st_uid != 0:
        return OsAccount(data.stat().st_uid, data.stat().st_gid, passage)
    user = _first_user("postgres", "nobody")
    return OsAccount(user.pw_uid, user.pw_gid, passage)


def server_env() -> Mapping[str, str]:
    """Return the environment without variables that would mislead a server (PGPORT, LC_ALL of a missing locale …)."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}


def check_free_disk(home: Path) -> None:
    """Refuse to start if the disk is nearly full.

    Raises:
        Misconfigured: less than 200 MB are free.
    """
    free = shutil.disk_usage(home).free
    if free < FREE_DISK_BYTES:
        raise Misconfigured(
            f"disk full: {free // MEBIBYTE} MB are free under {home}, at least {FREE_DISK_BYTES // MEBIBYTE} MB are "
            "needed. Free some space or set IMPRINT_HOME to another disk."
        )


def memory_settings(*, small: bool = False) -> dict[str, str]:
    """Return memory settings of PostgreSQL that leave most of the machine to others.

    An HNSW index is built fast while it fits into `maintenance_work_mem`. Descriptors of buffers alone take 13 MB for
    each GB, used or not; `small`: what is read twice comes from the operating system's cache.
    """
    memory = _memory_bytes()
    roomy = _shared_memory_bytes() >= ROOMY_SHARED_MEMORY_BYTES
    return {
        "shared_buffers": f"{_between(64, memory // 16 // MEBIBYTE, SMALL_CACHE_MEBIBYTES if small else 1024)}MB",
        "maintenance_work_mem": f"{_between(64, memory // 32 // MEBIBYTE, 512)}MB",
        "effective_cache_size": f"{_between(128, memory // 2 // MEBIBYTE, 65536)}MB",
        "dynamic_shared_memory_type": "posix" if roomy else "mmap",
    }


def _first_user(*names: str) -> pwd.struct_passwd:
    users = {user.pw_name: user for user in pwd.getpwall()}
    for name in names:
        if name in users:
            return users[name]
    raise Misconfigured(f"PostgreSQL does not run as root and there is no user {' or '.join(names)} to run it as.")


def _open_to_others(path: Path) -> bool:
    """Return whether any user may traverse the folders to `path`."""
    real = path.resolve()
    return all(folder.stat().st_mode & 0o001 for folder in (real, *real.parents))


def _between(least: int, value: int, most: int) -> int:
    return max(least, min(value, most))


def _memory_bytes() -> int:
    """Return the machine's memory, or the container's limit if lower."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.exists() else "max"
    return memory if text == "max" else min(memory, int(text))


def _shared_memory_bytes() -> int:
    """Return the size of /dev/shm; in containers often 64 MB, in which a parallel index build fails."""
    shared = Path("/dev/shm")  # noqa: S108 - only measured
    return shutil.disk_usage(shared).total if shared.exists() else ROOMY_SHARED_MEMORY_BYTES
