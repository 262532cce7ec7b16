"""Decides whether a sentence asks the assistant to forget, or says that something is deleted. Pure."""

from __future__ import annotations

from typing import Final

from core.forgetting import subjects
from core.forgetting.text import READ, plain
from core.forgetting.wording import CHINESE, COMMAND, CUE, ENGLISH, GONE
from core.language.lazy_regex import lazy_regex


def mentions_erasure(message: str) -> bool:
    """Return whether a message may speak of something deleted or outdated, so that it may repeat what was erased."""
    said = plain(message[:READ])
    return CUE.search(said) is not None or _FORMER.search(said) is not None


def without_quotations(text: str) -> str:
    """Blank quoted speech that contains a request itself; names and values in quotes stay."""
    return _QUOTATION.sub(
        lambda found: " " * len(found.group()) if COMMAND.search(found.group()) else found.group(), text
    )


def asks(sentence: str, message: str, *, value: bool = False) -> bool:
    """Return whether a sentence asks to forget. `value`: it may be about a thing, if it names a value of it."""
    if _NEGATED.search(sentence) or _NARRATED.search(sentence):
        return False
    found = ENGLISH.search(sentence) or CHINESE.search(sentence)
    if found is None:
        return False
    if _IDIOM.search(sentence) and not MEMORY.search(sentence):
        return False
    if _QUESTION.match(sentence) and not _POLITE.match(sentence):
        return False
    if value:
        return OF_VALUE.search(sentence) is not None
    return not subjects.DEVICES.search(sentence) or bool(MEMORY.search(message) or AGREES.search(sentence))


def declares(sentence: str) -> bool:
    if not DECLARED.search(sentence) or _UNDONE.search(sentence):
        return False
    return not subjects.DEVICES.search(sentence) or bool(OF_VALUE.search(sentence) or MEMORY.search(sentence))


_FORMER: Final = lazy_regex(
    r"\b(?:old|older|earlier|former|previous|previously|retired|obsolete|superseded|replaced|revised|stale|no longer|"
    r"used to|do not answer|do not use|don't use|ignore)\b|旧|以前的|之前的|原来的|原先|作废|不再"
)

OF_VALUE: Final = lazy_regex(
    r"\b(?:code|pin|password|passcode|passphrase|phrase|token|credential|badge|key|number|amount|figure|minute|"
    r"location|"
    r"point|label|wording|mapping|address|layer)s?\b.{0,60}\d|\b(?:exact|old|older|earlier|retired|previous)\b.{0,60}"
    r"\b(?:code|pin|password|passcode|passphrase|phrase|token|credential|badge|number|amount|figure|minute|location|"
    r"point|"
    r"label|wording|mapping|address|layer)\b"
)
"""A value of a thing, which is in the memory, rather than the thing."""

DECLARED: Final = lazy_regex(
    rf"\b(?:is|are|was|were|am|i'm|been|being|remains?|stays?|stay|now|logged|marked|confirmed|also|as) "
    rf"(?:being |now |already |also |as |fully )?(?:{GONE}|deleting|removing|erasing|retiring|wiping|purging)\b"
    rf"|^(?:\w+[:.,] )?{GONE} |\b(?:deletion|removal) of\b|\b(?:logged|noted|saved|done|reminder|note)\b.{{0,20}}: "
    rf"(?:the )?(?:\w+ ){{0,3}}{GONE}\b|(?:已|已经)(?:经)?(?:删除?|清除|移除|抹去)"
)
"""Statements that something is or was deleted."""

_UNDONE: Final = lazy_regex(
    r"\b(?:once|when|after|if|until|unless|before|may|might|could|would|should|will|not|never|n't|no|nothing|whether|"
    r"soon|later|prepar\w+|going to|who|how)\b|\?\s*$"
)
"""Signs that it is not deleted, or not yet, or that somebody asks whether."""

_NEGATED: Final = lazy_regex(
    r"\b(?:don't|do not|never|not|please don't|didn't|won't|can't|cannot|couldn't|shouldn't|"
    r"wouldn't) (?:you )?(?:ever |just |"
    r"accidentally |please |want you to |want to |have to |need to )?(?:delete|erase|forget|remove|wipe|scrub|"
    r"purge|discard|"
    r"clear|lose|drop|throw)\b|\bnever forget\b|\bunforgettable\b"
    r"|(?:别|不要|不能|不许|不可|不会|没有?|请勿|千万别|先别|勿|不想|不舍得|舍不得)(?:把[^，。]{0,12})?(?:给?(?:我|"
    r"他|她|你)?)?(?:全|都)?(?:删|忘|清空|清除|抹|丢|扔)"
)
"""Refusals to delete; "don't forget" asks for the opposite."""

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
    r"(?:误?删|忘|清空|弄丢|丢了|抹掉)|误删|忘光|^[^把请你您将帮给]{0,12}忘了[。！!~～\s]*$|忘了(?:跟你|告诉|带|拿|买|关|吃|给|去|锁|交|回|打|问|做|说(?!过)|密码|时间)|"
    r"忘性|健忘|"
    r"提醒我|[删清去擦洗抹]不[掉了干]|(?:怎么|怎样|咋)[^。]{0,24}(?:删|清|忘|抹|去掉|撤|擦|洗|移除|注销)|"
    r"(?:要是|如果|假如|万一)[^。]{0,12}(?:让|叫|请)你[^。]{0,12}(?:删|忘|抹|清)|如何[^，。]{0,12}(?:删|清|忘|"
    r"抹|去掉|撤)|"
    r"我(?:已经|刚刚?|昨天|今天|前天|不小心|又|总|老|差点|居然|竟然|都|也|就)?(?:把[^，。]{0,12})?(?:删了|清了|"
    r"忘了|丢了|扔了|擦了|抹了|擦干净|清理了|删掉了|忘记)|"
    r"(?:又|总是|老是|经常|差点|容易|永远|难|不会|没)忘|难忘|忘不了|忘年|忘我|遗忘"
)
"""Reports and questions: someone deletes or forgets something, or asks how; nobody asks the assistant to."""

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

MEMORY: Final = lazy_regex(
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

AGREES: Final = lazy_regex(
    r"^(?:\W*)(?:confirmed|acknowledged|agreed)\b|\bdeletion request (?:acknowledged|logged|confirmed)|"
    r"\brequest (?:acknowledged|logged|confirmed)|\b(?:is|are|was|were|has been|have been) "
    rf"(?:now )?{GONE} from\b|^(?:同意|确认)"
)

ELSEWHERE: Final = lazy_regex(
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
