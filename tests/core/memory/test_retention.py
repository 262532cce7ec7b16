from __future__ import annotations

from core.memory import decay, retention
from core.storage.db import Database
from tests.factories import (
    a_memory,
    carry_out,
    close,
    memory_row,
)
from tests.samples import TENANT


def test_a_new_threshold_or_formula_draws_every_curve_anew(app: Database) -> None:
    several = [a_memory(f"Ada has cat number {n}.") for n in range(5)]
    carry_out(app, *several)
    with app.tenant(TENANT) as tx:
        assert not retention.align(tx, TENANT, "fading", decay.UNDER)
        assert retention.align(tx, TENANT, "weekly", 0.1)
        last, pages = None, 0
        while pages == 0 or last is not None:
            last, pages = retention.redraw(tx, TENANT, last, 2), pages + 1
    assert pages == 3
    for one in several:
        stands = memory_row(app, one.id)
        curve = decay.weekly(decay.Facts(stands.importance, stands.category))
        assert close(stands.fade_at, curve.fade_at(stands.recorded_at, 0.1))
