"""Recognises requests to forget, in English and Chinese, and reads what they name. Pure.

A request is a command or a wish addressed to the assistant. Reports of what others deleted, questions how something is
deleted, idioms ("forget it"), quotations, and commands about files, texts and households are none. What a request
means, among what was said, is found by `core.forgetting.matching`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.forgetting import subjects
from core.forgetting.text import READ, Span, clauses, plain, sentences
from core.language.lazy_regex import lazy_regex


class ForgetScope(StrEnum):
    """How much a request covers: a value or statement, what was said last, a person or topic, everything.

    `SIMILAR`: the statement that is nearest to it in meaning, which is a guess.
    """

    FACT = "fact"
    LAST = "last"
    ALL_ABOUT = "all_about"
    EVERYTHING = "everything"
    SIMILAR = "similar"


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A request to forget, as it was worded.

    `asking`: the sentences that ask. `widened`: descriptions of what is meant, the narrowest first; a wider one counts
    if the narrower finds nothing. `kept`: clauses that name what stays or replaces it. `agrees`: whether it may answer
    someone else's request. `about_self`: whether it asks for what others said about the speaker. `before`: the
    sentence to which it points ("delete it"). `doubtful`: whether it may be about something else than the memory,
    unless it names a value that was said. `of_value`: whether it asks for a code, a phrase or the like in the memory.
    """

    text: str
    scope: ForgetScope
    asking: Sequence[Span]
    widened: Sequence[str]
    kept: Sequence[str] = ()
    agrees: bool = False
    about_self: bool = False
    before: str = ""
    doubtful: bool = False
    of_value: bool = False


def read(message: str) -> ForgetRequest | None:
    """Return the request that a message makes; None if it makes none."""
    text = message[:READ]
    if not _CUE.search(plain(text)):
        return None
    bare = _without_quotations(plain(text))
    if _ELSEWHERE.search(bare):
        return None
    pieces = sentences(bare)
    asking = [index for index, piece in enumerate(pieces) if _asks(piece.text, bare)]
    doubtful = not asking
    if doubtful:
        asking = [index for index, piece in enumerate(pieces) if _asks(piece.text, bare, value=True)]
    if not asking:
        return None
    own = [_original(text, pieces[index]) for index in asking]
    scope = _scope(" ".join(plain(one.text) for one in own))
    return ForgetRequest(
        text=text,
        scope=scope,
        asking=own,
        widened=_widened(text, pieces, asking),
        kept=_kept(text, pieces, asking),
        agrees=_AGREES.search(bare) is not None,
        about_self=_ABOUT_SELF.search(bare) is not None,
        before=_pointed_at(text, pieces, asking),
        doubtful=doubtful,
        of_value=any(_OF_VALUE.search(pieces[one].text) for one in asking) and _MEMORY.search(bare) is not None,
    )


def declared(message: str) -> ForgetRequest | None:
    """Return the request that a statement amounts to that something is deleted: "Logged: deleted the code 4471".

    It counts in groups whose members may all ask, and means values alone that it names.
    """
    text = message[:READ]
    bare = _without_quotations(plain(text))
    pieces = sentences(bare)
    said = [index for index, piece in enumerate(pieces) if _declares(piece.text)]
    if not said:
        return None
    own = [_original(text, pieces[index]) for index in said]
    kept = _kept(text, pieces, said)
    return ForgetRequest(text, ForgetScope.FACT, own, [one.text for one in own], kept, agrees=True)


def mentions_erasure(message: str) -> bool:
    """Return whether a message may speak of something deleted or outdated, so that it may repeat what was erased."""
    said = plain(message[:READ])
    return _CUE.search(said) is not None or _FORMER.search(said) is not None


def _original(text: str, piece: Span) -> Span:
    return Span(text[piece.start : piece.end], piece.start)


def _without_quotations(text: str) -> str:
    """Blank quoted speech that contains a request itself; names and values in quotes stay."""
    return _QUOTATION.sub(
        lambda found: " " * len(found.group()) if _COMMAND.search(found.group()) else found.group(), text
    )


def _pointed_at(text: str, pieces: Sequence[Span], asking: Sequence[int]) -> str:
    """Return the sentence before the first one that asks, if that one points at it."""
    first = asking[0]
    points = first > 0 and _POINTS.search(pieces[first].text) is not None
    return _original(text, pieces[first - 1]).text if points else ""


def _asks(sentence: str, message: str, *, value: bool = False) -> bool:
    """Return whether a sentence asks to forget. `value`: it may be about a thing, if it names a value of it."""
    if _NEGATED.search(sentence) or _NARRATED.search(sentence):
        return False
    found = _ENGLISH.search(sentence) or _CHINESE.search(sentence)
    if found is None:
        return False
    if _IDIOM.search(sentence) and not _MEMORY.search(sentence):
        return False
    if _QUESTION.match(sentence) and not _POLITE.match(sentence):
        return False
    if value:
        return _OF_VALUE.search(sentence) is not None
    return not subjects.DEVICES.search(sentence) or bool(_MEMORY.search(message) or _AGREES.search(sentence))


def _declares(sentence: str) -> bool:
    if not _DECLARED.search(sentence) or _UNDONE.search(sentence):
        return False
    return not subjects.DEVICES.search(sentence) or bool(_OF_VALUE.search(sentence) or _MEMORY.search(sentence))


