from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from bench import forget
from core.forgetting import matching
from core.forgetting.extent import ForgetScope
from core.forgetting.matching import Found, MayAsk
from core.forgetting.talk import Turn
from tests.core.forgetting.labelled import asking, cosines, reader, surely_asks
from tests.misread import ERRS

SCENARIOS = [one for name in ("dev", "dev2") for one in forget.scenarios(name) if one["is_request"]]


def talk(scenario: forget.Json) -> list[Turn]:
    said = [*scenario["turns"], scenario["last"]]
    people = {turn["speaker"] for turn in said if turn["role"] == "user"}
    turns: list[Turn] = []
    for place, turn in enumerate(said):
        user = turn["speaker"] if turn["role"] == "user" else turns[-1].user_id if turns else "?"
        turns.append(Turn(place, place, user, turn["speaker"], turn["role"], turn["text"], alone=len(people) == 1))
    return turns


def of(*said: tuple[str, str]) -> list[Turn]:
    alone = len({user for user, _ in said}) == 1
    return [Turn(n, n, user, user.capitalize(), "user", text, alone=alone) for n, (user, text) in enumerate(said)]


def in_group(*said: tuple[str, str]) -> list[Turn]:
    return [
        Turn(n, n, user, user.capitalize(), "assistant" if user == "bot" else "user", text, alone=False, group_id="g")
        for n, (user, text) in enumerate(said)
    ]


def found_in(turns: Sequence[Turn], may_ask: MayAsk = MayAsk.CONCERNED) -> Found:
    request = matching.read(turns[-1], asking(turns[-1].text), turns, may_ask)
    if request is None:
        return matching.NOTHING
    found = matching.find(request, turns[-1], turns, may_ask)
    return (
        matching.by_meaning(request, turns[-1], turns, cosines, reader().meant)
        if found.is_empty and not found.refused
        else found
    )


def left(turns: Sequence[Turn], found: Found) -> list[str]:
    texts = []
    for turn in turns:
        text = turn.text
        for start, end in sorted(found.places.get(turn.key, ()), reverse=True):
            text = text[:start] + "[erased]" + text[end:]
        texts.append(text)
    return texts


def outcome(scenario: forget.Json) -> str:
    """Return whether exactly what a labelled request means is found: "right", "held", "missed" or "wrong"."""
    turns = talk(scenario)
    found = found_in(turns)
    if found.is_empty or found.scope is ForgetScope.SIMILAR:
        return "right" if scenario["by"] == "other" and found.refused else "held"
    texts = left(turns, found)[:-1]
    spoken = [keep for keep in scenario["keeps"] if any(keep in turn["text"] for turn in scenario["turns"])]
    if [keep for keep in spoken if not any(keep in text for text in texts)]:
        return "wrong"
    stands = [target for target in scenario["targets"] if any(target in text for text in texts)]
    return "right" if stands == (scenario["targets"] if scenario["by"] == "other" else []) else "missed"


def test_what_requests_mean_is_found_and_nothing_else() -> None:
    outcomes = Counter(outcome(scenario) for scenario in SCENARIOS)
    assert outcomes["right"] >= 39, outcomes
    assert outcomes["wrong"] <= 1, outcomes


def test_a_value_is_found_as_a_whole_word_alone() -> None:
    turns = of(("ada", "Room 447 is next to 4471."), ("ada", "Please forget 4471."))
    assert left(turns, found_in(turns))[0] == "Room 447 is next to [erased]."


def test_who_repeats_a_value_that_someone_else_told_does_not_dispose_of_it() -> None:
    turns = of(("ike", "My code is 4471."), ("gwen", "So 4471 it is."), ("gwen", "Please forget 4471."))
    found = found_in(turns)
    assert left(turns, found)[:2] == ["My code is 4471.", "So [erased] it is."]


def test_whom_a_value_concerns_disposes_of_it_wherever_it_was_repeated() -> None:
    turns = of(
        ("clara", "Maya gets 4,800 USD."),
        ("june", "So far 4,800 USD."),
        ("maya", "Please delete the amount of 4,800 USD."),
    )
    assert left(turns, found_in(turns))[:2] == ["Maya gets [erased].", "So far [erased]."]


def test_nothing_is_found_where_nothing_fits() -> None:
    turns = of(("ada", "I like tea."), ("ada", "Please delete my passport number."))
    assert found_in(turns).is_empty


