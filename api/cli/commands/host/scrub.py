"""Progress and result of scrubbing on the command line."""

from __future__ import annotations

from api.terminal import err
from core.config import Settings
from core.erasure import scrub
from core.erasure.scrub import ScrubResult

MEBIBYTE = 1024 * 1024


def scrub_all(settings: Settings) -> ScrubResult:
    """Have all files rewritten, reporting each step and what could not be done."""
    with err.status("Scrubbing …") as status:
        done = scrub.run(settings, lambda step: status.update(f"Scrubbing: {step} …"))
    before, after = done.bytes_before / MEBIBYTE, done.bytes_after / MEBIBYTE
    err.print(f"{done.tables} tables rewritten, {before:,.0f} → {after:,.0f} MiB.", highlight=False)
    for note in done.notes:
        err.print(note, highlight=False)
    return done
