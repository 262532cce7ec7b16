"""Attributes and values in Chinese sentences, the surest row of an attribute first."""

from __future__ import annotations

from functools import partial

from core.language.language import Attribute, Pattern, pattern
from core.language.zh.household import KIN, PETS
from core.language.zh.tables import short_forms
from core.language.zh.tables.fragments import ADV, CITIES, DAY, ROLES, row
from core.types import Category, Topic

_slot = partial(
    pattern,
    row,
    {
        "name.full": Attribute(Topic.PERSONAL, 0.9),
        "name.preferred": Attribute(Topic.PERSONAL, 0.9),
        "birthday": Attribute(Topic.PERSONAL, 0.9),
        "birth.year": Attribute(Topic.PERSONAL, 0.8),
        "age": Attribute(Topic.PERSONAL, 0.75),
        "origin": Attribute(Topic.PERSONAL, 0.75),
        "home.city": Attribute(Topic.LOCATION, 0.8),
        "work.employer": Attribute(Topic.WORK, 0.8),
        "work.role": Attribute(Topic.WORK, 0.8),
        "relation.{rel}": Attribute(Topic.RELATIONSHIP, 0.8),
        "relation.status": Attribute(Topic.RELATIONSHIP, 0.75),
        "family.children": Attribute(Topic.RELATIONSHIP, 0.8),
        "allergy": Attribute(Topic.HEALTH, 0.95, exclusive=False),
        "intolerance": Attribute(Topic.HEALTH, 0.95, exclusive=False),
        "diet": Attribute(Topic.HEALTH, 0.9),
        "health.condition": Attribute(Topic.HEALTH, 0.9, exclusive=False),
        "contact.email": Attribute(Topic.CONTACT, 0.85),
        "contact.phone": Attribute(Topic.CONTACT, 0.85),
        "language.native": Attribute(Topic.PERSONAL, 0.8),
        "language": Attribute(Topic.SKILL, 0.7, exclusive=False),
        "language.learning": Attribute(Topic.SKILL, 0.65, exclusive=False),
        "education.school": Attribute(Topic.HISTORY, 0.7),
        "education.field": Attribute(Topic.HISTORY, 0.7),
        "skill": Attribute(Topic.SKILL, 0.6, category=Category.SKILL, exclusive=False),
        "preference.{cls}": Attribute(Topic.PREFERENCE, 0.7, category=Category.PREFERENCE),
        "avoids": Attribute(Topic.HEALTH, 0.75, category=Category.PREFERENCE, exclusive=False),
        "dislikes": Attribute(Topic.PREFERENCE, 0.6, category=Category.PREFERENCE, exclusive=False),
        "prefers": Attribute(Topic.PREFERENCE, 0.65, category=Category.PREFERENCE, exclusive=False),
        "likes": Attribute(Topic.PREFERENCE, 0.55, category=Category.PREFERENCE, exclusive=False),
    },
)

