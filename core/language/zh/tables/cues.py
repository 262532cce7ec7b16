"""Cue words for kinds of Chinese statements and topics, and sentence templates of attributes."""

from __future__ import annotations

from core.language.language import CategoryCue, Theme
from core.language.lazy_regex import lazy_regex
from core.language.zh.tables import at_work
from core.types import Category, Topic

CATEGORIES: tuple[CategoryCue, ...] = (
    *at_work.CATEGORIES,
    CategoryCue(
        lazy_regex(
            r"打算|计划|准备(?:去|在|要|参加|考|买|搬|换|学|结|开始)|(?:明天|后天|下周|下个?月|明年|下学期|"
            r"(?<![上个每])周末(?!经常|常常|通常|一般|都|总))[^，。]{0,6}(?:要|会|去(?![了过])|将)|想要?(?:去|学|换|考|买|成为|做)|希望能|"
            r"目标是|梦想是|"
            r"的计划|要(?:参加|去|和|跟|考|搬|出差|开始)"
        ),
        Category.PLAN,
        0.55,
    ),
    CategoryCue(
        lazy_regex(r"每(?:天|周|个?月|年|晚|早|个?周末|次|逢)|经常|通常|一般(?!的|般)|总是|平时|习惯|从不|很少|偶尔"),
        Category.PATTERN,
        0.55,
    ),
    CategoryCue(lazy_regex(r"喜欢|热爱|讨厌|最爱|偏好|不爱"), Category.PREFERENCE, 0.5),
    CategoryCue(
        lazy_regex(r"昨|前天|上周|上个|去年|前年|今天|今早|刚刚?|最近|[天周月年]前|\d+[年月日号]|了"),
        Category.EVENT,
        0.5,
    ),
)
THEMES: tuple[Theme, ...] = tuple(
    Theme(topic, lazy_regex(words))
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
    "not": "{who}的{what}不再是{value}。",
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
"""Sentence templates of attributes, by full name or first part."""

CHANGE = lazy_regex(
    r"^其实|不再|改成|改为|换成|换到|搬到|搬去|搬家|不是.{1,12}而是|更正|说错了|已经不|现在不|戒了|"
    r"跳槽|不(?:在|住).{1,12}了"
)
"""Words that say that something is not as it was."""
