"""Launcher: take the lock, drop root, ask for a signal when the parent dies, then exec the command.

Run by path as a script, with the standard library alone, by `process.spawn`. It is a separate program because the
alternative, `preexec_fn`, runs Python between fork and exec and can hang in a process with threads.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import os
import platform
import sys
from collections.abc import Iterator

EXIT_LOCKED = 75
EXIT_ORPHAN = 76

# linux/prctl.h, linux/capability.h
PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
PR_SET_KEEPCAPS = 8
PR_SET_SECUREBITS = 28
SECBIT_NO_SETUID_FIXUP = 1 << 2
PR_SET_CHILD_SUBREAPER = 36
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
CAPABILITY_VERSION_3 = 0x20080522
CAP_DAC_OVERRIDE = 1
CAP_DAC_READ_SEARCH = 2


class _CapHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapData(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def main() -> None:
    """Parse the command line, prepare, and exec the command after `--`."""
    options = _arguments()
    try:
        hold(options.lock)
    except BlockingIOError:
        sys.stderr.write(f"FATAL: {options.lock} is held by a process that still runs\n")
        raise SystemExit(EXIT_LOCKED) from None
    if options.uid is not None:
        _become(options.uid, options.gid, passage=options.passage)
    if platform.system() == "Linux":
        die_with_parent(options.farewell, options.parent)
    os.execvp(options.command[0], options.command)  # noqa: S606 - the command is ours and needs no shell


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lock", required=True)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--farewell", type=int, required=True)
    parser.add_argument("--uid", type=int)
    parser.add_argument("--gid", type=int)
    parser.add_argument("--passage", action="store_true")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def hold(lock: str) -> int:
    """Hold the lock for as long as this process, or any process that inherits it, lives; return its descriptor.

    Raises:
        BlockingIOError: another process holds it.
    """
    fd = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise
    os.set_inheritable(fd, True)
    return fd


def _become(uid: int, gid: int, *, passage: bool) -> None:
    """Switch from root to `uid`; with `passage`, keep the right to traverse folders closed to others."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    if not passage:
        os.setresuid(uid, uid, uid)
        return
    # access(2) ignores the capabilities of all users but root otherwise, and initdb looks for its programs by it.
    with contextlib.suppress(OSError):
        _prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)
    _prctl(PR_SET_KEEPCAPS, 1)
    os.setresuid(uid, uid, uid)
    _keep_passage()


def _keep_passage() -> None:
    """Keep the weakest capability that opens folders; containers often grant only the second of the two."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = _CapHeader(CAPABILITY_VERSION_3, 0)
    for capability in (CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE):
        bit = 1 << capability
        data = (_CapData * 2)(_CapData(bit, bit, bit), _CapData(0, 0, 0))
        if libc.capset(ctypes.byref(header), data) == 0:
            _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)
            return
    sys.stderr.write("FATAL: root may not enter closed folders here, so PostgreSQL cannot be reached by its user\n")
    raise SystemExit(1)


def die_with_parent(signal_number: int, parent: int) -> None:
    """Ask for a signal when the parent ends; exit if it has ended already."""
    _prctl(PR_SET_PDEATHSIG, signal_number)
    if os.getppid() != parent:
        raise SystemExit(EXIT_ORPHAN)


@contextlib.contextmanager
def adopting() -> Iterator[None]:
    """Become the parent of descendants whose own parent ends meanwhile (Linux)."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        _prctl(PR_SET_CHILD_SUBREAPER, 0)


def name_process(name: str) -> None:
    """Set what the process is called where processes are listed (Linux; its first 15 characters)."""
    if platform.system() == "Linux":
        ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode()[:15], 0, 0, 0)


def _prctl(option: int, *arguments: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    values = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    if libc.prctl(ctypes.c_int(option), *values) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"prctl({option}): {os.strerror(code)}")


if __name__ == "__main__":
    main()
