"""`/v1/documents`, passages in `/v1/search`, and `imprint documents`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from httpx import Response

from api.http.search import documents
from core.config import Settings
from core.storage.db import Database
from core.types import Json
from tests.commands import Imprint
from tests.core.documents.samples import HOSTILE, RULES
from tests.core.erasing import a_word, holding
from tests.doors import OTHER, Doors, key_of, opened
from tests.samples import TENANT, accept, said

MARKDOWN = {"content-type": "text/markdown; charset=utf-8"}


@pytest.fixture
def small(settings: Settings) -> Iterator[Doors]:
    """A door that takes documents of 1,000 bytes."""
    with opened(settings.model_copy(update={"document_bytes": 1000})) as doors:
        yield doors


def sent(door: Doors, content: str = RULES, status: int = 201, **fields: Any) -> Json:
    answer = door.post("/v1/documents", {"content": content, **fields})
    assert answer.status_code == status, answer.text
    found: Json = answer.json()
    return found


def found(door: Doors, query: str, user: str = "ada", tenant: str = TENANT, **fields: Any) -> list[Json]:
    asked = {"query": query, "user_id": user, "include": ["documents"], **fields}
    answer = door.post("/v1/search", asked, tenant=tenant)
    assert answer.status_code == 200, answer.text
    results: list[Json] = answer.json()["results"]
    return results


def refused(answer: Response, status: int = 422) -> list[str]:
    """The places that a refusal names."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    return [one["pointer"] for one in answer.json().get("errors", [])]


def test_a_document_is_answered_with_what_became_of_it(door: Doors) -> None:
    answer = sent(door, uri="rules.md", user_id="ada", metadata={"by": "office"})
    assert {n: answer[n] for n in ("version", "passages", "fate", "apart", "title", "media_type")} == {
        "version": 1,
        "passages": 2,
        "fate": "added",
        "apart": [],
        "title": "Travel rules",
        "media_type": "text/markdown",
    }
    assert (answer["user_id"], answer["group_id"], answer["uri"]) == ("ada", None, "rules.md")
    again = sent(door, status=200, uri="rules.md", user_id="ada", metadata={"by": "office"})
    assert (again["id"], again["version"], again["fate"]) == (answer["id"], 1, "unchanged")
    new = sent(door, "Else.", uri="rules.md", user_id="ada")
    assert (new["id"], new["version"], new["fate"], new["passages"]) == (answer["id"], 2, "updated", 1)


@pytest.mark.parametrize("media_type", ["text/markdown", "text/plain"])
def test_a_text_may_come_as_it_is(door: Doors, media_type: str) -> None:
    answer = door.ask(
        "POST",
        "/v1/documents",
        content="# 差旅\r\n\r\n晚餐 👍".encode(),
        headers={"content-type": media_type},
        params={"title": "T", "uri": "a b/ü.md", "user_id": "ada", "group_id": "crew"},
    )
    assert answer.status_code == 201, answer.text
    shown = door.get(f"/v1/documents/{answer.json()['id']}").json()
    assert {n: shown[n] for n in ("content", "media_type", "title", "uri", "user_id", "group_id")} == {
        "content": "# 差旅\r\n\r\n晚餐 👍",
        "media_type": media_type,
        "title": "T",
        "uri": "a b/ü.md",
        "user_id": "ada",
        "group_id": "crew",
    }


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        (b"{}", ["/content"]),
        (b"no json", [""]),
        (b"[]", [""]),
        (b'{"content": ""}', ["/content"]),
        (b'{"content": "a\\u0000b"}', ["/content"]),
        (b'{"content": 1, "title": ""}', ["/content", "/title"]),
        (b'{"content": "\\ud800"}', [""]),
        (b'{"content": "a", "media_type": "text/html"}', ["/media_type"]),
        (b'{"content": "a", "more": 1}', ["/more"]),
        (b'{"content": "a", "uri": "a\\nb"}', ["/uri"]),
        (b'{"content": "a", "uri": "https://ada:hunter2hunter2@example.com/"}', ["/uri"]),
        (b'{"content": "a", "metadata": []}', ["/metadata"]),
        (b'{"content": "%s"}' % (b"x" * 1001), ["/content"]),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(small: Doors, body: bytes, pointers: list[str]) -> None:
    answer = small.ask("POST", "/v1/documents", content=body, headers={"content-type": "application/json"})
    assert refused(answer) == pointers
    assert "hunter2" not in answer.text
    assert small.get("/v1/documents").json()["items"] == []


@pytest.mark.parametrize("content", [b"", b"  \n", b"\xff\xfe", b"a\x00b", b"x" * 1001])
def test_a_text_that_does_not_fit_is_refused(small: Doors, content: bytes) -> None:
    assert refused(small.ask("POST", "/v1/documents", content=content, headers=MARKDOWN)) == ["/content"]


