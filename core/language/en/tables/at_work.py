"""English talk about common work: what is certain to last, and kinds of statements."""

from __future__ import annotations

import re

from core.language.language import CategoryCue
from core.language.lazy_regex import lazy_regex
from core.types import Category

_THINGS = (
    r"project|repo(?:sitory)?|codebase|code base|service|app|API|backend|back end|front-?end|team|site|website|"
    r"pipeline|"
    r"cluster|database|DB|warehouse|bot|SDK|library|package|module|monorepo|product"
)
_TERMS = (
    rf"(?:{_THINGS})s?|branch(?:es)?|deploy\w*|releases?|endpoints?|staging|prod(?:uction)?|CI|PRs?|pull requests?|"
    r"commits?|tests?|schemas?|migrations?|Docker|Kubernetes|Postgres\w*|MySQL|config\w*|feature flags?|lint\w*|"
    r"queues?|"
    r"logs?|logging|dashboards?|runner|on-call|SLA|namespace|version\w*|builds?|tickets?|sprints?|docs?|Figma|"
    r"timestamps?|"
    r"design system|style guide|brand|drafts?|invoices?|fiscal|stakeholders?"
)
_AIMS = r"comments?|commit messages?|docs?|documentation|variable names?|log messages?|error messages?|identifiers"

LASTING = lazy_regex(
    rf"^(?:this|our|the) (?:\w+ )?(?:{_THINGS})(?:['’]s)? .{{0,30}}?\b(?:uses?|runs? (?:on|in)|is (?:written|built|"
    r"deployed|hosted|on)|lives? in|targets?|requires?|follows?|prefix|process|convention|stack|naming)\b|"
    r"^(?:please )?(?:use|follow|stick to|keep) .{2,30} (?:structure|architecture|conventions?|style|standards?|layout|"
    r"workflow|naming)[.!]?$|"
    rf"^(?:please )?(?:write|keep) (?:all |the |our |code |your )*(?:{_AIMS}) in [A-Z]\w+[.!]?$",
    re.IGNORECASE,
)
"""Sentences about common work that last by their form."""
MOMENTARY = lazy_regex(
    r"\b(?:here|this (?:one|time|file|function|test|plot|page|line)|for now|right now|at the moment|currently|today|"
    r"temporarily|just (?:this|now)|maybe|perhaps|might|could|should we|let['’]s|if|used to|no longer|keeps? saying|"
    r"yesterday|broken|failing|fails)\b|\?",
    re.IGNORECASE,
)
"""Words that deny it: of the moment, considered, past, somebody else's."""

ORDER = lazy_regex(
    r"^(?:please,? |thanks[^.]*\. |next (?:time|sessions?)(?: too)?[:,] |and |also,? |again,? )*(?:never|always|do not|"
    r"don['’]t|no need to|avoid|stick to|make sure|use|write|keep|put|name|answer|reply|ask me|include|default to|"
    r"(?:when(?:ever)?|before|if) (?:you|I) [^,]{3,60}, (?:always|never|do not|don['’]t|ask|use|run|show|list|give))\b",
    re.IGNORECASE,
)
"""Standing orders, of sentences that last."""

CATEGORIES: tuple[CategoryCue, ...] = (
    CategoryCue(
        lazy_regex(
            r"\b(?:process|procedure|workflow|checklist|runbook|steps?|routine for \w+)\b[^.]*?(?:\bis\b|:)|"
            r"^(?:to|when (?:you|we)|whenever we|for) [^,]{3,60}?,? (?:you|we|first)\b[^,]*,.*\b(?:then|and finally|"
            r"after that)\b|"
            r"\bfirst\b.*\bthen\b",
            re.IGNORECASE,
        ),
        Category.SKILL,
        0.6,
    ),
    CategoryCue(
        lazy_regex(
            r"\bI (?:\w+ )?(?:prefer|favou?r|tend to|can['’]?t stand)\b|\bI['’]?(?:d| would) (?:much )?rather\b|"
            r"\bmy (?:taste|style)\b",
            re.IGNORECASE,
        ),
        Category.PREFERENCE,
        0.6,
    ),
    CategoryCue(
        lazy_regex(
            rf"^(?=.*\b(?:{_TERMS})\b).*?\b(?:we|our|us|this (?:{_THINGS}))\b|"
            rf"^(?:this|our|the) (?:\w+ )?(?:{_THINGS})(?:['’]s)?\b|^[A-Z]\w+ owns the\b",
            re.IGNORECASE,
        ),
        Category.PROJECT,
        0.6,
    ),
    CategoryCue(lazy_regex(rf"^(?!.*\b(?:I|my|me)\b).*\b(?:{_TERMS})\b", re.IGNORECASE), Category.KNOWLEDGE, 0.55),
)
