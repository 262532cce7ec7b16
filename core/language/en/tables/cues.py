"""Cue words for kinds of statements and topics, and sentence templates of attributes."""

from __future__ import annotations

import re

from core.language.en.tables import at_work
from core.language.language import CategoryCue, Theme
from core.language.lazy_regex import lazy_regex
from core.types import Category, Topic

CATEGORIES: tuple[CategoryCue, ...] = (
    *at_work.CATEGORIES,
    CategoryCue(
        lazy_regex(
            r"\b(?:I|we) (?:\w+ )?(?:am|are) (?:\w+ )?(?:going to|planning|hoping to|looking forward to|about to|"
            r"thinking (?:of|about)|considering|aiming to|saving (?:up )?(?:for|to)|getting ready (?:for|to)|"
            r"preparing (?:for|to))\b|\b(?:I|we) (?:\w+ )?(?:plan|intend|aim|hope|want|would like|would "
            r"love) to\b|\b(?:I|"
            r"we) (?:will|shall)\b|\bmy (?:goal|plan|dream|aim|next (?:step|goal)) (?:is|for)\b|\b(?:I|we) (?:have|am|"
            r"are) .*\b(?:planned|scheduled|booked|coming up|lined up)\b|\b(?:next|this coming) (?:week|"
            r"month|year|summer|"
            r"weekend)\b|\btomorrow\b",
            re.IGNORECASE,
        ),
        Category.PLAN,
        0.55,
    ),
    CategoryCue(
        lazy_regex(
            r"\b(?:every|each) (?:single )?(?:day|morning|evening|night|week|month|year|other|sunday|monday|tuesday|"
            r"wednesday|thursday|friday|saturday|weekend|summer|winter)\b|\b(?:I|we) (?:usually|always|often|normally|"
            r"typically|regularly|never|rarely|sometimes|generally) |\bon (?:sundays|mondays|tuesdays|wednesdays|"
            r"thursdays|fridays|saturdays|weekends|weekdays)\b|\b(?:once|twice|\w+ times) (?:a|per) (?:day|week|month|"
            r"year)\b|\bmy (?:daily|morning|evening|weekly) routine\b",
            re.IGNORECASE,
        ),
        Category.PATTERN,
        0.55,
    ),
    CategoryCue(
        lazy_regex(
            r"\b(?:I|we) (?:\w+ )?(?:love|like|enjoy|adore|hate|prefer|dislike|cannot stand)\b|\bfavou?rite\b|\b(?:big|"
            r"huge) fan\b|\bpassionate about\b|\bmakes? me (?:feel|so|happy|smile)\b|\bhelps? me\b|\bgo-to\b",
            re.IGNORECASE,
        ),
        Category.PREFERENCE,
        0.5,
    ),
    CategoryCue(
        lazy_regex(
            r"\b(?:yesterday|last (?:night|week|weekend|month|year|summer|winter|fall|spring|mon|tue|wed|thu|fri|sat|"
            r"sun)\w*|ago|today|this (?:morning|week|weekend)|recently|the other day|"
            r"just(?! (?:like|as|so|to|a|the|one|how|what|in case|for|love|enjoy|want)\b)|lately)\b|\b(?:I|"
            r"we) (?:(?!am\b|"
            r"are\b|do\b|was\b|need\b)\w+ )?(?:went|met|ran|won|lost|got|bought|visited|attended|finished|started|"
            r"signed up|moved|joined|saw|hosted|celebrated|adopted|graduated|made|had|took|gave|found|tried|did|hiked|"
            r"painted|organi[sz]ed|launched|received|participated|volunteered|\w{3,}ed)\b|"
            r"\bmy (?:\w+ ){1,3}(?:died|passed away|was born|got (?:married|"
            r"divorced|engaged)|graduated|retired|moved|broke|lost|won|had (?:an?|her|his|their))\b",
            re.IGNORECASE,
        ),
        Category.EVENT,
        0.5,
    ),
)
THEMES: tuple[Theme, ...] = tuple(
    Theme(topic, lazy_regex(rf"\b(?:{words})\b", re.IGNORECASE))
    for topic, words in (
        (
            Topic.HEALTH,
            r"health\w*|doctor|hospital|allerg\w+|diagnos\w+|therap\w+|medic\w+|diet|injur\w+|sick|surgery|pain|asthma|"
            r"anxiety|depress\w+|sleep\w*|workout|gym|yoga|fitness|marathon|weight",
        ),
        (Topic.FINANCE, r"money|budget|salary|rent|mortgage|loan|debts?|invest\w*|savings?|bank|afford|funding|grant"),
        (
            Topic.WORK,
            r"work\w*|jobs?|business|company|career|office|boss|colleagues?|coworkers?|project|clients?|interview|"
            r"promot\w+|startup|studio|store|shop|internship|employ\w*|team at|engineer\w*|endorsements?",
        ),
        (
            Topic.RELATIONSHIP,
            r"wife|husband|partner|girlfriend|boyfriend|married|wedding|kids?|children|son|daughter|sister|"
            r"brother|m[ou]m|"
            r"dad|mother|father|parents?|family|friends?|dogs?|cats?|pupp(?:y|ies)|grand\w+|aunt|uncle|cousin|breakup|"
            r"adopt\w*",
        ),
        (
            Topic.LOCATION,
            r"live in|moved|home|house|apartment|city|trip|travel\w*|visit\w*|beach|mountains?|country|hotel|flight|"
            r"vacation",
        ),
        (
            Topic.SKILL,
            r"learn\w*|course|class(?:es)?|lessons?|play (?:the )?(?:piano|guitar|violin)|certificat\w+|"
            r"coding|language|"
            r"skills?|workshop",
        ),
        (
            Topic.HISTORY,
            r"when I was|grew up|childhood|used to|school|college|university|degree|graduat\w+|years ago|born",
        ),
        (Topic.GOAL, r"goals?|dreams?|plan\w*|hop(?:e|ing) to|want to|aim\w*|going to"),
        (Topic.HABIT, r"every (?:day|morning|night|week\w*|sunday)|usually|always|routine|habit|often"),
        (Topic.PREFERENCE, r"love|like|enjoy|favou?rite|prefer|hate|fan of|passion\w*"),
    )
)

