"""Every parser that sees what users write takes time in proportion to its length, whatever the text is made of."""

from __future__ import annotations

import contextlib
import gc
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import pytest

from core.consolidation import echo
from core.documents import chunking
from core.errors import ImprintError
from core.events import parsing
from core.extraction import informativeness, rule_extractor, speakers
from core.forgetting import literals, matching, subjects
from core.forgetting import requests as forget_requests
from core.forgetting import text as forgetting_text
from core.forgetting.talk import Turn
from core.inference import structured_output, token_counting
from core.language import dates, grounding, sentences, topics
from core.language import terms as words
from core.language.en import third_person
from core.language.en.language import ENGLISH
from core.language.zh import plain
from core.language.zh.language import CHINESE
from core.memory import tombstones
from core.mirror import escaping, markdown
from core.plans import checklists
from core.plans import parsing as plans_parsing
from core.screening import deobfuscation, screen, secret_scanner
from core.statements import quotation, redaction
from core.summaries import extractive, segmentation, unit_rule_text
from core.types import Event, Message
from rules.expressions import templates

NOW: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)
MESSAGE: Final = 32 * 1024
"""Characters of the longest text tried. Events have up to 256 KiB, but what grows with the square shows long before."""
DOCUMENT: Final = 64 * 1024
"""The same of documents, which may have 4 MiB."""

GROWTH: Final = 2.6
"""What twice the text may cost. In linear time it is 2; in quadratic time, 4."""
DOUBLINGS: Final = 3
FLOOR: Final = 0.05
"""Seconds of processor time below which nothing is compared."""
TRIES: Final = 10

SHAPES: Final = {
    "words": "the quick brown fox ",
    "one word": "a",
    "spaces": " ",
    "lines": "\n",
    "tabs": "\t",
    "headings": "# a\n",
    "deep headings": "###### a\n",
    "list": "- a\n",
    "checklist": "1. [ ] a\n",
    "indented": " - a\n  ",
    "quotes": "> ",
    "fences": "```\n",
    "backticks": "`",
    "stars": "*",
    "emphasis": "**a*",
    "brackets": "[",
    "links": "[a](",
    "images": "![a](<",
    "angles": "<",
    "tags": "<a ",
    "comments": "<!--",
    "braces": "{{",
    "templates": "{{payload.a}}",
    "json": '{"a":',
    "lists in lists": "[[",
    "quotation": '"',
    "apostrophes": "'s ",
    "abbreviations": "Mr. ",
    "stops": ". ",
    "dots": ".",
    "colons": "a: ",
    "commas": ", ",
    "conjunctions": "I and my and ",
    "requests": "could you please ",
    "wishes": "I wish if I were ",
    "speech": 'he said "',
    "numbers": "1",
    "amounts": "1,234.56 ",
    "cards": "4111 1111 1111 1111 ",
    "digits and dashes": "4-",
    "accounts": "DE89 3704 0044 ",
    "keys": "sk-",
    "base64": "QUJD",
    "hex": "\\x41",
    "escapes": "%41",
    "passwords": "password is ",
    "mails": "a@",
    "addresses": "http://a.",
    "dates": "on 3 May 2024 ",
    "days": "next Monday ",
    "in": "in 3 ",
    "months": "May ",
    "times": "12:",
    "Chinese": "我喜欢杭州，",
    "Chinese days": "下周三和周四",
    "Chinese numbers": "一二三",
    "Han": "的",
    "emoji": "😀",
    "joined emoji": "👩\u200d",
    "combining": "a\u0301",
    "zero width": "\u200b",
    "directions": "\u202e",
    "separators": "\u2028",
    "wide": "ａ",
    "controls": "\x1b[",
    "ignore": "ignore all previous ",
    "spaced letters": "i g n o r e ",
    "memory marks": "<!-- imprint:",
    "letters apart": "a ",
    "parentheses": "(a",
    "equations": "a=b&",
    "tables": "|a|b",
    "ways": "from 3 to ",
    "moves": "I moved to ",
    "names": "Ann Lee ",
}


def message(content: str) -> Message:
    values = {"role": "user", "content": content, "user_id": "ada", "session_id": "s1", "id": "m1", "event_id": "e1"}
    fields = {name: values.get(name) for name in Message.__slots__}
    return Message(**{**fields, "position": 1, "occurred_at": NOW, "speaker": "Ada"})  # type: ignore[arg-type]


def event(content: str) -> Event:
    return Event(1, "t", "e1", "test", "a.b", None, NOW, {"a": content})


def forgotten(text: str) -> object:
    """What a request to forget means in a talk of one message."""
    request = forget_requests.read("Please forget my old PIN 6714 and everything about Ann.", [0])
    turns = [Turn(0, 0, "ada", "Ada", "user", text), Turn(1, 1, "ada", "Ada", "user", "Forget it.")]
    return None if request is None else matching.find(request, turns[1], turns)


