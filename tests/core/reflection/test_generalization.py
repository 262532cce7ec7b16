from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from core.storage.db import Database
from core.types import Category, Evidence
from tests.core.reflection.series import EMBEDDER, RUNS, TOKYO, drawn, found, in_turn, said
from tests.factories import NOW, carry_out


def test_facts_about_one_thing_become_knowledge_in_their_own_words(app: Database) -> None:
    carry_out(app, *in_turn(TOKYO, subject="Initech", category=Category.FACT))
    assert found(app)["derived"] == 1
    (one,) = drawn(app)
    assert (one.category, one.subject) == ("knowledge", "Initech")
    assert one.content == f"About Tokyo, office: {' '.join(TOKYO)}"


def test_chinese_is_worded_in_chinese(app: Database) -> None:
    carry_out(app, *in_turn([f"小明和{name}去跑步了。" for name in ("小红", "小刚", "小李", "小王")], subject="小明"))
    found(app)
    (one,) = drawn(app)
    assert one.content == f"小明经常去跑步：{NOW:%Y-%m-%d}至{NOW + timedelta(days=9):%Y-%m-%d}共4天。"


def test_three_are_no_pattern_nor_is_what_was_said_in_one_breath(app: Database) -> None:
    carry_out(app, *in_turn(RUNS[:3]))
    assert found(app) == {"looked_at": 3}
    quote = Evidence("s9", "m9", "e9", "I run")
    carry_out(app, *(said(one, subject="bob", evidence=(quote,), occurred_at=NOW) for one in RUNS))
    assert found(app) == {"looked_at": 9}


def test_facts_that_share_only_words_of_every_talk_are_no_knowledge(app: Database) -> None:
    plain = [
        "Cats love to make a mess.",
        "Bread will love to make it.",
        "Rain makes what we love.",
        "They make, he loves.",
    ]
    near = EMBEDDER.embed(["something"])[0]
    facts = in_turn(plain, subject="Initech", category=Category.FACT)
    carry_out(app, *(replace(add, vector=near) for add in facts))
    assert found(app) == {"looked_at": 4}
