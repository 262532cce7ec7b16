"""What Chinese sentences leave out because the talk has just named it: a feast, a place, somebody politely called."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from core.extraction.chinese import patterns
from core.extraction.chinese.durable import FREQUENCY
from core.extraction.chinese.people import KIN_WORDS, People, Sort, Subject, kinship
from core.extraction.chinese.tables.fragments import DAY

_FEAST = re.compile(r"生日")
_ONLY_A_DAY = re.compile(
    rf"^(?P<who>(?:[^，\d是一二三四五六七八九十]{{1,4}})?)(?:自己)?的?(?:就?是|在)?(?P<day>{DAY})(?:的)?$"
)
_NO_OWNER = re.compile(r"^(?:[今明后昨前去]|还|就|都|也|又|从|到|在|定|改|应该|大概|阳历|农历|阴历)")
_WENT = re.compile(
    rf"(?:去|到|飞|回)(?:过|了)?(?P<place>{patterns.CITIES_ONLY})(?!人|话|菜)|在(?P<held>{patterns.CITIES_ONLY})(?:办|举行|集合|见面)|(?P<planned>{patterns.CITIES_ONLY})(?:定|去)"
)
_GOES = re.compile(r"(?<![来出过进上下回])去(?P<end>了|过了?|不了)?$")
NEAR = 2
"""Messages after which nobody knows any more where “去” goes."""
_POLITE = {
    "叔叔": "爸爸", "伯父": "爸爸", "阿姨": "妈妈", "伯母": "妈妈", "嫂子": "老婆", "弟妹": "老婆", "姐夫": "老公",
    "侄子": "儿子", "侄女": "女儿",
}  # fmt: skip
"""How one calls the relatives of whom one speaks with."""
_CALLED = re.compile(rf"^(?:那|那么)?(?P<who>{'|'.join(_POLITE)})(?!{KIN_WORDS})")


@dataclass(slots=True)
class Carried:
    """What goes on from message to message of a speaker. `subject`: of whom the sentence before spoke."""

    subject: Subject = field(default_factory=lambda: Subject(Sort.SPEAKER))
    feast: str = ""
    place: str = ""
    turn: int = 0
    place_at: int = 0

    def take_place(self, hidden: str) -> None:
        """Note the place to which somebody goes, by a sentence."""
        if places := list(_WENT.finditer(hidden)):
            self.place = next(name for name in places[-1].groups() if name)
            self.place_at = self.turn

    def take_feast(self, hidden: str) -> None:
        """Note the feast that a sentence names; it is spoken of until another matter comes up."""
        if feast := _FEAST.search(hidden):
            self.feast = feast.group()
        elif not re.search(DAY, hidden):
            self.feast = ""

    def filled(self, text: str) -> str:
        """A clause with the feast whose day it gives, or the place to which somebody goes."""
        if (
            self.feast
            and (day := _ONLY_A_DAY.match(text))
            and not _NO_OWNER.match(day["who"])
            and "日" not in day["who"]
        ):
            who = "我" if day["who"] in {"", "我"} else day["who"]
            return f"{who}的{self.feast}是{day['day']}"
        near = self.place and self.turn - self.place_at <= NEAR and self.place not in text
        if near and len(text) > 2 and (goes := _GOES.search(text)) and not re.search(FREQUENCY, text):
            return f"{text[: goes.start()]}去{self.place}{goes['end'] or ''}"
        return text


def meant(asked: str | None, known: People) -> str | None:
    """A question with the speaker's relatives as the speaker calls them: 叔叔 is the father of whom they told."""
    found = _CALLED.match(asked) if asked else None
    if asked is None or found is None:
        return asked
    kin = _POLITE[found["who"]]
    told = known.last.get(Sort.PERSON, "")
    spoken_of = told == f"{known.speaker}的{kin}" or (bool(told) and known.kin.get(kinship(kin)) == told)
    return f"我{kin}{asked[found.end() :]}" if spoken_of else asked
