"""The baton: one thread computes, and whoever waits for something else passes it on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.baton import Baton
from tests.patience import wait_until

SOON = 5.0


class Runner:
    """Threads that carry a baton, and who carried it when."""

    def __init__(self, baton: Baton) -> None:
        self.baton = baton
        self.said: list[str] = []
        self._threads: list[threading.Thread] = []

    def start(self, work: Callable[[], object], tenant_id: str = "") -> None:
        """Start a thread, and wait until it carries the baton or waits for it."""
        waiting = starting(self.baton)
        begun = threading.Event()

        def run() -> None:
            with self.baton.carried(tenant_id):
                begun.set()
                work()

        self._threads.append(threading.Thread(target=run))
        self._threads[-1].start()
        wait_until(lambda: begun.is_set() or starting(self.baton) != waiting, every=0.001)

    def join(self) -> None:
        for one in self._threads:
            one.join(SOON)
            assert not one.is_alive()


def starting(baton: Baton) -> int:
    """Return how many threads wait to begin."""
    return sum(len(line.starting) for line in baton._lines.values())


def test_it_is_passed_on_in_the_order_in_which_it_was_asked_for() -> None:
    runner, gate = Runner(Baton(SOON)), threading.Event()
    runner.start(lambda: gate.wait(SOON))
    for n in range(5):
        runner.start(lambda n=n: runner.said.append(str(n)))  # type: ignore[misc]
    assert runner.said == []
    gate.set()
    runner.join()
    assert runner.said == list("01234")
    assert not runner.baton._taken


def test_who_waits_for_something_else_passes_it_on_and_gets_it_back() -> None:
    runner, away, back = Runner(Baton(SOON)), threading.Event(), threading.Event()

    def first() -> None:
        with runner.baton.passed_on():
            away.set()
            back.wait(SOON)
        runner.said.append("first")

    def second() -> None:
        assert away.wait(SOON)
        runner.said.append("second")
        back.set()
        time.sleep(0.02)
        runner.said.append("second, still")

    runner.start(first)
    runner.start(second)
    runner.join()
    assert runner.said == ["second", "second, still", "first"]


def test_what_has_begun_goes_on_before_what_begins() -> None:
    runner, away, back, gate = Runner(Baton(SOON)), threading.Event(), threading.Event(), threading.Event()

    def begun() -> None:
        with runner.baton.passed_on():
            away.set()
            back.wait(SOON)
        runner.said.append("begun")

    def between() -> None:
        assert away.wait(SOON)
        gate.wait(SOON)
        runner.said.append("between")

    runner.start(begun)
    runner.start(between)
    runner.start(lambda: runner.said.append("begins"))
    back.set()
    wait_until(lambda: bool(runner.baton._lines[""].returning), every=0.001)
    gate.set()
    runner.join()
    assert runner.said == ["between", "begun", "begins"]


def test_who_does_not_carry_it_waits_for_nobody() -> None:
    runner, gate = Runner(Baton(SOON)), threading.Event()
    runner.start(lambda: gate.wait(SOON))
    with runner.baton.passed_on(), runner.baton.passed_on():
        assert runner.baton._taken
    gate.set()
    runner.join()


def test_after_a_while_a_thread_goes_on_without_it() -> None:
    runner, gate = Runner(Baton(0.05)), threading.Event()
    runner.start(lambda: gate.wait(SOON))
    with runner.baton.carried():
        assert not runner.baton._mine.is_carried
        with runner.baton.passed_on():
            assert runner.baton._taken, "it is not its own to pass on"
    gate.set()
    runner.join()
    with runner.baton.carried():
        assert runner.baton._mine.is_carried


def test_an_error_passes_it_on() -> None:
    baton = Baton(SOON)
    with baton.carried():
        with pytest.raises(KeyError), baton.passed_on():
            raise KeyError
        assert baton._mine.is_carried
    with pytest.raises(KeyError), baton.carried():
        raise KeyError
    assert not baton._taken


def test_who_waits_for_a_lock_lets_its_holder_go_on() -> None:
    runner, lock, held = Runner(Baton(SOON)), threading.Lock(), threading.Event()

    def holder() -> None:
        with runner.baton.holding(lock):
            with runner.baton.passed_on():
                held.set()
                time.sleep(0.05)  # The other has the baton now, and wants the lock.
            runner.said.append("holder")

    def other() -> None:
        assert held.wait(SOON)
        with runner.baton.holding(lock):
            runner.said.append("other")

    runner.start(holder)
    runner.start(other)
    began = time.monotonic()
    runner.join()
    assert runner.said == ["holder", "other"]
    assert time.monotonic() - began < SOON / 2, "nobody lost patience"
    assert not lock.locked()


def test_many_threads_never_compute_two_at_a_time() -> None:
    baton, computing, most = Baton(SOON), 0, 0

    def work(_: int) -> None:
        nonlocal computing, most
        with baton.carried():
            for _ in range(20):
                computing += 1
                most = max(most, computing)
                time.sleep(0)
                computing -= 1
                with baton.passed_on():
                    time.sleep(0)

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(work, range(48)))
    assert most == 1
    assert not baton._taken
    assert not any(baton._lines.values())


def test_a_long_computation_gives_way_to_who_waits_and_goes_on() -> None:
    runner, told, may_end = Runner(Baton(SOON)), threading.Event(), threading.Event()

    def long() -> None:
        runner.said.append("long begins")
        told.wait(SOON)
        runner.baton.give_way()
        runner.said.append("long ends")

    runner.start(long)
    runner.start(lambda: (runner.said.append("short"), may_end.set()))
    told.set()
    runner.join()
    assert runner.said == ["long begins", "short", "long ends"]
    assert may_end.is_set()


def test_a_tenant_that_has_computed_little_goes_before_the_many_threads_of_another() -> None:
    runner, gate = Runner(Baton(SOON)), threading.Event()
    runner.start(lambda: gate.wait(SOON), "noisy")
    for n in range(5):
        runner.start(lambda n=n: runner.said.append(f"noisy {n}"), "noisy")  # type: ignore[misc]
    runner.start(lambda: runner.said.append("quiet"), "quiet")
    gate.set()
    runner.join()
    assert runner.said == ["quiet", *(f"noisy {n}" for n in range(5))]


def test_even_before_those_that_have_begun() -> None:
    runner, away, back, gate = Runner(Baton(SOON)), threading.Event(), threading.Event(), threading.Event()

    def begun() -> None:
        with runner.baton.passed_on():
            away.set()
            back.wait(SOON)
        runner.said.append("noisy")

    def between() -> None:
        assert away.wait(SOON)
        gate.wait(SOON)

    runner.start(begun, "noisy")
    runner.start(between, "noisy")
    runner.start(lambda: runner.said.append("quiet"), "quiet")
    back.set()
    wait_until(lambda: bool(runner.baton._lines["noisy"].returning), every=0.001)
    gate.set()
    runner.join()
    assert runner.said == ["quiet", "noisy"]


def test_tenants_that_all_want_to_compute_get_equal_time() -> None:
    baton, spent, over = Baton(SOON), {"long": 0.0, "short": 0.0}, threading.Event()

    def work(tenant_id: str, seconds: float) -> None:
        with baton.carried(tenant_id):
            while not over.is_set():
                time.sleep(seconds)
                spent[tenant_id] += seconds
                baton.give_way()

    with ThreadPoolExecutor(8) as pool:
        for _ in range(4):
            pool.submit(work, "long", 0.02)
            pool.submit(work, "short", 0.004)
        wait_until(lambda: sum(spent.values()) > 0.8, every=0.01)
        over.set()
    assert 0.5 < spent["long"] / spent["short"] < 2


def test_it_remembers_no_tenant_that_is_gone() -> None:
    baton = Baton(SOON)
    with baton.carried("here"):
        assert baton.tenant == "here"
    for n in range(10):
        with baton.carried(f"{n}"):
            pass
    assert len(baton._lines) <= 1
    assert baton.tenant == ""