def _scope(asked: str) -> ForgetScope:
    if _EVERYTHING.search(asked) and not _SOMEONE_ELSE.search(asked):
        return ForgetScope.EVERYTHING
    if _ALL_ABOUT.search(asked):
        return ForgetScope.ALL_ABOUT
    if _LAST.search(asked):
        return ForgetScope.LAST
    return ForgetScope.FACT


def _widened(text: str, pieces: Sequence[Span], asking: Sequence[int]) -> list[str]:
    """Return the clauses that ask, the sentences that ask, these with the one before, and the whole message."""
    told = [_original(text, piece).text for piece in pieces]
    narrow = [clause.text for index in asking for clause in clauses(told[index]) if not is_kept(clause.text)]
    asked = [told[index] for index in asking]
    before = [told[index - 1] for index in asking if index and index - 1 not in asking and not is_kept(told[index - 1])]
    rest = [one for one in told if not is_kept(one)]
    steps = [" ".join(narrow), " ".join(asked), " ".join([*before, *asked]), " ".join(rest)]
    return list(dict.fromkeys(one for one in steps if one))


def _kept(text: str, pieces: Sequence[Span], asking: Sequence[int]) -> list[str]:
    """Return the clauses that say what stays or what the new value is."""
    return [
        clause.text
        for index, piece in enumerate(pieces)
        for clause in clauses(_original(text, piece).text)
        if is_kept(clause.text) or (index not in asking and index > asking[0] and not _UNSAID.search(piece.text))
    ]


def is_kept(clause: str) -> bool:
    """Return whether a clause of a request says what stays, or names the value that replaces another."""
    said = plain(clause)
    if _NO_LONGER.search(said):
        return False
    asks = (
        _COMMAND.search(said)
        or _DECLARED.search(said)
        or _ENGLISH.search(said)
        or _CHINESE.search(said)
        or _NOT_KEPT.search(said)
    )
    return _KEEPS.search(said) is not None and not (asks and not _STAYS.search(said))


_VERB: Final = (
    r"(?:delete|erase|forget|remove|wipe|scrub|purge|dump|scrap|strike|drop|discard|expunge|redact|unlearn|ditch|"
    r"nuke|trash|"
    r"destroy|bin|clear|unsave|obliterate|shred|zap|axe|chuck|rub out|blank out|unremember|del|rm|"
    r"get rid of|let go of|do away with|dispose of)"
)

_THING: Final = (
    r"(?:codes?|pins?|passwords?|numbers?|address(?:es)?|dates?|names?|notes?|entry|entries|details?|bits?|birthdays?|"
    r"stor(?:y|ies)|secrets?|salary|diagnosis|figures?|amounts?|locations?|plates?|lines?|facts?|info|information)"
)

_PHRASE: Final = (
    rf"{_VERB}\b(?! (?:care of|a look|your time|me |it easy|off\b|to\b|for\b|place\b|part\b))"
    r"|\b(?:take|throw|cross|blot|strike|toss|cut|clean|wipe) (?:(?:\S+ ){1,6}?)?(?:out|away|"
    r"off)\b(?! (?:of the (?:oven|box|"
    r"bag|car|fridge)|for))"
)

_GONE: Final = (
    r"(?:deleted|erased|forgotten|removed|wiped|scrubbed|purged|dropped|discarded|expunged|redacted|gone|cleared|"
    r"taken out|struck|dumped|scrapped)"
)

_KEEP: Final = (
    r"(?:keep|keeping|store|storing|save|saving|remember|remembering|retain|retaining|hold(?:ing)? on ?to|"
    r"hang(?:ing)? on ?to|"
    r"have|having|know|knowing|knew|kept|stored|saved|remembered|record|recording|recall|recalling|memori[sz]e|log|"
    r"hold(?:ing)?|carry(?:ing)?|note)"
)

_WRITTEN: Final = (
    r"(?:written|wrote|stored|kept|saved|noted|logged|recorded|remembered|down|file|filed|record|memory|notes)"
)

_GRIEF: Final = (
    r"\b(?:if|that|wish|prefer|rather|better|easier|grateful|glad|happier|relieved|appreciate|comfortable|kind|best|"
    r"obliged)\b"
)

_LEAD: Final = (
    r"(?:(?:please|pls|@\w+|cheers|dear|kindly|pls|plz|hey|hi|hello|ok|okay|so|now|also|and|actually|oh|oops|ugh|hm+|"
    r"well|right|yes|no|no wait|"
    r"wait|just|"
    r"kindly|then|first|assistant|bot|ai|sorry|thanks|thank you|ah|alright|anyway|by the way|btw|one more thing|"
    r"on second thou?ghts?|you know what|confirmed|acknowledged|agreed|do me a favou?r(?: and)?|go ahead and|"
    r"(?:\w+ ){0,3}(?:request|instruction)s?(?: \w+){0,3}|you (?:can|may|should|could|might|must)(?: (?:\w+))?|"
    r"(?:can|could|would|will|may) (?:you|i (?:ask|get|have) you to)|would you mind|(?:i|we)(?:'d| would)? (?:like|"
    r"want|need|ask|beg|"
    r"prefer|rather|appreciate it if)(?: (?:for )?you)?(?: (?:to|could|would))?|let's|it'd be (?:better|best|good|"
    r"great) if you|"
    r"it would be (?:better|best|good|great|nice) if you|feel free to|make sure (?:to|you)|be sure to|time to|"
    r"quickly|"
    r"simply|maybe|perhaps|better|ever|at once|immediately|completely|permanently|fully|safely|entirely)[ ,:]+)"
)

