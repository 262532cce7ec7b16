"""Words of requests to forget and of other commands to delete, in English and Chinese. Pure."""

from __future__ import annotations

from typing import Final

from core.language.lazy_regex import lazy_regex

_YOU: Final = r"(?:you|u|ya)"

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

BARE: Final = lazy_regex(
    rf"{_START}(?:retire and )?(?:{_VERB}|{_SPLIT_VERB}|{_FORGET}|(?:stop|quit) {_KEEP}|retire)\b"
    rf"|\b(?:should|must|can|needs? to|has to) (?:now |please )?be (?:(?:treated|considered|regarded|"
    rf"marked) as )?{_GONE}\b"
    rf"|\b(?:should|must) (?:not|no longer) be (?:recalled|{_KEPT})\b|删|清[掉除]|抹|去掉|移除|忘[掉记]"
)
"""Commands to delete, of whatever."""

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
