from __future__ import annotations

import pytest

from core.config import Settings
from core.documents import preparation
from core.documents.chunking import MARKDOWN
from core.documents.preparation import SentDocument
from core.errors import Invalid
from core.storage.db import Database
from tests.core.documents.samples import HOSTILE, asked, contents, kept
from tests.core.erasing import holding


@pytest.mark.parametrize("where", ["title", "heading"])
def test_under_a_hostile_title_or_heading_nothing_is_shown(app: Database, settings: Settings, where: str) -> None:
    content = f"# {HOSTILE if where == 'heading' else 'Meals'}\n\n" + "A dinner costs ten euros. " * 100
    saved = kept(app, settings, content, title=HOSTILE if where == "title" else "Fine")
    assert len(saved.apart) == saved.passages > 1
    assert asked(app, "dinner") == []


def test_secrets_are_replaced_by_what_they_are(app: Database, settings: Settings) -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"
    said = f"The key is {secret} for all."
    saved = kept(app, settings, f"# Access\n\n{said}", title=said, metadata={"note": [said]}, user_id="ada")
    assert holding(app, secret) == []
    assert "[redacted" in saved.document.content
    (best, *_) = asked(app, "key")
    assert best.passage is not None
    place = slice(best.passage.from_char, best.passage.to_char)
    assert saved.document.content[place] == best.passage.content
    for fields in ({"content": said}, {"metadata": {"a": said}}, {"title": said}):
        strict = settings.model_copy(update={"secrets": "refuse"})
        (place_, *_) = fields
        with pytest.raises(Invalid) as refused:
            preparation.prepare(SentDocument(**{"content": "Fine.", **fields}), strict)  # type: ignore[arg-type]
        assert [p.pointer for p in refused.value.problems] == [f"/{place_}"]
        assert secret not in str(refused.value)


def test_an_address_with_a_password_in_it_is_refused(settings: Settings) -> None:
    with pytest.raises(Invalid) as refused:
        preparation.prepare(SentDocument("Fine.", uri="https://ada:hunter2hunter2@example.com/x"), settings)
    assert [p.pointer for p in refused.value.problems] == ["/uri"]
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("sent", "pointer", "words"),
    [
        (SentDocument(""), "/content", "no text"),
        (SentDocument(" \n\ufeff\r\n"), "/content", "no text"),
        (SentDocument("a\x00b"), "/content", "U+0000"),
        (SentDocument("é" * 600), "/content", "1200 bytes; at most 1000"),
        (SentDocument("a", metadata={"a": "x" * 70_000}), "/metadata", "65536"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_its_place(
    settings: Settings, sent: SentDocument, pointer: str, words: str
) -> None:
    with pytest.raises(Invalid) as refused:
        preparation.prepare(sent, settings.model_copy(update={"document_bytes": 1000}))
    ((problem),) = refused.value.problems
    assert problem.pointer == pointer
    assert words in problem.detail


def test_a_document_of_too_many_passages_is_refused(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "MOST_PASSAGES", 3)
    assert len(preparation.prepare(SentDocument("# a\nx\n" * 3), settings).pieces) == 3
    with pytest.raises(Invalid, match="4 passages; at most 3"):
        preparation.prepare(SentDocument("# a\nx\n" * 4), settings)


def test_ends_of_lines_marks_and_emoji_stay_as_they_were_sent(app: Database, settings: Settings) -> None:
    content = "# A\r\n\r\nDinner 👩‍👩‍👧 for three.\r\n"
    saved = kept(app, settings, "\ufeff" + content)
    assert saved.document.content == content
    assert (saved.document.media_type, saved.document.title) == (MARKDOWN, "A")
    assert contents(asked(app, "dinner")) == [content.strip()]