PARSERS: Final[dict[str, tuple[Callable[[str], object], int]]] = {
    "plans": (plans_parsing.parse, MESSAGE),
    "plans in messages": (lambda text: checklists.of_message(text, "assistant", text[:200]), MESSAGE),
    "steps in messages": (checklists.mentions, MESSAGE),
    "markdown": (lambda text: chunking.split(text, "text/markdown", 300), DOCUMENT),
    "documents": (lambda text: chunking.split(text, "text/plain", 300), DOCUMENT),
    "kinds of documents": (chunking.guess_media_type, DOCUMENT),
    "titles": (lambda text: chunking.title_of(text, "text/markdown"), DOCUMENT),
    "sentences": (sentences.split, MESSAGE),
    "requests to forget": (forget_requests.by_words, MESSAGE),
    "sentences to forget": (forgetting_text.sentences, MESSAGE),
    "clauses to forget": (forgetting_text.clauses, MESSAGE),
    "kinds of things to forget": (lambda text: subjects.values(subjects.stated(text), text), MESSAGE),
    "pieces of a message that may be an erased value": (literals.candidates, MESSAGE),
    "what a request to forget means": (lambda text: forgotten(text[:4_000]), 4_000),
    "texts with erased passages": (lambda text: redaction.without_marks(f"[erased]{text}"), MESSAGE),
    "assertions": (sentences.asserted_part, MESSAGE),
    "Chinese": (plain.plain, sentences.LONGEST),
    "dates": (lambda text: dates.find(text, NOW, ENGLISH.dates), MESSAGE),
    "Chinese dates": (lambda text: dates.find(text, NOW, CHINESE.dates), MESSAGE),
    "extraction": (lambda text: rule_extractor.extract([message(text)]), MESSAGE),
    "questions": (speakers.question_in, MESSAGE),
    "density": (informativeness.states, MESSAGE),
    "third person": (lambda text: third_person.third_person(text, "Ada"), sentences.LONGEST),
    "credentials": (secret_scanner.find_secrets, MESSAGE),
    "quotations": (lambda text: quotation.read(f"Ada said: “{text}”"), quotation.LONGEST),
    "guard": (screen.screen, MESSAGE),
    "disguises": (lambda text: list(deobfuscation.decode_runs(text)), MESSAGE),
    "tokens": (token_counting.counter().count, MESSAGE),
    "cuts": (lambda text: token_counting.cut(text, 100, token_counting.counter()), MESSAGE),
    "estimates": (words.token_estimate, MESSAGE),
    "terms": (words.terms, MESSAGE),
    "segments": (segmentation.opening_of, MESSAGE),
    "echoes": (echo.digest, MESSAGE),
    "sentences of echoes": (echo._sentences, MESSAGE),
    "tombstones": (tombstones.words_of, MESSAGE),
    "units": (
        lambda text: unit_rule_text.rule_text([message(text)], list(unit_rule_text.lines([message(text)]))),
        MESSAGE,
    ),
    "summaries": (lambda text: extractive.summarize("", [message(text)], [], 500), MESSAGE),
    "topics": (lambda text: topics.topics([text], []), MESSAGE),
    "clips": (grounding.clip, MESSAGE),
    "answers of models": (lambda text: list(structured_output._within(text)), MESSAGE),
    "mirror": (markdown.parse, MESSAGE),
    "mirror's signs": (lambda text: escaping.unescape(escaping.escape(text)), MESSAGE),
    "templates": (lambda text: templates.render(text, event("x"), 10 * MESSAGE), MESSAGE),
    "values in templates": (lambda text: templates.render("{{payload.a}}", event(text), 10 * MESSAGE), MESSAGE),
    "faults of templates": (templates.fault, MESSAGE),
    "events": (lambda text: parsed(text.encode(), {}), MESSAGE),
    "lines of events": (lambda text: parsed(text.encode(), {"content-type": "application/x-ndjson"}), MESSAGE),
    "CloudEvents": (lambda text: parsed(cloud(text), {"content-type": "application/cloudevents+json"}), MESSAGE),
}


def parsed(body: bytes, headers: dict[str, str]) -> object:
    return parsing.parse(body, headers, batch=1_000_000, event_bytes=10 * MESSAGE)


def cloud(text: str) -> bytes:
    return json.dumps({"specversion": "1.0", "id": "1", "source": "t", "type": "a.b", "data": {"a": text}}).encode()


def made(piece: str, size: int) -> str:
    """So many characters of a shape, and something to read behind them."""
    return (piece * (size // len(piece) + 1))[:size] + "\nMr. Hart likes it.\n"


def seconds(parse: Callable[[str], object], text: str) -> float:
    """Processor time of this thread without collections of garbage, whose cost grows with all that the tests hold."""
    gc.disable()
    try:
        began = time.thread_time()
        with contextlib.suppress(ImprintError, RecursionError):
            parse(text)
        return time.thread_time() - began
    finally:
        gc.enable()


def growth(parse: Callable[[str], object], piece: str, longest: int) -> str | None:
    """What three doublings cost beyond the bound, up to the longest text; None: nothing.

    Three at once, for a single one may cost more without a square behind it: a fuller cache.
    """
    now = seconds(parse, made(piece, longest))
    if now <= FLOOR:
        return None
    before = seconds(parse, made(piece, longest // 2**DOUBLINGS))
    if now <= GROWTH**DOUBLINGS * before + FLOOR:
        return None
    return f"{longest} characters took {now:.2f} s, an eighth of them {before:.3f} s"


def trouble(parse: Callable[[str], object], piece: str, longest: int) -> str | None:
    """What the doublings cost beyond the bound in each of the tries; None: there was one in which they did not."""
    said: str | None = "never tried"
    for _ in range(TRIES):
        said = growth(parse, piece, longest)
        if said is None:
            return None
    return said


@pytest.mark.parametrize("name", PARSERS)
def test_twice_the_text_takes_twice_the_time(name: str) -> None:
    parse, longest = PARSERS[name]
    assert {shape: said for shape, piece in SHAPES.items() if (said := trouble(parse, piece, longest))} == {}


def test_a_parser_in_quadratic_time_would_be_noticed() -> None:
    def quadratic(text: str) -> int:
        return sum(1 for start in range(0, len(text), 8) for _ in text[start:])

    assert trouble(quadratic, "a", 16_000)
