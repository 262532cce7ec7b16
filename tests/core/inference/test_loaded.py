"""Models are read when they are first used, once, and freed when they are idle."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from core.inference import loaded
from core.inference.loaded import Loaded


class Loader:
    """Counts how often a model is read."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> object:
        self.times += 1
        return object()


def test_a_model_is_read_once_by_many_threads() -> None:
    load = Loader()
    model = Loaded(load)
    assert load.times == 0
    with ThreadPoolExecutor(8) as pool:
        models = set(pool.map(lambda _: model.get(), range(100)))
    assert (load.times, len(models)) == (1, 1)


def test_a_sweep_frees_what_was_not_used_for_a_while_and_nothing_else() -> None:
    load_idle, load_used = Loader(), Loader()
    idle, used = Loaded(load_idle, idle_seconds=1e-9), Loaded(load_used, idle_seconds=600)
    for model in (idle, used):
        model.get()
    loaded.sweep()
    for model in (idle, used):
        model.get()
    assert (load_idle.times, load_used.times) == (2, 1)


def test_a_model_without_an_idle_time_stays() -> None:
    load = Loader()
    model = Loaded(load, idle_seconds=0)
    first = model.get()
    loaded.sweep()
    assert model.get() is first
