"""Write the gate's files anew: the vectors of all its texts, by the local model, and the rows measured with them.

    python -m tests.retrieval.rewrite

Needed where a conversation, a question or what is drawn from them changed, and where a better ranking is to be held.
It prints each total as it was and as it is; what became of each question stands in the diff of `rows.md`.
"""  # fmt: skip

from __future__ import annotations

import logging
import sys
import tempfile
from pathlib import Path

import structlog

from api.stack.postgres import Postgres
from core.config import Settings
from core.inference.local_embedder import LocalEmbedder
from tests.retrieval import replay, rows, talks, vectors


def main() -> None:
    """Replay all with the model, and write down what it made and what was found."""
    old = rows.read(rows.FILE.read_text(encoding="utf-8")) if rows.FILE.exists() else []
    recording = vectors.Recording(LocalEmbedder())
    with tempfile.TemporaryDirectory(prefix="imprint-gate-") as folder:
        postgres = Postgres(Path(folder), durable=False)
        postgres.start()
        try:
            own = Settings(home=Path(folder), database_url=postgres.url, embedding="hash", metrics_port=0)
            with replay.told(own, recording, talks.talks()) as told:
                new = told.rows()
        finally:
            postgres.stop()
    vectors.save(recording.vectors, vectors.FILE)
    rows.FILE.write_text(rows.written(new), encoding="utf-8")
    was = rows.totals(old) if old else {}
    for name, value in rows.totals(new).items():
        sys.stdout.write(f"{name:8} {was.get(name, 0.0):.3f} → {value:.3f}\n")
    size = vectors.FILE.stat().st_size
    sys.stdout.write(f"{len(new)} questions, {len(recording.vectors)} vectors, {size / 1000:.0f} kB\n")


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    main()
