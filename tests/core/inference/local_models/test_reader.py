from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from core.inference import local_embedder
from core.inference.local_models import e5
from core.inference.local_models.catalog import MULTILINGUAL
from core.inference.local_models.reader import LIMITS, Joined, Reader, join

REQUEST = "Please forget where I live."
STATEMENTS = ("I live in Leeds.", "My sister plays the oboe.", "我对花生过敏。")


@pytest.fixture(scope="module")
def reader() -> Reader:
    files = local_embedder.read_files(MULTILINGUAL)
    return Reader(local_embedder.GRAPHS / MULTILINGUAL.graph, files)


@pytest.fixture(scope="module")
def tokens() -> e5.Tokens:
    pieces = e5.read_pieces(local_embedder.local_model_path(MULTILINGUAL))
    return e5.Tokens(e5.Unigram(pieces.texts, pieces.scores, pieces.unknown, pieces.normal), pieces.first, pieces.last)


def parts(joined: Joined, text: int) -> list[str]:
    start = joined.starts[text]
    return [joined.part(text, start + at, start + at) for at in range(len(joined.places[text]))]


@pytest.mark.parametrize("text", ["I moved to Porto in May.", "我下周要去厦门出差。", "Ich zog nach Köln, ﬁnally"])
def test_the_places_of_tokens_cover_a_text_without_its_spaces(tokens: e5.Tokens, text: str) -> None:
    joined = join(tokens, (text,))
    assert joined.ids == tokens(text)
    assert "".join(parts(joined, 0)) == joined.texts[0].replace(" ", "")


def test_texts_are_read_side_by_side_each_up_to_its_limit(tokens: e5.Tokens) -> None:
    joined = join(tokens, ("word " * 200, "", "and the last"))
    assert [len(places) for places in joined.places] == [LIMITS[3][0], 1, 3]
    assert joined.ids.count(tokens.last) == 5
    assert joined.ids[joined.starts[2] - 2 : joined.starts[2]] == [tokens.last, tokens.last]


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [("I moved to Porto.", "Porto", "Porto"), ("I moved to Porto.", "Por", "Porto"), ("It is 42.", "43", None)],
)
def test_a_value_is_found_by_the_tokens_that_hold_it(
    tokens: e5.Tokens, text: str, value: str, said: str | None
) -> None:
    joined = join(tokens, (text,))
    place = joined.tokens_of(0, value)
    assert (place and joined.part(0, *place).rstrip(".")) == said


def test_a_pair_is_judged_alike_alone_and_among_others(reader: Reader) -> None:
    pairs = [(REQUEST, statement) for statement in STATEMENTS]
    together = reader.log_odds("meant", pairs)
    alone = [float(reader.log_odds("meant", [pair])[0]) for pair in pairs]
    np.testing.assert_allclose(together, alone, atol=1e-3)


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (("I moved to Porto.", "", "Sorry, Leeds, not Porto."), ("Porto", "Leeds")),
        (("The train leaves at 18:20 from platform 4.", "Noted.", "scratch that, 18:50"), ("18:20", "18:50")),
    ],
)
def test_the_reader_points_at_the_wrong_value_and_the_right_one(
    reader: Reader, texts: Sequence[str], values: tuple[str, str]
) -> None:
    wrong, right, probability = reader.values(tuple(texts))
    assert probability > 0.5
    assert (wrong.strip(".,"), right.strip(".,")) == values
    assert reader.log_odds("slips", [tuple(texts)])[0] > 0


def test_an_unknown_head_is_an_error(reader: Reader) -> None:
    with pytest.raises(KeyError):
        reader.log_odds("nothing", [("text",)])
