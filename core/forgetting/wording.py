"""Grammar of requests to forget, in English and Chinese: acts, names of the memory, and where they stand. Pure.

A request is an act of forgetting together with a name of what is forgotten: the memory ("from your memory"), the
assistant that keeps something ("what you know about me"), or what it was told ("what I said about my job").
"""

from __future__ import annotations

from typing import Final

from core.language.lazy_regex import lazy_regex

_YOU: Final = r"(?:you|u|ya)"
_OWN: Final = r"(?:my|our|his|her|their|your|the|this|that|these|those|any|an?)"

_INFO: Final = (
    r"(?:addresse?s?|age|alias|amount|anniversary|answer|appointment|bit|birthday|body|codes?|combination|condition|"
    r"confession|credentials?|data|dates?|debts?|details?|diagnosis|diet|dosage|email|facts?|figure|history|"
    r"illness|income|info|information|job|location|login|medication|meds|mention|messages?|names?|nickname|numbers?|"
    r"part|passcode|passphrase|passwords?|phrase|pins?|plate|preferences?|pregnancy|religion|remarks?|salary|"
    r"secrets?|size|statement|story|stories|stuff|stuttering|surname|things?|type|weight|whereabouts|wording|plans?)"
)
"""Nouns for what is told, rather than for a thing."""

_VERB: Final = (
    r"(?:delete|delte|erase|remove|wipe|scrub|purge|drop|clear(?: out)?|discard|expunge|redact|strike|scratch|lose|"
    r"ditch|nuke|trash|dump|bin|scrap|shred|chuck|destroy|unsave|obliterate|blot out|cross out|throw (?:out|away)|"
    r"take (?:out|off|away|back)|get rid of|let go of|do away with|dispose of|rub out|del|un-?say)"
)
_SPLIT_VERB: Final = (
    r"(?:take|throw|cross|blot|strike|toss|cut|get|keep|leave|have|wipe|clear) \S.{0,80}? (?:out|off|away)"
)
_FORGET: Final = r"(?:forget|froget|forgt|unlearn|unremember|un-know|unhear|disremember)"
_ING: Final = (
    r"(?:deleting|erasing|removing|wiping|scrubbing|purging|dropping|clearing|discarding|striking|losing|binning|"
    r"scrapping|getting rid of|letting go of|throwing out|taking)"
)
_MIND: Final = (
    r"(?:remember(?:ing)?|stor(?:e|ing)|retain(?:ing)?|record(?:ing)?|memori[sz](?:e|ing)|h(?:old|"
    r"ang)(?:ing)? on ?to|"
    r"recall(?:ing)?|know(?:ing)?|keep(?:ing)? (?:track|(?:a )?records?|tabs|notes?)(?: of| on)|bring(?:ing)? up)"
)
_HOLD: Final = (
    r"(?:keep(?:ing)?|sav(?:e|ing)|hold(?:ing)?|hav(?:e|ing)|not(?:e|ing)|log(?:ging)?|track(?:ing)?|mention(?:ing)?)"
)
_KEEP: Final = rf"(?:{_MIND}|{_HOLD})"
_KEPT: Final = (
    r"(?:kept|stored|saved|remembered|retained|recorded|memori[sz]ed|noted|logged|written down|on file|on record)"
)
_GONE: Final = (
    r"(?:deleted|erased|forgotten|removed|wiped|scrubbed|purged|dropped|discarded|expunged|redacted|cleared|struck|"
    r"scrapped|gone|thrown (?:out|away)|taken (?:out|off)|let go)"
)
_LET: Final = (
    r"(?:(?:please|pls|plz|kindly|just|also|now|then|so|and|but|ok|okay|hey|hi|oh|oops|ugh|no|yes|right|well|"
    r"actually|"
    rf"it(?:'d| would) be (?:great|better|best|good|nice|kind) if {_YOU}(?: (?:could|would))?|"
    r"maybe|perhaps|completely|permanently|quickly|simply|fully|instead|go ahead and|feel free to|be sure to|"
    rf"make sure (?:to|you)|do me a favou?r(?: and)?|(?:can|could|would|will|can't|couldn't|won't|may) (?:{_YOU}|"
    rf"i ask {_YOU} to)|"
    r"@?(?:assistant|bot|ai)|you know what|time to|sorry|thanks|thank you|in fact|better|best|"
    rf"{_YOU} (?:can|could|may|might|should|must|need to|have to|ought to|are (?:free|welcome) to|'d better)|"
    r"(?:i|we)(?:'d| would|'m| am| do)? ?(?:really |much |only )?(?:want|need|like|love|prefer|ask|asking|beg|"
    rf"appreciate it if|be (?:glad|grateful|happy) if)(?: for)? ?(?:{_YOU})?(?: (?:to|could|would))?)[ ,:]+){{0,6}}"
)
_START: Final = rf"(?:^|[,;:.!?…–—-] ?|\band (?=please|also|then|just|{_FORGET}\b))[\"' ]?{_LET}"

