from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from kombu import Connection, Queue
from pydantic import SecretStr

from api.cli.commands.host.checks import broker, rabbitmq, table
from api.cli.commands.host.checks.check import CheckResult, CheckWarning
from api.cli.commands.host.checks.installation import Installation
from core.config import Settings
from core.errors import Misconfigured
from core.events.broker_queues import DELIVERIES, arguments
from tests.ports import free_port
from tests.rabbitmq import control, url_of, virtual_host


def refusal(argument: str, difference: str) -> str:
    return f"PRECONDITION_FAILED - inequivalent arg '{argument}' for queue 'io' in vhost '/': received {difference}"


@pytest.mark.parametrize(
    ("answer", "difference"),
    [
        (refusal("x-delivery-limit", "'20' but current is '5'"), "the delivery limit 5, not 20"),
        (refusal("x-delivery-limit", "the value '20' of type 'signedint' but current is none"),
         "the delivery limit none, not 20"),
        (refusal("x-queue-type", "the value 'quorum' of type 'longstr' but current is none"),
         "the type classic, not quorum"),
        (refusal("durable", "'true' but current is 'false'"), "the durable false, not as Imprint declares it"),
        ("PRECONDITION_FAILED - invalid arg", "other properties: PRECONDITION_FAILED - invalid arg"),
    ],
)  # fmt: skip
def test_a_refusal_to_declare_a_queue_again_says_in_what_it_differs(answer: str, difference: str) -> None:
    assert rabbitmq.difference(answer, 20) == difference


def test_a_server_that_is_away_fails_and_its_password_is_not_shown() -> None:
    with pytest.raises(Misconfigured, match="does not answer") as failure:
        rabbitmq.permissions(installed(f"amqp://ada:hush@127.0.0.1:{free_port()}/"))
    assert "hush" not in str(failure.value)


def test_checks_of_rabbitmq_are_left_out_on_redis(upgraded: Settings) -> None:
    assert not broker.is_rabbitmq(Installation(upgraded))
    assert broker.is_rabbitmq(installed("amqps://127.0.0.1/"))


def installed(url: str) -> Installation:
    return Installation(Settings(broker_url=SecretStr(url)))


@pytest.fixture
def host() -> Iterator[str]:
    with virtual_host() as name:
        yield name


def declare(host: str, limits: dict[str, dict[str, Any]]) -> None:
    with Connection(url_of(host)) as connection:
        for name, queue_arguments in limits.items():
            Queue(name, durable=True, queue_arguments=queue_arguments)(connection.default_channel).declare()


@pytest.mark.rabbitmq
def test_all_is_well_with_the_queues_that_imprint_declares(host: str) -> None:
    installation = installed(url_of(host))
    assert rabbitmq.permissions(installation) == "its user may declare and consume"
    assert rabbitmq.publishing(installation) == "messages are confirmed"
    assert rabbitmq.queues(installation) == "none is declared yet"
    declare(host, {name: arguments(limit) for name, limit in DELIVERIES.items()})
    assert rabbitmq.queues(installation) == "io, cpu, imprint.events: quorum queues with their limits"


@pytest.mark.rabbitmq
def test_queues_of_another_type_or_limit_are_a_warning(host: str) -> None:
    declare(host, {"io": {}, "cpu": {"x-queue-type": "quorum"}, "imprint.events": arguments(DELIVERIES["io"])})
    with pytest.raises(CheckWarning) as warning:
        rabbitmq.queues(installed(url_of(host)))
    assert str(warning.value) == (
        "io has the type classic, not quorum; cpu has the delivery limit none, not 20; "
        "imprint.events has the delivery limit 20, not 10000"
    )


@pytest.mark.rabbitmq
def test_a_queue_that_nothing_consumes_is_a_warning(host: str) -> None:
    installation = installed(url_of(host))
    assert rabbitmq.consumers(installation) == "no queue is declared yet"
    declare(host, {"io": arguments(20), "cpu": arguments(20)})
    queue = Queue("io", no_declare=True)
    with closing(Connection(url_of(host))) as connection, connection.Consumer([queue]):
        with pytest.raises(CheckWarning, match=r"nothing consumes cpu$"):
            rabbitmq.consumers(installation)
        with connection.Consumer([Queue("cpu", no_declare=True)]):
            assert rabbitmq.consumers(installation) == "io: 1, cpu: 1"


@pytest.mark.rabbitmq
@pytest.mark.parametrize(
    ("rights", "refused"), [(("^imprint", ".*", ".*"), "amq.gen"), ((".*", ".*", "^$"), "refused")]
)
def test_a_user_without_rights_is_a_failure(host: str, rights: tuple[str, str, str], refused: str) -> None:
    control("set_permissions", "-p", host, "guest", *rights)
    with pytest.raises(Misconfigured, match="ACCESS_REFUSED") as failure:
        rabbitmq.permissions(installed(url_of(host)))
    assert refused in str(failure.value)


@pytest.mark.rabbitmq
def test_a_user_who_may_not_write_is_a_failure(host: str) -> None:
    control("set_permissions", "-p", host, "guest", ".*", "^amq", ".*")
    with pytest.raises(Misconfigured, match=r"ACCESS_REFUSED.*imprint\.bell"):
        rabbitmq.publishing(installed(url_of(host)))


@pytest.mark.rabbitmq
def test_an_alarm_is_a_failure_within_seconds(host: str) -> None:
    control("set_vm_memory_high_watermark", "0.0000001")
    try:
        result = run("publishing", installed(url_of(host)))
    finally:
        control("set_vm_memory_high_watermark", "0.4")
    assert (result.state, result.detail) == ("fail", "RabbitMQ takes no message: an alarm blocks publishers")
    assert "rabbitmq-diagnostics alarms" in (result.way_out or "")


@pytest.mark.rabbitmq
@pytest.mark.parametrize("login", ["guest:wrong@127.0.0.1:5672", "guest:guest@127.0.0.1:5672"])
def test_a_wrong_login_or_virtual_host_is_said(host: str, login: str) -> None:
    target = host if "wrong" in login else "nowhere"
    result = run("broker", installed(f"amqp://{login}/{target}"))
    assert result.state == "fail"
    assert ("Login was refused" if "wrong" in login else "vhost nowhere not found") in result.detail
    assert "wrong@" not in result.detail


def run(name: str, installation: Installation) -> CheckResult:
    return next(check for check in table.CHECKS if check.name == name).run(installation)
