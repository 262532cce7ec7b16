"""Memories that rules, a language model, and both draw from labelled conversations, and the costs of the model.

    IMPRINT_LLM_BASE_URL=… IMPRINT_LLM_API_KEY=… IMPRINT_LLM_MODEL=… \\
        python -m bench.model_quality [--talks en-i zh-i] [--folder FOLDER] [--sessions 2]
            [--extractors offline llm both] [--show]

Each conversation is published to a stack of its own for each extractor, and scored as `bench.talks` does. The stack
asks the endpoint that the settings name, for extraction and second opinions; prices are IMPRINT_LLM_INPUT_PRICE and
IMPRINT_LLM_OUTPUT_PRICE. `--sessions` publishes the first sessions alone, and scores the facts that they state. Without
arguments: the held-out conversations; of each, every extractor with a model asks some ten questions. With `--folder`
alone: all of the folder.

`unread`: windows that the model answered with nothing usable, or not in time, twice. A model that refuses for so long
that nothing has settled within `--minutes` of a session ends the measurement.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench import arguments, talks
from bench.stand import Stand, stack
from bench.talks import HELD_OUT, Score
from core.config import Settings

Json = dict[str, Any]

EXTRACTORS: Final = ("offline", "llm", "both")
ASKING: Final = ("write_episodes", "summarize_long_sessions", "find_forget_requests", "find_patterns")
"""Rules whose agents ask the model for other texts: they would cost, and change nothing that is scored."""

ROW: Final = "| {:<6} | {:<8} | {:>9} | {:>6} | {:>5} | {:>8} | {:>5} | {:>6} | {:>9} | {:>9} | {:>8} | {:>7} |"
HEAD: Final = (
    "talk", "reads by", "precision", "recall", "stale", "memories", "calls", "unread", "tokens in", "out", "cost", "s",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measured:
    """Score and costs of one extractor on one conversation."""

    score: Score
    costs: Json
    unread: int
    seconds: float

    def row(self, talk: str, extractor: str) -> str:
        scored, total = self.score, self.costs
        memories = len(scored.right) + len(scored.wrong) + len(scored.stale)
        return ROW.format(
            talk,
            extractor,
            f"{scored.precision:.3f}",
            f"{scored.recall:.3f}",
            len(scored.stale),
            memories,
            total["calls"],
            self.unread,
            total["input_tokens"],
            total["output_tokens"],
            f"{total['cost']:.4f}",
            f"{self.seconds:.0f}",
        )


def first_sessions(talk: Json, count: int | None) -> Json:
    """A conversation that ends after its first sessions: only facts that they state count, and end only by another."""
    if count is None:
        return talk
    sessions = talk["sessions"][:count]
    stated = {
        fact
        for session in sessions
        for turn in session["turns"]
        for sentence in turn.get("sentences", ())
        for fact in sentence["facts"]
    }
    facts = [
        {**fact, "holds": fact["holds"] or (fact["ended_by"] is not None and fact["ended_by"] not in stated)}
        for fact in talk["facts"]
        if fact["id"] in stated
    ]
    return {**talk, "sessions": sessions, "facts": facts}


def measure(stand: Stand, talk: Json, minutes: float) -> Measured:
    began = time.monotonic()
    memories = talks.remembered(stand, talk, within_s=60 * minutes)
    dead = stand.call("GET", "/v1/dispatches?status=dead&limit=500")["items"]
    costs = stand.call("GET", "/v1/costs?by=model")["total"]
    return Measured(talks.score(talk, memories), costs, len(dead), time.monotonic() - began)


def extractor_settings(extractor: str) -> dict[str, str]:
    """Settings of a stack; without a model where the rules read alone."""
    return {"extractor": extractor} | ({"llm_base_url": ""} if extractor == "offline" else {})


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--talks", nargs="+", metavar="TALK")
    parser.add_argument("--folder", type=Path, default=talks.FOLDER)
    parser.add_argument("--sessions", type=int, help="publish the first sessions of each conversation alone")
    parser.add_argument("--extractors", nargs="+", default=EXTRACTORS, choices=EXTRACTORS)
    parser.add_argument("--minutes", type=float, default=30, help="longest wait for a session to settle")
    parser.add_argument("--show", action="store_true", help="list what is wrong, stale and missed")
    options = parser.parse_args()
    settings = Settings()
    if settings.llm_base_url is None and set(options.extractors) != {"offline"}:
        parser.error("no model is configured; set IMPRINT_LLM_BASE_URL, IMPRINT_LLM_API_KEY and IMPRINT_LLM_MODEL")
    print(f"model: {settings.llm_model} at {settings.llm_base_url}, prompts: {settings.prompts}\n")
    print(ROW.format(*HEAD))
    print(ROW.format(*("---" for _ in HEAD)))
    for name in options.talks or sorted(HELD_OUT if options.folder == talks.FOLDER else talks.talks(options.folder)):
        talk = first_sessions(talks.talk_of(name, options.folder), options.sessions)
        for extractor in options.extractors:
            with stack(**extractor_settings(extractor)) as stand:
                for rule in ASKING:
                    stand.call("DELETE", f"/v1/rules/{rule}")
                measured = measure(stand, talk, options.minutes)
            print(measured.row(name, extractor), flush=True)
            if options.show:
                for kind in ("stale", "wrong", "missed"):
                    print(f"  {kind}:", *getattr(measured.score, kind), sep="\n    ")


if __name__ == "__main__":
    main()
