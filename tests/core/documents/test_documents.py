from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from core.config import Settings
from core.documents import documents
from core.documents.chunking import PLAIN
from core.documents.documents import SavedDocument
from core.errors import NotFound
from core.index import search_index
from core.inference.embedders import HashEmbedder
from core.memory.as_of import Moment
from core.search import passages as search_passages
from core.search import query
from core.storage.db import Database
from core.types import Json
from tests.core.documents.samples import (
    AUTHOR,
    HOSTILE,
    asked,
    contents,
    counted_anew,
    deleted,
    kept,
    term_counts,
)
from tests.core.erasing import a_word, holding, lived_in, names_forgotten, picture, rows, told, user_erased
from tests.databases import analyzed, carried_out, looked_at
from tests.doors import OTHER
from tests.samples import TENANT
from tests.works import Works


def test_a_document_is_found_by_its_words_from_its_commit_on(app: Database, settings: Settings) -> None:
    saved = kept(app, settings, uri="rules.md", user_id="ada")
    assert (saved.fate, saved.passages, list(saved.apart)) == ("added", 2, [])
    (best, *_) = asked(app, "What may a dinner cost?")
    assert best.passage is not None
    assert best.passage.content.startswith("# Expenses")
    assert (best.passage.title, list(best.passage.headings)) == ("Travel rules", ["Expenses", "Meals"])
    assert (best.passage.document_id, best.passage.position, best.passage.uri) == (saved.document.id, 2, "rules.md")
    assert saved.document.content[best.passage.from_char : best.passage.to_char] == best.passage.content


def test_chinese_is_found_by_its_words(app: Database, settings: Settings) -> None:
    kept(app, settings, "# 差旅规定\n\n晚餐不得超过三十欧元。\n\n# 休假\n\n每年有二十天年假。")
    assert contents(asked(app, "晚餐可以花多少钱？"))[0] == "# 差旅规定\n\n晚餐不得超过三十欧元。"


def test_the_same_from_the_same_place_changes_nothing(app: Database, settings: Settings) -> None:
    first = kept(app, settings, uri="rules.md", metadata={"a": 1})
    before = rows(app, "SELECT * FROM passages"), term_counts(app)
    again = kept(app, settings, uri="rules.md", metadata={"a": 1})
    assert (again.fate, again.document.id, again.document.version) == ("unchanged", first.document.id, 1)
    assert (rows(app, "SELECT * FROM passages"), term_counts(app)) == before
    assert told(app, documents.UPDATED) == []


def test_something_else_from_the_same_place_takes_its_place(app: Database, settings: Settings) -> None:
    first = kept(app, settings, uri="rules.md")
    again = kept(app, settings, "# Expenses\n\nLunch is free.", uri="rules.md")
    assert (again.fate, again.document.id, again.document.version) == ("updated", first.document.id, 2)
    assert again.document.created_at == first.document.created_at < again.document.updated_at
    assert contents(asked(app, "dinner flights receipt lunch")) == ["# Expenses\n\nLunch is free."]
    assert [r.position for r in rows(app, "SELECT * FROM passages")] == [1]
    assert term_counts(app) == counted_anew(app)


@pytest.mark.parametrize("change", [{"title": "Other"}, {"metadata": {"a": 2}}, {"media_type": PLAIN}])
def test_another_title_or_kind_is_a_new_version(app: Database, settings: Settings, change: Json) -> None:
    kept(app, settings, uri="rules.md")
    assert kept(app, settings, uri="rules.md", **change).document.version == 2


def test_the_same_place_of_another_owner_is_another_document(app: Database, settings: Settings) -> None:
    owners: list[Json] = [{}, {"user_id": "ada"}, {"user_id": "bob"}, {"group_id": "ada"}]
    ids = {kept(app, settings, uri="rules.md", **owner).document.id for owner in owners}
    assert len(ids) == len(owners)
    assert {kept(app, settings, uri="rules.md", **owner).fate for owner in owners} == {"unchanged"}
    assert len({kept(app, settings).document.id for _ in range(2)}) == 2


def test_each_sees_their_own_their_groups_and_the_whole_tenants(app: Database, settings: Settings) -> None:
    for owner in ({}, {"user_id": "ada"}, {"user_id": "bob"}, {"group_id": "crew"}, {"group_id": "other"}):
        kept(app, settings, f"A dinner for {'-'.join(owner.values()) or 'all'}.", **owner)
    kept(app, settings, "A dinner in the crew for Ada.", user_id="ada", group_id="crew")
    mine = {"A dinner for ada.", "A dinner in the crew for Ada."}
    ours = {"A dinner for crew.", "A dinner in the crew for Ada."}
    everyones = {"A dinner for all."}
    assert set(contents(asked(app, "dinner"))) == mine | everyones
    assert set(contents(asked(app, "dinner", None, group_id="crew"))) == ours | everyones
    assert set(contents(asked(app, "dinner", group_id="crew"))) == mine | ours | everyones
    assert set(contents(asked(app, "dinner", "carol"))) == everyones
    assert asked(app, "dinner", tenant=OTHER) == []


