"""English sentences that a summary must keep."""

from __future__ import annotations

import re
from typing import Final

from core.language.en.tables import orders
from core.language.parts import KeySentences

_WORK = "|".join(
    "build write create implement design plan draft prepare develop migrate refactor translate summari[sz]e analy[sz]e "
    "organi[sz]e set\\s+up fix debug review compare research schedule book find make generate compile convert "
    "optimi[sz]e test deploy edit proofread configure automate port rewrite".split(" ")
)

_SOME = r"(?:me |us )?(?:a|an|the|my|our|some|this|these|those|all|every|each|another|new|two|three|\d+)\b"
"""Words after a verb of work that show it is a verb: "Book a flight", not "Book club"."""

_OPENING = r"^(?:(?:hi|hey|hello|ok|okay|so|now|please|then|also|next|first)\b[,!]? )*"

_TASK = re.compile(
    rf"{_OPENING}(?:your|my|our|the|this) (?:\w+ )?(?:task|goal|objective|aim|mission|assignment|job)"
    r"(?: here| now| today)?(?: is (?:to|that)\b| is:|:)"
    r"|\b(?:that's|this is|that is) (?:the|our|my) (?:goal|objective|task|aim)\b"
    rf"|\bI(?:'d| would)? (?:need|want|like) you to (?:{_WORK})\b"
    rf"|{_OPENING}help (?:me|us) (?:to )?(?:{_WORK})\b"
    rf"|{_OPENING}(?:{_WORK}) {_SOME}"
    r"|\blet's (?:build|create|write|develop|implement|design|plan) (?:a|an|the|our)\b"
    r"|^we (?:need|have|want) to (?:build|launch|migrate|ship|deliver|develop|implement|design|rewrite|replace)\b",
    re.IGNORECASE,
)

_ASKED_TASK = re.compile(
    rf"{_OPENING}(?:could|can|would|will) you (?:please )?(?:help (?:me|us) (?:to )?)?(?:{_WORK}) {_SOME}",
    re.IGNORECASE,
)

_NO_ORDER = re.compile(
    r"^always (?:\w+ing|here|up|there|happy|glad|ready|nice|great|good|fun)\b|\b(?:I|we)(?:'ll| will)\b.* from now on",
    re.IGNORECASE,
)

_DECISION = re.compile(
    r"\b(?:I|we)(?:'ve| have| had)? (?:(?:finally|now|just|all|already|then|both|also|unanimously) )*"
    r"(?:decided\b|agreed\b(?! to disagree| with)|settled (?:on|for)\b|opted\b|(?:chosen|chose)\b|picked (?!up)|"
    r"voted (?:to|for)\b|resolved to\b)"
    r"|\blet's (?:go with|use|stick (?:with|to)|settle on|pick|choose|drop|postpone|scrap|do option)\b"
    r"|\b(?:I|we)(?:'ll| will) (?:go|stick) with (?!you\b|him\b|her\b|them\b|my\b|me\b|us\b)"
    r"|\b(?:I'm|I am|we're|we are) going with (?:the\b|(?i:option|plan|version)\b)"
    r"|\bthe (?:final )?decision (?:is\b(?! yours| up)|:)"
    r"|\b(?:it's|that's|it is|that is) (?:settled|decided|agreed|a deal)\b"
    r"|^(?:(?:ok|okay),? )?(?:agreed|decided|deal)[:,]? (?:we|I|let's|then)\b"
    r"|^(?:final )?decision: "
    r"|\bmade up (?:my|our) minds?\b",
    re.IGNORECASE,
)

_SETTLED = re.compile(r"^(?:(?:ok|okay|so),? )?(?:it['’]s|that['’]s) (?:settled|decided|agreed): ", re.IGNORECASE)

_NOT_NOW = re.compile(
    r"\b(?:once|until|before|after|when|whether) (?:I|we)\b|\b(?:years?|months?) ago\b|\bback then\b|\bwhen I was\b|"
    r"\blast (?:year|summer|winter|spring|fall|autumn|month)\b|\bas a (?:kid|child|teenager)\b",
    re.IGNORECASE,
)
"""Signs of a past decision, which is only reported, or of one that is still open."""

_COMMITMENT = re.compile(
    r"\b(?:I|we)(?:'ll| will|'m going to| am going to|'re going to| are going to| shall) "
    r"(?:(?:definitely|personally|also|then|surely|certainly|gladly) )*"
    r"(?:send|share|deliver|bring you|call you|e-?mail|text you|book|pay|prepare|finish|fix|review|submit|"
    r"take care of|make sure (?!to\b)|ensure|get back to you|remind|schedule|arrange|update you|follow up|handle|"
    r"let you know (?:by|on|tomorrow|tonight|when|as soon|once)|pick you up|deploy|complete|ship|return|"
    r"come back to you|have (?:it|the \w+) (?:ready|done))\b"
    r"|\b(?:I|we) (?:promise|guarantee|commit) (?:to|you|that|I)\b"
    r"|\byou'll (?:have|get|receive) (?:it|the|my|our|your|a|an) [^.;]{0,30}"
    r"\b(?:by|on|before|today|tonight|tomorrow|next)\b"
    r"|\bleave (?:it|that|this) (?:with|to) me\b",
    re.IGNORECASE,
)

