"""What a dashboard consists of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Panel:
    """A picture of queries, which are PromQL by the legend of their series (`{{label}}`: the label's value).

    `unit` is a unit of Grafana. `description` says what is shown and, after `Bad:`, what needs a look. The picture
    turns yellow from `warn` on and red from `bad` on; with `low`, below them, and values may be negative. `width` is in
    24ths of the page.
    """

    title: str
    unit: str
    description: str
    queries: Mapping[str, str]
    warn: float | None = None
    bad: float | None = None
    low: bool = False
    highest: float | None = None
    stacked: bool = False
    width: int = 8


class Lines(Panel):
    """Values over time."""

    kind: ClassVar = "timeseries"
    height: ClassVar = 8


class Stat(Panel):
    """The last value of each series, as a number."""

    kind: ClassVar = "stat"
    height: ClassVar = 4


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A page of Grafana in the file `name`.json: headings of rows, each followed by its panels.

    `numbers` are variables that the reader types in, `$name` in queries, with their labels.
    """

    name: str
    title: str
    description: str
    entries: Sequence[str | Lines | Stat]
    numbers: Mapping[str, str] = field(default_factory=dict)
