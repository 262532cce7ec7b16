from __future__ import annotations

from rules.document import reserved_types


def test_what_the_service_announces_is_reserved_and_what_clients_publish_is_not() -> None:
    assert "approval.decided" in reserved_types.TYPES
    assert "session.ended" not in reserved_types.TYPES
    assert "message.added" not in reserved_types.TYPES


def test_a_refusal_names_another_type() -> None:
    assert "`my.approval.decided`" in reserved_types.refusal("approval.decided")
