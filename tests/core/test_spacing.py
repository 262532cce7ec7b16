from __future__ import annotations

from core.spacing import REST, Spacing, TrailingBound


class Watch:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_look_rests_twenty_times_as_long_as_it_took() -> None:
    watch = Watch()
    spacing = Spacing(0.1, watch)
    with spacing.look():
        watch.now += 0.1
    assert spacing.is_due, "a short one does not rest"
    with spacing.look():
        watch.now += 0.6
    watch.now += REST * 0.5 - 0.1
    assert not spacing.is_due
    watch.now += 0.2
    assert spacing.is_due


def test_what_costs_nothing_is_looked_at_whole_each_time() -> None:
    bound = TrailingBound(0, 3, Watch())
    for position in (10, 20, 30):
        with bound.look() as since:
            assert since == 0
        bound.saw(position)


def test_while_a_whole_look_rests_one_begins_where_nothing_was_left_three_seconds_ago() -> None:
    watch = Watch()
    bound = TrailingBound(0, 3, watch)
    with bound.look() as since:
        watch.now += 10
        assert since == 0
    begins = []
    for second in range(7):
        bound.saw(second * 10)
        with bound.look() as since:
            begins.append(since)
        watch.now += 1
    assert begins == [0, 0, 0, 0, 10, 20, 30], "a transaction that was open is seen when it commits"
    watch.now += REST * 10
    with bound.look() as since:
        assert since == 0, "and what came below the bound all the same, by the next whole look"


def test_positions_seen_close_together_are_kept_once() -> None:
    watch = Watch()
    bound = TrailingBound(0, 4, watch)
    for number in range(1000):
        bound.saw(number)
        watch.now += 0.01
    assert len(bound._seen) < 20
    assert bound.at in range(500, 700)
