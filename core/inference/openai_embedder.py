"""Embeddings from an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import openai

from core.errors import Never
from core.inference.api_errors import failure
from core.inference.embedders import Floats, Symmetric, unit_rows

_REQUEST_TEXTS = 256  # texts sent to an endpoint at once: far below the 2,048 that OpenAI allows


class OpenAIEmbedder(Symmetric):
    """Vectors from any endpoint compatible with `POST /embeddings` of OpenAI."""

    def __init__(self, base_url: str | None, api_key: str, model: str, dimension: int, timeout_s: float = 30) -> None:
        """`base_url` None means OpenAI; the vectors returned must have `dimension`."""
        self.name, self.dimension = model, dimension
        self._asks_dimension = True
        # The ledger tries again and honours Retry-After, so the client must not do so underneath it.
        self._client = openai.OpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=0)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row for each text. Raises Later on 429, 5xx and a lost connection, Never on any other refusal."""
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _REQUEST_TEXTS):
            part = [text if text.strip() else "-" for text in texts[start : start + _REQUEST_TEXTS]]
            rows[start : start + len(part)] = self._checked(self._ask(part), len(part))
        return rows

    def _ask(self, texts: list[str]) -> list[list[float]]:
        try:
            answer = self._client.embeddings.create(
                input=texts,
                model=self.name,
                dimensions=self.dimension if self._asks_dimension else openai.omit,
                encoding_format="float",
            )
        except openai.BadRequestError as refusal:
            if self._asks_dimension and "dimension" in str(refusal).lower():
                self._asks_dimension = False  # older endpoints refuse the parameter and have one length only
                return self._ask(texts)
            raise failure("The embedding endpoint", refusal) from refusal
        except openai.APIError as refusal:
            raise failure("The embedding endpoint", refusal) from refusal
        return [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]

    def _checked(self, rows: list[list[float]], count: int) -> Floats:
        lengths = {len(row) for row in rows}
        if len(rows) != count or lengths != {self.dimension}:
            raise Never(
                f"{self.name} returned {len(rows)} vectors of length {sorted(lengths)} for {count} texts; "
                f"IMPRINT_EMBEDDING_DIMENSION says {self.dimension}."
            )
        return unit_rows(np.array(rows, dtype=np.float32))
