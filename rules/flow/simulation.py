"""Simulates the flow control of one rule on a given clock: what would act, when, on what.

Pure. The stages are those of the router (`rules.flow.stages`); here their states are in a dictionary, and a debounce
ends exactly when it is due instead of at the next poll of a table.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Self

from core.types import Json
from rules.document.timing import Flow
from rules.flow.stages import Burst, StageResult, StageState, push, release

PRUNED_FROM: Final = 1_000
"""Number of states from which expired ones are looked for."""

GATHERING: Final = frozenset({"debounce", "count"})


@dataclass(frozen=True, slots=True)
class SimulatedOutcome:
    """Outcome of matches that went through together: they act at a moment, or a stage holds them back.

    `seqs` are their positions in the log, in order.
    """

    at: datetime
    held_by: str | None
    seqs: tuple[int, ...]


@dataclass(slots=True)
class Simulation:
    """State of a rule's stages in memory. Moments must not decrease; call `advance` to each one before pushing.

    `gathered`: number of matches that had to wait.
    """

    flow: Flow
    gathered: int = 0
    _states: dict[tuple[str, str], StageState | None] = field(default_factory=dict)
    _keys: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _due: list[tuple[datetime, int, str]] = field(default_factory=list)
    _queued: set[str] = field(default_factory=set)
    _prune_at: int = PRUNED_FROM

    @classmethod
    def restored(cls, flow: Flow, saved: Json) -> Self:
        """Return the simulation that `saved` has described."""
        made = cls(flow, saved["gathered"])
        made._keys = dict(saved["keys"])
        for stage, key, written in saved["states"]:
            state = made._states[stage, key] = _read_state(written)
            if state.due_at is not None:
                made._queue(key, state, state.due_at)
        return made

    def saved(self) -> Json:
        """Return the state as JSON, so that another process can go on from here."""
        states = [[*state_key, _write_state(state)] for state_key, state in self._states.items() if state is not None]
        keys = {key: dict(keys) for key, keys in self._keys.items()}
        return {"gathered": self.gathered, "keys": keys, "states": states}

    def advance(self, to: datetime) -> list[SimulatedOutcome]:
        """End every debounce that is due up to and including this moment.

        They are processed by time, and by log order within one moment.
        """
        outcomes: list[SimulatedOutcome] = []
        while self._due and self._due[0][0] <= to:
            queued_at, _, key = heapq.heappop(self._due)
            self._queued.discard(key)
            state = self._states.get(("debounce", key))
            if state is None or state.due_at is None:
                continue
            if state.due_at > queued_at:
                self._queue(key, state, state.due_at)
            else:
                outcomes += self._release(key, state, state.due_at)
        return outcomes

    def push(self, seq: int, keys: Mapping[str, str], at: datetime) -> list[SimulatedOutcome]:
        """Add a match; `keys`: the key of each stage."""
        passage = push(self.flow, keys, Burst((seq,), seq), at, self._states)
        self.gathered += passage.outcome == "gathered"
        wait = keys.get("debounce")
        if wait is not None:
            self._follow(wait, keys)
        self._prune(at)
        return _outcomes(passage, at)

    def flush(self, key: str, at: datetime) -> list[SimulatedOutcome]:
        """End the wait of one debounce now, if there is one."""
        state = self._states.get(("debounce", key))
        return [] if state is None else self._release(key, state, at)

    @property
    def open(self) -> int:
        """Return how many matches wait in a debounce or a count."""
        return sum(len(state.seqs) for state in self._gathering_states())

    def tails(self) -> set[int]:
        """Return the last position of each waiting burst: of the positions so far, the rule may act only on these."""
        return {max(state.seqs) for state in self._gathering_states()}

    def _gathering_states(self) -> Iterator[StageState]:
        for (stage, _), state in self._states.items():
            if state is not None and stage in GATHERING:
                yield state

    def _follow(self, wait: str, keys: Mapping[str, str]) -> None:
        """Update after a match: what waits continues with its keys; full bursts have been released."""
        state = self._states.get(("debounce", wait))
        if state is None:
            self._keys.pop(wait, None)
        else:
            self._keys[wait] = keys
            if state.due_at is not None and wait not in self._queued:
                self._queue(wait, state, state.due_at)

    def _queue(self, key: str, state: StageState, due_at: datetime) -> None:
        """Queue one entry per key, checked again when due: the wait may have become longer, never shorter."""
        self._queued.add(key)
        heapq.heappush(self._due, (due_at, state.seqs[0], key))

    def _release(self, key: str, state: StageState, at: datetime) -> list[SimulatedOutcome]:
        self._states["debounce", key] = None
        burst, keys = release(state), self._keys.pop(key)
        return _outcomes(push(self.flow, keys, burst, at, self._states, after="debounce"), at)

    def _prune(self, now: datetime) -> None:
        """Forget obsolete states, at a cost proportional to the matches."""
        if len(self._states) < self._prune_at:
            return
        self._states = {
            state_key: state
            for state_key, state in self._states.items()
            if state is not None and (state.expires_at is None or state.expires_at > now)
        }
        self._prune_at = max(PRUNED_FROM, 2 * len(self._states))


def _write_state(state: StageState) -> Json:
    return {
        "opened": state.opened_at.isoformat(),
        "seqs": state.seqs,
        "times": [time.isoformat() for time in state.times],
        "root": state.root_seq,
        "due": state.due_at and state.due_at.isoformat(),
        "expires": state.expires_at and state.expires_at.isoformat(),
    }


def _read_state(written: Json) -> StageState:
    return StageState(
        datetime.fromisoformat(written["opened"]),
        tuple(written["seqs"]),
        tuple(map(datetime.fromisoformat, written["times"])),
        written["root"],
        written["due"] and datetime.fromisoformat(written["due"]),
        written["expires"] and datetime.fromisoformat(written["expires"]),
    )


def _outcomes(passage: StageResult, at: datetime) -> list[SimulatedOutcome]:
    return [] if passage.outcome == "gathered" else [SimulatedOutcome(at, passage.stage, passage.burst.seqs)]
