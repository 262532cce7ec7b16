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
    extractor_setting.require(Settings(extractor="llm", llm_base_url=MODEL))
    with pytest.raises(Misconfigured, match="IMPRINT_LLM_BASE_URL"):
        extractor_setting.require(Settings(extractor="llm"))


def test_a_package_must_provide_any_other_name(publish: Publish) -> None:
    with pytest.raises(Misconfigured, match="'parrot'"):
        extractor_setting.require(Settings(extractor="parrot"))
    publish("parrots", "imprint.extractors", "parrot = parrots:Parrot", code="class Parrot: ...\n")
    extractor_setting.require(Settings(extractor="parrot"))
