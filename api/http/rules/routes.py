"""Routes of the rules: reading, editing, testing and running them."""

from __future__ import annotations

from fastapi import APIRouter

from api.http.rules import activity, alarms, backtest, rules, run_now

router = APIRouter(
    routes=[route for part in (alarms, backtest, activity, rules, run_now) for route in part.router.routes]
)
