"""Explains rules on an event: every condition node with its value, as a router would evaluate it.

In two steps, because no transaction may be open while texts are embedded: `look_up` queries the database, `facts`
embeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from core.errors import Invalid, Problem
from core.storage.db import Tx
from core.types import Event, Json
from rules.document import masking
from rules.document.schema import Rule
from rules.engine import lookups
from rules.engine.conditions import explain, names_looked_up, texts_compared
from rules.engine.ruleset import Ruleset
from rules.engine.similarity import Meanings
from rules.expressions import templates
from rules.expressions.facts import Facts, Lookup


def look_up(tx: Tx, event: Event, rules: Iterable[Rule]) -> Lookup:
    """Look up every name that the rules may need, as of the event."""
    trees = [rule.conditions for rule in rules if rule.conditions is not None]
    names = frozenset[str]().union(*map(names_looked_up, trees))
    return lookups.lookup_of(lookups.ask(tx, [(event, names)]), event)


def facts(event: Event, lookup: Lookup, rules: Sequence[Rule], meanings: Meanings) -> Facts:
    """Return the facts of the event for the conditions of the rules. Embeds the texts that they compare."""
    plain_facts = Facts(event, lookup)
    trees = [rule.conditions for rule in rules if rule.conditions is not None]
    meanings.warm({text for tree in trees for text in texts_compared(tree, plain_facts)})
    return Facts(event, lookup, similarity=meanings.similarity)


def tree(rule: Rule, event_facts: Facts) -> Json | None:
    """Return the conditions with results and actual values; None: the rule has none."""
    return None if rule.conditions is None else explain(rule.conditions, event_facts)


def explain_all(rules: Sequence[tuple[Rule, int]], event_facts: Facts, meanings: Meanings, limit: int) -> list[Json]:
    """Explain each rule on the event, by `explain_rule`.

    Invalid: an action, or the whole answer, would have more than `limit` characters.
    """
    answer, left = [], limit
    for rule, version in rules:
        explanation = {"rule": rule.name, **explain_rule(rule, version, event_facts, meanings, limit)}
        left -= _characters(explanation, left)
        if left < 0:
            detail = f"the answer would have more than {limit:,} characters; try fewer rules, or on a smaller event"
            raise Invalid([Problem("/event", detail)])
        answer.append(explanation)
    return answer


_PLAIN_CHARACTERS: Final = 8
"""Approximate characters of a number, or of the punctuation around a value."""


def _characters(value: Any, most: int) -> int:
    """Return the approximate JSON size of a value; counting stops above `most`."""
    if isinstance(value, str):
        return len(value) + _PLAIN_CHARACTERS
    parts: Iterable[Any] = value if isinstance(value, list | tuple) else ()
    if isinstance(value, Mapping):
        parts = (part for item in value.items() for part in item)
    characters = _PLAIN_CHARACTERS
    for part in parts:
        characters += _characters(part, most - characters)
        if characters > most:
            break
    return characters


def explain_rule(rule: Rule, version: int, event_facts: Facts, meanings: Meanings, limit: int) -> Json:
    """Explain one rule: whether it matches, what would hold it back, and its rendered actions.

    Other rules and the state of flow control are ignored. `keys` are the keys of each flow. Invalid: an action would
    have more than `limit` characters.
    """
    verdicts = Ruleset([(rule, version)]).decide(event_facts.event, event_facts.lookup, similarity=meanings.similarity)
    actions = [action.model_dump(mode="json", exclude_none=True, by_alias=True) for action in rule.actions]
    return {
        "matched": bool(verdicts),
        "held_by": verdicts[0].held_by if verdicts else None,
        "tree": tree(rule, event_facts),
        "keys": dict(verdicts[0].keys) if verdicts else {},
        "actions": [masking.action(templates.render(action, event_facts.event, limit)) for action in actions]
        if verdicts
        else [],
    }
