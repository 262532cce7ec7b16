"""What an erased user said is in no process any more: not in what its modules keep, nor anywhere else in its memory."""

from __future__ import annotations

import gc
import time
from typing import Final

from core import memoize
from tests.doors import Doors
from tests.patience import PATIENCE_SECONDS
from tests.samples import ended, said
from tests.works import Works

USER: Final = "yolanda"

"""Seconds in which threads are done with what they have in hand; half of one, mostly."""

MARKS: Final = ("zzvqxkjm", "ффжцкщ", "龘靐齉", "wvvkxqzz")
"""What stands nowhere else, in three scripts, and a name. Everywhere here they are written from behind."""


def marks() -> list[str]:
    return [mark[::-1] for mark in MARKS]


def messages() -> list[str]:
    latin, russian, chinese, name = marks()
    return [
        f"I live in {latin.capitalize()}, and I was born on 3 May 1985.",
        f"My sister {name.capitalize()} paints {latin} boats with {russian.capitalize()} every Sunday.",
        f"My sister {name.capitalize()} paints {latin} boats with {russian} each Sunday!",
        f"我住在{chinese}市，我喜欢{chinese}茶。",
        f"I do not like {latin} at all, {name.capitalize()}.",
        f"Ada, I live in {latin.capitalize()} since April 2021.",
    ]


def live(door: Doors, works: Works) -> None:
    """Say it, be learnt from, be searched for and seen, over and over."""
    for session in ("first", "second"):
        spoken = [said(one, session=session, user=USER, speaker=marks()[3].capitalize()) for one in messages()]
        answers = [said(one, session=session, user=USER, role="assistant") for one in messages()[:3]]
        assert door.post("/v1/events", [*spoken, *answers]).status_code == 202
        look(door, session)  # Before anything is indexed.
        assert door.post("/v1/events", [ended(session=session, user=USER, message_count=9)]).status_code == 202
        works.settle()
        look(door, session)
        look(door, "third")  # Where it is quoted from elsewhere.


def look(door: Doors, session: str) -> None:
    for mark in marks():
        question = {"user_id": USER, "query": f"What did {mark.capitalize()} do last Tuesday?"}
        found = door.post("/v1/search", question)
        assert mark in found.text.lower()
        shown = door.post("/v1/context", {**question, "session_id": session, "max_tokens": 4000})
        assert shown.status_code == 200
        assert mark in shown.text.lower()


def held(turned: str) -> list[str]:
    """Who in this process holds a text with this mark, which is told from behind."""
    gc.collect()
    mark, found = turned[::-1], []
    for holder in gc.get_objects():
        for one in gc.get_referents(holder):
            said = one.decode(errors="ignore") if isinstance(one, bytes) else one
            if isinstance(said, str) and mark in said.lower():
                found.append(f"{type(holder)} {str(holder)[:200]}"[::-1])
    return found


def held_at_last(turned: str) -> list[str]:
    """The same, once all threads have done what they had in hand."""
    until = time.monotonic() + PATIENCE_SECONDS
    while (found := held(turned)) and time.monotonic() < until:
        time.sleep(0.5)
    return [one[::-1] for one in found]


def test_what_a_process_holds_is_seen() -> None:
    """Or the other test could not fail."""
    kept = {"said": ["jmkvvxqq".upper()[::-1]]}
    assert len(held("jmkvvxqq")) == 1
    del kept
    assert held("jmkvvxqq") == []


def test_nothing_that_an_erased_user_said_is_left_in_the_process(door: Doors, works: Works) -> None:
    live(door, works)
    assert any(len(kept) for kept in memoize.all_caches()), "nothing is put to the test"
    assert door.ask("DELETE", f"/v1/users/{USER}").status_code == 200
    works.settle()
    # The rows at hand hold who spoke; they go with the next question about the user, or with the clock.
    assert door.post("/v1/search", {"user_id": USER, "query": "What is left?"}).json()["total"] == 0
    for mark in MARKS:
        assert held_at_last(mark) == []
