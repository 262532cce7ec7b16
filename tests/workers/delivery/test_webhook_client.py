from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from uuid import uuid4

import pytest
from pydantic import SecretStr
from standardwebhooks import Webhook, WebhookVerificationError

from core.config import Settings
from core.errors import Later, Never
from core.tenancy.tenants import DEFAULT
from tests.factories import a_job, tools
from tests.outlets import open_to
from tests.ports import free_port
from tests.workers.receiver import Other
from workers.agents import outbound
from workers.delivery import webhook_client


@pytest.mark.parametrize("prefix", ["whsec_", ""])
def test_a_signature_vouches_for_id_time_and_body(open_settings: Settings, other: Other, prefix: str) -> None:
    key = b"0123456789abcdef01234567"
    signed = open_to(open_settings, other.url, signing=prefix + base64.b64encode(key).decode())
    outbound.send_webhook(tools(signed), a_job(url=other.url, headers={}, payload=None))
    (got,) = other.got
    said = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    mac = base64.b64encode(hmac.new(key, said, hashlib.sha256).digest()).decode()
    assert got.headers["webhook-signature"] == f"v1,{mac}"


def test_the_signature_is_the_one_of_the_standard() -> None:
    """The example that the libraries of Standard Webhooks are tested with."""
    body = b'{"test": 2432232314}'
    at = datetime.fromtimestamp(1614265330, UTC)
    made = webhook_client.signatures("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", at, body)
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_while_a_secret_is_rotated_a_receiver_may_know_the_old_or_the_new(
    open_settings: Settings, other: Other
) -> None:
    old, new = ("whsec_" + base64.b64encode(key).decode() for key in (b"o" * 24, b"n" * 24))
    both = open_to(open_settings, other.url, signing=f"{new} {old}")
    outbound.send_webhook(tools(both), a_job(url=other.url, headers={}, payload=None))
    (got,) = other.got
    for secret in (old, new):
        assert Webhook(secret).verify(got.body, got.headers)["id"] == "e1"
    with pytest.raises(WebhookVerificationError):
        Webhook("whsec_" + base64.b64encode(b"x" * 24).decode()).verify(got.body, got.headers)


def test_a_secret_that_is_no_key_is_named_and_not_shown(open_settings: Settings, other: Other) -> None:
    bad = open_settings.model_copy(update={"webhook_secret": SecretStr("hush hush!")})
    job = replace(a_job(url=other.url, headers={}, payload=None), tenant_id=DEFAULT)
    with pytest.raises(Never, match="IMPRINT_WEBHOOK_SECRET") as refused:
        outbound.send_webhook(tools(bad), job)
    assert "hush" not in str(refused.value)


def test_a_new_dispatch_of_the_same_event_and_rule_has_the_same_idempotency_key(
    open_settings: Settings, other: Other
) -> None:
    """As after a restore to an earlier time; `webhook-id` names the dispatch."""
    job = a_job(url=other.url, headers={}, payload=None)
    edited = a_job(url=other.url, headers={}, payload={"a": 1})
    for sent in (job, replace(job, id=uuid4()), edited):
        outbound.send_webhook(tools(open_settings), sent)
    first, again, different = (got.headers["idempotency-key"] for got in other.got)
    assert first == again != different
    assert len({got.headers["webhook-id"] for got in other.got}) == 3


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503, 599])
def test_a_refusal_for_now_is_tried_again(open_settings: Settings, other: Other, status: int) -> None:
    other.answers.append((status, {}, b"come back"))
    with pytest.raises(Later, match=f"{status}: come back"):
        outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers={}, payload=None))


@pytest.mark.parametrize("status", [400, 401, 404, 409, 410, 422])
def test_a_refusal_for_good_is_not(open_settings: Settings, other: Other, status: int) -> None:
    other.answers.append((status, {}, b"x" * 100_000))
    with pytest.raises(Never, match=str(status)) as refused:
        outbound.send_webhook(tools(open_settings), a_job(url=f"{other.url}?token=secret", headers={}, payload=None))
    assert len(str(refused.value)) < 400
    assert "secret" not in str(refused.value)


def test_a_redirect_is_not_followed(open_settings: Settings, other: Other) -> None:
    other.answers.append((307, {"location": "http://127.0.0.1:1/"}, b""))
    with pytest.raises(Never, match="not followed"):
        outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers={}, payload=None))
    assert len(other.got) == 1


@pytest.mark.parametrize(
    "said", [lambda: "120", lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=121), usegmt=True)]
)
def test_the_pause_that_the_other_side_asks_for_is_kept(
    open_settings: Settings, other: Other, said: Callable[[], str]
) -> None:
    other.answers.append((503, {"retry-after": said()}, b""))
    with pytest.raises(Later) as refused:
        outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers={}, payload=None))
    assert refused.value.after is not None
    assert 110 < refused.value.after.total_seconds() <= 121


def test_who_cannot_be_reached_or_says_nothing_is_asked_again(open_settings: Settings, other: Other) -> None:
    nobody = f"http://127.0.0.1:{free_port()}/"
    with pytest.raises(Later, match="cannot be reached"):
        outbound.send_webhook(
            tools(open_to(open_settings, other.url, nobody)), a_job(url=nobody, headers={}, payload=None)
        )
    other.answers.append((0, {}, b""))
    hasty = open_settings.model_copy(update={"webhook_timeout_seconds": 0.2})
    with pytest.raises(Later, match="Timeout"):
        outbound.send_webhook(tools(hasty), a_job(url=other.url, headers={}, payload=None))


def test_cookies_of_one_are_not_sent_for_another(open_settings: Settings, other: Other) -> None:
    other.answers.append((200, {"set-cookie": "who=acme"}, b""))
    for _ in range(2):
        outbound.send_webhook(tools(open_settings), a_job(url=other.url, headers={}, payload=None))
    assert [got.headers.get("cookie") for got in other.got] == [None, None]
