"""Subjects of Chinese clauses: the speaker, a relative, a named person, a pet, or a thing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.extraction.chinese.clauses import QUOTED, TITLED
from core.language.chinese_household import KIN
from core.language.lazy_regex import lazy_regex
from core.language.terms import dictionary_count

SURNAMES = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏窦章苏潘葛范彭郎鲁韦马苗凤方俞任袁柳"
    "鲍史唐费廉岑薛雷贺倪汤滕殷罗毕郝邬安常乐于傅卞齐康伍余元顾孟黄穆萧尹姚邵汪祁毛禹狄米戴谈宋庞熊纪舒屈项祝董梁杜"
    "阮蓝闵季贾路娄江童颜郭梅盛林钟徐邱骆高夏蔡田樊胡凌霍虞万柯管卢莫房裘解应宗丁邓洪包左石崔吉龚程邢裴陆荣翁荀甄"
    "封储靳段焦巴牧侯全秋仲伊宫宁甘厉祖武符刘景龙叶黎薄白卓池乔闻党翟谭劳申冉桑桂牛边温庄晏柴瞿阎慕连艾鱼向古易"
    "廖耿满文寇欧聂晁关荆红游权肖涂佟岳丘简饶曾沙丰游覃"
)
_COMMON = (
    "周[一二三四五六日末天围年期边报]|高[一二三兴中考铁速德级血]|黄[金山瓜油豆]|白[天色领板菜酒内班]|马[上路拉桶]|方[便案向面法式]|"
    "安[排全装静检]|常[常用年见规]|金[额融鱼毛]|温[度馨柔泉]|于是|毛[病衣巾]|石[头油]|水|平[时常]|何[时况必]|任[何务职]|许多|成[绩都]|"
    "江[苏西南北]|武[汉术]|龙[井虾]|钱包|元[旦旦]|全[部家职程身]|包[子括里]|连[续我他她着]|文[章件档科字]|向来|古[代典]|易[怒拉]|"
    "关[于系键注]|红[色包酒茶烧]|游[戏泳客览]|权|沙[发漠拉]|简[单历直]|曾经|应该|程序|段时|路[上由过]|管[理他]|万[一元]|左[右眼腿手膝边脚]|"
    "房[租子贷东间价]|解[决释放]|梅[雨花]|乐[队器园]|华[为东南中]|项[目链]|纪念|祝|章节|章程|汤|米[饭线]|费[用劲]|宁[波愿可]|边[上看]|"
    "明[天年早晚]|严[重格]|时|凌晨|牛[奶肉油]|鱼|夏[天令]|秋[天季]|冬|林业|田|贺|陶[艺瓷]|单|雷|康复|盛|封[面]|席|经|尤[其克]|伊|祖国|申[请报]|"
    "童年|桑拿|桂林|柳州|郑州|苏州|徐州|宋[代朝词]|唐[代诗朝]|秦|罗[马列]|胡[子同说]|应[聘届付]|谈|邮|车|甘[肃蔗]|宁夏|西"
)
_NEXT = (
    "是在的也都又还就才要会想说去来有没不和跟给从把被让叫做当教养买卖住搬考拿怀得爱喜讨最今明昨前后上下这那每天正已刚"
    "其人挺很心脾性干照终快退离换升调转辞学读毕开办报约送托请陪他她现以月推属打玩跑吃喝带对帮结比长多身辅年生走病休死单出姓本老性真先到发成复需自己一亲个怎则因连失答求迷睡体查测嫁娶回"
)
_DOING = "哭笑骂喊吵闹哄嫌夸催劝气急醒瘦胖"
"""No name ends in these: “何敏哭得…” is told of 何敏."""
_NAME = lazy_regex(
    rf"(?P<name>小(?![她他它我你的时区说孩狗猫学心伙两电脚米事组姐吃费店镇众型儿腿朋程城鸟孙提票房额名长初高升伙品菜雪便])[\u4e00-\u9fff](?=[{_NEXT}]|"
    rf"$)|"
    rf"老(?![家公婆板师人馆妈爸是早外年虎鼠旧实头大二小房歌友乡街同本样远了也想要太把被])[\u4e00-\u9fff](?=[{_NEXT}]|"
    rf"$)|"
    rf"阿(?!姨|胶|里|尔|富)[\u4e00-\u9fff](?=[{_NEXT}]|$)|"
    rf"(?!{_COMMON})[{SURNAMES}][\u4e00-\u9fff]?(?:阿姨|叔叔|叔|大爷|"
    rf"大妈|奶奶|爷爷|哥|姐|总|老师|医生|大夫|经理|主任|教练|师傅|工(?![作资程地厂])|导|律师|校长|院长|局|队|婶|"
    rf"嫂)|"
    rf"(?!{_COMMON})[{SURNAMES}][\u4e00-\u9fff](?=[{_NEXT}]|工作[也又都换])|(?!{_COMMON})[{SURNAMES}][\u4e00-\u9fff](?![{_DOING}])[\u4e00-\u9fff](?=[{_NEXT}])|"
    r"(?!Rust|Java|Python|Kotlin|Swift|Ruby|Scala|Docker|Linux|Excel|Word|Office|Windows|Figma|Notion)"
    r"[A-Z][a-z]{2,12}(?=[\u4e00-\u9fff]))"
)
ROLES_AROUND = (
    r"领导|上司|老板|主管|经理|组长|同事|同桌|室友|邻居|房东|导师|"
    r"老师|师傅|教练|同学|发小|闺蜜|朋友|哥们|搭档|客户|徒弟|学生|前任|对象|伴娘|伴郎|班主任|医生|"
    r"阿姨|保姆"
)
PET_KINDS = (
    r"猫咪|狗狗|猫猫|猫|狗|犬|柯基|金毛|泰迪|哈士奇|布偶|英短|美短|橘猫|奶牛猫|三花|"
    r"狸花|仓鼠|兔子?|鹦鹉|乌龟|龟|拉布拉多|边牧|柴犬|萨摩耶|比熊|博美|土狗|法斗|金鱼"
)
KIN_WORDS = (
    rf"(?:未来)?(?:{KIN}|前妻|前夫|小姨子|大姨子|新娘|新郎|爷|奶|姥|丈母娘|老丈人|妹夫|姐夫|嫂子|弟媳|弟妹|女婿|儿媳妇?|亲家[公母]?|干[爸妈儿女]|小[叔姑舅姨]子|[大小二三]?[姑舅姨叔伯][妈父爸]?|"
    rf"[大二小三]?(?:儿子|女儿|闺女|宝|娃|哥|姐|弟|妹)|娃|闺女|外孙女?|媳妇儿?|对象|堂[哥弟姐妹]|"
    rf"表[哥弟姐妹]|{ROLES_AROUND})(?:们|俩)?"
)
_MINE = lazy_regex(
    rf"^(?:楼下|楼上|隔壁|对门|对面)?(?P<lead>我(?:们|家|们家)?|咱(?:们|"
    rf"家)?|俺|我的)?(?:的)?(?:新|大学|高中|初中|小学|公司|前)?(?P<kin>{KIN_WORDS})"
)
_SPEAKER = lazy_regex(
    r"^(?:我(?!校|国|市|省|县|院|党|方|司|军)|本人|俺|咱)(?:们)?(?:俩|仨|两个|几个|自己|本人|这边|家)?"
)
_PRONOUN = lazy_regex(
    r"^(?P<who>[他她它]|人家(?!说|讲|都))(?P<many>们|俩|家)?(?:的)?(?P<kin>[爸妈哥姐弟妹]{1,2}|"
    r"老[婆公]|儿子|女儿|父母|爸妈|男朋友|女朋友|孩子)?"
)
_TIME = lazy_regex(
    r"^(?:(?:从|自|到|在|等|截至)?(?:[\d一二三四五六七八九十两]{1,4}(?:年|"
    r"月|号|日|点|周)(?:底|初|中|份|半|前|后|之前|以后|起|那年)?|(?:20|19)\d\d|大?[前昨今明后][天年晚早日]|"
    r"[上下这本]+个?(?:周|月|星期|礼拜|学期|季度|半年)(?:[一二三四五六日末天底初](?![号日十]))?|周[一二三四五六日末]|"
    r"每?(?:隔)?(?:周|星期|礼拜)[一二三四五六日末](?:[、和跟到至](?:周|"
    r"星期)?[一二三四五六日])*|最近|现在|目前|如今|刚才|刚刚|刚|之前|以前|早先|早年|早些年|原先|起初|年轻时|当时|后来|前阵子|前段时间|"
    r"这阵子|这几天|这两天|每[天周月年晚早]|平时|周末|早上|上午|中午|下午|晚上|"
    r"这么一来|这样一来|这下|其实|而且|但是?|不过|所以|因为|然后|另外|"
    r"好在|幸好|结果|反正|多少|总之|毕竟|可惜|的|又|还|也|就|都|已经|终于|果然|居然|竟然|年底|"
    r"年初|月底|国庆|五一|春节|过年|元旦|端午|中秋|寒假|暑假|起)){1,5}[，\s]?"
)
_VERBS = (
    "是在有没不别把被从跟和对给向往比为到去来回住租搬买卖换改开做当教学读念考报写看听喝吃戒停养领捡带用骑坐打跑游爬练玩唱弹画拍修装办订约请送托帮生怀"
    "结离退辞会能要想打准计决希喜爱讨怕习擅精负牵主导管得拿获评升调转派借欠还攒存花最很挺特非比一每天隔两三四五六七八九十半刚已正快才就也都又再只先叫姓"
    "属过近常从大差名全其另离距靠朝占成变涨降瘦胖减戴穿睡起醒抽答拒放坚始束完通查测复确住飞提接收付交缴充取刷扫点挑选试脱洗擦拖煮炒炖烤蒸切倒拆补剪烫染"
    "抄背讲说聊谈摔跌撞扭崴伤咬丢扔找见遇等盼吐拉出进上下走跳滑驾乘赶追推贴挂晒熬煎尝认记忘懂答问搜翻算称批签盖发投翘坚经可必须应该需该得肯敢愿曾将即按照"
    "据凭靠除因由趁随顺沿临凌真总老乳过近左右身体初今明去月年主专差本单已未订求答拒"
)
_NOUNS = (
    r"发[票型小]|报[告表纸]|收[入据]|学[费校历位分]|考[试场]|记[录忆性]|"
    r"出[租差]|进度|上[司海]|下[巴属]|说明|手|打印机|车|开[销支学]|飞[机]|提[成案]|接口|付款|交[通友]|"
    r"取件|点[心]|选[题]|洗[衣]|生[日活意物]|领[导带]|全[家部]|主[管任]|"
    r"大[学姨门家夫]|专[业]|体[重检育]|身[高份]|本[子科]|老[家师板公婆人]|成绩|全名|名字|管理|"
    r"一等|对[象门方]|"
    r"初中|高中|过敏源|证|年[薪终底]|月[薪底]|明[信]|左[边]|右[边]|"
    r"单[位词]|会[议员计]|要[求点]|能[力]|把[手]|被[套子]|向[日]|来[源]|回[程]|去[程]|教[练室材]|"
    r"读[书]|看[板]|听[力]|喝[的]|停车[位场费]|"
    r"养[老金]|用[户量]|骑[行]|打[工]|游戏|练[习]|唱[歌]|画[室]|修[车]|"
    r"装[修]|办[公]|订[单]|约[定]|退[休]|换[季]|调[休]|转[正]|花[店]|最后一天"
)
_PREDICATE = lazy_regex(
    rf"^(?!{_NOUNS})[{_VERBS}\d]|^(?:过敏|乳糖|近视|身高|体重|左眼|"
    rf"右眼|初试|复试|主要|年底|月底|今年|明年|去年|单身|离异|已婚|未婚)"
)
_TOPIC = lazy_regex(
    rf"^(?P<thing>[A-Za-z]{{1,6}}-?\d{{1,6}}[A-Za-z]?(?!\d)(?:[那这][\u4e00-\u9fff]{{1,4}}?)?|"
    rf"{TITLED}+|(?:那|这)(?:个|把|辆|台|只|条|件|本|套|份|趟|次)?[^，是在有了的我你他她它不没\d]{{0,6}}|"
    rf"[\u4e00-\u9fff]{{0,4}}[A-Z]{{1,4}}\d{{1,4}}|[^，是在有了我你他她它不没也又都还就才要会被改换定从终{QUOTED}{TITLED}\d]{{1,10}}?)"
    rf"(?=(?:这|那)?(?:事|边)?(?:[是在有我被定改也又都还就才要会不没终现目已从到约考过得叫为占完出\d嘛做买卖换用去来给让答读看跑写练拿办]|"
    rf"[二三四五六七八九十两]|$))"
)


class Sort(StrEnum):
    """Kind of the subject of a clause."""

    SPEAKER = "speaker"
    PERSON = "person"
    PET = "pet"
    THING = "thing"
    NONE = "none"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Subject:
    """`name`: its name in stored statements, empty for the speaker. `length`: its characters in the clause."""

    sort: Sort
    name: str = ""
    length: int = 0


@dataclass(slots=True)
class People:
    """People and pets introduced so far, and the last one mentioned of each sort."""

    speaker: str
    named: dict[str, Sort] = field(default_factory=dict)
    kin: dict[str, str] = field(default_factory=dict)
    last: dict[Sort, str] = field(default_factory=dict)
    home: str = ""
    she: dict[str, bool] = field(default_factory=dict)
    short: dict[str, str] = field(default_factory=dict)

    def introduce(self, name: str, sort: Sort, kin: str | None = None) -> None:
        """Register a name, and the relation that it belongs to."""
        self.name(name, sort)
        self.last[sort] = name
        if kin:
            self.kin[kinship(kin)] = name

    def name(self, name: str, sort: Sort) -> None:
        """Register a name; one of three characters with a surname is also used without it."""
        self.named.setdefault(name, sort)
        if sort is Sort.PERSON and re.fullmatch(rf"[{SURNAMES}](?!小)[\u4e00-\u9fff]{{2}}", name):
            self.short.setdefault(name[1:], name)

    def named_at(self, text: str) -> str | None:
        """Return the known name at the start of a text, as written there."""
        return next((name for name in (*self.named, *self.short) if text.startswith(name)), None)

    def is_stranger(self, name: str) -> bool:
        """Return whether a name was never introduced and is no familiar form of address."""
        return (
            name not in self.named
            and bool(re.match(rf"[{SURNAMES}][\u4e00-\u9fff]{{1,2}}$", name))
            and name[0] not in "小老阿"
        )

    def newest(self, masked: str) -> Subject | None:
        """Return the pet that a clause has just named."""
        pet = self.last.get(Sort.PET)
        return (
            Subject(Sort.PET, pet)
            if pet and re.fullmatch(rf"(?:取名|起名|名字|名)?叫?{re.escape(pet)}", masked)
            else None
        )

    def remember_last(self, subject: Subject) -> None:
        """Remember the last person or pet mentioned."""
        if subject.sort in {Sort.PERSON, Sort.PET}:
            self.last[subject.sort] = subject.name

    def fits(self, name: str, pronoun: str) -> bool:
        """Return whether a pronoun may stand for somebody: 他 for no woman, 她 for no man."""
        if pronoun not in {"他", "她"}:
            return True
        kin = next((kin for kin, relative in self.kin.items() if relative == name), name)
        she = bool(_WOMEN.search(kin)) if _WOMEN.search(kin) or _MEN.search(kin) else self.she.get(name)
        if she is None:
            self.she[name] = pronoun == "她"
            return True
        return she == (pronoun == "她")

    def note(self, name: str, kin: str) -> None:
        """Return whether somebody is a woman or a man, where what they are to the speaker says so."""
        if _WOMEN.search(kin) or _MEN.search(kin):
            self.she.setdefault(name, bool(_WOMEN.search(kin)))

    def relative(self, kin: str) -> str:
        """Return a relative of the speaker by name if known, else by kinship."""
        return self.kin.get(kinship(kin)) or f"{self.speaker}的{kinship(kin)}"


_WOMEN = lazy_regex(r"妈|母|奶|婆|姥姥|姐|妹|女|太太|妻|嫂|婶|姨|姑|舅妈|闺蜜|媳妇|婶")
_MEN = lazy_regex(r"爸|父|爷|公(?!司)|哥|弟|儿子|男|夫|叔|舅|伯|先生|孙子|侄子")


def kinship(kin: str) -> str:
    """Return the stored form of a word of kinship."""
    return _SAME_KIN.get(kin, kin)


_SAME_KIN = {
    "妈": "妈妈", "母亲": "妈妈", "老妈": "妈妈", "爸": "爸爸", "父亲": "爸爸", "老爸": "爸爸", "爸妈": "父母",
    "哥": "哥哥", "姐": "姐姐", "弟": "弟弟", "妹": "妹妹", "男友": "男朋友", "女友": "女朋友", "闺女": "女儿",
    "媳妇": "老婆", "媳妇儿": "老婆", "妻子": "老婆", "太太": "老婆", "丈夫": "老公", "爷": "爷爷", "奶": "奶奶",
    "爹": "爸爸", "老爹": "爸爸", "老父亲": "爸爸", "老母亲": "妈妈", "老娘": "妈妈", "老伴儿": "老伴",
    "上司": "领导", "主管": "领导", "大儿子": "儿子", "小儿子": "儿子", "大女儿": "女儿", "小女儿": "女儿",
}  # fmt: skip


def after_time(masked: str) -> int:
    """Return the position after words of time and transition."""
    found = _TIME.match(masked)
    return found.end() if found else 0


def subject_of(masked: str, people: People) -> Subject:
    """Return the subject named in a masked clause; NONE if it names none."""
    start = after_time(masked)
    found = _at(masked, 0, people)
    return found if found.sort not in {Sort.NONE, Sort.THING} or not start else _later(masked, start, people)


def _later(masked: str, start: int, people: People) -> Subject:
    found = _at(masked, start, people)
    return Subject(found.sort, found.name, found.length and start + found.length)


def _at(masked: str, start: int, people: People) -> Subject:
    text = masked[start:]
    if speaker := _of_speaker(text, people):
        return speaker
    if known_name := people.named_at(text):
        return _person_or_relative(text, known_name, people)
    if pronoun := _PRONOUN.match(text):
        return _pronoun(pronoun, people)
    where = re.match(r"(?:楼下|楼上|隔壁|对门|对面|前台|我们?组?|公司)?的?", text)
    offset = where.end() if where else 0
    if name := leading_name(text[offset:]):
        found = _person_or_relative(text[offset:], name, people)
        return Subject(found.sort, found.name, offset + found.length)
    if pet := _PET_LIKE.match(text):
        return Subject(Sort.PET, pet["name"], pet.end("name"))
    return _behind_topic(text, people) or _topic(text)


def _topic(text: str) -> Subject:
    topic = None if not text or _PREDICATE.match(text) else _TOPIC.match(text)
    return Subject(Sort.THING, topic["thing"].rstrip("的嘛"), topic.end("thing")) if topic else Subject(Sort.NONE)


def _of_speaker(text: str, people: People) -> Subject | None:
    if kin := _MINE.match(text):
        behind = text[kin.end() :]
        if re.match(r"[和跟与]我", behind) or (
            kin["kin"] in {"对象", "朋友", "同事"} and not kin["lead"] and behind[:1] in "圈间关"
        ):
            return None
        if name := people.named_at(behind) or leading_name(behind):
            return Subject(Sort.PERSON, people.short.get(name, nickname(name)), kin.end() + len(name))
        if not kin["lead"] and re.match(r"[的了过得]|[\u4e00-\u9fff]?店|节", behind):
            return None
        if re.match(rf"的(?:{KIN_WORDS}|[\u4e00-\u9fff]{{0,3}}朋友)", behind):
            return Subject(Sort.UNKNOWN)
        return Subject(Sort.PERSON, people.relative(kin["kin"]), kin.end())
    speaker = _SPEAKER.match(text)
    return Subject(Sort.SPEAKER, "", speaker.end()) if speaker else None


def _person_or_relative(text: str, name: str, people: People) -> Subject:
    """Return a named person or a relative of theirs (周屿他爸)."""
    whole = people.short.get(name, name)
    sort = people.named.get(whole, Sort.PERSON)
    kin = re.match(
        rf"{re.escape(name)}(?:的|[他她])?(?P<kin>爸妈|父母|爸爸?|妈妈?|"
        rf"哥哥?|姐姐?|弟弟?|妹妹?|男朋友|女朋友|对象|媳妇|表哥|表弟|表姐|表妹|老婆|老公|儿子|女儿|孩子)",
        text,
    )
    if kin and sort is Sort.PERSON:
        return Subject(Sort.PERSON, f"{whole}的{kinship(kin['kin'])}", kin.end())
    return Subject(sort, nickname(whole), len(name))


def leading_name(text: str) -> str | None:
    """Return the name at the start of a text: it looks like one, and the dictionary has no such word."""
    if re.match(KIN_WORDS, text):
        return None
    if found := _NAME.match(text):
        return found["name"]
    if found := _UNKNOWN_NAME.match(text):
        return _checked_name(found["name"], text[2:])
    if not re.match(rf"(?!{_COMMON})[{SURNAMES}][\u4e00-\u9fff]{{2}}", text):
        return None
    for length in (3,) if len(text) == 3 else (2, 3):
        behind = text[length : length + 2]
        if (
            not dictionary_count(text[:length])
            and (not behind or dictionary_count(behind))
            and not dictionary_count(text[1:3])
        ):
            return text[:length]
    return None


_UNKNOWN_NAME = lazy_regex(
    r"(?P<name>(?![每这那哪各某几半两俩一二三四五六七八九十](?:个|次|天|年|月|周|只|条|点|本|台|下|起|直|般|样|共|定|边|遍|辈|家|口|沾)|"
    r"[爸妈哥姐弟妹爷奶公婆叔姑舅伯宝娃常天年月人个刚][爸妈哥姐弟妹爷奶公婆叔姑舅伯宝娃常天年月人个刚])"
    r"(?:(?P<twice>[\u4e00-\u9fff])(?P=twice)|[\u4e00-\u9fff]{2}))"
)
"""Two characters at the beginning of a clause that may be somebody's given name or pet name."""
_OF_NO_NAME = lazy_regex(
    r"[里带的了着过是在有不没我你他她它们也都就还又才很太这那个只条把被从跟和对给向往为到去来要会能想说看吃喝买卖做打学练考跑游住搬租换改用开坐"
    r"车房钱店费课票药书班号楼路街区市县省站院校医机电网水米面菜肉酒茶饭糖油盐奶果味病痛疼炎期价额量率度分数点码单表图件包箱柜桌椅床灯"
    r"最每现今明昨前后上下早晚中午年月日周天时刻岁老新旧大小多少高低长短快慢好坏真假总共全几两些什么怎哪谁其实因所但而且如若虽然则即便"
    r"喜爱讨怕怀戒离辞升调转退结生死病伤报订约定准计打决忘记赢输花挣赚攒欠还减困得累饿忙入托鸣成]"
)


