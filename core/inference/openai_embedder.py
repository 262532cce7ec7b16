"""Embeddings from an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import openai

from core import tracing
from core.errors import Never
from core.inference import model_spans
from core.inference.api_errors import failure, read_body
from core.inference.embedders import BrokenVectors, Floats, Symmetric, counted_batch, unit_rows

_WHO: Final = "The embedding endpoint"

_LARGEST: Final = 1e18
"""Largest number in a vector: its square must be a float32."""

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
        """Return one row for each text.

        Raises Later on 429, 5xx, a lost connection and an answer that is not JSON, BrokenVectors if some rows cannot be
        stored, Never on any other refusal.
        """
        rows, broken = np.zeros((len(texts), self.dimension), dtype=np.float32), dict[int, str]()
        for start in range(0, len(texts), _REQUEST_TEXTS):
            part = [text if text.strip() else "-" for text in texts[start : start + _REQUEST_TEXTS]]
            with counted_batch(len(part)):
                answer = self._ask(part)
            embedded, faults = self._checked(answer, len(part))
            rows[start : start + len(part)] = embedded
            broken |= {start + position: fault for position, fault in faults.items()}
        if broken:
            good = {text: rows[position] for position, text in enumerate(texts) if position not in broken}
            advice = "" if good else f"; IMPRINT_EMBEDDING_DIMENSION says {self.dimension}."
            reasons = {texts[position]: fault for position, fault in broken.items()}
            raise BrokenVectors(self.name, good, reasons, advice)
        return rows

    def _ask(self, texts: list[str]) -> object:
        """Return the answer's `data`."""
        try:
            answer = self._request(texts)
        except openai.BadRequestError as refusal:
            if self._asks_dimension and "dimension" in str(refusal).lower():
                self._asks_dimension = False  # older endpoints refuse the parameter and have one length only
                return self._ask(texts)
            raise failure(_WHO, refusal) from refusal
        except openai.APIError as refusal:
            raise failure(_WHO, refusal) from refusal
        body = read_body(_WHO, answer.http_response.content)
        if not isinstance(body.get("data"), list):
            raise Never(f"{_WHO} sent an answer without `data`; IMPRINT_EMBEDDING_BASE_URL may name another service.")
        return body["data"]

    def _request(self, texts: list[str]) -> Any:
        with model_spans.request("embeddings", str(self._client.base_url), self.name):
            return self._client.embeddings.with_raw_response.create(
                input=texts,
                model=self.name,
                dimensions=self.dimension if self._asks_dimension else openai.omit,
                encoding_format="float",
                extra_headers=tracing.headers(),
            )

    def _checked(self, data: object, count: int) -> tuple[Floats, dict[int, str]]:
        """Return the rows of an answer, and by position what is wrong with one."""
        rows, vectors = np.zeros((count, self.dimension), dtype=np.float32), _by_index(data)
        faults = {n: fault for n in range(count) if (fault := _fault(vectors.get(n), self.dimension))}
        sound = [n for n in range(count) if n not in faults]
        if sound:
            rows[sound] = unit_rows(np.array([vectors[n] for n in sound], dtype=np.float32))
        return rows, faults


def _by_index(data: object) -> dict[int, object]:
    """Return vectors by the position of their text; items without one stand in the order of the texts."""
    items = [item if isinstance(item, dict) else {} for item in data] if isinstance(data, list) else []
    return {
        item["index"] if type(item.get("index")) is int else n: item.get("embedding") for n, item in enumerate(items)
    }


def _fault(vector: object, dimension: int) -> str | None:
    """Return why a vector cannot be stored; None if it can."""
    if not isinstance(vector, list):
        return "no vector for a text"
    if len(vector) != dimension:
        return f"{len(vector)} numbers, not {dimension}"
    if not all(type(number) in {int, float} and abs(number) <= _LARGEST for number in vector):
        return "something that is no finite number"
    return None if any(vector) else "only zeros"