STATED = {
    "": "{who}'s {what} is {value}.",
    "home.city": "{who} lives in {value}.",
    "home.country": "{who} lives in {value}.",
    "not home.city": "{who} no longer lives in {value}.",
    "not home.country": "{who} no longer lives in {value}.",
    "work.employer": "{who} works at {value}.",
    "not work.employer": "{who} no longer works at {value}.",
    "health.blood_type": "{who}'s blood type is {value}.",
    "work.role": "{who} works as {a_value}.",
    "name": "{who} is called {value}.",
    "origin": "{who} comes from {value}.",
    "age": "{who} is {value} years old.",
    "identity": "{who} is {value}.",
    "religion": "{who} is {value}.",
    "nationality": "{who} is {value}.",
    "relation": "{who}'s {what} is called {value}.",
    "relation.status": "{who} is {value}.",
    "family.children": "{who} has {value} children.",
    "allergy": "{who} is allergic to {value}.",
    "intolerance": "{who} is {value} intolerant.",
    "diet": "{who} is {value}.",
    "not diet": "{who} is no longer {value}.",
    "health.condition": "{who} has {value}.",
    "health.medication": "{who} takes {value}.",
    "language": "{who} speaks {value}.",
    "language.learning": "{who} is learning {value}.",
    "education.school": "{who} studied at {value}.",
    "education.field": "{who} studied {value}.",
    "possession": "{who} has {a_value}.",
    "skill": "{who} plays {value}.",
    "preference": "{who}'s favorite {what} is {value}.",
    "likes": "{who} likes {value}.",
    "dislikes": "{who} dislikes {value}.",
    "avoids": "{who} avoids {value}.",
    "prefers": "{who} prefers {value}.",
}
"""Sentence templates of attributes, by full name or first part."""

CHANGE = lazy_regex(
    r"^(?:no|oh|well|sorry|but|and|hmm|wait)?[, ]*actually\b|\bactually\b.*, not\b|\bno longer\b|\bany ?more\b|"
    r"\bI (?:\w+ )?moved (?:to|back)\b|\bnot .{2,30} but\b|\bchanged (?:my|to)\b|\bswitched (?:to|from)\b|"
    r"^correction\b|\bI meant\b|\bI was wrong\b|\bused to\b.*\bbut\b|\binstead of\b|\bnot true any\b|"
    r"\bstopped \w+ing\b|\bgave up \w+ing\b|\bnew (?:job|position|role)\b|\bpromoted to\b|"
    r"\b(?:changed|switched) jobs\b",
    re.IGNORECASE,
)
"""Words that say that something is not as it was."""