_WHEN = (
    r"(?:\W?\d|mon|tues|wednes|thurs|fri|satur|sun|jan|feb|mar|apr|may\b|june?\b|july?\b|aug|sep|oct|nov|dec|today|"
    r"tomorrow|tonight|noon|midnight|next|the end|end of)"
)

_BOUND = (
    r"(?:under|below|less than|at (?:least|most)|within|between|done|ready|finished|completed|delivered|submitted|"
    r"signed|approved|tested|encrypted|shipped|able to|compatible|in|by|before|on|no (?:more|later|longer)|"
    r"available|written|kept|paid|exactly|\d)"
)
"""Uses of "must" that state a rule rather than a guess: not "That must be amazing!"."""

_CONSTRAINT = re.compile(
    rf"\b(?:must|shall) (?:not |never |only |always )?(?:be {_BOUND}|have (?:at (?:least|most)|no\b|exactly|\d)|"
    r"not be|run|work|support|use|include|contain|fit|stay|comply|exceed|match|pass|return|cost|leave|finish|start)\b"
    rf"|(?<!\bI )(?<!\bwe )(?<!\byou )(?<!\bthey )(?:has|have|needs?) to (?:be {_BOUND}|run|work|load|"
    r"support|fit|stay|comply|pass|cost|finish|respond|include|contain)\b"
    r"|\b(?:can't|cannot|can not|may not|should not|shouldn't|mustn't) (?:exceed|(?:spend|take|cost|go|be|use|last) "
    r"(?:more than|over|above|beyond|any|later than|longer than))\b"
    r"|\b(?:no|not) (?:more|later|longer|fewer|less) than\b|\bat most \W?\d|\bat the latest\b"
    r"|\b(?:should|must|needs?|requires?|has to|have to)\b[^.;]{0,40}\bat least \W?\d"
    rf"|\b(?:the|my|our|a) (?:\w+ )?(?:budget|deadline|limit|maximum|minimum|cap|quota) (?:[^.;]{{0,30}} )?(?:is|of) "
    rf"[^.;]{{0,12}}?{_WHEN}"
    rf"|\b(?:deadline|budget): |\b(?:is|are) due (?:by |on |before |in )?{_WHEN}"
    r"|\bnot allowed to\b|(?<!which )\b(?:is|are) (?:required|obliged|mandatory|forbidden|prohibited|off[- ]limits)\b"
    r"|\b(?:I|we) only have \W?\d|^no\b[^.]{1,40}\bmay\b"
    r"|\bshould be (?:at most|at least|no more than|under|below|less than|within|between)\b",
    re.IGNORECASE,
)

_REPLACES = re.compile(
    r"\b(?:instead of|rather than|no longer|(?:switch|chang|mov)\w* (?:away )?from|drop(?:ping|ped)?|"
    r"scrap(?:ping|ped)?|cancel(?:l?ed|l?ing)?|replac(?:e|es|ed|ing)) ([^,.;!?]{2,60}?)"
    r"(?= (?:to|and|but|because|with|by|in favou?r of|for)\b|[,.;!?]|$)",
    re.IGNORECASE,
)


def is_task(sentence: str) -> bool:
    """Return whether a sentence sets a task, be it as a question."""
    asks = sentence.rstrip("\"')!").endswith("?")
    return bool(_ASKED_TASK.search(sentence)) or (not asks and bool(_TASK.search(sentence)))


def is_instruction(sentence: str) -> bool:
    """Return whether a sentence gives an order that stands."""
    spelt = sentence.replace("don't", "do not").replace("Don't", "Do not")
    return bool(orders.INSTRUCTION.search(spelt)) and not (orders.ONE_OFF.search(spelt) or _NO_ORDER.search(spelt))


def is_decision(sentence: str) -> bool:
    """Return whether a sentence decides something now."""
    return bool(_DECISION.search(sentence)) and not _NOT_NOW.search(sentence)


def is_commitment(sentence: str) -> bool:
    """Return whether a sentence promises something."""
    return bool(_COMMITMENT.search(sentence))


def is_constraint(sentence: str) -> bool:
    """Return whether a sentence states a rule or a limit."""
    return bool(_CONSTRAINT.search(sentence))


KEY_SENTENCES: Final = KeySentences(
    is_task=is_task,
    kinds={
        "instruction": is_instruction,
        "decision": is_decision,
        "commitment": is_commitment,
        "constraint": is_constraint,
    },
    settled=_SETTLED,
    replaces=_REPLACES,
)
