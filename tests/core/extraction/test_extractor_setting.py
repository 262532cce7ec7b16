from __future__ import annotations

import pytest

from core.config import Settings
from core.errors import Misconfigured
from core.extraction import extractor_setting
from tests.core.packages import Publish

MODEL = "http://127.0.0.1:1/v1"


def test_a_model_is_required_by_name_alone() -> None:
    for name in ("auto", "offline"):
        extractor_setting.require(Settings(extractor=name))
    for name in ("llm", "both"):
        extractor_setting.require(Settings(extractor=name, llm_base_url=MODEL))
        with pytest.raises(Misconfigured, match=f"`{name}`.*IMPRINT_LLM_BASE_URL"):
            extractor_setting.require(Settings(extractor=name))


def test_auto_stands_for_both_where_there_is_a_model() -> None:
    resolved = [extractor_setting.resolve(Settings(), has_model=there) for there in (True, False)]
    assert resolved == ["both", "offline"]
    assert extractor_setting.resolve(Settings(extractor="llm"), has_model=False) == "llm"
    assert extractor_setting.resolve(Settings(extractor="llm"), has_model=True, name="auto") == "both"


def test_a_package_must_provide_any_other_name(publish: Publish) -> None:
    with pytest.raises(Misconfigured, match="'parrot'"):
        extractor_setting.require(Settings(extractor="parrot"))
    publish("parrots", "imprint.extractors", "parrot = parrots:Parrot", code="class Parrot: ...\n")
    extractor_setting.require(Settings(extractor="parrot"))
