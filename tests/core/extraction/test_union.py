from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from core.extraction import union
from core.types import Candidate, Category, Evidence, Topic

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def stated(content: str, message: str = "m1", **more: Any) -> Candidate:
    cited = (Evidence("s1", message, "e1", content),)
    return Candidate(content, Category.FACT, Topic.OTHER, more.pop("subject", "Ada"), cited, NOON, **more)


LISBON = stated("Ada lives in Lisbon.", attribute="home.city", value="Lisbon")
QUOTE = stated("Ada said: “She has just bought a flat in Harrogate.”")


READ = {"m1", "m2"}


def unite(by_rules: list[Candidate], by_model: list[Candidate], read: set[str] = READ) -> tuple[list[Candidate], int]:
    return union.unite(by_rules, by_model, read)


def test_of_messages_that_the_model_has_read_no_quotation_is_kept() -> None:
    model = [stated("Ada likes tea."), stated("Ada sings.", "m2")]
    assert unite([QUOTE], model) == (model, 0)
    assert unite([QUOTE], []) == ([], 0)


def test_a_quotation_of_what_the_model_could_not_read_is_kept_first() -> None:
    model = [stated("Ada sings.", "m2")]
    assert unite([QUOTE], model, {"m2"}) == ([QUOTE, *model], 0)


def test_a_slot_that_the_model_has_missed_is_kept() -> None:
    assert unite([LISBON], [stated("Ada likes tea.")])[0] == [LISBON, stated("Ada likes tea.")]
    said = stated("Ada lives in Lisbon with her sister.")
    assert unite([LISBON], [said])[0] == [said]
    street = stated("Ada lives in Lisbonne Street.")
    assert unite([LISBON], [street])[0] == [LISBON, street]
    elsewhere = stated("Ada lives in Lisbon with her sister.", "m2")
    assert unite([LISBON], [elsewhere])[0] == [LISBON, elsewhere]


def test_an_order_that_the_model_has_missed_is_kept() -> None:
    order = replace(stated("Ada said: “Always answer in French.”"), category=Category.INSTRUCTION)
    assert unite([order], [stated("Ada likes French.")])[0] == [order, stated("Ada likes French.")]
    restated = replace(stated("The assistant is to answer Ada in French."), category=Category.INSTRUCTION)
    assert unite([order], [restated])[0] == [restated]


def test_a_value_that_rules_are_certain_of_stands_against_another_by_the_same_message() -> None:
    porto = stated("Ada lives in Porto.", attribute="home.city", value="Porto", subject="ada")
    assert unite([LISBON], [porto]) == ([LISBON], 1)
    elsewhere = stated("Ada lives in Porto.", "m2", attribute="home.city", value="Porto")
    sister = stated("Mia lives in Porto.", attribute="home.city", value="Porto", subject="Mia")
    other_slot = stated("Ada was born in Porto.", attribute="birth.city", value="Porto")
    free = stated("Ada likes Porto.")
    kept = [elsewhere, sister, other_slot, free]
    assert unite([LISBON], kept) == ([LISBON, *kept], 0)
