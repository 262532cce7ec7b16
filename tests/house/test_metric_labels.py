"""No label of a metric takes names of tenants or users, or free text: each has a closed set of values."""

from __future__ import annotations

import pytest

from core import exposition
from tests import label_values, queries


def labels() -> list[tuple[str, str]]:
    described = [(metric.describe()[0].name, metric._labelnames) for metric in queries.constants().values()]
    return [(name, label) for name, own in described for label in own]


@pytest.mark.parametrize(("metric", "label"), labels())
def test_every_label_has_a_closed_set_of_values(metric: str, label: str) -> None:
    assert label_values.values_of(metric, label)


def test_the_sets_are_of_labels_that_exist() -> None:
    names = {label for _, label in labels()}
    assert set(label_values.OF_ALL) <= names | set(exposition.LABELS.values()) | {"hostname"}
    assert set(label_values.OF_ONE) <= set(labels())


def test_no_set_lets_in_what_a_tenant_writes() -> None:
    for metric, label in labels():
        if label not in {"model", "provider"}:
            assert not label_values.is_known(metric, label, "Ada's rule, 2026"), f"{metric} {label}"
