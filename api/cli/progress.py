"""Progress of work that the service does: a bar, and following a job until it has ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from api.cli.client import Client
from api.terminal import err
from core.errors import ImprintError
from core.types import Json

POLL_SECONDS: Final = 0.5


class JobStopped(ImprintError):
    """The job stands still."""


def bar(*, quiet: bool = False) -> Progress:
    """Return a bar with a number; `quiet`: it is not shown."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(SpinnerColumn(), *columns, console=err, transient=True, disable=quiet)


def follow(client: Client, path: str, job: Json, what: str, title: str, parts: Sequence[str], *, quiet: bool) -> Json:
    """Wait until a job has ended; show how much of it is done. Stopped: nothing goes on by itself.

    `parts`: fields of the job, the first its size, the others what is done of it.
    """
    size, *done = parts
    with bar(quiet=quiet) as progress:
        task = progress.add_task(title, total=job[size])
        while job["status"] == "running":
            if job["error"]:
                raise JobStopped(f"The {what} {job['id']} stands still: {job['error']}")
            progress.update(task, completed=sum(job[name] for name in done))
            time.sleep(POLL_SECONDS)
            job = client.get(f"{path}/{job['id']}")
    return job
