"""Relatives and other roles of people, by the names that all languages share. Data."""

from __future__ import annotations

from typing import Final

LASTING: Final = frozenset({"mother", "father"})
"""Kinds of which everybody has one person for life."""

CURRENT: Final = frozenset(
    "partner boss landlord doctor dentist therapist trainer vet lawyer tutor mother-in-law father-in-law".split()
)
"""Kinds of which everybody has one person at a time: the last who was introduced."""

KINDS: Final = {
    **dict.fromkeys("partner wife husband girlfriend boyfriend fiancé".split(), "partner"),
    **dict.fromkeys(("sister", "elder sister", "younger sister"), "sister"),
    **dict.fromkeys(("brother", "elder brother", "younger brother"), "brother"),
    **dict.fromkeys(("grandmother", "maternal grandmother"), "grandmother"),
    **dict.fromkeys(("grandfather", "maternal grandfather"), "grandfather"),
    **dict.fromkeys(("dog", "cat", "pet", "horse", "rabbit", "bird"), "pet"),
}
"""Roles of one kind; others are kinds of their own."""

KIN: Final = frozenset(
    "mother father son daughter grandchild cousin niece nephew sister brother grandmother grandfather aunt uncle "
    "mother-in-law father-in-law sister-in-law brother-in-law pet".split()
)
"""Kinds of which nobody is two, nor one of these and another kind."""


def kind(role: str) -> str:
    return KINDS.get(role, role)


def may_be_one(role: str, other: str) -> bool:
    """Return whether somebody may have two roles in one relation: a sister and an elder sister, a wife and a boss."""
    if kind(role) != kind(other):
        return not {kind(role), kind(other)} & KIN
    return role == other or kind(role) in {role, other, "partner"}


def is_called(role: str, other: str) -> bool:
    """Return whether somebody in a role is meant by another of its kind: a wife by "partner"."""
    return kind(role) == kind(other) and may_be_one(role, other)
