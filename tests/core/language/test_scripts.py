from __future__ import annotations

import pytest

from core.language import scripts


@pytest.mark.parametrize(
    ("text", "source", "foreign"),
    [
        ("Lin is allergic to peanuts.", "小林对花生过敏。", True),
        ("Ада предпочитает yarn.", "I prefer yarn these days", True),
        ("小林对花生过敏。", "Lin is allergic to peanuts.", True),
        ("林さんはピーナッツアレルギーです。", "我对花生过敏", False),
        ("花生过敏", "ピーナッツのアレルギーがあります", False),
        ("小林用 TypeScript 和 PostgreSQL。", "我用 TypeScript 和 PostgreSQL", False),
        ("Kim works with TypeScript, PostgreSQL.", "我用 TypeScript 和 PostgreSQL", True),
        ("Ada moved to 上海.", "I moved to Shanghai", False),
        ("Ada prefiere pnpm.", "I prefer pnpm", False),
        ("Ada's PIN is 4471.", "4471", False),
        ("", "Hello there", False),
    ],
)
def test_a_text_in_a_script_that_its_source_hardly_uses_is_foreign(text: str, source: str, *, foreign: bool) -> None:
    assert scripts.is_foreign(text, source) is foreign
