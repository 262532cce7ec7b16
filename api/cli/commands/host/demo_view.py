"""The output of `imprint demo`: a live panel on a terminal, plain lines elsewhere; then answers with their evidence."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table

from api.cli.client import short
from api.demo.conversations import ConversationTurn, DemoConversation, DemoQuestion
from api.terminal import err, escape, out, say
from core.types import Json

SHOWN = 3
"""Results printed for a question; `--json` has all of them."""

QUOTES = 2
"""Quotes printed for one result."""

QUOTE_LENGTH = 160

LINE_SECONDS, LINE_GROWTH = 2.0, 0.5
"""Between two lines of progress where there is no terminal to draw a panel on: that, or this share of the time."""


class DemoView:
    """Output of the demo."""

    def __init__(self, console: Console, *, answers: bool) -> None:
        """`answers`: whether they are printed here, or left to whoever asked for JSON."""
        self._console = console
        self._answers = answers
        self._began = time.monotonic()
        self._live: Live | None = None
        self._next_line = 0.0
        self._total = 0

    def start(self, talk: DemoConversation) -> None:
        first, last = talk.turns[0].time, talk.turns[-1].time
        self._total = len(talk.turns) + len(talk.sessions)
        self._say(
            f"[bold]{escape(talk.title)}[/]: {len(talk.turns)} turns in {len(talk.sessions)} sessions, "
            f"{first:%B %Y} to {last:%B %Y}."
        )
        self._say("Starting PostgreSQL, the broker, API, router, two workers and the clock in a folder of their own …")

    def ready(self, url: str) -> None:
        self._say(f"Ready at {url} after {time.monotonic() - self._began:.1f} s.\n")

    @contextmanager
    def live_panel(self) -> Iterator[None]:
        """Draw `progress` in place while the context is open."""
        if not self._console.is_terminal:
            yield
            return
        with Live(console=self._console, refresh_per_second=12) as self._live:
            yield

    def progress(self, sent: int, counts: Json, seconds: float) -> None:
        """Show how many events are published, and what resulted from them."""
        if self._live is not None:
            self._live.update(Panel(_counts(sent, self._total, counts), title=f"{seconds:.1f} s", title_align="right"))
        elif seconds >= self._next_line:
            self._next_line = seconds + max(LINE_SECONDS, LINE_GROWTH * seconds)
            self._say(f"{seconds:5.1f} s  {_line(sent, counts)}")

    def show_result(self, counts: Json, seconds: float, memories: Sequence[Json]) -> None:
        """Print the result once all work has ended."""
        if self._live is None:
            self._say(f"{seconds:5.1f} s  {_line(self._total, counts)}")
            self._console.print(_counts(self._total, self._total, counts))
        self._say(f"Settled after {seconds:.1f} s. {len(memories)} memories are in force; some of them:")
        for memory in sorted(memories, key=lambda m: -m["importance"])[:SHOWN]:
            self._say(f"  • {escape(short(memory['content'], QUOTE_LENGTH))} [dim]({memory['category']})[/]")

    def answer(self, number: int, talk: DemoConversation, question: DemoQuestion, answer: Json) -> None:
        """Print a question with its results."""
        if not self._answers:
            return
        self._say(f"\n[bold cyan]{number}. {escape(question.query)}[/]  [dim]{answer['took_ms']:.0f} ms[/]")
        self._say(f"   [dim]{escape(question.note)}[/]")
        for result in _distinct(answer["results"])[:SHOWN]:
            self._result(talk, question, result)
        if answer["found_at"] is None or answer["found_at"] > SHOWN:
            self._show_miss(talk, question, answer["found_at"])

    def end(self, talk: DemoConversation, answers: Sequence[Json]) -> None:
        """Print the overall result."""
        answered = sum(answer["found_at"] is not None for answer in answers)
        self._say(
            f"\n{answered} of {len(talk.questions)} answers cite the turn that holds them. "
            f"{time.monotonic() - self._began:.0f} s in all; stopping …"
        )

    def _result(self, talk: DemoConversation, question: DemoQuestion, result: Json) -> None:
        if result["type"] == "memory":
            about = f"{result['category']}, {result['topic']}"
            self._row("memory", "green", f"{escape(result['content'])} [dim]{about}[/]")
        for source in result["sources"][:QUOTES]:
            label = "message" if result["type"] == "message" else ""
            mark = " [bold yellow]← here[/]" if source["message_id"] in question.expects else ""
            quote = escape(short(source["quote"], QUOTE_LENGTH))
            self._row(label, "blue", f"“{quote}” [dim]{_speaker_and_day(talk.turn(source['message_id']))}[/]{mark}")
        if result["why"]:
            path = "{event} → rule {rule} → {agent}: {reason}".format_map(result["why"])
            self._row("", "dim", f"[dim]why: {escape(path)}[/]")

    def _show_miss(self, talk: DemoConversation, question: DemoQuestion, position: int | None) -> None:
        where = f"at place {position}" if position else "not among the results"
        for turn_id in sorted(question.expects)[:QUOTES]:
            turn = talk.turn(turn_id)
            quote = escape(short(turn.content, QUOTE_LENGTH))
            self._row("expected", "yellow", f"“{quote}” [dim]{_speaker_and_day(turn)}; {where}[/]")

    def _row(self, label: str, colour: str, line: str) -> None:
        """Print a line under its question; on a terminal it wraps with an indent."""
        if not self._console.is_terminal:
            self._say(f"   {label:<8} {line}")
            return
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=8)
        grid.add_column()
        grid.add_row(f"[{colour}]{label}[/]", line)
        self._console.print(Padding(grid, (0, 0, 0, 3)), highlight=False)

    def _say(self, line: str) -> None:
        self._console.print(line, soft_wrap=not self._console.is_terminal, highlight=False)


def view(*, as_json: bool) -> DemoView:
    """Return the view on standard output, or on standard error if JSON goes to standard output."""
    return DemoView(err if as_json else out, answers=not as_json)


def say_kept(home: Path) -> None:
    """Print where the data is, and the commands that show it."""
    say(f"The data stays in {home}. Look around: IMPRINT_HOME={home} imprint up", err)


def _distinct(results: Sequence[Json]) -> list[Json]:
    """Drop messages that a memory above them already quotes."""
    quoted: set[str] = set()
    kept = []
    for result in results:
        cited = {source["message_id"] for source in result["sources"]}
        if result["type"] == "memory" or not cited <= quoted:
            kept.append(result)
        quoted |= cited
    return kept


def _counts(sent: int, total: int, counts: Json) -> Table:
    """Return a line for each step: events published, and what resulted from them."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    received, own = _split(counts["events"])
    table.add_row("events in", f"{sent} of {total}: {_joined_counts(received)}")
    verdicts = Counter({f"{row['rule']} {row['verdict']}": row["count"] for row in counts["decisions"]})
    table.add_row("rules", _joined_counts(verdicts) or "–")
    table.add_row("tasks done", _joined_counts(_by(counts["dispatches"], "target", status="done")) or "–")
    table.add_row("still to do", _joined_counts(_open(counts)) or "nothing")
    table.add_row("memories", _joined_counts(_by(counts["memories"], "category", status="active")) or "–")
    table.add_row("events out", _joined_counts(own) or "–")
    return table


