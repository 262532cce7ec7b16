"""The simulated flow control: on the same moments it does what the stages do, and what the database does."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rules.document.timing import Flow
from rules.flow.simulation import PRUNED_FROM, SimulatedOutcome, Simulation
from rules.flow.stages import STAGES, Burst, StageResult, StageState, push, release
from tests.rules.samples import NOON, a_rule

QUIET = {"debounce": {"seconds": 30}}


def flow(**parts: Any) -> Flow:
    return a_rule(flow=parts).flow


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def keys(key: str = "k") -> dict[str, str]:
    return dict.fromkeys(STAGES, key)


def run(parts: dict[str, Any], *seconds: float, until: float = 1e6) -> list[tuple[float, str | None, list[int]]]:
    """One match a second named, all of one key; what became of them."""
    simulated = Simulation(flow(**parts))
    outcomes: list[SimulatedOutcome] = []
    for seq, at in enumerate(seconds, start=1):
        outcomes += simulated.advance(after(at))
        outcomes += simulated.push(seq, keys(), after(at))
    outcomes += simulated.advance(after(until))
    return [((one.at - NOON).total_seconds(), one.held_by, list(one.seqs)) for one in outcomes]


def test_without_flow_every_match_acts_at_once() -> None:
    assert run({}, 0, 1) == [(0, None, [1]), (1, None, [2])]


def test_a_debounce_goes_on_when_it_is_due_even_if_nothing_else_happens() -> None:
    assert run(QUIET, 0, 20) == [(50, None, [1, 2])]


def test_a_debounce_goes_on_before_a_later_match_comes() -> None:
    assert run(QUIET, 0, 40) == [(30, None, [1]), (70, None, [2])]


def test_what_is_not_due_by_the_end_stays_open() -> None:
    simulated = Simulation(flow(**QUIET))
    simulated.push(1, keys(), after(0))
    assert simulated.advance(after(29.9)) == []
    assert (simulated.open, simulated.gathered, simulated.tails()) == (1, 1, {1})
    assert len(simulated.advance(after(30))) == 1
    assert (simulated.open, simulated.tails()) == (0, set())


def test_a_flush_ends_one_wait_and_no_other() -> None:
    simulated = Simulation(flow(**QUIET))
    simulated.push(1, keys("a"), after(0))
    simulated.push(2, keys("b"), after(0))
    assert simulated.flush("a", after(3)) == [SimulatedOutcome(after(3), None, (1,))]
    assert simulated.flush("a", after(4)) == []
    assert [one.seqs for one in simulated.advance(after(99))] == [(2,)]


def test_a_wait_that_was_ended_may_begin_again() -> None:
    simulated = Simulation(flow(**QUIET))
    simulated.push(1, keys(), after(0))
    simulated.flush("k", after(1))
    simulated.push(2, keys(), after(10))
    assert simulated.advance(after(39)) == []
    assert [one.at for one in simulated.advance(after(60))] == [after(40)]


def test_what_a_debounce_lets_go_passes_the_later_stages_of_its_last_match() -> None:
    simulated = Simulation(flow(**QUIET, cooldown={"seconds": 100, "key": ["payload.user_id"]}))
    simulated.push(1, {"debounce": "a", "cooldown": "ada"}, after(0))
    simulated.push(2, {"debounce": "a", "cooldown": "bob"}, after(1))
    simulated.push(3, {"debounce": "b", "cooldown": "bob"}, after(2))
    told = [(one.held_by, one.seqs) for one in simulated.advance(after(99))]
    assert told == [(None, (1, 2)), ("cooldown", (3,))]


def test_several_that_are_due_go_on_in_the_order_of_time_and_not_of_their_first_match() -> None:
    simulated = Simulation(flow(**QUIET, throttle={"limit": 1, "per_seconds": 100, "key": ["source"]}))
    for seq, (key, at) in enumerate([("a", 0), ("b", 5), ("a", 25)], start=1):
        simulated.push(seq, {"debounce": key, "throttle": "one"}, after(at))
    told = [(one.seqs, one.held_by) for one in simulated.advance(after(99))]
    assert told == [((2,), None), ((1, 3), "throttle")]


def test_a_count_ends_with_the_last_in_the_log_whichever_came_to_it_last() -> None:
    simulated = Simulation(flow(debounce={"seconds": 9, "max_events": 2}, count={"threshold": 3, "key": ["source"]}))
    outcomes = []
    for seq, key in enumerate("abb", start=1):
        outcomes += simulated.push(seq, {"debounce": key, "count": "one"}, after(0))
    assert (outcomes, simulated.tails()) == ([], {1, 3})
    assert simulated.advance(after(9)) == [SimulatedOutcome(after(9), None, (1, 2, 3))]


def test_states_that_mean_nothing_any_more_are_forgotten() -> None:
    simulated = Simulation(flow(cooldown={"seconds": 10}))
    for seq in range(5 * PRUNED_FROM):
        simulated.push(seq, keys(f"k{seq}"), after(seq))
    assert len(simulated._states) <= PRUNED_FROM


def test_a_key_that_waits_again_and_again_is_queued_once() -> None:
    simulated = Simulation(flow(debounce={"seconds": 3600, "max_events": 2}))
    for seq in range(1000):
        simulated.push(seq, keys(), after(seq))
    assert len(simulated._due) == 1


PARTS = st.fixed_dictionaries(
    {},
    optional={
        "debounce": st.one_of(
            st.builds(lambda s: {"seconds": s}, st.integers(1, 20)),
            st.builds(
                lambda s, more, n: {"seconds": s, "max_wait_seconds": s + more, "max_events": n},
                st.integers(1, 20), st.integers(0, 20), st.integers(1, 4),
            ),
        ),
        "count": st.one_of(
            st.builds(lambda n: {"threshold": n}, st.integers(1, 4)),
            st.builds(lambda n, s: {"threshold": n, "within_seconds": s}, st.integers(1, 4), st.integers(1, 20)),
        ),
        "cooldown": st.builds(lambda s: {"seconds": s}, st.integers(1, 20)),
        "throttle": st.builds(lambda n, s: {"limit": n, "per_seconds": s}, st.integers(1, 3), st.integers(1, 20)),
    },
)  # fmt: skip
HAPPENINGS = st.lists(
    st.tuples(st.integers(0, 12), st.sampled_from("ab"), st.sampled_from("xy"), st.booleans()), max_size=30
)


@settings(max_examples=300, deadline=None)
@given(PARTS, HAPPENINGS)
def test_it_does_what_a_second_by_second_look_at_the_stages_does(
    parts: dict[str, Any], happenings: list[tuple[int, str, str, bool]]
) -> None:
    """The router's way, plainly: each second what is due goes on, then what comes is sent through the stages."""
    told, plain = [], _Plain(flow(**parts))
    simulated, now = Simulation(flow(**parts)), 0
    for seq, (gap, first, later, is_end) in enumerate(happenings, start=1):
        now += gap
        plain.wait_until(now)
        told += simulated.advance(after(now))
        if is_end:
            plain.end(first, now)
            told += simulated.flush(first, after(now))
        else:
            kept_apart = {stage: first if stage == "debounce" else later for stage in STAGES if stage in parts}
            plain.push(seq, kept_apart, now)
            told += simulated.push(seq, kept_apart, after(now))
    plain.wait_until(now + 100)
    told += simulated.advance(after(now + 100))
    assert [(one.at, one.held_by, one.seqs) for one in told] == plain.told


