"""Decides whether a sentence commands to delete something, or says that something is deleted. Pure."""

from __future__ import annotations

from typing import Final

from core.forgetting.text import READ, plain
from core.forgetting.wording import (
    BARE,
    COMMAND,
    FOREIGN,
    FOREIGN_ZH,
    NEGATED,
    PLACE,
    QUESTION,
    REPORT_ZH,
    WRITING,
)
from core.language.lazy_regex import lazy_regex


def mentions_erasure(message: str) -> bool:
    """Return whether a message may speak of something deleted or outdated, so that it may repeat what was erased."""
    text = plain(message[:READ])
    return COMMAND.search(text) is not None or DECLARED.search(text) is not None or _FORMER.search(text) is not None


def without_quotations(text: str) -> str:
    """Blank quoted speech that contains a request itself; names and values in quotes stay."""
    return _QUOTATION.sub(
        lambda match: " " * len(match.group()) if COMMAND.search(match.group()) else match.group(), text
    )


def commands(sentence: str) -> bool:
    """Return whether a sentence commands to delete, of whatever, but from a place that it names."""
    if any(pattern.search(sentence) for pattern in _OTHER) or _is_elsewhere(sentence):
        return False
    return BARE.search(sentence) is not None


def declares(sentence: str) -> bool:
    """Return whether a sentence says that something is or was deleted."""
    return DECLARED.search(sentence) is not None and not _UNDONE.search(sentence)


def _is_elsewhere(sentence: str) -> bool:
    """Return whether something is to be taken from anything but the memory: "from the list"."""
    if MEMORY_SOURCE.search(sentence):
        return False
    return FOREIGN.search(sentence) is not None or FOREIGN_ZH.search(sentence) is not None


_OTHER: Final = (NEGATED, QUESTION, WRITING, REPORT_ZH)

OF_VALUE: Final = lazy_regex(
    r"\b(?:code|pin|password|passcode|passphrase|phrase|token|credential|badge|key|number|amount|figure|minute|"
    r"location|point|label|wording|mapping|address|layer)s?\b.{0,60}\d|\b(?:exact|old|older|earlier|retired|"
    r"previous)\b"
    r".{0,60}\b(?:code|pin|password|passcode|passphrase|phrase|token|credential|badge|number|amount|figure|minute|"
    r"location|point|label|wording|mapping|address|layer)\b|(?:密码|口令|号码|卡号|证号|账号|"
    r"验证码).{0,20}[a-z0-9]{3}"
)
"""A value of a thing."""

MEMORY_SOURCE: Final = lazy_regex(rf"(?:from|out of|off|in) {PLACE}|{PLACE}|你.{{0,3}}(?:记忆|脑|记录|资料)|记忆[里中]")

_FORMER: Final = lazy_regex(
    r"\b(?:old|older|earlier|former|previous|previously|retired|obsolete|superseded|replaced|revised|stale|no longer|"
    r"used to|do not answer|do not use|don't use|ignore)\b|旧|以前的|之前的|原来的|原先|作废|不再"
)

_GONE: Final = (
    r"(?:deleted|erased|forgotten|removed|wiped|scrubbed|purged|dropped|discarded|expunged|redacted|gone|cleared|"
    r"taken out|struck|dumped|scrapped)"
)

DECLARED: Final = lazy_regex(
    rf"\b(?:is|are|was|were|am|i'm|been|being|remains?|stays?|stay|now|logged|marked|confirmed|also|as) "
    rf"(?:being |now |already |also |as |fully )?(?:{_GONE}|deleting|removing|erasing|retiring|wiping|purging)\b"
    rf"|^(?:\w+[:.,] )?{_GONE} |\b(?:deletion|removal) of\b|\b(?:logged|noted|saved|done|reminder|note)\b.{{0,20}}: "
    rf"(?:the )?(?:\w+ ){{0,3}}{_GONE}\b|(?:已|已经)(?:经)?(?:删除?|清除|移除|抹去)"
)
"""Statements that something is or was deleted."""

_UNDONE: Final = lazy_regex(
    r"\b(?:once|when|after|if|until|unless|before|may|might|could|would|should|will|not|never|n't|no|nothing|whether|"
    r"soon|later|prepar\w+|going to|who|how)\b|\?\s*$"
)
"""Signs that it is not deleted, or not yet, or that somebody asks whether."""

AGREES: Final = lazy_regex(
    r"^(?:\W*)(?:confirmed|acknowledged|agreed)\b|\bdeletion request (?:acknowledged|logged|confirmed)|"
    r"\brequest (?:acknowledged|logged|confirmed)|\b(?:is|are|was|were|has been|have been) "
    rf"(?:now )?{_GONE} from\b|^(?:同意|确认)"
)

_QUOTATION: Final = lazy_regex(r'"[^"\n]{3,400}"|“[^”\n]{3,400}”|(?<!\w)\'[^\'\n]{8,400}\'(?!\w)')
