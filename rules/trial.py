"""What a rule makes of one event, told in full: every node of its conditions with its value, as a router would find it.

In two steps, for no transaction may be open while texts are embedded: `look_up` asks the database, `facts` embeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.db import Tx
from core.types import Event, Json
from rules import lookups, templates
from rules.conditions import explain, names_looked_up, texts_compared
from rules.facts import Facts, Lookup
from rules.meaning import Meanings
from rules.ruleset import Ruleset
from rules.schema import Rule


def look_up(tx: Tx, event: Event, rules: Iterable[Rule]) -> Lookup:
    """The answers to every name that any of the rules may ask for, as of the event."""
    trees = [rule.conditions for rule in rules if rule.conditions is not None]
    names = frozenset[str]().union(*map(names_looked_up, trees))
    return lookups.lookup_of(lookups.ask(tx, [(event, names)]), event)


def facts(event: Event, lookup: Lookup, rules: Sequence[Rule], meanings: Meanings) -> Facts:
    """All that the conditions of the rules may ask about the event. Embeds the texts that they compare."""
    known = Facts(event, lookup)
    trees = [rule.conditions for rule in rules if rule.conditions is not None]
    meanings.warm({text for tree in trees for text in texts_compared(tree, known)})
    return Facts(event, lookup, similarity=meanings.similarity)


def tree(rule: Rule, known: Facts) -> Json | None:
    """The conditions with results and actual values; None: it has no conditions."""
    return None if rule.conditions is None else explain(rule.conditions, known)


def told(rule: Rule, version: int, known: Facts, meanings: Meanings) -> Json:
    """Whether the rule would meet the event, what would hold it back, and its actions with their templates filled in.

    Beside no other rules, and before any stage of its flow: what those remember is not looked at. `keys` is what
    each flow would keep apart.
    """
    verdicts = Ruleset([(rule, version)]).decide(known.event, known.lookup, similarity=meanings.similarity)
    actions = [action.model_dump(mode="json", exclude_none=True, by_alias=True) for action in rule.actions]
    return {
        "matched": bool(verdicts),
        "held_by": verdicts[0].held_by if verdicts else None,
        "tree": tree(rule, known),
        "keys": dict(verdicts[0].keys) if verdicts else {},
        "actions": templates.render_actions(actions, known.event) if verdicts else [],
    }
