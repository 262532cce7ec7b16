"""Everyday words that never make a topic."""

from __future__ import annotations

from functools import cache
from typing import Final

from core.language.lexicon import CALENDAR, NUMBER_WORDS
from core.language.terms import STOPWORDS, terms

PLAIN: Final = (
    STOPWORDS
    | CALENDAR
    | frozenset(NUMBER_WORDS)
    | frozenset(
        """
    all fam famous biz able above absolutely accept acceptance accepted accident across action actually add added
    advice afraid afternoon again age ago agree ahead album alive alone along already alright although always amaze
    amazed amazing among amount angry another answer anymore anyone anything anyway apart appreciate appreciates
    area around arrive ask asked aspect attend attended attending available aware away awesome awful back background
    bad balance bang based basic basis beautiful beauty became become becoming begin beginning begun behind being
    belief believe believes belong beloved best better between beyond big bit black blast blessing blessed blue body
    bond bonding boost born both bottom boy boys brand bravery bright bring brings brought brown buddy build
    building built bunch busy buy buying call called calm calming came capture care careful case catch caught cause
    center central certain chance change changed changes changing chapter character chat chatting check child
    childhood children choice choose chose clear close closer code cold color colors colour colours come comes
    comfort comfortable coming common company complete completely condition confidence connect connected connection
    consider contact continue continues control conversation conversations cool cost couple courage course cover
    crazy create created creating creation creative creativity crew critical crucial current currently cute dad
    daily damage dark date dates daughter day days deal dear decide decided decision deep deeply definitely
    delicious depth describe desire detail details determination developed development did difference different
    difficult direction discover discuss discussion doing done door doubt down dream dreams during each early earth
    ease easier easy effect effort efforts either else embrace emotion emotional emotions encourage encouragement
    encouraging end ended ends energy enjoy enjoyable enjoyed enjoying enjoys enough entire epic especially
    essential etc even evening evenings event events ever everybody everyday everyone everything everywhere exact
    exactly example excellent excited excitement exciting expect experience experienced experiences explain explore
    explored exploring express expression extra eye eyes face faced fact fall families family fan fantastic far fast
    father favorite favorites favourite favourites fear feel feeling feelings feels feet fellow felt few field fight
    figure figured fill filled final finally find finding fine finish finished first fit five flow focus focused
    folk folks follow following food forever forget forgot form forward found four free freedom fresh friend
    friendly friends friendship front fulfilled fulfilling full fun funny future gain gang gave general generally
    gentle get gets getting giant gift girl girls give given gives giving glad goal goals goes going gone good
    gorgeous got grab grandma grandpa grateful gratitude great green grew group groups grow growing grown growth
    guess guidance guide guy guys half hand hands handle hang happen happened happening happens happiness happy hard
    hardest harmony hate heal healing health healthy hear heard heart heavy hello help helped helpful helping helps
    here hey high highlight highlights himself herself hit hold holding hole home honest honestly hope hopeful hopes
    hoping hot hour hours house huge hug human hundred hurt husband idea ideas image imagine impact important
    impressive improve improved improvement include included includes including incredible incredibly individual
    influence information inside inspiration inspire inspired inspires inspiring instead intense interest interested
    interesting issue issues item items job join joined joining journey joy joyful just keep keeping keeps kept key
    kick kind kinda kindness kinds knew know knowing knowledge known knows lack lady large last late lately later
    laugh laughs laughter lead leader learn learned learning least leave leaving left less lesson lessons let level
    life lifelong lifetime light lights like liked likes limit line list listen listening little lively lives living
    local long longer look looked looking looks lose loss lost lot lots love loved lovely loves loving low luck
    lucky made magic magical main major make makes making man manage managed many mark match matter matters maybe
    mean meaning meaningful means meant meet member members memorable memories memory men mention mentioned mess
    message met middle mind minds mine minute minutes mirror miss missed missing mistake mix mixed mom moment
    moments money month monthly months mood morning mornings most mother motivate motivated motivates motivating
    motivation move moved movement moving much multiple myself name named natural near nearby nearly necessary need
    needed needs negative nervous never new news next nice night nights nobody none noon normal note nothing notice
    noticed number numbers occasion off offer often okay old older once one ones only open opened opening opinion
    opportunities opportunity option options orange order ordinary original other others otherwise outcome outside
    outlet overall own pace pain pair part partner parts party pass passed passion passionate passions past path
    patience pay peace peaceful people perfect perfectly perhaps person personal perspective perspectives phone
    photo photos pic pick picked pics picture pictures piece pieces place places plan planned planning plans play
    played playing plays please pleasure plenty plus point points popular positive positivity possible power
    powerful practice pretty previous pride print private probably problem problems process productive program
    progress project projects promise proper proud purple purpose push pushed put putting quality question questions
    quick quiet quite random rare rather reach reached reaching ready real reality realize realized really reason
    reasons recent recently recommend recommendation record red refresh refreshing regular relationship
    relationships relax relaxed relaxing relief remember remind reminded reminder reminders reminds response rest
    result results return reward rewarding rich right road room rough round routine row safe said same sat save saw
    say saying says scared scary scene scent schedule second secret section see seeing seem seems seen self sense
    sent serene series serious set setback sets setting seven several shape share shared shares sharing she short
    shot show showed showing shown shows side sight sign silly similar simple simply since single sister sit site
    situation six size skill skills slow small smell smile smiles social society solid some somebody someone
    something sometimes somewhere son soon sort soul sound sounds source space speak speaking special specific spend
    spending spent spirit spirits spoke spot spread stage stand standing star start started starting starts state
    status stay stayed staying stays steady step steps sticking still stoked stop stopped story stories strange
    strength stress stressful strong stronger struggle struggled struggles stuck study stuff stunning style subject
    success successful such sudden suddenly suggest suggested suggestion sunny super support supported supporting
    supportive supports supposed sure surprise surprised surprising surrounded sweet system take taken takes taking
    talk talked talking talks taste team teach tell telling tells ten tend term terms terrible test than thank
    thankful thanks themselves therapeutic thing things think thinking thinks third thought thoughtful thoughts
    thrilled three thrilling throughout throw tight till time times timing tiny tip tips tired today together told
    tomorrow tone tonight took top topic topics total totally touch tough toward towards track tradition treasure
    treat tried trip trips trouble true trust truth try trying turn turned turning twice two type types ultimate
    understand understanding unexpected unforgettable unique unity until unwind update upset use used useful uses
    using usual usually vacation value values variety various version vibe vibes vibrant view views visit visited
    visiting voice wait waiting wake wall want wanted wanting wants warm warmth watched watching way ways wear week
    weekdays weekend weekends weekly weeks weight weird welcome welcoming well went whatever while white whole
    wicked wide wife wild will willing win wish wishes woman women won wonder wonderful word words wore work worked
    working works world worried worry worse worst worth wow wrong yeah year yearly years yellow yes yesterday yet
    young younger youth utc gmt est edt pst pdt cet cest bst ist jst zone timezone clock assistant user bot bye
    greetings hiya hi thx cheers lol haha hmm mum mommy daddy brother cousin aunt uncle grandmother grandfather
    niece nephew spring summer autumn winter season seasons seasonal midnight dawn dusk
    """.split()
    )
)
"""Words common in all conversations: of people, time, feeling, saying, wanting, and generic nouns."""


