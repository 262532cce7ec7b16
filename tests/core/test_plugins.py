from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from core import plugins
from core.config import Settings
from core.context import retrievers
from core.context.retrievers import RetrievedText, RetrieverQuery
from core.errors import Misconfigured, Never
from core.inference import configured_embedder, embedding_model
from core.inference.embedders import HashEmbedder
from workers.agents import table

Publish = Callable[..., None]
QUESTION = RetrieverQuery("acme", "ada", None, "Where is my parcel?", 3)


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publish:
    """Puts a package on the path as an installer does: a module, and what its metadata says it brings."""

    def put(package: str, group: str, *points: str, code: str = "") -> None:
        folder = tmp_path / package
        metadata = folder / f"{package}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (folder / f"{package}.py").write_text(code, encoding="utf-8")
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text("\n".join([f"[{group}]", *points]) + "\n")
        monkeypatch.syspath_prepend(str(folder))

    return put


def with_embedding(name: str) -> Settings:
    return Settings(embedding="hash").model_copy(update={"embedding": name})


def test_what_a_package_brings_is_found_by_its_name(publish: Publish) -> None:
    publish("found_one", plugins.RETRIEVERS, "wiki = found_one:WIKI", code="WIKI = 'the wiki'")
    assert plugins.names(plugins.RETRIEVERS) == ("wiki",)
    assert plugins.load(plugins.RETRIEVERS, "wiki") == "the wiki"


def test_a_name_that_nobody_brings_is_refused_with_those_that_there_are(publish: Publish) -> None:
    publish("found_two", plugins.EXTRACTORS, "orders = found_two:X")
    with pytest.raises(Misconfigured, match=r"extractors 'invoices'.* auto, llm, offline, orders\."):
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
    with pytest.raises(Misconfigured, match=f"taker_{group[8:]} brings {group[8:]} '{own}', a name of Imprint itself"):
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


EMBEDDER = """
import numpy as np
from core.inference.embedders import HashEmbedder

class Short(HashEmbedder):
    def __init__(self, settings):
        super().__init__(16)
    def embed(self, texts):
        return self.spoilt(super().embed(texts))
    def spoilt(self, rows):
        return rows

class Wide(Short):
    def spoilt(self, rows):
        return np.hstack([rows, rows])

class Fewer(Short):
    def spoilt(self, rows):
        return rows[1:]

class Long(Short):
    def spoilt(self, rows):
        return rows * 3

class Unknown(Short):
    def spoilt(self, rows):
        return rows * np.nan
"""


def test_an_embedder_of_a_package_is_chosen_by_its_name(publish: Publish) -> None:
    publish("vectors", plugins.EMBEDDERS, "short = vectors:Short", code=EMBEDDER)
    chosen = with_embedding("short")
    assert embedding_model.identity(chosen) == ("hash", 16)
    np.testing.assert_array_equal(
        configured_embedder.embedder(chosen).embed(["a", "b"]), HashEmbedder(16).embed(["a", "b"])
    )
    assert configured_embedder.embedder(chosen).embed([]).shape == (0, 16)


@pytest.mark.parametrize("kind", ["Wide", "Fewer", "Long", "Unknown"])
def test_vectors_that_would_spoil_the_store_are_refused(publish: Publish, kind: str, unique: str) -> None:
    publish(f"v{unique}", plugins.EMBEDDERS, f"short = v{unique}:{kind}", code=EMBEDDER)
    with pytest.raises(Never, match="Embedder 'short' answered vectors"):
        configured_embedder.embedder(with_embedding("short")).embed(["one text", "two texts"])


def test_an_embedder_that_nobody_brings_is_refused() -> None:
    with pytest.raises(Misconfigured, match="No package here brings embedders 'mystery'"):
        configured_embedder.embedder(with_embedding("mystery"))


RETRIEVER = """
from core.context.retrievers import Found

class Wiki:
    def __init__(self, settings):
        self.settings = settings
    def retrieve(self, question):
        yield from [Found(question.query, "w1", 0.4), Found("  ", "w2", 9), Found("x" * 9000, "w3", 9)]
        raise AssertionError("no more was asked for")

class Broken(Wiki):
    def retrieve(self, question):
        raise ConnectionError("the wiki is away")
"""


def test_retrievers_are_asked_together_and_a_broken_one_keeps_nobody_from_an_answer(publish: Publish) -> None:
    publish("wikis", plugins.RETRIEVERS, "wiki = wikis:Wiki", "away = wikis:Broken", code=RETRIEVER)
    with capture_logs() as logged:
        found = retrievers.ask(retrievers.open_all(Settings()), QUESTION)
    assert [(name, one.source, one.score) for name, one in found] == [("wiki", "w3", 1.0), ("wiki", "w1", 0.4)]
    assert len(found[0][1].text) == retrievers.CHARACTERS
    assert [(line["event"], line["retriever"]) for line in logged] == [("retriever.failed", "away")]


def test_without_a_retriever_nothing_is_found() -> None:
    assert list(retrievers.ask({}, QUESTION)) == []
    assert RetrievedText("a", "b", 0.5) == RetrievedText("a", "b", 0.5)
