"""The reader of an installation: what asks to forget, and what a request means."""

from __future__ import annotations

import numpy as np
import pytest

from core.config import Settings
from core.inference import local_reader
from core.inference.local_reader import LocalReader


@pytest.fixture(scope="module")
def reader() -> LocalReader:
    return LocalReader()


@pytest.mark.parametrize(
    ("request_", "other"),
    [
        ("Please forget what I told you about my divorce.", "Delete the divorce papers from the printing list."),
        ("别再记我的体重了。", "把体重这一列从表格里删掉。"),
        ("Olvida la dirección que te di.", "Borra la dirección de la invitación."),
    ],
)
def test_a_request_to_forget_is_likelier_than_a_command_about_something_else(
    reader: LocalReader, request_: str, other: str
) -> None:
    asks, does_not = reader.asks([request_, other]).tolist()
    assert asks > 0 > does_not


def test_what_a_request_means_is_the_likeliest_statement(reader: LocalReader) -> None:
    statements = ["My sister is a nurse.", "I weigh 82 kilos.", "I play the oboe."]
    assert int(reader.meant("Please don't keep my weight.", statements).argmax()) == 1


def test_no_texts_have_no_judgements_and_the_model_is_not_read() -> None:
    assert LocalReader().asks([]).shape == (0,)
    assert np.array_equal(LocalReader().meant("Forget it.", []), np.empty(0))


def test_an_installation_has_one_reader_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings()
    assert local_reader.reader(settings) is local_reader.reader(settings) is not None
    monkeypatch.setattr(local_reader, "is_installed", lambda _model: False)
    assert local_reader.reader(settings) is None
