"""What Chinese sentences say: the same kind of tables as for English."""

from __future__ import annotations

import re

from core.extract.reading import Check, Cue, Pattern, Slot, Tables, Theme
from core.types import Category, Topic

KIN = (
    r"老婆|妻子|太太|爱人|伴侣|老公|丈夫|先生|女朋友|男朋友|女友|男友|未婚妻|未婚夫|妈妈|母亲|爸爸|父亲|"
    r"哥哥|姐姐|弟弟|妹妹|儿子|女儿|孩子|奶奶|爷爷|外婆|外公|姥姥|姥爷|婆婆|公公|岳母|岳父|爸妈|父母|"
    r"表[哥姐弟妹]|堂[哥姐弟妹]|姑姑|姑妈|舅舅|舅妈|叔叔|阿姨|姨妈|侄子|侄女|外甥女?|孙子|孙女|嫂子|"
    r"老板|上司|室友|同事|同学|邻居|朋友|闺蜜|老妈|老爸|妈|爸|哥|姐|弟|妹"
)
PETS = r"狗|小狗|猫|小猫|兔子|仓鼠|鹦鹉|乌龟|金毛|柯基|布偶|橘猫"
ADV = (
    r"(?:现在|目前|一直|已经|还|也|最近|其实|就|都|特别|非常|很|真的|超|最|比较|从小|平时|今年|刚|"
    r"刚刚|终于|一般|有点|有些|真)*"
)
WHO = (
    rf"(?:(?<![给跟和对让帮叫问])我(?:的)?(?P<kin>(?:{KIN}))?"
    r"(?P<kinname>(?<=[婆子太人侣公夫生友妻妈亲爸哥姐弟妹儿女孩奶爷板事蜜母姥姑舅叔姨侄甥司学居])[A-Z][a-z]+)?"
    rf"{ADV})"
)
V = r"(?P<v>[^，。！？；、,.!?;\s（）()]{1,20}?)"
END = (
    r"(?=$|[，。！？；、,.!?;\s（(]|了|的时候|因为|所以|但是|但|而且|已经|和我|跟我|多年|好几年|"
    r"\d+年|[一二两三四五六七八九十]+年)"
)
F, P = Category.FACT, Category.PREFERENCE
_PARTS = {"{who}": WHO, "{v}": V, "{end}": END, "{adv}": ADV}


def _re(regex: str) -> re.Pattern[str]:
    """`regex` with its placeholders filled in."""
    for name, part in _PARTS.items():
        regex = regex.replace(name, part)
    return re.compile(regex)


