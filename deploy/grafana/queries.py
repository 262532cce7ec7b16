"""The PromQL of the panels, in the few forms that they need."""

from __future__ import annotations

from typing import Final

CHOSEN: Final = ('job=~"$job"', 'instance=~"$instance"')
"""The processes that the variables of a dashboard choose."""

WINDOW: Final = "$__rate_interval"


def series(metric: str, **labels: str) -> str:
    """Return a selector of the chosen processes. Values of labels are patterns; one after `!` is excluded."""
    return f"{metric}{{{','.join([*CHOSEN, *map(_matcher, labels, labels.values())])}}}"


def rate(metric: str, by: str = "", **labels: str) -> str:
    """Return a counter's increase each second, summed over processes."""
    return f"sum{_by(by)} (rate({series(metric, **labels)}[{WINDOW}]))"


def growth(metric: str, window: str, by: str = "", **labels: str) -> str:
    """Return a counter's increase within a window such as `5m`, summed over processes."""
    return f"sum{_by(by)} (increase({series(metric, **labels)}[{window}]))"


def quantile(rank: float, metric: str, by: str = "", **labels: str) -> str:
    """Return a histogram's quantile over processes; `metric` is named without `_bucket`."""
    return f"histogram_quantile({rank}, {rate(f'{metric}_bucket', f'le, {by}' if by else 'le', **labels)})"


def percentiles(metric: str, by: str = "") -> dict[str, str]:
    """Return the queries of a histogram's median and of what one observation in twenty exceeds."""
    legend = f"{{{{{by}}}}} " if by else ""
    return {f"{legend}p50": quantile(0.5, metric, by), f"{legend}p95": quantile(0.95, metric, by)}


def mean(metric: str, by: str = "") -> str:
    """Return the mean of what a histogram observes."""
    return f"{rate(f'{metric}_sum', by)} / {rate(f'{metric}_count', by)}"


def share(part: str, whole: str) -> str:
    """Return part / whole, 0 while the part has no series."""
    return f"({part} or 0 * {whole}) / {whole}"


def total(metric: str, by: str = "", **labels: str) -> str:
    """Return a gauge of which each process shows its own part, summed."""
    return f"sum{_by(by)} ({series(metric, **labels)})"


def read(metric: str, by: str = "") -> str:
    """Return a gauge that the clock reads from the database: every other process shows 0, whichever is chosen."""
    return f"max{_by(by)} ({metric})"


def cost(window: str) -> str:
    """Return what the tokens of a window cost, by the prices of a million that the reader has typed in."""
    parts = (
        f"$price_{direction} * {growth('imprint_model_tokens_total', window, 'model', direction=direction)} / 1e6"
        for direction in ("input", "output")
    )
    return " + ".join(parts)


def _by(labels: str) -> str:
    return f" by ({labels})" if labels else ""


def _matcher(label: str, value: str) -> str:
    return f'{label}!~"{value[1:]}"' if value.startswith("!") else f'{label}=~"{value}"'
