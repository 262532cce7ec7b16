"""What other services keep about "User" is said of the person."""

from __future__ import annotations

import pytest

from core.language import unnamed_user


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("User is allergic to almonds.", "marta is allergic to almonds."),
        ("User's sister lives in Porto.", "marta's sister lives in Porto."),
        ("The user prefers tea. User lives in Lisbon; user has a dog.",
         "marta prefers tea. marta lives in Lisbon; marta has a dog."),
        ("User no longer eats meat", "marta no longer eats meat"),
        ("User needs glasses", "marta needs glasses"),
        ("User and his wife live in Bern.", "marta and his wife live in Bern."),
        ("Likes green tea", "marta likes green tea"),
        ("Has 3 bicycles. Is a nurse.", "marta has 3 bicycles. marta is a nurse."),
        ("用户对花生过敏。", "marta对花生过敏。"),
    ],
)  # fmt: skip
def test_a_statement_about_the_user_names_the_person(content: str, named: str) -> None:
    assert unnamed_user.about(content, "marta") == named


@pytest.mark.parametrize(
    "content",
    [
        "User stories should be short.",
        "User experience matters.",
        "User settings are stored in X.",
        "User names should be unique.",
        "User-centred design.",
        "Windows is bad.",
        "Ada likes tea.",
        "用户故事要短。",
    ],
)
def test_other_statements_stay_as_they_are(content: str) -> None:
    assert unnamed_user.about(content, "marta") == content
