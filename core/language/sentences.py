"""Sentence splitting; which sentences assert something."""

from __future__ import annotations

import re

from core.language.lazy_regex import lazy_regex
from core.language.machine_text import is_machine_text

LONGEST = 400
"""Maximum characters of a sentence; longer ones are pasted text."""
LONGEST_ASSERTED = 4_000
"""Maximum characters of an asserting sentence: the patterns are quadratic, and no statement is that long."""
LONGEST_ABBREVIATION = 20
"""Characters at the end of a piece searched for an abbreviation: searching all of it is quadratic."""

ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e a.m p.m u.s u.k no inc ltd approx dept jan feb mar apr jun jul aug "
    "sep sept oct nov dec".split()
)

_BLOCKS = lazy_regex(r"```.*?(?:```|\Z)|^[^\S\n]*>[^\n]*$|https?://\S+|`[^`\n]{41,}`", re.DOTALL | re.MULTILINE)
_END = lazy_regex(
    r"(?<=[.!?…])\s+|(?<=[.!?…])[\"'”’)\]]+\s+(?![a-z])|(?<=[。！？；])[”’」』）]*\s*|\n+|"
    r"(?<=[\U0001F300-\U0001FAFF])\s+(?=[A-Z])"
)
_LAST_WORD = lazy_regex(r"(\S+)\.$")
_CJK = lazy_regex(r"[\u4e00-\u9fff]")
_OPENS_ZH = lazy_regex(r"\s*[\u4e00-\u9fff]{2}")
_FUNCTION_EN = lazy_regex(
    r"\b(?:the|an?|is|are|am|was|were|be|to|of|and|or|in|on|at|for|with|my|your|his|her|i|you|he|she|it|we|they|"
    r"that|this|"
    r"not|do|does|did|has|have|had|will|can)\b",
    re.IGNORECASE,
)
_KANA = lazy_regex(r"[\u3041-\u30ff]")
_ORDINAL_DE = lazy_regex(r"(?<!\bI )\b(?:am|vom|zum|dem|den|der|bis|ab|seit)\s+\d{1,2}\.$")
_EMOJI = lazy_regex(r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+")
_BULLET = lazy_regex(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")

_QUOTED = lazy_regex(r"[\"“][^\"”]*[\"”]|(?<!\w)[‘'][^'’]{3,}?['’](?!\w)|「[^」]*」|『[^』]*』")
_SPEECH_EN = lazy_regex(
    r"\b(?:says?|said|saying|told|tells?|inform(?:s|ed)|announce[sd]|I quote|mumbled|muttered|asked|asks|"
    r"replied|wrote|writes|shouted|yelled|whispered|claims?|claimed|"
    r"quotes?|quoted|goes|reads?|sings?|sang|lyrics?|line|according to)\b",
    re.IGNORECASE,
)
_SPEECH_ZH = lazy_regex(
    r"(?:说|问|喊|写道|回答|告诉我|表示|台词|歌词)(?:过|了|道)?[:：,，]?\s*[“\"「『]|听说|据说|(?:他|"
    r"她|人家|朋友|老板|有人)说"
)
_REPORTED = lazy_regex(
    r"\b(?:says?|said|told (?:me|us|him|her|them)|claims?|claimed|thinks?|thought|believes?|asked (?:me )?(?:if|"
    r"whether))"
    r"(?: that)? (?:I|my|we)\b|^(?:he|she|they|someone|somebody|people|everyone|[A-Z]\w+) (?:says?|said|told|"
    r"claims?)\b|\bas (?:the (?:song|saying|poem|quote|line) (?:says|goes)|they say)\b",
)
_HYPOTHETICAL_EN = lazy_regex(
    r"^(?:even )?(?:if|what if|suppose|supposing|imagine|assume|assuming|say|let's say|let us say|pretend|unless|"
    r"in case|"
    r"whether|had I|were I|hypothetically|should I)\b"
    r"|\b(?:I|we) wish\b|\bif only\b|\b(?:would|could|should|might) have\b|\bif (?:I|we|it|he|she|they|you|my)\b"
    r"|\b(?:I|we) (?:would|could|might|may)(?! like| love| rather| never| always| really| not)\b"
    r"|\bhypothetical|\bin (?:my|a|the) (?:dreams?|story|novel|game|movie|another life|alternate)\b|\bin theory\b"
    r"|\b(?:let us|let['’]s) (?:pretend|imagine|assume|suppose|say)\b|\bI['’]d (?:(?:only|really|probably|just) )?"
    r"(?:be|have|go|do|make|take|get|move|buy|live|work|die|quit|become|choose|pick)\b"
    r"|\bpretend(?:ing)? (?:to be|that|I)\b|\bas if\b|\bas though\b|\bfor (?:example|instance)\b|"
    r"\bdreamed (?:that|of|I)\b"
    r"|\bI (?:almost|nearly) \w+ed\b|\bmaybe (?:I|we)\b|\bperhaps (?:I|we)\b|\bjust kidding\b|\bkidding\b",
    re.IGNORECASE,
)
_HYPOTHETICAL_ZH = lazy_regex(
    r"如果|假如|要是|假设|万一|倘若|要不是|我(?:真)?希望我|但愿|恨不得|(?:真|好)想(?:变成|当个|是)|"
    r"就好了|比如说?|例如|梦见|梦到|开玩笑|也许我|可能会|说不定"
)
_QUESTION_EN = lazy_regex(
    r"^(?:and |so |but |or |hey |well |oh |also |then )*(?:what|how|why|when|where|who|whom|whose|which|do|does|"
    r"did|is|are|am|was|were|can|could|"
    r"would|will|should|shall|have you|has|had you|any|anything|isn't|aren't|don't you|didn't|wanna|"
    r"ever)\b(?!.*\bI (?:was|am) a kid\b)"
    r".*\b(?:you|your|I|we|it|he|she|they|the|this|that|there|my)\b",
    re.IGNORECASE,
)
_QUESTION_ZH = lazy_regex(
    r"[吗呢么](?:[。.!！]|$)|^(?:请问|怎么|什么|为什么|哪|谁|几|多少|能不能|可不可以|是不是|有没有)|"
    r"(?:怎么样|怎么办|怎么做|好不好|行不行|对不对)(?:[。.]|$)"
)
_REQUEST = lazy_regex(
    r"^(?:please |now |ok |okay |then )*(?:write|draft|compose|create|generate|translate|summari[sz]e|rewrite|"
    r"explain|act as|tell me|give me|help me|show me|"
    r"make (?:me|a|it|this)|list|describe|fix|find|suggest|recommend|correct|proofread|edit|convert|pretend|"
    r"role-?play|consider|compare|calculate|analy[sz]e)\b"
    r"(?!.*\b(?:from now on|going forward|always|in future|in the future|every time|whenever)\b)",
    re.IGNORECASE,
)
_ASKING_TAIL = lazy_regex(
    r"^(?P<said>.{8,}?)(?:[,;—–]| - |\.\.\.)\s*(?:so |and |but |do you |then )?(?:what|how|why|when|where|who|"
    r"which|can|could|would|will|"
    r"do|does|did|is|are|have|any|should|got)\b[^,;]*\?$",
    re.IGNORECASE,
)
_ASKING_TAIL_ZH = lazy_regex(
    r"^(?P<said>.{4,}?)[，,](?:[^，,]*(?:吗|呢|什么|怎么|哪|谁|几|多少|能不能|可以|推荐|有没有)[^，,]*)[？?]$"
)


_LEAD_IN = lazy_regex(
    r"^(?P<lead>[A-Za-z][^:.;!?\"“”]{0,60}):\s+(?=(?:please|and|but|so|just|always|never|do not|don['’]t|from now on|"
    r"call me|i|i['’](?:m|ve|ll|d)|im|we|we['’](?:re|ve|ll)|my|our|last|yesterday|today|next)\b)",
    re.IGNORECASE,
)
_LEAD_IN_ZH = lazy_regex(r"^(?P<lead>[^：:，。！？“「]{1,12})[：:]\s*(?=我|请|以后|不要|别|记住|从现在|每次)")
_NO_LEAD_IN = lazy_regex(
    r"\b(?:sa(?:y|ys|id|ying)|tells?|told|ask(?:s|ed)?|wr(?:ite|ites|ote)|repl(?:y|ies|ied)|thinks?|thought|he|"
    r"she|they|who|translat\w+|rewrite|rephrase|correct|proofread|examples?|quotes?|quoted|subject|title|lyrics?|song|"
    r"prompt|text|sentences?|phrase|story|character|role|dialogue|e-?mail|letter|message|review|post|tweet|caption|"
    r"summari[sz]e|draft|scenario|imagine|suppose|pretend|joke|motto|slogan|question|task)\b|[说问写讲喊回译例题句诗歌信]",
    re.IGNORECASE,
)
_TOLD_SOMETHING = lazy_regex(
    r"^I (?:have )?(?:said|told|asked|wrote|replied) (?:\S+ ){0,6}?(?!(?:me|him|her|them|us|you|that|this)$)\w+$",
    re.IGNORECASE,
)
"""Words before a colon that report a promise rather than quote: "I said yes to Acme: …"."""
_LEAD_WORDS = frozenset(
    "update note news fact facts reminder confession context background health diet allergy allergies work job home "
    "food family important correction edit ps fyi also and first second third next finally lastly anyway warning "
    "heads-up actually truth honestly remember me personally plan plans today tonight yesterday rule "
    "rules preference preferences request problem".split()
)
"""Single words allowed before a colon; any other is the name of someone quoted."""
_STATED_ITSELF = lazy_regex(
    r"^(?!.*\b(?:before|as|when|while|since|after|until|for|about|of|in|on)\b).*\b(?:I|we|my|our)\b|我", re.IGNORECASE
)
"""Words before a colon that are a statement and not a lead-in: "My writing is going well:"."""


_REQUEST_ZH = lazy_regex(
    r"^(?:请|麻烦你?|帮忙)?(?:帮我|给我|替我)?(?:写|翻译|总结|生成|起草|解释|列出|列|介绍|修改|润色|查|画|把)(?!完|了)[^，,]*$"
)
_STANDING_ZH = lazy_regex(r"以后|每次|总是|一直|始终|从现在|今后")


def is_chinese(text: str) -> bool:
    """Return whether `text` is to be read as Chinese: a fifth or more of Han characters, and few kana among them.

    Fewer are enough if it opens in Chinese and has no English function word: "我们用 PostgreSQL 16".
    """
    han = len(_CJK.findall(text))
    many = han * 5 >= len(text.strip()) > 0 or (_OPENS_ZH.match(text) is not None and not _FUNCTION_EN.search(text))
    return many and len(_KANA.findall(text)) * 4 <= han


def split(text: str) -> list[str]:
    """Return the sentences of `text` in order, trimmed, without code, errors, logs, links, quoted lines, list marks.

    A short piece of code within a sentence stays: "Never use the `any` type."
    """
    pieces: list[str] = []
    for raw in _END.split(_BLOCKS.sub(" ", text)):
        piece = _BULLET.sub("", raw or "").strip()
        if pieces and _is_abbreviation(pieces[-1]):
            # Of a sentence that is too long already, only its end counts: to join all of it each time takes n² steps.
            pieces[-1] = f"{pieces[-1]} {piece}"[-LONGEST - 1 :]
        elif piece:
            pieces.append(piece)
    return [piece for piece in pieces if 2 < len(piece) <= LONGEST and not is_machine_text(piece)]


def _is_abbreviation(piece: str) -> bool:
    """Return whether the full stop at the end belongs to an abbreviation, or to a German day: "am 12. September"."""
    tail = piece[-LONGEST_ABBREVIATION:]
    last = _LAST_WORD.search(tail)
    return (last is not None and last.group(1).lower() in ABBREVIATIONS) or _ORDINAL_DE.search(tail) is not None


def asserted_part(sentence: str) -> str | None:
    """Return the asserting part of `sentence` without emoji: all, the part before a question, or None."""
    short = len(sentence) <= LONGEST_ASSERTED
    told = _without_lead_in(_EMOJI.sub(" ", sentence).strip()) if short else None
    if told is None:
        return None
    sentence = told
    chinese = is_chinese(sentence)
    if sentence.rstrip("\"'”’)!").endswith(("?", "？")):
        tail = (_ASKING_TAIL_ZH if chinese else _ASKING_TAIL).match(sentence)
        if tail is None:
            return None
        sentence = tail["said"].strip()
    if chinese:
        if is_request_zh(sentence):
            return None
        return None if _QUESTION_ZH.search(sentence) or is_hypothetical(sentence) or is_quoted(sentence) else sentence
    if _REQUEST.match(sentence) or (_QUESTION_EN.match(sentence) and not sentence.endswith((".", "!"))):
        return None
    return None if is_hypothetical(sentence) or is_quoted(sentence) else sentence


def _without_lead_in(sentence: str) -> str | None:
    """Strip an introduction with a colon ("One thing:"); return None if it announces a quotation."""
    found = _LEAD_IN.match(sentence) or _LEAD_IN_ZH.match(sentence)
    if found is None:
        return sentence
    lead = found["lead"]
    if _TOLD_SOMETHING.match(lead):
        return sentence
    words = lead.lower().split()
    quoted = found.re.pattern == _LEAD_IN.pattern and len(words) == 1 and words[0] not in _LEAD_WORDS
    if quoted or len(words) > 9 or _NO_LEAD_IN.search(lead) or _REQUEST.match(lead):
        return None
    return sentence if _STATED_ITSELF.search(lead) else sentence[found.end() :]


def is_request(sentence: str) -> bool:
    """Return whether a sentence only asks for something to be done once."""
    return is_request_zh(sentence) if is_chinese(sentence) else bool(_REQUEST.match(sentence))


def is_request_zh(sentence: str) -> bool:
    """Return whether a Chinese sentence only asks for something to be done once."""
    return bool(_REQUEST_ZH.match(sentence)) and not _STANDING_ZH.search(sentence)


def is_hypothetical(sentence: str) -> bool:
    """Return whether `sentence` speaks of what is not so: a condition, a wish, a dream, a joke, an example."""
    return bool((_HYPOTHETICAL_ZH if is_chinese(sentence) else _HYPOTHETICAL_EN).search(sentence))


def is_quoted(sentence: str) -> bool:
    """Return whether `sentence` gives someone else's words: a quotation with a verb of speech, or reported speech."""
    if is_chinese(sentence):
        return bool(_SPEECH_ZH.search(sentence))
    if _REPORTED.search(sentence):
        return True
    if not _QUOTED.search(sentence):
        return False
    return bool(_SPEECH_EN.search(_QUOTED.sub(" ", sentence))) or is_mostly_quoted(sentence)


def is_mostly_quoted(sentence: str) -> bool:
    """Return whether more than half of `sentence` is in quotation marks."""
    return sum(map(len, _QUOTED.findall(sentence))) * 2 > len(sentence)


_BESIDES_ZH = lazy_regex(r"^(?:请|麻烦|能不能|可以)?(?:帮我|给我|替我|推荐|告诉我|教我)[^，,。]*[，,]\s*(?=我)")
_LEAD_ZH = lazy_regex(
    r"^(?:对了|嗯+|哦+|啊|不过|但是|而且|所以|然后|另外|还有|顺便说一下|说实话|老实说|是的|好的|"
    r"哈哈+|没错)[，,、！!\s]*"
)
_ELIDED_ZH = lazy_regex(
    r"^(?=(?:最近|昨[天晚]|前天|今[天早]|上周|上个?月|去年|经常|每[天周晚早]|一直|打算|准备|刚刚?|"
    r"平时|正在|已经)[^他她它你您这那]*$)(?!.*我)(?!.*(?:天气|下雨|股市|新闻))"
)


def cleaned_zh(sentence: str) -> str:
    """Strip introductory words from Chinese, and restore an omitted 我."""
    sentence = sentence.replace("本人", "我")
    return _ELIDED_ZH.sub("我", _BESIDES_ZH.sub("", _LEAD_ZH.sub("", sentence)), count=1)
