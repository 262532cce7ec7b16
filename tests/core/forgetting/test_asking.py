from __future__ import annotations

from core.forgetting import asking


def test_quoted_requests_are_blanked_and_quoted_values_stay() -> None:
    message = 'she said "delete all my notes" and the word is "harbour lane".'
    bare = asking.without_quotations(message)
    assert len(bare) == len(message)
    assert "delete" not in bare
    assert "harbour lane" in bare


def test_what_is_not_yet_deleted_is_not_declared() -> None:
    assert asking.declares("logged: the code 4471 is deleted.")
    assert not asking.declares("the code 4471 will be deleted later.")