class _Plain:
    """Looks at every state every second."""

    def __init__(self, flow: Flow) -> None:
        self.flow, self.now = flow, -1
        self.states: dict[tuple[str, str], StageState | None] = {}
        self.keys: dict[str, dict[str, str]] = {}
        self.told: list[tuple[datetime, str | None, tuple[int, ...]]] = []

    def wait_until(self, now: int) -> None:
        for second in range(self.now + 1, now + 1):
            for key, state in sorted(self._waiting(), key=lambda one: one[1].seqs):
                if state.due_at is not None and state.due_at <= after(second):
                    self._let_go(key, state, second)
        self.now = now

    def _waiting(self) -> list[tuple[str, StageState]]:
        return [
            (key, state) for (stage, key), state in self.states.items() if stage == "debounce" and state is not None
        ]

    def push(self, seq: int, kept_apart: dict[str, str], now: int) -> None:
        self.keys[kept_apart.get("debounce", "")] = kept_apart
        self._tell(push(self.flow, kept_apart, Burst((seq,), seq), after(now), self.states), now)

    def end(self, key: str, now: int) -> None:
        state = self.states.get(("debounce", key))
        if state is not None:
            self._let_go(key, state, now)

    def _let_go(self, key: str, state: StageState, now: int) -> None:
        self.states["debounce", key] = None
        burst = release(state)
        self._tell(push(self.flow, self.keys[key], burst, after(now), self.states, after="debounce"), now)

    def _tell(self, passage: StageResult, now: int) -> None:
        if passage.outcome != "gathered":
            self.told.append((after(now), passage.stage, passage.burst.seqs))
