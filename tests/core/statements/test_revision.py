from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from core.consolidation import batch
from core.consolidation.judge import Kind, find_ended, judge
from core.memory.changes import Add
from core.statements import revision
from tests.core.consolidation.samples import NOON, a_candidate, a_known

LATER = NOON + timedelta(days=30)

ENDED = [
    ("Ada drives a red Volvo estate.", "Ada has sold the Volvo."),
    ("Ada plays bass in a band called The Static.", "Ada left The Static in the spring."),
    ("Ada plays bass in a band called The Static.", "Ada quit the band."),
    ("Ada goes to the gym on Mondays and Fridays.", "Ada has stopped going to the gym."),
    ("Ada takes a pottery class on Mondays.", "The pottery class got cancelled."),
    ("Ada takes a pottery class on Mondays.", "Ada's pottery class has moved to Wednesdays."),
    ("Ada is reading Dracula.", "Ada could not get through Dracula."),
    ("Ada is doing a photography course at the college.", "Ada has finished the photography course."),
    ("Ada is going to Rome in July 2026.", "The Rome trip is cancelled."),
    ("Ada is going to Rome in July 2026.", "Ada has called off the trip to Rome."),
    ("Ada's driving test is on 12 May 2026.", "Ada's driving test has been postponed to 20 May 2026."),
    ("Ada is getting married on 4 September 2026.", "Ada has moved the wedding to 18 September 2026."),
    ("Ada starts on 3 June 2026.", "Ada's new start date is 10 June 2026, not the 3rd."),
    ("Ada drinks three cups of tea a day.", "Ada is down to one cup of tea a day."),
    ("Ada takes 20 mg of Lexapro.", "Ada now takes 40 mg of Lexapro."),
    ("Ada's rent is 900 a month.", "Ada's rent went up to 980 a month."),
    ("Ada commutes by train, 40 minutes.", "Ada bikes to work these days."),
    ("Ada's favourite band is Radiohead.", "Pulp has replaced Radiohead as Ada's favourite band."),
    ("Ada's boss is called Helen.", "Ada reports to Tom now."),
    ("Ada is a barista in Leeds.", "Ada is a teaching assistant now."),
    ("Ada has never been to Japan.", "Ada just got back from Japan."),
    ("Ada has given up coffee.", "Ada drinks coffee again."),
    ("Ada is allergic to strawberries.", "It turns out Ada is not allergic to strawberries after all."),
    ("Ada's standing instruction: Never use emojis.", "Ada's standing instruction: You can use emojis again."),
    ("Ada's choir sings on Tuesdays.", "Ada has found a new choir, Thursday nights."),
]

BOTH_HOLD = [
    ("Ada plays tennis on Mondays.", "Ada has joined a chess club on Thursdays."),
    ("Ada takes pottery on Mondays.", "Ada also takes drawing on Wednesdays."),
    ("Ada has a meeting on Monday.", "Ada has another meeting on Tuesday."),
    ("Ada has an exam on 3 June 2026.", "Ada has a dentist appointment on 5 June 2026."),
    ("Ada drives a red Volvo.", "Ada sold Ada's old bike."),
    ("Ada drives a red Volvo.", "Ada's neighbour sold his Volvo."),
    ("Ada went to Rome in 2019.", "Ada is not going to Rome any more."),
    ("Ada bought the Volvo in 2015.", "Ada sold the Volvo."),
    ("Ada runs three times a week.", "Ada swims twice a week now."),
    ("Ada drinks two coffees a day.", "Ada eats two apples a day now."),
    ("Ada's favourite film is Alien.", "Ada's favourite book is Dune."),
    ("Ada's boss is called Helen.", "Ada's sister's boss is called Tom."),
    ("Ada is reading Dracula.", "Ada finished Dune."),
    ("Ada loves fantasy books.", "Ada loves getting lost in good books."),
    ("Ada goes climbing with Ben.", "Ben moved out of Leeds."),
    ("Ada shares a house with Ben and Zoe.", "Ben moved out in May."),
    ("Ada is going to Rome in July 2026.", "Ada is having Lisbon coffee instead of Rome coffee."),
    ("Ada works at Heineken.", "Ada had Guinness instead of Heineken last night."),
    ("Ada is running the marketing team.", "Ada gave up running last month."),
    ("Ada runs the rehab unit.", "Ada gave up running after Ada's knee injury."),
    ("Ada is driving the data migration at work.", "Ada gave up driving, the eyes are too bad."),
    ("Ada teaches swimming to kids at the leisure centre.", "Ada no longer goes swimming."),
    ("Ada is on the board of a food bank.", "Ada sold Ada's board."),
    ("Ada works nights as a nurse on the cardiac ward.", "Ada has given up on the Night Nurse tablets."),
    ("Ada is allergic to amoxicillin.", "Ada is not allergic to ibuprofen."),
    ("Ada is allergic to peanuts.", "Ada is not allergic to walnuts."),
    ("Ada is allergic to bees.", "Ada is not allergic to cats."),
    ("Ada drinks coffee with oat milk.", "Ada has stopped putting oat milk in porridge."),
    ("Ada's locker number is 17.", "Ada's locker number is 23."),
    ("Ada's dentist appointment is at nine.", "Ada has found a new dentist."),
    (
        "Ada's standing instruction: always use British spelling in emails to Contoso.",
        "Ada's standing instruction: drop the rule about emojis in emails to Contoso.",
    ),
    ("Ada's ticket number is A-1234.", "Ada's other ticket number is B-5678."),
    ("Ada has booked Room 214 for 12 May 2026.", "Ada has booked Room 306 for 13 May 2026."),
    ("Ada bakes bread on Sundays.", "Ada helps people who lost their bread on Sundays."),
]


