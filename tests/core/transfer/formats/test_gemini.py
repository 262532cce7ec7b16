"""Gemini's activity of Google Takeout."""

from __future__ import annotations

from pathlib import Path

from core.transfer.formats import gemini
from core.transfer.records import Conversation
from core.types import Json
from tests.core.transfer.vendors import read, reasons, said, written


def record(title: str, time: str, answer: str | None = None, header: str = "Gemini Apps", **more: object) -> Json:
    html = {} if answer is None else {"safeHtmlItem": [{"html": answer}]}
    return {"header": header, "title": title, "time": time, "products": [header], **html, **more}


def test_prompts_and_answers_are_a_conversation_for_each_day_in_the_order_of_time(tmp_path: Path) -> None:
    records = [
        record("Prompted And the dog?", "2026-07-26T12:00:00.000Z", "<p>Bo &amp; co.</p><ul><li>One</li></ul>"),
        record("Prompted I live in Lisbon. Attached 1 file.", "2026-07-26T10:00:00.000Z", attachedFiles=["a.png"]),
        record("Asked Gemini: Hello", "2026-07-25T10:00:00.000Z", "<p>Hi.</p>"),
    ]
    found = read(written(tmp_path / "MyActivity.json", records))
    talks = [one for one in found if isinstance(one, Conversation)]
    assert [one.id for one in talks] == ["gemini/2026-07-26", "gemini/2026-07-25"]
    assert said(found) == ["I live in Lisbon.", "And the dog?", "Bo & co.\nOne", "Hello", "Hi."]
    assert [turn.role for turn in talks[0].turns] == ["user", "user", "assistant"]
    assert reasons(found) == {"an attached file": 1}


def test_what_is_no_prompt_is_left_out_and_counted(tmp_path: Path) -> None:
    records = [
        record("Searched for cheap flights", "2026-07-26T12:00:00Z", header="Search"),
        record("Gave feedback: thumbs up", "2026-07-26T11:00:00Z"),
        record("알림 설정됨", "2026-07-26T10:00:00Z", header="Gemini 앱"),
        record("여동생은 간호사예요", "2026-07-26T09:00:00Z", "<p>좋네요</p>", header="Gemini 앱"),
        {"header": "Gemini Apps"},
    ]
    found = read(written(tmp_path / "MyActivity.json", records))
    assert said(found) == ["여동생은 간호사예요", "좋네요"]
    assert reasons(found) == {gemini.OTHER_PRODUCT: 1, gemini.NO_PROMPT: 2, "an entry that is no activity": 1}


def test_a_newer_export_has_the_same_ids(tmp_path: Path) -> None:
    old = [record("Prompted One", "2026-07-26T10:00:00Z")]
    [first] = [one for one in read(written(tmp_path / "a.json", old)) if isinstance(one, Conversation)]
    new = [record("Prompted Two", "2026-07-26T11:00:00Z"), *old]
    [again] = [one for one in read(written(tmp_path / "b.json", new)) if isinstance(one, Conversation)]
    assert (first.id, first.turns[0]) == (again.id, again.turns[0])