_DAY = r"(?:(?:19|20)\d{2}年)?(?:\d{1,2}|[一二三四五六七八九十]{1,2})月(?:\d{1,2}|[一二三四五六七八九十]{1,3})[日号]"
_ROLES = (
    r"[^，。！？的了\s]{0,8}?(?:工程师|程序员|老师|教师|医生|护士|律师|会计|设计师|学生|研究生|"
    r"博士生|大学生|经理|产品经理|厨师|司机|记者|编辑|作家|画家|摄影师|"
    r"教授|研究员|科学家|分析师|销售|警察|公务员|翻译|导游|演员|歌手|音乐家|建筑师|药剂师|咨询师|"
    r"顾问|创业者|自由职业者|运营|教练|店长|农民|工人|主管|总监|架构师)"
)
SLOTS: tuple[Pattern, ...] = (
    Pattern(
        _re(
            r"(?:我(?:的)?(?:全名|名字|大名)?(?:叫做?|是叫)|我姓.{1,2}[，,]\s*(?:名字)?叫|我的名字是|"
            r"我姓名是)(?P<v>(?!人|你|他|她|什么|过|了|醒|外卖|"
            r"车)[\u4e00-\u9fff·]{2,4}|[A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)(?=$|[，。！,.!；\s])"
        ),
        "name.full",
        Topic.PERSONAL,
        0.9,
    ),
    Pattern(
        _re(
            r"(?:可以叫我|请叫我|叫我|大家都叫我|朋友都叫我)(?P<v>(?!起|去|来|过|做|不|别|"
            r"们)[\u4e00-\u9fffA-Za-z]{1,8}?)(?:就好|就行|吧|即可)?(?=$|"
            r"[，。！,.!；\s])"
        ),
        "name.preferred",
        Topic.PERSONAL,
        0.9,
    ),
    Pattern(_re(rf"{{who}}(?:的)?生日(?:就)?是(?:在)?(?P<v>{_DAY})"), "birthday", Topic.PERSONAL, 0.9),
    Pattern(_re(rf"我(?:是)?(?P<v>{_DAY})(?:出生|生的|过生日)"), "birthday", Topic.PERSONAL, 0.9),
    Pattern(_re(r"我(?:是)?(?P<v>(?:19|20)\d{2})年(?:出生|生的|生人)"), "birth.year", Topic.PERSONAL, 0.8),
    Pattern(
        _re(
            r"{who}(?:是)?(?:满)?(?P<v>\d{1,3}|[一二两三四五六七八九十]{1,3})岁(?!的时候|时|那年|就|开始|以前|之前|起)"
        ),
        "age",
        Topic.PERSONAL,
        0.75,
    ),
    Pattern(_re(r"{who}(?:出生在|生在|出生于){v}{end}"), "origin", Topic.PERSONAL, 0.75),
    Pattern(
        _re(r"{who}(?:在)(?P<v>[\u4e00-\u9fffA-Z][\u4e00-\u9fffA-Za-z]{1,6}?)(?:长大|出生)"),
        "origin",
        Topic.PERSONAL,
        0.75,
    ),
    Pattern(_re(r"(?:我老家在|我的家乡是|我家乡在|我的老家是|{who}来自){v}{end}"), "origin", Topic.PERSONAL, 0.75),
    Pattern(_re(r"我是(?P<v>[\u4e00-\u9fff]{2,4})人(?=$|[，。！,.!；\s])"), "origin", Topic.PERSONAL, 0.75),
    Pattern(
        _re(r"我(?:已经|现在)?(?:不再|不)住在{v}了?{end}"),
        "home.city",
        Topic.LOCATION,
        0.8,
        corrects=True,
        negated=True,
    ),
    Pattern(
        _re(r"{who}(?:从[^，。！？]{1,6})?(?:搬到|搬去|搬来|搬家到|移居|移居到|定居在|定居){v}{end}"),
        "home.city",
        Topic.LOCATION,
        0.85,
        corrects=True,
    ),
    Pattern(
        _re(r"(?:{who}|我(?:和|跟)[^，。！？]{1,6}?)(?:住在|居住在|家住|家在|定居在|常住){v}{end}"),
        "home.city",
        Topic.LOCATION,
        0.85,
    ),
    Pattern(
        _re(r"{who}(?:不再|不|没有?)在(?P<v>[^，。！？；,.!?\s]{2,12}?)(?:工作|上班|任职)了"),
        "work.employer",
        Topic.WORK,
        0.8,
        corrects=True,
        negated=True,
    ),
    Pattern(
        _re(r"{who}从(?P<v>[^，。！？；,.!?\s]{2,12}?)(?:离职|辞职)"),
        "work.employer",
        Topic.WORK,
        0.8,
        corrects=True,
        negated=True,
    ),
    Pattern(
        _re(
            r"{who}(?:[^，。！？；我他她它]*[，,])?在(?P<v>(?!家|一家|一个|这|那|外面|公司|国外|"
            r"上面)[^，。！？；,.!?\s]{2,12}?)(?:工作|上班|任职|就职|实习)"
        ),
        "work.employer",
        Topic.WORK,
        0.8,
    ),
    Pattern(
        _re(r"{who}(?:入职了?|加入了?|跳槽到了?|就职于|任职于)(?P<v>[^，。！？；,.!?\s的]{2,12}?){end}"),
        "work.employer",
        Topic.WORK,
        0.8,
    ),
    Pattern(
        _re(
            rf"{{who}}(?:的职业是|的工作是|是|当|做|成为了?|在(?:(?!{KIN})[^，。！？；,他她它]){{1,10}}[当做])(?:一名|一位|一个|个|"
            rf"了)?(?P<v>{_ROLES})(?=$|[，。！,.!；\s了]|已经)"
        ),
        "work.role",
        Topic.WORK,
        0.8,
    ),
    Pattern(
        _re(
            r"我(?:的)?(?P<rel>老婆|妻子|太太|爱人|伴侣|老公|丈夫|先生|女朋友|男朋友|女友|男友|未婚妻|未婚夫|妈妈|"
            r"母亲|爸爸|父亲|老板)(?:的名字)?(?:叫做?|"
            r"(?<=名字)是)(?P<v>[\u4e00-\u9fff·]{2,4}|[A-Z][a-z]+)(?=$|[，。！,.!；\s])"
        ),
        "relation.{rel}",
        Topic.RELATIONSHIP,
        0.8,
    ),
    Pattern(
        _re(
            r"(?:^|(?<=[，。；,]))(?P<v>(?![他她它这那就])[\u4e00-\u9fff·]{2,3}|[A-Z][a-z]+)是我(?:的)?(?P<rel>老婆|妻子|太太|"
            r"爱人|伴侣|老公|丈夫|女朋友|男朋友|女友|男友|未婚妻|未婚夫|老板)(?=$|[，。！,.!；\s])"
        ),
        "relation.{rel}",
        Topic.RELATIONSHIP,
        0.8,
    ),
    Pattern(
        _re(
            r"我(?:的)?(?P<rel>哥哥|姐姐|弟弟|妹妹|儿子|女儿|孩子|室友|朋友|闺蜜|同事|狗|猫|兔子|"
            r"仓鼠)(?:的名字)?(?:叫做?|名叫)(?P<v>[\u4e00-\u9fff·]{2,4}|"
            r"[A-Z][a-z]+)(?=$|[，。！,.!；\s])"
        ),
        "relation.{rel}",
        Topic.RELATIONSHIP,
        0.75,
        exclusive=False,
    ),
    Pattern(
        _re(
            rf"我(?:家)?{ADV}(?:有|养|领养|买|收养)了?(?:一|两|[1-9])?(?:只|条|"
            rf"个)?(?:[\u4e00-\u9fff]{{0,4}}?的?)(?P<rel>{PETS}|儿子|女儿|弟弟|"
            rf"妹妹|哥哥|姐姐)[，,]?(?:名字)?(?:叫做?|名叫|取名)(?P<v>[\u4e00-\u9fff]{{1,4}}|[A-Z][a-z]+)(?=$|"
            rf"[，。！,.!；\s])"
        ),
        "relation.{rel}",
        Topic.RELATIONSHIP,
        0.75,
        exclusive=False,
    ),
    Pattern(
        _re(
            r"我(?:和.{1,6})?(?:已经|刚|刚刚|上个?月|去年|今年)?(?P<v>结婚|离婚|订婚|单身|未婚|已婚)了?(?=$|"
            r"[，。！,.!；\s了])"
        ),
        "relation.status",
        Topic.RELATIONSHIP,
        0.75,
    ),
    Pattern(_re(r"我(?:们)?有(?P<v>[一两二三四1-4])个(?:孩子|小孩|娃)"), "family.children", Topic.RELATIONSHIP, 0.8),
    Pattern(
        _re(r"{who}对(?P<v>[^，。！？；,.!?\s]{1,14}?)(?:严重)?过敏"), "allergy", Topic.HEALTH, 0.95, exclusive=False
    ),
    Pattern(_re(r"{who}(?P<v>乳糖|麸质)不耐受?"), "intolerance", Topic.HEALTH, 0.95, exclusive=False),
    Pattern(
        _re(r"{who}(?:是|吃)(?:个|一个|一名)?(?P<v>素食主义者|素食者|纯素|素食|素|清真)(?=$|[，。！,.!；\s的了])"),
        "diet",
        Topic.HEALTH,
        0.9,
    ),
    Pattern(
        _re(
            r"{who}(?:有|得了|患有|患了|被诊断出|被诊断为|确诊了?|查出了?)(?P<v>(?:轻度|重度|"
            r"[12一二]型)?(?:糖尿病|高血压|哮喘|抑郁症|焦虑症|偏头痛|关节炎|癌症|失眠症?|胃病|心脏病|"
            r"贫血|鼻炎|颈椎病|痛风|甲亢|湿疹|多动症))"
        ),
        "health.condition",
        Topic.HEALTH,
        0.9,
        exclusive=False,
    ),
    Pattern(
        _re(r"我(?:的)?(?:邮箱|电子邮箱|邮件地址)(?:地址)?是\s*(?P<v>[\w.+-]+@[\w-]+\.[\w.-]*\w)"),
        "contact.email",
        Topic.CONTACT,
        0.85,
    ),
    Pattern(
        _re(r"我(?:的)?(?:手机号?|电话|手机号码|电话号码)(?:号码)?是\s*(?P<v>\+?\d[\d -]{5,}\d)"),
        "contact.phone",
        Topic.CONTACT,
        0.85,
    ),
    Pattern(_re(r"我(?:的)?母语是(?P<v>[\u4e00-\u9fff]{2,4})"), "language.native", Topic.PERSONAL, 0.8),
    Pattern(
        _re(r"{who}(?:会说|会讲|能说)(?P<v>[\u4e00-\u9fff]{1,3}[语文话](?:[、和][\u4e00-\u9fff]{1,3}[语文话])*)"),
        "language",
        Topic.SKILL,
        0.7,
        exclusive=False,
    ),
    Pattern(
        _re(r"{who}(?:在学|正在学|开始学|学习|在学习)(?P<v>[\u4e00-\u9fff]{1,3}[语文])"),
        "language.learning",
        Topic.SKILL,
        0.65,
        exclusive=False,
    ),
    Pattern(
        _re(r"{who}(?:毕业于|是从|从)(?P<v>[\u4e00-\u9fff]{2,10}?(?:大学|学院|中学|高中))(?:毕业)?"),
        "education.school",
        Topic.HISTORY,
        0.7,
    ),
    Pattern(
        _re(r"{who}在(?P<v>[\u4e00-\u9fff]{2,10}?(?:大学|学院|中学|高中))(?:读书|上学|念书|读|学|念)"),
        "education.school",
        Topic.HISTORY,
        0.7,
    ),
    Pattern(
        _re(r"{who}(?:大学|本科|研究生)?(?:的专业是|主修|学的是|专业是){v}(?:专业)?{end}"),
        "education.field",
        Topic.HISTORY,
        0.7,
    ),
    Pattern(
        _re(r"{who}(?:会弹|弹|会拉|拉)(?P<v>钢琴|吉他|小提琴|古筝|大提琴|二胡)"),
        "skill",
        Topic.SKILL,
        0.6,
        category=Category.SKILL,
        exclusive=False,
    ),
    Pattern(
        _re(r"我最(?:喜欢|爱)的(?P<cls>[\u4e00-\u9fff]{1,5}?)(?:就)?是{v}{end}"),
        "preference.{cls}",
        Topic.PREFERENCE,
        0.7,
        category=P,
    ),
    Pattern(
        _re(r"{who}(?:不吃|不喝|从不吃|从不喝|不能吃|不能喝|不再吃|不再喝|戒了){v}{end}"),
        "avoids",
        Topic.HEALTH,
        0.75,
        category=P,
        exclusive=False,
    ),
    Pattern(
        _re(r"{who}(?:不喜欢|不爱|讨厌|受不了|恨|不太喜欢){v}{end}"),
        "dislikes",
        Topic.PREFERENCE,
        0.6,
        category=P,
        exclusive=False,
    ),
    Pattern(
        _re(r"{who}(?:更喜欢|更爱|偏好|宁愿|偏爱){v}{end}"),
        "prefers",
        Topic.PREFERENCE,
        0.65,
        category=P,
        exclusive=False,
    ),
    Pattern(
        _re(r"{who}(?:喜欢|爱|热爱|喜爱|迷上了?|爱上了?|着迷于)(?!的|你|我|他|她|上|了|人(?!类)){v}{end}"),
        "likes",
        Topic.PREFERENCE,
        0.55,
        category=P,
        exclusive=False,
    ),
)
INSTRUCTION = re.compile(
    r"以后[^，。！？]{0,14}(?:请|不要|避开|都要|都用)|以后(?:都|请|就|不要|别|每次|一律|回答|叫)|"
    r"从现在(?:起|开始)|今后|从今以后|每次(?:都)?(?:请|要|"
    r"回答|回复)|^请?(?:总是|永远|一直|始终)(?:用|不要|别|要|给)"
    r"|^(?:请)?(?:不要|别|请勿|千万别|千万不要)(?:再)?(?:用|叫我|给我(?:推荐|发|打)|推荐|提|问我|"
    r"使用|发|说|回复|告诉|安排|预订|联系)"
    r"|^请(?:都|只|一律)?(?:用|使用|以)[^，。]{1,8}(?:回答|回复|交流|跟我|和我|写)|^(?:回答|"
    r"回复)(?:要|时|请|尽量|的时候)|^记住[：:，,]?(?:以后|不要|别|要)"
)
ONE_OFF = re.compile(r"这次|这一次|这封|这篇|下面|以下|上面|刚才那")
CORRECTION = re.compile(
    r"^其实|不再|改成|改为|换成|换到|搬到|搬去|搬家|不是.{1,12}而是|更正|说错了|已经不|现在不|戒了|"
    r"跳槽|不(?:在|住).{1,12}了"
)
CATEGORIES: tuple[Cue, ...] = (
    Cue(
        re.compile(
            r"打算|计划|准备(?:去|在|要|参加|考)|(?:明天|后天|下周|下个?月|明年|下学期|"
            r"(?<![上个])周末)[^，。]{0,6}(?:要|会|去(?![了过])|将)|想要?(?:去|学|换|考|买|成为|做)|希望能|"
            r"目标是|梦想是|"
            r"的计划|要(?:参加|去|和|跟|考|搬|出差|开始)"
        ),
        Category.PLAN,
        0.55,
    ),
    Cue(
        re.compile(r"每(?:天|周|个?月|年|晚|早|个?周末|次|逢)|经常|通常|一般都|总是|平时|习惯|从不|很少|偶尔"),
        Category.PATTERN,
        0.55,
    ),
    Cue(re.compile(r"喜欢|热爱|讨厌|最爱|偏好|不爱"), Category.PREFERENCE, 0.5),
    Cue(
        re.compile(r"昨|前天|上周|上个|去年|前年|今天|今早|刚刚?|最近|[天周月年]前|\d+[年月日号]|了"),
        Category.EVENT,
        0.5,
    ),
)
THEMES: tuple[Theme, ...] = tuple(
    Theme(topic, re.compile(words))
    for topic, words in (
        (Topic.HEALTH, r"健康|医院|医生|过敏|病|药|手术|疼|睡眠|失眠|健身|跑步|瑜伽|减肥|素食"),
        (Topic.FINANCE, r"钱|预算|工资|薪水|房租|房贷|贷款|投资|存款|理财"),
        (Topic.WORK, r"工作|公司|上班|老板|同事|项目|面试|升职|跳槽|职业|创业|实习|辞职|入职|工程师|老师"),
        (
            Topic.RELATIONSHIP,
            r"老婆|老公|妻子|丈夫|女朋友|男朋友|结婚|婚礼|孩子|儿子|女儿|妈|爸|父母|哥|姐|弟|妹|朋友|狗|猫|家人",
        ),
        (Topic.LOCATION, r"住在|搬|旅行|旅游|城市|房子|公寓|家乡|老家|出差|机票|酒店"),
        (Topic.SKILL, r"学习|在学|课程|考试|会弹|会说|编程|证书|培训"),
        (Topic.HISTORY, r"小时候|毕业|大学|以前|长大|年前"),
        (Topic.GOAL, r"打算|计划|目标|梦想|希望"),
        (Topic.HABIT, r"每天|每周|经常|习惯|通常|平时"),
        (Topic.PREFERENCE, r"喜欢|爱|讨厌|偏好"),
    )
)
STATED = {
    "": "{who}的{what}是{value}。",
    "home.city": "{who}住在{value}。",
    "not home.city": "{who}不再住在{value}。",
    "work.employer": "{who}在{value}工作。",
    "not work.employer": "{who}不再在{value}工作。",
    "work.role": "{who}是{value}。",
    "name": "{who}叫{value}。",
    "origin": "{who}来自{value}。",
    "birthday": "{who}的生日是{value}。",
    "birth.year": "{who}出生于{value}年。",
    "age": "{who}{value}岁。",
    "relation": "{who}的{what}叫{value}。",
    "relation.status": "{who}的婚姻状况：{value}。",
    "family.children": "{who}有{value}个孩子。",
    "allergy": "{who}对{value}过敏。",
    "intolerance": "{who}{value}不耐受。",
    "diet": "{who}的饮食：{value}。",
    "health.condition": "{who}有{value}。",
    "language": "{who}会说{value}。",
    "language.learning": "{who}在学{value}。",
    "language.native": "{who}的母语是{value}。",
    "education.school": "{who}就读过{value}。",
    "education.field": "{who}的专业是{value}。",
    "contact": "{who}的联系方式：{value}。",
    "skill": "{who}会{value}。",
    "preference": "{who}最喜欢的{what}是{value}。",
    "likes": "{who}喜欢{value}。",
    "dislikes": "{who}不喜欢{value}。",
    "avoids": "{who}不碰{value}。",
    "prefers": "{who}更喜欢{value}。",
}
"""How an attribute reads as a sentence, by its full name or its first part."""
_CANONICAL = {
    "老婆": "spouse",
    "妻子": "spouse",
    "太太": "spouse",
    "爱人": "spouse",
    "伴侣": "partner",
    "老公": "spouse",
    "丈夫": "spouse",
    "先生": "spouse",
    "女朋友": "girlfriend",
    "女友": "girlfriend",
    "男朋友": "boyfriend",
    "男友": "boyfriend",
    "未婚妻": "fiancée",
    "未婚夫": "fiancé",
    "妈妈": "mother",
    "母亲": "mother",
    "爸爸": "father",
    "父亲": "father",
    "老板": "boss",
    "哥哥": "brother",
    "弟弟": "brother",
    "姐姐": "sister",
    "妹妹": "sister",
    "儿子": "son",
    "女儿": "daughter",
    "孩子": "child",
    "室友": "roommate",
    "朋友": "friend",
    "闺蜜": "friend",
    "同事": "colleague",
    "狗": "dog",
    "小狗": "dog",
    "金毛": "dog",
    "柯基": "dog",
    "猫": "cat",
    "小猫": "cat",
    "布偶": "cat",
    "橘猫": "cat",
    "兔子": "rabbit",
    "仓鼠": "hamster",
    "鹦鹉": "parrot",
    "乌龟": "turtle",
}
_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九十")} | {"两": 2}
_DIETS = {
    "素食主义者": "vegetarian",
    "素食者": "vegetarian",
    "素食": "vegetarian",
    "素": "vegetarian",
    "纯素": "vegan",
    "清真": "halal",
}
_CLASSES = {
    "颜色": "color",
    "食物": "food",
    "菜": "dish",
    "水果": "fruit",
    "电影": "movie",
    "书": "book",
    "作家": "author",
    "歌": "song",
    "歌手": "singer",
    "乐队": "band",
    "城市": "city",
    "运动": "sport",
    "季节": "season",
    "动物": "animal",
    "饮料": "drink",
    "游戏": "game",
    "科目": "subject",
    "餐厅": "restaurant",
}
_PLACES = frozenset(
    "北京 上海 广州 深圳 杭州 南京 苏州 成都 重庆 武汉 西安 天津 长沙 郑州 青岛 大连 厦门 宁波 无锡 "
    "合肥 福州 济南 沈阳 哈尔滨 长春 昆明 "
    "贵阳 南宁 海口 三亚 拉萨 兰州 银川 西宁 太原 石家庄 南昌 东莞 佛山 珠海 香港 澳门 台北 高雄 "
    "国内 国外 海外 外地 老家 日本 美国 英国 "
    "德国 法国 加拿大 澳大利亚 新加坡 韩国 东京 纽约 伦敦 巴黎 柏林 悉尼 墨尔本 温哥华 多伦多 广东 "
    "浙江 江苏 四川 湖南 湖北 山东".split()
)
_EMPLOYERS_AT_LARGE = frozenset(
    "银行 医院 学校 公司 工厂 政府 超市 餐厅 饭店 酒店 大学 中学 小学 外企 国企 律所 "
    "事务所 互联网公司 机关 工地".split()
)
_SEVERAL = frozenset({"allergy", "language"})
_EMPTY = re.compile(r"^(?:你|他|她|它|这|那|这个|那个|吃|喝|什么|一个人|自己|上|了|得|的|说|在|看|听)$|^(?:这|那)|你")


