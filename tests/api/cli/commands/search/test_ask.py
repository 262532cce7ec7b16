from __future__ import annotations

from tests.commands import Imprint


def test_an_answer_is_shown_with_what_it_rests_on(imprint: Imprint) -> None:
    imprint("memory", "add", "Ada does live in Porto.", "--user", "ada")
    shown = imprint("ask", "Where does Ada live?", "--user", "ada")
    assert (shown.code, shown.out.split("\n")[0]) == (0, "Ada does live in Porto.")
    assert "memory, " in shown.out
    assert "by statement, certainty " in shown.out
    assert imprint("ask", "Where does Ada live?", "--user", "ada", "--json").json["outcome"] == "answered"


def test_what_is_not_known_is_said_and_has_an_exit_code_of_its_own(imprint: Imprint) -> None:
    imprint("memory", "add", "Ada does live in Porto.", "--user", "ada")
    shown = imprint("ask", "Which dentist?", "--user", "ada")
    assert (shown.code, "Not known." in shown.out) == (4, True)
    assert imprint("ask", "Which dentist?", "--user", "ada", "--json").code == 4


def test_it_must_be_somebodys(imprint: Imprint) -> None:
    assert imprint("ask", "Where does Ada live?").code == 2