PLACE: Final = (
    rf"(?:\byour (?:own |whole |entire |long[- ]term |little )?(?:memory|memories|mind|head|brain|records?|notes?|"
    rf"notebook|storage|database|profile|recollection|knowledge|system|archive|logs?|books?)\b"
    rf"|\b(?:from|out of|off|in) (?:(?:the|its|all|any|long[- ]term|routine|accessible|working|shared|active|"
    rf"group|chat|"
    rf"case|household) ){{0,3}}memory\b(?! (?:card|stick|foam|of|lane))"
    rf"|\b(?:what|whatever|everything|anything|all|things?|stuff|info|information|data|details?|"
    rf"records?|notes|traces?|bits?)(?: that| which)? {_YOU}(?:'ve| have|'d| had)? ?(?:got )?(?:\w+ )?"
    rf"(?:know|knows|have|remember|hold|keep|kept|store|stored|save|saved|got|noted|recorded|logged|learned|"
    rf"learnt|on)\b"
    rf"|\b{_YOU}(?:'ve| have)? ?(?:got |have )?(?:{_KEPT}|know|remember|store|keep|hold|have) (?:on|about|of|for) "
    rf"|\b{_YOU}(?:'ve| have)? (?:got )?(?:{_KEPT})\b|\b{_KEPT} (?:about|on) (?:me|us)\b"
    rf"|\b(?:on|about) me (?:in|on) (?:here|file|record)\b|\bmy (?:personal )?memories\b)"
)
"""Names of the assistant's memory, and of what it keeps."""

TOLD: Final = (
    rf"(?:\b(?:what|whatever|everything|anything|all|every word|nothing|none of what|"
    rf"(?:{_OWN}|those two|both|all)(?: of)?(?: the| my)? (?:[\w'-]+ ){{0,3}}{_INFO}|that time|how|where|when|which)"
    rf"(?: (?:about|of|with) (?:[\w'-]+ ){{1,5}}?)?(?: that| which)? (?:\w+ )?(?:i|we|(?!you)\w+)(?:'ve| have|'d|"
    rf" had| has)? "
    rf"(?:just |ever |once |already |also |never )*"
    rf"(?:told|said|mentioned|shared|gave|given|wrote|written|confided|disclosed|revealed|let slip|confessed|typed|"
    rf"blurted|admitted|complained)\b"
    rf"|\bthat (?:i|we)(?:'ve| have)? (?:\w+ )?(?:told|mentioned|shared|gave) (?:{_YOU}|to {_YOU})\b)"
)
"""Names of what was told: "what I said about …", "the address I gave you"."""

BARE: Final = lazy_regex(
    rf"{_START}(?:retire and )?(?:{_VERB}|{_SPLIT_VERB}|{_FORGET}|(?:stop|quit) {_KEEP}|retire)\b"
    rf"|\b(?:should|must|can|needs? to|has to) (?:now |please )?be (?:(?:treated|considered|regarded|"
    rf"marked) as )?{_GONE}\b"
    rf"|\b(?:should|must) (?:not|no longer) be (?:recalled|{_KEPT})\b|删|清[掉除]|抹|去掉|移除|忘[掉记]"
)
"""Commands to delete, of whatever."""

ADMITTED: Final = lazy_regex(
    rf"\bi\b.{{0,20}}\b(?:have|of) (?:told|mentioned|said|confided|shared)\b|\bknew i told {_YOU}\b|\b(?:i|"
    rf"we)(?:'ve| have)? "
    rf"(?:told {_YOU} about|mentioned|confided)\b|\b{_YOU} (?:still )?(?:know(?:ing)?|remember)\b|"
    rf"\b{_YOU}(?:'ve| have) .{{1,40}} {_KEPT}\b|{PLACE}|{TOLD}"
    r"|我.{0,8}(?:跟|和|对|向|同)你.{0,6}(?:说|讲|提|聊|吐槽)过|告诉(?:了|过)你|你.{0,4}(?:记得|知道|存|记着|说得出)"
)
"""Sentences after which "forget that" means what they tell."""

