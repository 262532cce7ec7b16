from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from core.config import Settings
from core.errors import Misconfigured
from core.extraction import configured_extractor
from core.extraction.llm_extractor import ModelExtractor
from core.extraction.protocol import Reading, Window
from core.inference.client import ChatClient, OnCall
from core.inference.openai_client import OpenAIClient

PACKAGE = """
class Parrot:
    name, prompt = "parrot", None

    def __init__(self, settings):
        self.settings = settings
"""


@pytest.fixture
def client() -> ChatClient:
    return OpenAIClient("http://127.0.0.1:1/v1", "", "fake", 1)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that brings the extractor `parrot`, on the path as if it were installed."""
    info = tmp_path / "parrots-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parrots\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[imprint.extractors]\nparrot = parrots_of_a_test:Parrot\n")
    (tmp_path / "parrots_of_a_test.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "parrots_of_a_test", raising=False)


def chosen(model: ChatClient | None = None, name: str | None = None, **settings: Any) -> Any:
    return configured_extractor.load_extractor(Settings(**settings), model, name)


def test_by_itself_a_model_reads_where_there_is_one_and_the_rules_where_there_is_none(client: ChatClient) -> None:
    assert [(chosen().name, chosen().prompt), chosen(client).name] == [("offline", None), "llm"]


def test_who_is_set_reads_whatever_else_is_there(client: ChatClient) -> None:
    assert chosen(client, extractor="offline").name == "offline"
    assert chosen(client, extractor="llm", prompts="eval").prompt == "extract.eval.v5"
    assert chosen(client, "offline", extractor="llm").name == "offline", "or who is asked for"
    assert chosen(client, extractor="both").name == "llm", "the rules read beside it"


@pytest.mark.parametrize("name", ["llm", "both"])
def test_a_model_that_is_not_there_cannot_read(name: str) -> None:
    with pytest.raises(Misconfigured, match=f"`{name}`.*IMPRINT_LLM_BASE_URL"):
        chosen(extractor=name)


@pytest.mark.usefixtures("package")
def test_a_package_brings_its_own_by_an_entry_point() -> None:
    found = chosen(extractor="parrot", extract_messages=7)
    assert (found.name, found.settings.extract_messages) == ("parrot", 7)


@pytest.mark.usefixtures("package")
def test_a_name_that_nobody_has_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(Misconfigured, match=r"'parakeet'.* auto, both, llm, offline.* parrot"):
        chosen(extractor="parakeet")


def test_both_keep_to_the_protocol(client: ChatClient) -> None:
    def reads(one: configured_extractor.Extractor, on_call: OnCall) -> Reading:
        return one.read(Window((), ()), on_call)

    def no_call(_: object) -> None:
        raise AssertionError("An empty window is no question.")

    for one in (configured_extractor.RuleExtractor(), ModelExtractor(client)):
        assert reads(one, no_call) == Reading([])