def test_a_name_that_does_not_fit_is_refused_in_the_query_too(door: Doors) -> None:
    for name in ("title", "uri", "user_id", "group_id"):
        answer = door.ask("POST", "/v1/documents", content=b"a", headers=MARKDOWN, params={name: ""})
        assert refused(answer) == [f"/{name}"]


@pytest.mark.parametrize("kind", ["text/html", "application/pdf", "text/plain; charset=utf-16", "nonsense"])
def test_another_kind_of_content_is_refused_as_such(door: Doors, kind: str) -> None:
    answer = door.ask("POST", "/v1/documents", content=b"a", headers={"content-type": kind})
    assert refused(answer, 415) == []
    assert "text/markdown" in answer.json()["title"]


def test_a_null_character_in_metadata_is_refused(door: Doors) -> None:
    assert refused(door.post("/v1/documents", {"content": "a", "metadata": {"a": "\x00"}})) == ["/metadata"]


def test_passages_are_found_with_where_they_stand(door: Doors) -> None:
    document = sent(door, uri="rules.md")
    (best, *_) = found(door, "What may a dinner cost?")
    content = door.get(f"/v1/documents/{document['id']}").json()["content"]
    assert (best["id"], best["type"]) == (f"{document['id']}#2", "document")
    assert best["content"].startswith("# Expenses")
    assert (best["title"], best["headings"], best["uri"]) == ("Travel rules", ["Expenses", "Meals"], "rules.md")
    (source,) = best["sources"]
    assert (source["document_id"], source["passage"], source["quote"]) == (document["id"], 2, best["content"])
    assert content[source["from"] : source["to"]] == best["content"]
    assert best["occurred_at"] == document["updated_at"]
    nulls = ("kind", "category", "topic", "importance", "strength", "confidence", "trust", "valid_from", "valid_to")
    assert [best[name] for name in nulls] == [None] * len(nulls)
    assert [source[name] for name in ("event_id", "message_id", "session_id")] == [None] * 3


def test_what_is_included_is_what_comes(door: Doors, app: Database) -> None:
    accept(app, said("A dinner with Bob."))
    sent(door)
    assert {one["type"] for one in found(door, "dinner")} == {"document"}
    assert {one["type"] for one in found(door, "dinner", include=["messages"])} == {"message"}
    both = door.post("/v1/search", {"user_id": "ada", "query": "dinner", "explain": True}).json()
    assert {one["type"] for one in both["results"]} == {"document", "message"}
    for one in both["results"]:
        assert sum(one["scores"]["parts"].values()) == pytest.approx(one["score"])


def test_documents_are_listed_newest_first_and_shown_one_by_one(door: Doors) -> None:
    ids = [sent(door, f"Text {n}.", uri=f"u{n}", user_id="ada")["id"] for n in range(5)]
    sent(door, "Crew's.", group_id="crew")
    first = door.get("/v1/documents", params={"user_id": "ada", "limit": 3}).json()
    rest = door.get("/v1/documents", params={"user_id": "ada", "limit": 3, "after": first["next"]}).json()
    assert [one["id"] for one in first["items"] + rest["items"]] == ids[::-1]
    assert rest["next"] is None
    assert "content" not in first["items"][0]
    assert [one["id"] for one in door.get("/v1/documents", params={"uri": "u2"}).json()["items"]] == [ids[2]]
    assert len(door.get("/v1/documents", params={"group_id": "crew"}).json()["items"]) == 1
    shown = door.get(f"/v1/documents/{ids[0]}").json()
    assert (shown["content"], "passages" in shown) == ("Text 0.", False)
    cut = door.get(f"/v1/documents/{ids[0]}", params={"passages": True}).json()["passages"]
    assert cut == [{"passage": 1, "headings": [], "content": "Text 0.", "from": 0, "to": 7, "served": True}]


def test_documents_below_a_prefix_are_listed_and_searched_alone(door: Doors) -> None:
    below = [sent(door, f"Tea is brewed at {n} degrees.", uri=f"notes/%_{n}", user_id="ada")["id"] for n in range(3)]
    sent(door, "Tea is brewed by Bob.", uri="notes/x", user_id="ada")
    sent(door, "Tea is brewed at noon.", user_id="ada")
    asked = {"user_id": "ada", "uri_prefix": "notes/%_", "limit": 2}
    first = door.get("/v1/documents", params=asked).json()
    rest = door.get("/v1/documents", params=asked | {"after": first["next"]}).json()
    assert [one["id"] for one in first["items"] + rest["items"]] == below[::-1]
    hits = found(door, "When is tea brewed?", include=["documents"], uri_prefix="notes/%_")
    assert {one["id"].partition("#")[0] for one in hits} == set(below)
    assert found(door, "When is tea brewed?", include=["documents"], uri_prefix="%") == []
    assert refused(door.get("/v1/documents", params={"uri_prefix": "a" * 601})) == ["/uri_prefix"]


