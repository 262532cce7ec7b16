"""The multilingual model's tokens, against the library `tokenizers` on the pieces of the model's file."""

from __future__ import annotations

import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers

from core.inference import local_embedder
from core.inference.local_embedder import LocalEmbedder
from core.inference.local_models import e5
from core.inference.local_models.catalog import MULTILINGUAL
from core.inference.local_models.encoder import ModelFiles

FORMS = ("NFC", "NFD", "NFKC", "NFKD")

SENTENCES = (
    "Tôi sống ở Hà Nội và thích uống trà xanh mỗi buổi sáng.",
    "저는 서울에 살고 매일 아침 녹차를 마셔요.",
    "ガギグゲゴ、パピプペポ。毎朝、緑茶を飲みます。",
    "Grüße aus München, schöne Häuser.",
    "Žluťoučký kůň, çığlık, ångström, ṩ ǭ.",
    "हिन्दी क़लम ड़ ढ़",
    "整理石頭和物業的數據，慶祝歡樂的潮流。",
)

EVERY = range(sys.maxunicode + 1)


@dataclass(frozen=True)
class Reference:
    """The library's tokenizer, and the characters that the model's table treats otherwise than NFKC."""

    ours: ModelFiles
    library: Tokenizer
    excepted: frozenset[str]
    first: int
    last: int

    def ids(self, text: str) -> list[int]:
        words = normalizers.NFKC().normalize_str(text).split(" ")
        marked = "".join(f"▁{word}" for word in words if word)
        return [self.first, *self.library.encode(marked or "▁").ids, self.last]


@pytest.fixture(scope="module")
def reference() -> Reference:
    folder = local_embedder.local_model_path(MULTILINGUAL)
    pieces = e5.read_pieces(folder)
    library = Tokenizer(models.Unigram(list(zip(pieces.texts, pieces.scores, strict=True)), unk_id=pieces.unknown))
    excepted = {chr(code) for code in EVERY if _normal(pieces, code) != unicodedata.normalize("NFKC", chr(code))}
    return Reference(e5.read(folder), library, frozenset(excepted), pieces.first, pieces.last)


def _normal(pieces: e5.Pieces, code: int) -> str:
    return unicodedata.normalize("NFC", pieces.normal.get(code, chr(code)))


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_the_tokens_of_any_text_are_those_of_the_library(reference: Reference, data: st.DataObject) -> None:
    wide = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
    known = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=2).map(" ".join)
    text = unicodedata.normalize(data.draw(st.sampled_from(FORMS)), data.draw(wide | known))
    plain = "".join(sign for sign in text if sign not in reference.excepted)
    assert reference.ours.tokens(plain) == reference.ids(plain)


def test_the_table_of_the_model_differs_from_nfkc_in_few_characters(reference: Reference) -> None:
    """Controls, spaces, and what Unicode has added since."""
    assert len(reference.excepted) < 500


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_text_is_one_vector_in_all_its_forms(sentence: str) -> None:
    rows = LocalEmbedder(MULTILINGUAL).embed([unicodedata.normalize(form, sentence) for form in FORMS[:2]])
    assert np.array_equal(rows[0], rows[1])


def test_a_long_text_is_cut_at_the_same_token_in_all_its_forms() -> None:
    files = e5.read(Path(local_embedder.local_model_path(MULTILINGUAL)))
    text = "각닭".join(SENTENCES) * 200
    assert len({tuple(files.tokens(unicodedata.normalize(form, text))) for form in ("NFC", "NFD")}) == 1