_COMMAND: Final = lazy_regex(
    rf"\b(?:delete|erase|forget|remove|wipe|scrub|purge|dump|scrap|discard|expunge|redact|get rid of|clear|strike|"
    rf"take .{{1,30}} out)\b|{_GONE}\b|{_KEEP}\b.{{0,20}}(?:\bnot|n't)\b|删|忘|清[掉除空理干]|抹|销[掉毁]|去掉|"
    rf"移除|扔掉|丢[了掉]|"
    r"擦掉|划掉|撤回|收回|消除|[别勿]再?[留存记提]|不[要用必]再?[留存记]"
)

_CUE: Final = lazy_regex(
    rf"\b{_VERB}\b|\bdelet(?:ion|ing)|\bremov(?:al|ing)|\bstop\b|{_GONE}\b|(?:\bnot|n't|\bno|\bnothing|\bstop|"
    rf"\brather|\bnever)\b.{{0,60}}\b{_KEEP}\b|"
    rf"\b{_KEEP}\b.{{0,30}}(?:\bnothing|\bnone|\bnot|n't)\b|clean slate|recalled|retired|\bgo\b|\blose\b|"
    rf"\bno business\b|\b(?:say|agree|pretend)\b.{{0,20}}\bnever\b|\bexist|vanish|disappear|"
    rf"(?:n't|\bnot|\bno)\b.{{0,80}}\b{_WRITTEN}\b|\bwant\b.{{0,80}}\bin here\b|out of your|scratch|take back|unsay|"
    r"删|忘|清|抹|销|去掉|移除|扔|丢|擦|划掉|撤回|收回|消[掉除]|留|存|别记|不[要用必].{0,4}记|没听|没说过|没讲过|"
    r"不知道|没必要|作废|"
    r"拿掉|剔除|除掉|抛到脑后|别再提|[别甭莫咪].{0,10}记|唔[好使].{0,10}记|你那.{0,6}没有|消失|翻篇|咗|不要了|不用了|不作数|"
    r"无需|不用管.{0,6}(?:记|存)|保留"
)
"""Words without which a message asks for nothing of the kind and repeats nothing as deleted."""

_FORMER: Final = lazy_regex(
    r"\b(?:old|older|earlier|former|previous|previously|retired|obsolete|superseded|replaced|revised|stale|no longer|"
    r"used to|do not answer|do not use|don't use|ignore)\b|旧|以前的|之前的|原来的|原先|作废|不再"
)

