"""Attributes in short clauses and in bare answers, as people write them when they chat."""

from __future__ import annotations

from functools import partial

from core.language.language import Attribute, Pattern, pattern
from core.language.zh.tables.fragments import CITIES, DAY, ROLES, row
from core.types import Category, Topic

_EMPLOYER = (
    r"(?P<v>(?!一家|一个|这|那|新|家|某)[\u4e00-\u9fffA-Za-z]{1,10}?(?:科技|"
    r"集团|公司|银行|医院|大学|中学|小学|学校|研究院|研究所|设计院|事务所|工作室|传媒|"
    r"网络|软件|汽车|机器人|健康|电子|数据|信息|互联|资本|基金|教育|"
    r"文化|航空|能源|通信|半导体|智能|咨询|医疗|药业|证券|保险|物流|地产|制药|生物|报社|出版社|"
    r"电视台|律所|诊所))"
)

_slot = partial(
    pattern,
    row,
    {
        "work.role": Attribute(Topic.WORK, 0.8),
        "age": Attribute(Topic.PERSONAL, 0.7),
        "home.city": Attribute(Topic.LOCATION, 0.8),
        "avoids": Attribute(Topic.HEALTH, 0.75, category=Category.PREFERENCE, exclusive=False),
        "birthday": Attribute(Topic.PERSONAL, 0.9),
        "origin": Attribute(Topic.PERSONAL, 0.75),
        "work.employer": Attribute(Topic.WORK, 0.8),
        "education.school": Attribute(Topic.HISTORY, 0.75),
        "education.field": Attribute(Topic.HISTORY, 0.7),
        "allergy": Attribute(Topic.HEALTH, 0.95, exclusive=False),
        "health.condition": Attribute(Topic.HEALTH, 0.9, exclusive=False),
        "diet": Attribute(Topic.HEALTH, 0.9),
    },
)

