"""What is seen from outside: every process in its own right, counted right across a worker's children."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import promql_parser
import pytest
import yaml
from prometheus_client.multiprocess import MultiProcessCollector

from deploy.grafana import queries as promql
from tests import celery_dashboards, label_values, queries
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.ports import free_port
from tests.production import BACKLOG, COMMANDS, SHARING, Production, at_work, message
from tests.workers.receiver import serving

pytestmark = pytest.mark.slow

PROMETHEUS = shutil.which("prometheus")
WORKERS = ("worker-io", "worker-cpu")
SCRAPES_SECONDS = 8
WINDOW = "1m"
CELERY_QUERIES = [
    *celery_dashboards.variables(),
    *celery_dashboards.overview(WINDOW),
    *celery_dashboards.by_task(WINDOW),
    *celery_dashboards.failures(WINDOW),
    *celery_dashboards.alerts(WINDOW),
]
COMPARISONS = {">", "<", ">=", "<=", "==", "!="}

DONE = "SELECT target AS name, count(*) AS number FROM dispatches WHERE status = 'done' GROUP BY 1"


@pytest.fixture(scope="module")
def production(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Production]:
    with contextlib.ExitStack() as last:
        other = last.enter_context(serving())
        host = other.url.removesuffix("/hook")
        priced = {"llm_cost_per_day": "10", "llm_input_price": "1"}
        home = tmp_path_factory.mktemp("production")
        started = last.enter_context(at_work(home, webhook_hosts=json.dumps([host]), **priced))
        started.api.put("/v1/tenant/webhooks", json={"hosts": [host]}).raise_for_status()
        watch(started, "thing.measured", {"action_type": "run_agent", "target": "memory_extractor"})
        watch(started, "thing.told", {"action_type": "webhook", "url": other.url})
        time.sleep(3)  # until the router has both rules
        traffic(started, round_=0)
        yield started


def watch(production: Production, event_type: str, action: Mapping[str, str]) -> None:
    """Add a rule that compares a number, and meets text at times."""
    name, condition = event_type.replace(".", "_"), {"field": "payload.n", "op": ">", "value": 3}
    rule = {"name": name, "event_type": event_type, "conditions": {"all": [condition]}, "actions": [action]}
    made = production.api.post("/v1/rules", json=rule)
    assert made.is_success, made.text


def traffic(production: Production, round_: int) -> None:
    """A little of everything that is counted."""
    first = 1000 * (round_ + 1)
    talk = [message(number) for number in range(first, first + 5)]
    production.publish(*talk).raise_for_status()
    production.publish(*talk).raise_for_status()
    assert production.publish({"event_type": "message.added"}).status_code == httpx.codes.UNPROCESSABLE_ENTITY
    production.publish({"source": "production", "event_type": "thing.measured", "payload": {"n": "x"}})
    # The rule's agent needs a session, and this event has none: a dead letter.
    production.publish({"source": "production", "event_type": "thing.measured", "payload": {"n": 5}})
    production.publish({"source": "production", "event_type": "thing.told", "payload": {"n": 5}})
    ended = {"session_id": "s1", "user_id": "ada", "message_count": 5}
    production.settle(production.publish({"source": "production", "event_type": "session.ended", "payload": ended}))
    for method in ("hybrid", "keyword", "vector"):
        question = {"user_id": "ada", "query": "Where does Ada live?", "method": method}
        production.api.post("/v1/search", json=question).raise_for_status()
    nobody = {"user_id": f"nobody-{round_}", "query": "Where does Ada live?"}
    production.api.post("/v1/search", json=nobody).raise_for_status()
    context = {"user_id": "ada", "query": "Where does Ada live?", "max_tokens": 500}
    production.api.post("/v1/context", json=context).raise_for_status()
    question = {"user_id": "ada", "question": "Where does Ada live?"}
    production.api.post("/v1/answer", json=question).raise_for_status()
    call = {"name": "memory_search", "arguments": {"user_id": "ada", "query": "Where does Ada live?"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    told = production.api.post("/mcp", json=asked, headers={"accept": "application/json, text/event-stream"})
    assert told.is_success, told.text


def newcomer(production: Production, number: int) -> None:
    """Somebody of whom nothing is known yet: a new memory."""
    told = message(10_000 + number)
    payload = told["payload"] | {"session_id": f"new-{number}", "user_id": f"eve-{number}"}
    production.publish(told | {"payload": payload}).raise_for_status()
    ended = {"session_id": f"new-{number}", "user_id": f"eve-{number}", "message_count": 1}
    production.publish({"source": "production", "event_type": "session.ended", "payload": ended}).raise_for_status()


def test_the_listener_of_a_worker_shows_what_its_children_count(production):
    def agree() -> bool:
        done = production.count(DONE)
        shown = {
            target: sum(production.total(w, "imprint_dispatches_total", target=target, status="done") for w in WORKERS)
            for target in done
        }
        return shown == done and min(done.values()) > 0

    wait_until(agree)
    assert production.total("worker-cpu", "imprint_dispatches_total", target="memory_consolidator") == 0
    added = sum(production.total(worker, "imprint_memories_total", change="added") for worker in WORKERS)
    assert added == 3, "what the rules and the model found, and the episode"


TRUTH = {
    "imprint_events_accepted_total": "SELECT 'n' AS name, count(*) AS number FROM events WHERE source = 'production'",
    "imprint_dispatches_total{running}": "SELECT 'n' AS name, sum(attempt) AS number FROM dispatches",
    "imprint_dispatches_total{done}": "SELECT 'n' AS name, count(*) AS number FROM dispatches WHERE status = 'done'",
    "imprint_dispatches_total{dead}": "SELECT 'n' AS name, count(*) AS number FROM dispatches WHERE status = 'dead'",
    "imprint_dispatches_failed_total": "SELECT 'n' AS name, count(*) AS number FROM dispatches WHERE status = 'dead'",
    "imprint_dispatch_run_seconds_count": "SELECT 'n' AS name, sum(attempt) AS number FROM dispatches",
    "imprint_model_tokens_total": ("SELECT 'n' AS name, sum(input_tokens + output_tokens) AS number FROM model_calls"),
    "celery_task_received_total": "SELECT 'n' AS name, sum(attempt) AS number FROM dispatches",
    "celery_task_succeeded_total": "SELECT 'n' AS name, count(*) AS number FROM dispatches WHERE status = 'done'",
    "celery_task_failed_total": "SELECT 'n' AS name, count(*) AS number FROM dispatches WHERE status = 'dead'",
    "celery_task_runtime_count": "SELECT 'n' AS name, sum(attempt) AS number FROM dispatches",
}
"""What the sums over all processes must be, as the database has it."""


def sum_of(production: Production, series: str) -> float:
    """The sum over all processes: two of the API, and of each worker two children, each behind one listener."""
    name, _, status = series.removesuffix("}").partition("{")
    wanted = {"status": status} if status else {}
    return sum(production.total(process, name, **wanted) for process in COMMANDS)


@pytest.mark.parametrize("series", TRUTH)
def test_the_sum_over_all_processes_is_what_the_database_has(production, series):
    wait_until(lambda: sum_of(production, series) == production.count(TRUTH[series])["n"])
    assert production.count(TRUTH[series])["n"] > 0


def test_both_processes_of_the_api_count_what_they_answer_behind_one_listener(production):
    def answered(pid: int) -> float:
        files = [str(production.counted("api") / f"histogram_{pid}.db")]
        families = {family.name: family for family in MultiProcessCollector.merge(files)}
        samples = families["imprint_http_seconds"].samples
        return sum(sample.value for sample in samples if sample.name.endswith("_count"))

    def ask() -> bool:
        for _ in range(8):
            httpx.get(production.api.base_url.join("/healthz"))
        return all(answered(pid) > 0 for pid in production.children("api"))

    assert len(production.children("api")) == 2
    wait_until(ask)
    of_both = sum(answered(pid) for pid in production.children("api"))
    assert production.total("api", "imprint_http_seconds_count") == of_both


def test_the_memory_of_each_process_is_shown_and_of_no_other(production):
    def shown(name: str) -> set[int]:
        return {int(labels["pid"]) for labels, _ in production.samples(name)["imprint_process_memory_bytes"]}

    for name in SHARING:
        wait_until(lambda name=name: set(production.children(name)) <= shown(name))
        family = {production.running[name].pid, *production.children(name)}
        assert shown(name) <= family
    for name in set(COMMANDS) - set(SHARING):
        assert shown(name) == {production.running[name].pid}
    sizes = [size for _, size in production.samples("worker-cpu")["imprint_process_memory_bytes"]]
    assert all(1e6 < size < 4e9 for size in sizes)


def test_labels_have_only_the_values_of_their_sets(production):
    known = {metric.describe()[0].name: metric for metric in queries.constants().values()}
    strange = []
    for name, series in production.samples().items():
        family = re.sub(r"_(total|bucket|sum|count|created)$", "", name)
        family = name if name in known else family
        for labels, _ in series:
            if family in known or name.startswith("celery_"):
                own = {label: value for label, value in labels.items() if label != "le"}
                strange += [(name, pair) for pair in own.items() if not label_values.is_known(family, *pair)]
    assert strange == []
    assert not any("None" in labels.values() for series in production.samples().values() for labels, _ in series)


def test_every_message_is_observed_once_when_it_is_indexed(production):
    wait_until(lambda: production.total("worker-cpu", "imprint_searchable_seconds_count") >= BACKLOG + 5)
    assert production.total("worker-cpu", "imprint_searchable_seconds_count") == BACKLOG + 5
    assert 0 < production.total("worker-cpu", "imprint_searchable_seconds_sum") < PATIENCE_SECONDS * (BACKLOG + 5)


def test_every_declared_metric_is_shown_by_some_process(production):
    wait_until(lambda: production.total("clock", "imprint_dispatches_open") >= 0 and bool(lag(production)))
    shown = production.samples()
    assert {name for name in queries.declared() if name not in shown} == set()


def lag(production: Production) -> list[Any]:
    return production.samples("clock").get("imprint_dispatches_open", [])


def test_every_query_of_dashboards_and_rules_finds_its_series(production, root):
    wait_until(lambda: bool(lag(production)))
    shown, made_by_prometheus = production.samples() | {"up": [({}, 1.0)]}, {"ALERTS", *queries.recorded(root)}
    for query in [*queries.of_dashboards(root), *queries.of_rules(root)]:
        for selector in queries.selectors(query.text):
            if selector.name in made_by_prometheus:
                continue
            series = [labels for labels, _ in shown[selector.name]]
            named = {m.name for m in selector.matchers.matchers} | queries.groupings(query.text)
            named -= queries.SCRAPED
            assert any(named <= {"le", *labels} for labels in series), query


def test_every_query_of_celerys_public_dashboards_finds_its_series(production):
    wait_until(lambda: bool(production.samples("clock").get("celery_worker_up")))
    scraped = {"job": celery_dashboards.JOB, "namespace": celery_dashboards.NAMESPACE}
    shown = production.samples()
    for query in CELERY_QUERIES:
        for selector in queries.selectors(query):
            series = [labels | scraped for labels, _ in shown[selector.name]]
            assert any(all(meets(labels, m) for m in selector.matchers.matchers) for labels in series), selector
            assert any(queries.groupings(query) <= {"le", *labels} for labels in series), query
    assert {sample["hostname"] for sample, _ in shown["celery_worker_up"]} == {
        f"{queue}@{socket.gethostname()}" for queue in ("io", "cpu")
    }


def meets(labels: Mapping[str, str], matcher: promql_parser.Matcher) -> bool:
    value, wanted = labels.get(matcher.name, ""), matcher.value
    match str(matcher.op).rpartition(".")[2]:
        case "Equal":
            return value == wanted
        case "Re":
            return promql_matches(wanted, value)
        case "NotEqual":
            return value != wanted
        case "NotRe":
            return not promql_matches(wanted, value)
    raise AssertionError(matcher.op)


def promql_matches(pattern: str, value: str) -> bool:
    return re.fullmatch(pattern, value) is not None


def test_what_a_child_has_counted_outlives_it_and_its_successor_adds_to_it(production):
    metric = "imprint_searchable_seconds_count"
    before = production.total("worker-cpu", metric)
    killed = set(production.children("worker-cpu"))
    for child in killed:
        os.kill(child, signal.SIGKILL)
    wait_until(lambda: len(set(production.children("worker-cpu")) - killed) == len(killed))
    assert production.total("worker-cpu", metric) == before
    traffic(production, round_=1)
    wait_until(lambda: production.total("worker-cpu", metric) == before + 5)


WITHOUT_MODEL = "the stack embeds by hashing, without a model"
OF_MODELS = [
    *promql.percentiles("imprint_embed_batch_texts").values(),
    *promql.percentiles("imprint_embed_batch_seconds").values(),
    promql.mean("imprint_embed_batch_texts"),
]
EMPTY = {
    "imprint:table_bytes:sum offset 1d": "the service was not there a day before",
    **{queries.at_first(query): WITHOUT_MODEL for query in OF_MODELS},
}
"""Queries that this stack cannot answer, with the reason."""


@pytest.mark.skipif(PROMETHEUS is None, reason="Prometheus is not installed; `make monitoring` brings it")
def test_a_real_prometheus_answers_every_query_of_dashboards_and_rules(production, root, tmp_path):
    """Dead letters are among what happens, so an alert fires and marks the graphs."""
    with prometheus(production, root, tmp_path) as ask:
        wait_until(lambda: len(ask("up == 1")) == len(COMMANDS))
        rounds, unanswered = itertools.count(2), questions(root)

        def is_answered() -> bool:
            number = next(rounds)
            newcomer(production, number)
            traffic(production, number)
            time.sleep(SCRAPES_SECONDS / 3)
            unanswered.difference_update([query for query in unanswered if ask(query)])
            print(*sorted(unanswered), "", sep="\n")
            return unanswered <= EMPTY.keys()

        wait_until(is_answered)
        assert unanswered == EMPTY.keys()
        assert [query for query in CELERY_QUERIES if not ask(query, seconds=60)] == []
        assert len(ask("celery_worker_up == 1")) == 2
        production.running["worker-io"].kill()
        wait_until(lambda: len(ask("celery_worker_up == 0")) == 1)
        production.running["worker-io"].wait()
        production.start("worker-io")
        wait_until(lambda: len(ask("celery_worker_up == 1")) == 2)


def questions(root: Path) -> set[str]:
    """The dashboards' queries, and of rules what they read, record and compare; alerts are empty while all is well."""
    asked = {query.text for query in queries.of_dashboards(root)}
    for rule in queries.of_rules(root):
        asked |= {selector.prettify() for selector in queries.selectors(rule.text)}
        comparisons = [
            part for part in queries.nodes(rule.text, promql_parser.BinaryExpr) if str(part.op) in COMPARISONS
        ]
        asked |= {part.lhs.prettify() for part in comparisons if isinstance(part.rhs, promql_parser.NumberLiteral)}
    return asked


