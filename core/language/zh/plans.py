"""Chinese plans, and reports of their steps. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import PlanForms

PLANS: Final = PlanForms(
    ordinals=("一 二 三 四 五 六 七 八 九 十 十一 十二".split(),),
    number=r"步骤\s*\d{1,3}\s*[:.、：)-]|第[一二三四五六七八九十\d]{1,3}步\s*[:：、，,]",
    title=r"(?:行动|工作|新|当前|我的|我们的)?计划|待办(?:事项|清单)?|步骤|目标|方案",
    one_line=r"(?:新|我的|我们的|工作)?计划|步骤|待办",
    lead=re.compile(r"计划|方案|待办"),
    asks=re.compile(r"计划|规划|步骤|方案|怎么做|安排一下"),
    supposed=re.compile(r"如果|等(?!等)|之后|以后|要是|一旦|之前|据说|[他她]说|也许"),
    denied=re.compile(r"没|未|不|应该|必须|可能|快要|差不多"),
    clause=re.compile(r"但是?"),
    first_then=re.compile(r"(?:^|[，,；;、]\s*)(?:先|首先|再|然后|接着|之后|最后|其次)"),
    reports={
        "done": (
            re.compile(
                r"(?:第([一二三四五六七八九]|十[一二]?|\d{1,3})步|步骤\s*([一二三四五六七八九]|十[一二]?|"
                r"\d{1,3}))(?:已经|也|都|刚刚?)?(?:完成|做完|搞定|弄好|做好|好)了?(?!没|再|后)"
            ),
            re.compile(
                r"(?:^|[，。])(?:我们?|已经?)*(?:完成|做完|搞定)了?第([一二三四五六七八九]|十[一二]?|\d{1,3})步"
            ),
        ),
        "failed": (re.compile(r"第([一二三四五六七八九]|十[一二]?|\d{1,3})步(?:执行)?失败"),),
        "skipped": (
            re.compile(
                r"跳过第([一二三四五六七八九]|十[一二]?|\d{1,3})步|第([一二三四五六七八九]|十[一二]?|"
                r"\d{1,3})步(?:就|先)?跳过"
            ),
        ),
        "in_progress": (
            re.compile(r"(?:开始|正在|现在)(?:做|进行|执行|处理)?第([一二三四五六七八九]|十[一二]?|\d{1,3})步"),
        ),
    },
    question_ends=("吗", "吗。"),
    statuses={
        "pending": "待办 未开始 待处理",
        "in_progress": "进行中 正在进行",
        "done": "完成 已完成 成功",
        "failed": "失败",
        "skipped": "跳过 已跳过 取消 已取消",
    },
    mentioned=r"计划|步骤|待办|第.{1,3}步",
)
