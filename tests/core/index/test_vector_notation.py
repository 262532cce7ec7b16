from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from core.index import vector_notation
from core.storage.db import Database
from tests.samples import TENANT

NUMBERS = st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=8)


@given(NUMBERS)
def test_a_vector_comes_back_to_six_digits(numbers: list[float]) -> None:
    vector = np.array(numbers, np.float32)
    again = vector_notation.vector_of(vector_notation.vector_literal(vector))
    assert again.dtype == np.float32
    assert again == pytest.approx(vector, rel=1e-5, abs=1e-40)


def test_the_database_reads_what_is_written_and_writes_what_is_read(app: Database) -> None:
    vector = np.array([0.5, -2.0, 1e-7, 12345.0], np.float32)
    with app.tenant(TENANT) as tx:
        values = {"vector": vector_notation.vector_literal(vector)}
        found = tx.execute(text("SELECT cast(cast(:vector AS vector) AS text)"), values).scalar_one()
    assert vector_notation.vector_of(found) == pytest.approx(vector)
