"""Scrubbing from the command line: what is being done, and what came of it."""

from __future__ import annotations

from api.terminal import err
from core.config import Settings
from core.erasure import scrub
from core.erasure.scrub import ScrubResult

MEBIBYTE = 1024 * 1024


def scrub_all(settings: Settings) -> ScrubResult:
    """Have all files written anew, telling of each step; what could not be done is said."""
    with err.status("Scrubbing …") as status:
        done = scrub.run(settings, lambda step: status.update(f"Scrubbing: {step} …"))
    before, after = done.bytes_before / MEBIBYTE, done.bytes_after / MEBIBYTE
    err.print(f"{done.tables} tables written anew, {before:,.0f} → {after:,.0f} MiB.", highlight=False)
    for note in done.notes:
        err.print(note, highlight=False)
    return done