SLOTS: tuple[Pattern, ...] = (
    _slot("work.role", rf"^我(?![^，]*[在当做是])(?P<v>{ROLES})$", importance=0.75),
    _slot("age", r"^我(?:都|已经|快|今年)?(?P<v>[1-9]\d|[二三四五六七八九]?十[一二三四五六七八九]?)了$"),
    _slot(
        "home.city",
        rf"^我(?:人|已经|都|九月|刚)*(?:去|到|回)(?:了)?(?P<v>{CITIES})(?:报到|定居|发展|读研|读博|读书|上大学|上学|上班|生活)(?:了)?$",
        corrects=True,
    ),
    _slot(
        "avoids",
        r"^我?(?P<v>(?!什么|从来|以前|一般|平时|我|也|都)[\u4e00-\u9fff]{1,4}?)(?:我)?(?:从来|"
        r"也|都|是|真的|一概|一律|基本)*"
        r"(?:不|没法)(?:能)?(?:吃|喝|碰|沾|抽)(?:的)?$",
    ),
    _slot("birthday", rf"(?P<v>{DAY})是我(?:的)?生日$"),
    _slot(
        "work.role",
        r"^我(?![^，]*(?:考虑|想|打算|要))[^，]{0,12}?调(?:去|到|任)(?:了)?(?P<v>[\u4e00-\u9fff]{0,8}?(?:急诊|"
        r"科|室|部|组|中心|线|岗|办|处|队))(?:了)?$",
        importance=0.75,
        corrects=True,
    ),
    _slot("origin", r"我(?:的)?老家(?P<v>[\u4e00-\u9fff]{2,4}?)(?:的|人)?$"),
    _slot(
        "home.city",
        r"我(?:们|俩)?(?:现在|目前|一直|就|平时|还|是)*(?:住|家)(?!在|"
        r"院|了|过|得|的|不|址|宿|处|户|口|一起|校|进|满|里|人|长)"
        rf"(?P<v>(?!家)(?:{CITIES})[\u4e00-\u9fff]{{0,5}}|[\u4e00-\u9fff]{{1,6}}[区县市镇村路街园城湾苑桥门江山湖塘渚浦巷庄坊州海岛港](?!房)|"
        rf"[\u4e00-\u9fff]{{2,6}}(?=这边|那边|那块|一带|附近|那儿|这儿))(?:这边|那边|那块|一带|附近|"
        rf"那儿|这儿)?$",
    ),
    _slot(
        "work.employer",
        r"我(?:们|的)?(?:公司|单位|厂|学校|新公司|新单位)(?:叫|名叫|名字叫|是)(?P<v>[\u4e00-\u9fffA-Za-z]{2,12})$",
    ),
    _slot("work.employer", rf"我(?:就|现在|目前|人)*在{_EMPLOYER}$"),
    _slot("work.employer", rf"我[^，不没]{{0,14}}?(?:正式|刚)?(?:入职|跳槽到?|跳去)(?:了)?{_EMPLOYER}$", corrects=True),
    _slot(
        "work.employer",
        r"我[^，不没]{0,12}?(?:去的?|去了|加入了?)(?P<v>(?!一家|一个|这|"
        r"那|新|家|某)[\u4e00-\u9fffA-Za-z]{2,8}(?:科技|集团|公司|机器人|健康|数据|网络|软件|汽车|"
        r"传媒|智能|信息))$",
        corrects=True,
    ),
    _slot(
        "work.role",
        rf"我[^，不没]{{0,10}}?(?:升|升任|升为|升成|升到|提拔为|转为|转岗做|"
        rf"转行做|改行做|头衔是|职位是|岗位是|职务是|评上|当上|转正成)"
        rf"(?:了)?(?P<v>{ROLES})(?:了)?$",
        corrects=True,
    ),
    _slot("work.role", rf"我[^，不没]{{0,10}}?(?:当|担任|任)(?:了|上)?(?P<v>{ROLES})(?:了)?$"),
    _slot("work.role", rf"我(?:就)?是(?:我们|咱们|我)(?P<v>{ROLES})$"),
    _slot(
        "education.school",
        r"我[^，不没]{0,8}?(?:拟录取|录取到|考上(?:了)?|考进(?:了)?|就读于|"
        r"考取(?:了)?)(?P<v>[\u4e00-\u9fff]{2,10}?(?:大学|学院|中学|高中))",
    ),
    _slot(
        "education.school",
        r"我(?:大学|本科|研究生|硕士|博士|上的|读的|念的)*(?:是)?(?:在)?(?P<v>(?![^，]*(?:毕业|"
        r"从|年|去|考|录|上大学))[\u4e00-\u9fff]{2,8}(?:大学|学院))(?:的|毕业的?)?$",
        importance=0.7,
    ),
    _slot(
        "education.field",
        r"我(?:大学|本科|研究生|硕士|博士)?学(?:的|的是|是)?(?P<v>(?!了|"
        r"过|会|习|着|到|校|期|费|的|历|位|生|得|不)[\u4e00-\u9fff]{2,8}?)(?:专业|的)?$",
    ),
    _slot("allergy", r"我(?P<v>(?![会也有可不很容易从对没还就又])(?![^，]*[会喝吃一])[\u4e00-\u9fff]{2,4})过敏$"),
    _slot(
        "health.condition",
        r"我(?:得了|确诊|是|有|查出)?(?P<v>(?:慢性|急性|轻度|中度|重度)[\u4e00-\u9fff]{0,4}(?:炎|"
        r"病|症|压|喘|疡|疹|血))$",
    ),
    _slot(
        "home.city",
        rf"我(?:现在|目前|还|人|们)*(?:都)?(?:还)?(?:是)?(?:搬(?:到|去|"
        rf"来|回)了?|调(?:到|去|来|回)了?)(?P<v>{CITIES})(?:了|住了|生活|工作)?$",
        corrects=True,
    ),
    _slot("diet", r"我(?P<v>常年吃素|吃素|吃全素|纯素|素食)$"),
)
"""Rows that fit a whole clause only: what is shorter than a sentence must not be found in the middle of one."""
