from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from api.cli.commands.host.checks import outlets
from api.cli.commands.host.checks.installation import Installation
from core.config import Settings
from core.errors import Misconfigured
from tests.ports import POLL_SECONDS, free_port


class _MailServer(socketserver.StreamRequestHandler):
    """Speaks enough SMTP to greet, and to refuse any login."""

    def handle(self) -> None:
        self.wfile.write(b"220 mail.test\r\n")
        for line in self.rfile:
            verb = line.split()[0].upper()
            answer = {
                b"EHLO": b"250-mail.test\r\n250 AUTH PLAIN",
                b"AUTH": b"535 5.7.8 refused",
                b"QUIT": b"221 bye",
            }.get(verb, b"250 ok")
            self.wfile.write(answer + b"\r\n")
            if verb == b"QUIT":
                return


@contextmanager
def mail_server() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _MailServer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def mailing(url: str) -> Installation:
    return Installation(Settings(smtp_url=SecretStr(url)))


def test_a_mail_server_that_answers_is_well_and_gets_no_mail() -> None:
    with mail_server() as port:
        assert outlets.mail(mailing(f"smtp://127.0.0.1:{port}")) == f"127.0.0.1:{port} lets us in"


def test_a_refused_login_and_an_absent_mail_server_fail_without_the_password() -> None:
    with mail_server() as port, pytest.raises(Misconfigured, match=r"refuses the login \(535\)") as refused:
        outlets.mail(mailing(f"smtp://ada:hush@127.0.0.1:{port}"))
    with pytest.raises(Misconfigured, match="does not answer as a mail server") as absent:
        outlets.mail(mailing(f"smtp://ada:hush@127.0.0.1:{free_port()}"))
    assert "hush" not in refused.value.detail + absent.value.detail


def test_a_mirror_that_is_no_folder_fails(tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    assert outlets.mirror(Installation(Settings(mirror_dir=folder))) == f"{folder} can be written"
    folder.write_text("a file")
    with pytest.raises(Misconfigured, match="is no folder that this user may write"):
        outlets.mirror(Installation(Settings(mirror_dir=folder)))
