from __future__ import annotations

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


def test_what_both_find_is_kept_the_rules_first() -> None:
    model = [stated("Ada likes tea."), stated("Ada sings.", "m2")]
    assert union.unite([LISBON, QUOTE], model) == ([LISBON, QUOTE, *model], 0)


def test_a_value_that_rules_are_certain_of_stands_against_another_by_the_same_message() -> None:
    porto = stated("Ada lives in Porto.", attribute="home.city", value="Porto", subject="ada")
    assert union.unite([LISBON], [porto]) == ([LISBON], 1)
    same = stated("Ada has a home in Lisbon.", attribute="home.city", value="lisbon")
    elsewhere = stated("Ada lives in Porto.", "m2", attribute="home.city", value="Porto")
    sister = stated("Mia lives in Porto.", attribute="home.city", value="Porto", subject="Mia")
    other_slot = stated("Ada was born in Porto.", attribute="birth.city", value="Porto")
    free = stated("Ada likes Porto.")
    kept = [same, elsewhere, sister, other_slot, free]
    assert union.unite([LISBON], kept) == ([LISBON, *kept], 0)


def test_a_quotation_gives_way_to_a_statement_that_says_all_of_it() -> None:
    restated = stated("Ada's sister Nadia has bought a flat in Harrogate.")
    assert union.unite([QUOTE], [restated]) == ([restated], 0)


def test_a_quotation_stays_beside_a_statement_that_lacks_something_of_it() -> None:
    for content in (
        "Ada's sister Nadia has bought a flat in Leeds.",
        "Ada's sister has not bought a flat in Harrogate.",
        "Ada's sister Nadia likes Harrogate.",
    ):
        assert union.unite([QUOTE], [stated(content)])[0] == [QUOTE, stated(content)], content
    elsewhere = stated("Ada's sister Nadia has bought a flat in Harrogate.", "m2")
    assert union.unite([QUOTE], [elsewhere])[0] == [QUOTE, elsewhere]


def test_what_rules_restate_is_never_left_out() -> None:
    plain = stated("Ada repaired the login on 3 May 2026.")
    model = stated("Ada repaired the login on 3 May 2026 in the morning.")
    assert union.unite([plain], [model])[0] == [plain, model]