_TOLD_OBJECT: Final = (
    rf"(?:that (?:i|i'm|i've|we|my|our|he|she|they|his|her|their|\w+ (?:is|was|has|had|are|were))\b|"
    rf"i (?:ever )?(?:told|"
    rf"said|mentioned)\b|(?:what|everything|anything|whatever|how|where|which|who|when|nothing)\b(?! (?:is|was|are|"
    rf"were) (?:above|below|on the|in the|left))|(?:all )?about me\b|me\b(?= *[.!,]|$)|the fact that\b|"
    rf"{_OWN} (?:[\w'-]+ )"
    rf"{{0,4}}{_INFO}\b|[a-z][\w'-]*'s (?:[\w'-]+ ){{0,3}}{_INFO}\b|(?=[\w.@#+-]*\d)[\w.@#+ -]{{3,}}|['\"]\w)"
)
_OBJECT: Final = rf"(?:{_TOLD_OBJECT}|(?:about )?(?:my|our) (?!coat|umbrella|keys?\b|lunch|drink|order)\w)"
"""What can be forgotten: a statement, a piece of information, a value, what is the asker's."""

_KEPT_OBJECT: Final = rf"(?:{_MIND} (?:of )?{_OBJECT}|{_HOLD} {_TOLD_OBJECT})"

_POINTS: Final = (
    r"(?:it|that|this|them|those|these|all (?:of it|of that|that)|the lot|both(?: of (?:them|those))?|everything|"
    r"(?:this|that|these|those)(?: two)? (?:things?|info\w*|details?|facts?))\b"
)

_CHANGE: Final = (
    r"(?:,? (?:and )?(?:let's|let us|instead|i'll|we'll|just (?:use|do|make|go|give|write)|use |make it|tonight|"
    r"for (?:now|tonight|today|one|a )|this (?:week|year|evening|month)|(?:and )?(?:tell|show|give|write|help) me|"
    r"what|where|who|is there|are there|can you|could you|how)\b)"
)
"""Words after "forget …" that show a change of mind or of subject."""