def test_another_tenants_documents_are_never_found(app: Database, settings: Settings) -> None:
    kept(app, settings, "A dinner with them.", tenant=OTHER)
    kept(app, settings, "A dinner with us.")
    assert contents(asked(app, "dinner")) == ["A dinner with us."]
    assert contents(asked(app, "dinner", tenant=OTHER)) == ["A dinner with them."]


def test_it_is_told_by_ids_alone(app: Database, settings: Settings) -> None:
    saved = kept(app, settings, uri="rules.md", user_id="ada", title="Secret plan")
    named = {"document_id": str(saved.document.id), "user_id": "ada", "passages": 2}
    assert told(app, documents.ADDED) == [{**named, "version": 1}]
    kept(app, settings, "Else.", uri="rules.md", user_id="ada")
    assert told(app, documents.UPDATED) == [{**named, "passages": 1, "version": 2}]
    deleted(app, saved.document.id)
    assert told(app, documents.DELETED) == [{**named, "passages": 1, "version": 2}]


def test_of_a_deleted_document_nothing_remains(app: Database, settings: Settings, works: Works) -> None:
    before, word = term_counts(app), a_word()
    named = {"title": f"T {word}", "uri": f"u/{word}", "metadata": {"k": [word]}, "group_id": "g"}
    saved = kept(app, settings, f"# H {word}\n\n{word} here.\n\n# B\n\n{HOSTILE} {word}", user_id="ada", **named)
    works.settle()
    assert set(holding(app, word)) == {"documents", "passages"}
    assert deleted(app, saved.document.id) == 2
    works.settle()
    assert holding(app, word) == []
    assert term_counts(app) == before
    assert rows(app, "SELECT * FROM search_index") == []
    for method in (documents.get, lambda tx, one: documents.delete(tx, TENANT, one, AUTHOR)):
        with app.tenant(TENANT) as tx, pytest.raises(NotFound):
            method(tx, saved.document.id)


def test_a_user_is_erased_with_their_documents(app: Database, settings: Settings, works: Works) -> None:
    word, name = a_word(), f"u{uuid4().hex}"
    lived_in(app, works, name, word)
    kept(app, settings, f"# {word}\n\n{word} dinner.", user_id=name, title=word, uri=word)
    kept(app, settings, f"{word} dinner.", user_id=name, group_id="crew")
    others = [kept(app, settings, "A dinner.", **owner) for owner in ({}, {"group_id": "crew"}, {"user_id": "bob"})]
    works.settle()
    done = user_erased(app, settings, name)
    works.settle()
    names_forgotten(app)
    assert (done.counts["documents"], done.counts["passages"]) == (2, 2)
    assert [t for t in holding(app, word) if t in {"documents", "passages", "search_index", "dispatches"}] == []
    assert [t for t, found in picture(app, name).items() if found and t in {"documents", "term_counts", "events"}] == []
    assert {r.id for r in rows(app, "SELECT id FROM documents")} == {saved.document.id for saved in others}
    passages = {key: n for key, n in term_counts(app).items() if key[0].startswith(search_index.TENANT_PASSAGES)}
    assert passages == counted_anew(app)
    assert contents(asked(app, "dinner", "bob", group_id="crew")) == ["A dinner."] * 3


def test_a_passage_that_would_command_its_reader_is_kept_and_shown_to_nobody(app: Database, settings: Settings) -> None:
    saved = kept(app, settings, f"# A\n\nA dinner costs ten euros.\n\n# B\n\n{HOSTILE} Dinner.")
    ((apart),) = saved.apart
    assert (apart.position, apart.apart.split(":")[0]) == (2, "instruction")
    assert contents(asked(app, "dinner instructions prompt")) == ["# A\n\nA dinner costs ten euros."]
    with app.tenant(TENANT) as tx:
        assert [one.served for one in documents.cut(tx, saved.document.id)] == [True, False]


