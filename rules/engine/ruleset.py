"""The compiled rules in force: which of them an event matches, and what holds a rule back.

Pure: the caller decides by `RuleVerdict.keys` whether a waiting, counting or limiting flow lets a rule act.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from core.events.reserved import SERVICE
from core.events.type_patterns import matches
from core.types import Event
from rules.document.condition_tree import Group, Leaf
from rules.document.schema import Rule
from rules.engine.conditions import Node, Predicate, compile_conditions, has_meaning, names_looked_up, texts_compared
from rules.engine.predicate_index import Index, conjuncts, family
from rules.expressions.facts import Facts, Lookup, OnMismatch, Similarity, json_value, nothing
from rules.expressions.paths import event_getter, parse_path

MAX_CACHED_TYPES = 4_096
MAX_KEY = 200
KeyOf = Callable[[Event], str]
_Item = TypeVar("_Item")
_Shape = tuple[tuple[str, tuple[str, ...] | None], ...]
_NO_KEYS: Final[Mapping[str, str]] = MappingProxyType({})


class RuleVerdict(NamedTuple):
    """A matching rule. `held_by` says what kept it from firing: disabled, window, repeat, stop, group, sample.

    `keys` has the key of each flow of the rule, such as `session:s1` or `["ada"]`.
    """

    name: str
    version: int
    rule: Rule
    fired: bool
    held_by: str | None
    keys: Mapping[str, str]


class Flush(NamedTuple):
    """A debounce that an event ends at once, for one key."""

    name: str
    version: int
    key: str


_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def flow_key(fields: Sequence[str] | None, event: Event) -> str:
    """Return the key that a flow groups by: the fields' values as JSON, null where missing.

    Default: the session, else the user, else the empty text for the whole tenant. Long keys are hashed.
    """
    return _key_reader(fields)(event)


def _key_reader(fields: Sequence[str] | None) -> KeyOf:
    if fields is None:
        return _own_key
    getters = [event_getter(parse_path(name)) for name in fields]

    def read(event: Event) -> str:
        text = _encode([json_value(get(event)) for get in getters])
        return text if len(text) <= MAX_KEY else f"blake2b:{_digest(text).hexdigest()}"

    return read


def _own_key(event: Event) -> str:
    if event.session_id is not None:
        return f"session:{event.session_id}"
    return "" if event.user_id is None else f"user:{event.user_id}"


def _digest(text: str) -> Any:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8)


def is_sampled(name: str, key: str, ratio: float) -> bool:
    """Return whether a key is in a rule's sample: deterministic, about `ratio` of all keys, independent by rule."""
    return int.from_bytes(_digest(f"{name}\0{key}").digest(), "big") < ratio * 2**64


class _Keys:
    """Keys of a rule's flows. Rules with equal keys share one instance, so an event fills it in once."""

    def __init__(self, shape: _Shape) -> None:
        self._parts = [(name, _key_reader(fields)) for name, fields in shape]

    def of(self, event: Event) -> Mapping[str, str]:
        return MappingProxyType({name: read(event) for name, read in self._parts})


@dataclass(frozen=True, slots=True)
class _CompiledRule:
    """A compiled rule. `test`: the part that the index leaves; `eager`: the part of it without similarity.

    `meant`: nodes that compare meanings; `verdict`: the verdict if it fires.
    """

    rule: Rule
    version: int
    test: Predicate | None
    eager: Predicate | None
    asks: frozenset[str]
    meant: tuple[Node, ...]
    keys: _Keys | None
    is_guarded: bool
    verdict: tuple[str, int, Rule, bool, None]
    indexed: tuple[Leaf, ...]


_FROM_THE_CLOCK: Final = Leaf(field="source", op="==", value=SERVICE)


def _compile(rule: Rule, version: int, keys_by_shape: dict[_Shape, _Keys]) -> _CompiledRule:
    nodes = conjuncts(rule.conditions)
    if rule.schedule is not None:
        nodes = [Leaf(field="payload.rule", op="==", value=rule.name), _FROM_THE_CLOCK, *nodes]
    indexed = [node for node in nodes if isinstance(node, Leaf) and family(node) is not None]
    rest = [node for node in nodes if family(node) is None] if len(indexed) < len(nodes) else []
    late = [node for node in rest if names_looked_up(node) or has_meaning(node)]
    shape = tuple((name, None if part.key is None else tuple(part.key)) for name, part in rule.flow.parts().items())
    return _CompiledRule(
        rule=rule,
        version=version,
        test=_conjunction(rest),
        eager=_conjunction([node for node in rest if node not in late]) if late else None,
        asks=frozenset().union(*map(names_looked_up, late)),
        meant=tuple(node for node in late if has_meaning(node)),
        keys=keys_by_shape.setdefault(shape, _Keys(shape)) if shape else None,
        is_guarded=not rule.enabled or any((rule.stop, rule.group, rule.starts_at, rule.ends_at, rule.flow.sample)),
        verdict=(rule.name, version, rule, True, None),
        indexed=tuple(indexed),
    )