ENGLISH: Final = (
    # An act upon the memory or on what was told.
    lazy_regex(
        rf"{_START}(?:{_VERB}|{_SPLIT_VERB}|{_FORGET})\b.{{0,160}}?(?:{PLACE}|{TOLD})"
        rf"|(?:{PLACE}|{TOLD}).{{0,160}}?(?:[,:;.?!–-] ?|\band |\bso ){_LET}(?:{_VERB}|{_FORGET})\b"
        rf"|(?:{PLACE}|{TOLD}).{{0,120}}\b(?:should|can|could|must|may|needs? to|has to|have to|ought to|"
        rf"had better|is to|"
        rf"are to) (?:now |please |just |all |also )*(?:go|be {_GONE}|vanish|disappear)\b"
        rf"|\b(?:want(?:ed)?|like|love|prefer)\b.{{1,80}}\b{_GONE}\b.{{0,30}}(?:{PLACE}|{TOLD})"
        rf"|(?:{PLACE}|{TOLD}).{{0,80}}\bwant(?:ed)? (?:it|that|this|them|all of it) (?:\w+ )?{_GONE}\b"
        rf"|\b(?:mind|about|consider|appreciate you) (?:please )?{_ING}\b.{{1,160}}?(?:{PLACE}|{TOLD})"
        rf"|\b{_YOU} (?:can|may) (?:now )?(?:{_VERB}) {_OWN} (?:[\w'-]+ ){{0,4}}{_INFO}\b.{{0,80}}\b(?:hold on to|"
        rf"ke[ep]+t?(?:ing)? |remember|to know)"
        rf"|{_START}(?:{_VERB}|{_SPLIT_VERB}) .{{1,100}}\b(?:ha(?:ve|ving)|want) {_YOU} (?:to )?(?:bring|mention|"
        rf"know|remember|keep)"
    ),
    # To forget, of the assistant.
    lazy_regex(
        rf"{_START}{_FORGET} (?:about )?{_OBJECT}(?!.{{0,80}}{_CHANGE})"
        rf"|\b(?:mind|about) (?:please )?(?:forgetting|unlearning) {_OBJECT}"
        rf"|{_START}(?:unlearn|unremember|unhear|un-know|un-?say) \w"
    ),
    # Not to keep any longer.
    lazy_regex(
        rf"(?:{_START}(?:stop|quit|no longer)|\b(?:mind|about|rather {_YOU}) (?:not|no longer)) {_KEPT_OBJECT}"
        rf"|\b{_YOU} (?:please )?(?:needn'?t|need not|don'?t (?:need|have) to|do not (?:need|have) to|mustn'?t|"
        rf"shouldn'?t|"
        rf"should not|no longer need to|can stop|should stop|won'?t need to|not) (?:\w+ )?{_KEPT_OBJECT}"
        rf"|\bi (?:don'?t|do not|no longer|never) (?:\w+ )?(?:want|wish|need|like) (?:for )?{_YOU} (?:to )?(?:\w+ )?"
        rf"(?:{_KEPT_OBJECT}|{_KEEP} {_POINTS})"
        rf"|\b(?:(?:i|we)(?:'d| would) (?:much )?(?:rather|prefer|feel better|feel safer|be happier|like it|"
        rf"sleep better|"
        rf"appreciate it)|it(?:'d| would) be (?:better|best|nicer|safer|good|"
        rf"great))\b.{{0,30}}\b{_YOU}\b.{{0,16}}(?:n'?t|"
        rf"\bnot|no longer|never|stopped)\b.{{0,12}}\b(?:{_KEEP}|knew(?: about)?|kept|had|stored|saved|remembered|"
        rf"held on "
        rf"?to) (?:{_OBJECT}|{_POINTS}|(?:the|about) )"
        rf"|\bi (?:wish|hope|prefer)\b.{{0,30}}\b{_YOU}\b.{{0,12}}(?:n'?t|\bnot|no longer|never)\b.{{0,12}}\b(?:knew|"
        rf"remembered|had|stored|saved|kept|{_KEEP}) (?:{_OBJECT}|{_POINTS})"
        rf"|{_START}(?:do not|don'?t|never|no longer) (?:ever |please |{_YOU} )?{_KEEP} (?:{_OBJECT}|"
        rf"{_POINTS}).{{0,60}}"
        rf"(?:{PLACE}|{TOLD}|\bany ?more\b|\bany longer\b|\babout me\b)"
        rf"|{_START}(?:do not|don'?t|never|not) (?:ever |please )?{_KEEP} {TOLD}"
        rf"|(?:{PLACE}|{TOLD}).{{0,100}}\b(?:do not|don'?t) (?:ever )?{_KEEP} {_POINTS}"
        rf"|{_START}(?:do not|don'?t) (?:ever )?(?!know|bring){_MIND} {_OBJECT}"
    ),
    # A wish that it were not kept, or had not been told.
    lazy_regex(
        rf"\b(?:i'?d|i would|i wish|i prefer|i want|it'?d|it would|make sure|ensure|see to it)\b.{{0,90}}"
        rf"(?:n'?t|\bnot|\bno longer|\bnever|\bnothing)\b.{{0,50}}(?:{PLACE}|\b{_KEPT} (?:with|by|about) |"
        rf"{_YOU}(?:'ve|'d| have| had)? (?:\w+ )?{_KEPT})"
        rf"|\b(?:n'?t|not|no longer|never|nothing|none)\b.{{0,60}}\b(?:be|stay|remain|is|are|gets?|"
        rf"to be) {_KEPT} (?:with|"
        rf"by|about|in) (?:{_YOU}|me|your)"
        rf"|\bi (?:don'?t|do not|no longer) (?:want|like|need)\b.{{1,70}}(?:{PLACE}|\b{_KEPT}\b(?! (?:the|my|a) ))"
        rf"|\b(?:pretend|act as if|act like|as if|as though|like)\b.{{0,20}}\b(?:i|we|{_YOU}) (?:had )?(?:never|"
        rf"didn'?t|did "
        rf"not) (?:told|tell|said|say|mention|mentioned|heard|hear|knew|know) (?:{_YOU}|it|that|this|about|what|any)"
        rf"|\b(?:should|must|may|can)(?:n'?t| not|no longer) be (?:\w+ )?(?:in|on|among) {PLACE}"
        rf"|\b(?:pretend|act as if)\b.{{0,20}}\b(?:i|we) (?:never|didn'?t) mention(?:ed)? .{{1,40}} to {_YOU}\b"
        rf"|\b{_YOU} (?:never|didn'?t) hear(?:d)? (?:that|this|it)\b(?=.{{0,60}}(?:{PLACE}|{TOLD}|$))"
        rf"|\bnothing (?:i|we|i've|that i)\b.{{0,40}}\b{_KEPT}\b|\b(?:it|that|this|simply) (?:could |should |"
        rf"would )?not exist with {_YOU}\b"
        rf"|\bi(?:'d like to| want to)? take back what i\b|\bclean slate, please\b"
    ),
)

_TOLD_YOU: Final = rf"\b(?:i|we)(?:'ve| have|'d)? (?:\w+ )?(?:told|said to) {_YOU}\b"

