from __future__ import annotations

from pathlib import Path

import pytest

from core import plugins
from core.errors import Misconfigured
from core.inference import configured_embedder
from tests.core.packages import Publish, with_embedding
from workers.agents import table


def test_what_a_package_brings_is_found_by_its_name(publish: Publish) -> None:
    publish("found_one", plugins.RETRIEVERS, "wiki = found_one:WIKI", code="WIKI = 'the wiki'")
    assert plugins.names(plugins.RETRIEVERS) == ("wiki",)
    assert plugins.load(plugins.RETRIEVERS, "wiki") == "the wiki"


def test_a_name_that_nobody_brings_is_refused_with_those_that_there_are(publish: Publish) -> None:
    publish("found_two", plugins.EXTRACTORS, "orders = found_two:X")
    with pytest.raises(Misconfigured, match=r"extractors 'invoices'.* auto, both, llm, offline, orders\."):
        plugins.load(plugins.EXTRACTORS, "invoices")


def test_a_name_that_two_packages_bring_belongs_to_neither(publish: Publish) -> None:
    publish("twin_a", plugins.NOTIFIERS, "sms = twin_a:A", code="A = 1")
    publish("twin_b", plugins.NOTIFIERS, "sms = twin_b:B", code="B = 1")
    assert plugins.names(plugins.NOTIFIERS) == ("sms",)
    with pytest.raises(Misconfigured, match="twin_a and twin_b both bring notifiers 'sms'"):
        plugins.load(plugins.NOTIFIERS, "sms")


def test_a_package_that_stands_on_the_path_twice_is_one(
    publish: Publish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish("again", plugins.RETRIEVERS, "again = again:A", code="A = 1")
    (tmp_path / "other").symlink_to(tmp_path / "again")
    monkeypatch.syspath_prepend(str(tmp_path / "other"))
    assert plugins.load(plugins.RETRIEVERS, "again") == 1


@pytest.mark.parametrize("group", sorted(plugins.OWN))
def test_no_package_takes_over_a_name_of_the_service(publish: Publish, group: str) -> None:
    own = min(plugins.OWN[group])
    publish(f"taker_{group[8:]}", group, f"{own} = taker_{group[8:]}:X", code="X = 1")
    with pytest.raises(
        Misconfigured, match=f"taker_{group[8:]} brings {group[8:]} '{own}', a name reserved by Imprint"
    ):
        plugins.load(group, own)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("raise ValueError('no licence')", "ValueError: no licence"),
        ("Y = 1", "has no attribute 'X'"),
        ("def (", "SyntaxError"),
    ],
    ids=["a missing module", "an error of its own", "a missing name", "no Python"],
)
def test_what_cannot_be_loaded_is_named_with_its_error(publish: Publish, code: str, said: str, unique: str) -> None:
    package = f"broken_{unique}"
    publish(package, plugins.AGENTS, f"sweeper = {package}:X", code=code)
    with pytest.raises(Misconfigured, match=rf"{package} brings agents 'sweeper', which cannot be loaded: .*{said}"):
        plugins.load(plugins.AGENTS, "sweeper")


def test_every_agent_and_setting_of_the_service_keeps_its_name() -> None:
    assert set(table.AGENTS) == plugins.OWN[plugins.AGENTS]
    for name in plugins.OWN[plugins.EMBEDDERS]:
        configured_embedder.embedder(with_embedding(name))