def _conjunction(nodes: list[Node]) -> Predicate | None:
    return compile_conditions(Group(all=nodes)) if nodes else None


class _Course:
    """Progress of deciding one event: whether a rule stopped it, which groups have fired."""

    __slots__ = ("groups", "keys", "stopped")

    def __init__(self) -> None:
        self.stopped = False
        self.groups: set[str] = set()
        self.keys: dict[_Keys | None, Mapping[str, str]] = {}

    def keys_of(self, entry: _CompiledRule, event: Event) -> Mapping[str, str]:
        """Return the keys of a rule's flows."""
        shared = entry.keys
        if shared is None:
            return _NO_KEYS
        keys = self.keys.get(shared)
        if keys is None:
            keys = self.keys[shared] = shared.of(event)
        return keys

    def holds(self, entry: _CompiledRule, facts: Facts, keys: Mapping[str, str]) -> str | None:
        rule = entry.rule
        idle = _idle(rule, facts)
        if idle is not None:
            return idle
        if self.stopped:
            return "stop"
        if rule.group in self.groups:
            return "group"
        sample = rule.flow.sample
        if sample and not is_sampled(rule.name, keys["sample"] or facts.event.id, sample.ratio):
            return "sample"
        return None

    def note(self, rule: Rule) -> None:
        """Record that a rule fires; a shadow rule displaces nothing."""
        if rule.action_mode == "shadow":
            return
        self.stopped = self.stopped or rule.stop
        if rule.group is not None:
            self.groups.add(rule.group)


def _idle(rule: Rule, facts: Facts) -> str | None:
    """Return what holds a rule back regardless of the others.

    `repeat` follows descent (`lineage`) instead of the correlation id: one `session.ended` may create 20 memories, each
    of which must be deduplicated by the same rule.
    """
    if not rule.enabled:
        return "disabled"
    if (rule.starts_at and facts.now < rule.starts_at) or (rule.ends_at and facts.now >= rule.ends_at):
        return "window"
    return "repeat" if not rule.repeat and rule.name in facts.event.lineage else None


class _Table:
    """The rules of one event type in the order of evaluation, with their index.

    `unsettled`: rules that the index cannot decide completely; the others have `fired` if it lets them pass.
    """

    def __init__(self, entries: Sequence[_CompiledRule]) -> None:
        self.entries = entries
        self._index = Index([entry.indexed for entry in entries])
        self.candidates = self._index.candidates
        self._may_stop = any(entry.rule.stop for entry in entries)
        self.fired = [RuleVerdict(*entry.verdict, _NO_KEYS) for entry in entries]
        self._once = frozenset(entry.rule.name for entry in entries if not entry.rule.repeat)
        self.unsettled = self._mask(
            lambda entry: self._may_stop or entry.is_guarded or entry.keys is not None or entry.test is not None
        )
        self.asking = self._mask(lambda entry: bool(entry.asks))
        self.meaning = self._mask(lambda entry: bool(entry.meant))

    def _mask(self, chosen: Callable[[_CompiledRule], bool]) -> int:
        return sum(1 << index for index, entry in enumerate(self.entries) if chosen(entry))

    def repeats(self, event: Event) -> bool:
        """Return whether a rule that must not act twice on one chain may be about to."""
        return not self._once.isdisjoint(event.lineage)

    def decide(self, facts: Facts, candidates: int, *, repeats: bool) -> list[RuleVerdict]:
        course, event = _Course(), facts.event
        is_weighed, keys_by_shape = repeats or self._may_stop, course.keys
        verdicts: list[RuleVerdict] = []
        for entry in _select(self.entries, candidates):
            if entry.test is not None and not entry.test(facts):
                continue
            if is_weighed or entry.is_guarded:
                verdicts.append(_decide_entry(entry, facts, course))
            else:
                keys = keys_by_shape.get(entry.keys) or course.keys_of(entry, event)
                verdicts.append(_new(RuleVerdict, (*entry.verdict, keys)))
        return verdicts

    def waiting(self, event: Event, chosen: int) -> tuple[Facts, list[_CompiledRule]]:
        """Return the selected rules that still need an answer: nothing cheap has excluded them."""
        facts = Facts(event)
        entries = _select(self.entries, self.candidates(event) & chosen)
        return facts, [entry for entry in entries if entry.eager is None or entry.eager(facts)]


_new: Final = tuple.__new__
"""Creates a named tuple in a third of its constructor's time."""


def _decide_entry(entry: _CompiledRule, facts: Facts, course: _Course) -> RuleVerdict:
    keys = course.keys_of(entry, facts.event)
    held_by = course.holds(entry, facts, keys)
    if held_by is None:
        course.note(entry.rule)
    return RuleVerdict(entry.rule.name, entry.version, entry.rule, held_by is None, held_by, keys)


_FEW: Final = 1 << 64
_PLACES: Final = [tuple(bit for bit in range(8) if byte >> bit & 1) for byte in range(256)]
"""Positions of the bits set in each byte."""