POINTING: Final = lazy_regex(
    rf"{_START}(?:(?:{_VERB}|{_FORGET}|(?:do not|don'?t) {_KEEP}) {_POINTS}(?! \w+ (?:from|off|in|"
    rf"out of) (?!{_YOU}))|"
    rf"(?:take|throw|wipe|strike|get) {_POINTS} (?:out|off|away|back|down)|let {_POINTS} go\b)"
    rf"|\bwant (?:it|that|this|them) {_GONE}\b"
    r"|^(?:所以|那|就|请|你|麻烦|帮我|把)*(?:那些|这些|那个|这个|那件事|这件事|这事|那事|它)?(?:请|你|就|都|全|"
    r"给我|也|赶紧)*(?:忘(?:了|掉|记)|删(?:了|掉|除)|清(?:了|掉)|抹(?:了|掉)|别(?:留|存|记)|不要(?:留|存|记))"
)
"""Acts upon what the sentence before tells: "Please delete that."."""

FOREIGN: Final = lazy_regex(
    r"\b(?:from|out of|off|in) (?:the|my|our|his|her|their|this|that|these|those|an?|every|all)\b(?! (?:records?|"
    r"memory|memories|(?:first|second|last|same) place)\b)(?! [\w' -]{1,30}(?:i|we) (?:told|said|mentioned))"
)
"""Sources other than the memory: "from the shopping list", "in the draft"."""

NEGATED: Final = lazy_regex(
    rf"\b(?:don'?t|do not|never|didn'?t|won'?t|can'?t|cannot|shouldn'?t|wouldn'?t|never) (?:{_YOU} )?(?:ever |just |"
    rf"please |want {_YOU} to |have to |need to )*(?:{_VERB}|{_FORGET})\b"
    r"|(?:别|不要|不能|不许|不可|不会|没有?|请勿|勿|不想|舍不得)(?:把[^，。]{0,12})?(?:给?(?:我|他|她|你))?(?:全|"
    r"都)?(?:删|忘|清空|清除|抹|丢|扔)"
)
"""Refusals to delete; "don't forget" asks for the opposite."""

QUESTION: Final = lazy_regex(
    r"^(?:(?:and|so|but|oh|hey|ok|okay|wait|sorry|hm+),? )*(?:how|what|why|when|where|which|who|does|do|did|is|"
    r"are|was|were|has|"
    r"have|should i|can i|could i|may i|must i|am i|if)\b(?!.{0,60}\b(?:i|we)(?:'ve| have)? (?:just |"
    r"ever )?(?:told|said|"
    r"mentioned|shared|gave)\b)(?!(?:ever)? ?(?:that |info )?(?:you|u)(?:'ve| have)? (?:know|have|remember|store|"
    r"save|kep?t)\w*\b.{0,60}[:,])"
    r"(?! i ask you to)"
    r"|(?:怎么|怎样|咋|如何|为什么|为何)[^，。]{0,24}(?:删|清|忘|抹|去掉|撤|擦|洗|移除|注销|移出|划)|"
    r"^(?:什么|哪)|(?:是不是|会不会|有没有)[^，。]{0,16}(?:忘|删)"
)

WRITING: Final = lazy_regex(
    r"\b(?:how (?:do|would|can|could|should) (?:you|i|we|one) (?:say|put|phrase|write|translate))\b|"
    r"\b(?:translate|rewrite|rephrase|paraphrase|proofread|shorten|reword)\b|"
    r"^(?:(?:please|can you|could you|help me|ok|now|and)[ ,]+)*(?:write|draft|compose|reply|text|tell|message|"
    r"email|send|"
    r"quote|answer)\b.{0,60}(?::|\bthat\b|\bsaying\b|\bto\b)|"
    r"\b(?:in|for) (?:my|the|this|a|chapter|scene|act) ?(?:\w+ )?(?:novel|story|script|poem|essay|song|chapter|"
    r"scene|play|code|"
    r"function|query|spreadsheet|one|two|three|four|five|\d+)\b|"
    r"翻译|剧本|台词|小说|歌词|缩写|润色|造句|作文|第[一二三四五六七八九十\d]+[章幕节集]|(?:写|发)(?:一?封|个|条|"
    r"一条)?(?:邮件|信|短信|微信|消息)|笔录"
)
"""Work on a text, in which a request may stand."""