_ENGLISH: Final = lazy_regex(
    # A command at the beginning of a clause.
    rf"(?:^|[,;:.!?]\s+|\bso |\band (?=please|also|then|just)|"
    rf"\bbut (?=please))\"?(?:hey \w+, )?{_LEAD}{{0,5}}(?:{_PHRASE})"
    rf"|(?:^|[,;:.]\s+){_LEAD}{{0,4}}(?:retire and )?stop (?:recalling|remembering|storing|keeping|mentioning|"
    rf"holding|retaining)"
    # A wish that something is gone, or not kept.
    rf"|\b(?:i|we)(?:'d| would)? (?:\w+ )?(?:want|like|need|prefer|"
    rf"love)\b.{{2,90}}(?<!the )(?<!not )(?<!be )(?<!stay )\b{_GONE}\b"
    rf"|\b(?:should|must|can|needs? to|has to|ought to|may) (?:now |please |just |all |also )?be "
    rf"(?:(?:treated|considered|regarded|marked) as )?{_GONE}\b"
    rf"|\b(?:should|must|can)(?:n't| not| never| no longer) be (?:kept|stored|remembered|saved|retained|recalled|"
    rf"recoverable)\b"
    rf"|^(?:please )?(?:do not|don't|never|no longer|stop) (?:ever |please |you )?(?:keep|store|save|remember|"
    rf"retain|hold on ?to|"
    rf"hang on ?to|record|recall|memori[sz]e|log)\b(?! (?:me|up|kosher|an? |calm|going|quiet|still|to\b))"
    rf"|[,;:.]\s+(?:and |so |but )?(?:please )?(?:do not|don't) (?:ever |you )?(?:keep|store|save|remember|retain|"
    rf"hold on ?to|"
    rf"hang on ?to|record|memori[sz]e) (?:it|that|this|them|those|any|anything|my|his|her|our|their|the)\b"
    rf"|\b(?:rather|prefer|wish|better|best|glad|happier|nicer|like it|comfortable|"
    rf"appreciate it)\b.{{0,30}}\byou\b.{{0,12}}"
    rf"\b(?:didn't|did not|don't|do not|no longer|not|never|wouldn't|couldn't)\b.{{0,12}}\b{_KEEP}\b"
    rf"|\byou (?:needn't|need not|don't need to|do not need to|don't have to|mustn't|shouldn't|should not|"
    rf"no longer need to|"
    rf"can stop|should stop|won't need to) (?:\w+ )?{_KEEP}\b"
    rf"|\b(?:no|isn't any|not any|any) (?:need|reason|point)\b.{{0,30}}\b{_KEEP}\b"
    rf"|\b(?:make sure|ensure|see to it)\b.{{2,90}}\b(?:aren't|isn't|is not|are not|gets?|is|are|don't|doesn't|"
    rf"no longer)\b.{{0,12}}"
    rf"(?:\b(?:kept|stored|saved|remembered|retained|stay)\b|{_GONE}\b)"
    rf"|\bnothing\b.{{0,60}}\b(?:kept|stored|saved|remembered|retained|stay|remain)\b|\bclean slate\b|"
    rf"\bstart (?:over )?from zero\b"
    rf"|\b(?:pretend|act as if|act like|as though)\b.{{0,20}}\b(?:never|didn't|did not) (?:say|said|tell|told|"
    rf"mention|mentioned|hear|heard)"
    rf"|\byou (?:never|didn't) hear(?:d)? (?:that|this|it|me)\b"
    rf"|\bnone of .{{2,60}}\b(?:should|to) be (?:kept|stored|saved|remembered|retained)\b"
    rf"|\bi (?:take|want to take|'d like to take) back what i\b|\bscratch what i\b|\bunsay\b"
    # A wish that it were not there: "if her address weren't something you had written down".
    rf"|{_GRIEF}.{{0,90}}(?:n't|\bnot|\bno longer|\bnever|\bnothing)\b.{{0,50}}\byou(?:'d|'ve| had| have)?\b.{{0,30}}"
    rf"\b{_WRITTEN}\b"
    rf"|(?:\bnot|n't|\bno longer|\bcease to|\bnever) (?:\w+ )?exist(?:ed)?\b.{{0,30}}\b(?:with|for|to|in) (?:you|"
    rf"here|there)\b"
    rf"|\b(?:vanish|disappear|evaporate|fade)\b.{{0,40}}\b(?:your|you|in here|from here)\b"
    rf"|\b(?:keep|leave|get|take|have) .{{1,60}} (?:out of|off) your (?:head|mind|system|memory|memories|records?|"
    rf"notes?|files?|"
    rf"books?|database|brain|list)\b"
    rf"|\b(?:mind|how about|consider|appreciate you) (?:\w+ ){{0,2}}(?:deleting|erasing|forgetting|removing|wiping|"
    rf"scrubbing|"
    rf"purging|dropping|binning|clearing|discarding|getting rid of|taking .{{1,30}} out|not (?:keeping|storing|saving|"
    rf"remembering|holding))\b"
    rf"|\bi (?:don't|do not|no longer|never) (?:want|wish|need|like)\b.{{0,60}}\b(?:you to (?:have|know|keep|"
    rf"remember|store|"
    rf"save|bring|mention|hold)|on file|on record|(?:remembered|stored|kept|saved|written down|brought up)\b)"
    rf"|\bi (?:don't|do not|no longer|never) (?:want|wish|need|care) to (?:run into|see|hear|meet|find|come across|"
    rf"be reminded)"
    rf"\b.{{0,60}}\b(?:in here|with you|from you)\b"
    rf"|\blike i (?:was|were|had) never (?:here|said|told)\b|\b(?:isn't|not|is not) (?:yours|for you) to (?:keep|"
    rf"know|remember)"
    rf"|\b(?:wasn't|was not|weren't|isn't) (?:meant|supposed) (?:to be (?:kept|saved|stored|remembered|written)|"
    rf"for your)"
    rf"|^(?:\S+ ){{0,5}}(?:so |and )?kindly (?:don't|do not) {_KEEP}"
    rf"|\b(?:so|and|but|just|then) (?:kindly |please |just )?(?:don't|do not) (?:hold|hang) on ?to\b"
    # A thing that may go: "the gate code can go".
    rf"|\b{_THING} (?:can|may|should|must|has to|needs? to|ought to) (?:now |just )?go\b(?! (?:to|in|on|under|up|"
    rf"down|with)\b)"
    rf"|\blose (?:the|that|my|his|her|our|their|this|those) (?:[\w']+ ){{0,3}}{_THING}\b"
    rf"|\b(?:has|have|had|with) no business (?:\w+ ){{0,3}}(?:your|you|here|in there)\b"
    rf"|\b(?:let's|we|can we|could we|please) (?:just )?(?:say|agree|pretend|act as if) (?:that )?(?:i|we) never\b"
    # Agreement with a request: "Confirmed. The retired code … is deleted from memory."
    rf"|\b(?:is|are|was|were|has been|have been) (?:now )?{_GONE} from (?:[\w-]+ ){{0,4}}(?:memory|records?|files?|"
    rf"summary|history)\b"
    rf"|\b(?:confirmed|logged|acknowledged)\b.{{0,40}}\bdeletion\b|\bdeletion request (?:confirmed|for)\b"
)

_MANY: Final = "[^，。！？；\\n]"

_OFF: Final = (
    r"(?:删(?:掉|除|了|去|干净|一下|光|吧)?|清(?:掉|除|空|理掉|干净|了|光)|抹(?:掉|去|了|除|干净)|销(?:掉|毁|了)|"
    r"去掉|移除|扔(?:掉|了)|丢(?:掉|了)|擦(?:掉|除)|"
    r"划掉|撤(?:回|掉|了)|收回|消(?:掉|除)|拿掉|剔除|除掉|忘(?:掉|了|记|干净)|抛到脑后|洗掉|作废掉)"
)

