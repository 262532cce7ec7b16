"""The rules in force, compiled: which of them an event meets, and what holds a rule back.

Pure: whether a waiting, counting or limiting flow lets a rule act is for the caller to say, by `Verdict.keys`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from core.types import Event
from rules.conditions import Node, Predicate, compile_conditions, names_looked_up
from rules.facts import MISSING, Facts, Lookup, OnMismatch, Similarity, nothing
from rules.index import Index, conjuncts, family
from rules.paths import event_getter, parse_path
from rules.schema import Rule
from rules.timing import Flow
from rules.tree import Group, Leaf

MAX_CACHED_TYPES = 4_096
MAX_KEY = 200
KeyOf = Callable[[Event], str]
_NO_KEYS: Final[Mapping[str, str]] = MappingProxyType({})


class Verdict(NamedTuple):
    """A rule that an event met. `held_by` says what kept it from firing: disabled, window, stop, group or sample.

    `keys` has, for each flow of the rule, what the flow keeps apart, such as `session:s1` or `["ada"]`.
    """

    name: str
    version: int
    rule: Rule
    fired: bool
    held_by: str | None
    keys: Mapping[str, str]

    @property
    def flow(self) -> Flow:
        """The flow control that the caller has to apply."""
        return self.rule.flow


class Flush(NamedTuple):
    """A debounce that an event ends at once, for one key."""

    name: str
    version: int
    key: str


def matches_type(pattern: str, event_type: str) -> bool:
    """Whether an event type fits a rule's type; `*` stands for any run of characters, dots too."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), event_type, re.DOTALL) is not None


_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def flow_key(fields: Sequence[str] | None, event: Event) -> str:
    """What a flow keeps apart: the fields' values as JSON, null where missing; by default the session, else the user.

    An event of neither belongs to the key of the whole tenant, the empty text. Long keys become their hash.
    """
    if fields is None:
        return _own_key(event)
    return _key_of([event_getter(parse_path(name)) for name in fields], event)


def _key_of(getters: Iterable[Callable[[Event], Any]], event: Event) -> str:
    text = _encode([_shown(get(event)) for get in getters])
    return text if len(text) <= MAX_KEY else f"blake2b:{_digest(text).hexdigest()}"


def _own_key(event: Event) -> str:
    if event.session_id is not None:
        return f"session:{event.session_id}"
    return "" if event.user_id is None else f"user:{event.user_id}"


def _shown(value: Any) -> Any:
    if value is MISSING:
        return None
    return value.isoformat() if isinstance(value, datetime) else value


def _digest(text: str) -> Any:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8)


def sampled(name: str, key: str, ratio: float) -> bool:
    """Whether a key belongs to a rule's sample: always the same answer, near `ratio` of all keys, apart by rule."""
    return int.from_bytes(_digest(f"{name}\0{key}").digest(), "big") < ratio * 2**64


@dataclass(frozen=True, slots=True)
class _Entry:
    """A rule, compiled. `eager` is what the index leaves to decide, `late` what needs looking up or a meaning."""

    rule: Rule
    version: int
    eager: Predicate | None
    late: Predicate | None
    asks: frozenset[str]
    flows: tuple[tuple[str, tuple[str, ...] | None, KeyOf], ...]
    is_guarded: bool
    fired: Verdict
    indexed: tuple[Leaf, ...]


def _compiled(rule: Rule, version: int) -> _Entry:
    nodes = conjuncts(rule.conditions)
    if rule.schedule is not None:
        nodes = [Leaf(field="payload.rule", op="==", value=rule.name), *nodes]
    rest = [node for node in nodes if family(node) is None]
    late = [node for node in rest if _is_late(node)]
    flows = tuple((name, *_keyed(part.key)) for name, part in rule.flow.parts().items())
    fired = Verdict(rule.name, version, rule, fired=True, held_by=None, keys=_NO_KEYS)
    return _Entry(
        rule=rule,
        version=version,
        eager=_conjunction([node for node in rest if not _is_late(node)]),
        late=_conjunction(late),
        asks=frozenset().union(*map(names_looked_up, late)),
        flows=flows,
        is_guarded=_may_be_held(rule),
        fired=fired,
        indexed=tuple(node for node in nodes if isinstance(node, Leaf) and family(node) is not None),
    )


