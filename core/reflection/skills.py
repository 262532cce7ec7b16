"""Procedural memory with success counts."""

from __future__ import annotations

import re
import statistics
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any, Final

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError
from sqlalchemy import text

from core.consolidation import upsert
from core.consolidation.pipeline import Consolidation
from core.consolidation.upsert import PendingUpsert
from core.errors import Never
from core.language import languages
from core.memory import memories
from core.memory.changes import Owner
from core.reflection import workflows
from core.storage.db import Tx
from core.types import Candidate, Category, Event, Evidence, Json, Kind, Topic

RECENT: Final = 20
"""Number of latest durations in the median."""

FAILURES: Final = 5
"""Number of latest failures stored."""

CALLS: Final = 200
"""Number of latest messages and results of a session searched for tool calls."""

QUOTE_CHARACTERS: Final = 500

IMPORTANCE: Final = 0.7
"""Importance of a skill: above most facts, below the threshold of `memory.write.important`."""

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


def _name_only(part: Any) -> Any:
    """Return the name of a step or tool that is given as an object."""
    return next((part[n] for n in ("name", "text", "tool") if n in part), part) if isinstance(part, dict) else part


Part = Annotated[Line, BeforeValidator(_name_only)]


class SkillReport(BaseModel):
    """Optional fields of a skill report in addition to those checked on arrival."""

    model_config = ConfigDict(extra="ignore", strict=True)

    skill: Line | None = None
    task: Part | None = None
    success: bool | None = None
    steps: Annotated[list[Part], Field(max_length=50)] = []
    workflow: Annotated[list[Line], Field(max_length=50), BeforeValidator(workflows.steps)] = []
    tools: Annotated[list[Part], Field(max_length=50)] = []
    goal: Line | None = None
    context: Line | None = None
    outcome: Line | None = None
    error: Line | None = None
    duration_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    group_id: Line | None = None

    @property
    def way(self) -> list[str]:
        """The steps taken: `steps`, else those of `workflow`."""
        return self.steps or self.workflow


class Failure(BaseModel):
    """A failed attempt: when, why, and how it was tried."""

    at: AwareDatetime
    error: str | None = None
    steps: list[str] = []


class Record(BaseModel):
    """A skill as stored in `structured`."""

    model_config = ConfigDict(extra="ignore")

    skill: str = ""
    goal: str | None = None
    steps: list[str] = []
    tools: list[str] = []
    succeeded: Annotated[int, Field(ge=0)] = 0
    failed: Annotated[int, Field(ge=0)] = 0
    last_success: AwareDatetime | None = None
    last_failure: AwareDatetime | None = None
    seconds: list[float] = []
    median_seconds: float | None = None
    failures: list[Failure] = []


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at a skill: what, how, whether it worked, and its evidence."""

    user_id: str
    name: str
    worked: bool
    at: datetime
    evidence: Sequence[Evidence]
    steps: Sequence[str] = ()
    tools: Sequence[str] = ()
    goal: str | None = None
    error: str | None = None
    seconds: float | None = None
    group_id: str | None = None


@dataclass(frozen=True, slots=True)
class LearningResult:
    """Result of an attempt: the change, or why there is none."""

    upsert: PendingUpsert | None
    reason: str


def report(event: Event) -> SkillReport:
    """Read the event's report of a skill. Never: it is malformed."""
    tool_names = workflows.tools(event.payload.get("workflow"))
    payload = {"tools": tool_names, **event.payload} if tool_names else event.payload
    try:
        return SkillReport.model_validate(payload)
    except ValidationError as error:
        faults = "; ".join(
            f"/payload/{'/'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_url=False)
        )
        raise Never(f"{event.event_type} {event.id!r} contains nothing to learn. {faults}") from None


def attempt(tx: Tx, event: Event) -> Attempt | str:
    """Return the attempt that an event reports, with the tools used in its session; or why it teaches nothing.

    Never: its payload is malformed.
    """
    parsed = report(event)
    worked = {"skill.succeeded": True, "skill.failed": False}.get(event.event_type, parsed.success)
    name = parsed.skill or parsed.task
    if event.user_id is None:
        raise Never(f"{event.event_type} {event.id!r} names no user as the owner of the skill.")
    if worked is None:
        return "It does not say whether it worked: `success` is missing."
    if name is None:
        return "It does not say what was done: neither `skill` nor `task` is there."
    calls = _calls(tx, event) if worked else []
    used = [tool for tool, _ in groupby(tool for tools, _ in calls for tool in tools)]
    own = Evidence("", event.id, event.id, (parsed.outcome or parsed.error or name)[:QUOTE_CHARACTERS])
    return Attempt(
        user_id=event.user_id,
        name=name,
        worked=worked,
        at=event.time,
        evidence=[own, *(evidence for _, evidence in calls)],
        steps=parsed.way or used,
        tools=parsed.tools or list(dict.fromkeys(used)),
        goal=parsed.goal or parsed.context,
        error=parsed.error if not worked else None,
        seconds=parsed.duration_seconds,
        group_id=parsed.group_id,
    )


