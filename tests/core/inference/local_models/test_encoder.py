from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.inference.local_models.encoder import BATCH_TOKENS, batches, pad


def test_batches_hold_every_text_once_and_stay_within_the_limit() -> None:
    lengths = [3, 200, 17, 256, 256, 4, 4, 90] * 9
    found = batches(lengths)
    assert sorted(at for batch in found for at in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[at] for at in batch) <= BATCH_TOKENS for batch in found)


def test_padding_makes_a_rectangle_and_marks_the_tokens() -> None:
    ids, present = pad([[5, 6, 7], [8]])
    np.testing.assert_array_equal(ids, [[5, 6, 7], [8, 0, 0]])
    np.testing.assert_array_equal(present, [[True, True, True], [True, False, False]])


EMBED = """
import os, time
from core.inference.local_embedder import LocalEmbedder
LocalEmbedder().embed(["Is anybody there?"])
time.sleep(0.5)
links = [os.readlink(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")[:-1]]
print(sum(one.startswith("socket:") for one in links))
"""


@pytest.mark.parametrize("asked", [None, "0"])
def test_a_model_writes_no_file_and_opens_no_connection(tmp_path: Path, root: Path, asked: str | None) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    env = {name: value for name, value in env.items() if name not in {"CI", "ORT_DISABLE_TELEMETRY"}}
    env |= {} if asked is None else {"ORT_DISABLE_TELEMETRY": asked}
    done = subprocess.run(
        [sys.executable, "-c", EMBED], env=env, cwd=root, capture_output=True, text=True, check=False, timeout=100
    )
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
    assert list(tmp_path.iterdir()) == []