_MANY: Final = "[^，。！？；,!?;\\n]"
_STORE: Final = r"(?:你的?(?:大脑|脑子|脑海|脑袋|记忆|记性|记录|备忘录?|笔记|资料库?|数据库?|档案|系统|心))"
_KNOWS: Final = (
    rf"(?:{_STORE}|(?<!我)(?<!他)(?<!她)(?<!失去)记忆(?:里|中|库)|从(?:记忆|脑子|脑海|记录|资料|档案)|"
    r"你(?:那儿|那里|那边|这儿|这里|这边|那|这)(?!么|样|个|些|种|件)|"
    r"你(?:还|都|已经)?(?:存|记|保存|记住|记录|记下|掌握|知道|了解)(?:着|了|过|下来)?的|你(?:存|记|保存|记录|"
    r"知道)(?:着|了)|"
    r"(?:替|给|帮)[我俺](?:再|一直|老|都)?(?:记|存|留|保存)(?!得)|(?:关于|有关)我的?(?:所有|一切|全部)?(?:信息|"
    r"资料|数据|记录|内容)|"
    r"我这个人的(?:事|信息|资料)|已经记下的)"
)
_SAID: Final = (
    r"(?:我(?:之前|以前|刚才?|刚刚|前面|上次|昨天|曾经|早先|当时|那天|原先|在这里|在这儿)?(?:跟|和|对|向|同|"
    r"给)?你?(?:说|讲|提|聊|吐槽|透露|交代|告诉你?|"
    r"抱怨|坦白)(?:过|的|了)|(?:跟|和|对|向|同)你(?:说|讲|提|聊|吐槽|透露|抱怨|坦白)(?:过|的|了|起)?|告诉(?:过|"
    r"了)?你的?|说给你|"
    r"(?:之前|刚才|刚刚|上次|以前|前面)(?:我)?(?:跟你)?(?:说|讲|提|聊|吐槽)(?:过|的|了)?|(?:说|"
    r"讲)我的(?:那些)?(?:话|事)|听(?:过|到过?))"
)
_OFF: Final = (
    r"(?:删(?:掉|除|了|去|干净|光|走)?|清(?:掉|除|空|理掉|干净|了|光)|抹(?:掉|去|了|除|干净)|去掉|移除|移走|"
    r"拿(?:掉|走)|扔(?:掉|了)?|丢(?:掉|了)?|擦(?:掉|除)|划掉|撤(?:回|掉)|收回|消(?:掉|除)|剔除|除掉|销(?:掉|毁)|"
    r"不要留|别留|别存|消失|忘(?!了?(?:跟|和|告诉|说|带)))"
)
_ABSENT: Final = r"(?:掉|了|记|干净|光|个?干干净净|得干干净净)"
_FORGET_ZH: Final = rf"忘{_ABSENT}?(?!跟|和|告诉|说|带)"
_NOT_KEEP: Final = (
    r"(?<!谁也)(?<!谁都)(?<!大家)(?<!们)(?<!们都)(?:别|(?<!要)不要|不用|不必|无需|无须|没必要|没有必要|用不着|"
    r"不许|不准|不该|甭|休|勿|莫|不想你|"
    r"不希望你|唔好|唔使|咪)(?:再|老|总|一直|继续|给[我俺]|替[我俺]|帮[我俺]|把|先|往后)*"
)
_KIND_ZH: Final = (
    r"(?:密码|号码|卡号|证号|号|地址|名字|生日|体重|身高|工资|收入|年龄|病|药|住址|电话|口令|信息|资料|情况|计划|"
    r"秘密|学校|日期|关系|宗教|信仰|血型|"
    r"车牌|姓名|小名|隐私|过往|历史)"
)
_MATTER_ZH: Final = (
    rf"(?:的事|[这那]?件事|[这那]事|事儿|[这那](?:条|段|种|档子|桩|回事|串)|"
    rf"关于|有关|我(?:的|家|们)?{_MANY}{{0,10}}?{_KIND_ZH})"
)
_TOPIC_ZH: Final = rf"(?:{_MATTER_ZH}|[这那]个|我的|我(?:家|们|自己|爸|妈|老公|老婆|儿子|女儿)|你)"

