"""Which Chinese statements end which older ones, in wordings of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from core.statements import revision
from tests.spent import spent


@dataclass(frozen=True)
class Quote:
    quote: str


@dataclass(frozen=True)
class Said:
    """A statement as the judge sees it, with the sentence it was read from."""

    content: str
    subject: str = "江南"
    attribute: str | None = None
    value: str | None = None
    told_at: datetime = datetime(2026, 5, 1, tzinfo=UTC)
    evidence: tuple[Quote, ...] = field(default=())


def later(content: str, subject: str = "江南", quote: str = "", **slot: str) -> Said:
    return Said(content, subject, told_at=datetime(2026, 9, 1, tzinfo=UTC), evidence=(Quote(quote or content),), **slot)


ENDS = (
    (Said("江南家在南京鼓楼那边。"), later("江南和其他人2026年8月搬到苏州了。")),
    (Said("江南住浦东。"), later("江南搬家了，现在住闵行莘庄。")),
    (Said("江南在一家出版社当编辑。"), later("江南跳槽了，去了一家游戏公司。")),
    (Said("许薇在中学教化学。", "许薇"), later("许薇不在中学了，现在在教育局。", "许薇")),
    (Said("江南的哥许强在常州当电工。", "许强"), later("江南的哥2026年8月调到无锡的分公司了。", "江南的哥哥")),
    (Said("江南的店里请了两个人，一个叫阿凯。"), later("阿凯回老家了。", "阿凯", "阿凯不干了，回老家了。")),
    (Said("江南的同事老何管测试。", "老何"), later("老何辞职了，回去带孩子。", "老何")),
    (Said("江南的乒乓球搭档叫钱进。"), later("钱进骨折了，现在跟江南搭档的是白露。", "钱进")),
    (Said("江南的工位在3楼。"), later("江南的工位换到5楼了。")),
    (Said("江南的微信群名叫早起团。"), later("江南：群名改了，现在叫晚睡团。")),
    (Said("江南的德语老师姓方。"), later("江南德语老师换了，现在是金老师。")),
    (Said("江南最喜欢的歌手是陈奕迅。"), later("现在江南最喜欢李宗盛。", quote="陈奕迅听腻了，现在我最喜欢李宗盛。")),
    (Said("毛毛最喜欢挖掘机。", "毛毛"), later("毛毛不喜欢挖掘机了，最喜欢飞机。", "毛毛")),
    (Said("江南的瑜伽课在每周一晚上。"), later("江南瑜伽课改到每周五晚上了。")),
    (Said("江南每周三晚上打乒乓球。"), later("江南打球时间改成每周日下午了。")),
    (Said("江南：体检定在9月3号。"), later("江南体检推到9月20号了。")),
    (Said("江南每天抽半包烟。"), later("江南戒烟了。", quote="烟我戒了，快一个月。")),
    (Said("江南平时主要用Vue。"), later("江南改用React了，Vue基本不碰。")),
    (Said("毛毛报了围棋班，每周六上课。", "毛毛"), later("江南围棋班毛毛不去了。")),
    (Said("江南想十月带爸妈去云南。"), later("江南10月去了厦门。", quote="云南没去成，改去了厦门。")),
    (Said("江南打算考雅思，报了九月的场。"), later("江南雅思取消了。")),
    (Said("江南的车是白色卡罗拉，2018年买的。"), later("江南卡罗拉卖了。")),
    (Said("江南想减到65公斤。"), later("江南体重64.8公斤了。", quote="我体重64.8公斤了，目标达成。")),
    (Said("江南不会滑雪，打算冬天去学。"), later("江南学会滑雪了。")),
    (Said("江南跟室友张弛合租。"), later("张弛回老家了。", "张弛")),
    (Said("江南每周三跟老赵下棋。"), later("老赵搬去海南了。", "老赵")),
    (Said("江南和其他人主任姓钱。"), later("钱主任退了，新来的姓冯。", "钱主任")),
    (Said("江南的弟弟在读大四。", "江南的弟弟"), later("江南的弟弟毕业了，进了华为。", "江南的弟弟")),
    (Said("江南的爸2026年6月做白内障手术。", "江南的爸爸"), later("江南的爸手术做完了，挺顺利。", "江南的爸爸")),
    (Said("江南吃布洛芬，一天两片。"), later("江南：大夫给换成塞来昔布了。")),
    (Said("江南的房租2600。"), later("江南搬家了，新家在浦东。")),
    (Said("江南今年想存10万。"), later("江南改6万吧。", quote="存钱的事 10万是做梦 改6万吧")),
    (Said("江南喝美式，一天三杯。"), later("江南咖啡减了，一天一杯。")),
    (Said("江南最爱吃的是那家兰州拉面。"), later("江南那家拉面关张了。")),
    (Said("江南的烟戒了。"), later("江南又抽上了，一天三四根。")),
    (Said("江南的长期要求：每天给我出道谜语。"), later("江南的长期要求：谜语别出了。")),
    (Said("江南5月前要把居住证办下来。"), later("江南居住证办好了。")),
    (Said("江南的猫叫团子，是只英短。"), later("团子是美短。", "团子", "团子不是英短，是美短。")),
    (Said("李朵儿读二年级。", "李朵儿", "education.stage", "二年级"),
     later("朵儿读三年级了。", "朵儿", attribute="education.stage", value="三年级")),
    (Said("江南的长期要求：回答简短一点。"), later("江南的长期要求：回答可以详细些，十句以内。")),
    (Said("江南坐公交上班。"), later("江南现在开车上班。")),
    (Said("江南的男朋友叫周扬。"), later("江南跟周扬分手了。")),
    (Said("江南养了一只乌龟叫石头。"), later("石头上周走了。", "石头")),
    (Said("江南的航班是HU7801。"), later("江南的航班改成CZ3102了。")),
    (Said("江南的例会定在9月3日下午。"), later("江南的例会改到9月7日上午了。")),
    (Said("江南每天吃一片络活喜。"), later("医生给江南停了络活喜，换成缬沙坦。")),
    (Said("江南要去参加十月的半马。"), later("江南半马跑完了，1小时58分。")),
    (Said("豆豆读幼儿园大班。", "豆豆"), later("豆豆上小学一年级了。", "豆豆")),
)  # fmt: skip

STAND = (
    (Said("江南在一家出版社当编辑。"), later("江南想跳槽。")),
    (Said("江南家在南京鼓楼那边。"), later("江南的公司搬到苏州了。", quote="公司搬到苏州了。")),
    (Said("江南家在南京鼓楼那边。"), later("许薇搬到苏州了。", "许薇")),
    (Said("江南的老家在宜昌。"), later("江南搬到苏州了。")),
    (Said("江南以前在银行上班。"), later("江南跳槽了。")),
    (Said("江南每周一晚上上瑜伽课。"), later("江南另外报了游泳，改成每周六去。", quote="另外报了游泳，每周六去。")),
    (Said("江南的酒店在外滩。"), later("江南戒酒了。", quote="酒我戒了。")),
    (Said("江南对海鲜过敏。"), later("江南不吃海鲜了。")),
    (Said("江南最喜欢的颜色是绿色。"), later("现在江南最喜欢李宗盛。", quote="陈奕迅听腻了，现在我最喜欢李宗盛。")),
    (Said("江南2026年3月8日跑完了半马。"), later("江南不跑半马了。")),
    (Said("江南养了只猫，叫团子。"), later("江南又养了只狗，叫豆包。")),
    (Said("江南的女儿叫毛毛。"), later("江南围棋班毛毛不去了。")),
    (Said("江南喜欢爬山。"), later("江南喜欢上了游泳。")),
    (Said("江南家在成都。"), later("江南搬到高新区了。")),
    (Said("江南的长期要求：回答简短一点。"), later("江南的长期要求：价钱都用人民币。")),
    (Said("江南的工位在3楼。"), later("江南的车位在B2-07。")),
    (Said("江南的同桌叫周扬。"), later("江南跟周扬吃饭去了。")),
    (Said("江南搬到光谷了。"), later("江南的新家在十八楼。")),
    (Said("江南走路去超市十分钟。"), later("江南现在开车上班。")),
)


@pytest.mark.parametrize(("old", "new"), ENDS, ids=[new.content for _, new in ENDS])
def test_a_later_word_ends_what_it_revises(old: Said, new: Said) -> None:
    assert revision.may_revise(new)
    assert revision.revises(new, old), (old.content, new.content)


@pytest.mark.parametrize(("old", "new"), STAND, ids=[f"{old.content} {new.content}" for old, new in STAND])
def test_what_may_hold_beside_stands(old: Said, new: Said) -> None:
    assert revision.revises(new, old) is None, revision.revises(new, old)


def test_one_message_ends_nothing_that_it_says_itself() -> None:
    at = datetime(2026, 9, 1, tzinfo=UTC)
    assert revision.revises(Said("江南戒烟了。", told_at=at), Said("江南每天抽半包烟。", told_at=at)) is None


@pytest.mark.parametrize(
    "piece", ["搬", "换了", "周一", "现在改到", "不再", "最喜欢的", "工作", "a", "家住", "目标", "不是"]
)
def test_it_takes_time_in_proportion_to_the_length(piece: str) -> None:
    def cost(size: int) -> float:
        text = (piece * size)[:size]
        new, old = later(text), Said(f"江南家住{text}")
        return min(spent(lambda: revision.may_revise(new) and revision.revises(new, old)) for _ in range(3))

    cost(1000)
    assert cost(16000) < 2.8 * 2 * cost(4000) + 0.05
