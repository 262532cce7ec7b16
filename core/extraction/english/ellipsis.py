"""What a short statement leaves out, put back from what was said before: "I've done 22", "It was £38", "from there".

Where nothing before completes it, a statement that means nothing alone is dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from core.extraction.english.tables.fragments import KIN, PETS

NEAR = 4
"""Messages back from which something may be completed."""

_NUMBER = (
    r"(?:\d[\d.,]*\d|\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|"
    r"seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|a dozen)"
)
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|(?:Mon|Tues|Wednes|"
    r"Thurs|Fri|Satur|Sun)days?)"
)
_WHO = r"(?:I|[Ww]e|[Hh]e|[Ss]he|[A-Z][\w'’-]+|[Mm]y [a-z]+)"

NAMED = re.compile(r"^(?P<whose>[Hh]is|[Hh]er) name is (?P<name>[A-Z][\w'’-]+)[.!]?$")
_SOMEONE = re.compile(
    r"\b(?:(?P<alone>someone(?: new)?|somebody(?: new)?)|(?:an?|another|our|the|my) (?:(?:new|young|old|nice|lovely|"
    r"little) )*"
    rf"(?:{KIN}|{PETS}|guy|girl|woman|man|lad|bloke|boy|tutor|trainer|nanny|childminder|babysitter|cleaner|lodger|"
    r"baby))\b(?! (?:called|named)| [A-Z])"
)
_THERE = re.compile(
    r"^(?P<before>.*\b(?P<verb>lives?|lived|works?|worked|from|born|been|moved|stay(?:s|ed)?|job|grew up|studie[sd]|"
    r"trained|met|"
    r"started|went|goes|teach(?:es)?|diploma|degree|back)) there\b(?P<after>.*)$"
)
_PLACE = re.compile(
    rf"\b(?P<prep>in|at|to|from|for|near) (?P<place>(?:the )?(?!{_MONTH}\b)(?-i:[A-Z])[\w'’.-]*\w(?: "
    rf"(?!{_MONTH}\b)[A-Z][\w'’-]+)*)"
)

_BARE_NUMBER = re.compile(
    rf"^(?P<before>(?:[^,;]{{1,25}} )?{_WHO} (?:(?:have|has|only|now|already|just|still) )*(?:done|finished|read|"
    r"want|wants|got|need|needs|have|has|scored|"
    rf"run|ran|saved|managed|lost|sold|written|completed)) (?P<number>{_NUMBER})(?P<after>(?: (?:so far|already|now|"
    r"of them|left|this \w+))?[.!]?)$"
)
_COUNTED = re.compile(
    rf"\b{_NUMBER} (?P<noun>(?!of\b|to\b|in\b|or\b|and\b|days?\b|weeks?\b|years?\b|times\b)[a-z]{{3,}}(?: of "
    r"(?!the\b|my\b)[\w-]+)?)\b"
)

_OBJECT_PRONOUN = re.compile(
    rf"^(?P<before>{_WHO} (?:[a-z]+ly |also |still |just |do not |does not |did not |cannot |never |would |no longer )*"
    r"(?:stand|hate|hates|love|loves|like|likes|want|wants|eat|eats|drink|drinks|need|needs|have|has|play|plays|"
    r"watch|own|enjoy|mind)) "
    r"(?P<what>them|it|one|that|those|any)(?P<after>[.!]?)$"
)
_HAS_OBJECT = re.compile(
    rf"^{_WHO}(?: [A-Z]\w+)? (?:[a-z]+ly |also |still |just |do not |does not |cannot |never )*"
    r"(?:loves?|likes?|hates?|wants?|prefers?|drinks?|eats?|plays?|watch(?:es)?|stand|has|have|needs?|bought|got) "
    r"(?P<what>(?:(?:an?|the|my|his|her|some) )?(?!it\b|them\b|to\b|that\b|this\b)[A-Za-z][\w'’-]*(?: "
    r"[a-z][\w'’-]*){0,2}?)"
    r"(?=[.!,]?$| (?:and|but|because|in|at|on|for|with|every|now)\b)"
)
_IT_IS = re.compile(
    r"^[Ii]t (?P<verb>is|was|has|has got|will be|costs?|starts?|opens?|takes?|runs?|came to|comes) (?P<rest>.+)$"
)
_TELLING = re.compile(
    rf"\d|\b{_NUMBER} [a-z]+|(?<= )[A-Z][a-z]|\b(?:first|second|third|fourth|fifth|top|ground) floor\b|\bcalled\b|"
    r"\b(?:remote|hybrid|full[- ]time|part[- ]time|freelance|permanent)\b"
)
_IT_BESIDE = re.compile(
    r"^(?:[\d:.]+ ?(?:am|pm|o'clock)?|(?:only|nearly|almost|about|already|just|my|his|her|because|like|not|for|too|"
    r"so|been|too|raining|"
    r"snowing|-?\d+ ?degrees|Friday|Monday|Saturday|Sunday|Tuesday|Wednesday|Thursday|Christmas|Easter|January|"
    r"February|March|April|May|June|"
    r"July|August|September|October|November|December|me|you|us|the (?:only|first|last|best|worst))\b)(?!:?\d* "
    r"?(?:each|a month))"
)
_PERSON = re.compile(rf"\b(?:{KIN}|guy|woman|man|girl|boy|lady|bloke|chap|lad|teacher|tutor|people|nurse|vet|leader)$")
_FOR_IT = re.compile(r"^(?P<said>.{6,}\d[^,;]*?) (?:for|with|of|about|on|towards) (?:it|that|them)(?P<end>[.!]?)$")
_FOR_ME = re.compile(r"\b(?:for|to) (?:me|us)\b|\b(?:because|when|since)\b")
_INTRODUCES_IT = re.compile(
    r"\b(?:bought|got|booked|have|has|found|adopted|entered|joined|applied for|accepted on|moved into|rented|rents?|"
    r"owns?|"
    r"reading|ordered|signed up for|drives?|rides?|landed|started|took|takes|taking|made|opened|planned|chosen|"
    r"picked|start|starts|looking at|viewing|with) "
    r"(?P<thing>(?:an?|the|my|our) (?!lot\b|bit\b|few\b|couple\b|good\b|cold\b|feeling\b|time\b|problem\b|look\b|"
    r"break\b|day\b)"
    r"[\w'’-]+(?: (?!in\b|at\b|on\b|from\b|for\b|with\b|to\b|called\b|named\b|last\b|this\b|next\b|yesterday\b|"
    r"that\b|which\b|and\b|"
    r"because\b|of\b|now\b|here\b|there\b|by\b|as\b|too\b)[\w'’-]+){0,3})"
)
_THING_IS = re.compile(
    rf"^(?P<thing>(?:[Mm]y|[Oo]ur|[Tt]he) (?:[a-z][\w'-]* ){{0,2}}(?!(?:{KIN}|physio|vet|teacher)\b)[a-z][\w'-]*) "
    r"(?:is|was|has|costs?|are)\b"
)
_ASKED_THING = re.compile(
    r"\b(?:the|your) (?P<thing>(?:new )?(?!weekend|day|week|mind|plan|weather)[a-z]+)(?: like)?\s*\?$"
)

_OBJECTLESS = re.compile(
    rf"^(?P<before>{_WHO} (?:(?:have|has|will|am|is|only|just|finally|already) )*(?P<verb>started|start|starts|"
    r"starting|began|begin|begins|finished|"
    r"finish|passed|failed|learned|learning))(?P<after>(?: (?:in|on|last|this|next|with|when|at|about|back|early|two|"
    r"three|a year|a few)\b.*)?[.!]?)$"
)
_GOING_ON = re.compile(
    r"^(?:I|[Ww]e) am (?:also |still |now |currently )?(?P<doing>(?:learning|studying|taking|doing|training|playing|"
    r"building|writing|teaching) [^,.;]{2,30})"
)
_COURSE = re.compile(
    r"\b(?P<what>(?:my|the|an?) (?:[\w'’-]+ ){0,4}?(?:exam|test|course|class|certificate|job|role|position|"
    r"training|diploma|degree|midterm|"
    r"programme|program|lessons)\b(?: at (?:the )?[A-Z][\w'’]+(?: [A-Z][\w'’]+)*)?|(?:Level|Grade) \d+)"
)
_DOING_IT = re.compile(r"^(?P<before>I have) been (?:doing|at) (?:it|this|that) (?P<after>(?:for|since) .+)$")
_TRADE = re.compile(r"^I (?:work as|am) (?P<what>an? [a-z]+(?: [a-z]+){0,2})\b")
_STOPPED = re.compile(
    r"^(?P<before>I (?:have )?(?:stopped|quit))(?P<after> (?:in|on|last|this|when|about|two|three|at)\b.*)$"
)
_NO_LONGER = re.compile(
    r"^I (?:no longer|do not) (?P<verb>drink|smoke|vape|gamble|drive|dance|bake|cook|teach|paint|climb|work|eat)\b"
)
_NEEDS_OBJECT = re.compile(
    rf"^{_WHO} (?:(?:have|has|had|never|just|almost|nearly|finally|also|even|will|did not|do not|does not) )*"
    r"(?:learn(?:ed|t)?|started|finished|tried|forgot|asked|survived|lasted|meant|mean|wanted|needs?|needed|did|does|"
    r"knows?|knew|remember|told|"
    r"said|noticed|asking|know|think|thought|agree|agreed|see|passed|failed|won|lost|guess|try|doing|lied)"
    r"(?:,.*|(?: (?:it|that|this|so|one|them|yet|too|again|well|better|now))*[.!]?)$"
)
_ELLIPSIS = re.compile(
    rf"^(?P<who>{_WHO}) (?P<aux>do|does|did|have|has|am|is|was|will|can|cannot|could|would)(?P<not> not| never)?"
    r"(?P<after>(?:,? (?:any ?more|anymore|either|now|too|though|yet|still|for the record|actually|sadly|at all|one "
    r"bit))*)[.!]?$"
)
_USED_TO = re.compile(r"^(?:I|[Ww]e) used to (?P<what>[^,;.]+)")
_THEY_DO = re.compile(
    r"^(?:[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?|[Mm]y [a-z]+(?: [A-Z]\w+)?) (?:also |really |still )?(?P<verb>loves|likes|"
    r"hates|wants|drinks|eats|plays|smokes|drives|believes|speaks|swims|runs|watches) (?P<what>[^,;.]+)"
)
_HEARSAY = re.compile(
    r"\b(?:or so (?:the |my )?\w+(?: \w+)? (?:says?|said|claims?|tells?)|(?:[Rr]umou?r|[Ww]ord) has it|supposedly|"
    r"allegedly|if you believe|"
    r"so (?:they|people) say|according to (?!my doctor|the doctor|my GP|the vet))\b|"
    r"^(?:[A-Z][\w'’-]+|[Mm]y [a-z' -]{2,25}?|[Hh]e|[Ss]he|[Tt]hey|[Ee]veryone|[Ss]omeone|[Ss]omebody|[Ss]ome \w+|"
    r"[Tt]he [a-z]+)(?: [A-Z][\w'’-]+)? "
    r"(?:also |still |always |keeps |once )?(?:swears?|swore|claims?|claimed|reckons?|insists?|insisted|claiming|"
    r"saying|jokes?|joked|"
    r"is convinced|are convinced|was convinced|heard|bets|predicts)\b(?! on\b)"
)
"""What others say is so, which the speaker does not say."""


@dataclass(slots=True)
class Said:
    """What was stated last, each with the number of its message, and what the speaker was asked right before."""

    told: list[tuple[int, str]] = field(default_factory=list)
    asked: str = ""

    def tell(self, statement: str, at: int) -> None:
        """Remember a statement of message number `at`."""
        self.told = [*self.told[-7:], (at, statement)]

    def near(self, at: int) -> list[str]:
        """The statements that are near, the latest first."""
        return [statement for place, statement in reversed(self.told) if at - place <= NEAR]


def is_hearsay(statement: str) -> bool:
    """Whether it gives what somebody else believes."""
    return bool(_HEARSAY.search(statement))


def completed(statement: str, said: Said, at: int) -> str | None:
    """`statement` with what it leaves out; itself where nothing is missing; None: it means nothing alone."""
    statement = _FOR_IT.sub(r"\g<said>\g<end>", statement)
    near = said.near(at)
    course = _COURSE.search(said.asked)
    near = [said.asked, *near] if course and _OBJECTLESS.match(statement) else near
    for complete in (
        _with_name,
        _with_trade,
        _with_end,
        _with_place,
        _with_noun,
        _with_object,
        _with_course,
        _with_verb,
    ):
        made = complete(statement, near)
        if made != statement:
            return made
    made = _with_thing(statement, near, said.asked)
    return None if made == statement and _NEEDS_OBJECT.match(statement) else made


def _first(pattern: re.Pattern[str], near: list[str]) -> re.Match[str] | None:
    return next((found for one in near if (found := pattern.search(one))), None)


def _with_name(statement: str, near: list[str]) -> str | None:
    named = NAMED.match(statement)
    for before in near[:2] if named else ():
        someone = _SOMEONE.search(before)
        if someone and named:
            name = named["name"] if someone["alone"] else f"{someone.group()} called {named['name']}"
            return f"{before[: someone.start()]}{name}{before[someone.end() :]}"
    return statement


def _with_trade(statement: str, near: list[str]) -> str | None:
    doing, trade = _DOING_IT.match(statement), _TRADE.match(near[0]) if near else None
    return f"{doing['before']} been {trade['what']} {doing['after']}" if doing and trade else statement


def _with_end(statement: str, near: list[str]) -> str | None:
    stopped, ended = _STOPPED.match(statement), _NO_LONGER.match(near[0]) if near else None
    if not stopped or not ended:
        return statement
    return f"{stopped['before']} {ended['verb'].removesuffix('e')}ing{stopped['after']}"


def _with_place(statement: str, near: list[str]) -> str | None:
    there = _THERE.match(statement)
    place = there and not _PLACE.search(there["before"]) and _last_place(near)
    if not there or not place:
        return statement
    prep = "" if there["verb"] == "from" else " at" if place["prep"] in {"at", "for"} else " in"
    prep = " to" if there["verb"] in {"moved", "went", "goes", "back"} and prep else prep
    return f"{there['before']}{prep} {place['place']}{there['after']}"


def _last_place(near: list[str]) -> re.Match[str] | None:
    for one in near:
        if found := list(_PLACE.finditer(one)):
            return found[0]
    return None


def _with_noun(statement: str, near: list[str]) -> str | None:
    bare = _BARE_NUMBER.match(statement)
    if bare is None:
        return statement
    counted = _first(_COUNTED, near)
    return f"{bare['before']} {bare['number']} {counted['noun']}{bare['after']}" if counted else None


def _with_object(statement: str, near: list[str]) -> str | None:
    pronoun = _OBJECT_PRONOUN.match(statement)
    if pronoun is None:
        return statement
    named = _HAS_OBJECT.match(near[0]) if near else None
    if named is None:
        return None
    what = re.sub(r"^(?:the|his|her) ", "the ", named["what"])
    return f"{pronoun['before']} {what}{pronoun['after']}"


def _with_course(statement: str, near: list[str]) -> str | None:
    bare = _OBJECTLESS.match(statement)
    if bare is None:
        return statement
    going_on = _GOING_ON.match(near[0]) if near else None
    if going_on and bare["verb"] in {"started", "began"}:
        return f"{bare['before']} {going_on['doing']}{bare['after']}"
    course = _first(_COURSE, near[:3])
    if course is None:
        return statement
    return f"{bare['before']} {re.sub(r'^(?:an?) ', 'the ', course['what'])}{bare['after']}"


def _with_verb(statement: str, near: list[str]) -> str | None:
    bare = _ELLIPSIS.match(statement)
    if bare is None:
        return statement
    before = near[0] if near else ""
    used, they = _USED_TO.match(before), _THEY_DO.match(before)
    if used and bare["not"] and bare["who"] in {"I", "We", "we"}:
        return f"I no longer {used['what']}"
    if they and bare["who"] == "I" and bare["aux"] == "do" and bare["not"]:
        return f"I do not {they['verb'].removesuffix('s')} {they['what']}"
    return None


def _with_thing(statement: str, near: list[str], asked: str) -> str:
    it = _IT_IS.match(statement)
    telling = it and _TELLING.search(" " + it["rest"].partition(",")[0])
    if it is None or not telling or _IT_BESIDE.match(it["rest"]) or _FOR_ME.search(it["rest"].partition(",")[0]):
        return statement
    of_question = _ASKED_THING.search(asked)
    thing = f"the {of_question['thing']}" if of_question else _last_thing(near[:1])
    if thing is None:
        return statement
    return f"{thing[:1].upper()}{thing[1:]} {it['verb']} {it['rest']}"


def _last_thing(near: list[str]) -> str | None:
    for one in near:
        found = _INTRODUCES_IT.search(one) or _THING_IS.match(one)
        if found and not _PERSON.search(found["thing"]):
            return re.sub(r"^an? ", "the ", found["thing"])
    return None
