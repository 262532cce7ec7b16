"""Answers about rules: saving, testing, backtests, statistics."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from pydantic import ConfigDict, Field

from api.ingress.answers import Answer, ProblemPlace, optional, page
from core.types import Json
from rules.flow.alarm_states import AlarmState


class RuleCost(Answer):
    """Worst-case cost of a rule for one event."""

    units: int
    limit: int = Field(description="The most that a rule of this tenant may cost")
    comparisons: int
    lookups: int
    meanings: int


class RuleInForce(Answer):
    """A rule in force."""

    name: str
    version: int
    rule: Json = Field(description="The rule as `GET /v1/rules/schema` describes it, without secrets")


class SavedRule(RuleInForce):
    """A saved rule, with warnings that do not prevent it."""

    warnings: list[ProblemPlace]
    cost: RuleCost


class RuleFiles(Answer):
    """Rules in force as files."""

    files: dict[str, str] = Field(description="Content by file name")


class PlannedRule(Answer):
    """Effect of an import on a rule."""

    name: str
    does: str = Field(description="`create`, `change`, `delete` or `keep`")
    version: int = Field(description="Version in force; 0: there is none")
    diff: str
    warnings: list[ProblemPlace] = optional("Of a rule that is new or changed")
    cost: RuleCost = optional("Of a rule that is new or changed")


class AppliedRule(Answer):
    """A version that an import has put in force."""

    name: str
    version: int


class RuleImport(Answer):
    """The plan of an import, and what was applied of it."""

    plan: list[PlannedRule]
    applied: list[AppliedRule]


class ValidRule(Answer):
    """A valid rule with its warnings."""

    valid: bool
    name: str
    warnings: list[ProblemPlace]
    cost: RuleCost


class RuleTest(Answer):
    """Decision that a rule would take on an event."""

    rule: str
    matched: bool
    held_by: str | None = Field(description="What would hold it back")
    tree: Json | None = Field(description="The conditions with their results and the actual values")
    keys: dict[str, str | None] = Field(description="By what each stage of flow control would count")
    actions: list[Json] = Field(description="The actions with their templates filled in")
    warnings: list[ProblemPlace] = optional("If one rule was tested")


class RuleRevision(Answer):
    """A version of a rule."""

    version: int
    author: str
    author_name: str = Field(description="The name of the key that is the author, where it has one; else `author`")
    comment: str | None
    at: datetime
    rule: Json | None = Field(description="Null: it was deleted")
    diff: str


class DispatchCount(Answer):
    """Dispatches of one target and status."""

    target: str
    status: str
    count: int


class RuleFigures(Answer):
    """Statistics and cost of a rule."""

    rule: str
    matched: int
    fired: int
    gathered: int = Field(description="Matches that a debounce or count took up")
    held: dict[str, int] = Field(description="Matches that were held back, by what")
    dispatches: list[DispatchCount]
    run_seconds_mean: float | None
    run_seconds_p95: float | None
    users: int
    last_acted_at: datetime | None
    model_calls: int
    tokens: int
    cost: float
    memories_added: int
    memories_changed: int


class RuleStats(RuleFigures):
    """Statistics of a rule, beside those of its group."""

    since: datetime | None = Field(alias="from")
    until: datetime | None = Field(alias="to")
    group: str | None
    beside: list[RuleFigures] = Field(description="The same figures for the other rules of its group")
    incomplete_to: datetime | None = Field(
        description="Up to when decisions and dispatches of the period have left by the tenant's retention"
    )


class ComparedRule(Answer):
    """Decisions of one of two rules that are compared."""

    rule: str
    version: int
    mode: str = Field(description="`auto`, `approve` or `shadow`")
    fired: int
    gathered: int
    held: dict[str, int] = Field(description="Matches that were held back, by what")


class ComparedVerdict(Answer):
    """Decision of a rule on an event."""

    verdict: str = Field(description="`fired`, `gathered`, `held` or `no match`")
    reason: str | None = Field(description="What held it back")


class DifferentEvent(Answer):
    """An event on which only one of two rules acted."""

    event_id: str
    event_type: str
    user_id: str | None
    at: datetime = Field(description="When it was decided")
    rule: ComparedVerdict
    beside: ComparedVerdict


class RuleComparison(Answer):
    """Two rules on the same events. A rule acts if it fires or gathers."""

    rule: ComparedRule
    beside: ComparedRule
    since: datetime = Field(alias="from", description="Where the comparison begins")
    until: datetime = Field(alias="to")
    truncated: bool = Field(description="Whether there are older decisions than those compared")
    both: int = Field(description="Events on which both acted")
    only_rule: int
    only_beside: int
    neither: int = Field(description="Events that one of them matched and on which none acted")
    differences: list[DifferentEvent] = Field(description="Events on which only one acted, newest first")


class EmittedEvent(Answer):
    """An event that was emitted."""

    id: str


class RuleRun(Answer):
    """A scheduled rule that was run by hand."""

    rule: str
    version: int
    events: list[EmittedEvent]
    next: str | None = Field(description="What to send as `after` for the next users; null: all of them had it")


class FiredDay(Answer):
    """Firings of a day."""

    day: date
    fired: int


class FiringSample(Answer):
    """A firing of a draft."""

    at: datetime
    events: list[str]
    key: str | None
    user_id: str | None
    actions: list[Json]


class DisplacedRule(Answer):
    """A rule in force that would act on other events than now."""

    rule: str
    times: int
    samples: list[str]


class SampledEvent(Answer):
    """An event on which only one of two versions acts."""

    id: str
    event_type: str
    user_id: str | None
    time: datetime


class VersionComparison(Answer):
    """Events on which the draft and the version in force act."""

    version: int
    both: int
    only_draft: int
    only_in_force: int
    by_day: list[FiredDay] = Field(description="Firings of the version in force")
    only_draft_samples: list[SampledEvent] = Field(description="The last of them, newest first")
    only_in_force_samples: list[SampledEvent] = Field(description="The last of them, newest first")


class ActionEstimate(Answer):
    """Expected cost of an action."""

    action_type: str
    target: str
    times: int
    history: int = Field(description="Earlier dispatches that it is estimated from")
    seconds: float | None
    tokens: float | None
    cost: float | None


class BacktestEstimate(Answer):
    """Expected cost of what a draft would have done."""

    dispatches: int
    seconds: float | None
    tokens: float | None
    cost: float | None
    actions: list[ActionEstimate]
    notes: list[str]


class AlarmTrial(Answer):
    """What an alarm would have done in the period."""

    looks: int = Field(description="Due times")
    raised: int
    cleared: int
    partial: int = Field(description="Looks at which there were too many rows to count, so that nothing changed")
    standing: int = Field(description="Alarms that are raised at the end")


class BacktestResult(Answer):
    """Result of a backtest: the decisions of a draft on the stored log."""

    rule: str
    since: datetime = Field(alias="from")
    until: datetime = Field(alias="to")
    events: int
    expired: int = Field(description="How many of them have lost their payload by the tenant's retention")
    matched: int
    fired: int
    held: dict[str, int]
    gathered: int
    open: int
    by_day: list[FiredDay]
    keys: int
    users: int
    samples: list[FiringSample]
    displaces: list[DisplacedRule]
    releases: list[DisplacedRule]
    compared: VersionComparison | None = Field(description="With the rule in force of the same name")
    estimate: BacktestEstimate
    alarm: AlarmTrial | None = Field(description="Of an alarm: how often it would have been raised and cleared")
    not_simulated: list[str] = Field(
        description="`concurrency`; `dispatches`: counted by their present status, not by that of the time"
    )
    took_ms: int


class RuleSchema(Answer):
    """JSON Schema (2020-12) of a rule."""

    model_config = ConfigDict(extra="allow")

    dialect: str = Field(alias="$schema")
    title: str
    type: str
    properties: dict[str, Any]
    definitions: dict[str, Any] = Field(alias="$defs")


RulePage = page("RulePage", RuleInForce, "The rules in force, by name.")
AlarmPage = page("AlarmPage", AlarmState, "Alarms by rule and key.")
RuleHistory = page("RuleHistory", RuleRevision, "Versions of a rule, newest first.")