def at_once(root: Path) -> dict[str, Any]:
    """The rules, each evaluated every second instead of in the interval of its group."""
    rules: dict[str, Any] = yaml.safe_load((root / "deploy/prometheus/alerts.yml").read_text())
    for group in rules["groups"]:
        group.pop("interval", None)
    return rules


class prometheus:  # noqa: N801 - used like a function
    """A Prometheus with the project's own alerts and jobs; the names of containers become ports of this machine."""

    def __init__(self, production: Production, root: Path, folder: Path) -> None:
        config = yaml.safe_load((root / "deploy/prometheus/prometheus.yml").read_text())
        config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config["rule_files"] = [str(folder / "alerts.yml")]
        (folder / "alerts.yml").write_text(yaml.safe_dump(at_once(root)))
        for job in config["scrape_configs"]:
            (name,) = job.pop("dns_sd_configs")[0]["names"]
            job["static_configs"] = [{"targets": [f"127.0.0.1:{production.ports[name]}"]}]
        self._config, self._data, self._port = folder / "prometheus.yml", folder / "data", free_port()
        self._config.write_text(yaml.safe_dump(config))

    def __enter__(self) -> Any:
        self._process = subprocess.Popen(
            [
                str(PROMETHEUS),
                f"--config.file={self._config}",
                f"--storage.tsdb.path={self._data}",
                f"--web.listen-address=127.0.0.1:{self._port}",
                "--log.level=error",
            ]
        )
        return self.ask

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)

    def ask(self, query: str, seconds: int = 0) -> list[Any]:
        """The series that answer with a number, now or at any of the last seconds; none while it is not up."""
        period = {"start": time.time() - seconds, "end": time.time(), "step": 1} if seconds else {}
        path = "query_range" if seconds else "query"
        try:
            answer = httpx.get(f"http://127.0.0.1:{self._port}/api/v1/{path}", params={"query": query, **period})
        except httpx.TransportError:
            return []
        if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            return []
        assert answer.json()["status"] == "success", answer.text
        return [series for series in answer.json()["data"]["result"] if series.get("value", "")[1:] != ["NaN"]]