_ITEM: Final = r"(?:那条|这条|那段|这段|记录|信息|号码|密码|地址)"

_CHINESE: Final = lazy_regex(
    # A command or a wish, with the object before or behind the verb.
    rf"(?:请|你|您|麻烦|帮我|替我|给我|帮忙|把|将|都|全部?|统统|通通|一并|也|就|可以|能不能|能否|还是|直接|赶紧|快|"
    rf"干脆|最好|应该|该|要|想让你|希望你?|全给我|全都)"
    rf"{_MANY}{{0,24}}?{_OFF}|(?:^|[，。；：、！？\s]){_OFF}(?!不|错)|{_OFF}(?:吧|行不行|好吗|好不好|就行|就好|"
    rf"可以吗|谢谢|为好|哈|啊|好了|算了|得了)"
    rf"|(?:别|不要|不用|不必|无需|无须|没必要|没有必要|用不着|不许|不准|不该|甭|休|不想|不希望|不愿|不宜|勿|"
    rf"莫){_MANY}{{0,14}}?(?:留|存|记(?!得)|保留|收着|放|知道)"
    rf"|(?:当|就当|当作|当成|权当|只当){_MANY}{{0,12}}?没{_MANY}{{0,6}}?(?:听|说|讲|提|告诉|发生|聊)"
    rf"|你(?:那儿|那里|那边|这儿|这里|这边|脑子里|心里|手里){_MANY}{{0,8}}?(?:没有|别有|不要有|不存|不留|没存|没留)"
    rf"|(?:从|在)你{_MANY}{{0,10}}?(?:消失|除名|抹|不见)|{_ITEM}{_MANY}{{0,10}}?(?:不要了|不用了|不作数了?|可以走了|拜拜)|(?:你|"
    rf"您){_MANY}{{0,6}}?(?:不必知道|不用知道|别知道|就不知道)"
    rf"|当我{_MANY}{{0,6}}?(?:放屁|胡说|瞎说|没来过|喝多)"
    rf"|(?:唔好|唔使|咪){_MANY}{{0,14}}?(?:记|留|存|keep)|[删洗剷铲掟]咗"
    rf"|最好{_MANY}{{0,6}}?(?:不知道|忘|没听)|别留底|不留底|[别不]{_MANY}{{0,4}}?(?:留痕|留档|备案|入档|存档)"
)

_POINTS: Final = lazy_regex(r"\b(?:it|this|that|them|these|those|that one|this one|both)\b(?! \w+ (?:i|we|he|she)\b)")

_OF_VALUE: Final = lazy_regex(
    r"\b(?:code|pin|password|passcode|passphrase|phrase|token|credential|badge|key|number|amount|figure|minute|"
    r"location|"
    r"point|label|wording|mapping|address|layer)s?\b.{0,60}\d|\b(?:exact|old|older|earlier|retired|previous)\b.{0,60}"
    r"\b(?:code|pin|password|passcode|passphrase|phrase|token|credential|badge|number|amount|figure|minute|location|"
    r"point|"
    r"label|wording|mapping|address|layer)\b"
)
"""A value of a thing, which is in the memory, rather than the thing."""

_DECLARED: Final = lazy_regex(
    rf"\b(?:is|are|was|were|am|i'm|been|being|remains?|stays?|stay|now|logged|marked|confirmed|also|as) "
    rf"(?:being |now |already |also |as |fully )?(?:{_GONE}|deleting|removing|erasing|retiring|wiping|purging)\b"
    rf"|^(?:\w+[:.,] )?{_GONE} |\b(?:deletion|removal) of\b|\b(?:logged|noted|saved|done|reminder|note)\b.{{0,20}}: "
    rf"(?:the )?(?:\w+ ){{0,3}}{_GONE}\b|(?:已|已经)(?:经)?(?:删除?|清除|移除|抹去)"
)
"""Something is or was deleted."""

_UNDONE: Final = lazy_regex(
    r"\b(?:once|when|after|if|until|unless|before|may|might|could|would|should|will|not|never|n't|no|nothing|whether|"
    r"soon|later|prepar\w+|going to|who|how)\b|\?\s*$"
)
"""It is not yet, or not, or somebody asks whether."""

_UNSAID: Final = lazy_regex(
    r"\b(?:no one|nobody|none|not|never|n't|cannot|without|no)\b.{0,40}\b(?:recall\w*|confirm\w*|reus\w+|repeat\w*|"
    r"restor\w+|reconstruct\w*|retriev\w+|recover\w*|retain\w*|keep|kept|answer\w*|reveal\w*|surfac\w+|hint\w*|"
    r"mention\w*|stor\w+|us(?:e|ed)|longer|active|valid|current)\b|\bunavailable\b|不再|作废"
)
"""What is not to be said again, rather than what stays."""

