"""How a conversation went, from its words alone: what it was about, how it ended, and that in sentences. Pure.

Without a model, in English and Chinese; `bounded` says whether a model's words keep to what was said.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from core.text import STOPWORDS, has_han, terms
from core.types import Message

WORDS: Final = 5
"""Words that say what a conversation was about."""

SHORTEST: Final = 3
"""Letters of a word that says what it was about, in scripts with spaces."""

ACTIONS: Final = 5
"""Actions that a retelling names; `structured` holds more."""

QUOTED: Final = 160
"""Characters of a quote within a retelling."""

LATE: Final = 4
"""Messages at the end of a conversation that say how it ended."""

LONGEST: Final = 1_200
"""Characters of a model's retelling."""

SUCCESS: Final[Mapping[str, bool]] = {"succeeded": True, "resolved": True, "failed": False}
"""Outcomes that say whether it went well; `agreed`, `open` and `ended` do not."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How it ended, by whose words, or by an event that said so; `reward` where one was given."""

    outcome: str
    message: Message | None = None
    reward: float | None = None

    @property
    def success(self) -> bool | None:
        return SUCCESS.get(self.outcome)


@dataclass(frozen=True, slots=True)
class Account:
    """What there is to tell of one participant's conversation."""

    name: str
    others: Sequence[str]
    topics: Sequence[str]
    started_at: datetime
    ended_at: datetime
    messages: int
    opening: str | None
    actions: Sequence[str]
    ending: Ending


def topics(own: Sequence[str], others: Sequence[str], names: Iterable[str] = ()) -> list[str]:
    """The words that say what was talked about, in the form most used; one's own words count twice, `names` do not."""
    said: defaultdict[str, Counter[str]] = defaultdict(Counter)
    spread: Counter[str] = Counter()
    left_out = {stem for name in names for stem in terms(name)}
    for weight, message in [*((2, one) for one in own), *((1, one) for one in others)]:
        found = [(stem, word) for word, stem in _words(message) if stem not in left_out]
        for stem, word in found:
            said[stem][word] += weight
        spread.update(dict.fromkeys({stem for stem, _ in found}, weight))
    order = {stem: place for place, stem in enumerate(said)}
    ranked = sorted(said, key=lambda stem: (-spread[stem] - _is_name(said[stem]), -said[stem].total(), order[stem]))
    return _apart([said[stem].most_common(1)[0][0] for stem in ranked])


def ending(people: Sequence[Message]) -> Ending:
    """How it ended by what people said at its end; the last word that says so holds."""
    for message in reversed(people[-LATE:]):
        for outcome, pattern in _ENDINGS:
            if pattern.search(message.content):
                return Ending(outcome, message)
    if people and _ASKS.search(people[-1].content):
        return Ending("open", people[-1])
    return Ending("ended")


def retold(account: Account) -> str:
    """The conversation in sentences, in the language of what was said."""
    spoken = " ".join([account.opening or "", *account.actions, *account.topics])
    parts = _chinese(account) if _is_chinese(spoken) else _english(account)
    return "".join(parts).strip()


def bounded(narrative: str, name: str, sources: Sequence[str]) -> bool:
    """Whether a retelling keeps to its sources: it names its person, and no number, name or address from elsewhere."""
    if name not in narrative or len(narrative) > LONGEST:
        return False
    said = "\n".join([name, *sources]).casefold()
    allowed = set(_TOKEN.findall(said)) | STOPWORDS | _LEADING
    marks = {mark.casefold() for mark in _MARKS.findall(narrative)}
    addresses = {mark.casefold() for mark in _ADDRESS.findall(narrative)}
    return marks <= allowed and all(address in said for address in addresses)


