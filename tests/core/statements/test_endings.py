"""What a newer statement ends, by what was trained."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from core.statements import endings
from core.types import Category

AT = datetime(2026, 5, 20, 15, tzinfo=UTC)


@dataclass(frozen=True)
class Said:
    """A statement as it is compared."""

    content: str
    told_at: datetime = AT
    subject: str = "Ada"
    attribute: str | None = None
    value: str | None = None
    category: Category | None = Category.FACT
    similarity: float | None = 0.5

    @property
    def sketch(self) -> endings.Sketch:
        return endings.sketch(self.content)


BESIDE = [
    "Ada said: “I'm allergic to peanuts, badly.”",
    "Ada said: “My sister Nadia is a paramedic in Leeds.”",
    "Ada said: “The Yaris is a silver one from 2012.”",
    "Ada said: “I swim on Sundays.”",
]
BESIDE_ZH = ["Ada说：“我对花生过敏。”", "Ada说：“妹妹在重庆当护士。”", "Ada说：“车是2012年的银色雅力士。”"]


def ended(new: str, old: str, beside: list[str]) -> list[str]:
    older = [Said(one, AT - timedelta(days=day)) for day, one in enumerate([old, *beside], 1)]
    return [one.content for one, _, _ in endings.ended_statements(Said(new), older)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ada said: “I go to the gym on Mondays and Fridays.”", "Ada said: “I quit the gym last week.”"),
        ("Ada said: “I have piano lessons on Tuesdays.”", "Ada said: “The piano lessons moved to Thursdays.”"),
        ("Ada said: “We have a caravan in Wales.”", "Ada said: “We sold the caravan in the end.”"),
        ("Ada said: “The dentist is on Tuesday at 9:30.”", "Ada said: “The dentist moved me to Thursday at 10:15.”"),
    ],
)
def test_what_is_no_longer_so_is_ended_and_nothing_else(old: str, new: str) -> None:
    assert ended(new, old, BESIDE) == [old]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ada说：“健身房的柜子是17号。”", "Ada说：“健身房的柜子换了，现在是71号，不是17号了。”"),
        ("Ada说：“每周三晚上学架子鼓。”", "Ada说：“架子鼓不学了，停了。”"),
    ],
)
def test_the_same_in_chinese(old: str, new: str) -> None:
    assert ended(new, old, BESIDE_ZH) == [old]


@pytest.mark.parametrize("new", ["Ada said: “I love the sea.”", "Ada said: “The library is open on Mondays.”"])
def test_what_is_merely_new_ends_nothing(new: str) -> None:
    assert ended(new, "Ada said: “I have pottery on Wednesdays with Claire.”", BESIDE) == []


def test_languages_are_not_compared_and_documents_are_not() -> None:
    new = "Ada said: “I've stopped the pottery, it's no fun.”"
    assert ended(new, "Ada说：“每周三晚上学陶艺 pottery。”", []) == []
    assert ended(f"{new} {'pottery ' * 100}", "Ada said: “I have pottery on Wednesdays.”", []) == []


def test_the_likeliest_comes_first_and_says_how_likely() -> None:
    older = [Said(one, AT - timedelta(days=2)) for one in ["Ada said: “I do pottery on Wednesdays.”", *BESIDE]]
    found = endings.ended_statements(Said("Ada said: “I've stopped the pottery on Wednesdays.”"), older)
    assert [likely for _, likely, _ in found] == sorted((likely for _, likely, _ in found), reverse=True)
    assert all(endings.LEAST <= likely <= 1 for _, likely, _ in found)
