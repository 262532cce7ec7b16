"""Tell Chinese assertions from questions, imagination, jokes, quotations and complaints."""

from __future__ import annotations

import re

from core.extraction.chinese.clauses import QUOTED
from core.language.chinese_household import KIN
from core.language.lazy_regex import lazy_regex

_QUESTION = lazy_regex(
    r"[吗么]$|(?<![着那])呢$|^(?:请问|怎么|为什么|为啥|哪(?!怕)|谁|"
    r"凭什么|何必|难道|几点|多少|能不能|可不可以|是不是|有没有|要不要|该不该)|"
    r"(?<![管论])(?:会不会|要不要|能不能|该不该|可不可以|值不值|够不够|行不行|合不合适|划不划算)|(?:几[次点号天个岁年]|多少(?:钱|人|天)?|什么|啥|谁|哪(?:里|儿|个|家)?|咋样)$|"
    r"(?:怎么(?:样|办|做|弄|写|选|说|安排|回事|会)|好不好|行不行|对不对|是吧|图什么|咋办|咋整|什么好|如何是好)$|"
    r"[你您](?:猜|说说|觉得|认为|知道|会不会|能|可以|有没有|是不是|见过|听过|信不信)|^[你您]说|什么(?:意思|时候|情况)"
)
_NOT_SO = lazy_regex(
    r"如果|假如|要是|假设|假使|万一|倘若|若是|要不是|哪怕|恨不得|但愿|"
    r"希望我|真想(?!换)|好想|(?:就|该多|多)好了$|梦见|梦到|做梦|"
    r"幻想|想象|说不定|也许|可能会|差点|险些|比如|例如|譬如|打个比方|"
    r"好像|似乎|仿佛|简直|估计|快要(?:疯|死)|搞不好|八成|"
    r"理论上|按理说|下辈子|上辈子|来世|时光机|外星|火星|中(?:了)?(?:彩票|[一二三五\d]+[百千]?万|大奖)|世界末日"
)
_WITHDRAWS = lazy_regex(
    r"开(?:个|了个)?玩笑|逗[你您](?:的|玩)|骗[你您]的|当我没说|愚人节|"
    r"瞎说的|乱说的|胡说的|瞎编的|编的$|随口(?:一)?说|"
    r"别当真|说着玩|(?:也)?就(?:是)?(?:听说|说说)|说说(?:而已|的)|嘴上说说|想想而已|别记(?:$|[。！，])|^假的|不是真的|[看试][你您]信不信|^算了"
)
REMARK = 10
"""Characters of a sentence that only comments on the one before it."""
_DISBELIEVES = lazy_regex(
    r"鬼才?信|信(?:他|她|它|你)?(?:个|什么|才有?)鬼|听听(?:就|也)?(?:就)?(?:好|行|算|罢)|(?:像|是|在|又|爱)吹牛|吹牛(?:吧|呢|而已)|谁知道(?:是)?(?:真|假|呢)|真假(?:谁|不)|"
    r"(?:不知道|不晓得|分不清)(?:是)?真(?:的)?(?:还是)?(?:是)?假|我(?:才|可|是|反正)?不信|[你您]信(?:吗|么|不信|$|？)|信不信由|不可信|当(?:个)?笑话听|胡扯|瞎扯"
)
_HEARSAY = lazy_regex(
    r"听说|据说|传(?:言|闻|说)|都在传|在传|谣言|八卦|小道消息|网上(?:说|讲)|有人(?:说|讲)|人家(?:说|讲)|大家都说|"
    r"吹牛|非[说让要叫逼]|声称|自称|号称|(?:新闻|报道|书|电影|小说|剧|歌|广告|"
    r"帖子)(?:里)?(?:上)?(?:说|讲|写|唱|的主角)|主角|朋友圈(?:里)?说|念叨|"
    r"被(?:念|问|说)|(?<!自)以为|怀疑我|以为我|觉得我|认为我|说我"
)
_SAYS = lazy_regex(
    rf"(?:说|问|喊|讲|回|叫|哼|念|唱|写道|感叹|嘀咕|夸|骂|吐槽|抱怨|唱|来一句|来了句|就|俩字)[道了过着]?[:：，]?{QUOTED}"
)
_SAID_BY = lazy_regex(
    r"^(?P<who>[^，我]{1,8}?)(?:跟我|对我|和我|告诉我|又|总|老|一直|天天)?(?:说|讲|问|喊|抱怨|吐槽|表示|觉得|认为)"
    r"(?![话过起到明书服得好定])(?P<said>.*)$"
)
_NEWS = lazy_regex(r"(?:走了|去世了?|生了|怀孕了?|离婚了?|结婚了?|住院了?|做手术了?)$")
_ADVICE = lazy_regex(
    r"(?:医生|大夫|专家|教练|牙医|中医)[^，]{0,4}(?:让|叫|建议|嘱咐|要求|说|交代|(?:给|帮)?我?(?:开了|换了|加了))"
)
_MOOD = lazy_regex(
    r"救命|绝了|笑死|气死|愁死|累死|烦死|热死|冷死|困死|无语|崩溃|心累|麻了|滴血|飘走|飞走|裂开|破防|社死|emo|emmm|"
    r"[哈呵嘿嘻]{2,}|呜呜|天哪|天呐|我的天|唉+$|龇牙咧嘴|耳朵起茧|"
    r"睁不开眼|眼都花|像(?:一|个|条|只|极|在|是|被|外星)|跟.{1,6}似的|似的$|一样$|"
    r"(?:幸福|尴尬|开心|高兴|舒服|难受|羡慕|后悔|紧张|吓|饿|急|忙|恶心|无聊|疼|痛|麻烦|难吃|好吃|可爱|丢人|羞|馋|撑|美|爽|酸|香|晒|闷|憋屈|吵|堵)死(?:了|我|人)|"
    r"吊销|通缉令|放烟花|太体贴|离谱|狗都不|人都(?:傻|麻|没)|当场(?:去世|"
    r"裂开)|原地(?:去世|退休|升天)|吃土|要命|没救了|"
    r"[得](?:我|都|把)[^，]{1,14}$|谁(?:懂|发明|想)|图什么|有意思没|"
    r"真香|服了|醉了|栓q|yyds|无敌|天下第一|拍脑袋|信.{0,3}鬼|泡面"
)
_SARCASM = lazy_regex(
    r"真(?:是|的是)?太[^，]{1,8}了(?:呢|呀|啊)?$|可真(?:是)?[^，]{2,6}(?:啊|呢|呀)$|真是大(?:善人|好人|聪明)"
)
_SCENE = lazy_regex(
    r"^(?:我)?(?:今天|今早|今晚|昨晚|刚才|刚刚|方才|下午|早上|中午|"
    r"晚上|刚|这会儿?|此刻|现在外面|外面|窗外|楼上|楼下|隔壁|路上|地铁上|公交上)"
)
_TALK = lazy_regex(
    r"^(?:[我先]{0,2})(?:不聊|走了|撤|溜|睡|困|晚安|拜|再见|下班|去忙|"
    r"忙去|去(?:吃饭|洗|铲|收|睡|开会|做饭|接)|回头|改天|聊到|说到这)|"
    r"^(?:[老小阿]?[\u4e00-\u9fff]{1,3})?(?:报到|上线|驾到|又?来[了啦]|回来[了啦])$|谢谢|感谢|多谢|辛苦|不好意思|抱歉|对不起|没关系|^(?:好|行|嗯|"
    r"对|是|没错|明白|知道|收到|可以|同意|随便|无所谓|不用|没事|果然|确实|真的|当然)"
    r"(?:的|了|吧|啊|呀|哦|就行|就好|知道)*$|我(?:明白|懂|知道|理解|同意|不知道|不确定|不懂|也是|也觉得|觉得你)|"
    r"(?:帮|给|替|教|陪|告诉|提醒)(?:一下)?我(?!的|爸|妈|家|儿|女|老|"
    r"男|弟|哥|姐|妹|买|送|介绍|办|请|安排|留|寄|开了|带|调|升|涨|加|放)|给我(?:看|来|讲|说|编|"
    r"写|推荐|发|想|念|算|查|列)|"
    r"^(?:我)?(?:想|要|来)(?:问|请教|咨询|了解|知道|请你|让你|听听|"
    r"聊聊)|告诉我|我(?:看看|试试|想想|再想|说真|跟你说|问你)|[你您](?:真|好|太|话|笑|别|看|听|"
    r"先|也|又|不|的(?:意思|建议))"
)
_ROLE_PLAY = lazy_regex(
    r"扮演|[你您](?:来)?扮|我(?:来)?扮(?!演技)|我演|你演|演一个|演个|角色扮演|模拟(?:面试|一下|场景)|练(?:一下)?(?:面试|"
    r"口语|对话)|[你您](?:来)?当.{1,8}[，,]?我(?:来)?[当是演]|假装(?:[你我是])|"
    r"cosplay|玩(?:个|一个)?(?:角色|剧本|接龙|狼人)|写(?:个|一个|一段|篇)(?:故事|小说|剧本)"
)
_ROLE_ENDS = lazy_regex(
    r"停$|停[。！，]|演不下去|不演了|出戏|结束(?:吧|了)?$|不玩了|说真的|"
    r"正经事|说正事|回到(?:正题|现实)|言归正传|到此为止|不练了|练完|谢谢面试官"
)
_TEST = lazy_regex(
    r"^(?:测试){1,3}(?=[，,。！!：:\s]|一下|$)|^(?:这|只)是(?:个|一个|"
    r"条|句)?测试|^(?:test|testing|hello world)\b|^试试(?:看)?[，,]",
    re.IGNORECASE,
)
_CODE = lazy_regex(
    r"[{}<>=;]\s*$|^\s*(?:def|class|import|print|SELECT|console\.|"
    r"#include|public|const|let|var)\b|[\w)]\s*==?\s*[\w(\"'].*[;)]",
    re.MULTILINE,
)
_CORRECTS = lazy_regex(
    r"^(?:[啊哦呃额诶等一下慢着，,]*)(?:不对|不是不是|说错|算错|看错|"
    r"记错|打错|写错|搞错|弄错|讲错|说反|记反|口误|笔误|更正|纠正|改正|订正|错了|嘴瓢|手误|(?:时间|"
    r"日期|日子)?(?:改期?|变|推迟|提前|延期)了[，,])"
)
_CORRECTS_WITHIN = lazy_regex(
    r"(?:[，,。…—]+|^)(?:[啊哦呃额等]*)(?:不对|不是|口误|说错了?|记错了?|"
    r"打错了?|写错了?|算错了?|看错了?|搞错了?|手误|嘴瓢|更正|错了|(?:^|[，,])(?:时间|日期|日子)?(?:改期?|"
    r"变|推迟|提前|延期)了)(?=[，,：:。！…])"
)


