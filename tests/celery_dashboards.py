"""The queries of Celery's public dashboards 17508 (by task) and 17509 (overview), with their variables filled in."""

from __future__ import annotations

from collections.abc import Iterator

NAMESPACE, JOB = "imprint", "imprint"
BASE = f'cluster="", namespace="{NAMESPACE}", job=~"{JOB}"'
QUEUES = f'{BASE}, queue_name=~"cpu|io"'
TASKS = f'{QUEUES}, name=~"memory_extractor|memory_consolidator|embedding_refresher", name!~"None"'
ENDS = ("succeeded", "failed", "sent", "received", "rejected", "retried", "revoked")
SELDOM = ("failed", "rejected", "retried", "revoked")
"""What need not have happened: a table without them is what the dashboards show then."""


def variables() -> Iterator[str]:
    """Yield the series whose labels fill the variables of both dashboards, one after the other."""
    yield 'celery_worker_up{cluster=""}'
    yield f'celery_worker_up{{cluster="", namespace="{NAMESPACE}"}}'
    yield f'celery_task_received_total{{{BASE}, queue_name!~"None"}}'
    yield f'celery_task_received_total{{{QUEUES}, name!~"None"}}'


def increase(end: str, labels: str, by: str, window: str) -> str:
    return f"sum by ({by}) (round(increase(celery_task_{end}_total{{{labels}}}[{window}])))"


def success_rate(labels: str, by: str, window: str) -> str:
    done, failed = (increase(end, labels, by, window) for end in ("succeeded", "failed"))
    return f"{done} / ({done} + {failed}) > -1"


def mean_runtime(labels: str, by: str, window: str) -> str:
    total, number = (f"sum by ({by}) (rate(celery_task_runtime_{p}{{{labels}}}[{window}]))" for p in ("sum", "count"))
    return f"{total} / {number} > 0"


def quantile(share: float, labels: str, by: str, window: str) -> str:
    return (
        f"histogram_quantile({share}, sum by ({by}, le) (irate(celery_task_runtime_bucket{{{labels}}}[{window}]) > 0))"
    )


def overview(window: str) -> Iterator[str]:
    """Yield the queries of 17509."""
    yield f"count(celery_worker_up{{{BASE}}} == 1)"
    yield f"sum(celery_worker_tasks_active{{{BASE}}})"
    yield f"sum by (job, queue_name) (celery_queue_length{{{QUEUES}}})"
    yield success_rate(QUEUES, "job", window)
    yield mean_runtime(QUEUES, "job", window)
    yield mean_runtime(QUEUES, "name", window)
    for end in ENDS:
        yield increase(end, QUEUES, "job", window)
    for share in (0.5, 0.95, 0.99):
        yield quantile(share, QUEUES, "job", window)


def by_task(window: str) -> Iterator[str]:
    """Yield the queries of 17508."""
    yield success_rate(TASKS, "name", window)
    for end in ENDS:
        yield increase(end, TASKS, "name", window)
    for share in (0.5, 0.95, 0.99, 0.999):
        yield quantile(share, TASKS, "name, job", window)


def failures(window: str) -> Iterator[str]:
    """Yield the tables of both that are empty while nothing fails, and the alerts."""
    yield f"round(sum by (name) (increase(celery_task_failed_total{{{QUEUES}}}[{window}]) > 0))"
    yield f"round(sum by (exception) (increase(celery_task_failed_total{{{QUEUES}}}[{window}])) > 0)"
    yield f"round(sum by (name, exception) (increase(celery_task_failed_total{{{TASKS}}}[{window}])) > 0)"


def alerts(window: str) -> Iterator[str]:
    """Yield the conditions of the alerts that come with them, without their bounds."""
    failed, succeeded = (
        f'sum by (job, queue_name, name) (increase(celery_task_{end}_total{{{BASE}, name!~"None"}}[{window}]))'
        for end in ("failed", "succeeded")
    )
    yield f"{failed} / ({failed} + {succeeded}) * 100"
    yield f"sum by (job, namespace, queue_name) (celery_queue_length{{{BASE}}})"
    yield f"celery_worker_up{{{BASE}}}"
