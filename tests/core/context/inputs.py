"""What a context is assembled from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from core.context import assembly
from core.context.assembly import Assembled, ContextMaterial
from core.context.budget import Budget, split_limit
from core.context.packing import Packer
from core.context.reader import OwnerMaterial, SessionView
from core.context.sections import SectionName
from core.inference.token_counting import counter
from core.plans.tracker import SessionPlan
from core.plans.tree import PlanNode
from core.search.candidates import Hit
from core.search.ordering import RankedHit
from core.search.question import SearchResult
from core.summaries.key_messages import KeyMessage
from core.summaries.rolling import Summary
from core.types import Category, Message, Trust

AT = datetime(2026, 5, 4, tzinfo=UTC)


COUNTER = counter(None)


def memory(number: int, content: str, **fields: Any) -> Any:
    plain = {"id": UUID(int=number), "version": 1, "content": content, "trust": Trust.CONFIRMED, "pinned": False}
    times = {"attribute": None, "valid_from": None, "occurred_at": AT + timedelta(days=number)}
    owner = {"user_id": "ada", "group_id": None}
    return SimpleNamespace(**{**plain, **times, **owner, "category": Category.FACT, **fields})


def found(row: Any, score: float = 1.0) -> SearchResult:
    return SearchResult(RankedHit(Hit(str(row.id), "memory", score, None), score, {}), (), memory=row)


def said(position: int, content: str, role: str = "user", session: str = "s1") -> Message:
    return Message(session, f"m{position}", position, f"e{position}", "ada", role, content, AT)


def talk(*messages: Message, hidden: Sequence[str] = (), summary: str = "", steps: Sequence[str] = ()) -> SessionView:
    keys = [KeyMessage("m0", 0, "decision", summary, "Ada")] if summary else []
    told = Summary("s1", 1, summary, keys, 1, None, AT) if summary else None
    tree = tuple(PlanNode(str(n), title, "pending") for n, title in enumerate(steps))
    plans = [SessionPlan("s1", "p1", "ada", None, "Bake", "pending", tree, None, "e1", 1, 1)] if steps else []
    return SessionView("s1", list(messages), frozenset(hidden), told, plans)


def read(**given: Any) -> ContextMaterial:
    plain: dict[str, Any] = {
        "query": "tea",
        "material": OwnerMaterial((), None),
        "profile": {},
        "results": (),
        "earlier": None,
    }
    return ContextMaterial(**{**plain, "standing": {}, "passages": {}, "disputes": {}, "others": {}, **given})


def shown(
    seen: ContextMaterial, limit: int = 2000, budget: Budget | None = None, listener: str | None = None
) -> Assembled:
    packer = Packer(COUNTER, split_limit(limit, budget or Budget()), seen.query, 10, listener=listener)
    return assembly.assemble(packer, seen)


def keys(sheet: Assembled, part: SectionName) -> list[str]:
    section = sheet.section(part)
    return [piece.key for piece in section.pieces] if section else []


def quoted(message: Message, score: float = 1.0) -> SearchResult:
    return SearchResult(RankedHit(Hit(message.id, "message", score, None), score, {}), (), message=message)


def a_long_talk() -> SessionView:
    return talk(*[said(n, f"In line {n} of it we talk about the weather of the week.") for n in range(1, 41)])


def with_order(number: int) -> Any:
    return memory(number, f"Ada wants {number}.", category=Category.INSTRUCTION)
