from __future__ import annotations

from core.config import Settings
from core.storage.db import Database
from tests.core.documents.samples import (
    asked,
    contents,
    counted_anew,
    deleted,
    kept,
    term_counts,
)


def test_a_passage_is_found_by_what_it_stands_under(app: Database, settings: Settings) -> None:
    kept(app, settings, "# Whales\n\nThey are big.\n\n# Mice\n\nThey are small.", title="Bestiary")
    (best, *_) = asked(app, "whales", method="keyword")
    assert contents([best]) == ["# Whales\n\nThey are big."]
    long = "# Whales\n\n" + "They are big. " * 200
    kept(app, settings, long, title="Bestiary")
    found = [one for one in asked(app, "whales", method="keyword") if one.ranked.hit.lexical > 0]
    assert len(found) > 3


def test_a_word_that_stands_in_every_passage_says_little(app: Database, settings: Settings) -> None:
    kept(app, settings, "".join(f"# {n}\n\nDinner, dinner, dinner.\n\n" for n in range(10)), title="x")
    kept(app, settings, "Whales.", title="y", user_id="ada")
    assert contents(asked(app, "dinner whales", method="keyword"))[0] == "Whales."


def test_what_stays_counts_as_if_what_is_gone_had_never_been(app: Database, settings: Settings) -> None:
    kept(app, settings, "Tea and dinner.", user_id="ada", group_id="crew")
    kept(app, settings, "Tea for all.")
    before = term_counts(app)
    other = kept(app, settings, "Tea, dinner, whales.", user_id="ada", group_id="crew")
    assert term_counts(app) == counted_anew(app) != before
    deleted(app, other.document.id)
    assert term_counts(app) == counted_anew(app) == before