def _keyed(fields: list[str] | None) -> tuple[tuple[str, ...] | None, KeyOf]:
    if fields is None:
        return None, _own_key
    getters = [event_getter(parse_path(name)) for name in fields]
    return tuple(fields), lambda event: _key_of(getters, event)


def _is_late(node: Node) -> bool:
    return bool(names_looked_up(node)) or _has_meaning(node)


def _has_meaning(node: Node) -> bool:
    if isinstance(node, Group):
        return any(_has_meaning(child) for _, nodes in node.members() for child in nodes)
    return node.op == "means" or (isinstance(node.value, Leaf | Group) and _has_meaning(node.value))


def _conjunction(nodes: list[Node]) -> Predicate | None:
    return compile_conditions(Group(all=nodes)) if nodes else None


def _may_be_held(rule: Rule) -> bool:
    limits = (rule.stop, rule.group, rule.starts_at, rule.ends_at, rule.flow.sample)
    return not rule.enabled or any(limits)


class _Course:
    """What has happened so far while one event is decided: whether a rule stopped it, which groups have fired."""

    __slots__ = ("groups", "keys", "stopped")

    def __init__(self) -> None:
        self.stopped = False
        self.groups: set[str] = set()
        self.keys: dict[tuple[str, ...] | None, str] = {}

    def keys_of(self, entry: _Entry, event: Event) -> Mapping[str, str]:
        """The keys of a rule's flows; each list of fields is read once an event."""
        if not entry.flows:
            return _NO_KEYS
        found = {}
        for name, fields, key_of in entry.flows:
            if fields not in self.keys:
                self.keys[fields] = key_of(event)
            found[name] = self.keys[fields]
        return found

    def holds(self, entry: _Entry, facts: Facts, keys: Mapping[str, str]) -> str | None:
        rule = entry.rule
        if not rule.enabled:
            return "disabled"
        if (rule.starts_at and facts.now < rule.starts_at) or (rule.ends_at and facts.now >= rule.ends_at):
            return "window"
        if self.stopped:
            return "stop"
        if rule.group in self.groups:
            return "group"
        sample = rule.flow.sample
        if sample and not sampled(rule.name, keys["sample"] or facts.event.id, sample.ratio):
            return "sample"
        return None

    def note(self, rule: Rule) -> None:
        """Records that a rule fires; one that only shadows displaces nothing."""
        if rule.action_mode == "shadow":
            return
        self.stopped = self.stopped or rule.stop
        if rule.group is not None:
            self.groups.add(rule.group)


