from __future__ import annotations

from datetime import timedelta

from core.storage.db import Database
from core.types import Evidence
from tests.core.reflection.series import RUNS, drawn, found, in_turn, said
from tests.factories import NOW, carry_out


def test_chinese_is_worded_in_chinese(app: Database) -> None:
    carry_out(app, *in_turn([f"小明和{name}去跑步了。" for name in ("小红", "小刚", "小李", "小王")], subject="小明"))
    found(app)
    (one,) = drawn(app)
    assert one.content == f"小明经常：跑步（{NOW:%Y-%m-%d}至{NOW + timedelta(days=9):%Y-%m-%d}共4天）。"


def test_three_are_no_pattern_nor_is_what_was_said_in_one_breath(app: Database) -> None:
    carry_out(app, *in_turn(RUNS[:3]))
    assert found(app) == {"looked_at": 3}
    quote = Evidence("s9", "m9", "e9", "I run")
    carry_out(app, *(said(one, subject="bob", evidence=(quote,), occurred_at=NOW) for one in RUNS))
    assert found(app) == {"looked_at": 9}
