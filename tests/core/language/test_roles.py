from __future__ import annotations

import pytest

from core.language import languages, roles


@pytest.mark.parametrize(
    ("role", "other", "may_be"),
    [
        ("mother", "boss", False),
        ("mother", "sister", False),
        ("sister", "elder sister", True),
        ("elder sister", "younger sister", False),
        ("wife", "girlfriend", True),
        ("wife", "colleague", True),
        ("friend", "neighbour", True),
        ("dog", "pet", True),
        ("dog", "friend", False),
    ],
)
def test_some_roles_are_of_different_people(role: str, other: str, may_be: bool) -> None:
    assert roles.may_be_one(role, other) is roles.may_be_one(other, role) is may_be


def test_a_role_is_called_by_others_of_its_kind_alone() -> None:
    assert roles.is_called("wife", "partner")
    assert roles.is_called("elder sister", "sister")
    assert not roles.is_called("friend", "colleague")


def test_every_language_names_roles_alike() -> None:
    named = {role for language in languages.ALL if language.people for role in language.people.roles.values()}
    assert roles.LASTING | (roles.CURRENT - {"partner"}) <= named | {"vet", "tutor", "lawyer"}
    assert set(roles.KINDS) - named <= {"bird"}
