"""Word tables for Chinese statements about one thing: aspects, ends, changes, values. Data."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Aspect:
    """Something with one value at a time. `now`: patterns of a new value; `was`: patterns of an old one.

    `k`: its subject; `v`: its value. `own`: the statement itself must say so, not only the sentence around it.
    `marked`: it must mention a change. `nested`: one value may lie in another, as a district in its town.
    """

    name: str
    now: re.Pattern[str]
    was: re.Pattern[str]
    own: bool = False
    marked: bool = False
    nested: bool = False


_V = r"(?P<v>[\u4e00-\u9fffA-Za-z0-9#*-]{1,16})"
_N = r"[\d一二两三四五六七八九十百千万半几]+"
_THING = (
    r"(?P<k>办公室|工位|座位|宿舍|储物柜|柜子|车位|门禁码|门牌号?|房间|工号|学号|网名|昵称|店名|公司名|密码|联系电话|"
    r"群名|会员号)(?:号码?)?"
)
_DIGITS = r"(?P<v>[A-Za-z]?-?\d{1,6})号?"
_IS = (
    r"(?:也|都)?(?:从[^，]{1,6}?)?(?:现在|已经|其实|应该|又)*(?:是|在|叫|改成|改到|改叫|换成|换到|变成|搬到|挪到|：)了?"
)
_IS_OR_NOT = f"(?:{_IS})?"
_WITH = (
    r"(?P<k>搭档|领导|老板|上司|主管|房东|班主任|老师|教练|室友|同桌|导师|主治医生|保姆|阿姨)(?:现在|已经)*(?:的)?"
    r"(?:是|叫|姓|换成|变成|换了)了?"
)
_GRADE = r"(?:教|带)(?:的是)?(?P<v>[初高][一二三]|[一二三四五六]年级)"
_CLASS = (
    r"^(?![^，]{0,24}[教带])[^，]{0,16}?[读念上在是]"
    r"(?P<v>幼儿园[大中小]班|(?:小学)?[一二三四五六]年级|初[一二三]|高[一二三]|大[一二三四]|研[一二三]|大学)"
)
_MODE = r"(?P<v>地铁|公交|班车|开车|骑车|骑电动车|走路|步行|打车|坐车)"
_LASTS = rf"{_N}(?:来|多)?分钟|{_N}个?(?:半)?小时|{_N}站|{_N}号线"
_TAKES = (
    rf"^(?![^，]{{0,30}}[到去](?!公司|单位|上班))[^，]{{0,12}}?{_MODE}(?:[^，去到]{{0,8}}(?:{_LASTS})|去?上班|上下班)"
)

ASPECTS: tuple[Aspect, ...] = (
    Aspect(
        "home",
        re.compile(
            r"(?<!公司)(?<!单位)(?<!学校)(?<!办公室)(?<!店)(?:(?:搬|移居|定居)(?:家)?(?:到|去|进|来|回|在)了?|搬(?=[^，]{2,4}去了)(?!东西|行李|箱子|办公))"
            r"(?P<v>[\u4e00-\u9fff]{2,10}?)(?:去了|了|住了?)?$|(?:(?:现在|如今|目前|改)(?:就)?住(?:在|到)?|新家在(?![\d一二三四五六七八九十]+[楼层]))(?P<w>[\u4e00-\u9fff]{2,10})$"
        ),
        re.compile(
            r"(?:(?<!居)住(?:在)?|(?<!老)家(?:住)?在|家住|搬(?:到|去|来|进)了?|定居(?:在)?)(?![^，]{0,8}(?:酒店|民宿|宾馆|院$))"
            r"(?P<v>[\u4e00-\u9fff]{2,10})|^(?P<w>[\u4e00-\u9fff]{2,6}[区县镇])$"
        ),
        own=True,
        nested=True,
    ),
    Aspect("what it is", re.compile(f"{_THING}{_IS}{_V}"), re.compile(f"{_THING}{_IS}{_V}")),
    Aspect(
        "its number",
        re.compile(f"{_THING}(?:的)?{_IS_OR_NOT}{_DIGITS}"),
        re.compile(f"{_THING}(?:的)?{_IS_OR_NOT}{_DIGITS}"),
    ),
    Aspect("who it is", re.compile(rf"{_WITH}{_V}"), re.compile(rf"{_WITH}{_V}"), marked=True),
    Aspect("class taught", re.compile(_GRADE), re.compile(_GRADE), own=True, marked=True),
    Aspect("class", re.compile(_CLASS), re.compile(_CLASS), own=True),
    Aspect("way to work", re.compile(_TAKES), re.compile(_TAKES), own=True, marked=True),
)

SINGLE = frozenset({"age", "education", "home", "work", "weight", "diet"})
"""Prefixes of slots with one value per person."""

WISH = "的长期要求："
WISHES = {
    "length": re.compile(
        r"(?:[一二两三四五六七八九十\d]+(?:句|个?字|段|行)|简短|简洁|精简|(?:回答|回复|说|写)[^，]{0,6}[长短]|详细)"
    ),
    "code": re.compile(r"代码|示例"),
    "money": re.compile(r"人民币|美元|欧元|港币|价钱|金额"),
    "clock": re.compile(r"24小时制|12小时制|二十四小时"),
    "emoji": re.compile(r"表情|emoji", re.IGNORECASE),
    "address": re.compile(r"称呼|(?:叫|喊)我"),
}
"""Topics on which one standing wish replaces another."""

WISHED_NO_MORE = re.compile(r"(?:别|不用|不要|甭|不必)[^，。]{0,12}了(?=$|[，。])|取消|作废")
"""Standing wishes that revoke another one."""

NOT_SO = re.compile(
    r"想|打算|准备|计划|考虑|可能|也许|要是|如果|万一|怕|没(?!中签|去成|办成|买到|抢到|选上|成)|别|差点|快要|以前|之前|曾|当年|小时候|"
    r"要(?=换|搬|辞|卖|戒|退|停|改|调|走|回|离)|[吗么]$"
)
"""Words before a change that say it has not happened."""

BYGONE = re.compile(r"以前|从前|曾经?|原来|当年|小时候|退休前|不再|戒了|已经没|卖了|去过")
"""Past statements, which cannot end again."""
PAST = re.compile(r"转行|教了|了[\d一二两三四五六七八九十]+年|\d月\d{1,2}[日号]|以前|之前|曾|原来|当年|\d年(?:的|毕业)")
AHEAD = re.compile(r"打算|准备|计划|想|要去|将|从[^，]{2,14}起|明天|下个?月|下周|明年|入职$")
MARKED = re.compile(r"现在|如今|目前|改|换|新|变成|不再|不用|搬|调|升|转|这学期|开学|开始|只要|其实|更正|才对|说错")
TURNED = re.compile(r"现在|如今|变成|换成|改|不(?:再)?(?:喜欢|爱)|退役|没像样|腻")
BESIDE = re.compile(r"另外|还(?:有|加|多)|再加|又加|也(?![改换停减调推挪延])")
HAS = r"(?:号码?)?(?:的?(?:现在)?(?:是|叫|在|为|姓|：|用)|就?[A-Za-z0-9])"
RENEWED = re.compile(
    r"(?P<k>[\u4e00-\u9fff]{2,6}?)(?:也|都|又|就|已经|刚|上周|昨天|前天|最近|上个?月|被)*(?:改名|改|换|变|重设|更新)了$"
)
_STILL = r"(?:还|就|都|也|现在|一直)*"
FAVOURITE = re.compile(
    rf"最(?:喜欢|爱)(?:吃|看|听|喝|玩|读|用|去)?(?:的[\u4e00-\u9fff]{{0,5}}?{_STILL}(?:是|变成了?|换成了?|成了)|{_STILL}(?:是|变成了?|换成了?)?)"
    r"(?P<v>[\u4e00-\u9fffA-Za-z《》0-9]{2,12}?)(?:了|的)?(?=$|[，。、])"
)

LEFT = re.compile(
    r"工作(?:也|都|又)?换了|换(?:了)?(?:份|个|家)?(?:新)?(?:工作|单位|公司)了?$|换(?:了)?(?:份|个|家)?(?:新)?工作|"
    r"跳槽|(?<!提)离职(?!率|信)|辞职|辞了|不干了|被裁|下岗了|"
    r"不在(?P<v>[\u4e00-\u9fffA-Za-z]{2,10}?)(?:上班|工作|干|做|教书?)?了|"
    r"调回了?[\u4e00-\u9fff]{2,6}|(?:调|转岗|转)(?:到|去|往)(?:了)?[\u4e00-\u9fff]{2,12}(?:医院|公司|学校|分公司|部|科|组|院|局|所|中心)"
)
WORKS = re.compile(
    r"在(?P<v>[\u4e00-\u9fffA-Za-z]{2,14}?)(?:上班|工作|任职|当|做(?![的了])|写|教|干活|实习|打工|值班|坐诊|带)|"
    r"教(?:初|高)[一二三]|带[\d一二三四五六七八九十两]+(?:个)?(?:人|班)"
)
WITH_WHOM = re.compile(r"同事|手下|请了[一二两三四五六七八九十\d]+个人|一起干|合伙")
"""Statements that somebody is with another person."""

MOVED = re.compile(
    r"改(?:成|到|在|为)|换(?:成|到|在)|挪(?:到|成)|推(?:迟)?到|延(?:期|后|迟)?到|提前到|调(?:整)?(?:到|成|为)|"
    r"(?:挪|改|换|调)(?:了)?(?=周|星期|礼拜|下午|上午|\d+[号点])|排[到在]|往后(?:挪|推)了?|减半|翻倍|加倍|(?:减|加|少|多|降|涨)了(?=$|，)|减(?:成|到|为|少到)|加(?:到|成)|增加到|降(?:到|成|为)|涨到|下调|往下调|现在(?=[^，]{0,4}(?:隔|每|周|一[天周]))"
)
SORTS = (
    re.compile(r"(?<![A-Za-z])[A-Z]{1,3}\d{2,5}", re.ASCII),
    re.compile(
        rf"每(?:{_N}个?)?(?:天|日|周|月|年|晚|早|次|星期|季度)[一二三四五六日]?|隔[天周日]|天天|"
        rf"{_N}个?(?:天|周|月|年)[^，]{{0,4}}一次|半年[^，]{{0,4}}一次|周[一二三四五六日末][^，]{{0,6}}"
    ),
    re.compile(r"\d{1,2}月(?:\d{1,2}[日号]|[底初]|[上中下]旬)?|十[一二]?月|[一二三四五六七八九]月|\d{1,2}[日号]"),
    re.compile(r"[\d一二两三四五六七八九十百千万半]+(?:点半?|[:：]\d\d)"),
    re.compile(
        r"[\d一二两三四五六七八九十百千万半.]+(?:毫克|克|片|粒|桌|小时|分钟?|公里|公斤|斤|杯|本|张|块|元|万|个?人|节|次|支|包|片)"
    ),
)
"""Sorts of values: codes, how often, days, hours, measures."""

OVER = re.compile(
    r"戒(?:了|掉|断|[烟酒糖](?=$|了))|不再[^，]{0,6}|(?:基本|几乎|再也|早就|已经)不(?:碰|写|用|吃|喝|去|玩|抽|看|听)|"
    r"不(?:去|做|练|学|喝|吃|玩|跑|养|用|骑|开|打|弹|拉|画|爬|游|教|抽|上|碰|写|报|办|考|订|租|续|住|当|干|喜欢|爱|看|听|穿|追|唱|来)"
    r"[^，]{0,8}了$|停了|停掉|放弃了?|取消了?|作废|黄了|泡汤|没(?:中签|去成|办成|买成|成)|"
    r"(?:喝|吃|跑|爬|拉|弹|背|看|学|去|办)不(?:动|成|了|下去|起)了|"
    r"(?:卖|退|扔|丢|捐|转手|处理)(?:了|掉)|报废|送人了?|断了|坏了|(?:关张|歇业|停业)了|退租|搁(?:下|一边)|扔下|没(?:沾|碰|抽|喝|上|去|练|学|弹|办成)了|掐了|吃灰|挂(?:咸鱼|闲鱼)|下线了|没了$|不用了$|去世|过世|走了$|倒闭|解散|关门了|分手|离婚"
)
WHAT_IS_OVER = re.compile(
    r"不(?:再)?(?:去|做|练|学|喝|吃|玩|跑|养|用|骑|开|打|弹|拉|画|教|抽|碰|写|租|住|当|喜欢|爱|看|听|穿)[^，去来]{2,8}了$"
)
"""Endings that name after the verb what is over."""
HAPPENED_WITH = re.compile(r"去过|吃过|毕业|认识了|结婚|生了|读完")
"""Joint events, which stay true if one of the two leaves."""
NO_LONGER = re.compile(r"不再(?:是|当|做|担任)(?P<v>[^，]{2,12})")
GONE = re.compile(r"去世|过世|走了$|分手|离婚|搬走")
"""Departure of a named person: of living together, of being there."""
HAPPENED = re.compile(
    r"\d月\d{1,2}[日号][^，]{0,12}(?<![养报请])了|过敏|去过|考过|完赛|学位|毕业|没去过|跑了|玩了|叫[\u4e00-\u9fff]{1,4}$|叫[\u4e00-\u9fff]{1,4}。|少[吃喝]|老家|读完|看完|花了|的单|订单|"
    r"(?:不|没)(?:再|喜欢|爱|吃|喝|去|用|想|会|是)"
)
"""Events and natural facts, which do not end with their object."""
NEGATED = re.compile(r"不[^，]{0,3}了|没(?:有)?(?:再|在)|停了|戒")

PLANNED = re.compile(
    r"(?:正|正在|最近|这阵子|接下来)(?:在)?(?:看|读|追|刷|学|写|练|考)|才?看到|约(?:了|在)(?=\d|周|下)|排在|想(?!念|法)|打算|准备|计划|目标|争取|(?<!需)要(?=把|去|交|办|考|买|在|做|学|写)|不会(?=[\u4e00-\u9fff])|得(?=交|办|写|去)"
)
DONE = re.compile(
    r"(?P<goal>目标(?:已经|也|终于)?(?:完成|达成|达到|实现|到)了?)|(?P<learnt>学会(?:了)?)|(?:终于|总算)(?=[^，]{2,}了)|[跑考爬比开当]完(?:了|$)|(?:一把|一次|顺利|终于|也|都|已经)过了|到手了?|(?:顺利)?上线了?$|"
    r"(?<![不没])(?P<verb>[交办考买订写做搬存攒读看修卖追刷学])(?:了|完了?|好了|过了|到了|上了|下来了)"
)
UNITS = ("公斤", "斤", "本", "公里", "万", "分钟", "小时", "米", "个单词")
MEASURE = re.compile(
    r"\d[\d.:]*(?:公斤|斤|本|公里|万|分钟|分|小时|米|块|元)|[一二三四五六七八九十百]+(?:公斤|斤|本|公里|万|分钟|分)"
)

NOT_BUT = re.compile(r"(?<!是)不是(?P<wrong>[^，。]{2,12}?)，(?:而)?是(?P<right>[^，。]{1,16})")

_LEAVES = (
    r"搬|乔迁|新家|毕业|没考|录|签了|入职|手术|出院|拆了|药|毫克|分了|凉了|散了|吹了|联系|回老家|调[^，]{0,8}|退|离|辞|休产假|送走|领养|飞|丢了|走|没了|"
    r"又[^，]{0,2}[抽喝吃玩练跑用]|太[高低狠多]|做梦|减|加|挪|排|过了|到手|上线|[当]完|换"
)
TURNS = re.compile(
    _LEAVES
    + "|"
    + "|".join(one.pattern for one in (RENEWED, MOVED, OVER)).replace("(?P<k>", "(?:")
    + "|不是|学会|终于|总算|目标|最(?:喜欢|爱)|长期要求|跳槽|离职|辞|不干了|"
    "不在[^，]{1,12}了|工作|调[到回]|转到|转去|班|大学|初|高|跑完|考完|被裁|下岗|年级|岁|"
    r"[交办考买订写做搬存攒读看修卖](?:了|完|好|过|到|上|下来)"
)
"""Signs that a statement may end anything: checked for every statement, so that few are compared with many."""

TIMES = re.compile(
    r"\d{4}年|\d{1,2}月(?:份|底|初)?|[\d一二三四五六七八九十]{1,3}[日号点](?:半)?|(?:每|上|下|这)?个?周[一二三四五六日末](?:[、和跟到]周?[一二三四五六日])*|"
    r"每(?:隔)?[\d一二两三四五六七八九十半]*个?[天周月年晚早次]|隔[天周日]|天天|[早晚]上|[上下中]午|凌晨|傍晚|现在|目前|最近|如今|今年|明年|去年|"
    r"[\d一二两三四五六七八九十半几.]+(?:个)?(?:片|颗|碗|瓶|套|小时|分钟|公里|次|杯|回|趟|节|天|周|月|年|遍|顿|本|个|斤|页|支|包|组|米|岁|块|元|万|人|张|只|条)"
)
COFFEE = re.compile(r"冰?(?:美式|拿铁)|卡布奇诺")
FUNCTION = re.compile(
    r"其他人|我(?:们|的)?|自己|已经|正式|打算|计划|准备|决定|开始|坚持|改成|改为|改到|换成|不再|放弃|没在|取消|停了|停掉|戒了|戒掉|不了|一般|通常|"
    r"平时|经常|习惯|固定|还是|就是|其实|基本|大概|差不多|正在|一直|时间|目标|需要|所有|公斤|公里|分钟|小时|往上|以上|左右|[一二两三四五六七八九十百]+|因为|所以|但是|终于|喜欢|最爱|特别|主要|"
    r"[都还也就才又再要想去来做不没了的得着过那这个把只台辆条事给跟和当说吧啊呀呢嘛在到是有用很每最于为以让叫所从被向与]"
)
EMPTY = frozenset(
    "时间 地方 东西 事情 这边 那边 其他 一起 自己 上课 公司 工作 学校 老师 医生 "
    " 今年 东边 家里 一天 一次 中心 小区 号楼 新的 星期".split()
)
"""Pairs of characters too common to indicate a topic."""
TELLING = re.compile(r"烟(?![花台囱])|酒(?![店吧窝])|辣|菜(?!市|单|鸟)|课(?![件本题])|琴|糖(?!尿)")
"""Characters that alone indicate a topic."""
EDGES = re.compile(r"^[的了是在]|(?:那边|这边|附近|一带|了|的)$")