CHINESE: Final = (
    # An act upon the memory or what was said.
    lazy_regex(
        rf"(?:{_KNOWS}|{_SAID})[^。！？!?\n]{{0,40}}?(?:{_OFF}|{_FORGET_ZH}|{_NOT_KEEP}{_MANY}{{0,6}}?(?:记|存|留|"
        rf"保存|保留|提))"
        rf"|(?:{_OFF}|忘(?:掉|记)|{_NOT_KEEP}(?:留|存|记|保存)){_MANY}{{0,30}}?(?:{_KNOWS}|{_SAID})"
        rf"|(?:{_KNOWS})[^。！？!?\n]{{0,14}}?(?:没有|不要有|别有|压根没)"
        rf"|你(?:还|都)?(?:知道|记得|说得出|存着|记着)[^。！？!?\n]{{2,40}}?(?:[那这](?:条|些|个)|"
        rf"它){_MANY}{{0,10}}?{_OFF}"
        rf"|不(?:要)?在你(?:那里|那儿|那边|这里|这儿|这边)(?:保存|存|留)"
    ),
    # To forget, of the assistant.
    lazy_regex(
        rf"(?:^|[，。；：！？,;:!?\s]|请|你|您|麻烦|帮我|帮忙|就|能|可以|可否|赶紧|希望你|想让你)(?:就|都|把|"
        rf"将){_MANY}{{1,30}}?忘(?:掉|了|记|干净|光)(?!不|的)"
        rf"|{_MANY}{{2,30}}(?:请|求|劝)?(?:你|您)?(?:能|就|都|给我|赶紧|快|彻底|通通|统统|全|全部|"
        rf"从头到尾给我)*(?:忘(?:掉|记)(?:吧|了吧|好吗|行吗|可以吗|就好|，|,|!|！|。|$)|忘干净)"
        rf"|(?:^|[，。；：！？,;:!?\s])(?:请|麻烦)?(?:你|您)?(?:就|全|都|快|赶紧)?忘(?:掉|记|了)(?:我|关于|有关|"
        rf"那|这|所有|一切|之前|刚才)"
        rf"|(?:你|您)(?:就|全|都|快|赶紧|给我)?忘(?:掉|记|了)吧"
    ),
    # Not to keep any longer.
    lazy_regex(
        rf"{_NOT_KEEP}{_MANY}{{0,10}}?记(?:录|住|着|下|挂)?(?:我|{_TOPIC_ZH})"
        rf"|{_NOT_KEEP}(?:存|保存|保留|留|储存)(?:着|住)?(?:我|{_MATTER_ZH}){_MANY}{{0,10}}{_KIND_ZH}"
        rf"|(?:{_TOPIC_ZH}|{_KIND_ZH})[^。！？!?\n]{{0,16}}?{_NOT_KEEP}{_MANY}{{0,6}}?(?:记(?:录|住|着|下)?(?:了|"
        rf"啦|着|$|，|,|。|"
        rf"哈|吧|住)|记(?![得错那])|惦记)"
        rf"|(?:你|您)(?:能不能|可以|可不可以|就|先|以后|可别|也|最好)*{_NOT_KEEP}{_MANY}{{0,6}}?(?:存|保存|保留|"
        rf"留|储存|知道|晓得){_MANY}{{0,4}}?(?:{_TOPIC_ZH}|着|了|底)"
        rf"|{_MATTER_ZH}{_MANY}{{0,16}}?[，,]?(?:都|全都?|先|也|这个|你)*(?:{_NOT_KEEP})(?:存着|留着|存了|留底|"
        rf"保存|留存|留档)"
        rf"|(?:我|俺){_MANY}{{0,6}}?(?:不想|不希望|不愿意?){_MANY}{{0,4}}?(?:你|您){_MANY}{{0,8}}?(?:记|知道|存|"
        rf"留|保存)"
    ),
    # As if it had not been said.
    lazy_regex(
        rf"(?:就?当|只当|权当|当作|当成)(?:我|你|俺|什么都)?(?:从来|压根|从)?(?:没|冇)(?:有)?(?:跟你|听我?)?(?:听|"
        rf"说|讲|提|告诉)(?:到|见)?(?:过|你)"
        rf"|(?:你|您){_MANY}{{0,6}}?(?:不必|不用|别|最好不)(?:再)?知道|当没这回事"
    ),
)

REPORT_ZH: Final = lazy_regex(
    r"(?<![帮给替让请])(?:我|他|她|它|们|人家)(?:都|全|已经|早就|早|也|又|总是|总|老是|老|经常|刚刚?|昨天|今天|"
    r"不小心|差点|快|连[^，。]{1,8}|把[^，。]{1,10})*"
    r"(?:忘(?:了|掉了|记了|光)|删了|清了|丢了|抹了|想忘)"
)
"""Reports that somebody forgot or deleted something."""

FOREIGN_ZH: Final = lazy_regex(
    r"(?:从|在|把)(?!你|您|记忆|脑|这|那)[^，。！？；,!?;]{1,10}?(?<!记忆)(?<!脑子)(?<!资料)(?<!记录)(?:里|中|"
    r"上)(?!次|回|周|个)"
)
"""The same: "从清单里"."""