BESIDE = ["Ada loves the sea.", "Ada's sister is a nurse.", "Ada drinks tea with milk."]
"""What else is known; with one memory alone anything new is the nearest to it."""


def about(content: str) -> str:
    return "Ben" if content.startswith("Ben ") else "ada"


@pytest.mark.parametrize(("old", "new"), ENDED)
def test_what_a_later_statement_ends_gives_way_to_it(old: str, new: str) -> None:
    known = a_known(old, similarity=0.7, said_at=NOON)
    verdict = judge(a_candidate(new, subject=about(new), said_at=LATER), [known])
    assert (verdict.kind, verdict.known) == (Kind.SUPERSEDE, known)
    assert verdict.reason


@pytest.mark.parametrize(("old", "new"), BOTH_HOLD)
def test_what_may_hold_beside_a_later_statement_stays(old: str, new: str) -> None:
    beside = [a_known(one, similarity=0.6, said_at=NOON) for one in BESIDE]
    assert (
        find_ended(
            a_candidate(new, subject=about(new), said_at=LATER), [a_known(old, similarity=0.5, said_at=NOON), *beside]
        )
        == []
    )


def test_what_was_said_before_the_known_ends_nothing() -> None:
    drives = a_known("Ada drives a red Volvo.", similarity=0.5, said_at=LATER)
    sold = a_candidate("Ada has sold the Volvo.", said_at=NOON)
    assert find_ended(sold, [drives]) == []
    assert judge(sold, [drives]).kind is Kind.ADD
    kept = a_known("Ada has sold the Volvo.", similarity=0.5, said_at=LATER)
    assert judge(a_candidate("Ada drives a red Volvo.", said_at=NOON), [kept]).kind is Kind.PREDATES


def test_one_statement_may_end_several_and_says_why_of_each() -> None:
    several = [
        a_known("Ada drives a red Volvo.", similarity=0.5, said_at=NOON),
        a_known("Ada parks the Volvo behind the school.", similarity=0.4, said_at=NOON),
    ]
    candidate = a_candidate("Ada has sold the Volvo.", said_at=LATER)
    (add,) = batch.decide([candidate], np.ones((1, 4), dtype=np.float32), [several])
    assert isinstance(add, Add)
    assert [known.id for known, _ in add.retired] == [one.id for one in several]
    assert all("Volvo" in reason for _, reason in add.retired)


def test_what_one_batch_says_and_takes_back_ends_within_it() -> None:
    told = [
        a_candidate("Ada drives a red Volvo.", said_at=NOON),
        a_candidate("Ada parks the Volvo behind the school.", said_at=NOON),
        a_candidate("Ada has sold the Volvo.", said_at=LATER),
    ]
    alike = np.linalg.cholesky(np.full((3, 3), 0.8) + 0.2 * np.eye(3)).astype(np.float32)
    changes = batch.decide(told, alike, [[], [], []])
    adds = [one for one in changes if isinstance(one, Add)]
    assert [bool(one.past) for one in adds] == [True, True, False]


def test_a_document_neither_ends_nor_is_ended() -> None:
    long = "Ada drives a red Volvo. " * 40
    sold = a_candidate("Ada has sold the Volvo.", said_at=LATER)
    assert find_ended(sold, [a_known(long, similarity=0.5, said_at=NOON)]) == []
    assert not revision.may_revise(replace(sold, content=long + sold.content))
