"""English plans, and reports of their steps. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import PlanForms

PLANS: Final = PlanForms(
    ordinals=(
        "one two three four five six seven eight nine ten".split(),
        "first second third fourth fifth sixth seventh eighth ninth tenth".split(),
    ),
    number=r"step\s*\d{1,3}\s*[:.、：)-]",
    title=r"(?:here(?:'s| is) )?(?:the |my |our |your |an? |updated |new |revised |current |action )*(?:plan|"
    r"to-?do(?: list)?|checklist|roadmap|next steps)(?: for [^:：]{1,80})?|goal|objective",
    one_line=r"(?:the |my |our |new |updated )?plan|to-?do",
    lead=re.compile(
        r"\b(?:plan|roadmap|to-?do|next steps|I(?:'ll| will) (?:do|take|proceed))\b",
        re.IGNORECASE,
    ),
    asks=re.compile(
        r"\b(?:plan|roadmap|to-?do|checklist|step[- ]by[- ]step|break (?:it|this|that) down|what (?:are|"
        r"would be) (?:the|your) steps|how (?:will|would|do|should) (?:you|we) (?:proceed|approach|go about|"
        r"start))\b",
        re.IGNORECASE,
    ),
    supposed=re.compile(
        r"\b(?:once|when|after|until|before|if|unless|says?|said|whether|maybe|perhaps|hope|suppose)\b",
        re.IGNORECASE,
    ),
    denied=re.compile(
        r"\b(?:not|never|almost|nearly|should|must|will be|would|could|might|may|can|cannot|have to|need to)\b|"
        r"n't\b",
        re.IGNORECASE,
    ),
    clause=re.compile(r"\bbut\b|\band\b"),
    first_then=None,
    reports={
        "done": (
            re.compile(
                r"\bsteps? #?(\d{1,3}(?:\.\d{1,3})*|one|two|three|four|five|six|seven|eight|nine|ten)(?:'s| is|"
                r" was| has been| are)?(?: now| already| all)? (?:done|completed?|finished)\b",
                re.IGNORECASE,
            ),
            re.compile(
                r"\bthe (first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth) step(?:'s| is| was|"
                r" has been| are)?(?: now| already| all)? (?:done|completed?|finished)\b",
                re.IGNORECASE,
            ),
            re.compile(
                r"\b(?:I|we)(?:'ve| have)?(?: just| now| already)? (?:finished|completed|done|"
                r"did) step #?(\d{1,3}(?:\.\d{1,3})*|one|two|three|four|five|six|seven|eight|nine|ten)\b",
                re.IGNORECASE,
            ),
            re.compile(
                r"^(?:finished|completed|done with) step #?(\d{1,3}(?:\.\d{1,3})*|one|two|three|four|five|six|"
                r"seven|eight|nine|ten)\b",
                re.IGNORECASE,
            ),
        ),
        "failed": (
            re.compile(
                r"\bstep #?(\d{1,3}(?:\.\d{1,3})*|one|two|three|four|five|six|seven|eight|nine|ten)(?: has|"
                r" have)? failed\b",
                re.IGNORECASE,
            ),
        ),
        "skipped": (
            re.compile(
                r"\bskip(?:ped|ping)? step #?(\d{1,3}(?:\.\d{1,3})*|one|two|three|four|five|six|seven|eight|nine|"
                r"ten)\b|\bstep #?(\d{1,3}(?:\.\d{1,3})*|one|two|three|four|five|six|seven|eight|nine|ten)(?:'s|"
                r" is| was| has been| are)?(?: now| already| all)? skipped\b",
                re.IGNORECASE,
            ),
        ),
        "in_progress": (
            re.compile(
                r"\b(?:I'm|we're|I am|we are|now|currently)(?: now)? (?:on|working on|starting|"
                r"at) step #?(\d{1,3}(?:\.\d{1,3})*|one|two|three|four|five|six|seven|eight|nine|ten)\b",
                re.IGNORECASE,
            ),
            re.compile(
                r"\b(?:started|starting|moving on to|on to|let's start|let's do) step #?(\d{1,3}(?:\.\d{1,3})*|"
                r"one|two|three|four|five|six|seven|eight|nine|ten)\b|\bstep #?(\d{1,3}(?:\.\d{1,3})*|one|two|"
                r"three|four|five|six|seven|eight|nine|ten) is in progress\b",
                re.IGNORECASE,
            ),
        ),
    },
    question_ends=(),
    statuses={
        "pending": "pending todo to-do open queued waiting planned new not-started blocked",
        "in_progress": "in-progress inprogress doing active running started current wip ongoing",
        "done": "done completed complete finished success succeeded closed resolved ok passed",
        "failed": "failed fail failure error errored",
        "skipped": "skipped skip cancelled canceled abandoned dropped obsolete n/a",
    },
    mentioned=r"plan|to-?do|roadmap|\mstep",
)