_NEGATED: Final = lazy_regex(
    r"\b(?:don't|do not|never|not|please don't|didn't|won't|can't|cannot|couldn't|shouldn't|"
    r"wouldn't) (?:you )?(?:ever |just |"
    r"accidentally |please |want you to |want to |have to |need to )?(?:delete|erase|forget|remove|wipe|scrub|"
    r"purge|discard|"
    r"clear|lose|drop|throw)\b|\bnever forget\b|\bunforgettable\b"
    r"|(?:别|不要|不能|不许|不可|不会|没有?|请勿|千万别|先别|勿|不想|不舍得|舍不得)(?:把[^，。]{0,12})?(?:给?(?:我|"
    r"他|她|你)?)?(?:全|都)?(?:删|忘|清空|清除|抹|丢|扔)"
)
"""What is not to be deleted; "don't forget" asks for the opposite."""

_NARRATED: Final = lazy_regex(
    r"\b(?:i|he|she|they|we|who|it|someone|somebody|everyone|people|mum|mom|dad) (?:\w+ )?(?:forgot|forgets?|"
    r"deleted|erased|"
    r"wiped|scrubbed|dropped|cleared|cleaned|threw|removed|lost|dumped|scrapped)\b|\bi forget\b|"
    r"\b(?:told|asked|made|had|got|let) (?:him|her|them|me|us|it|the \w+) (?:to )?(?:delete|erase|remove|forget|"
    r"wipe|drop)\b|"
    r"\b(?:remind|help) me\b(?!.{0,40}\bmemory\b)|\bhow (?:do|can|would|could|should|to)\b|\bi (?:need|have|want|"
    r"wanted|got|"
    r"plan|meant|try|tried|ought) to (?:\w+ )?(?:forget|delete|wipe|clean|clear|scrub|remove|drop|erase|dump|throw|"
    r"take)\b|"
    r"\b(?:suppose|imagine|what if|what happens)\b|\b(?:once|when|after|if|until|unless)\b.{0,60}\b(?:is|are|"
    r"has been) "
    r"(?:confirmed|completed?|approved|done|processed|signed|filed)\b|\bprepar(?:e|ing)\b"
    r"|(?:让|叫|要求|请)(?:他|她|他们|她们|人|人家|老板|同事|对方|客服)[^，。]{0,12}(?:删|忘|清|抹|丢)|"
    r"(?:他|她|它|他们|她们|人家|对方|系统|手机|公司|银行|客服|老板|外公|外婆|爷爷|奶奶|爸|妈|孩子|宝宝|同事|朋友|"
    r"室友|老婆|老公)[^，。你您]{0,14}"
    r"(?:误?删|忘|清空|弄丢|丢了|抹掉)|误删|忘光|忘了(?:带|拿|买|关|吃|给|去|锁|交|回|打|问|做|说(?!过)|密码|时间)|"
    r"忘性|健忘|"
    r"提醒我|[删清去擦洗抹]不[掉了干]|(?:怎么|怎样|咋)[^。]{0,24}(?:删|清|忘|抹|去掉|撤|擦|洗|移除|注销)|"
    r"(?:要是|如果|假如|万一)[^。]{0,12}(?:让|叫|请)你[^。]{0,12}(?:删|忘|抹|清)|如何[^，。]{0,12}(?:删|清|忘|"
    r"抹|去掉|撤)|"
    r"我(?:已经|刚刚?|昨天|今天|前天|不小心|又|总|老|差点|居然|竟然|都|也|就)?(?:把[^，。]{0,12})?(?:删了|清了|"
    r"忘了|丢了|扔了|擦了|抹了|擦干净|清理了|删掉了|忘记)|"
    r"(?:又|总是|老是|经常|差点|容易|永远|难|不会|没)忘|难忘|忘不了|忘年|忘我|遗忘"
)
"""Someone deletes or forgets something, or asks how; nobody asks the assistant to."""

_QUESTION: Final = lazy_regex(
    r"^(?:and |so |but |oh |hey )*(?:how|what|why|when|where|which|who|does|do|did|is|are|was|were|has|have|"
    r"should i|can i|"
    r"could i|may i|must i)\b|^(?:请问|怎么|怎样|咋|如何|为什么|为何|什么|哪)"
)

_POLITE: Final = lazy_regex(
    r"^(?:and |so |but |oh |hey )*(?:can|could|may) i (?:ask|get|have) you|^what (?:i|he|she|they|we|"
    r"\w+) (?:just )?(?:said|told|"
    r"wrote|mentioned|shared)\b|^(?:where|when|who) .{0,60}\b(?:is|are) (?:nothing|none of|no)\b|"
    r"^is it (?:possible|ok|okay) "
    r"(?:to have you|that you|for you)|^do (?:me a|please)\b|^do (?:delete|erase|remove|forget)|^which is why\b|"
    r"^how about you"
)

_IDIOM: Final = lazy_regex(
    r"\bforget (?:about )?(?:it|that|this)\b(?=\s*(?:[,.!;]|$|then|let's|now))(?!.{0,20}\b(?:said|told)\b)|"
    r"\bforget (?:about )?(?:the|this|that|my|our) (?:\w+ ){0,3}?\w+(?: then|,? (?:let's|let us|i'll|we'll|instead|"
    r"what|how|"
    r"where|which|is there|can you find|give me|show me|suggest))\b|\bdrop (?:it|me|by|in|off|the subject)\b|"
    r"\bclear (?:it )?up\b|"
    r"\blet'?s (?:forget|drop|scrap|skip|lose|ditch)\b|\btake (?:it )?out (?:for|to)\b|\btake me out\b|"
    r"\bdrop (?:him|her|them|us) (?:off|a)\b|"
    r"算了|忘了(?:吧)?[，,]?我们(?:聊|说|换|来)|改成|改写|润色|[字词]以内|个字"
)
"""Changes of mind and of subject, and edits of a text."""