def test_a_hostile_passage_is_said_and_not_served(door: Doors) -> None:
    answer = sent(door, f"# A\n\nA dinner costs ten.\n\n# B\n\n{HOSTILE}")
    ((one),) = answer["apart"]
    assert (one["passage"], "instruction" in one["reason"]) == (2, True)
    cut = door.get(f"/v1/documents/{answer['id']}", params={"passages": True}).json()["passages"]
    assert [one["served"] for one in cut] == [True, False]
    assert [one["content"] for one in found(door, "dinner instructions")] == ["# A\n\nA dinner costs ten."]


def test_a_deleted_document_is_gone(door: Doors, app: Database) -> None:
    word = a_word()
    document = sent(door, f"# {word}\n\n{word}", title=word, uri=word, metadata={"a": word}, user_id="ada")
    assert found(door, word)
    gone = door.ask("DELETE", f"/v1/documents/{document['id']}")
    assert (gone.status_code, gone.json()) == (200, {"id": document["id"], "deleted": True, "passages": 1})
    assert found(door, word) == []
    assert holding(app, word) == []
    for method in ("GET", "DELETE"):
        assert door.ask(method, f"/v1/documents/{document['id']}").status_code == 404


def test_another_tenant_neither_sees_nor_changes_nor_deletes_it(door: Doors) -> None:
    document = sent(door, uri="rules.md")
    for method in ("GET", "DELETE"):
        assert door.ask(method, f"/v1/documents/{document['id']}", tenant=OTHER).status_code == 404
    assert door.get("/v1/documents", tenant=OTHER).json()["items"] == []
    assert found(door, "dinner", tenant=OTHER) == []
    theirs = door.post("/v1/documents", {"content": "Else.", "uri": "rules.md"}, tenant=OTHER).json()
    assert (theirs["version"], theirs["id"] != document["id"]) == (1, True)
    assert door.get(f"/v1/documents/{document['id']}").json()["version"] == 1


def test_a_key_needs_the_scope_for_what_it_does(door: Doors, settings: Settings) -> None:
    document = sent(door)
    reader, writer = (key_of(settings, TENANT, (scope,)) for scope in ("read", "write"))
    assert door.post("/v1/documents", {"content": "a"}, key=reader).status_code == 403
    assert door.ask("DELETE", f"/v1/documents/{document['id']}", key=reader).status_code == 403
    for path in ("/v1/documents", f"/v1/documents/{document['id']}"):
        assert door.get(path, key=writer).status_code == 403
        assert door.get(path, key=reader).status_code == 200


def test_the_manual_of_the_routes_names_what_may_be_sent(door: Doors) -> None:
    body = door.get("/openapi.json").json()["paths"]["/v1/documents"]["post"]["requestBody"]["content"]
    assert set(body) == {"application/json", "text/markdown", "text/plain"}
    assert set(body["application/json"]["schema"]["properties"]) == set(documents.DocumentRequest.model_fields)


def test_files_are_added_listed_shown_and_deleted_from_the_command_line(imprint: Imprint, tmp_path: Path) -> None:
    rules, notes = tmp_path / "rules.md", tmp_path / "notes.txt"
    rules.write_text(RULES, encoding="utf-8")
    notes.write_bytes(b"\xef\xbb\xbf# no heading\r\n")
    added = imprint("documents", "add", str(rules), str(notes), "--user", "ada", "--json").json["items"]
    assert [(one["fate"], one["title"], one["uri"]) for one in added] == [
        ("added", "Travel rules", rules.as_posix()),
        ("added", "# no heading", notes.as_posix()),
    ]
    assert "unchanged" in imprint("documents", "add", str(rules), "--user", "ada").out
    listed = imprint("documents", "list", "--user", "ada")
    assert all(word in listed.out for word in (added[0]["id"][-8:], "2 passages", "ada"))
    assert imprint("documents", "show", added[0]["id"]).out == RULES
    assert "Expenses › Meals" in imprint("documents", "show", added[0]["id"], "--passages").out
    assert "with 2 passages" in imprint("documents", "delete", added[0]["id"]).out
    gone = imprint("documents", "show", added[0]["id"])
    assert (gone.code, "There is no document" in gone.err) == (1, True)


def test_a_text_comes_from_standard_input_too(imprint: Imprint) -> None:
    added = imprint("documents", "add", "-", "--title", "T", "--group", "crew", stdin=f"{HOSTILE}")
    assert (added.code, "added" in added.out, "T" in added.out) == (0, True, True)
    assert "passage 1 is not shown: instruction" in added.err


def test_what_is_no_text_is_not_sent(imprint: Imprint, tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(b"\x89PNG\xff")
    for file in (picture, tmp_path / uuid4().hex):
        refusal = imprint("documents", "add", str(file))
        assert (refusal.code, str(file) in refusal.err.replace("\n", "")) == (1, True)
    assert imprint("documents", "add", str(picture), str(picture), "--title", "T").code == 2
    assert imprint("documents", "list", "--json").json["items"] == []