def clipped(said: str, most: int = QUOTED) -> str:
    """A text on one line, cut at a word where it is longer."""
    line = " ".join(said.split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut[most // 2 :] else cut}…"


def _english(one: Account) -> list[str]:
    about = f" about {_listed(one.topics)}" if one.topics else ""
    others = _listed([_ASSISTANT.get(other, (other, other))[0] for other in one.others])
    talked = f"talked with {others}" if others else "spoke"
    span = f"{one.started_at:%H:%M}" + ("" if _is_brief(one) else f"–{one.ended_at:%H:%M}")
    parts = [f"{one.name} {talked}{about} on {one.started_at.day} {one.started_at:%B %Y}, {span} UTC"]
    parts.append(f" ({one.messages} messages).")
    if one.opening:
        parts.append(f" {one.name} began: “{clipped(one.opening)}”")
    parts += [f" {clipped(action)}" for action in one.actions[:ACTIONS]]
    words = _ENDED_EN[one.ending.outcome]
    quote = f": “{clipped(one.ending.message.content)}”" if one.ending.message else "."
    parts += [f" {words}{quote}"] if words else []
    return [*parts, f" Reward: {one.ending.reward:g}." if one.ending.reward is not None else ""]


def _chinese(one: Account) -> list[str]:
    about = f"谈了{'、'.join(one.topics)}" if one.topics else "谈了话"
    others = "、".join(_ASSISTANT.get(other, (other, other))[1] for other in one.others)
    span = f"{one.started_at:%H:%M}" + ("" if _is_brief(one) else f"–{one.ended_at:%H:%M}")
    day = f"{one.started_at.year}年{one.started_at.month}月{one.started_at.day}日"
    parts = [f"{one.name}于{day}{span}（UTC）{f'与{others}' if others else ''}{about}（共{one.messages}条消息）。"]
    if one.opening:
        parts.append(f"{one.name}先说：“{clipped(one.opening)}”。")
    parts += [clipped(action) for action in one.actions[:ACTIONS]]
    words = _ENDED_ZH[one.ending.outcome]
    quote = f"：“{clipped(one.ending.message.content)}”。" if one.ending.message else "。"
    parts += [f"{words}{quote}"] if words else []
    return [*parts, f"奖励：{one.ending.reward:g}。" if one.ending.reward is not None else ""]


def _is_brief(one: Account) -> bool:
    """Whether its beginning and end are the same minute, as they are printed."""
    return one.ended_at - one.started_at < _MINUTE and one.ended_at.minute == one.started_at.minute


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _is_chinese(said: str) -> bool:
    return has_han(said) and len(_HAN.findall(said)) >= len(_LATIN.findall(said))


def _words(message: str) -> list[tuple[str, str]]:
    """Each word of a message that may say what it is about, with its stem."""
    found = []
    for run in _RUN.findall(message):
        if has_han(run):
            found += [(term, term) for term in terms(run) if len(term) > 1 and term not in _EVERYDAY]
        elif len(run) >= SHORTEST and run.casefold() not in _EVERYDAY:
            found += [(run if run[0].isupper() else run.casefold(), stem) for stem in terms(run)[:1]]
    return found


def _apart(words: Sequence[str]) -> list[str]:
    """The first words of which none is part of another, as words of Chinese are that are cut in two ways."""
    found: list[str] = []
    for word in words:
        if len(found) < WORDS and not any(word in other or other in word for other in found):
            found.append(word)
    return found


def _is_name(forms: Counter[str]) -> int:
    """One more for what is written as names are, more often than not."""
    return int(2 * sum(n for form, n in forms.items() if form[0].isupper()) > forms.total())


_MINUTE = datetime(2000, 1, 1, 0, 1) - datetime(2000, 1, 1)  # noqa: DTZ001 - a length of time has no zone

_IDEOGRAPHS = "\u2e80-\u2fdf\u3005\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

_LETTER = rf"(?:(?![{_IDEOGRAPHS}])[^\W_])"

_RUN = re.compile(rf"[{_IDEOGRAPHS}]+|(?!\d){_LETTER}+(?:['’-]{_LETTER}+)*")

_HAN = re.compile(f"[{_IDEOGRAPHS}]")

_LATIN = re.compile(r"[A-Za-z]{2,}")

_ASKS = re.compile(r"[?？]\s*$")

_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+")

_MARKS = re.compile(r"\d+(?:[.,:/-]\d+)*|(?<![^\W\d_])[A-Z][^\W\d_]*")
"""What must not come from nowhere: numbers, and words that are written as names are."""

_ADDRESS = re.compile(r"https?://\S+|[\w.+-]+@[\w.-]+")

_LEADING = frozenset(
    "later finally afterwards together during eventually first next initially meanwhile after before while since once "
    "although because".split()
)
"""Words that begin sentences, and are capital there for that alone."""

_ENDINGS: Final = (
    (
        "failed",
        re.compile(
            r"\b(?:fail(?:s|ed|ing)?|(?:did|does|do|has|is|are|was|were|could|can|would)(?: no|n['’]?)t(?: \w+){0,2} "
            r"(?:work|help|fixe?d?|solved?|possible)\w*|still (?:broken|the same|an? error|not)|no luck|gave up|"
            r"giv(?:e|ing) up|out of options)\b|失败|没(?:有)?(?:成功|解决|用|修好)|还是不(?:行|能|对)|不管用|放弃",
            re.IGNORECASE,
        ),
    ),
    (
        "resolved",
        re.compile(
            r"\b(?:thank(?:s| you)|thx|solved|resolved|fixed|works? now|it work(?:s|ed)|that (?:did|does) it|"
            r"that helps?|all set|problem gone|perfect)\b|谢谢|多谢|感谢|解决了|搞定|成功了|可以了|没问题了|修好了",
            re.IGNORECASE,
        ),
    ),
    (
        "agreed",
        re.compile(
            r"\b(?:agreed?|deal|sounds good|works for me|let['’]s do (?:it|that)|see you|it['’]?s settled|"
            r"count me in)\b|同意|说定|就这么定|一言为定|没意见|好的|行[，。！]|到时(?:候)?见",
            re.IGNORECASE,
        ),
    ),
)
"""What people say at the end, and what that says of the end; of two in one message the first holds."""

_ENDED_EN: Final = {
    "succeeded": "It succeeded",
    "failed": "It failed",
    "resolved": "It was resolved",
    "agreed": "It ended in agreement",
    "open": "It was left open",
    "ended": "",
}

_ENDED_ZH: Final = {
    "succeeded": "事情成功了",
    "failed": "没有成功",
    "resolved": "问题得到了解决",
    "agreed": "最后达成一致",
    "open": "最后没有定下来",
    "ended": "",
}

ASSISTANT: Final = "assistant"
"""How the assistant stands among those who took part."""

_ASSISTANT: Final = {ASSISTANT: ("the assistant", "助手")}

_EVERYDAY: Final = frozenset(
    """hello hey hiya thanks thank please okay yeah yep nope sure great good nice fine cool awesome perfect like liked
    know knew known think thought want wanted need needed needs get gets got getting going goes gone went come came make
    makes made making see saw seen say says said tell told let lets really actually maybe perhaps well much many more
    most some any every each all thing things stuff something anything nothing everything time times day days today
    tomorrow yesterday week weeks month year years help helped helps give gave given take took taken look looks looking
    find found sorry bye welcome glad happy love lot lots bit new old now then back still even only ever never always
    one two three first last next again already soon later here there because though while after before over under
    around off out can't cannot i'm i'll i've i'd it's that's don't didn't you're we're we'll let's what's use used
    using try tried trying work works worked working right wrong yes put keep kept feel felt hope hear heard talk
    ask asked name idea way ways people guy guys man agreed agree deal sounds
    谢谢 好的 可以 没有 什么 怎么 一下 一个 一些 这个 那个 这样 那样 现在 今天 明天 昨天 知道 觉得 想要 需要 帮忙
    问题 时候 还是 不是 就是 但是 因为 所以 如果 已经 然后 真的 可能 应该 怎样 多少 为什么 你好 再见 不行 不能 不会 有点
    最近 解决 帮我 要去 请问 感谢 多谢""".split()
)
"""Words that are said in every conversation, and so do not say what one was about."""
