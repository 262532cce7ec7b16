"""English statements that are worth keeping, and the cues by which they are weighed."""

from __future__ import annotations

import re
from typing import Final

from core.language.lazy_regex import lazy_regex
from core.language.parts import Salience, SalienceCue


def _cue(name: str, weight: float, pattern: str) -> SalienceCue:
    return SalienceCue(name, weight, lazy_regex(pattern, re.IGNORECASE))


_STATEMENT: tuple[SalienceCue, ...] = (
    _cue("speaks as I", 0.3, r"\bI\b"),
    _cue("something of one's own", 0.4, r"\bmy\b"),
    _cue("new or recent", 0.4, r"\b(?:recently|lately|just|yesterday|today|these days|new|another|first)\b"),
    _cue("going on for a while", 0.45, r"\b(?:I|we) (?:have|has) (?:\w+ )?been\b"),
    _cue(
        "a step taken",
        0.5,
        r"\b(?:decided|reali[sz]\w+|signed up|joined|started|launched|opened|adopted|got into|created|organi[sz]\w+|"
        r"hosted|bought|planned|"
        r"considering|researching|applied|working on|took up)\b",
    ),
    _cue(
        "family",
        0.45,
        r"\b(?:kids?|children|sons?|daughter|husband|wife|mom|mother|dad|father|sister|brother|family|grand\w+|cousin|"
        r"aunt|uncle|parents?)\b",
    ),
    _cue(
        "pastime",
        0.55,
        r"\b(?:paint\w*|danc\w+|hik\w+|camp\w+|read\w*|books?|novel|writ\w+|script|screenplay|cook\w*|bak\w+|recipe|"
        r"game\w*|tournament|"
        r"guitar|piano|violin|music|photo\w*|yoga|run(?:ning)?|swim\w*|volunteer\w*|garden\w*|pottery|knit\w*|"
        r"basketball|movie\w*|"
        r"series|travel\w*|trip|vacation|roadtrip)\b",
    ),
    _cue(
        "community",
        0.9,
        r"\b(?:community|charity|shelter|support group|campaign|election|fundrais\w+|donat\w+|veterans?|homeless|"
        r"event|festival|"
        r"conference|parade)\b",
    ),
    _cue(
        "study",
        0.25,
        r"\b(?:class(?:es)?|course|school|college|university|degree|learn\w*|studying|exam\w*|workshop|seminar|"
        r"education)\b",
    ),
    _cue(
        "work",
        0.1,
        r"\b(?:job|work\w*|business|career|company|boss|project|store|studio|client\w*|customers?|internship|"
        r"interview)\b",
    ),
    _cue("number", 0.5, r"\b\d+\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|hundred)\b"),
    _cue(
        "what it does to one",
        0.35,
        r"\b(?:(?:helps?|makes?|gives?|brings?|keeps?|inspire[sd]?|motivate[sd]?|reminds?)|made|helped|gave) me\b",
    ),
    _cue("a reason", 0.2, r"\bbecause\b|\bso that\b|\bin order\b|\bsince\b"),
    _cue("a name or title", 0.4, r"(?-i:(?<=[a-z,] )(?!I\b)[A-Z][a-z]+|[\"“]\w)"),
    _cue(
        "a turn of life",
        1.5,
        r"\b(?:died|passed away|pregnant|gave birth|was born|divorce|married|engaged|diagnosed|surgery|fired|laid off|"
        r"promoted|graduated|"
        r"retired|accident|broke up|broke my|got accepted|got into)\b",
    ),
    _cue(
        "vague", -0.5, r"\b(?:something|everything|anything|stuff|things|it all|moments?|journey|vibe\w*|energy|idea)\b"
    ),
    _cue("anticipation alone", -0.4, r"\bcannot wait\b|\blooking forward\b|\bexcited\b"),
    _cue(
        "courtesy",
        -0.3,
        r"\bI am (?:so |really |very |super )?(?:glad|happy|proud|sorry|grateful|thankful|lucky|sure|here)\b",
    ),
    _cue("possibility", -0.25, r"\b(?:can|could|will|would|might)\b"),
    _cue("negation", -0.2, r"\bnot\b|\bnever\b|\bcannot\b"),
)
_MESSAGE: tuple[SalienceCue, ...] = (
    _cue("asks", -0.4, r"\?"),
    _cue(
        "leave-taking",
        -0.4,
        r"\b(?:bye|see you|talk soon|talk to you|take care|take it easy|later|catch up|good luck|have fun)\b",
    ),
    _cue("turns to something else", 0.3, r"\b(?:by the way|btw|guess what|oh,|anyway)\b"),
)
_SMALL_TALK = lazy_regex(
    r"^fingers crossed\b|\bmy (?:god|goodness|gosh|bad|pleasure|apologies|condolences|dear)\b|\bmy (?:guess|question|"
    r"point|bet|"
    r"answer|advice|"
    r"suggestion|recommendation|understanding) (?:is|was|would)\b|\bour (?:planet|world|universe|solar system|"
    r"sun|species|"
    r"ancestors)\b|\bmy (?:code|script|function|program|query|screen|browser|build) (?:throws|"
    r"fails|failed|crash\w+|does not|did not|is not|keeps|shows|gives|returns|prints)\b|\bI will (?:have|"
    r"take) the\b|\bhate to (?:say|admit|ask|bother|interrupt)\b|\ba (?:bit|little) (?:lost|confused|stuck|"
    r"late)\b|^(?:never|seldom|rarely) (?:have|had|did|do|was) (?:I|we)\b|\bI (?:\w+ )?(?:hope|appreciate|agree|"
    r"bet|wonder|see(?! [A-Z]| (?:my|the|an?) [a-z]+ )|hear|wish|guess so|know (?:what|how|that|it|you|right)|"
    r"understand|suppose|can imagine|"
    r"can tell|can see|could not agree|completely get|get it|got this|told you)\b(?! that my)"
    r"|\bI am (?:\w+ )?(?:glad|sorry|proud|sure|here for|there for|all ears|jealous|curious|impressed|rooting|"
    r"in (?:your|awe)|on it|down|game|so happy for|happy for|happy (?:to hear|that)|excited for you|doing (?:good|"
    r"great|well|fine|ok|okay|alright)|good|fine|ok|okay|great|afraid|just (?:kidding|saying)|up for it|not sure|"
    r"wondering|curious|looking for (?:\w+ ){0,6}(?:recommendations?|advice|suggestions?|ideas?|tips?|options?|"
    r"resources?|ways)|(?:more |also |particularly )*interested in (?:knowing|learning more|hearing|exploring|"
    r"trying)|intrigued|(?:more |also )?concerned about|open to|meaning to ask|trying to (?:decide|figure out|"
    r"find|understand))\b"
    r"|\b(?:cannot|can not) wait\b(?! to (?:start|move|begin|go|visit|perform|show))|\b(?:I|"
    r"we) will (?:\w+ )?(?:let|check (?:it|them|that|those|out)|try (?:my|it|that|to)|do (?:my|that|it)|"
    r"be (?:there|here|sure)|keep (?:you|that|going|it|pushing|trying|in mind)|never (?:forget|give)|definitely|"
    r"remember|miss|see|make sure|look into|take that|give it|take a look|have to|need to)\b"
    r"|\bhad better\b|\bI better\b|\bdo not dare\b|\blet me\b|\bmeans? (?:a lot|so much|the world)\b|\bmeant "
    r"(?:a lot|so much)\b|\b(?:thank|thanks|congrats|"
    r"congratulations)\b|\bgood luck\b|\blooking forward to (?:it|that|seeing|hearing|catching)\b"
    r"|\bI (?:would|will) (?:\w+ )?(?:love|like|be happy|be glad|appreciate)(?: to)? (?:see|hear|know|check|help|"
    r"try it|learn more|get (?:some|your)|join|any|some|it|that|if|to (?:see|hear|know|help|get|ask))\b"
    r"|\bI have (?:\w+ )?been (?:doing )?(?:\w+ )?(?:great|good|well|ok|okay|fine|alright|busy)\b.{0,20}$|"
    r"\bI (?:\w+ )?(?:love|like|enjoy)d? the (?![A-Z]|outdoors|beach|ocean|sea\b|mountains|countryside|snow|rain|"
    r"cold|heat)"
    r"|\bI would like (?:to (?:adjust|add|include|get|have|focus|use|explore|discuss|start (?:by|with)|order|"
    r"request|understand|find|be|make|keep|change|create|book)|some|a|an|more)\b|\bI find (?:it|that|this)\b|"
    r"\bmeaning to ask\b|\bI did not ask\b"
    r"|\bI (?:\w+ )?(?:love|like|enjoy) (?:it|that|this|those|these|them|how|your|the way|your|hearing|seeing|"
    r"what)\b|\bthat is (?:what|how|why)\b.{0,20}$"
    r"|\bI (?:\w+ )?need (?:help|some help|advice|your|recommendations?|suggestions?|to know|(?:an? |some )?(?:\w+ )?"
    r"(?:recipe|list|plan|summary|translation|menu|ideas?|gift|present|playlist|itinerary|speech|poem|title|slogan|"
    r"caption|toast|template|checklist|outline|draft|synonym|word|name|packing list) (?:for|to|of|that|about|in|from)"
    r"|an? (?:recipe|list|summary|translation|menu))\b|\bI (?:have|had|got) (?:a |some |another )?(?:quick |"
    r"few |more )?questions?\b|"
    r"\bI want to (?:know|ask|make sure|hear|see if)\b|\bI was (?:wondering|hoping|thinking (?:if|maybe))\b|"
    r"\bI (?:am|was) asking\b"
    r"|\bcount me in\b|\bI (?:do not|did not) (?:know|think|mean|get|understand|remember|mind|realize|realise)\b|"
    r"\bwe (?:got|can do|will get|can|should|are in|have got) (?:this|it|together|through)\b|\b(?:we|I) "
    r"should\b(?!.*\b(?:on|by) (?:\d|(?-i:[A-Z])))|"
    r"\bone step at a time\b|\bI feel (?:you|that|the same|ya|it)\b"
    r"|\bhere (?:is|are) (?:a|the|my|our|some|one)\b|\bcheck (?:it|this|them|out)\b|\btake a look\b|\b(?:pic|"
    r"photo|picture|snap) (?:of|from|I)\b.{0,40}$(?<=\bit)|\bI (?:can )?(?:totally|completely|really|"
    r"definitely) (?:get|relate|feel|hear)\b|\bto be honest$|\bI (?:just )?(?:sent|attached|uploaded|pasted|"
    r"shared)\b|\bI have heard\b|\bI mean\b|\bwanted to (?:say|check in|ask|let)\b|\bkeep it up\b|\bI (?:have|"
    r"had)(?: got)? (?:an? )?(?:\w+ )?(?:story|news|update)\b.{0,12}$",
    re.IGNORECASE,
)
_FIRST_PERSON = lazy_regex(r"\b(?:I|my|we|our|me|us|mine)\b", re.IGNORECASE)
_LAST_TALK = lazy_regex(
    r"^(?:a lot|so much|lots|much)\b.{0,30}\bgoing on (?:with me|lately)?[.!]*$|^(?:[^,;]{0,60} )?since (?:we|"
    r"our) (?:\w+ )?(?:last|spoke|talked|chatted)(?: \w+)?[.!]*$|"
    r"^it (?:has|is) been (?:a while|ages|so long|forever)\b",
    re.IGNORECASE,
)
_SUBJECT = lazy_regex(r"\b(?:I|we)\b", re.IGNORECASE)
_FINITE = lazy_regex(
    r"\b(?:is|are|was|were|am|has|have|had|does|did|do|will|would|can|could|cannot|should|must|may|might|"
    r"went|got|made|met|took|found|bought|won|saw|ran|left|quit|wrote|gave|built|began|spent|came|brought|lost|felt|"
    r"thought|knew|told|said|grew|became|heard|kept|taught|sold|fell|broke|drew|drove|stood|sang|threw|held|paid|sent|"
    r"caught|chose|flew|led|rode|rose|shook|hit|hurt|put|let|set|helps?|makes?|gives?|keeps?|brings?|means?|matters?|"
    r"reminds?|inspires?|motivates?|drives?|calms?|puts|lets|gets|seems?|feels?|takes|fills|comes?|goes|needs?|wants?|"
    r"loves?|likes|enjoys?|lives|live|works|plays?|starts?|begins|ends|leaves|looks|says|thinks|teaches|runs|shows?|"
    r"allows?|lies?|stays?|changes?|rehearses?|travels?|finish(?:es)?|wakes?|sleeps?|hates?|knows?|turns?|"
    r"becomes?|opens|moves|visits|arrives|returns|"
    r"sits|stands|calls|costs?|pays|spoke|stuck|[a-z]{2,}ed|\w+['’]s|"
    r"[a-z]{3,}s (?:me|my|us|our|an?|the))\b",
    re.IGNORECASE,
)
_ADDRESSED = lazy_regex(r"\b(?:you|your|yours|ya|u)\b", re.IGNORECASE)
_BROKEN = lazy_regex(
    r"^going to be\b|^(?:mostly|mainly|partly|just|only|especially|probably|maybe|still) (?:with|for|of|by|from|about|"
    r"because|to)\b|^(?:to|that|which|who|than|for|with|of|by|because|until|as|while|what|how|whatever|"
    r"why)\b(?!.*,)(?!.*\b(?:I|we) [a-z])|\b(?:and|"
    r"but|or|to|the|a|my|because|so|that)[.!]?$",
    re.IGNORECASE,
)
_LABEL = lazy_regex(
    r"^(?:(?:my|the|our) )?(?:[a-z]+ ){0,2}?(?:number|code|reference|plate|combo|combination|id|size|"
    r"account)\b:? (?=\S*\s?\S*\d)",
    re.IGNORECASE,
)
"""Label of a number: "Serial number K 41873"."""
_TAKES_BACK = lazy_regex(
    r"\bno longer\b|\bany ?more\b|^(?:I|we)(?: have)?(?: just| also| finally| already| even)* (?:sold|quit|"
    r"cancell?ed|dropped|g[ai]ven? up|got rid of|gave away|moved out of|called off|packed in|jacked in|"
    r"pulled out of) (?!(?:it|that|this|them)\b)|\b(?:rais|lower|cut|bump|chang|mov|push|extend)(?:ed|"
    r"ing) (?:the|my|our) [\w ]{2,30}? (?:to|back|up|down|until)\b|\b(?:got|been|was|is) (?:cancell?ed|"
    r"called off)\b|\bfell through\b",
    re.IGNORECASE,
)


def is_statement(plain: str) -> bool:
    """Return whether `plain` can be understood alone: no courtesy, not addressed to the listener."""
    return (
        len(plain.split()) >= 3
        and any(word.islower() for word in plain.split())
        and not _ADDRESSED.search(plain)
        and not _SMALL_TALK.search(plain)
        and not _BROKEN.search(plain)
        and not _LAST_TALK.search(plain)
        and bool(_LABEL.match(plain) or _SUBJECT.search(plain) or _FINITE.search(plain))
    )


def is_told(plain: str) -> bool:
    """Return whether a sentence tells something of its speaker that can be understood alone."""
    return bool(_FIRST_PERSON.search(plain)) and is_statement(plain)


SALIENCE: Final = Salience(
    cues=_STATEMENT, message=_MESSAGE, takes_back=_TAKES_BACK, is_statement=is_statement, is_told=is_told
)
