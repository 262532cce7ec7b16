from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any, cast

import pytest
from aiosmtpd.controller import Controller
from pydantic import SecretStr

from core.config import Settings
from core.errors import Later, Never
from tests.factories import a_job, tools
from tests.outlets import open_to
from tests.ports import free_port
from workers.agents import notify


class Mailbox:
    """A mail server that keeps what it gets, and answers `codes` one by one before it is well."""

    def __init__(self) -> None:
        self.got: list[EmailMessage] = []
        self.codes: list[str] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        if self.codes:
            return self.codes.pop(0)
        self.got.append(message_from_bytes(envelope.content, policy=default))
        return "250 OK"


@pytest.fixture
def mailbox() -> Iterator[tuple[str, Mailbox]]:
    port = free_port()
    box = Mailbox()
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    yield f"smtp://127.0.0.1:{port}", box
    controller.stop()


def test_mail_is_sent_with_the_subject_of_the_rule_and_once_for_who_knows_its_id(
    upgraded: Settings, mailbox: tuple[str, Mailbox]
) -> None:
    url, box = mailbox
    given = open_to(upgraded, channels={"ann": "mailto:ann@example.com"}, smtp_url=SecretStr(url))
    job = a_job(channel="ann", template="Größe 42\nis gone", subject="Stock\r\nBcc: eve@example.com")
    assert notify.notify(tools(given), job).pending.write(cast(Any, None), job.author) == {
        "channel": "ann",
        "delivered": 1,
    }
    (mail,) = box.got
    assert (mail["To"], mail["Subject"], mail["Bcc"]) == ("ann@example.com", "Stock Bcc: eve@example.com", None)
    assert (mail["Message-ID"], mail.get_content().splitlines()) == (f"<{job.id}@imprint>", ["Größe 42", "is gone"])


@pytest.mark.parametrize(
    ("template", "subject", "told"),
    [("", None, ("", "")), (None, None, ("", "")), ("x", 5, ("5", "x")), (7, None, ("7", "7"))],
    ids=["nothing", "no such field", "a number as the subject", "a number"],
)
def test_mail_is_sent_whatever_the_event_made_of_the_templates(
    upgraded: Settings, mailbox: tuple[str, Mailbox], template: Any, subject: Any, told: tuple[str, str]
) -> None:
    url, box = mailbox
    given = open_to(upgraded, channels={"ann": "mailto:ann@example.com"}, smtp_url=SecretStr(url))
    notify.notify(tools(given), a_job(channel="ann", template=template, subject=subject))
    assert [(mail["Subject"], mail.get_content().strip()) for mail in box.got] == [told]


def test_a_mail_server_that_says_not_now_is_asked_again_and_one_that_refuses_is_not(
    upgraded: Settings, mailbox: tuple[str, Mailbox]
) -> None:
    url, box = mailbox
    given = open_to(upgraded, channels={"ann": "mailto:ann@example.com"}, smtp_url=SecretStr(url))
    box.codes = ["451 later", "550 no such mailbox"]
    with pytest.raises(Later, match="451"):
        notify.notify(tools(given), a_job(channel="ann", template="x"))
    with pytest.raises(Never, match="550"):
        notify.notify(tools(given), a_job(channel="ann", template="x"))


def test_without_a_mail_server_a_mailbox_says_what_to_set(upgraded: Settings) -> None:
    given = open_to(upgraded, channels={"ann": "mailto:ann@example.com"})
    with pytest.raises(Never, match="IMPRINT_SMTP_URL"):
        notify.notify(tools(given), a_job(channel="ann", template="x"))
