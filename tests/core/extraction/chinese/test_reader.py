"""What plain Chinese conversation leaves behind: clauses with their subjects, things that change, what is not meant."""

from __future__ import annotations

import pytest

from core.extraction.rule_extractor import statements_of_rules
from core.types import Category
from tests.core.extraction.chinese.conversation import _message, contents, slots, talk
from tests.spent import spent


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("工资比以前高点，一万八。", ["王强的工资比以前高点，一万八。"]),
        ("骑车上班，单程25分钟。", ["王强骑车上班，单程25分钟。"]),
        ("弟弟在新疆，做生意，一年回来一次。", ["王强的弟弟在新疆，做生意，一年回来一次。"]),
        ("我姐在重庆开火锅店。", ["王强的姐在重庆开火锅店。"]),
        ("右腿前年被车撞过，打了钢板。", ["王强的右腿2024年被车撞过，打了钢板。"]),
        ("写代码用的是ThinkPad X1，去年买的。", ["王强写代码用的是ThinkPad X1，2025年买的。"]),
        ("下周三要去北京出差，两天，住朝阳门。", ["王强2026年5月27日要去北京出差，两天，住朝阳门。"]),
        ("我从来没去过西藏，也没去过北海道。", ["王强从来没去过西藏。", "王强也没去过北海道。"]),
    ],
)
def test_clauses_get_their_subject_back_and_those_that_lean_stay_with_their_statement(
    text: str, kept: list[str]
) -> None:
    assert contents(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("我每周二和周四去游泳。", "王强每周二和周四去游泳。"),
        ("我通常在周一上午做周报。", "王强通常在周一上午做周报。"),
        ("跑步改成周一、周四、周日晚上。", "王强跑步改成周一、周四、周日晚上。"),
        ("每周二晚上游泳，周六上午做普拉提。", "王强每周六上午做普拉提。"),
        ("我隔天跑一次步。", "王强隔天跑一次步。"),
    ],
)
def test_what_recurs_never_becomes_one_day(text: str, kept: str) -> None:
    assert kept in contents(text)


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (("A:你女儿几岁了？", "六岁。"), "王强的女儿六岁。"),
        (("A:有没有药物过敏？", "青霉素。"), "王强对青霉素过敏。"),
    ],
)
def test_a_bare_answer_is_the_statement_that_its_question_asks_for(lines: tuple[str, ...], kept: str) -> None:
    assert contents(*lines)[-1] == kept


@pytest.mark.parametrize(
    "text",
    [
        "今天又加班，烦。",
        "部署又挂了，回滚三次。",
        "食堂的饭真难吃。",
        "要是能回到二十岁就好了。",
        "要是我中了五百万，明天就辞职。",
        "听说隔壁组要裁员。",
        "同事小马说公司要上市，我不信。",
        "老婆说我“活得像个闹钟”，行吧。",
        "我跟你讲，我上辈子肯定是头牛。",
        "客户给我打差评，说我“态度差”，我冤不冤。",
        "抽血那一针疼得我龇牙咧嘴。",
        "激动得我把地板擦了三遍！",
        "“后来，我总算学会了如何去爱”，这歌循环一晚上了。",
        "测试：我叫李四，住在月球。",
        "明天帮我记得买药。",
        "学生寄了张贺卡来，有点感动。",
        "你觉得猫知道自己叫什么吗？",
        "昨晚梦到自己变成了一只熊猫。",
        "每年回家必被念：“你看人家小芳，孩子都上小学了。”",
        "他说：我住在成都。",
    ],
)
def test_moods_scenes_rumours_jokes_and_other_peoples_words_say_nothing(text: str) -> None:
    assert contents(text) == []


def test_who_plays_a_role_says_nothing_of_themselves() -> None:
    played = ("陪我练面试吧，你当面试官，我演一个叫王磊的程序员。", "A:请介绍一下自己。", "我今年25岁，住深圳南山。")
    assert contents(*played, "不演了，停。") == []
    assert contents(*played, "不演了，停。", "我住在西安。") == ["王强住在西安。"]


@pytest.mark.parametrize("joke", ["骗你的。", "开玩笑的。", "逗你玩呢。", "愚人节快乐！"])
def test_a_joke_takes_back_the_message_before_it_and_no_other(joke: str) -> None:
    assert contents("我对花生过敏。", "A:好。", "我在深圳买了三套房。", "A:恭喜！", joke) == ["王强对花生过敏。"]
    assert contents("我对花生过敏。", "A:好。", "哈哈。", joke) == ["王强对花生过敏。"]


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("骑车上班，单程25分钟。", "不对，算错了，30分钟。", "王强骑车上班，单程30分钟。"),
        ("我每天跑三公里。", "说错了，是五公里。", "王强每天跑五公里。"),
        ("下周一面试，在浦东。", "不对，是周二。", "王强2026年5月26日面试，在浦东。"),
        ("下礼拜三要去交警队处理违章。", "改了，改成礼拜五。", "王强2026年5月22日要去交警队处理违章。"),
        ("我老家是长沙。", "啊不对，说错了，老家是岳阳。", "王强的老家是岳阳。"),
    ],
)
def test_a_correction_puts_right_what_was_said_before(first: str, second: str, kept: str) -> None:
    assert contents(first, second) == [kept]


