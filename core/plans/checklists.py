"""Plans and progress found in free text. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.errors import Never
from core.language import languages, sentences
from core.language.grounding import clip
from core.language.lazy_regex import either

PENDING: Final = "pending"

FEWEST: Final = 2
"""Least number of steps by which a list in a message is a plan."""

HEAD: Final = 120
"""Longest line before a list that may be its goal, characters."""

LONGEST: Final = 20_000
"""Longest message that is examined, characters; a longer one is a document."""

PLAN_CHARACTERS: Final = 100_000
"""Longest plan sent as text, characters: 500 steps of 200 characters."""

PLAN_LINES: Final = 2_000
"""Most lines of a plan sent as text, blank lines and notes included."""


@dataclass(slots=True)
class ListItem:
    """A line of a list: text, state of its box, and items below it."""

    title: str
    status: str | None = None
    items: list[ListItem] = field(default_factory=list)


def document(text: str) -> Any:
    """Parse a text as a JSON object or list; None if it is neither."""
    if not text.lstrip().startswith(("{", "[{", '["')):
        return None
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict | list) else None


def read(text: str) -> tuple[str | None, list[ListItem]]:
    """Return the goal and the items of a list in Markdown or plain text, nested as they are indented.

    Raises:
        Never: the text has more than PLAN_CHARACTERS characters or PLAN_LINES lines.
    """
    lines = _lines(text)
    levels = [len(match[1]) for line in lines if (match := _HEADING.match(line))]
    deepest = max(levels, default=0)
    goal: str | None = None
    roots: list[ListItem] = []
    stack: list[tuple[int, ListItem]] = []
    for line in lines:
        heading = _HEADING.match(line)
        is_goal = heading is not None and (len(levels) == 1 or len(heading[1]) < deepest) and not roots
        if (heading is None and not _LISTED.match(line)) or is_goal:
            goal = goal or (None if roots else _goal(heading[2] if heading else line))
            continue
        depth, entry = (len(heading[1]) - 10, item(heading[2])) if heading else (_indent(line), item(line))
        while stack and stack[-1][0] >= depth:
            stack.pop()
        (stack[-1][1].items if stack else roots).append(entry)
        stack.append((depth, entry))
    return (goal, roots) if roots else _inline(text)


def _lines(text: str) -> list[str]:
    """Return the lines that are not blank, after checking the size: parsing must not begin on what is too large."""
    if len(text) > PLAN_CHARACTERS:
        raise Never(f"The plan has {len(text)} characters; {PLAN_CHARACTERS} are allowed. Send it as several plans.")
    lines = text.splitlines()
    if len(lines) > PLAN_LINES:
        raise Never(f"The plan has {len(lines)} lines; {PLAN_LINES} are allowed. Send it as several plans.")
    return [line.expandtabs(4) for line in lines if line.strip()]


def item(line: str) -> ListItem:
    """Parse one line of a list, without its bullet and its box."""
    match = _LISTED.match(line)
    text = (match["said"] if match else line).strip()
    box = next(filter(None, map(match.group, ("box", "sign", "only", "bare"))), None) if match else None
    return ListItem(_EMPHASIS.sub(r"\1", text), _BOXES.get(box.lower()) if box else None)


def of_message(content: str, role: str, request: str | None) -> str | None:
    """Return the plan in a message, as text, or None. `request`: the person's message before it, if known.

    A checklist is one, and a list under the word "plan"; an assistant's numbered list if a plan was asked for.
    """
    if len(content) > LONGEST or role not in {"user", "assistant"}:
        return None
    block, lead = _block(content)
    boxes = sum(item(line).status is not None for line in block)
    numbered = sum(1 for line in block if _NUMBERED.match(line))
    titled = bool(_TITLE.search(lead))
    is_requested = (
        role == "assistant" and numbered >= FEWEST and bool(_LEAD.search(lead) or _ASKS.search(request or ""))
    )
    if boxes >= FEWEST or (titled and len(block) >= FEWEST) or is_requested:
        head = clip(lead if titled or not request else request, HEAD)
        head = clip(request or "", HEAD) if _TITLE.fullmatch(head) else _TITLE.sub("", head)
        return "\n".join([f"# {head}"] * bool(head) + list(block))
    match = _ONE_LINE.search(content)
    return match[0] if match and len(_inline(match[0])[1]) >= FEWEST else None


def mentions(content: str) -> list[tuple[str, str]]:
    """Return the steps that a message reports on, by place, with status; questions, denials and guesses excluded."""
    if len(content) > LONGEST:
        return []
    reports: list[tuple[str, str]] = []
    for sentence in sentences.split(content):
        plain = sentence.replace("’", "'")
        if plain.endswith(_ASK_ENDS) or _SUPPOSED.search(plain):
            continue
        for clause in _CLAUSE.split(plain):
            reports += _reported_status(clause)
    return reports


def _reported_status(clause: str) -> list[tuple[str, str]]:
    if _DENIED.search(clause):
        return []
    return [
        (_ORDINALS.get(reference.casefold(), reference), status)
        for status, pattern in _REPORTS
        for match in pattern.finditer(clause.strip())
        for reference in [next(filter(None, match.groups()))]
    ]


def _inline(text: str) -> tuple[str | None, list[ListItem]]:
    """Parse a list in one line: "Plan: 1) book 2) pack", or of steps joined by "first" and "then"."""
    title, _, rest = text.strip().partition(":") if ":" in text else text.strip().partition("：")
    parts = [part for part in _INLINE.split(rest) if part.strip(" ,;，；。.")]
    forms = languages.of(rest).plans if len(parts) < FEWEST else None
    if forms and forms.first_then:
        parts = [part for part in forms.first_then.split(rest) if part.strip(" ,;，；。.")]
    if len(parts) < FEWEST:
        return _goal(text), []
    return _goal(f"{title}:"), [item(part.strip(" ,;，；。.")) for part in parts]


def _block(content: str) -> tuple[Sequence[str], str]:
    """Return the first list that is numbered, has boxes or follows a title, and the line before it."""
    block: list[str] = []
    lead = ""
    for line in content.expandtabs(4).splitlines():
        if not line.strip():
            continue
        listed = _LISTED.match(line)
        if listed and (block or _NUMBERED.match(line) or item(line).status or _TITLE.search(lead)):
            block.append(line)
        elif block and not line.startswith(" "):
            break
        elif not block:
            lead = line.strip().strip("#*").strip()
    return block, lead


def _goal(line: str) -> str | None:
    goal = _TITLE.sub("", _EMPHASIS.sub(r"\1", line.strip().strip("#").strip())).strip().rstrip(":：").strip()
    return goal or None


def _indent(line: str) -> int:
    """Return the depth of a line; a bullet below a number belongs to it, even if it is not indented."""
    return 2 * (len(line) - len(line.lstrip())) + (0 if _NUMBERED.match(line) or _BOXED.match(line) else 1)


_FORMS: Final = [language.plans for language in languages.ALL if language.plans]

_ORDINALS: Final = {word: str(n) for forms in _FORMS for words in forms.ordinals for n, word in enumerate(words, 1)}

_NUMBER = rf"(?:\d{{1,3}}[.)、．]|[（(]\d{{1,3}}[)）]|{'|'.join(forms.number for forms in _FORMS)})"

_SIGN = "[✅☑✔⬜☐❌🔄⏳]"

_LISTED = re.compile(
    rf"^\s*(?:(?:[-*+•]|{_NUMBER})\s*(?:\[(?P<box>[ x~>/!-])\]\s+)?(?:(?P<sign>{_SIGN})\uFE0F?\s*)?"
    rf"|(?P<only>{_SIGN})\uFE0F?\s*|\[(?P<bare>[ x~>/!-])\]\s+)(?P<said>\S.*)$",
    re.IGNORECASE,
)

_NUMBERED = re.compile(rf"^\s*(?:\*\*)?{_NUMBER}", re.IGNORECASE)

_BOXED = re.compile(rf"^\s*(?:[-*+•]\s*\[[ xX~>/!-]\]|{_SIGN})")

_BOXES: Final = {
    " ": PENDING, "x": "done", "~": "in_progress", ">": "in_progress", "/": "in_progress", "-": "skipped",
    "!": "failed", "✅": "done", "☑": "done", "✔": "done", "⬜": PENDING, "☐": PENDING, "❌": "failed",
    "🔄": "in_progress", "⏳": "in_progress",
}  # fmt: skip

_EMPHASIS = re.compile(r"\*\*([^*]+)\*\*")

_HEADING = re.compile(r"^(#{1,6})\s+(\S.*)$")

_INLINE = re.compile(r"(?:^|(?<=[\s,;，；。]))(?:\d{1,2}[.)、）]|[（(]\d{1,2}[)）]|[①②③④⑤⑥⑦⑧⑨])\s*")

_TITLE = re.compile(rf"^[#*\s]*(?:{'|'.join(forms.title for forms in _FORMS)})[*\s]*[:：][*\s]*", re.IGNORECASE)

_LEAD = either(forms.lead for forms in _FORMS)

_ASKS = either(forms.asks for forms in _FORMS)

_ONE_LINE = re.compile(
    rf"(?:^|\n)[#*\t ]*(?:{'|'.join(forms.one_line for forms in _FORMS)})[*\s]*[:：][^\n]+", re.IGNORECASE
)

_REPORTS: Final = [
    (status, pattern) for forms in _FORMS for status, several in forms.reports.items() for pattern in several
]

_ASK_ENDS: Final = ("?", "？", *(end for forms in _FORMS for end in forms.question_ends))

_SUPPOSED = either(forms.supposed for forms in _FORMS)
"""Words that keep a sentence from reporting a step as done."""

_DENIED = either(forms.denied for forms in _FORMS)
"""Likewise, for a part of a sentence between commas."""

_CLAUSE = re.compile(rf"[,;，；]|{'|'.join(forms.clause.pattern for forms in _FORMS)}")