def _line(sent: int, counts: Json) -> str:
    """Return the same as one line."""
    decided = sum(row["count"] for row in counts["decisions"])
    done = sum(_by(counts["dispatches"], "target", status="done").values())
    made = sum(_by(counts["memories"], "category", status="active").values())
    return f"{sent} events in · {decided} decisions of rules · {done} tasks done · {made} memories"


def _split(events: Json) -> tuple[Counter[str], Counter[str]]:
    client_types = {"message.added", "session.ended"}
    return (
        Counter({name: n for name, n in events.items() if name in client_types}),
        Counter({name: n for name, n in events.items() if name not in client_types}),
    )


def _by(rows: Sequence[Json], name: str, **filters: str) -> Counter[str]:
    """Count by one column the rows that have the wanted values."""
    counts: Counter[str] = Counter()
    for row in rows:
        if all(row[column] == value for column, value in filters.items()):
            counts[row[name] or "–"] += row["count"]
    return counts


def _open(counts: Json) -> Counter[str]:
    waiting = [row for row in counts["dispatches"] if row["status"] in {"pending", "running", "retrying", "dead"}]
    return _by(waiting, "status")


def _joined_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.most_common())


def _speaker_and_day(turn: ConversationTurn) -> str:
    return f"{turn.speaker or turn.role}, {turn.time.day} {turn.time:%B %Y}"