@pytest.mark.parametrize(
    ("before", "after", "slot"),
    [
        ("每周二和周四晚上我去攀岩。", "攀岩改成每周三晚上。", "habit.攀岩"),
        ("每周二和周四晚上我去攀岩。", "攀岩彻底放弃了。", "habit.攀岩"),
        ("咖啡一天一杯，不加糖。", "戒咖啡了，胃不舒服。", "habit.咖啡"),
        ("正在学钢琴，刚学到第三课。", "钢琴不学了，没时间。", "habit.钢琴"),
        ("11月的杭马我打算报全程。", "杭马不报了。", "plan.杭马"),
        ("房租3600。", "房租涨到4200了。", "number.房租"),
        ("手机是小米14。", "手机换成华为了。", "have.手机"),
        ("我的车是本田飞度。", "车换了，买的比亚迪秦。", "have.车"),
        ("用的是富士X-T30。", "富士那台X-T30卖了。", "have.X-T30"),
        ("婚礼定在10月18号。", "我们的婚礼是11月8号。", "date.婚礼"),
        ("我最喜欢的颜色是蓝色。", "现在最喜欢的颜色变成绿色了。", "preference.color"),
        ("我在鹿鸣科技工作。", "我上周辞职了。", "work.employer"),
        ("我是产品经理。", "我升总监了。", "work.role"),
        ("叫我强哥就行。", "别叫我强哥了，直接叫老王。", "name.preferred"),
    ],
)
def test_a_later_statement_fills_the_slot_of_an_earlier_one_with_another_value(
    before: str, after: str, slot: str
) -> None:
    first, second = slots(before), slots(after)
    assert first["王强", slot] != second["王强", slot]


@pytest.mark.parametrize(
    ("lines", "subject", "attribute", "value"),
    [
        (("我弟弟叫林昊，在武汉念大四。",), "林昊", "home.city", "武汉"),
        (("养了条狗，叫大黄，捡的，六岁了。",), "大黄", "age", "6"),
        (("我们有个女儿，小名糖糖，今年三岁半。",), "糖糖", "age", "3"),
        (("我爸八十一了，腿脚不好。",), "王强的爸爸", "age", "81"),
        (("老梁是我同事。", "老梁升技术总监了。"), "老梁", "work.role", "技术总监"),
        (("芝麻是奶牛猫，母的，两岁。", "芝麻不是两岁，人家三岁了。"), "芝麻", "age", "3"),
        (("刘洋升班长了！",), "刘洋", "work.role", "班长"),
        (("我妈退休了。",), "王强的妈妈", "work.role", "退休"),
    ],
)
def test_what_is_told_of_others_is_theirs(lines: tuple[str, ...], subject: str, attribute: str, value: str) -> None:
    assert slots(*lines)[subject, attribute] == value


@pytest.mark.parametrize("text", ["他在腾讯工作。", "她有糖尿病。", "李白是四川人。", "他们一家住在厦门。"])
def test_nobody_knows_of_whom_an_unnamed_one_is_told(text: str) -> None:
    assert contents(text) == []


def test_lists_are_statements_of_their_own() -> None:
    assert contents("帮我记几个单子：REQ-1041是支付页改版，REQ-1057是发票导出。") == [
        "REQ-1041是支付页改版。",
        "REQ-1057是发票导出。",
    ]
    assert contents("三个：QY-210、QY-213，分别是手动录入、蓝牙同步。") == ["QY-210是手动录入。", "QY-213是蓝牙同步。"]
    assert slots("等等，说反了，QY-213是家属共享。")["王强", "id.QY-213"] == "家属共享"


def test_two_appointments_of_one_sentence_are_two() -> None:
    kept = talk("九月约了两个号：9月5号皮肤科，9月12号牙科。")
    assert len({(c.attribute, c.value) for c in kept}) == 2
    assert slots("9月12号牙科。")["王强", "date.牙"] != slots("看牙改到9月13号了。")["王强", "date.牙"]


def test_words_that_are_not_the_speaker_stay_as_they_are() -> None:
    assert contents("最近在读夏目漱石的《我是猫》。") == ["王强最近在读夏目漱石的《我是猫》。"]
    assert contents("以后周报都按“我、你、他”的顺序写。") == ["王强的长期要求：以后周报都按“我、你、他”的顺序写。"]
    assert contents("我负责自我管理课程。") == ["王强负责自我管理课程。"]


