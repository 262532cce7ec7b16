from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate, chain, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.document.schema import Flow
from rules.flow import stages
from rules.flow.stages import STAGES, Burst, StageResult, StageState
from tests.rules.samples import NOON

KEYS = dict.fromkeys(STAGES, "k")
QUARTERS = st.integers(0, 160).map(lambda n: n / 4)
GAPS = st.lists(QUARTERS, min_size=1, max_size=40)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


@dataclass(slots=True)
class Line:
    """One rule with one key on a clock of its own."""

    flow: Flow
    states: dict[tuple[str, str], StageState | None] = field(default_factory=dict)

    def at(self, second: float, *seqs: int, root: int | None = None, past: str | None = None) -> StageResult:
        burst = Burst(seqs, seqs[0] if root is None else root)
        return stages.push(self.flow, KEYS, burst, after(second), self.states, after=past)

    def state(self, stage: str) -> StageState:
        state = self.states[stage, "k"]
        assert state is not None
        return state

    def due(self) -> float:
        moment = self.state("debounce").due_at
        assert moment is not None
        return (moment - NOON).total_seconds()

    def hand_on(self, second: float) -> StageResult | None:
        """What the debounce holds goes on if its time has come."""
        held = self.states.get(("debounce", "k"))
        if held is None or held.due_at is None or held.due_at > after(second):
            return None
        self.states["debounce", "k"] = None
        return stages.push(self.flow, KEYS, stages.release(held), after(second), self.states, after="debounce")


def line(**flow: Any) -> Line:
    return Line(Flow.model_validate(flow))


def word(passage: StageResult) -> str:
    """`acts 1 2`, `gathered count 3` or `held cooldown 4`."""
    return " ".join(map(str, filter(None, [passage.outcome, passage.stage, *passage.burst.seqs])))


def words(rule: Line, *seconds: float) -> list[str]:
    """What becomes of matches at these seconds, the first of them numbered 1."""
    return [word(rule.at(second, seq)) for seq, second in enumerate(seconds, start=1)]


def acted(rule: Line, seconds: Sequence[float]) -> list[float]:
    """When a rule acted that was met at these seconds."""
    return [second for seq, second in enumerate(seconds, start=1) if rule.at(second, seq).outcome == "acts"]


def moments(gaps: Sequence[float]) -> list[float]:
    return list(accumulate(gaps))


def test_a_rule_without_stages_acts_on_every_match() -> None:
    assert words(line(), 0, 0, 1) == ["acts 1", "acts 2", "acts 3"]


def test_each_match_restarts_the_wait_of_a_debounce() -> None:
    quiet = line(debounce={"seconds": 30})
    assert words(quiet, 0) == ["gathered debounce 1"]
    assert quiet.due() == 30
    quiet.at(20, 2)
    assert quiet.due() == 50
    assert quiet.hand_on(49.9) is None
    handed_on = quiet.hand_on(50)
    assert handed_on is not None
    assert word(handed_on) == "acts 1 2"


def test_a_debounce_never_waits_longer_than_its_longest_wait() -> None:
    patient = line(debounce={"seconds": 30, "max_wait_seconds": 60})
    for seq, second in enumerate((0, 20, 40, 55), start=1):
        patient.at(second, seq)
    assert patient.due() == 60


def test_a_debounce_that_is_full_acts_at_once_and_begins_anew() -> None:
    small = line(debounce={"seconds": 30, "max_events": 3})
    assert words(small, 0, 1, 2, 3) == [
        "gathered debounce 1",
        "gathered debounce 2",
        "acts 1 2 3",
        "gathered debounce 4",
    ]
    assert small.due() == 33


def test_a_debounce_without_a_number_acts_at_the_most_that_is_handed_to_one_action(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stages, "MAX_GATHERED", 3)
    assert words(line(debounce={"seconds": 30}), 0, 0, 0)[-1] == "acts 1 2 3"


