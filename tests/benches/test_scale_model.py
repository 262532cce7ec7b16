"""The model of scale: laws, bills and predictions, from costs that are known exactly."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import scale_costs, scale_model
from bench.scale import merged
from bench.scale_costs import Line, Power, by_table, costs_from, line, power, predictions
from bench.scale_model import COSTS, TIERS, Assumptions, Workload, bill, sensitivity, table, units

MESSAGE_MS = {"api": 2.0, "router": 3.0, "workers": 40.0, "broker": 1.0, "postgres": 20.0}
ROWS = {"memories": 0.5, "messages": 1.0, "search_index": 1.5, "events": 2.0}


def flow(messages: int) -> dict[str, Any]:
    """Return what so many messages would cost: a fixed second of workers, and `MESSAGE_MS` each."""
    seconds = {"api": 0.0, "postgres": 0.0, "broker": 0.0, "router": 0.0, "worker-cpu": 1.0, "worker-io": 0.0}
    seconds = {name: value + MESSAGE_MS.get(name, 0) * messages / 1000 for name, value in seconds.items()}
    seconds["worker-io"] = MESSAGE_MS["workers"] * messages / 1000
    return {
        "messages": messages,
        "stages": {"work": {**seconds, "wal bytes": 6_000.0 * messages}},
        "rows": {name: round(share * messages) for name, share in ROWS.items()} | {"owners": 1},
        "bytes": {"memories": 500 * messages, "memories_pkey": 100 * messages, "messages": 400 * messages}
        | {"search_index": 1_500 * messages, "search_index_pkey": 300 * messages, "events_of_user": 800 * messages},
        "request bytes": 300 * messages,
        "response bytes of a search": 7_000.0,
    }


def search(owner: int, total: int) -> dict[str, Any]:
    size, store = owner / 1_000, (total / 1e6) ** 0.1
    later = {"api": 5 * size**0.2 * store, "postgres": 2 * size**0.1 * store}
    first = {"api": 20 * size**0.8 * store, "postgres": 20 * size**0.7 * store}
    nobody = {"about nobody": {"api": 12.0}, "about nobody, again": {"api": 4.0}}
    return {**nobody, "next": later, "first": first, "MB by first questions": owner / 1_000} | {
        "memories of the users": owner
    }


def step(owner: int, total: int) -> dict[str, Any]:
    statement = {"client": 4 * (owner / 1_000) ** 0.3, "postgres": 1.0, "wal bytes": 3_000.0}
    upkeep = {"sweep, each due": {"client": 0.1, "postgres": 0.1}, "vacuum of memories": {"postgres": total / 1_000}}
    dump = {"dump": {"client": total / 10, "postgres": total / 40, "bytes": 800 * total}}
    return {
        "owner": owner,
        "total": total,
        "search": search(owner, total),
        "write": {"next": statement},
        "upkeep": {**upkeep, **dump},
        "bytes": {"memories": 1_000 * total, "search_index": 1_000 * total},
    }


MEASURED = {
    "flow": [flow(messages) for messages in (100, 200, 400)],
    "owners": [step(owner, 200_000) for owner in (100, 1_000, 10_000)],
    "totals": [step(1_000, total) for total in (10_000, 100_000, 1_000_000)],
}
EXACT = costs_from(MEASURED)


@pytest.mark.parametrize("law", [Line(3.0, 0.5), Line(0.0, 2.0), Line(100.0, 0.001)])
def test_a_line_through_its_points_is_found(law: Line) -> None:
    fitted = line([(x, law(x)) for x in (1, 10, 300, 90_000)])
    assert fitted.fixed == pytest.approx(law.fixed, abs=1e-6)
    assert fitted.each == pytest.approx(law.each)


@pytest.mark.parametrize("law", [Power(3.0, 0.5), Power(7.0, 0.0), Power(0.01, 1.2)])
def test_a_power_law_through_its_points_is_found(law: Power) -> None:
    fitted = power([(x, law(x)) for x in (1, 10, 300, 90_000)])
    assert (fitted.factor, fitted.exponent) == pytest.approx((law.factor, law.exponent), abs=1e-9)


def test_a_single_point_gives_a_constant() -> None:
    assert power([(4, 2)])(1_000) == pytest.approx(2)


def test_a_single_point_gives_the_line_through_the_origin() -> None:
    assert line([(4, 2)]) == Line(0.0, 0.5)


@pytest.mark.parametrize("points", [[], [(0, 1)], [(1, 0), (2, 1)]])
def test_a_law_needs_values_above_0(points: list[tuple[float, float]]) -> None:
    for law in (line, power):
        with pytest.raises(ValueError, match="above 0"):
            law(points)


def test_costs_are_those_that_the_figures_were_made_of() -> None:
    assert EXACT.flow_ms == pytest.approx(MESSAGE_MS)
    assert EXACT.made == 0.5
    assert EXACT.vector_ms == 8
    assert EXACT.cached_bytes == pytest.approx(1_000)
    assert EXACT.bytes_of == pytest.approx({"memory": 1_200 + 1_200, "message": 400 + 1_200, "log": 800})
    assert EXACT.message_ms(EXACT.average, EXACT.made) == pytest.approx(EXACT.flow_ms)


def test_a_missing_kind_of_step_is_named() -> None:
    with pytest.raises(ValueError, match=r"lack owners, totals: run bench\.scale"):
        costs_from({"flow": MEASURED["flow"]})


def test_indexes_are_counted_with_their_tables() -> None:
    sizes = {"events": 1, "events_pkey": 2, "memory_versions_pkey": 4, "memories": 8, "plain": 16}
    assert by_table(sizes, {"events": 0, "memory_versions": 0, "memories": 0}) == {
        "events": 3,
        "memory_versions": 4,
        "memories": 8,
        "plain": 16,
    }


def test_predictions_of_exact_laws_are_exact() -> None:
    for what, predicted, actual in predictions(MEASURED):
        assert predicted == pytest.approx(actual, rel=1e-6), what


def test_a_prediction_that_is_wrong_says_by_how_much() -> None:
    last = MEASURED["totals"][-1]
    wrong = {**MEASURED, "totals": [*MEASURED["totals"][:-1], {**last, "bytes": {"memories": 4_000 * 1_000_000}}]}
    assert any(text.endswith("-50 %") for text in scale_costs.checked(wrong))


def test_a_bill_adds_up() -> None:
    work = Workload(users=8_640, active=0.5, messages=20, searches=10, memories=0.5, memory_days=100)
    need = bill(work, Assumptions(), EXACT)
    assert need.messages_s == 1
    assert need.messages_s_peak == 4
    assert need.searches_s == 0.5
    assert need.memories == 0.5 * 86_400 * 100
    assert need.owner == 500
    assert need.disk_gb["memories"] == pytest.approx(need.memories * 2_400 / 1e9)
    assert need.wal_mb_s_peak == pytest.approx(4 * 6_000 / 1e6)
    assert need.money_month > 0
    assert sum(need.busy_cores.values()) * 8 == pytest.approx(sum(need.cores.values()))


def test_costs_grow_in_proportion_to_users_where_machines_are_many() -> None:
    few, many = (bill(Workload(users=users), Assumptions(), EXACT) for users in (1e8, 1e9))
    assert many.money_month == pytest.approx(10 * few.money_month, rel=0.02)
    assert many.cells == pytest.approx(10 * few.cells, rel=0.1)


@pytest.mark.parametrize("limit", ["cell_cores", "cell_disk"])
def test_either_limit_of_a_machine_makes_more_cells(limit: str) -> None:
    roomy = replace(Assumptions(), cell_cores=1e9, cell_disk=1e9)
    work = Workload(users=1e8)
    assert bill(work, roomy, EXACT).cells == 1
    assert bill(work, replace(roomy, **{limit: getattr(Assumptions(), limit)}), EXACT).cells > 1


def test_more_users_at_once_than_one_process_can_keep_need_more_processes() -> None:
    rows_bytes = Workload().rows * EXACT.cached_bytes
    fitting = scale_model.CACHE_BYTES / rows_bytes * 86_400 / 600 / 4 / 2 / 0.3
    few, many = (bill(Workload(users=users), Assumptions(), EXACT) for users in (0.9 * fitting, 9 * fitting))
    assert few.api_processes == 1
    assert many.api_processes >= 9 * 3, "each of a visit's three searches may meet another process"
    assert many.busy_cores["api"] > 10.5 * few.busy_cores["api"]


def test_memory_alone_makes_machines_larger() -> None:
    work = Workload(users=1e6)
    small, roomy = (bill(work, replace(Assumptions(), core_gb=gb), EXACT) for gb in (1, 1e6))
    assert small.machine_cores > roomy.machine_cores
    assert small.cores == roomy.cores


def test_a_doubled_input_changes_what_depends_on_it() -> None:
    factors = sensitivity(Workload(users=1e6), Assumptions(), EXACT)
    assert factors["users"]["disk"] == pytest.approx(2)
    assert factors["disk_month"]["disk"] == 1
    assert 1 < factors["disk_month"]["money"] < 2
    assert factors["core_hour"]["energy"] == 1
    assert factors["utilisation"]["cores"] < 1


def test_a_step_that_is_measured_again_replaces_the_one_before() -> None:
    before = [{"messages": 100, "seconds": 1}, {"messages": 400, "seconds": 4}]
    assert merged(before, {"messages": 200, "seconds": 2}, "messages")[1]["seconds"] == 2
    assert merged(before, {"messages": 400, "seconds": 5}, "messages") == [before[0], {"messages": 400, "seconds": 5}]


def run(monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    monkeypatch.setattr(sys, "argv", ["bench.scale_model", *options])
    scale_model.main()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--users", "0"), "--users: 0.0 is not above 0."),
        (("--active", "1.5"), "--active: 1.5 is not above 0 and at most 1."),
        (("--core-hour", "nan"), "--core-hour: nan is not above 0."),
        (("--messages", "many"), "invalid float value: 'many'"),
    ],
)
def test_a_value_that_cannot_be_is_refused(
    options: tuple[str, ...], complaint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(monkeypatch, *options)
    assert complaint in capsys.readouterr().err


def test_tables_of_the_manual_are_those_of_the_model(root: Path) -> None:
    page = (root / "docs" / "scale.md").read_text(encoding="utf-8").splitlines()
    measured = json.loads(COSTS.read_text(encoding="utf-8"))
    costs = costs_from(measured)
    rows = [*table(costs), *units(costs), *scale_costs.checked(measured)]
    assert [row for row in rows if row not in page] == []
    assert len(TIERS) == 6
