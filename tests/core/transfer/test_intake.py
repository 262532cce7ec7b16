"""Records become events that are accepted as they are, with ids that follow from their content."""

from __future__ import annotations

from datetime import UTC, datetime

from core.events import parsing
from core.transfer import intake
from core.transfer.intake import ImportOwner
from core.transfer.records import Conversation, Note, Statement, Turn
from core.types import Json

ADA = ImportOwner("ada")
NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)


def talk(identity: str, *texts: str, group: str | None = None) -> Conversation:
    return Conversation(identity, [Turn(f"t{n}", "user", text, NOON) for n, text in enumerate(texts)], group=group)


def events(*records: Conversation | Statement, owner: ImportOwner = ADA) -> list[Json]:
    made = list(intake.events(records, owner))
    assert parsing.check(made)
    return made


def test_a_session_ends_once_behind_all_its_parts() -> None:
    made = events(talk("a", "One."), talk("a", "Two."), talk("b", "Three."))
    assert [(one["event_type"], one["payload"]["session_id"]) for one in made] == [
        ("message.added", "a"),
        ("message.added", "a"),
        ("session.ended", "a"),
        ("message.added", "b"),
        ("session.ended", "b"),
    ]
    assert made[0]["time"] == NOON.isoformat()


def test_the_same_content_has_the_same_ids_and_other_content_others() -> None:
    first, again, other = events(talk("a", "One.")), events(talk("a", "One.")), events(talk("a", "Two."))
    assert [one["id"] for one in first] == [one["id"] for one in again]
    assert first[0]["id"] != other[0]["id"]
    assert events(talk("a", "One."), owner=ImportOwner("bob"))[0]["id"] != first[0]["id"]


def test_a_conversation_that_has_grown_ends_again() -> None:
    short, long = events(talk("a", "One.")), events(talk("a", "One.", "Two."))
    assert long[0]["id"] == short[0]["id"]
    assert long[-1]["id"] != short[-1]["id"]


def test_a_long_message_becomes_several() -> None:
    made = events(talk("a", "x" * (2 * intake.TEXT + 1)))
    assert [len(one["payload"].get("content", "")) for one in made] == [intake.TEXT, intake.TEXT, 1, 0]
    assert len({one["id"] for one in made}) == 4


def test_the_group_of_a_project_counts_unless_another_is_asked_for() -> None:
    [message, _] = events(talk("a", "One.", group="project:shop"))
    assert message["payload"]["group_id"] == "project:shop"
    [message, _] = events(talk("a", "One.", group="project:shop"), owner=ImportOwner("ada", "team"))
    assert message["payload"]["group_id"] == "team"


def test_statements_that_nobody_has_approved_say_so() -> None:
    [bio] = events(Statement("s", "Likes tea.", NOON, metadata={"source": "x"}))
    assert bio["event_type"] == "memory.requested"
    assert bio["payload"]["tags"] == ["imported", "unreviewed"]
    assert bio["payload"]["structured"] == {"imported": {"source": "x"}}
    [own] = events(Statement("s", "Likes tea.", NOON, metadata={"category": "preference"}))
    assert own["payload"]["category"] == "preference"


def test_statements_about_the_user_name_the_person_and_others_keep_their_subject() -> None:
    [own] = events(Statement("s", "User lives in Lisbon."))
    assert own["payload"]["content"] == "ada lives in Lisbon."
    [agents] = events(Statement("s", "User was helped.", metadata={"subject": "assistant"}))
    assert (agents["payload"]["content"], agents["payload"]["subject"]) == ("User was helped.", "assistant")


def test_a_speaker_that_no_event_may_have_is_cleaned() -> None:
    [message, _] = events(Conversation("a", [Turn("t", "user", "Hi.", speaker=" Ada\nLovelace\t")]))
    assert message["payload"]["speaker"] == "Ada Lovelace"
    [message, _] = events(Conversation("a", [Turn("t", "user", "Hi.", speaker="\n")]))
    assert "speaker" not in message["payload"]


def test_ids_that_no_session_may_have_are_replaced() -> None:
    assert intake.session_id("chatgpt/c1") == "chatgpt/c1"
    for odd in ("a/../b", "a/messages/b", "x" * 300, "a\u200bb"):
        assert intake.session_id(odd).startswith("import/")


def test_a_time_to_come_is_now() -> None:
    [message, _] = events(Conversation("a", [Turn("t", "user", "Hi.", datetime(2900, 1, 1, tzinfo=UTC))]))
    assert datetime.fromisoformat(message["time"]) <= datetime.now(UTC)


def test_a_note_is_a_document_with_an_address() -> None:
    made = intake.document(Note("claude/memory", "Claude's memory", "Ada is a nurse."), ImportOwner("ada", "team"))
    assert made == {
        "user_id": "ada",
        "group_id": "team",
        "title": "Claude's memory",
        "uri": "import:claude/memory",
        "content": "Ada is a nurse.",
    }
