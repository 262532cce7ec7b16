"""Agents that a rule may run, and the events they cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core import agents, plugins

TARGETS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(plugins.names(plugins.AGENTS), ()),
    **{name: spec.emits for name, spec in agents.AGENTS.items() if spec.is_target},
}
"""Agents that `run_agent` may name, including plug-ins, with the events they cause."""

APPROVALS: Final = ("approval.requested", "approval.decided")
"""Events of rules whose actions are held for approval."""
