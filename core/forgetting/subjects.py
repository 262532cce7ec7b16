"""Kinds of things that people ask to have forgotten, with the words that name them and those that state them. Pure.

A request says "my salary"; the statement said "They're paying me 58,400 a year".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.language.lazy_regex import lazy_regex


@dataclass(frozen=True, slots=True)
class SubjectKind:
    """A kind of thing: how requests name it, how statements state it, and how its value looks, if it has one."""

    named: re.Pattern[str]
    stated: re.Pattern[str]
    value: re.Pattern[str] | None = None


def _kind(named: str, stated: str, value: str | None = None) -> SubjectKind:
    pattern = None if value is None else lazy_regex(value, re.IGNORECASE)
    return SubjectKind(
        lazy_regex(named, re.IGNORECASE), lazy_regex(f"(?:{named})|(?:{stated})", re.IGNORECASE), pattern
    )


_CODE_SHAPE: Final = r"(?<![a-z0-9_-])(?=[a-z_-]{0,40}\d)[a-z0-9][a-z0-9_-]{2,40}(?![a-z0-9_])"
"""A code, password or number: three characters or more, with a digit among them."""

_DIGITS: Final = r"(?<![a-z0-9])\+?\d[\d -]{4,20}\d(?![a-z0-9])"

_MONEY: Final = (
    r"[$€£¥]\s?\d[\d,.]*\s?(?:k|m|million|thousand)?|\d[\d,.]*\d\s?(?:k\b|usd|eur|gbp|dollars?|euros?|pounds?|yuan|"
    r"rmb|"
    r"kr(?:oner|onor)?|francs?|万元?|块钱?|元|千|刀|美元|欧元)?|[一二两三四五六七八九十百千万几]{1,8}(?:万|千|"
    r"百)?(?:元|块钱?)"
)

_DAY: Final = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|"
    r"\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?:,? \d{4})?|"
    r"\d{4}-\d{2}-\d{2}|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}|(?:\d{4}|"
    r"[一二三四五六七八九〇零]{2,4})年(?:农历)?\d{1,2}月\d{1,2}[日号]|\d{1,2}月\d{1,2}[日号]"
)

KINDS: Final[Mapping[str, SubjectKind]] = {
    "code": _kind(
        r"\bpins?\b|pass(?:word|code|phrase|key)|\bcodes?\b|combination|\btokens?\b|credentials?|\bwi-?fi\b|\blogin|"
        r"密码|口令|验证码|暗号|暗码|\bpin码",
        r"\b(?:key|lock|alarm|gate|door) (?:number|code)",
        _CODE_SHAPE,
    ),
    "phone": _kind(
        r"(?:phone|mobile|cell|tele|contact|work|home) ?(?:number|phone)?s?\b|\bmy number\b|\bnumber\b|手机|电话|"
        r"号码|"
        r"联系方式|微信号?|座机",
        r"\b(?:call|text|ring|reach) me (?:at|on)\b|打我",
        _DIGITS,
    ),
    "address": _kind(
        r"address|whereabouts|\bstreet\b|house number|post ?code|zip ?code|where (?:i|we|he|she|they) (?:live|stay)|"
        r"地址|住址|"
        r"门牌|住处|"
        r"住哪|住在哪|住的地方|住所|街道|家在哪",
        r"\b(?:live|lives|living|living|stay|stays|staying|moved?|is|are|we're|i'm|he's|she's) (?:at|on|in|"
        r"to) (?:flat |"
        r"apartment |number |no\. |unit )?\d{1,5}\w?\b|\b\d{1,5}\w? (?:\w+ ){1,3}(?:street|st\b|road|rd\b|lane|"
        r"avenue|ave\b|"
        r"court|drive|close|way|terrace|place|square|crescent|boulevard|gardens|row|hill)|\b\d{1,4},? (?:rue|via|"
        r"calle|"
        r"avenida|quai|rua|plaza|place|allée|chemin)\b|\w{1,30}(?:straße|strasse|gasse|gatan|weg|straat|laan) \d|"
        r"[路街巷弄道]\d{1,5}号|\d{1,5}[号弄栋幢]|\d{1,4}单元|\d{3,4}室|小区|胡同|(?:我|咱)们?家?住",
    ),
    "email": _kind(
        r"e-?mail(?: address)?|邮箱|电邮|"
        "邮件地址",
        r"@\w",
        r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}",
    ),
    "pay": _kind(
        r"salary|\bpay(?:check|cheque|slip)?\b|\bwages?\b|\bincome\b|earnings?|(?:how much|amount|what) (?:i|we|"
        r"he|she) (?:earn|"
        r"make|get)|"
        r"\bbonus\b|工资|薪水|薪资|月薪|年薪|收入|待遇|奖金|挣多少|赚多少|拿多少",
        r"\b(?:pay(?:s|ing)?|offer(?:ed|ing)?|earn(?:s|ing)?|mak(?:e|es|ing)|bring(?:ing)? in|"
        r"on) (?:me )?(?:about |around |"
        r"roughly )?[$€£]?\d|\d (?:a|per) (?:year|month|week|hour|annum)|到手|挣|赚|底薪|一个月(?:拿|给)|年入|月入|"
        r"税后|税前",
        _MONEY,
    ),
    "work": _kind(
        r"\bjob\b|\bwork\b|profession|employer|occupation|for a living|工作|职业|上班|职位",
        r"\bwork(?:s|ed|ing)? (?:as|at|for|in|on)\b|\b(?:i'm|i am|is|was|are) an? \w+(?:er|or|ist|ian|man|ant)\b|"
        r"在.{1,8}当|当.{0,6}[师员工]",
    ),
    "money": _kind(
        r"\bmoney\b|\bdebts?\b|\bloans?\b|\bsavings?\b|\bhow much\b|\bamount\b|\bfinanc\w+|mortgage|\brent\b|"
        r"bankrupt\w*|"
        r"overdraft|credit card|多少钱|欠款|欠债|债|存款|房租|贷款|积蓄|借钱|破产|房贷|钱的事|彩票|遗产|继承",
        r"\bow(?:e|es|ed|ing)\b|\bborrow\w*|\blent\b|\bput \S+ (?:\S+ )?(?:\S+ )?(?:dollars|euros|pounds)|"
        r"\b(?:dollars|euros|pounds|usd|grand)\b|inherit\w*|lottery|broke\b|in the red|欠|借了|还不起|透支|亏|花呗|"
        r"网贷|"
        r"[一二两三四五六七八九十百千万\d](?:万|千|块|元)",
    ),
    "birth": _kind(
        r"birth ?day|date of birth|\bdob\b|birth ?date|\bage\b|how old|when i was born|生日|出生|生辰|年龄|岁数|"
        r"多大|年纪",
        r"\bborn (?:on|in)\b|years old|turn(?:ed|ing)? \d\d|生于|\d岁|属[鼠牛虎兔龙蛇马羊猴鸡狗猪]",
        _DAY,
    ),
    "identity": _kind(
        r"passport|\bid\b|\bid (?:number|card)|\bssn\b|social security|licen[sc]e|number plate|\bplate\b|"
        r"insurance number|"
        r"tax (?:id|number)|member(?:ship)? (?:number|id)|(?:account|card|policy|order|case|reference|booking|"
        r"tracking|"
        r"confirmation|frequent flyer) (?:number|reference|code)|\bbooking\b|\biban\b|身份证|身分证|证件|护照|驾照|"
        r"驾驶证|车牌|"
        r"卡号|账号|帐号|社保|医保|字号|订单号|会员号|学号|工号|保单|编号|单号",
        r"\bnumber is\b",
        _CODE_SHAPE,
    ),
    "health": _kind(
        r"\bill(?:ness)?\b|\bsick(?:ness)?\b|diagnos\w+|\bdisease|\bhealth\b|\bmedical|medicat\w+|\bmeds\b|"
        r"\bpills?\b|"
        r"depress\w+|mental|therap\w+|surger\w+|operation|pregnan\w+|miscarr\w+|\bhiv\b|cancer|test results?|"
        r"\bcondition\b|"
        r"\bhospital\b|\bdoctor|anxi\w+|panic|生病|病情|的病|病史|抑郁|焦虑|健康|诊断|吃药|用药|手术|体检|怀孕|"
        r"身孕|有喜|"
        r"治疗|看病|住院|癌|心理|身体状况|检查结果|毛病|病",
        r"\b\w{2,30}(?:formin|pril|statin|azole|oxetine|traline|zepam|olol|sartan|cillin|mycin|gliptin)\b|\bmg\b|"
        r"bipolar|adhd|autis\w+|epilep\w+|diabet\w+|psychiatr\w+|psycholog\w+|counsell?or|antidepress\w+|\bssri|"
        r"ozempic|"
        r"rehab|\bivf\b|\bexpecting\b|\b(?:weeks|months) (?:along|pregnant)|tumou?r|chemo\w*|\bburn(?:t|ed)? ?out|"
        r"breakdown|"
        r"insulin|asthma|migraine|herpes|\bstd\b|vasectomy|hysterectomy|scan|biopsy|blood pressure|糖尿|胰岛素|"
        r"癫痫|服药|"
        r"躁郁|双相|失眠|流产|试管|确诊|肿瘤|化疗|乙肝|艾滋|血压|心脏|咨询师|精神科|复查|药",
    ),
    "love": _kind(
        r"\bmarriage\b|divorc\w*|break-?up|broke up|separat\w+|\baffair|cheat\w*|relationship|love life|\bcrush\b|"
        r"\bex-?(?:husband|wife|boyfriend|girlfriend)?\b|\bdating\b|engage(?:d|ment)|婚姻|离婚|离了|分手|感情|出轨|"
        r"劈腿|"
        r"恋情|恋爱|相亲|前任|前男友|前女友|前夫|前妻|暗恋|喜欢的人|对象|结婚|婚事|求婚",
        r"\b(?:left|leaving) (?:me|my (?:husband|wife))\b|seeing someone|\bsplit\b|\bkissed\b|propos\w+|\btinder\b|"
        r"闹离婚|"
        r"分居|小三|外遇|表白|男朋友|女朋友|追我|追他|追她",
    ),
    "hunt": _kind(
        r"interview\w*|job (?:hunt|search|application|offer)|looking for (?:another|a new) job|apply\w*|"
        r"applicat\w+|quit\w*|"
        r"resign\w*|leaving (?:my|the) job|job change|面试|跳槽|下家|换工作|找工作|辞职|离职|应聘|简历|offer|猎头|"
        r"另谋",
        r"\brecruiter|headhunter|hand(?:ing|ed)? in my notice|new job|second round|投了?简历|录用",
    ),
    "jobless": _kind(
        r"lost (?:my|his|her|their) job|out of work|unemploy\w*|\bfired\b|laid off|layoff|suspend\w*|\bsacked\b|"
        r"redundan\w*|"
        r"(?:no|without a) job|没班上|没工作|失业|停职|被裁|裁员|下岗|被开除|待业|丢了工作|被辞|没了工作|丢工作|"
        r"工作没了",
        r"let (?:me|him|her|them) go\b|dismiss\w*|between jobs|furlough\w*|脱产|被优化|开除",
    ),
    "trouble": _kind(
        r"\bthe past\b|\bmy past\b|trouble|arrest\w*|\bjail|prison|police record|criminal|\brecord\b|wild (?:youth|"
        r"years|days|"
        r"phase)|embarrass\w+|(?:stupid|dumb|silly|foolish|crazy|bad) (?:thing|stuff|stunt|mistake|story|years)s?|"
        r"youth\w*|"
        r"when i was young\w*|younger days|gambl\w+|\bdrugs?\b|addict\w*|drunk\w*|drinking|alcohol\w*|shoplift\w*|"
        r"skeleton|"
        r"黑历史|犯浑|荒唐|年轻时|年少|糗事|丢人|丢脸|前科|拘留|坐牢|赌|吸毒|打架|案底|不光彩|犯的?错|犯傻|混账|"
        r"过去那段|酗酒|糊涂|"
        r"出丑|见不得人|胡来|胡闹",
        r"convict\w*|\bcell\b|\bpolice\b|\bcocaine|\bweed\b|\bdui\b|\bstole|\bsteal|\bstolen|\bfought|\bfight\b|"
        r"expelled|"
        r"kicked out|casino|poker|\bbets?\b|betting|caught|vandal\w*|crash\w*|sued|lawsuit|派出所|警察|欠过?债|偷|"
        r"酒驾|判了|"
        r"被逮|被抓|开除|作弊|处分|逃学|戒酒|戒毒|少管所|留级|醉酒|喝醉",
    ),
    "belief": _kind(
        r"religio\w*|\bfaith\b|church|politic\w*|\bvot(?:e|ed|ing)\b|sexual\w*|\bgay\b|lesbian|orientation|"
        r"coming out|trans\b|"
        r"party member\w*|信仰|宗教|信教|政治|投票|性取向|出柜|同性|入党",
        r"convert\w*|atheist|muslim|christian|jewish|buddhis\w+|\bbi(?:sexual)?\b|queer|boyfriend|girlfriend|基督|"
        r"佛|教会|清真|"
        r"喜欢男|喜欢女",
    ),
    "body": _kind(
        r"\bweight\b|\bheight\b|how much i weigh|\bweigh\b|dress size|bra size|shoe size|体重|身高|多重|三围|尺码|胖",
        r"\bweigh(?:s|ed)?\b|\b\d+ ?(?:kilos?|kg|pounds|lbs|stone)\b|公斤|\d斤|厘米|减肥",
        r"\d[\d.]* ?(?:kilos?|kg|pounds|lbs|stone|cm)|\d+[公]?斤",
    ),
    "place": _kind(
        r"spare key|\bhidden\b|\bhid(?:e|es|ing)\b|\bwhere .{0,30}\b(?:is|are|keep|kept)\b|藏|[放搁摆收]在?哪|在哪",
        r"\bunder the\b|\bbehind the\b|inside the|底下|后面|夹层|花盆|抽屉",
    ),
    "kin": _kind(
        r"adopt\w+|biological (?:father|mother|parents)|half-?(?:brother|sister)|family secret|收养|领养|亲生|私生|"
        r"身世",
        r"birth (?:mother|father)|foster\w*|养父|养母|生父|生母",
    ),
}


def named(description: str) -> frozenset[str]:
    """Return the kinds that a description names; it is in `text.plain` form."""
    return frozenset(name for name, kind in KINDS.items() if kind.named.search(description))


def stated(statement: str) -> frozenset[str]:
    """Return the kinds of which a statement may be one; it is in `text.plain` form."""
    return frozenset(name for name, kind in KINDS.items() if kind.stated.search(statement))


def values(kinds: frozenset[str], statement: str) -> list[tuple[int, int]]:
    """Return the places of values of these kinds in a statement in `text.plain` form."""
    patterns = [pattern for name in sorted(kinds) if (pattern := KINDS[name].value) is not None]
    return sorted({match.span() for pattern in patterns for match in pattern.finditer(statement)})