@pytest.mark.parametrize(
    "text",
    [
        "以后代码示例都用Go，别用Python。",
        "回答短点，别啰嗦。",
        "别再给我推荐电影了。",
        "每次给我列清单的时候用数字编号。",
        "以后给我推荐菜谱的时候，记得不要有鸡蛋。",
    ],
)
def test_standing_wishes_are_instructions(text: str) -> None:
    (wish,) = talk(text)
    assert wish.category is Category.INSTRUCTION


@pytest.mark.parametrize("text", ["先别声张。", "别提醒我马上又要加一。", "糖糖过敏以后就很少做了。"])
def test_what_is_said_for_once_or_of_the_past_is_no_standing_wish(text: str) -> None:
    assert [c for c in talk(text) if c.category is Category.INSTRUCTION] == []


@pytest.mark.parametrize(
    "piece",
    [
        "我在",
        "说",
        "每周",
        "，",
        "的",
        "不对，",
        "“",
        "：",
        "、",
        "我妈",
        "一二三",
        "2026年",
        "分别是",
        "改成",
        "住",
        "叫",
        "A1",
        "不去了",
    ],
)
def test_reading_takes_time_in_proportion_to_the_length(piece: str) -> None:
    short, long = (piece * times for times in (60, 240))
    statements_of_rules([_message(1, short)])
    assert spent(lambda: talk(long)) < 12 * max(spent(lambda: talk(short)), 0.001)


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("同事小张其实人不坏，刚毕业，家在阜阳。", "home.city"),
        ("我有个儿子上高二。", "education.stage"),
        ("我妈搬来跟我们住了。", "home.city"),
        ("下周三去北京出差，两天，住朝阳门。", "home.city"),
        ("找到阿姨了，住家的，一个月六千五。", "home.city"),
    ],
)
def test_what_is_true_of_somebody_else_or_for_some_days_fills_no_slot_of_the_speaker(text: str, attribute: str) -> None:
    assert ("王强", attribute) not in slots(text)


@pytest.mark.parametrize(
    "text",
    ["目标1小时40分。", "我听他快二十年了。"],
)
def test_a_clause_without_what_it_is_about_is_not_kept(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize("text", ["来，你扮我老板：我要回老家养猪了。", "小何说她男朋友一年挣三百万。"])
def test_a_role_and_what_somebody_says_of_another_are_not_kept(text: str) -> None:
    assert contents(text) == []


def test_a_given_name_that_nobody_introduced_is_not_taken_for_the_speaker() -> None:
    assert contents("一诺不拉大提琴了。") == ["一诺不拉大提琴了。"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("车位是B2-117。", "我的新车位是A1-032。"),
        ("我从来没去过北京。", "北京去过了。"),
        ("我今年四十二。", "9号那天我四十三了。"),
        ("今年我打算读30本书。", "读书的目标改成20本。"),
    ],
)
def test_what_is_said_later_of_one_thing_is_said_in_its_slot(before: str, after: str) -> None:
    shared = {name for name, value in slots(before).items()} & set(slots(after))
    assert any(slots(before)[name] != slots(after)[name] for name in shared)


def test_an_identifier_said_wrong_is_put_right() -> None:
    assert contents("柜子是C17。看错了，C71。") == ["王强的柜子是C71。"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("读书会推到7月了，场地没订上。", "王强：读书会推到2026年7月了，场地没订上。"),
        ("港马没中签，去不成了。", "王强港马没中签，去不成了。"),
        ("群名改了，现在叫深夜食堂。", "王强群名改了，现在叫深夜食堂。"),
        ("张敏工作也换了，现在在少年宫，不用再坐班。", "张敏工作也换了，现在在少年宫，不用再坐班。"),
        ("豆豆上个月过完生日，六岁了。", "豆豆六岁了。"),
        ("报销单5月2号交了，还没到账。", "王强报销单2026年5月2日交了，还没到账。"),
    ],
)
def test_a_change_or_an_end_is_never_lost(text: str, kept: str) -> None:
    assert kept in contents(text)


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("我最爱吃的水果是荔枝。", "不对，是枇杷。", "王强最爱吃的水果是枇杷。"),
        ("我的导师是冯教授。", "说错了，是方教授。", "王强的导师是方教授。"),
    ],
)
def test_a_name_said_instead_takes_the_place_of_the_last_one(first: str, second: str, kept: str) -> None:
    assert contents(first, second) == [kept]


@pytest.mark.parametrize("rule", ["厨房：每天打扫一次。", "浴室：每天打扫一次。", "频道发文规则：每天最多三篇。"])
def test_a_rule_below_a_heading_says_nothing_of_the_speaker(rule: str) -> None:
    assert contents(rule) == []
