"""Cost of looking for requests to forget in everyday talk: `python -m bench.forget_cost [--seconds 2]`.

The messages are those of `bench/talks_data`, without the held-out talks; hardly one asks to forget. The cost on
the route is that of deciding on each by all default rules, with and without `find_forget_requests`; a message that the
rule lets through is a dispatch, which reads it again. A model, if configured, is asked about those with a word of
deleting or keeping that `core.forgetting.wording` knows. Microseconds are the processor's, medians of five rounds. The
reader is asked about a sample of the messages that the rule lets through.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime

from bench import arguments, talks
from bench.decide import decide_all, rates
from core.forgetting import recognition, suggested
from core.forgetting.talk import Turn
from core.inference import local_reader
from core.types import Event
from rules.document.schema import parse
from rules.engine.ruleset import Ruleset
from rules.registry import defaults

NAME = "find_forget_requests"
SAMPLE = 300
NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="processor seconds for each figure")
    seconds = parser.parse_args().seconds
    events = messages()
    rules = [parse(document) for document in defaults.load()]
    sets = [Ruleset([(rule, 1) for rule in rules if rule.name != left_out]) for left_out in (NAME, "")]
    without, with_it = rates(
        [lambda ruleset=ruleset: decide_all(ruleset, events) for ruleset in sets],  # type: ignore[misc]
        len(events),
        seconds,
    )
    alone = Ruleset([(rule, 1) for rule in rules if rule.name == NAME])
    passed = [event for event in events if alone.decide(event)]
    turns = [Turn("m", 1, "u", None, event.payload["role"], event.payload["content"]) for event in passed]
    reads = local_reader.LocalReader().asks
    sample = [turn.text for turn in random.Random(0).sample(turns, SAMPLE)]
    recognised = [recognition.recognise(message, reads) for message in sample]  # Loads the reader.
    (read,) = rates([lambda: [recognition.recognise(message, reads) for message in sample]], len(sample), seconds)
    candidates = sum(suggested.may_ask_model(turn) for turn in turns)
    print(f"{len(events):,} messages of {sum(len(e.payload['content']) for e in events) // len(events)} characters")
    print(f"deciding, all default rules, µs a message      {1e6 / with_it:8.1f}")
    print(f"of that by {NAME}, µs        {1e6 / with_it - 1e6 / without:8.1f}")
    print(f"let through, a dispatch each                   {len(passed):8,} ({len(passed) / len(events):.0%})")
    print(f"reading one of these, µs                       {1e6 / read:8.1f}")
    print(f"a model would be asked about                   {candidates:8,} ({candidates / len(events):.0%})")
    likely = [request for request in recognised if request is not None]
    sure = sum(request.sure for request in likely)
    print(f"of {SAMPLE}: asks for certain, perhaps             {sure:8,} {len(likely) - sure:8,}")


def messages() -> list[Event]:
    """Return the turns of the talks as events."""
    events: list[Event] = []
    for name in sorted(set(talks.talks()) - talks.HELD_OUT):
        talk = talks.talk_of(name)
        for session in talk["sessions"]:
            for turn in session["turns"]:
                payload = {
                    "session_id": session["id"],
                    "user_id": talk["user"],
                    "role": turn["role"],
                    "content": turn["content"],
                }
                seq = len(events) + 1
                events.append(Event(seq, "t", f"e{seq}", "bench", "message.added", None, NOW, payload, session["id"]))
    return events


if __name__ == "__main__":
    main()