def test_what_is_due_stays_due_and_takes_along_what_comes_before_it_is_handed_on() -> None:
    quiet = line(debounce={"seconds": 30})
    quiet.at(0, 1)
    quiet.at(35, 2)
    assert quiet.due() == 30
    handed_on = quiet.hand_on(35)
    assert handed_on is not None
    assert word(handed_on) == "acts 1 2"


def test_what_was_gathered_out_of_order_is_handed_on_in_the_order_of_the_log() -> None:
    small = line(debounce={"seconds": 30, "max_events": 3})
    small.at(0, 9)
    small.at(0, 4)
    assert word(small.at(0, 7)) == "acts 4 7 9"


def test_the_earliest_chain_of_what_is_gathered_is_remembered() -> None:
    small = line(debounce={"seconds": 30, "max_events": 3})
    small.at(0, 9, root=7)
    small.at(0, 10, root=3)
    assert small.at(0, 11, root=8).burst.root_seq == 3


def test_a_count_acts_on_every_third_match() -> None:
    assert words(line(count={"threshold": 3}), 0, 1, 2, 1e6, 1e6, 1e6) == [
        "gathered count 1",
        "gathered count 2",
        "acts 1 2 3",
        "gathered count 4",
        "gathered count 5",
        "acts 4 5 6",
    ]


def test_the_window_of_a_count_slides() -> None:
    recent = line(count={"threshold": 3, "within_seconds": 10})
    assert words(recent, 0, 5, 10, 14, 15) == [
        "gathered count 1",
        "gathered count 2",
        "gathered count 3",
        "acts 2 3 4",
        "gathered count 5",
    ]


def test_a_count_that_gets_a_window_by_an_edit_counts_only_what_is_recent_from_then_on() -> None:
    rule = line(count={"threshold": 3})
    words(rule, 0, 8)
    rule.flow = Flow.model_validate({"count": {"threshold": 2, "within_seconds": 5}})
    assert word(rule.at(10, 3)) == "acts 2 3"
    rule.at(11, 4)
    assert rule.state("count").expires_at == after(16)
    rule.flow = Flow.model_validate({"count": {"threshold": 3}})
    rule.at(20, 5)
    assert (rule.state("count").seqs, rule.state("count").expires_at) == ((4, 5), None)


def test_a_count_behind_a_debounce_counts_matches_and_not_bursts() -> None:
    both = line(debounce={"seconds": 30, "max_events": 2}, count={"threshold": 4})
    assert words(both, 0, 0, 0, 0) == [
        "gathered debounce 1",
        "gathered count 1 2",
        "gathered debounce 3",
        "acts 1 2 3 4",
    ]


def test_a_cooldown_holds_back_until_its_seconds_have_passed() -> None:
    assert words(line(cooldown={"seconds": 10}), 0, 9.9, 10, 12) == [
        "acts 1",
        "held cooldown 2",
        "acts 3",
        "held cooldown 4",
    ]


def test_a_throttle_lets_so_many_pass_in_any_stretch_of_its_length() -> None:
    assert words(line(throttle={"limit": 2, "per_seconds": 10}), 0, 6, 8, 10, 15, 16) == [
        "acts 1",
        "acts 2",
        "held throttle 3",
        "acts 4",
        "held throttle 5",
        "acts 6",
    ]


def test_what_is_skipped_for_concurrency_is_what_finds_no_room() -> None:
    lane = line(concurrency={"limit": 2, "on_conflict": "skip"})
    lane.states["concurrency", "k"] = StageState(NOON, open=1)
    assert words(lane, 0, 0) == ["acts 1", "held concurrency 2"]


@pytest.mark.parametrize("conflict", ["queue", "latest"])
def test_concurrency_that_makes_wait_lets_everything_pass_here(conflict: str) -> None:
    lane = line(concurrency={"limit": 1, "on_conflict": conflict})
    lane.states["concurrency", "k"] = StageState(NOON, open=5)
    assert words(lane, 0) == ["acts 1"]


