"""Holds the words and patterns by which people ask to forget, in English and Chinese. Pure."""

from __future__ import annotations

from typing import Final

from core.language.lazy_regex import lazy_regex

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

GONE: Final = (
    r"(?:deleted|erased|forgotten|removed|wiped|scrubbed|purged|dropped|discarded|expunged|redacted|gone|cleared|"
    r"taken out|struck|dumped|scrapped)"
)

KEEP: Final = (
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

COMMAND: Final = lazy_regex(
    rf"\b(?:delete|erase|forget|remove|wipe|scrub|purge|dump|scrap|discard|expunge|redact|get rid of|clear|strike|"
    rf"take .{{1,30}} out)\b|{GONE}\b|{KEEP}\b.{{0,20}}(?:\bnot|n't)\b|删|忘|清[掉除空理干]|抹|销[掉毁]|去掉|"
    rf"移除|扔掉|丢[了掉]|"
    r"擦掉|划掉|撤回|收回|消除|[别勿]再?[留存记提]|不[要用必]再?[留存记]"
)

CUE: Final = lazy_regex(
    rf"\b{_VERB}\b|\bdelet(?:ion|ing)|\bremov(?:al|ing)|\bstop\b|{GONE}\b|(?:\bnot|n't|\bno|\bnothing|\bstop|"
    rf"\brather|\bnever)\b.{{0,60}}\b{KEEP}\b|"
    rf"\b{KEEP}\b.{{0,30}}(?:\bnothing|\bnone|\bnot|n't)\b|clean slate|recalled|retired|\bgo\b|\blose\b|"
    rf"\bno business\b|\b(?:say|agree|pretend)\b.{{0,20}}\bnever\b|\bexist|vanish|disappear|"
    rf"(?:n't|\bnot|\bno)\b.{{0,80}}\b{_WRITTEN}\b|\bwant\b.{{0,80}}\bin here\b|out of your|scratch|take back|unsay|"
    r"删|忘|清|抹|销|去掉|移除|扔|丢|擦|划掉|撤回|收回|消[掉除]|留|存|别记|不[要用必].{0,4}记|没听|没说过|没讲过|"
    r"不知道|没必要|作废|"
    r"拿掉|剔除|除掉|抛到脑后|别再提|[别甭莫咪].{0,10}记|唔[好使].{0,10}记|你那.{0,6}没有|消失|翻篇|咗|不要了|不用了|不作数|"
    r"无需|不用管.{0,6}(?:记|存)|保留"
)
"""Words without which a message asks for nothing of the kind and repeats nothing as deleted."""

ENGLISH: Final = lazy_regex(
    # A command at the beginning of a clause.
    rf"(?:^|[,;:.!?]\s+|\bso |\band (?=please|also|then|just)|"
    rf"\bbut (?=please))\"?(?:hey \w+, )?{_LEAD}{{0,5}}(?:{_PHRASE})"
    rf"|(?:^|[,;:.]\s+){_LEAD}{{0,4}}(?:retire and )?stop (?:recalling|remembering|storing|keeping|mentioning|"
    rf"holding|retaining)"
    # A wish that something is gone, or not kept.
    rf"|\b(?:i|we)(?:'d| would)? (?:\w+ )?(?:want|like|need|prefer|"
    rf"love)\b.{{2,90}}(?<!the )(?<!not )(?<!be )(?<!stay )\b{GONE}\b"
    rf"|\b(?:should|must|can|needs? to|has to|ought to|may) (?:now |please |just |all |also )?be "
    rf"(?:(?:treated|considered|regarded|marked) as )?{GONE}\b"
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
    rf"\b(?:didn't|did not|don't|do not|no longer|not|never|wouldn't|couldn't)\b.{{0,12}}\b{KEEP}\b"
    rf"|\byou (?:needn't|need not|don't need to|do not need to|don't have to|mustn't|shouldn't|should not|"
    rf"no longer need to|"
    rf"can stop|should stop|won't need to) (?:\w+ )?{KEEP}\b"
    rf"|\b(?:no|isn't any|not any|any) (?:need|reason|point)\b.{{0,30}}\b{KEEP}\b"
    rf"|\b(?:make sure|ensure|see to it)\b.{{2,90}}\b(?:aren't|isn't|is not|are not|gets?|is|are|don't|doesn't|"
    rf"no longer)\b.{{0,12}}"
    rf"(?:\b(?:kept|stored|saved|remembered|retained|stay)\b|{GONE}\b)"
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
    rf"|^(?:\S+ ){{0,5}}(?:so |and )?kindly (?:don't|do not) {KEEP}"
    rf"|\b(?:so|and|but|just|then) (?:kindly |please |just )?(?:don't|do not) (?:hold|hang) on ?to\b"
    # A thing that may go: "the gate code can go".
    rf"|\b{_THING} (?:can|may|should|must|has to|needs? to|ought to) (?:now |just )?go\b(?! (?:to|in|on|under|up|"
    rf"down|with)\b)"
    rf"|\blose (?:the|that|my|his|her|our|their|this|those) (?:[\w']+ ){{0,3}}{_THING}\b"
    rf"|\b(?:has|have|had|with) no business (?:\w+ ){{0,3}}(?:your|you|here|in there)\b"
    rf"|\b(?:let's|we|can we|could we|please) (?:just )?(?:say|agree|pretend|act as if) (?:that )?(?:i|we) never\b"
    # Agreement with a request: "Confirmed. The retired code … is deleted from memory."
    rf"|\b(?:is|are|was|were|has been|have been) (?:now )?{GONE} from (?:[\w-]+ ){{0,4}}(?:memory|records?|files?|"
    rf"summary|history)\b"
    rf"|\b(?:confirmed|logged|acknowledged)\b.{{0,40}}\bdeletion\b|\bdeletion request (?:confirmed|for)\b"
)

_MANY: Final = "[^，。！？；\\n]"

_OFF: Final = (
    r"(?:删(?:掉|除|了|去|干净|一下|光|吧)?|(?<![还结付算看说分弄问认])清(?:掉|除|空|理掉|干净|了|光)|"
    r"抹(?:掉|去|了|除|干净)|(?<![吊报])销(?:掉|毁|了)|"
    r"去掉|移除|扔(?:掉|了)|丢(?:掉|了)|擦(?:掉|除)|"
    r"划掉|撤(?:回|掉|了)|收回|消(?:掉|除)|拿掉|剔除|除掉|忘(?:掉|了|记|干净)|抛到脑后|洗掉|作废掉)"
)

_ITEM: Final = r"(?:那条|这条|那段|这段|记录|信息|号码|密码|地址)"

CHINESE: Final = lazy_regex(
    # A command or a wish, with the object before or behind the verb.
    rf"(?:请|你|您|麻烦|帮我|替我|给我|帮忙|把|将|都|全部?|统统|通通|一并|也|就|可以|能不能|能否|还是|直接|赶紧|快|"
    rf"干脆|最好|应该|该|要|想让你|希望你?|全给我|全都)"
    rf"{_MANY}{{0,24}}?{_OFF}|(?:^|[，。；：、！？\s]){_OFF}(?!不|错)|{_OFF}(?:吧|行不行|好吗|好不好|就行|就好|"
    rf"可以吗|谢谢|为好|哈|啊|好了|算了|得了)"
    rf"|(?:别|(?<!要)不要|不用|不必|无需|无须|没必要|没有必要|用不着|不许|不准|不该|甭|休|不想|不希望|不愿|不宜|勿|"
    rf"莫){_MANY}{{0,14}}?(?:留|存|记(?!得)|保留|收着|放|知道)"
    rf"|(?:当|就当|当作|当成|权当|只当){_MANY}{{0,12}}?没{_MANY}{{0,6}}?(?:听|说|讲|提|告诉|发生|聊)"
    rf"|你(?:那儿|那里|那边|这儿|这里|这边|脑子里|心里|手里){_MANY}{{0,8}}?(?:没有|别有|不要有|不存|不留|没存|没留)"
    rf"|(?:从|在)你{_MANY}{{0,10}}?(?:消失|除名|抹|不见)|{_ITEM}{_MANY}{{0,10}}?(?:不要了|不用了|不作数了?|可以走了|拜拜)|(?:你|"
    rf"您){_MANY}{{0,6}}?(?:不必知道|不用知道|别知道|就不知道)"
    rf"|当我{_MANY}{{0,6}}?(?:放屁|胡说|瞎说|没来过|喝多)"
    rf"|(?:唔好|唔使|咪){_MANY}{{0,14}}?(?:记|留|存|keep)|[删洗剷铲掟]咗"
    rf"|最好{_MANY}{{0,6}}?(?:不知道|忘|没听)|别留底|不留底|[别不]{_MANY}{{0,4}}?(?:留痕|留档|备案|入档|存档)"
)