COMMAND: Final = lazy_regex(
    rf"\b(?:{_VERB}|{_FORGET})\b|\b(?:deleted|erased|forgotten|removed)\b|{_KEEP}\b.{{0,20}}(?:\bnot|n't)\b|删|忘|"
    rf"清[掉除理空干]|抹|销[掉毁]|去掉|"
    r"移除|扔掉|丢[了掉]|擦掉|划掉|撤回|收回|消除|[别勿]再?[留存记提]|不[要用必]再?[留存记]"
)
"""Any word of deleting or forgetting."""

CUE: Final = lazy_regex(
    rf"{COMMAND.pattern}|\b(?:delet|eras|remov|wip|scrub|purg|discard|unlearn|forget|getting rid|letting go|bin|"
    rf"losing|keep|stor|sav|remember|retain|record|memor|hold|hang|know|knew|kept|lose|go\b|gone|unsay|"
    r"un-|never|vanish|exist|slate|scratch|take|throw)|[别不没当忘删清抹留存记冇撤]"
)
"""Words without which a message asks for nothing."""

FRAME: Final = lazy_regex(
    rf"\b(?:{_VERB}|{_FORGET}|{_ING})\b(?: about)?|(?:^|[,;:.!?…–—-] ?|\b(?:and|to|mind|you|please|just|can|about|"
    rf"i) )(?:please )?(?:{_VERB}|take|throw|"
    rf"strike|cut|get|{_FORGET}|"
    rf"{_ING}|stop|quit|(?:do not|don'?t|no longer|not) {_KEEP})\b(?: about)?|\b(?:pretend|"
    rf"as if) {_YOU} never heard\b"
    rf"|(?:\b(?:from|out of|off|in) )?{PLACE}|\b(?:that |which )?(?:i|we)(?:'ve| have|'d|"
    rf" had)? (?:shouldn'?t (?:have|of) )?(?:\w+ )?"
    rf"(?:told|said to|mentioned|shared|gave|said|given)(?: to)?(?: {_YOU})?\b(?: about| regarding)?|"
    rf"\bi (?:don'?t|do not|no longer) "
    rf"want {_YOU} (?:to )?{_KEEP}\b|\b(?:everything|anything|whatever|all of it|all|any ?more|please|pls|plz|"
    rf"kindly|gone|be {_GONE}|"
    rf"{_KEEP}|(?:can|should|could|may) (?:be|go)|thing|the (?:bit|part|stuff|fact)(?: about| that)?|(?:could|can|"
    rf"would) {_YOU}|"
    rf"bring it up|never|want it|hold on|lol|mind|hey|quick\w*|cleanup|make sure|ensure|so|{_KEPT}|with {_YOU}|"
    rf"\w+n't|something|knew(?: about)?|(?:it)?'?d be better if|sit easier with me if|(?:i )?(?:would|"
    rf"should) be (?:most )?grateful if|simply|i'd (?:rather|prefer|feel better if)|{_YOU}|in fact|"
    rf"do me a favou?r|it|that)\b"
    rf"|{_KNOWS}里?|{_SAID}过?|(?<!遗)(?:{_OFF}|{_FORGET_ZH})[掉吧了啊呀]*|{_NOT_KEEP}{_MANY}{{0,3}}?(?:记(?:录|"
    rf"住|着|下)?|存着?|留着?|保存|保留)[了着啦]*"
    rf"|请|麻烦|您|你|帮我|求|赶紧|从(?=[^前])|就|当(?=没|我没)|没(?:听|说|跟)过?|[那这](?:件事|事儿?|条|些话?|些|"
    rf"档子事|种事|个)|的事儿?|的东西|"
    rf"对了|凡是|作废|沾边|有关的?|相关的?|之前|上次|以后|能不能|可以|全都|都|先|其实|谢谢|哈+|也|[吗吧啊呀呢]|"
    rf"万一.*$"
)
"""Words of a request around what it means."""

ACT: Final = lazy_regex(
    rf"\b(?:{_VERB}|{_SPLIT_VERB}|{_FORGET}|{_ING}|{_GONE})\b|(?:n't|\b(?:not|no longer|never|stop|quit|"
    rf"less))\b.{{0,12}}\b(?:{_KEEP}|{_KEPT}|knew)\b|(?:n't|\bnot)\b.{{0,24}}{_KEPT}|"
    rf"{_OFF}|{_FORGET_ZH}|{_NOT_KEEP}{_MANY}{{0,6}}(?:记|存|留|保)|当.{{0,4}}没"
)
"""Clauses that ask, rather than give a reason."""
