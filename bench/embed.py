"""Local embeddings: time of a question, rate, start and memory of each model.

    python -m bench.embed [--texts 512]

Each model runs in a process of its own, so that its memory is its own. One thread embeds, then two at a time.
"""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from bench import arguments
from bench.stand import percentiles
from core.inference.local_embedder import LocalEmbedder
from core.inference.local_models.catalog import MODELS

QUESTIONS = 100
SUBJECTS = ("my sister", "our neighbour Ada", "the new doctor", "a colleague from Porto", "my old teacher")
ACTS = ("moved to Lisbon", "bought a bicycle", "started to paint", "found a job in a bakery", "adopted two cats")
TIMES = ("last May", "on Friday", "when it rained for a week", "after the long trip to the mountains in the north")


def sentences(count: int) -> list[str]:
    """Texts of 8 to 60 tokens, the same in every run."""
    digest = (hashlib.sha256(str(number).encode()).digest() for number in range(count))
    return [
        " ".join(
            f"I told you that {SUBJECTS[d[at] % 5]} {ACTS[d[at + 1] % 5]} {TIMES[d[at + 2] % 4]}."
            for at in range(0, 3 * (1 + d[9] % 3), 3)
        )
        for d in digest
    ]


def measure(name: str, texts: int) -> dict[str, float]:
    """Figures of one model, in this process."""
    began = time.perf_counter()
    model = LocalEmbedder(MODELS[name])
    model.embed_queries(["Is anybody there?"])
    ready = time.perf_counter() - began
    single = []
    for text in sentences(QUESTIONS):
        began = time.perf_counter()
        model.embed_queries([text.split(".")[0] + "?"])
        single.append(1000 * (time.perf_counter() - began))
    many = sentences(texts)
    began = time.perf_counter()
    model.embed(many)
    alone = time.perf_counter() - began
    parts = [many[at : at + 32] for at in range(0, texts, 32)]
    began = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(model.embed, parts))
    two = time.perf_counter() - began
    spread = percentiles(single)
    return {
        "ready_s": round(ready, 2),
        "question_ms_p50": round(spread["p50"], 1),
        "question_ms_p95": round(spread["p95"], 1),
        "texts_per_s_1_thread": round(texts / alone),
        "texts_per_s_2_threads": round(texts / two),
        "resident_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def main() -> None:
    """Measure every model and print one line each."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--texts", type=int, default=512)
    parser.add_argument("--only", choices=MODELS)
    parsed = parser.parse_args()
    if parsed.only:
        print(json.dumps(measure(parsed.only, parsed.texts)))
        return
    for name in ("english", "multilingual"):
        command = [sys.executable, "-m", "bench.embed", "--only", name, "--texts", str(parsed.texts)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"{name:12s} {done.stdout.strip()}")


if __name__ == "__main__":
    main()