def chain(tx: Tx, event: Event, name: str) -> Attempt | str:
    """Return what rules achieved on the way to an event as an attempt of that skill; or why it teaches nothing."""
    if event.user_id is None:
        raise Never(f"{event.event_type} {event.id!r} names no user as the owner of the skill.")
    done = tx.execute(_DONE, {"seq": event.seq}).all()
    if not done:
        return "No rule has done anything on the way to this event."
    quote = ", ".join(f"{row.rule} → {row.target}" for row in done)[:QUOTE_CHARACTERS]
    return Attempt(
        user_id=event.user_id,
        name=name,
        worked=True,
        at=event.time,
        evidence=[Evidence("", event.id, event.id, quote)],
        steps=[f"{row.rule}: {row.target}" for row in done],
        tools=list(dict.fromkeys(row.target for row in done)),
        seconds=round((done[-1].ended_at - done[0].created_at).total_seconds(), 3),
    )


def learn(consolidation: Consolidation, tenant_id: str, attempt: Attempt) -> LearningResult:
    """Plan how an attempt changes its skill. An event is counted only once."""
    with consolidation.db.tenant(tenant_id) as tx:
        row = upsert.find(tx, Owner(attempt.user_id, attempt.group_id), attempt.user_id, slot(attempt.name))
        evidence = memories.evidence(tx, [row.id]).get(row.id, []) if row is not None else []
    if row is not None and upsert.is_closed(row):
        return LearningResult(None, "What is known of this skill has been put aside by someone.")
    if any(not e.session_id and e.event_id == attempt.evidence[0].event_id for e in evidence):
        return LearningResult(None, "This event was counted already.")
    record = add_attempt(row.structured if row is not None else {}, attempt)
    owner = Owner(attempt.user_id, row.group_id if row is not None else attempt.group_id)
    reason = f"{attempt.name}: {'it worked' if attempt.worked else 'it failed'}."
    pending = upsert.upsert(
        consolidation, tenant_id, owner, _candidate(attempt, record), row, reason, used=attempt.worked
    )
    return LearningResult(pending, reason)