def test_the_newest_of_several_values_is_not_the_old_one() -> None:
    turns = of(("ada", "My PIN is 1111."), ("ada", "My PIN is 2222."), ("ada", "You can forget my old PIN."))
    assert left(turns, found_in(turns))[:2] == ["My PIN is [erased].", "My PIN is 2222."]


def test_an_old_thing_that_nobody_told_is_not_found() -> None:
    turns = of(("ada", "We had soup."), ("ada", "You can forget my old phone number."))
    assert found_in(turns).is_empty


def test_without_the_reader_the_nearest_statement_is_held() -> None:
    turns = of(("ada", "I play the oboe."), ("ada", "I owe the bank 4,000 euros."), ("ada", "Please forget my debts."))
    request = matching.read(turns[-1], asking(turns[-1].text), turns)
    assert request is not None
    found = matching.by_meaning(request, turns[-1], turns, cosines, None)
    assert (found.scope, list(found.places)) == (ForgetScope.SIMILAR, [1])


def test_a_member_asks_for_the_group_where_all_members_may() -> None:
    turns = in_group(("ike", "The gate PIN is 447155."), ("gwen", "Delete the gate PIN 447155 from memory."))
    assert found_in(turns).is_empty
    assert left(turns, found_in(turns, MayAsk.MEMBERS))[0] == "The gate PIN is [erased]."


def test_what_was_said_to_some_of_the_group_is_not_the_members() -> None:
    turns = in_group(("ike", "The gate PIN is 447155."), ("gwen", "Delete the gate PIN 447155 from memory."))
    turns[0] = Turn(0, 0, "ike", "Ike", "user", turns[0].text, alone=False, group_id=None)
    assert found_in(turns, MayAsk.MEMBERS).is_empty


@pytest.mark.parametrize("said", ["Logged: the code 447155 is deleted.", "I am deleting the old code 447155."])
def test_a_statement_that_a_value_is_deleted_counts_where_all_members_may_ask(said: str) -> None:
    turns = in_group(("ike", "The code is 447155."), ("gwen", said))
    assert found_in(turns).is_empty
    assert left(turns, found_in(turns, MayAsk.MEMBERS))[0] == "The code is [erased]."


def test_an_assistant_says_so_only_in_answer_to_a_person() -> None:
    told = ("ike", "The spare key is in the green garden tin.")
    answer = ("bot", "Deleted the key location green garden tin from memory.")
    alone = in_group(told, answer)
    assert found_in(alone, MayAsk.MEMBERS).is_empty
    asked = in_group(told, ("gwen", "Please delete the exact key location from memory."), answer)
    assert left(asked, found_in(asked, MayAsk.MEMBERS))[0] == "The spare key is in the [erased]."


def test_what_is_described_of_others_is_not_the_members_either() -> None:
    turns = in_group(("ike", "I earn 58,400 a year."), ("gwen", "Please forget Ike's salary."))
    assert found_in(turns, MayAsk.MEMBERS).is_empty


def test_a_value_that_the_request_alone_says_is_taken_out_of_it_in_a_group_alone() -> None:
    talk = (("ada", "I like tea."), ("ada", "Please delete the old code 447155 from your memory."))
    assert found_in(of(*talk)).is_empty
    turns = in_group(*talk)
    text = left(turns, found_in(turns, MayAsk.MEMBERS))[1]
    assert text == "Please delete the old code [erased] from your memory."


@ERRS
def test_a_bare_command_that_names_a_code_is_held() -> None:
    assert not surely_asks("Delete the old PIN 6714.")


def test_a_code_that_a_command_names_is_found() -> None:
    turns = of(("ada", "My PIN is 6714."), ("ada", "Delete the old PIN 6714."))
    assert left(turns, found_in(turns))[0] == "My PIN is [erased]."


def test_what_the_assistant_repeated_goes_with_the_statement() -> None:
    turns = in_group(
        ("ada", "My locker is 212."), ("bot", "Locker 212. Welcome!"), ("ada", "Please erase everything I told you.")
    )
    assert left(turns, found_in(turns))[:2] == ["[erased]", "[erased] Welcome!"]


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("bank card PIN", "671498"),
        ("bank account number", "88213340"),
        ("hotel room number", "512"),
        ("work email address", "ada@lund.example"),
    ],
)
def test_the_words_of_a_compound_are_no_value(what: str, value: str) -> None:
    turns = of(("ada", f"My {what} is {value}. I like tea."), ("ada", f"Please delete my {what} from your memory."))
    text = left(turns, found_in(turns))[0]
    assert value not in text
    assert "I like tea." in text
