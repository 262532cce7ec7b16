"""Wrong and misspelt settings: one sentence each, with the setting, its value, where it stands and what is allowed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core import config
from core.config import Settings
from core.errors import Misconfigured
from core.settings import faults


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder, with no setting in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("IMPRINT_")]:
        monkeypatch.delenv(name)


def refusal() -> str:
    with pytest.raises(Misconfigured) as caught:
        Settings()
    return caught.value.detail


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("CATCH_UP", "sometimes", "is 'sometimes', but should be 'skip', 'once' or 'all'."),
        ("HTTP_PORT", "many", "is 'many', but should be a whole number."),
        ("HTTP_PORT", "70000", "is '70000', but should be less than or equal to 65535."),
        ("LEASE_SECONDS", "0", "is '0', but should be greater than 0."),
        ("MIRROR_GIT", "perhaps", "is 'perhaps', but should be true or false."),
        ("LLM_BASE_URL", "localhost", "is 'localhost', but should be a URL such as https://example.com/v1."),
        ("WEBHOOK_HOSTS", "example.com", """is 'example.com', but should be JSON such as ["example.com"]."""),
        ("WEBHOOK_PRIVATE_NETWORKS", '["home"]', "is 'home', but should be a valid IPv4 or IPv6 network."),
        ("EXTRACTOR", "My Own", "is 'My Own', but should match pattern '^[a-z0-9_.-]+$'."),
    ],
)
def test_a_wrong_value_is_one_sentence(name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"IMPRINT_{name}", value)
    assert refusal() == f"IMPRINT_{name} in the environment {said}"


def test_a_broker_that_nothing_could_connect_to_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_BROKER_URL", "valkey://:hush@127.0.0.1/0")
    assert refusal() == (
        "IMPRINT_BROKER_URL in the environment has a value that should begin with redis:// or rediss:// (also for "
        "Valkey), or for RabbitMQ with amqp:// or amqps:// (the value is secret and not shown)."
    )


def test_each_wrong_value_has_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRINT_CATCH_UP", "sometimes")
    monkeypatch.setenv("IMPRINT_ATTEMPTS", "0")
    assert len(refusal().splitlines()) == 2


def test_it_says_in_which_file_and_line_the_value_stands(tmp_path: Path) -> None:
    (tmp_path / "imprint.toml").write_text('log_level = "info"\nlease_seconds = -1\n')
    assert refusal() == "IMPRINT_LEASE_SECONDS in imprint.toml, line 2 is -1, but should be greater than 0."
    (tmp_path / ".env").write_text("# ours\nexport IMPRINT_LEASE_SECONDS=0\n")
    assert refusal() == "IMPRINT_LEASE_SECONDS in .env, line 2 is '0', but should be greater than 0."


def test_a_file_that_does_not_parse_is_named_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "imprint.toml").write_text("http_port = 1\nlease_seconds = = 2\n")
    assert refusal() == "imprint.toml is not valid TOML: Invalid value (at line 2, column 17)."
    (tmp_path / "imprint.toml").write_bytes(b"a = '\xff'")
    assert "not UTF-8" in refusal()
    (tmp_path / "imprint.toml").unlink()
    (tmp_path / ".env").write_bytes(b"IMPRINT_HOME=\xff")
    assert "not UTF-8" in refusal()


def test_no_secret_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IMPRINT_NOTIFY_CHANNELS", '{"ops": "hush"}')
    assert "hush" not in refusal()
    assert "IMPRINT_NOTIFY_CHANNELS" in refusal()
    monkeypatch.setenv("IMPRINT_NOTIFY_CHANNELS", "hush")
    assert "hush" not in refusal()
    monkeypatch.delenv("IMPRINT_NOTIFY_CHANNELS")
    monkeypatch.setenv("IMPRINT_LLM_BASE_URL", "ftp://me:hush@host/v1")
    assert "hush" not in refusal()
    monkeypatch.delenv("IMPRINT_LLM_BASE_URL")
    (tmp_path / "imprint.toml").write_text('llm_api_key = ["hush"]\n')
    assert "hush" not in refusal()


def test_an_empty_value_is_the_default_and_hides_what_the_files_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("IMPRINT_DATABASE_URL=postgresql://owner:hush@db/imprint\n")
    for name in ("DATABASE_URL", "WEBHOOK_HOSTS", "HTTP_PORT"):
        monkeypatch.setenv(f"IMPRINT_{name}", "")
    found = Settings()
    assert (found.database_url, found.webhook_hosts, found.http_port) == (None, [], 8070)


def test_names_that_no_setting_has_are_warned_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IMPRINT_LLM_BASEURL", "http://localhost")
    monkeypatch.setenv("IMPRINT_APP_PASSWORD", "one of docker-compose.yml")
    (tmp_path / ".env").write_text("\nIMPRINT_SWEEP_SECOND=1\n")
    (tmp_path / "imprint.toml").write_text("htp_port = 1\n\n[imprint]\nhttp_port = 2\n\n[notify_channels]\n")
    headed = "settings stand at the top of the file, in no table."
    assert config.unknown() == [
        "IMPRINT_LLM_BASEURL in the environment is no setting; did you mean IMPRINT_LLM_BASE_URL?",
        "IMPRINT_SWEEP_SECOND in .env, line 2 is no setting; did you mean IMPRINT_SWEEP_SECONDS?",
        "The key 'htp_port' in imprint.toml, line 1, is no setting; did you mean http_port?",
        f"The table 'imprint' in imprint.toml, line 3, is no setting; {headed}",
    ]


def test_the_names_of_the_compose_file_are_known(root: Path) -> None:
    written = (root / "docker-compose.yml").read_text()
    assert all(f"${{{name}:?" in written for name in faults.COMPOSE_NAMES)


def test_a_broken_file_of_the_stack_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "stack.json").write_text("{")
    with pytest.raises(Misconfigured, match="cannot be read"):
        _ = Settings(home=tmp_path).stack