def slots(sentence: str) -> list[Slot]:
    """The attributes and values that `sentence` states, the surest first."""
    found: list[Slot] = []
    for pattern in SLOTS:
        for match in pattern.regex.finditer(sentence):
            groups = match.groupdict()
            attribute, about = _attribute(pattern.attribute, groups), groups.get("kinname") or groups.get("kin")
            value = _plain(attribute, match["v"])
            if value and not _taken(pattern, attribute, about, found):
                read = re.split(r"[、和]", value) if attribute in _SEVERAL else [value]
                found += [Slot(attribute, one, pattern, about) for one in dict.fromkeys(read)]
    return found


def _taken(pattern: Pattern, attribute: str, about: str | None, found: list[Slot]) -> bool:
    """Whether something surer has read this of this person; one sentence says one thing of what they like."""
    return any(
        slot.about == about and (slot.attribute == attribute or slot.pattern.category is pattern.category is P)
        for slot in found
    )


def _attribute(attribute: str, groups: dict[str, str | None]) -> str:
    rel = groups.get("rel") or ""
    return attribute.replace("{rel}", _CANONICAL.get(rel, rel)).replace(
        "{cls}", _CLASSES.get(groups.get("cls") or "", groups.get("cls") or "")
    )


def _plain(attribute: str, value: str) -> str | None:
    if not attribute.startswith("name."):
        value = re.sub(r"^(?:了|在|去|吃|喝)(?=.)", "", value)
    value = value.strip("《》“”「」")
    if not value or _EMPTY.search(value):
        return None
    check = _CHECKS.get(attribute)
    return check(value) if check else value


def _home(value: str) -> str | None:
    return None if re.match(r"[一这那新]|学校|公司|附近", value) else value


def _employer(value: str) -> str | None:
    return None if value in _PLACES or value in _EMPLOYERS_AT_LARGE else value


def _count(value: str) -> str:
    return str(_number(value))


def _birthday(value: str) -> str | None:
    match = re.match(r"(?:(\d{4})年)?(\d{1,2}|[一二三四五六七八九十]+)月(\d{1,2}|[一二三四五六七八九十]+)", value)
    if not match:
        return None
    day = f"{_number(match[2]):02d}-{_number(match[3]):02d}"
    return f"{match[1]}-{day}" if match[1] else day


def _number(text: str) -> int:
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (_DIGITS.get(tens, 1) * 10 if ten else 0) + _DIGITS.get(ones, 0)


_CHECKS: dict[str, Check] = {
    "age": _count,
    "family.children": _count,
    "birthday": _birthday,
    "diet": _DIETS.get,
    "work.employer": _employer,
    "home.city": _home,
}
TABLES = Tables(slots, INSTRUCTION, ONE_OFF, CORRECTION, CATEGORIES, THEMES, STATED)