@cache
def plain_stems() -> frozenset[str]:
    """Return the stems of the English words of `PLAIN`; those of Chinese ones would load the Chinese dictionary."""
    return frozenset(term for word in PLAIN if word.isascii() for term in terms(word))


PLAIN_ZH: Final = frozenset(
    """
    时候 觉得 知道 今天 昨天 明天 前天 后天 现在 最近 上周 下周 本周 这周 周末 周一 周二 周三 周四 周五 周六 周日
    星期 早上 上午 中午 下午 晚上 傍晚 凌晨 半夜 今年 去年 明年 每天 每周 每月 每年 经常 常常 总是 有时 一直 已经
    刚刚 刚才 马上 然后 后来 以前 以后 之前 之后 时间 小时 分钟 一下 一起 一个 一些 一点 有点 有些 这个 那个 这样
    那样 这里 那里 这些 那些 什么 怎么 为什么 哪里 多少 可以 可能 应该 需要 想要 喜欢 希望 打算 开始 继续 完成 结束
    准备 决定 感觉 开心 高兴 快乐 难过 生气 累了 辛苦 谢谢 感谢 你好 您好 再见 好的 不错 很好 真的 非常 特别 比较
    但是 因为 所以 如果 虽然 而且 或者 还是 就是 不是 没有 不会 不能 不要 我们 你们 他们 她们 自己 大家 别人 朋友
    孩子 妈妈 爸爸 老婆 老公 同事 东西 事情 问题 地方 办法 方式 意思 说话 聊天 告诉 回答 提到 说到 讨论 认为 表示
    看到 听到 看见 回来 回去 出来 出去 过来 过去 起来 下来 用户 助手 公里 次数 好像 其实 当然 终于 突然 一样 一定
    必须 容易 重要 主要 新的 第一 第二 有人 有事 今晚 昨晚 明早 今早 小姐 先生 老师 世界时
    """.split()
)
"""Common Chinese words that the dictionary's counts do not reveal."""
