"""Commits and history purge."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

import structlog

from core.mirror.files import PRIVATE_FILE, make_private
from core.mirror.markdown import FILES

log = structlog.get_logger()

AUTHOR: Final = ("Imprint", "imprint@localhost")

SECONDS: Final = 60
"""Longest run of one git command; one that hangs must not hold a worker."""

UMASK: Final = 0o077
"""Umask of git: files are readable only by their owner, unless the repository is configured to be shared."""

MARK: Final = "imprint.mirror"
"""Git setting of repositories created for the mirror, whose history may be rewritten."""

_UNFINISHED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")

_OPTIONS = (
    *("-c", f"user.name={AUTHOR[0]}", "-c", f"user.email={AUTHOR[1]}"),
    *("-c", "commit.gpgSign=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.quotePath=false"),
    *("-c", "core.autocrlf=false", "-c", "gc.autoDetach=false"),
)

History = Literal["none", "purged", "kept"]


class GitFailed(Exception):
    """A git command failed."""


def commit(root: Path, folder: Path, message: str) -> bool:
    """Commit the changes in a user's folder, and nothing else; return whether there were any.

    During a merge or rebase nothing is done: the next sync commits everything.
    """
    _ensure(root)
    with _alone(root) as inside:
        if any((inside / name).exists() for name in _UNFINISHED):
            log.warning("mirror.git_busy", root=str(root))
            return False
        paths = [_path(root, folder / file) for file in FILES if _concerns(root, folder / file)]
        if not paths:
            return False
        _git(root, "add", "--all", "--force", "--", *paths)
        if not _git(root, "diff", "--cached", "--name-only", "-z", "--", *paths):
            return False
        _git(root, "commit", "--quiet", "--no-verify", "--message", message, "--only", "--", *paths)
        return True


def _concerns(root: Path, path: Path) -> bool:
    """Return whether such a file exists, or did in the last commit."""
    return path.exists() or bool(_git(root, "ls-files", "-z", "--", _path(root, path)))


def purge(root: Path, folder: Path) -> History:
    """Remove a user's folder from every commit; the folder itself is left alone.

    Kept: the repository belongs to someone else, or has remotes, and their copies cannot be removed from here.
    """
    if not _is_repository(root):
        return "none"
    with _alone(root):
        path = _path(root, folder)
        if not _git(root, "rev-list", "--all", "--max-count=1", "--", path):
            return "none"
        if not _is_ours(root):
            return "kept"
        before = _refs(root)
        _rewrite(root, folder)
        for name, commit_id in _refs(root).items():
            if before.get(name) == commit_id and _git(root, "rev-list", "--max-count=1", commit_id, "--", path):
                _git(root, "update-ref", "-d", name)
        _git(root, "rm", "-r", "--force", "--cached", "--quiet", "--ignore-unmatch", "--", path)
        for name in ("ORIG_HEAD", "FETCH_HEAD"):
            (_inside(root) / name).unlink(missing_ok=True)
        _git(root, "reflog", "expire", "--expire=now", "--all")
        _git(root, "gc", "--quiet", "--prune=now")
        return "purged"


def _rewrite(root: Path, folder: Path) -> None:
    """Rewrite every commit without the folder; commits that become empty are dropped."""
    others = (":/", f":(exclude,top,literal){folder.resolve().relative_to(_top(root))}")
    export = ["fast-export", "--all", "--signed-tags=strip", "--tag-of-filtered-object=drop", "--", *others]
    stream = _git(root, *export)
    _git(root, "fast-import", "--force", "--quiet", given=stream)


def _ensure(root: Path) -> None:
    """Return the repository that contains the folder; create one if there is none."""
    make_private(root)
    if not _is_repository(root):
        _git(root, "init", "--quiet")
        _git(root, "config", MARK, "true")


def _is_repository(root: Path) -> bool:
    return root.is_dir() and _run(root, "rev-parse", "--git-dir").returncode == 0


def _is_ours(root: Path) -> bool:
    mine = _run(root, "config", "--get", MARK).stdout.strip() == b"true"
    return mine and not _git(root, "remote")


def _inside(root: Path) -> Path:
    return Path(os.fsdecode(_git(root, "rev-parse", "--absolute-git-dir").rstrip(b"\n")))


def _top(root: Path) -> Path:
    return Path(os.fsdecode(_git(root, "rev-parse", "--show-toplevel").rstrip(b"\n")))


def _refs(root: Path) -> dict[str, str]:
    lines = _git(root, "for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines)


def _path(root: Path, folder: Path) -> str:
    return f":(literal){folder.relative_to(root)}"


@contextmanager
def _alone(root: Path) -> Iterator[Path]:
    """Allow one process of the service at a time in a repository; yields git's own folder."""
    inside = _inside(root)
    with os.fdopen(os.open(inside / "imprint.lock", os.O_WRONLY | os.O_CREAT, PRIVATE_FILE), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield inside


def _git(root: Path, *arguments: str, given: bytes | None = None) -> bytes:
    """Run a git command and return its output. GitFailed: it exited with an error."""
    done = _run(root, *arguments, given=given)
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip()
        raise GitFailed(f"git {arguments[0]}: {message or done.returncode}")
    return done.stdout


def _run(root: Path, *arguments: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    # The environment of the process must not lead to another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command: Sequence[str] = ["git", *_OPTIONS, *arguments]
    try:
        return subprocess.run(  # noqa: S603 - fixed words, and paths behind `--`
            command,
            cwd=root,
            env=environment,
            input=given or b"",
            capture_output=True,
            timeout=SECONDS,
            check=False,
            umask=UMASK,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitFailed(f"git {arguments[0]}: {error}") from None
