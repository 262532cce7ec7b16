"""Chinese signs by which a context is filled. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import ContextCues

CONTEXT: Final = ContextCues(
    depth={
        "all": re.compile(
            r"所有|全部|一切|列出|列举|哪些|有哪|都(?:有|去|做|买|喜欢|说|提)|一共|总共|各(?:个|种)|每(?:个|"
            r"次|一)"
        ),
        "counts": re.compile(
            r"多少(?:次|个|人|本|种|天|年|钱)|几(?:次|个|人|本|种|天|年|位|家)|总数|平均|多久一次|最常|通常"
        ),
        "compares": re.compile(r"比较|对比|相比|区别|不同|差别|哪个更|更(?:好|喜欢|多|少)|还是|一样|相同|共同"),
        "over_time": re.compile(
            r"变化|改变|变了|期间|之间|以来|从.{1,20}到|过去(?:几|的)|以前|之前|之后|后来|历史|经过|至今|去年|"
            r"上个月"
        ),
        "reasons": re.compile(
            r"为什么|为何|原因|理由|怎么会|解释|可能会|会不会|推荐|建议|应该|总结|概括|评价|性格|介绍一下|说说"
        ),
        "one_to_another": re.compile(r"的[^的，。？]{1,8}的[^的，。？]{1,8}的|那个.{1,20}的|其中|在那里|当时"),
    },
    question_words=re.compile(r"谁|什么|何时|什么时候|哪里|哪儿|哪个|哪些|怎么|怎样|为什么|多少|几(?=[个次年天])"),
    joined=re.compile(r"以及|并且|而且|还有|和|与|或"),
    key=re.compile(r"错误|异常|失败|警告|状态|原因"),
    error=re.compile(r"错误|异常|失败|超时|拒绝|未找到|无法"),
    warning=re.compile(r"警告|注意"),
    of_project=re.compile(r"(?:这个|本|该|我们的?)(?:仓库|项目|代码库|工程|服务|应用|模块|分支)"),
)