RARE = 60
"""How often the dictionary has a syllable said twice that is somebody's name rather than a word (悄悄, 慢慢)."""


def _checked_name(name: str, behind: str) -> str | None:
    """Return `name` if it acts as a subject, and is no dictionary word or a doubled syllable."""
    twice = name[0] == name[1]
    if twice and dictionary_count(name) < RARE and re.match(f"[{_NEXT}坐]", behind):
        return name
    if (not twice and dictionary_count(name)) or _OF_NO_NAME.search(name) or not _DOES.match(behind):
        return None
    return name


_DOES = lazy_regex(
    r"(?:[前昨今明后][天年晚]|[上下这]个?[周月]|\d{1,2}月(?:\d{1,2}[号日])?|就|都|又|也|还|老|最近|已经|现在|刚|啥|什么|从来|从)*"
    r"(?:不(?:爱|吃|喝|玩|学|拉|弹|碰|喜)|[喜爱嫌迷戒]|怕|学|玩|拉(?!面|萨)|弹|哭|对[^，]{1,6}过敏|满[\d一二三四五六七八九十]|过完?(?:了)?生日|"
    r"[\d一二三四五六七八九十]{1,3}岁|转(?:去|到|学)|进了|毕业|考上|考过|辞|结婚|怀孕|生病|感冒|发烧|住院|当上?[^天时初])"
)