def _select(items: Sequence[_Item], mask: int) -> list[_Item]:
    """Return the items whose bits are set, in their order."""
    selected: list[_Item] = []
    if mask < _FEW:
        while mask:
            lowest = mask & -mask
            selected.append(items[lowest.bit_length() - 1])
            mask ^= lowest
        return selected
    first, add = 0, selected.append
    for byte in mask.to_bytes((mask.bit_length() + 7) >> 3, "little"):
        if byte:
            for bit in _PLACES[byte]:
                add(items[first + bit])
        first += 8
    return selected


class Ruleset:
    """An immutable set of rules with their versions. Share it between threads; replace it as a whole on an edit.

    `compares_meanings`: whether any rule has a `means`, so that texts have to be embedded before it is decided.
    """

    def __init__(self, rules: Sequence[tuple[Rule, int]]) -> None:
        ordered = sorted(rules, key=lambda item: (-item[0].priority, item[0].name))
        shapes: dict[_Shape, _Keys] = {}
        self._entries = [_compile(rule, version, shapes) for rule, version in ordered]
        self._by_name = {rule.name: (rule, version) for rule, version in ordered}
        self._tables: dict[tuple[int, ...], _Table] = {}
        self._by_type: dict[str, _Table] = {}
        self._flushes: dict[str, list[_CompiledRule]] = {}
        self.compares_meanings = any(entry.meant for entry in self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def rules(self) -> tuple[tuple[Rule, int], ...]:
        """Return the rules with their versions, in the order of evaluation."""
        return tuple((entry.rule, entry.version) for entry in self._entries)

    def get(self, name: str) -> tuple[Rule, int] | None:
        """Return the rule of that name with its version."""
        return self._by_name.get(name)

    def decide(
        self,
        event: Event,
        lookup: Lookup = nothing,
        *,
        now: datetime | None = None,
        similarity: Similarity | None = None,
        on_mismatch: OnMismatch | None = None,
    ) -> list[RuleVerdict]:
        """Return the rules that the event matches, in the order of evaluation.

        The arguments are those of `Facts`. `lookup` is called only for values needed by a rule that may still match.
        """
        table = self._by_type.get(event.event_type) or self._remember_table(event.event_type)
        candidates = table.candidates(event, on_mismatch)
        if not candidates:
            return []
        repeats = bool(event.lineage) and table.repeats(event)
        if not repeats and not candidates & table.unsettled:
            return _select(table.fired, candidates)
        facts = Facts(event, lookup, now=now, similarity=similarity, on_mismatch=on_mismatch)
        return table.decide(facts, candidates, repeats=repeats)

    def asks(self, event: Event) -> frozenset[str]:
        """Return the looked-up names that deciding on the event may need, so that a batch can request all at once."""
        table = self._table(event.event_type)
        if not table.asking:
            return frozenset()
        _, entries = table.waiting(event, table.asking)
        return frozenset().union(*(entry.asks for entry in entries))

    def texts(self, event: Event) -> frozenset[str]:
        """Return the texts whose meaning deciding on the event may compare, so that a batch is embedded at once.

        They come from the event and from the rules: at most two for each comparison, of which a quantifier makes at
        most `MAX_MEANT`.
        """
        table = self._table(event.event_type)
        if not table.meaning:
            return frozenset()
        facts, entries = table.waiting(event, table.meaning)
        return frozenset(text for entry in entries for node in entry.meant for text in texts_compared(node, facts))

    def flushed_by(self, event: Event) -> list[Flush]:
        """Return the debounces that the event ends at once, each for the event's key."""
        entries = self._flushes.get(event.event_type)
        if entries is None:
            entries = self._remember_flushes(event.event_type)
        return [
            Flush(entry.rule.name, entry.version, flow_key(entry.rule.flow.debounce.key, event))
            for entry in entries
            if entry.rule.flow.debounce is not None
        ]

    def _remember_flushes(self, event_type: str) -> list[_CompiledRule]:
        if len(self._flushes) >= MAX_CACHED_TYPES:
            self._flushes.clear()
        self._flushes[event_type] = entries = [
            entry
            for entry in self._entries
            if (wait := entry.rule.flow.debounce) and any(matches(kind, event_type) for kind in wait.flush_on)
        ]
        return entries

    def _table(self, event_type: str) -> _Table:
        return self._by_type.get(event_type) or self._remember_table(event_type)

    def _remember_table(self, event_type: str) -> _Table:
        indexes = tuple(
            index
            for index, entry in enumerate(self._entries)
            if any(matches(pattern, event_type) for pattern in entry.rule.event_types)
        )
        table = self._tables.get(indexes)
        if table is None:
            table = self._tables[indexes] = _Table([self._entries[index] for index in indexes])
        if len(self._by_type) >= MAX_CACHED_TYPES:
            self._by_type.clear()
        self._by_type[event_type] = table
        return table