def is_test(message: str) -> bool:
    """Return whether a message only tries whether somebody reads it, or is code."""
    return bool(_TEST.search(message.strip()) or _CODE.search(message))


def begins_role(message: str) -> bool:
    """Return whether somebody else speaks from here on, though the same person writes."""
    return bool(_ROLE_PLAY.search(message))


def ends_role(message: str) -> bool:
    """Return whether the writer speaks as themselves again."""
    return bool(_ROLE_ENDS.search(message))


def speaks_plainly(masked: str) -> bool:
    """Return whether the message that ends a role already speaks of the writer."""
    return bool(re.search(r"说真的|正经事|说正事|言归正传", masked))


def withdraws(masked: str) -> bool:
    """Return whether what was said right before was not meant."""
    return bool(_WITHDRAWS.search(masked))


def disbelieves(masked: str) -> bool:
    """Return whether the speaker does not believe what they report."""
    return bool(_DISBELIEVES.search(masked)) and not re.search(r"[佛教神命]", masked)


def corrects(sentence: str) -> bool:
    """Return whether it begins by saying that what was said right before is wrong."""
    return bool(_CORRECTS.search(sentence))


def after_correction(sentence: str, masked: str) -> str:
    """Return the part of `sentence` after its last self-correction."""
    places = list(_CORRECTS_WITHIN.finditer(masked))
    return sentence[places[-1].end() :].lstrip("，,：:。！… ") if places else sentence


