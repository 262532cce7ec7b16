"""Conversations to be cut into units, and the units of a session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from core.events.publishing import Author
from core.extraction.protocol import ExtractedUnit
from core.inference.embedders import HashEmbedder
from core.storage.db import Database
from core.summaries import units
from core.summaries.units import ConversationUnit, PendingUnits
from core.types import Json
from tests.samples import TENANT, said

HIKE = (
    "We planned the hike up the mountain trail with tents.",
    "The mountain trail is steep, bring hiking boots for the hike.",
    "I packed the tents and the hiking boots for the mountain.",
    "The trail map shows a mountain hut, we can pitch the tents there.",
    "Hiking that mountain trail with tents takes two days.",
    "Two days of hiking, so more tents and boots for the trail.",
)
TAXES = (
    "The tax office wants the invoice for the accounting year.",
    "Accounting sent the invoice to the tax office late.",
    "Late invoices cost a fee at the tax office, says accounting.",
    "Which invoice did the tax office refuse, accounting asks?",
    "The refused invoice had no tax number, accounting will fix it.",
    "Then accounting files the invoice with the tax office again.",
)
BEIJING = (
    "我想订下周去北京的机票，最好是早上的航班。",
    "早上的航班机票比较贵，去北京的下午航班便宜。",
    "那就订下午的航班，机票要靠窗的座位。",
    "靠窗座位的机票订好了，航班下午三点飞北京。",
    "下午的航班到北京以后，机票还可以改签吗？",
    "下午航班的机票可以改签一次，改签要提前一天。",
)
SOUP = (
    "做番茄牛肉汤要先把牛肉焯水。",
    "牛肉焯水以后，番茄切块放进汤锅。",
    "汤锅里番茄炖牛肉要炖一个小时。",
    "炖好的番茄牛肉汤加一点盐。",
    "盐放多了，牛肉汤太咸，加点水再炖。",
    "加了番茄和水，牛肉汤不咸了。",
)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
GAP = 1800.0


def at(minutes: float) -> str:
    return (NOON + timedelta(minutes=minutes)).isoformat()


def talk(lines: Sequence[str], start: float = 0, **more: Any) -> list[Json]:
    """A message a minute; ids are m and the minute."""
    return [said(one, time=at(start + n), message_id=f"m{start + n:g}", **more) for n, one in enumerate(lines)]


def planned(app: Database, session: str = "s1", retold: Sequence[ExtractedUnit] = (), **more: Any) -> PendingUnits:
    with app.tenant(TENANT) as tx:
        found = units.read(tx, session, extracted_units=retold, **more)
    return units.plan(TENANT, found, HashEmbedder(), GAP, retold)


def write(app: Database, plan: PendingUnits) -> Json:
    with app.tenant(TENANT) as tx:
        return plan.write(tx, Author("unit_writer"))


def wrote(app: Database, session: str = "s1", retold: Sequence[ExtractedUnit] = ()) -> Json:
    return write(app, planned(app, session, retold))


def seen(app: Database, by: str | None = None, session: str = "s1") -> list[ConversationUnit]:
    """The units that a user sees, oldest first."""
    with app.tenant(TENANT) as tx:
        return units.of_session(tx, session, by)[::-1]


def spans(found: Sequence[ConversationUnit]) -> list[tuple[int, int, str]]:
    return [(one.from_position, one.to_position, one.boundary) for one in found]


def words(found: Sequence[ConversationUnit]) -> str:
    """All that units say."""
    return str([(u.subject, u.summary, u.narrative, u.participants, u.keywords, u.facts) for u in found])


def a_slice(
    *minutes: int, subject: str = "Hiking", narrative: str = "They planned a hike.", **more: Any
) -> ExtractedUnit:
    ids = [f"m{minute}" for minute in minutes]
    summary, keywords = more.get("summary", f"In short: {narrative}"), more.get("keywords", ["hike"])
    return ExtractedUnit(ids, subject, summary, narrative, keywords, "p")
