"""Pattern, Slot, Cue, Theme, Tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.types import Category, Topic

Check = Callable[[str], str | None]
"""Cleans a captured value; None where it is not such a value after all."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A row: what a sentence must look like, and what it then says.

    `exclusive` slots hold one value at a time (a home); the others gather (allergies) and go to `structured`.
    What fills a `weak` one is not worth keeping for that alone.
    """

    regex: re.Pattern[str]
    attribute: str
    topic: Topic
    importance: float
    check: Check | None = None
    category: Category = Category.FACT
    exclusive: bool = True
    corrects: bool = False
    negated: bool = False
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Attribute:
    """Common fields of the rows of one attribute; see `Pattern`."""

    topic: Topic
    importance: float
    check: Check | None = None
    category: Category = Category.FACT
    exclusive: bool = True


def pattern(
    row: Callable[[str], re.Pattern[str]], attributes: Mapping[str, Attribute], name: str, regex: str, **own: Any
) -> Pattern:
    """Return a row of an attribute of `attributes`; `own` are the fields in which it differs or that are its own."""
    return Pattern(row(regex), name, **{**asdict(attributes[name]), **own})


@dataclass(frozen=True, slots=True)
class Slot:
    """An attribute of someone and its value, as read from one sentence; `about` is who, where not the speaker."""

    attribute: str
    value: str
    pattern: Pattern
    about: str | None = None


@dataclass(frozen=True, slots=True)
class CategoryCue:
    """A cue for the category of a sentence without a slot."""

    regex: re.Pattern[str]
    category: Category
    importance: float


@dataclass(frozen=True, slots=True)
class Theme:
    """The words by which a topic is known."""

    topic: Topic
    regex: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables of one language: its slots and all else that classifies a sentence.

    `stated`: how an attribute reads as a sentence; `labels`: what the last part of its name is called there.
    """

    slots: Callable[[str], list[Slot]]
    instruction: re.Pattern[str]
    one_off: re.Pattern[str]
    correction: re.Pattern[str]
    categories: tuple[CategoryCue, ...]
    themes: tuple[Theme, ...]
    stated: Mapping[str, str]
    labels: Mapping[str, str]