def test_a_version_that_is_set_apart_is_not_shown_in_the_place_of_the_one_before(
    app: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(app, settings, "A dinner costs ten euros.", uri="x")
    ordered = query.ordering.cut_page

    def replaced_meanwhile(*given: Any, **how: Any) -> Any:
        kept(app, settings, f"{HOSTILE} Dinner.", uri="x")
        return ordered(*given, **how)

    monkeypatch.setattr(query.ordering, "cut_page", replaced_meanwhile)
    assert asked(app, "dinner") == []


def test_filters_let_through_what_was_put_there_in_time(app: Database, settings: Settings) -> None:
    before = datetime.now(UTC)
    kept(app, settings, "A dinner.")
    after = datetime.now(UTC)
    assert contents(asked(app, "dinner", since=before, until=after)) == ["A dinner."]
    assert asked(app, "dinner", since=after) == []
    assert asked(app, "dinner", until=before) == []
    for name in ("as_of", "known_at"):
        assert asked(app, "dinner", moment=Moment(**{name: before})) == []
        assert contents(asked(app, "dinner", moment=Moment(**{name: after}))) == ["A dinner."]


def test_no_document_was_said_in_a_session(app: Database, settings: Settings) -> None:
    saved = kept(app, settings, "A dinner.")
    assert asked(app, "dinner", session_id="s1") == []
    assert asked(app, "dinner", session_id=str(saved.document.id)) == []


def test_what_only_memories_have_does_not_hide_documents(app: Database, settings: Settings) -> None:
    kept(app, settings, "A dinner.")
    for fields in ({"kinds": ["semantic"]}, {"categories": ["fact"]}, {"topics": ["work"]}, {"min_importance": 1.0}):
        assert contents(asked(app, "dinner", **fields)) == ["A dinner."]


def test_a_list_is_newest_first_a_page_at_a_time(app: Database, settings: Settings) -> None:
    ids = [kept(app, settings, f"Text {n}.", uri=f"u{n}", user_id="ada").document.id for n in range(5)]
    kept(app, settings, "Else, longer.", uri="u0", user_id="ada")
    kept(app, settings, "Bob's.", user_id="bob", group_id="crew")
    with app.tenant(TENANT) as tx:
        first = documents.find(tx, user_id="ada", limit=3)
        rest = documents.find(tx, user_id="ada", before=first[-1].id)
        assert [r.id for r in [*first, *rest]] == ids[::-1]
        assert [(r.version, r.bytes, r.passages) for r in documents.find(tx, uri="u0")] == [(2, 13, 1)]
        assert [r.user_id for r in documents.find(tx, group_id="crew")] == ["bob"]
        assert len(documents.find(tx)) == 6


def test_two_who_send_the_same_place_at_once_make_one_document(app: Database, settings: Settings) -> None:
    made: list[SavedDocument] = []
    contents_ = [f"Dinner number {n}. " * 50 for n in range(4)]
    threads = [
        threading.Thread(target=lambda said=said: made.append(kept(app, settings, said, uri="x", group_id="crew")))
        for said in contents_
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({saved.document.id for saved in made}) == 1
    assert sorted(saved.document.version for saved in made) == [1, 2, 3, 4]
    assert term_counts(app) == counted_anew(app)
    (last,) = rows(app, "SELECT content FROM documents")
    assert "".join(r.content for r in rows(app, "SELECT content FROM passages")).strip() == last.content.strip()


def test_a_vector_made_for_a_passage_is_not_given_to_the_one_in_its_place(app: Database, settings: Settings) -> None:
    saved = kept(app, settings, "A dinner.", uri="x")
    name, embedder = str(saved.document.id), HashEmbedder()
    with app.tenant(TENANT) as tx:
        read = search_index.rows_to_embed(tx, [name], "salt")
    assert [row.text for row in read] == ["A dinner.\nA dinner."]
    kept(app, settings, "A ship.", uri="x")
    with app.tenant(TENANT) as tx:
        search_index.put_vectors(tx, read, embedder.embed([row.text for row in read]))
        (row,) = search_index.rows_to_embed(tx, [name], "salt")
        search_index.put_vectors(tx, [row], embedder.embed([row.text]))
        assert search_index.rows_to_embed(tx, [name], "salt") == []
    (found,) = asked(app, "ship", method="vector")
    assert (found.ranked.hit.cosine or 0) > 0.3
    assert [one.text for one in read] != [row.text]


def test_what_lacks_a_vector_for_another_model_is_listed_with_messages(app: Database, settings: Settings) -> None:
    kept(app, settings, "# H\n\nA dinner.", title="T")
    with app.tenant(TENANT) as tx:
        (row,) = search_index.rows_without_vector(tx, ("", "", ""), 10)
    assert (row.type, row.text) == ("document", "T › H\n# H\n\nA dinner.")


def test_a_search_of_passages_stays_on_its_indexes(app: Database, settings: Settings) -> None:
    """Whatever else a tenant holds: what others have, and all messages, is not read."""
    values = {"terms": "{1:1}/999999937", "vector": None, "arm": 10, "user": "ada", "group": "crew"}
    values |= dict.fromkeys(("since", "until", "as_of", "known_at", "uri_prefix", "metadata"))
    with app.tenant(TENANT) as tx:
        tx.execute(CROWD, {"tenant": TENANT})
    analyzed(settings, "search_index")
    with app.tenant(TENANT) as tx:
        plan = carried_out(tx, search_passages._HITS.text, values)
    assert looked_at(plan, "search_index") == [3, 4, 5], plan


CROWD = text("""
    INSERT INTO search_index (tenant_id, type, session_id, ref, user_id, group_id, occurred_at, terms, own_terms)
    SELECT :tenant, type, type || n, concat("user", "group"), "user", "group", now(), '{1:1}/999999937', '{1}'
    FROM ((VALUES ('document', 'ada', NULL, 3), ('document', NULL, 'crew', 4), ('document', NULL, NULL, 5),
                 ('message', 'ada', 'crew', 4000), ('memory', 'ada', NULL, 2000))
          UNION ALL
          SELECT 'document', 'u' || n, CASE WHEN n % 2 = 0 THEN 'g' || n END, 20 FROM generate_series(1, 200) AS n
         ) AS held (type, "user", "group", count), generate_series(1, count) AS n
""")
"""Three passages of Ada, four of her crew, and five of everyone, among thousands of others and as many messages."""