def test_a_cooldown_begins_only_when_the_rule_acts() -> None:
    rule = line(cooldown={"seconds": 10}, throttle={"limit": 1, "per_seconds": 100})
    assert words(rule, 0, 15, 16, 100) == ["acts 1", "held throttle 2", "held throttle 3", "acts 4"]


def test_a_throttle_does_not_count_what_a_cooldown_held_back() -> None:
    rule = line(cooldown={"seconds": 10}, throttle={"limit": 2, "per_seconds": 100})
    assert words(rule, 0, 5, 10, 20) == ["acts 1", "held cooldown 2", "acts 3", "held throttle 4"]


def test_what_goes_on_from_a_debounce_passes_only_the_stages_behind_it() -> None:
    rule = line(debounce={"seconds": 30}, cooldown={"seconds": 100})
    rule.at(0, 1)
    assert word(rule.at(30, 1, past="debounce")) == "acts 1"
    assert word(rule.at(99, 2, past="debounce")) == "held cooldown 2"


def test_keys_are_kept_apart_stage_by_stage() -> None:
    flow = Flow.model_validate({"count": {"threshold": 2}, "cooldown": {"seconds": 10}})
    states: dict[tuple[str, str], StageState | None] = {}

    def meet(seq: int, session: str) -> str:
        keys = {"count": session, "cooldown": "ada"}
        return word(stages.push(flow, keys, Burst((seq,), seq), NOON, states))

    assert [meet(1, "s1"), meet(2, "s2"), meet(3, "s1"), meet(4, "s2")] == [
        "gathered count 1",
        "gathered count 2",
        "acts 1 3",
        "held cooldown 2 4",
    ]


@pytest.mark.parametrize(
    ("flow", "outcome"),
    [
        ({"throttle": {"limit": 1, "per_seconds": 10}}, "held throttle 2"),
        ({"cooldown": {"seconds": 10}}, "held cooldown 2"),
        ({"count": {"threshold": 2, "within_seconds": 1}}, "acts 1 2"),
    ],
)
def test_a_clock_that_comes_late_does_not_turn_time_back(flow: dict[str, Any], outcome: str) -> None:
    assert words(line(**flow), 20, 5)[1] == outcome


def test_a_late_clock_does_not_shorten_the_wait_of_a_debounce() -> None:
    quiet = line(debounce={"seconds": 30})
    words(quiet, 20, 5)
    assert quiet.due() == 50


@given(GAPS, QUARTERS.filter(bool), QUARTERS, st.one_of(st.none(), st.integers(1, 6)))
def test_whatever_comes_a_debounce_hands_on_each_match_once_and_in_time(
    gaps: list[float], seconds: float, more: float, most: int | None
) -> None:
    longest = seconds + more
    rule = line(debounce={"seconds": seconds, "max_wait_seconds": longest, "max_events": most})
    came = dict(enumerate(moments(gaps), start=1))
    bursts: list[tuple[float, tuple[int, ...]]] = []
    for seq, second in came.items():
        if rule.states.get(("debounce", "k")) and rule.due() <= second:
            bursts.append(_handed_on(rule))
        passage = rule.at(second, seq)
        if passage.outcome == "acts":
            bursts.append((second, passage.burst.seqs))
    if rule.states["debounce", "k"]:
        bursts.append(_handed_on(rule))
    assert list(chain.from_iterable(seqs for _, seqs in bursts)) == list(came)
    for second, seqs in bursts:
        first, last = came[seqs[0]], came[seqs[-1]]
        assert all(came[b] - came[a] <= seconds for a, b in pairwise(seqs))
        assert most is None or len(seqs) <= most
        end = min(last + seconds, first + longest)
        assert second <= end if len(seqs) == most else second == end


def _handed_on(rule: Line) -> tuple[float, tuple[int, ...]]:
    second = rule.due()
    passage = rule.hand_on(second)
    assert passage is not None
    return second, passage.burst.seqs