class _Table:
    """The rules of one event type in the order of evaluation, behind their index."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self.entries = entries
        self._index = Index([entry.indexed for entry in entries])
        self._may_stop = any(entry.rule.stop for entry in entries)
        self.late = sum(1 << place for place, entry in enumerate(entries) if entry.asks)

    def candidates(self, event: Event, on_mismatch: OnMismatch | None = None) -> int:
        return self._index.candidates(event, on_mismatch)

    def decide(self, facts: Facts, candidates: int) -> list[Verdict]:
        course = _Course()
        entries, may_stop, verdicts = self.entries, self._may_stop, []
        for place in _bits(candidates):
            entry = entries[place]
            if entry.eager is not None and not entry.eager(facts):
                continue
            if entry.late is not None and not entry.late(facts):
                continue
            if may_stop or entry.is_guarded:
                verdicts.append(_weighed(entry, facts, course))
            elif entry.flows:
                verdicts.append(entry.fired._replace(keys=course.keys_of(entry, facts.event)))
            else:
                verdicts.append(entry.fired)
        return verdicts


def _weighed(entry: _Entry, facts: Facts, course: _Course) -> Verdict:
    keys = course.keys_of(entry, facts.event)
    held_by = course.holds(entry, facts, keys)
    if held_by is None:
        course.note(entry.rule)
    return Verdict(entry.rule.name, entry.version, entry.rule, held_by is None, held_by, keys)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class Ruleset:
    """An immutable set of rules with their versions. Share it between threads; replace it whole on an edit."""

    def __init__(self, rules: Sequence[tuple[Rule, int]]) -> None:
        ordered = sorted(rules, key=lambda item: (-item[0].priority, item[0].name))
        self._entries = [_compiled(rule, version) for rule, version in ordered]
        self._tables: dict[tuple[int, ...], _Table] = {}
        self._by_type: dict[str, _Table] = {}
        self._flushes: dict[str, list[_Entry]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def rules(self) -> tuple[tuple[Rule, int], ...]:
        """The rules with their versions, in the order of evaluation."""
        return tuple((entry.rule, entry.version) for entry in self._entries)

    def decide(
        self,
        event: Event,
        lookup: Lookup = nothing,
        *,
        now: datetime | None = None,
        similarity: Similarity | None = None,
        on_mismatch: OnMismatch | None = None,
    ) -> list[Verdict]:
        """The rules that the event meets, in the order of evaluation; rules that it does not meet are not listed.

        The arguments are those of `Facts`. `lookup` is asked only for what a rule that may still match needs.
        """
        table = self._table(event.event_type)
        candidates = table.candidates(event, on_mismatch)
        if not candidates:
            return []
        facts = Facts(event, lookup, now=now, similarity=similarity, on_mismatch=on_mismatch)
        return table.decide(facts, candidates)

    def asks(self, event: Event, *, now: datetime | None = None) -> frozenset[str]:
        """The looked-up names that deciding on the event may need, so that a batch can ask for all of its at once."""
        table = self._table(event.event_type)
        waiting = table.candidates(event) & table.late if table.late else 0
        if not waiting:
            return frozenset()
        facts = Facts(event, now=now)
        entries = [table.entries[place] for place in _bits(waiting)]
        return frozenset().union(*(entry.asks for entry in entries if entry.eager is None or entry.eager(facts)))

    def flushed_by(self, event: Event) -> list[Flush]:
        """The debounces that end at once because of the event, each for the event's key."""
        entries = self._flushes.get(event.event_type)
        if entries is None:
            entries = self._remember_flushes(event.event_type)
        return [
            Flush(entry.rule.name, entry.version, flow_key(entry.rule.flow.debounce.key, event))
            for entry in entries
            if entry.rule.flow.debounce is not None
        ]

    def _remember_flushes(self, event_type: str) -> list[_Entry]:
        if len(self._flushes) >= MAX_CACHED_TYPES:
            self._flushes.clear()
        self._flushes[event_type] = found = [
            entry
            for entry in self._entries
            if (wait := entry.rule.flow.debounce) and any(matches_type(kind, event_type) for kind in wait.flush_on)
        ]
        return found

    def _table(self, event_type: str) -> _Table:
        table = self._by_type.get(event_type)
        return self._remember_table(event_type) if table is None else table

    def _remember_table(self, event_type: str) -> _Table:
        places = tuple(place for place, entry in enumerate(self._entries) if _answers(entry.rule, event_type))
        table = self._tables.get(places)
        if table is None:
            table = self._tables[places] = _Table([self._entries[place] for place in places])
        if len(self._by_type) >= MAX_CACHED_TYPES:
            self._by_type.clear()
        self._by_type[event_type] = table
        return table


def _answers(rule: Rule, event_type: str) -> bool:
    return any(matches_type(pattern, event_type) for pattern in rule.event_types)