def slot(name: str) -> str:
    """Return the attribute of a skill: case, width and punctuation of its name are ignored, except + and #."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    words = re.sub(r"[^\w+#]+|_", " ", folded).split()
    return f"skill:{' '.join(words) or folded.strip()}"


def add_attempt(before: Mapping[str, Any], attempt: Attempt) -> Json:
    """Return the skill with one more attempt. The steps of the latest success are kept."""
    record = _record(attempt.name, before)
    moment = attempt.at.isoformat()
    if attempt.worked:
        latest = _is_latest(record["last_success"], attempt.at)
        record["succeeded"] += 1
        record |= {"last_success": moment} if latest else {}
        record |= (
            {"steps": list(attempt.steps), "tools": list(attempt.tools)}
            if latest and (attempt.steps or attempt.tools)
            else {}
        )
        record["seconds"] = [*record["seconds"], *([attempt.seconds] if attempt.seconds is not None else [])][-RECENT:]
        record["median_seconds"] = round(statistics.median(record["seconds"]), 3) if record["seconds"] else None
    else:
        record["failed"] += 1
        record |= {"last_failure": moment} if _is_latest(record["last_failure"], attempt.at) else {}
        failure = {"at": moment, "error": attempt.error, "steps": list(attempt.steps)}
        record["failures"] = sorted([*record["failures"], failure], key=lambda f: _time(f["at"]))[-FAILURES:]
    return _as_json(record | ({"goal": attempt.goal} if attempt.goal else {}))


def confidence(record: Mapping[str, Any]) -> float:
    """Return the estimated success of the next attempt (Laplace): a half before the first."""
    succeeded, failed = int(record["succeeded"]), int(record["failed"])
    return round((succeeded + 1) / (succeeded + failed + 2), 4)


def statement_of(record: Mapping[str, Any]) -> str:
    """Return the skill as a sentence that can be followed."""
    name, tried = str(record["skill"]), record["succeeded"] + record["failed"]
    steps = " ".join(f"{number}. {step.rstrip('.。')}." for number, step in enumerate(record["steps"], 1))
    error = record["failures"][-1]["error"] if record["failures"] else None
    tools = [tool for tool in record["tools"] if tool not in record["steps"]]
    phrases = languages.phrases(languages.by_script(name + steps)).skill
    parts = [(phrases.steps if steps else phrases.without_steps).format(name=name, steps=steps)]
    parts += [phrases.goal.format(goal=record["goal"].rstrip("."))] if record["goal"] else []
    parts += [phrases.tools.format(tools=phrases.separator.join(tools))] if tools else []
    parts.append(phrases.worked.format(succeeded=record["succeeded"], tried=tried))
    parts += [phrases.failure.format(error=error.rstrip("."))] if error else []
    return phrases.joiner.join(parts)


def _candidate(attempt: Attempt, record: Json) -> Candidate:
    return Candidate(
        content=statement_of(record),
        category=Category.SKILL,
        topic=Topic.SKILL,
        subject=attempt.user_id,
        evidence=tuple(attempt.evidence),
        occurred_at=max(_time(moment) for moment in (record["last_success"], record["last_failure"]) if moment),
        kind=Kind.PROCEDURAL,
        importance=IMPORTANCE,
        confidence=confidence(record),
        attribute=slot(attempt.name),
        value=record["skill"],
        structured=record,
    )


def _record(name: str, before: Mapping[str, Any]) -> Json:
    """Read the stored counts, without fields of another shape: people may have edited them."""
    try:
        Record.model_validate(before)
    except ValidationError as error:
        wrong = {fault["loc"][0] for fault in error.errors()}
        before = {field: value for field, value in before.items() if field not in wrong}
    return _as_json({"skill": name, **before})


def _as_json(record: Mapping[str, Any]) -> Json:
    """Return a record as stored, with times in one format."""
    return Record.model_validate(record).model_dump(mode="json")


def _is_latest(last: str | None, moment: datetime) -> bool:
    return last is None or _time(last) <= moment


def _time(timestamp: str) -> datetime:
    return datetime.fromisoformat(timestamp)


def _calls(tx: Tx, event: Event) -> list[tuple[list[str], Evidence]]:
    """Return the tools that the session has used since the previous task, in order, with their evidence."""
    if event.session_id is None:
        return []
    rows = tx.execute(_CALLS, {"session": event.session_id, "seq": event.seq, "limit": CALLS}).all()
    # A result repeats the name of a call that the conversation holds already.
    called_rows = [row for row in rows if row.called] or rows
    return [
        (names, Evidence(event.session_id, row.id, row.event_id, (row.content or ", ".join(names))[:QUOTE_CHARACTERS]))
        for row in sorted(called_rows, key=lambda row: row.event_seq)
        if (names := list(_tools(row.calls)))
    ]


def _tools(calls: Any) -> Iterable[str]:
    """Return the names in tool calls: `{"name"}`, `{"tool"}` or, as models write them, `{"function": {"name"}}`."""
    for call in calls if isinstance(calls, list) else []:
        inner = call.get("function") if isinstance(call, dict) else None
        name = (inner.get("name") if isinstance(inner, dict) else None) or _name_only(call)
        if isinstance(name, str) and name.strip():
            yield name.strip()[:QUOTE_CHARACTERS]


_CALLS = text("""
    SELECT * FROM (
        SELECT m.event_seq, m.id, m.event_id, m.content, m.extras -> 'tool_calls' AS calls, true AS called
        FROM messages m
        WHERE m.session_id = :session AND m.extras -> 'tool_calls' IS NOT NULL
        UNION ALL
        SELECT e.seq, e.id, e.id, e.payload ->> 'content', jsonb_build_array(e.payload), false FROM events e
        WHERE e.session_id = :session AND e.event_type = 'tool.result.added'
          AND (e.payload -> 'tool' IS NOT NULL OR e.payload -> 'name' IS NOT NULL)
    ) AS used
    WHERE event_seq < :seq AND event_seq > coalesce((
        SELECT max(seq) FROM events WHERE session_id = :session AND seq < :seq AND event_type = 'task.completed'), 0)
    ORDER BY event_seq DESC LIMIT :limit
""")

_DONE = text("""
    WITH RECURSIVE way AS (
        SELECT seq, causation_id, hop FROM events WHERE seq = :seq
        UNION ALL
        SELECT e.seq, e.causation_id, e.hop FROM way
        JOIN events e ON e.id = way.causation_id AND e.hop < way.hop
    )
    SELECT d.id, d.rule, d.target, d.created_at, d.ended_at FROM dispatches d
    WHERE d.event_seq IN (SELECT seq FROM way) AND d.status = 'done' AND d.rule IS NOT NULL
      AND d.target <> 'skill_learner'
    ORDER BY d.ended_at, d.id
""")
"""Dispatches of the event and of its causes, back to the first event of the chain."""
