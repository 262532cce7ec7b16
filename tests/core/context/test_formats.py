"""A context as messages, as Anthropic's blocks, as one text: the same words, in the order that a cache likes."""

from __future__ import annotations

import pytest

from core.context import formats
from core.context.assembly import Assembled
from core.context.sections import Section, SectionName, SectionPiece
from core.inference.token_counting import counter
from core.types import Json

COUNTER = counter(None)


def piece(role: str, text: str, position: int = 1) -> SectionPiece:
    return SectionPiece(f"message:s1/m{position}", text, {"type": "message", "position": position}, role=role)


def sheet(*talk: SectionPiece, focus: str = "") -> Assembled:
    sections = [
        Section(SectionName.INSTRUCTIONS, "# Standing Instructions\n- Answer briefly.", 8, 100),
        Section(SectionName.MEMORIES, "# What Is Remembered\n- Ada lives in Lisbon.", 10, 100),
        Section(SectionName.RECENT, "", 20, 100, talk),
        Section(SectionName.FOCUS, focus, 5, 100),
    ]
    return Assembled(sections, None)


TALK = (piece("user", "Hello."), piece("assistant", "Hi."), piece("tool", '{"ok": true}'), piece("user", "And now?"))


def test_messages_begin_with_what_stays_and_end_with_the_question() -> None:
    messages = formats.render(sheet(*TALK, focus="# Remembered"), "messages")["messages"]
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user", "system", "user"]
    assert messages[0]["content"].startswith("# Standing Instructions")
    assert messages[0]["content"].index("Standing") < messages[0]["content"].index("Lisbon")
    assert messages[3]["content"] == '[tool result]\n> {"ok": true}\n[end of tool result]'
    assert messages[-2]["content"] == "# Remembered"
    assert messages[-1]["content"] == "And now?"


def test_anthropics_turns_alternate_and_the_user_speaks_first() -> None:
    shown = formats.render(sheet(piece("assistant", "Hi."), *TALK, focus="# Remembered"), "anthropic")
    roles = [m["role"] for m in shown["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    assert shown["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert [block["text"] for block in shown["messages"][-1]["content"]] == [
        '[tool result]\n> {"ok": true}\n[end of tool result]',
        "# Remembered",
        "And now?",
    ]


def test_without_a_word_of_the_user_anthropics_focus_is_a_turn_of_its_own() -> None:
    shown = formats.render(sheet(focus="# Remembered"), "anthropic")
    assert shown["messages"] == [{"role": "user", "content": [{"type": "text", "text": "# Remembered"}]}]


def test_a_text_holds_all_sections_in_their_order() -> None:
    text = formats.render(sheet(*TALK, focus="# Remembered"), "text")["text"]
    places = [text.index(word) for word in ("# Standing", "# What Is", "# Recent", "user: And now?", "# Remembered")]
    assert places == sorted(places)


@pytest.mark.parametrize("form", ["messages", "anthropic", "text"])
def test_of_nothing_nothing_is_made(form: formats.Format) -> None:
    empty = formats.render(Assembled([], None), form)
    assert empty == formats.nothing(form)
    assert formats.tokens(empty, COUNTER) == 0


def test_every_word_and_every_frame_is_counted() -> None:
    shown: Json = formats.render(sheet(*TALK), "messages")
    words = sum(COUNTER.count(m["content"]) for m in shown["messages"])
    assert formats.tokens(shown, COUNTER) > words
    assert formats.tokens(shown, COUNTER) <= words + 5 * len(shown["messages"])


def test_what_the_system_says_in_a_conversation_is_no_turn_of_anthropics() -> None:
    shown = formats.render(
        sheet(piece("user", "Hello."), piece("system", "Be brief."), piece("user", "So?")), "anthropic"
    )
    assert [m["role"] for m in shown["messages"]] == ["user"]
    assert shown["system"][1:] == [{"type": "text", "text": "Be brief."}]
    assert formats.tokens(shown, COUNTER) > formats.tokens({**shown, "system": shown["system"][:1]}, COUNTER)
