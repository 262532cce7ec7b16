"""Relatives and other roles of people, by the names that all languages share. Data."""

from __future__ import annotations

from typing import Final

LASTING: Final = frozenset({"mother", "father"})
"""Of these one has one, who stays the same."""

CURRENT: Final = frozenset(
    "partner fiance boss landlord doctor dentist therapist trainer vet lawyer tutor mother-in-law father-in-law".split()
)
"""Of these one has one at a time: the last who was introduced."""

KIN: Final = {
    **{role: role for role in ("mother", "father", "son", "daughter", "grandchild", "cousin", "niece", "nephew")},
    **dict.fromkeys(("sister", "elder sister", "younger sister"), "sister"),
    **dict.fromkeys(("brother", "elder brother", "younger brother"), "brother"),
    **dict.fromkeys(("grandmother", "maternal grandmother"), "grandmother"),
    **dict.fromkeys(("grandfather", "maternal grandfather"), "grandfather"),
    "aunt": "aunt",
    "uncle": "uncle",
    "mother-in-law": "in-law",
    "father-in-law": "in-law",
    "sister-in-law": "in-law",
    "brother-in-law": "in-law",
    **dict.fromkeys(("dog", "cat", "pet", "horse", "rabbit", "bird"), "pet"),
}
"""Roles that no person has besides another one of these, or besides any that is not listed, with what they are."""