_BEHIND_TOPIC = lazy_regex(r"(?P<topic>[^，是在有和跟给把被对让叫请带送陪找我你他她它不的]{2,8})")
_DOES_SO = lazy_regex(r"[不也都已就要会没改换还又最]|现在")


def _behind_topic(text: str, people: People) -> Subject | None:
    """Return the known person after a topic: “画画班乐乐不去了”."""
    for name in (*people.named, *people.short):
        start = text.find(name, 2, 12)
        if start > 0 and _BEHIND_TOPIC.fullmatch(text[:start]) and _DOES_SO.match(text[start + len(name) :]):
            found = _person_or_relative(text[start:], name, people)
            return replace(found, length=start + found.length)
    return None


def nickname(name: str) -> str:
    """Return the name without the surname before 小: 小满 for 陈小满."""
    return name[1:] if re.match(rf"[{SURNAMES}]小[\u4e00-\u9fff]$", name) else name


def _pronoun(found: re.Match[str], people: People) -> Subject:
    sort = Sort.PET if found["who"] == "它" else Sort.PERSON
    name = people.last.get(sort) or (people.last.get(Sort.PET) if found["who"] == "人家" else None)
    if name is None or found["many"] or not people.fits(name, found["who"]):
        return Subject(Sort.UNKNOWN)
    owner = name.split("的")[0] if found["kin"] and "的" in name and not name.startswith(people.speaker) else name
    return Subject(sort, f"{owner}的{kinship(found['kin'])}" if found["kin"] else name, found.end())


_PET_LIKE = lazy_regex(
    r"^(?P<name>(?![这那前昨今明去早晚其家两三它最现带里怀结已都也还刚又才])[\u4e00-\u9fff]{2})(?=(?:今年|"
    r"现在|已经|最新|又|都|也|才|刚|快|前阵子|前几天|老|不是|天天|对我?哈气|的?)*"
    r"(?:[\d一二两三四五六七八九十]{1,3}(?:个月大?|岁)|体重[\d一二三四五六七八九十]|"
    r"减肥|绝育|打疫苗|拉肚子|掉毛|绝食|睡(?:他|我|在)|吃(?:猫|狗)粮|驱虫|是(?:只|条|一只|一条)?[\u4e00-\u9fff]{0,4}(?:猫|"
    r"狗|兔|犬|柯基|金毛|泰迪|布偶)))"
)
