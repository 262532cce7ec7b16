"""Building blocks of the Chinese rows: subjects, ends of values, and lists of towns and occupations."""

from __future__ import annotations

import re

from core.language.lazy_regex import lazy_regex
from core.language.zh.household import KIN, PETS

ADV = (
    r"(?:现在|目前|一直|已经|还|也|最近|其实|就|都|特别|非常|很|真的|超|最|比较|从小|平时|今年|刚|"
    r"刚刚|终于|一般|有点|有些|真)*"
)
WHO = (
    rf"(?:(?<![给跟和对让帮叫问])我(?:们?家(?!乡|里|人|长|庭))?(?:的)?(?P<kin>(?:{KIN}))?"
    r"(?P<kinname>(?<=[婆子太人侣公夫生友妻妈亲爸哥姐弟妹儿女孩奶爷板事蜜母姥姑舅叔姨侄甥司学居])[A-Z][a-z]+)?"
    rf"{ADV})"
)
CHAIN = rf"(?:(?:(?!{KIN}|{PETS}|不)[^。！？；我他她它你您]){{1,24}}[，,]{ADV})?"
"""Clauses between a subject and a later one of its verbs, in which nobody else is named."""
VS = r"(?P<v>[^，。！？；,.!?;\s（）()]{1,30}?)"
V = r"(?P<v>[^，。！？；、,.!?;\s（）()]{1,20}?)"
END = (
    r"(?=$|[，。！？；、,.!?;\s（(]|了|的时候|因为|所以|但是|但|而且|已经|和我|跟我|多年|好几年|"
    r"\d+年|[一二两三四五六七八九十]+年)"
)
_PARTS = {
    "{chain}": CHAIN,
    "{vs}": VS,
    "{ends}": END.replace("、", ""),
    "{who}": WHO,
    "{v}": V,
    "{end}": END,
    "{adv}": ADV,
}


def row(regex: str) -> re.Pattern[str]:
    """Return `regex` with its placeholders filled in."""
    for name, part in _PARTS.items():
        regex = regex.replace(name, part)
    return lazy_regex(regex)


TOWNS = (
    "北京 上海 广州 深圳 杭州 南京 苏州 成都 重庆 武汉 西安 天津 长沙 郑州 青岛 大连 "
    "厦门 宁波 无锡 合肥 福州 济南 沈阳 哈尔滨 长春 昆明 贵阳 南宁 海口 三亚 拉萨 兰州 "
    "银川 西宁 太原 石家庄 南昌 东莞 佛山 珠海 香港 澳门 台北 高雄 日本 美国 英国 德国 "
    "法国 加拿大 澳大利亚 新加坡 韩国 东京 纽约 伦敦 巴黎 柏林 悉尼 墨尔本 温哥华 多伦多 "
    "广东 浙江 江苏 四川 湖南 湖北 山东 新疆 西藏 云南 贵州 福建 江西 安徽 河南 河北 山西 陕西 甘肃 青海 "
    "宁夏 内蒙古 辽宁 吉林 黑龙江 海南 广西 "
    "常州 扬州 南通 徐州 镇江 泰州 绍兴 嘉兴 湖州 金华 台州 温州 义乌 泉州 漳州 莆田 中山 惠州 汕头 湛江 "
    "江门 桂林 柳州 北海 洛阳 开封 襄阳 宜昌 岳阳 "
    "株洲 湘潭 衡阳 常德 九江 赣州 景德镇 烟台 威海 潍坊 临沂 淄博 保定 唐山 秦皇岛 邯郸 大同 包头 呼和浩特 "
    "乌鲁木齐 大理 丽江 遵义 绵阳 宜宾 泸州 乐山 "
    "咸阳 宝鸡 汉中 延安 榆林 芜湖 安庆 蚌埠 鞍山 锦州 吉隆坡 曼谷 首尔 大阪 京都 福冈 旧金山 西雅图 "
    "洛杉矶 波士顿 芝加哥 阿姆斯特丹 慕尼黑 苏黎世 都柏林 河内 "
).split()
CITIES = "|".join(TOWNS)
PLACES = frozenset([*TOWNS, "国内", "国外", "海外", "外地", "老家"])
DAY = r"(?:(?:19|20)\d{2}年)?(?:\d{1,2}|[一二三四五六七八九十]{1,2})月(?:\d{1,2}|[一二三四五六七八九十]{1,3})[日号]"
ROLES = (
    r"[^，。！？的了\s]{0,8}?(?:工程师|程序员|老师|教师|医生|护士|律师|会计|设计师|学生|研究生|"
    r"博士生|大学生|经理|产品经理|厨师|司机|记者|编辑|作家|画家|摄影师|"
    r"教授|研究员|科学家|分析师|销售|警察|公务员|翻译|导游|演员|歌手|音乐家|建筑师|药剂师|咨询师|"
    r"顾问|创业者|自由职业者|运营|教练|店长|农民|工人|主管|总监|架构师|组长|负责人|班主任|保安|电工|快递员|骑手|裁缝|实习生|兽医|校长|院长|班长|队长|站长|科长|处长|主任|领班|合伙人|消防员)"
)
