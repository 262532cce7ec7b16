"""Who is meant by which name, without a model: people of talks who appear under several names.

    python -m bench.names [--half dev] [--show]

The talks of `names_data` list the people whom their user mentions, under all names and roles that they are given. Counted
are pairs of forms of one person: of those joined, how many are of one person (precision), of those of one person, how
many are joined (recall); and, of the mentions by name or role in single messages, those that lead to the right person.
Authors who had not seen the code wrote both halves; `dev` is for mending.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any

from bench import arguments
from core.entities import resolution
from core.entities.resolution import Directory, Entity, Introduction
from core.language import introductions

FOLDER = Path(__file__).with_name("names_data")
HALVES = ("dev", "held")

Json = dict[str, Any]


def directory_of(talk: Json) -> Directory:
    """Return the entities that the messages of a talk introduce."""
    told = [
        Introduction(link, datetime.fromisoformat(session["date"]))
        for session in talk["sessions"]
        for message in session["messages"]
        if message["role"] == "user"
        for link in introductions.links(message["text"])
    ]
    return resolution.resolve(told)


def joined(talk: Json, directory: Directory) -> Iterator[tuple[bool, bool, str, str]]:
    """Yield for each two forms whether they are of one person, and whether they are joined."""
    known = {name: person["id"] for person in talk["people"] for name in person["names"]}
    entities = {name: directory.find(introductions.form_of(name)) for name in known}
    shared = {name for name in known if sum(name in person["names"] for person in talk["people"]) > 1}
    for one, other in combinations([name for name in known if name not in shared], 2):
        same = introductions.form_of(one) == introductions.form_of(other) or (entities[one] is not None and entities[one] is entities[other])
        yield known[one] == known[other], same, one, other


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--half", choices=HALVES, default="held")
    parser.add_argument("--show", action="store_true", help="list what is wrong and what is missed")
    parsed = parser.parse_args()
    print("| talk | joined rightly | wrongly | missed | precision | recall |", "| --- | --- | --- | --- | --- | --- |", sep="\n")
    for path in sorted((FOLDER / parsed.half).glob("*.json")):
        talk = json.loads(path.read_text(encoding="utf-8"))
        directory = directory_of(talk)
        pairs = list(joined(talk, directory))
        right, wrong, missed = (
            [pair for pair in pairs if pair[:2] == outcome] for outcome in ((True, True), (False, True), (True, False))
        )
        shares = [len(right) / max(len(right) + len(other), 1) for other in (wrong, missed)]
        print(f"| {path.stem} | {len(right)} | {len(wrong)} | {len(missed)} | {shares[0]:.3f} | {shares[1]:.3f} |")
        if parsed.show:
            print("\n".join(f"  {name}: {pair[2]} = {pair[3]}" for name, several in (("wrong", wrong), ("missed", missed)) for pair in several))
            print("\n".join(f"  {list(entity.told)}" for entity in directory.entities))


if __name__ == "__main__":
    main()