_MEMORY: Final = lazy_regex(
    r"\b(?:from|in|out of|to|off|of) (?:\w+ ){0,3}(?:memory|memories|records?|notes|recollection|profile|data|"
    r"mind)\b|\b(?:i|he|she|we|\w+) "
    r"(?:just |ever |once |already )?(?:told|said to|mentioned to|shared with|gave) you\b|\bwhat (?:i|"
    r"we) (?:just )?(?:said|told|wrote|"
    r"shared|mentioned)\b|\byou (?:have|know|hold|keep|stored|saved|remember) (?:on|about|of)\b|\byour (?:memory|"
    r"memories|records|files|"
    r"notes)\b|\bwith you\b|\bmy (?:personal )?(?:data|memories)\b|"
    r"记忆|记住的|记性|(?:跟|和|对|向|同|给)你(?:说|讲|提|聊|透露|发)|告诉(?:过)?你|你(?:那里|那边|那儿|这里|这边|"
    r"这儿|的资料|的记录|的档案|的数据|的脑子)|我(?:刚才?|刚刚|之前|以前|前面)?"
    r"(?:说|讲|提|聊|发)(?:过|的|了)|你(?:记|存|留|知道)"
)
"""Names of the assistant's memory, and of what it was told."""

_EVERYTHING: Final = lazy_regex(
    r"\b(?:everything|anything|all(?: of (?:it|that|this))?|every(?: single)? (?:word|thing|message|"
    r"bit))\b.{0,24}\b(?:i|i've|we|we've)\b"
    r".{0,14}\b(?:told|said|shared|written|wrote|mentioned|typed|talked|discussed|ever)\b|"
    r"\b(?:everything|anything|all(?: of)?(?: the)?(?: (?:data|info\w*|memor\w+))?) (?:you(?:'ve| have| know| got|"
    r" hold| remember| stored| saved)?"
    r".{0,12} )?(?:about|on|of) (?:me|us|myself)\b|\bclean slate\b|\bnothing (?:i|i've|that i)\b.{0,40}\b(?:kept|"
    r"stored|saved|"
    r"remembered|retained|stay|remain)|\bforget (?:about )?me\b|\ball (?:of )?my (?:data|memories|messages|"
    r"information|info|details|"
    r"stuff)\b|\bwipe (?:your|the|my|its|all|everything|it all)(?: (?:whole|entire))?(?: (?:memory|memories|"
    r"slate))?\b(?! (?:down|off))|"
    r"\b(?:your|the) (?:whole|entire) memory\b|\b(?:delete|erase|forget|purge|clear|remove|wipe|"
    r"scrub) (?:absolutely |literally |"
    r"simply |just )?(?:everything|it all|the lot|all of it)(?=\s*(?:[.!,;]|$|please|from|now|in here|here|you))|"
    r"\bnone of what i\b|\bnot a (?:single )?word\b|\bever (?:told you|said to you)\b.{0,30}\b(?:gone|deleted|"
    r"erased)\b|"
    r"(?:所有|全部|一切|凡是|任何|每一?句|每一?条|通通|统统|全都?|都).{0,12}我.{0,8}(?:说|讲|聊|告诉|提|发|交代)|"
    r"我.{0,14}(?:说|讲|聊|告诉你|提|发|交代)(?:过|的|了)?.{0,10}(?:所有|全部|一切|每一?[句条]|统统|通通|全都?|都|"
    r"一[句字]不[留剩])|"
    r"(?:关于|有关|跟|和|属于)我的?(?:有关的?)?(?:所有|一切|全部|任何)|(?:所有|一切|全部|任何)(?:关于|有关|跟|"
    r"和)我(?!的)|我的(?:所有|全部|一切)(?:信息|资料|数据|记录|内容|记忆)|"
    r"清空(?:你的)?(?:记忆|资料|一切|所有|全部)|记忆(?:全部?|都|统统|通通)?(?:清空|清零|清除|删光)|从[头零](?:开始|"
    r"来过)|一张白纸|当(?:作|成)?不?认识我|归零|清零|"
    r"(?:这里|这儿|咱们?|我们)(?:聊|说|讲|谈)(?:过|的)?.{0,6}(?:全|都|一切|所有).{0,6}(?:删|清|忘|抹)"
)

_SOMEONE_ELSE: Final = lazy_regex(
    r"\b(?:about|on|regarding|concerning|of) (?:him|her|them|my \w+|our \w+|the \w+|that \w+|this \w+)\b(?! memory)|"
    r"\b(?!i\b|i've\b)\w+ (?:has )?(?:told|said to) you about me\b|(?:关于|有关|跟|和)(?!我|"
    r"你)[^，。]{1,10}(?:有关|沾边|相关|的)"
)

