"""Answers found, and literals kept unharmed, in conversations in Spanish, German, Japanese, Arabic and Hindi.

    python -m bench.languages [--languages es de] [--half first|second] [--show]

Two conversations a language, written and labelled by somebody who had not seen the rules. A question counts if a
message that answers it is cited among the first five results (any@5): `plain` shares a word with it, `paraphrase`
none, `cross` is asked in English. Literals are dates, numbers and names that a message holds: a memory that cites the
message must repeat each of them as it stands, or not at all. Vectors of the first conversations went into the mean of
the multilingual model (`bench.local_models`), so the second ones are the figures to quote.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from bench import arguments
from bench.stand import Stand, stack

Json = dict[str, Any]
FOLDER = Path(__file__).parent / "languages_data"
SECONDS_A_TURN = 40
RESULTS = 40
FIRST = 5
KINDS = ("plain", "paraphrase", "cross")
NUMBER = re.compile(r"\d[\d.,:/٫٬]*\d|\d")


def conversations(languages: list[str], half: str | None) -> Iterator[Json]:
    for path in sorted(FOLDER.glob("*.json")):
        if not languages or path.stem in languages:
            first, second = json.loads(path.read_text(encoding="utf-8"))
            yield from {"first": [first], "second": [second], None: [first, second]}[half]


def publish(stand: Stand, talk: Json) -> None:
    for session in talk["sessions"]:
        answer = stand.call("POST", "/v1/events", list(_events(talk, session)))
        stand.settle(answer["settle_token"], flush=True)


def _events(talk: Json, session: Json) -> Iterator[Json]:
    began = datetime.fromisoformat(session["date"])
    scope = {"session_id": f"{talk['id']}-{session['id']}", "user_id": talk["user"]}
    for number, turn in enumerate(session["turns"]):
        speaker = {"speaker": talk["speaker"]} if turn["role"] == "user" else {}
        payload = {**scope, **speaker, "role": turn["role"], "content": turn["text"], "message_id": turn["id"]}
        at = (began + timedelta(seconds=SECONDS_A_TURN * number)).isoformat()
        yield {"event_type": "message.added", "source": "languages", "time": at, "payload": payload}
    end = (began + timedelta(seconds=SECONDS_A_TURN * len(session["turns"]))).isoformat()
    ended = {**scope, "message_count": len(session["turns"])}
    yield {"event_type": "session.ended", "source": "languages", "time": end, "payload": ended}


def finds_answer(stand: Stand, talk: Json, question: Json) -> bool:
    """Whether a message that answers the question is among the first distinct ones that the results cite."""
    body = {"user_id": talk["user"], "query": question["question"], "limit": RESULTS}
    results = stand.call("POST", "/v1/search", body)["results"]
    cited = dict.fromkeys(source["message_id"] for result in results for source in result["sources"])
    return bool(set(list(cited)[:FIRST]) & set(question["evidence"]))


def harmed(stand: Stand, talk: Json) -> tuple[int, list[str]]:
    """Return how many memories cite a message with literals, and those that hold a part of a number of one."""
    strings = {literal["id"]: literal["strings"] for literal in talk["literals"]}
    count, wrong = 0, []
    page = stand.call("GET", f"/v1/memories?user_id={talk['user']}&limit=200")["items"]
    for memory in page:
        cited = [text for source in memory.get("sources", []) for text in strings.get(source["message_id"], [])]
        count += bool(cited)
        bare = memory["content"]
        for text in sorted(cited, key=len, reverse=True):
            bare = bare.replace(text, "")
        if any(number in text for text in cited for number in NUMBER.findall(bare)):
            wrong.append(memory["content"])
    return count, wrong


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--languages", nargs="+", default=[])
    parser.add_argument("--half", choices=["first", "second"])
    parser.add_argument("--show", action="store_true", help="list the questions that were not answered")
    options = parser.parse_args()
    hits: dict[tuple[str, str], list[bool]] = defaultdict(list)
    with stack() as stand:
        for talk in conversations(options.languages, options.half):
            publish(stand, talk)
            for question in talk["questions"]:
                hit = finds_answer(stand, talk, question)
                hits[talk["language"], question["kind"]].append(hit)
                if options.show and not hit:
                    print(f"  {talk['id']} {question['kind']}: {question['question']} → {question['evidence']}")
            count, wrong = harmed(stand, talk)
            print(f"{talk['id']}: {count} memories cite literals, {len(wrong)} harmed", *wrong, sep="\n    ")
    for language in sorted({language for language, _ in hits}):
        print(language, *(f"{kind} {fmean(hits[language, kind]):.2f}" for kind in KINDS))
    print(
        "all",
        *(
            f"{kind} {fmean(hit for key, outcomes in hits.items() if key[1] == kind for hit in outcomes):.3f}"
            for kind in KINDS
        ),
    )


if __name__ == "__main__":
    main()
