from __future__ import annotations

from pathlib import Path

import pytest

from core.config import ClientSettings
from core.errors import Misconfigured
from core.settings import user_folder


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, and a user's own folder beside it."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("HOME", "URL", "API_KEY"):
        monkeypatch.delenv(f"IMPRINT_{name}", raising=False)
    return folder


def test_files_of_the_working_folder_set_nothing(work: Path) -> None:
    (work / ".env").write_text("IMPRINT_URL=http://evil.example\nIMPRINT_API_KEY=evil\nIMPRINT_HOME=/evil\n")
    (work / "imprint.toml").write_text('url = "http://evil.example"\napi_key = "evil"\nhome = "/evil"\n')
    (work / ".imprint" / "run").mkdir(parents=True)
    (work / ".imprint" / "run" / "stack.json").write_text('{"http_url": "http://evil.example"}')
    settings = ClientSettings()
    assert (settings.url, settings.api_key, settings.home, settings.stack) == (None, None, user_folder.NOWHERE, {})


def test_the_users_own_file_is_read_below_the_environment(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = work.parent / "config" / "imprint" / "imprint.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'url = "http://ours.example"\nhome = "{work.parent}/home"\n')
    assert (ClientSettings().url, ClientSettings().home) == ("http://ours.example", work.parent / "home")
    monkeypatch.setenv("IMPRINT_URL", "http://mine.example")
    assert ClientSettings().url == "http://mine.example"
    own.write_text("http_port = 99999\n")
    with pytest.raises(Misconfigured, match=rf"IMPRINT_HTTP_PORT in {own}, line 1 is 99999"):
        ClientSettings()


def test_a_home_in_the_working_folder_counts_once_a_stack_was_started_there(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = work / ".imprint"
    home.mkdir()
    monkeypatch.setenv("IMPRINT_HOME", ".imprint")
    assert ClientSettings().home == user_folder.NOWHERE
    user_folder.register(Path(".imprint"))
    assert ClientSettings().home == home
    monkeypatch.delenv("IMPRINT_HOME")
    assert ClientSettings().home == home
    monkeypatch.chdir(work.parent)
    assert ClientSettings().home == user_folder.NOWHERE


def test_homes_that_have_gone_are_dropped_and_a_broken_list_is_named(work: Path) -> None:
    for name in ("first", "second"):
        (work / name).mkdir()
        user_folder.register(work / name)
    (work / "second").rmdir()
    user_folder.register(work / "first")
    homes = user_folder.folder() / user_folder.HOMES_FILE
    assert "second" not in homes.read_text()
    homes.write_text("[]")
    with pytest.raises(Misconfigured, match=r"homes\.json cannot be read"):
        ClientSettings()


def test_a_relative_folder_in_a_variable_is_no_folder_of_the_user(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", ".")
    assert user_folder.folder() == Path("~/.config/imprint").expanduser()
    monkeypatch.setenv("HOME", str(work.parent))
    assert user_folder.folder() == work.parent / ".config" / "imprint"
    monkeypatch.setenv("HOME", ".")
    assert user_folder.folder() == user_folder.NOWHERE
