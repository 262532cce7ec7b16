from __future__ import annotations

from api.console import finds


def test_rules_that_begin_with_the_word_come_first() -> None:
    rules = [{"name": name, "version": 1} for name in ("on_extract", "extract_now", "decay")]
    assert [one.label for one in finds.of_rules(rules, "extract")] == ["extract_now", "on_extract"]


def test_a_user_is_found_once_whoever_spoke_last_first_and_its_address_is_escaped() -> None:
    sessions = [{"user_id": user} for user in ("ada/1", None, "bob", "ada", "ada/1")]
    assert [one.href for one in finds.of_users(sessions, "ada")] == ["/console/people/ada%2F1", "/console/people/ada"]


def test_events_are_found_by_type_subject_id_and_text_and_no_more_than_fit() -> None:
    event = {
        "id": "e1",
        "event_type": "order.placed",
        "subject": None,
        "payload": {"content": "Two books.", "user_id": "ada"},
    }
    for word in ("order", "e1", "books", "ada"):
        [found] = finds.of_events([event], word)
        assert (found.label, found.detail, found.href) == ("order.placed", "ada", "/console/events/e1")
    assert finds.of_events([event], "cello") == []
    many = [event | {"id": f"e{number}", "payload": {}} for number in range(50)]
    assert len(finds.of_events(many, "e")) == finds.EACH


def test_of_events_that_look_alike_the_first_is_offered() -> None:
    event = {"event_type": "memory.recalled", "subject": "user:ada", "payload": {}}
    others = [event | {"id": f"e{number}"} for number in range(8)]
    found = finds.of_events([*others, event | {"id": "x", "subject": "user:bob"}], "recalled")
    assert [(find.detail, find.href) for find in found] == [
        ("user:ada", "/console/events/e0"),
        ("user:bob", "/console/events/x"),
    ]


def test_a_long_memory_is_cut_and_a_dispatch_is_named_by_its_target() -> None:
    assert len(finds.of_memory({"id": "m", "content": "x" * 500}).label) == 120
    assert finds.of_dispatch({"id": "d", "target": "notifier"}).href == "/console/work/d"
