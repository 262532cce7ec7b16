"""`imprint import` of an archive of Imprint: report, upload in parts, and the progress of the workers."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import IO, Final

from api.cli import progress
from api.cli.client import Client, patiently
from core.errors import ImprintError, Problem
from core.transfer import archive_reader
from core.transfer.archive_reader import ArchiveReader
from core.transfer.report import Report
from core.types import Json

POLL_SECONDS: Final = 0.3

OPEN: Final = frozenset({"pending", "running"})


class Unrestored(ImprintError, kind="Not restored"):
    """The archive was not restored."""


def is_archive(path: Path) -> bool:
    """Return whether a path is an archive that `imprint user export` has written."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return archive_reader.is_archive(file)


def report(path: Path) -> Report:
    """Read and check an archive as a whole. Invalid, Unreadable: something in it is wrong."""
    with path.open("rb") as file:
        return Report.of_archive(ArchiveReader(file, path.name))


def restore(client: Client, path: Path, user: str, timeout: float) -> Json:
    """Upload an archive and follow the workers until it is restored; return the import.

    An upload that was interrupted goes on where it stopped. Unrestored: the server refused it, it was cancelled, or it
    is not restored within `timeout` seconds.
    """
    with path.open("rb") as file, progress.bar() as bar:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        request = {"user_id": user, "size": path.stat().st_size, "sha256": digest}
        job: Json = client.post("/v1/imports", request)
        task = bar.add_task("uploading", total=len(job["missing"]))
        for number in job["missing"]:
            _put(client, job, number, file)
            bar.advance(task)
        job = client.post(f"/v1/imports/{job['id']}/start", None)
        bar.update(task, description="restoring", completed=0, total=None)
        end = time.monotonic() + timeout
        while job["status"] in OPEN and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
            job = client.get(f"/v1/imports/{job['id']}")
            if job["progress"]:
                bar.update(task, completed=job["progress"]["done"], total=job["progress"]["lines"])
    if job["status"] != "done":
        raise _unrestored(job)
    return job


def _put(client: Client, job: Json, number: int, file: IO[bytes]) -> None:
    """Send a part; wait for as long as a busy server asks."""
    file.seek(number * job["part_bytes"])
    data = file.read(job["part_bytes"])
    patiently(lambda: client.put_bytes(f"/v1/imports/{job['id']}/parts/{number}", data))


def _unrestored(job: Json) -> Unrestored:
    if job["status"] in OPEN:
        state = f"is still {job['status']}; `GET /v1/imports/{job['id']}` says how far it is. Are the workers running?"
        return Unrestored(f"Import {job['id']} {state}")
    problems = [Problem(**problem) for problem in job["error"] or ()]
    details = "\n".join(f"  {problem.pointer or '/'}: {problem.detail}" for problem in problems)
    begun = sum(job["report"].get("restored", {}).values())
    stays = f" {begun} lines had been restored and stay." if begun else " Nothing was changed."
    return Unrestored(f"Import {job['id']} {job['status']}.{stays}\n{details}".rstrip())
