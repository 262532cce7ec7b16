"""English statements, as they are compared. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.lazy_regex import lazy_regex
from core.language.parts import QuotationFrame, StatementForms

STATEMENTS: Final = StatementForms(
    change=lazy_regex(
        r"\b(?:now|these days|new|instead|no longer|any ?more|rather than|chang(?:ed|ing)|mov(?:ed|ing)|switched|"
        r"swapped|replaced|rescheduled|postponed|delayed|pushed|brought forward|put (?:back|off)|up to|down to|"
        r"back to|raised|cut to|sold|gave (?:up|back)|given up|handed in|returned|turned in|cancell?ed|called off|"
        r"stopped|quit|gone)\b",
        re.IGNORECASE,
    ),
    past=re.compile(
        r"\bused to\b|\bformerly\b|\bpreviously\b|\bin the past\b|\bback then\b|\bat (?:the|that) time\b"
        r"|\bbefore (?:that|this)\b"
        r"|\bas an? (?:child|kid|boy|girl|teenager|student)\b|\bwhen (?:I|he|she|they|we|\w+) (?:was|were)\b"
        r"|(?<!have )(?<!has )(?<!ve )\b(?:lived|resided|worked)\b"
        r"|\b(?:was|were) an? .*\b(?:until|till|from .+ (?:to|until|till)|between)\b",
        re.IGNORECASE,
    ),
    clause=re.compile(r"\b(?:but|and) (?:now|then|today|since)\b|\bbut\b", re.IGNORECASE),
    denied=re.compile(r"\b(?:not|instead of|rather than|no longer)\s+([^,.;!?]+)", re.IGNORECASE),
    numbered=re.compile(
        r"^(?P<thing>(?:.{1,60}?['’]s?|my|our|his|her|their) \S.{0,60}?) is (?:now |only |"
        r"already )?(?P<number>[^\s,;]+?)"
        r"(?P<unit>(?: (?!at\b|in\b|on\b|of\b|to\b|and\b|or\b|by\b)[a-z]+){0,2})[.!]?$",
        re.IGNORECASE,
    ),
    age="years old",
    district=None,
    between=r",? (?:and|or) |, (?!and\b|or\b)",
    joint=r"(?<=[.!?])\s+|;\s*|,?\s+(?:and|but|so|while|because)\s+(?=(?:I|we|they|he|she|it|my|our|their|his|her)\b)",
    somebody="(?:I|we|they|he|she|it|my|our|their|his|her)",
    pronouns=tuple(
        (re.compile(pattern, re.IGNORECASE), form)
        for pattern, form in (
            (r"^(?:they|he|she) (?:are|is)\b", "{} is"),
            (r"^(?:they|he|she) (?:have|has)\b", "{} has"),
            (r"^(?:they|he|she) (?:were|was)\b", "{} was"),
            (r"^(?:they|he|she)\b", "{}"),
            (r"^(?:their|his|her)\b", "{}'s"),
        )
    ),
    nobody=frozenset({"they", "he", "she"}),
    date=re.compile(
        r"\b(?:in|on|since|the|week|of|\d{1,4}(?:st|nd|rd|th)?|january|february|march|april|may|june|july|august|"
        r"september|october|november|december)\b",
        re.IGNORECASE,
    ),
    inside=frozenset("of the and for in at on a an de la du von van".split()),
    persons={
        **dict.fromkeys("i me you".split(), "i"),
        **dict.fromkeys("my your".split(), "my"),
        **dict.fromkeys("mine yours".split(), "mine"),
        **dict.fromkeys("myself yourself".split(), "myself"),
        **dict.fromkeys("am are".split(), "are"),
        **dict.fromkeys("was were".split(), "were"),
    },
    quotation=QuotationFrame(
        said="{speaker} said: “{words}”",
        said_on="{speaker} said on {day}: “{words}”",
        asked="asked “{asked}”, ",
        after="after “{after}”, ",
        begins=r" said(?: on [^“”:]{1,30})?: ",
    ),
)