_ALL_ABOUT: Final = lazy_regex(
    r"\b(?:everything|anything|all|whatever|any(?:\s+and all)?|every (?:trace|mention|bit|detail|thing)|"
    r"(?:all )?traces?|the lot)\b.{0,50}"
    r"\b(?:about|on|of|regarding|concerning|related to|mentioning|involving|to do with|with)\b|"
    r"\bwhatever \w+ (?:has )?(?:told|said)\b|"
    r"\b(?:take|cut|wipe|scrub|get|leave|write|strike|erase|delete|remove|forget|purge|drop) (?:him|her|them)\b"
    r"(?! (?:a|the|to|off|home|some)\b)|\b(?:run into|come across|be reminded of|hear of|"
    r"see) [\w' -]{2,40}? (?:in here|here|"
    r"with you|from you) (?:ever )?again\b|"
    r"\b(?:everything|anything|all|every \w+)\b.{0,30}\b(?:he|she|they|him|her|them)\b|"
    r"(?:所有|全部|一切|凡是|任何|但凡|只要).{0,24}(?:有关|相关|沾边|沾|关于|提到|牵扯|涉及|的事|的内容|的记录|"
    r"的话|的信息|的一切|的)|"
    r"(?:有关|关于|跟|和).{1,14}(?:有关|相关|沾边)?的?(?:所有|一切|全部|内容|东西|事).{0,8}(?:统统|全|都|一并|通通)"
)

_LAST: Final = lazy_regex(
    r"\b(?:i|we) (?:have |'ve )?just (?:said|told|wrote|mentioned|shared|sent|typed|let slip|blurted|confessed)\b|"
    r"\bwhat i just\b|"
    r"\b(?:that|the|my) (?:very )?last (?:bit|thing|message|part|sentence|line|remark|comment|one|statement|piece)\b|"
    r"\bmy (?:previous|last) \w+\b|\bthat bit\b|\b(?:said|told you|mentioned|sent|wrote) (?:a (?:moment|minute|"
    r"second) ago|just now|"
    r"(?:right )?before this)\b|刚才|刚刚|刚说|刚讲|刚发|刚提|上一[句条段个]|上[句条]|最后[一那](?:句|条|段)|"
    r"前一[句条]|前面那?[句条段]|方才|"
    r"\bthat (?:\w+ ){0,2}(?:remark|comment|confession|outburst|rant|slip|joke|sentence|message)\b(?! (?:about|on|"
    r"of)\b)"
)

_ABOUT_SELF: Final = lazy_regex(
    r"\b(?:told|said|wrote|mentioned|shared|have|got|know|says?)\b.{0,30}\babout me\b|(?:说|讲|聊|提|写)(?:到|起|"
    r"过|了)?我的|"
    r"(?:说|讲|提|写)(?:到|起|过|了)?我(?:那|什么|些|坏|的)|关于我"
)

_AGREES: Final = lazy_regex(
    r"^(?:\W*)(?:confirmed|acknowledged|agreed)\b|\bdeletion request (?:acknowledged|logged|confirmed)|"
    r"\brequest (?:acknowledged|logged|confirmed)|\b(?:is|are|was|were|has been|have been) "
    rf"(?:now )?{_GONE} from\b|^(?:同意|确认)"
)

_KEEPS: Final = lazy_regex(
    r"(?<!-)\b(?:keep|leave|retain|only|new|newer|newest|now|currently|current|remains?|instead|replace[sd]?|"
    r"from today|"
    r"use|stays?|rely|"
    r"active|approved|switched to|changed to|the right one|correct one|it's|is enough|can stay)\b|"
    r"新的?|换成|改成|改为|换到|留着|保留|现在[是用]|以后用|留下|别动|不动|照旧|只留|其他的?(?:留|不)"
)

_NO_LONGER: Final = lazy_regex(r"\b(?:is|are|was|were) (?:no longer|not) (?:active|current|valid|needed|used|in use)\b")

_NOT_KEPT: Final = lazy_regex(rf"(?:\bnot|n't|\bno|\bnever)\b.{{0,20}}\b{_KEEP}\b")

_STAYS: Final = lazy_regex(
    r"^(?:and |but |just |please |only )*(?:keep|leave|retain|use|rely|remember)\b|\b(?:remains?|stays?|"
    r"should remain|can stay|is enough)\b|"
    r"(?:新的|其他的?|别的|剩下的?).{0,6}(?:留|保留|不动|记)|留着|换成|改成|改为|别动"
)

_ELSEWHERE: Final = lazy_regex(
    r"\bhow (?:do|would|can|could|should) (?:you|i|we|one) (?:say|put|phrase|write|translate)\b|\btranslate\b|"
    r"\b(?:rewrite|rephrase|"
    r"paraphrase|proofread|shorten|reword)\b|\bin (?:my|the|this|a) (?:novel|story|script|poem|essay|song|chapter|"
    r"scene|play|code|"
    r"function|query|spreadsheet)\b|\bchapter \w+\b|\bin (?:polite |formal |plain )?(?:japanese|french|german|"
    r"spanish|english|"
    r"chinese|italian|latin|korean|portuguese|russian)\b|用?(?:日语|英语|英文|法语|德语|韩语|西班牙语|"
    r"文言文)(?:怎么|如何)?[说写译]?|翻译|"
    r"剧本|台词|小说|歌词|这[句段首](?:话|诗|文字|歌)?(?:怎么|删|改|去掉|译)|段话删|改成一|缩写|润色|字以内|造句|作文"
)

_QUOTATION: Final = lazy_regex(r'"[^"\n]{3,400}"|“[^”\n]{3,400}”|(?<!\w)\'[^\'\n]{8,400}\'(?!\w)')