SLOTS: tuple[Pattern, ...] = (
    *short_forms.SLOTS,
    _slot(
        "name.full",
        r"(?:我(?:的)?(?:全名|名字|大名)?(?:叫做?|是叫)|我姓.{1,2}[，,]\s*(?:名字)?叫|我的名字是|"
        r"我姓名是)(?P<v>(?!人|你|他|她|什么|得|过|了|醒|外卖|"
        r"车)[\u4e00-\u9fff·]{2,4}|[A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)(?=$|[，。！,.!；\s])",
    ),
    _slot(
        "name.preferred",
        r"(?<![别要再许准不])(?:可以叫我|请叫我|叫我|大家都叫我|朋友都叫我)(?P<v>(?!起|去|来|过|做|不|别|"
        r"们)[\u4e00-\u9fffA-Za-z]{1,8}?)(?:就好|就行|就可以|就成|得了|吧|即可)?(?:了|啦)?(?=$|"
        r"[，。！,.!；\s])",
    ),
    _slot("birthday", rf"{{who}}(?:的)?生日(?:就)?是(?:在)?(?P<v>{DAY})"),
    _slot("birthday", rf"我(?:是)?(?P<v>{DAY})(?:出生|生的|过生日)"),
    _slot(
        "birth.year",
        r"我(?:是)?(?:(?:出生(?:在|于)|生于)(?=\d{4}年))?(?P<v>(?:19|20)\d{2})年(?:出生|生的|生人|(?=$|[，。！,.!；\s]))",
    ),
    _slot(
        "age",
        r"{who}{chain}(?:是)?(?:满)?(?P<v>\d{1,3}|[一二两三四五六七八九十]{1,3})岁(?!的时候|时|那年|就|开始|以前|之前|起)",
    ),
    _slot(
        "age",
        r"我今年(?:都|已经|刚|刚满)?(?P<v>[1-9]\d|[二三四五六七八九]?十[一二三四五六七八九]?)了?(?=$|[，。！,.!；\s])",
        importance=0.7,
    ),
    _slot("origin", r"{who}(?:出生在|生在|出生于)(?!\d){v}{end}"),
    _slot("origin", r"{who}(?:在)(?P<v>[\u4e00-\u9fffA-Z][\u4e00-\u9fffA-Za-z]{1,6}?)(?:长大|出生)"),
    _slot("origin", r"(?:我的?老家(?:就|原来|其实)?(?:在|是)|我的家乡是|我家乡在|{who}来自){v}{end}"),
    _slot(
        "origin",
        r"{who}是(?:个|一个)?(?P<v>(?!负责|主持|残疾|成年|未成年|年轻|普通|本地|外地|外国|候选|经纪|合伙|创始|联系|介绍|过来|"
        r"有心|内向|外向|当地|证|局外|好心|聪明)[\u4e00-\u9fff]{2,4}(?<!的))人(?=$|[，。！,.!；\s])",
    ),
    _slot("home.city", r"我(?:已经|现在)?(?:不再|不)住在{v}了?{end}", corrects=True, negated=True),
    _slot(
        "home.city",
        r"{who}(?:[上下去前昨今明]?[个天年月周]+|[一二三两\d]+个?[天年月周]前|[上下]个?[月周])?(?:从[^，。！？]{1,6})?(?:搬到|搬去|搬来|搬家到|移居|移居到|定居在|定居)(?:了)?{v}{end}",
        importance=0.85,
        corrects=True,
    ),
    _slot(
        "home.city",
        r"(?:{who}{chain}|我(?:和|跟)[^，。！？]{1,6}?)"
        r"(?:住在|居住在|现居|现住|家住|家在|定居在|常住){v}{end}",
        importance=0.85,
    ),
    _slot(
        "home.city",
        rf"我[^。！？；他她它]{{0,16}}(?:现在|目前|如今|改)住(?P<v>(?:{CITIES})|[\u4e00-\u9fff]{{1,4}}[市省县区镇村]){{end}}",
    ),
    _slot(
        "work.employer",
        r"{who}(?:不再|不|没有?)在(?P<v>[^，。！？；,.!?\s]{2,12}?)(?:工作|上班|任职)了",
        corrects=True,
        negated=True,
    ),
    _slot("work.employer", r"{who}从(?P<v>[^，。！？；,.!?\s]{2,12}?)(?:离职|辞职)", corrects=True, negated=True),
    _slot(
        "work.employer",
        r"{who}{chain}在(?P<v>(?!家|一家|一个|这|那|外面|公司|国外|"
        r"上面)[^，。！？；,.!?\s]{2,12}?)(?:工作|上班|任职|就职|实习)",
    ),
    _slot(
        "work.employer",
        r"{who}(?:入职了?|加入了?|跳槽到了?|就职于|任职于)(?P<v>(?!改|快|[\d一二两三四五六七八九十半])[^，。！？；,.!?\s的]{2,12}?){end}",
    ),
    _slot(
        "work.role",
        rf"{{who}}(?:(?:不是[^，。！？；]{{1,10}}[，,])|{{chain}})(?:的职业是|的工作是|是|当|做|成为了?|"
        rf"在(?:(?!{KIN})[^，。！？；,他她它]){{1,10}}[当做])(?:一名|一位|一个|个|"
        rf"了)?(?P<v>{ROLES})(?=$|[，。！,.!；\s了]|已经)",
    ),
    _slot(
        "relation.{rel}",
        r"我(?:的)?(?P<rel>老婆|妻子|太太|爱人|伴侣|老公|丈夫|先生|女朋友|男朋友|女友|男友|未婚妻|未婚夫|妈妈|"
        r"母亲|爸爸|父亲|老板|领导|上司|妈|爸)(?:的名字)?(?:叫做?|"
        r"(?<=名字)是)(?P<v>[\u4e00-\u9fff·]{2,4}|[A-Z][a-z]+)(?=$|[，。！,.!；\s])",
    ),
    _slot(
        "relation.{rel}",
        r"(?:^|(?<=[，。；,]))(?P<v>(?![他她它这那就])[\u4e00-\u9fff·]{2,3}|[A-Z][a-z]+)是我(?:的)?(?P<rel>老婆|妻子|太太|"
        r"爱人|伴侣|老公|丈夫|女朋友|男朋友|女友|男友|未婚妻|未婚夫|老板)(?=$|[，。！,.!；\s])",
    ),
    _slot(
        "relation.{rel}",
        r"我(?:家)?(?:的)?(?P<rel>哥哥|姐姐|弟弟|妹妹|儿子|女儿|孩子|室友|朋友|闺蜜|同事|狗|猫|兔子|"
        r"仓鼠)(?:的名字)?(?:叫做?|名叫)(?P<v>[\u4e00-\u9fff·]{2,4}|"
        r"[A-Z][a-z]+)(?=$|[，。！,.!；\s])",
        importance=0.75,
        exclusive=False,
    ),
    _slot(
        "relation.{rel}",
        rf"我(?:家)?{ADV}(?:有|养|领养|买|收养)了?(?:一|两|[1-9])?(?:只|条|"
        rf"个)?(?:[\u4e00-\u9fff]{{0,4}}?的?)(?P<rel>{PETS}|儿子|女儿|弟弟|"
        rf"妹妹|哥哥|姐姐)[，,]?(?:名字)?(?:叫做?|名叫|取名)(?P<v>[\u4e00-\u9fff]{{1,4}}|[A-Z][a-z]+)(?=$|"
        rf"[，。！,.!；\s])",
        importance=0.75,
        exclusive=False,
    ),
    _slot(
        "relation.status",
        r"我(?:和.{1,6})?(?:已经|刚|刚刚|还是?|仍|一直|上个?月|去年|今年)?(?P<v>结婚|离婚|订婚|单身|未婚|已婚)了?(?=$|"
        r"[，。！,.!；\s了]|[一两二三四五六七八九十\d]+个?[年月天周])",
    ),
    _slot("family.children", r"我(?:们)?有(?P<v>[一两二三四1-4])个(?:孩子|小孩|娃)"),
    _slot("allergy", r"{who}对(?P<v>(?!什么|任何|啥|哪)[^，。！？；,.!?\s]{1,14}?)(?<!不)(?<!没有)(?:严重)?过敏"),
    _slot("intolerance", r"{who}(?P<v>乳糖|麸质)不耐受?"),
    _slot(
        "diet", r"{who}(?:是|吃)(?:个|一个|一名)?(?P<v>素食主义者|素食者|纯素|素食|素|清真)(?=$|[，。！,.!；\s的了])"
    ),
    _slot(
        "health.condition",
        r"{who}(?:有|得了|患有|患了|被诊断出|被诊断为|确诊了?|查出了?)(?P<v>(?:轻度|重度|"
        r"[12一二]型)?(?:糖尿病|高血压|哮喘|抑郁症|焦虑症|偏头痛|关节炎|癌症|失眠症?|胃病|慢性胃炎|胃炎|脂肪肝|肾结石|胆结石|甲减|荨麻疹|冠心病|心脏病|"
        r"贫血|鼻炎|颈椎病|痛风|甲亢|湿疹|多动症))",
    ),
    _slot("contact.email", r"我(?:的)?(?:邮箱|电子邮箱|邮件地址)(?:地址)?是\s*(?P<v>[\w.+-]+@[\w-]+\.[\w.-]*\w)"),
    _slot("contact.phone", r"我(?:的)?(?:手机号?|电话|手机号码|电话号码)(?:号码)?是\s*(?P<v>\+?\d[\d -]{5,}\d)"),
    _slot("language.native", r"我(?:的)?母语是(?P<v>[\u4e00-\u9fff]{2,4})"),
    _slot(
        "language", r"{who}(?:会说|会讲|能说)(?P<v>[\u4e00-\u9fff]{1,3}[语文话](?:[、和][\u4e00-\u9fff]{1,3}[语文话])*)"
    ),
    _slot("language.learning", r"{who}(?:在学|正在学|开始学|学习|在学习)(?P<v>[\u4e00-\u9fff]{1,3}[语文])"),
    _slot("education.school", r"{who}(?:毕业于|是从|从)(?P<v>[\u4e00-\u9fff]{2,10}?(?:大学|学院|中学|高中))(?:毕业)?"),
    _slot(
        "education.school",
        r"{who}(?:(?:大学|本科|研究生|硕士|博士)?是?)?在(?P<v>[\u4e00-\u9fff]{2,10}?(?:大学|学院|中学|高中))(?:读书|上学|念书|读|学|念|上)",
    ),
    _slot("education.field", r"{who}(?:大学|本科|研究生)?(?:的专业是|主修|学的是|专业是){v}(?:专业)?{end}"),
    _slot("skill", r"{who}(?:会弹|弹|会拉|拉)(?P<v>钢琴|吉他|小提琴|古筝|大提琴|二胡)"),
    _slot(
        "preference.{cls}",
        r"我?(?:现在)?最(?:喜欢|爱)(?:吃|喝|看|听|玩|去)?的(?P<cls>[\u4e00-\u9fff]{1,5}?)(?:就|还|现在|已经|一直|依然)*(?:是|变成了?|换成了?|改成了?){v}{end}",
    ),
    _slot(
        "avoids",
        r"{who}(?:不吃|不喝|不抽|不碰|从不抽|从不吃|从不喝|不能吃|不能喝|不再吃|不再喝|戒掉?了|戒(?=[烟酒糖])){vs}{ends}",
    ),
    _slot("dislikes", r"{who}(?:不喜欢|不爱|讨厌|受不了|恨|不太喜欢){vs}{ends}"),
    _slot("prefers", r"{who}(?:更喜欢|更爱|偏好|宁愿|偏爱){v}{end}"),
    _slot(
        "likes",
        r"{who}(?:喜欢|爱(?![好人情心])|热爱|喜爱|迷上了?|爱上了?|着迷于)(?!的|你|我|他|她|上|了|人(?!类)){vs}{ends}",
    ),
)
