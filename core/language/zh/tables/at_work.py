"""Chinese talk about common work: what is certain to last, and kinds of statements."""

from __future__ import annotations

import re

from core.language.language import CategoryCue
from core.language.lazy_regex import lazy_regex
from core.types import Category

_THINGS = (
    r"项目|仓库|代码库|前端|后端|服务端|客户端|小程序|数据库|接口|线上|生产(?:库|环境)?|测试环境|预发|集群|服务|网关|流水线|"
    r"网站|官网|API|App|团队"
)
_TERMS = (
    rf"{_THINGS}|部署|上线|发版|版本号?|分支|主干|提交|合并|代码|组件|变量|注释|日志|字段|表|文案|设计稿|规范|文档|周报|评审|"
    r"埋点|报表|排期|需求|缓存|队列|镜像|配置|限流|密钥|缩进|[A-Za-z]{2,}[\w.+#-]*"
)
_AIMS = r"注释|变量名|命名|提交信息|commit ?message|文档|日志|报错|文案|标题"

LASTING = lazy_regex(
    rf"^(?:我们|咱们|本|这个|这边|我们的?|咱们的?)?(?:{_THINGS}|我们|咱们)[^，,。]{{0,6}}?(?:用的?(?:是)?|使用|采用|跑在|部署在|"
    r"托管在|走|基于|统一)[^，,。]{0,3}[A-Za-z]|"
    r"(?:^|[，,；])(?:绝对|一律|代码里)?(?:禁止|严禁|不许|不准)|"
    r"(?:前缀|后缀|流程|步骤|规则|规范|约定|命名|口径|技术栈)(?:都|统一)?(?:是|为|：|:)|"
    rf"^(?:代码|所有|我们)?(?:的)?(?:{_AIMS})(?:都|要|请|统一|一律)*用|"
    r"^(?:都|统一)?用[^，,。]{2,20}(?:结构|架构|规范|风格|约定)$",
    re.IGNORECASE,
)
"""Sentences about common work that last by their form."""
MOMENTARY = lazy_regex(
    r"这里|这次|这个?(?:函数|变量|文件|图|页|行)|先(?!.*(?:再|然后|最后))|暂时|临时|现在|目前|今天|昨天|刚|正在|可能|也许|要不|"
    r"考虑|试试|如果|假如|万一|以前|之前|曾经|原来|不再|挂了|报错了|好像|谁说|听说|[吗呢吧]|能不能|是不是|[？?]"
)
"""Words that deny it: of the moment, considered, past, somebody else's."""

ORDER = lazy_regex(
    r"^(?:请|千万|记住[，,：:]?|以后|今后|往后|从今天起|代码里|写代码)*(?:绝对)?(?:禁止|不许|不准|不得|严禁|别|不要|必须|"
    r"务必|一律|一定要|统一用|只用|都用)|(?:^|[，,])[^，,我]{0,10}(?:不许|不准|禁止|严禁|务必|不能(?:再)?(?:用|提交|直接|"
    r"出现|打印|写))|^(?:今后|以后|往后)[^，,]{0,14}(?:都要|必须|一律)|先(?:问|跟|找)我|跟我确认"
)
"""Standing orders, of sentences that last."""

CATEGORIES: tuple[CategoryCue, ...] = (
    CategoryCue(
        lazy_regex(
            r"(?:流程|步骤|做法)(?:是|：|:)|先.{1,30}?(?:再|然后|接着|最后)|(?:是这样|这么|这样)(?:弄|做|来|干|发|配|搞)?(?:的)?[：:]"
        ),
        Category.SKILL,
        0.6,
    ),
    CategoryCue(
        lazy_regex(
            rf"我.{{0,6}}?(?:偏向|偏爱|偏好|只认|更喜欢|(?:不太)?喜欢|习惯|受不了|宁可|宁愿)|能不.{{1,10}}?就不|"
            rf"^(?:代码|写|我的?)?(?:{_AIMS})用"
        ),
        Category.PREFERENCE,
        0.6,
    ),
    CategoryCue(
        lazy_regex(
            rf"^(?!.*我(?!们)).*?(?:(?:我们|咱们|本项目|这个项目).*(?:{_TERMS})|^(?:{_THINGS}|用))", re.IGNORECASE
        ),
        Category.PROJECT,
        0.6,
    ),
    CategoryCue(lazy_regex(rf"^(?!.*[我你他她妈爸]).*(?:{_TERMS})", re.IGNORECASE), Category.KNOWLEDGE, 0.55),
)
