"""The newest events of a tenant are held for a short time, and found by their position."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from api.ingress import following
from api.ingress.dependencies import KEY_SECONDS
from api.ingress.following import KEPT, KEPT_BYTES, KEPT_SECONDS, PAGE_BYTES, Entry, Filter, _Tail, frame_of, mark
from core.events.feed import Position
from core.types import Event, Json


def event(seq: int, kind: str = "order.placed", session: str | None = None, payload: Json | None = None) -> Event:
    return Event(seq, "acme", f"e{seq}", "test", kind, None, datetime.now(UTC), payload or {}, session, "ada")


def entry(seq: int, read_at: float = 0.0) -> Entry:
    return Entry(Position(seq, seq), event(seq), b"", read_at)


def tail() -> _Tail:
    return _Tail(Position(1, 0), Position(1, 0))


def seqs(entries: list[Entry]) -> list[int]:
    return [one.position.seq for one in entries]


def test_a_follower_gets_what_stands_behind_its_position() -> None:
    of = tail()
    of.add([entry(n) for n in range(1, 6)], Position(6, 0), 0.0)
    assert seqs(of.since(Position(3, 3))[0]) == [4, 5]
    assert seqs(of.since(Position(3, 0))[0]) == [3, 4, 5]
    assert of.since(Position(6, 0)) == ([], Position(6, 0))


def test_old_events_leave_and_who_is_behind_them_is_known() -> None:
    of = tail()
    of.add([entry(1), entry(2)], Position(3, 0), 0.0)
    of.add([entry(3, KEPT_SECONDS)], Position(4, 0), KEPT_SECONDS + 0.1)
    assert seqs(of.entries) == [3]
    assert Position(1, 1) < of.begins == Position(2, 2)


def test_no_more_than_so_many_are_held() -> None:
    of = tail()
    of.add([entry(n) for n in range(1, KEPT + 11)], Position(KEPT + 11, 0), 0.0)
    assert len(of.entries) == KEPT
    assert of.begins == Position(10, 10)


def test_news_wake_followers_and_silence_does_not() -> None:
    of = tail()
    waiting = of.changed
    of.add([], Position(2, 0), 0.0)
    assert not waiting.is_set()
    of.add([entry(2)], Position(3, 0), 0.0)
    assert waiting.is_set()
    assert not of.changed.is_set(), "the next news are awaited anew"


@pytest.mark.parametrize(
    ("wanted", "accepted"),
    [
        (Filter(), True),
        (Filter(types=["order.*"]), True),
        (Filter(types=["order"]), False),
        (Filter(session_id="s1"), False),
        (Filter(user_id="ada"), True),
        (Filter(user_id="bob"), False),
    ],
)
def test_filters(wanted: Filter, accepted: bool) -> None:
    assert wanted.accepts(event(1)) is accepted


def test_a_frame_has_position_type_and_data_in_lines_of_their_own() -> None:
    frame = frame_of(Position(31, 7), event(7, payload={"text": "a\nb"})).decode()
    position, kind, data, *rest = frame.split("\n")
    assert (position, kind, rest) == ("id: 1f-7", "event: order.placed", ["", ""])
    assert data.startswith("data: {")
    assert "a\\nb" in data


def test_a_mark_has_data_so_that_usual_clients_resume_there() -> None:
    assert mark(Position(31, 0)) == b'id: 1f-0\nevent: stream.position\ndata: {"position": "1f-0"}\n\n'
    assert following.HEARTBEAT_SECONDS == 15.0, "as the documentation says"


def large(seq: int, size: int) -> Entry:
    return Entry(Position(seq, seq), event(seq), b"x" * size, 0.0)


def test_few_bytes_are_held_and_who_is_behind_them_is_known() -> None:
    of = tail()
    of.add([large(n, KEPT_BYTES // 4) for n in range(1, 11)], Position(11, 0), 0.0)
    assert seqs(of.entries) == [7, 8, 9, 10]
    assert of.begins == Position(6, 6)


def test_a_follower_gets_few_bytes_at_a_time_and_goes_on_behind_them() -> None:
    of = tail()
    of.add([large(n, PAGE_BYTES // 2 + 1) for n in range(1, 6)], Position(6, 0), 0.0)
    entries, position = of.since(Position(1, 0))
    assert (seqs(entries), position) == ([1, 2], Position(2, 2))
    entries, position = of.since(position)
    assert (seqs(entries), position) == ([3, 4], Position(4, 4))
    entries, position = of.since(position)
    assert (seqs(entries), position) == ([5], Position(6, 0))


def test_a_key_is_checked_so_often_that_a_revoked_one_is_disconnected_in_time() -> None:
    assert following.HEARTBEAT_SECONDS * following.CHECKED + KEY_SECONDS <= following.HEARTBEAT_SECONDS