@given(GAPS, st.integers(1, 7))
def test_a_count_without_a_window_acts_on_every_threshold_th(gaps: list[float], threshold: int) -> None:
    rule = line(count={"threshold": threshold})
    bursts = [p.burst.seqs for n, t in enumerate(moments(gaps)) if (p := rule.at(t, n)).outcome == "acts"]
    numbers = list(range(len(gaps)))
    assert bursts == [
        tuple(numbers[end - threshold : end]) for end in range(threshold, len(numbers) + 1) if end % threshold == 0
    ]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=40), st.integers(1, 6), st.integers(1, 60))
def test_a_count_with_a_window_acts_where_so_many_lie_within_it(gaps: list[int], threshold: int, window: int) -> None:
    rule = line(count={"threshold": threshold, "within_seconds": window})
    waiting: list[float] = []
    for seq, second in enumerate(moments(gaps)):
        waiting = [*(earlier for earlier in waiting if earlier > second - window), second]
        acts = len(waiting) >= threshold
        assert (rule.at(second, seq).outcome == "acts") == acts
        waiting = [] if acts else waiting


@given(st.lists(st.integers(0, 40), min_size=1, max_size=40), st.integers(1, 100))
def test_no_two_actions_of_a_cooldown_are_nearer_than_its_seconds_and_none_waits_longer(
    gaps: list[int], seconds: int
) -> None:
    came = moments(gaps)
    acts = acted(line(cooldown={"seconds": seconds}), came)
    assert all(b - a >= seconds for a, b in pairwise(acts))
    for second in came:
        last = max((earlier for earlier in acts if earlier <= second), default=None)
        assert last is not None
        assert second - last < seconds


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60), st.integers(1, 5), st.integers(1, 100))
def test_no_stretch_of_a_throttle_holds_more_than_its_limit_and_none_is_held_back_for_less(
    gaps: list[int], limit: int, per: int
) -> None:
    rule = line(throttle={"limit": limit, "per_seconds": per})
    acts: list[float] = []
    for seq, second in enumerate(moments(gaps)):
        before = sum(second - per < earlier <= second for earlier in acts)
        passed = rule.at(second, seq).outcome == "acts"
        assert passed == (before < limit)
        acts += [second] if passed else []
    assert all(sum(start <= second < start + per for second in acts) <= limit for start in acts)


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=60), st.integers(1, 5), st.integers(1, 50))
def test_even_with_clocks_that_disagree_no_stretch_of_a_throttle_holds_more_than_its_limit(
    steps: list[int], limit: int, per: int
) -> None:
    rule = line(throttle={"limit": limit, "per_seconds": per})
    noted: list[datetime] = []
    for seq, second in enumerate(moments(steps)):
        if rule.at(second, seq).outcome == "acts":
            noted.append(rule.state("throttle").times[-1])
    assert noted == sorted(noted)
    assert all(b - a >= timedelta(seconds=per) for a, b in zip(noted, noted[limit:], strict=False))


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=30),
    st.fixed_dictionaries(
        {},
        optional={
            "count": st.fixed_dictionaries({"threshold": st.integers(1, 4), "within_seconds": st.integers(1, 30)}),
            "cooldown": st.fixed_dictionaries({"seconds": st.integers(1, 30)}),
            "throttle": st.fixed_dictionaries({"limit": st.integers(1, 3), "per_seconds": st.integers(1, 30)}),
        },
    ),
)
def test_forgetting_what_has_expired_changes_nothing(gaps: list[int], flow: dict[str, Any]) -> None:
    keeps, forgets = line(**flow), line(**flow)
    for seq, second in enumerate(moments(gaps)):
        for place, state in forgets.states.items():
            if state is not None and state.expires_at is not None and state.expires_at <= after(second):
                forgets.states[place] = None
        assert keeps.at(second, seq) == forgets.at(second, seq)
