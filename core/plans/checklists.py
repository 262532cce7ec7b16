"""Plans and progress found in free text. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.errors import Never
from core.language import sentences
from core.language.grounding import clip
from core.language.zh.recognition import is_chinese

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
        if plain.endswith(("?", "？", "吗", "吗。")) or _SUPPOSED.search(plain):
            continue
        for clause in _CLAUSE.split(plain):
            reports += _reported_status(clause)
    return reports


def _reported_status(clause: str) -> list[tuple[str, str]]:
    if _DENIED.search(clause):
        return []
    return [
        (_ORDINALS.get(reference.casefold(), reference), status)
        for status, patterns in _SAID
        for pattern in patterns
        for match in pattern.finditer(clause.strip())
        for reference in [next(filter(None, match.groups()))]
    ]


def _inline(text: str) -> tuple[str | None, list[ListItem]]:
    """Parse a list in one line: "Plan: 1) book 2) pack", 计划：先订票，再订酒店，最后办签证."""
    title, _, rest = text.strip().partition(":") if ":" in text else text.strip().partition("：")
    parts = [part for part in _INLINE.split(rest) if part.strip(" ,;，；。.")]
    if len(parts) < FEWEST and is_chinese(rest):
        parts = [part for part in _FIRST_THEN.split(rest) if part.strip(" ,;，；。.")]
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


_ORDINALS: Final = {
    word: str(n)
    for words in (
        "one two three four five six seven eight nine ten",
        "first second third fourth fifth sixth seventh eighth ninth tenth",
        "一 二 三 四 五 六 七 八 九 十 十一 十二",
    )
    for n, word in enumerate(words.split(), 1)
}

_NUMBER = (
    r"(?:\d{1,3}[.)、．]|[（(]\d{1,3}[)）]|(?:step|步骤)\s*\d{1,3}\s*[:.、：)-]"
    r"|第[一二三四五六七八九十\d]{1,3}步\s*[:：、，,])"
)

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

_TITLE = re.compile(
    r"^[#*\s]*(?:(?:here(?:'s| is) )?(?:the |my |our |your |an? |updated |new |revised |current |action )*"
    r"(?:plan|to-?do(?: list)?|checklist|roadmap|next steps)(?: for [^:：]{1,80})?|goal|objective|"
    r"(?:行动|工作|新|当前|我的|我们的)?计划|待办(?:事项|清单)?|步骤|目标|方案)[*\s]*[:：][*\s]*",
    re.IGNORECASE,
)

_LEAD = re.compile(
    r"\b(?:plan|roadmap|to-?do|next steps|I(?:'ll| will) (?:do|take|proceed))\b|计划|方案|待办", re.IGNORECASE
)

_ASKS = re.compile(
    r"\b(?:plan|roadmap|to-?do|checklist|step[- ]by[- ]step|break (?:it|this|that) down|"
    r"what (?:are|would be) (?:the|your) steps|how (?:will|would|do|should) (?:you|we) "
    r"(?:proceed|approach|go about|start))\b|计划|规划|步骤|方案|怎么做|安排一下",
    re.IGNORECASE,
)

_ONE_LINE = re.compile(
    r"(?:^|\n)[#*\t ]*(?:(?:the |my |our |new |updated )?plan|to-?do|(?:新|我的|我们的|工作)?计划|"
    r"步骤|待办)[*\s]*[:：][^\n]+",
    re.IGNORECASE,
)

_INLINE = re.compile(r"(?:^|(?<=[\s,;，；。]))(?:\d{1,2}[.)、）]|[（(]\d{1,2}[)）]|[①②③④⑤⑥⑦⑧⑨])\s*")

_FIRST_THEN = re.compile(r"(?:^|[，,；;、]\s*)(?:先|首先|再|然后|接着|之后|最后|其次)")

_N = r"(\d{1,3}(?:\.\d{1,3})*|one|two|three|four|five|six|seven|eight|nine|ten)"

_N_ZH = r"([一二三四五六七八九]|十[一二]?|\d{1,3})"

_ORDINAL = r"(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)"

_IS = r"(?:'s| is| was| has been| are)?(?: now| already| all)?"


def _of(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_SAID: Final = (
    ("done", _of(
        rf"\bsteps? #?{_N}{_IS} (?:done|completed?|finished)\b",
            rf"\bthe {_ORDINAL} step{_IS} (?:done|completed?|finished)\b",
        rf"\b(?:I|we)(?:'ve| have)?(?: just| now| already)? (?:finished|completed|done|did) step #?{_N}\b",
        rf"^(?:finished|completed|done with) step #?{_N}\b",
        rf"(?:第{_N_ZH}步|步骤\s*{_N_ZH})(?:已经|也|都|刚刚?)?(?:完成|做完|搞定|弄好|做好|好)了?(?!没|再|后)",
        rf"(?:^|[，。])(?:我们?|已经?)*(?:完成|做完|搞定)了?第{_N_ZH}步",
    )),
    ("failed", _of(rf"\bstep #?{_N}(?: has| have)? failed\b", rf"第{_N_ZH}步(?:执行)?失败")),
    ("skipped", _of(
        rf"\bskip(?:ped|ping)? step #?{_N}\b|\bstep #?{_N}{_IS} skipped\b",
        rf"跳过第{_N_ZH}步|第{_N_ZH}步(?:就|先)?跳过",
    )),
    ("in_progress", _of(
        rf"\b(?:I'm|we're|I am|we are|now|currently)(?: now)? (?:on|working on|starting|at) step #?{_N}\b",
        rf"\b(?:started|starting|moving on to|on to|let's start|let's do) step #?{_N}\b|\bstep #?{_N} is in progress\b",
        rf"(?:开始|正在|现在)(?:做|进行|执行|处理)?第{_N_ZH}步",
    )),
)  # fmt: skip

_SUPPOSED = re.compile(
    r"\b(?:once|when|after|until|before|if|unless|says?|said|whether|maybe|perhaps|hope|suppose)\b|如果|等(?!等)|之后|"
    r"以后|要是|一旦|之前|据说|[他她]说|也许",
    re.IGNORECASE,
)
"""Words that keep a sentence from reporting a step as done."""

_DENIED = re.compile(
    r"\b(?:not|never|almost|nearly|should|must|will be|would|could|might|may|can|cannot|have to|need to)\b|n't\b|没|未|"
    r"不|应该|必须|可能|快要|差不多",
    re.IGNORECASE,
)
"""Likewise, for a part of a sentence between commas."""

_CLAUSE = re.compile(r"[,;，；]|\bbut\b|但是?|\band\b")
