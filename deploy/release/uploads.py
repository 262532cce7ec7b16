"""Uploads a verified release."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from deploy.release import provenance
from deploy.release.failures import ReleaseFailed


def publish(folder: Path, key: Path) -> None:
    """Verify a folder and upload its packages; the indexes are those of twine's and npm's own settings.

    Raises ReleaseFailed: the folder does not verify, is of a snapshot, or an index refuses.
    """
    files = provenance.verified(folder, key)
    if provenance.tag_of(folder, key) is None:
        raise ReleaseFailed("A snapshot is not published. Build from a tag.")
    wheels = [str(folder / name) for name in files if name.endswith((".whl", ".tar.gz"))]
    _upload([sys.executable, "-m", "twine", "upload", "--non-interactive", *wheels])
    for tarball in (name for name in files if name.endswith(".tgz")):
        _upload(["npm", "publish", str(folder / tarball), "--access", "public"])


def _upload(command: list[str]) -> None:
    if code := subprocess.run(command, check=False).returncode:  # noqa: S603
        raise ReleaseFailed(f"{' '.join(command[:4])} … ended with {code}; what was uploaded before stays.")
