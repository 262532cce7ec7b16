"""The memory core: everything that is stored, and the vocabulary shared by all packages."""

from __future__ import annotations

import os

# Before NumPy is loaded: several processes share few cores, and BLAS threads that fight over them make one short
# text wait ten times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# onnxruntime sends facts about models and machine to its maker, unless this is set before it is imported.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
