from __future__ import annotations

from typing import Any

from core.inference.embedders import CachedEmbedder
from core.inference.openai_embedder import OpenAIEmbedder
from core.inference.sound_vectors import embed_sound
from tests.core.inference.vector_endpoint import Answer, endpoint, vectors


def test_a_text_with_a_broken_vector_has_zeros_for_it_and_the_others_have_theirs() -> None:
    def answer(body: dict[str, Any]) -> Answer:
        status, headers, value = vectors(body)
        for item in value["data"]:
            if body["input"][item["index"]].startswith("bad"):
                item["embedding"] = None
        return status, headers, value

    with endpoint(answer) as (url, _):
        embedder = CachedEmbedder(OpenAIEmbedder(url, "", "m", 3))
        rows = embed_sound(embedder, ["a", "bad", "b"])
        assert not embed_sound(embedder, ["bad", "bad too"]).any()
    assert [bool(row.any()) for row in rows] == [True, False, True]
