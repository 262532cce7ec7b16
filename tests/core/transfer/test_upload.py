from __future__ import annotations

import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.transfer.upload import UploadFile


@given(
    st.binary(max_size=60), st.integers(1, 9), st.lists(st.tuples(st.integers(0, 70), st.integers(0, 20)), max_size=8)
)
def test_it_reads_like_a_file_and_asks_for_no_part_twice_in_a_row(
    data: bytes, part: int, reads: list[tuple[int, int]]
) -> None:
    asked: list[int] = []

    def read_part(number: int) -> bytes:
        asked.append(number)
        return data[number * part : (number + 1) * part]

    plain = io.BytesIO(data)
    with io.BufferedReader(UploadFile(len(data), part, read_part), buffer_size=4) as file:
        for at, count in reads:
            assert (file.seek(at), file.read(count)) == (plain.seek(at), plain.read(count))
        assert file.seek(0, io.SEEK_END) == len(data)
    assert all(one != other for one, other in pairwise(asked))


def test_it_can_be_searched_but_not_before_its_beginning() -> None:
    file = UploadFile(3, 2, lambda _: b"")
    assert (file.readable(), file.seekable(), file.seek(2), file.tell()) == (True, True, 2, 2)
    with pytest.raises(ValueError, match="-1"):
        file.seek(-1)
