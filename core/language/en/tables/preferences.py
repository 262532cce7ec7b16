"""Likes, preferences and dislikes."""

from __future__ import annotations

from functools import partial

from core.language.en import values
from core.language.en.tables.fragments import row
from core.language.language import Attribute, Pattern, pattern
from core.types import Category, Topic

_slot = partial(
    pattern,
    row,
    {
        "preference.{cls}": Attribute(Topic.PREFERENCE, 0.7, values.favourite, category=Category.PREFERENCE),
        "dislikes": Attribute(Topic.PREFERENCE, 0.6, values.liked_thing, category=Category.PREFERENCE, exclusive=False),
        "avoids": Attribute(Topic.HEALTH, 0.75, values.liked_thing, category=Category.PREFERENCE, exclusive=False),
        "likes": Attribute(Topic.PREFERENCE, 0.55, values.liked_thing, category=Category.PREFERENCE, exclusive=False),
        "prefers": Attribute(Topic.PREFERENCE, 0.65, values.liked_thing, category=Category.PREFERENCE, exclusive=False),
    },
)

TASTES: tuple[Pattern, ...] = (
    # likes and dislikes
    _slot(
        "preference.{cls}",
        r"\bmy (?:all[- ]time |absolute |current )?favou?rite (?P<cls>[a-z]+(?: (?!these\b|now\b|right\b|"
        r"at\b)[a-z]+){0,2}?)(?: of all time| ever| these days| right now| now| at the moment|"
        r" to \w+)? (?:is|has to be|would be|has always been|are)(?: probably| definitely)? {v}{end}",
    ),
    _slot(
        "preference.{cls}",
        r"^(?P<v>[^,.;!?()]{2,40}?) (?:is|are) (?:probably |definitely |still )?my (?:all[- ]time |"
        r"absolute )?favou?rite (?P<cls>[a-z]+(?: [a-z]+){0,2})(?=[.,!;]|$| because\b| and\b| of all\b| ever\b)",
    ),
    _slot(
        "dislikes",
        r"{free}{who}(?:do not|does not|did not) (?:really |particularly |even )?(?:like|enjoy|"
        r"care for) (?P<v>[^.;!?()]+?){list_end}",
    ),
    _slot(
        "avoids",
        r"{free}{who}(?:do not|does not|never|no longer|cannot) (?:eat|drink) "
        r"(?!(?:out|in|at|with|much|well|before|after|there|here|a lot)\b)(?P<v>[^.;!?()]+?){list_end}",
    ),
    _slot(
        "dislikes",
        r"(?:{free}{who}|\bI (?:(?!\b(?:who|they|she|he|my|our|people|friends)\b)[^,.;!?–—-])*?\b(?:and|but) {adv}"
        r"(?=hate |dislike |detest ))(?:hate|hates|dislike|dislikes|cannot (?:stand|abide|bear)|detest|"
        r"loathe|despise|"
        r"(?:am|is) not "
        r"(?:an? (?:big |huge |great |massive )?fan of|into|fond of)) (?P<v>[^.;!?()]+?){list_end}",
    ),
    _slot(
        "likes",
        r"(?:{free}{who}|\bI (?:(?!\b(?:who|they|she|he|my|our|people|friends)\b)[^,.;!?–—-])*?\b(?:and|but) {adv}"
        r"(?=love |enjoy |adore ))(?:like|love|enjoy|adore|likes|loves|enjoys|(?:am|"
        r"is) (?:a (?:big|huge|massive) fan of|fond of|obsessed with|(?:really |super )?into|crazy about|"
        r"passionate about|keen on)) (?P<v>[^.;!?()]+?){list_end}",
    ),
    _slot(
        "prefers",
        r"{free}{who}(?:prefer|prefers|would rather have|would prefer(?= an? )) {v}(?: (?:over|to|"
        r"rather than|instead of|"
        r"than) [^,.;!?]+)?{end}",
    ),
)