def before_correction(wrong: str) -> str:
    """Return the words before a self-correction."""
    return _CORRECTS_WITHIN.sub("", wrong.rstrip("，,：:。！… ") + "，").strip("，,：:。！… ")


def is_question(masked: str) -> bool:
    """Return whether a clause, without its mark, asks."""
    return bool(_QUESTION.search(masked.rstrip("。！!.~～")))


def is_imagined(masked: str) -> bool:
    """Return whether a sentence speaks of what is not so."""
    return bool(_NOT_SO.search(masked))


def is_advice(masked: str) -> bool:
    """Return whether a doctor or coach is reported to have told the speaker what to do."""
    return bool(_ADVICE.search(masked))


_TO_ME = lazy_regex(r"(?:找|让|叫|通知|安排|派|调|要求|劝|逼)我(?!们|家|[爸妈哥姐弟妹爷奶儿女老])")


def is_done_to_me(masked: str) -> bool:
    """Return whether somebody has the speaker do something, of whom the next clauses tell then."""
    return bool(_TO_ME.search(masked))


def is_others_word(masked: str) -> bool:
    """Return whether a clause gives what somebody else said, thinks or is rumoured to do."""
    if is_advice(masked):
        return False
    if _HEARSAY.search(masked) or _SAYS.search(masked) or masked.startswith(QUOTED):
        return True
    report = _SAID_BY.match(masked)
    if report and _NEWS.search(report["said"]):
        return False
    # Who tells of their own plans is a good source, who tells of others is not.
    return report is not None and not re.match(
        rf"(?:(?:她|他|自己)(?!(?:的)?(?:{KIN}|同事|同学|邻居|老板))|要|想)[^，]{{0,12}}"
        r"(?:要|会|打算|准备|在|想|月|年|号)",
        report["said"],
    )


def is_mood(masked: str) -> bool:
    """Return whether a clause paints a mood, exaggerates or is a stock phrase of talk."""
    return bool(_MOOD.search(masked) or _TALK.search(masked))


def is_sarcastic(masked: str) -> bool:
    """Return whether a sentence ends in praise of what it complains about."""
    return bool(_SARCASM.search(masked.rstrip("。！!.~～…")))


def is_scene(masked: str) -> bool:
    """Return whether a clause tells of this very moment or day."""
    return bool(_SCENE.search(masked))
