"""Chinese clauses that say that something has changed or is over, which must not be lost: what was known would stay."""

from __future__ import annotations

import re

_TURNS = re.compile(
    r"(?:推|推迟|延|延期|延后|挪|提前|改期|改|换|加|减|降|涨|升)(?:到|成|为)(?=[^，]{2,})|"
    r"没(?:中签|去成|办成|买成|选上|录上|批下来)|[去跑办来看考买开]不成了|(?<!少)不了了$|"
    r"(?:工作|单位|公司|店名|名字|门禁码?|密码|手机号|微信号|地址|时间|地点|老师|教练|搭档|老板|领导)(?:也|都|又|已经)?(?:换|改|变)了|"
    r"(?:[号日]|已经)(?:交|办|领|提交)(?:了|好了|完了)|搬家了|(?:倒闭|解散|关门)了|不干了|不在[\u4e00-\u9fffA-Za-z]{2,10}了|离职了|辞职了|走人了|"
    r"(?:现在|如今|目前)(?:跟我|和我|我)?(?:的)?(?:搭档|老板|领导|上司|教练|室友|房东)(?:的)?(?:是|叫|换成)|"
    r"(?:现在|如今|目前)(?:隔[天周]|每[天周月年]|改|换|最(?:喜欢|爱))|不(?:再)?(?:喜欢|爱)[^，]{1,8}了$|"
    r"(?<![不没])(?:卖|退|送人|扔|报废|处理|转让)(?:了|掉了)$|改(?:去|到)?[\u4e00-\u9fff]{2,4}，|(?:退租|撂挑子|离岗|转正|到手|停产|停课|结课|散伙)了?$|"
    r"不用(?:再)?(?:每[天周月]|天天)[^，]{1,6}了|(?:终于|总算)[^，]*\d[^，]*了$|(?:满|过完生日).{0,3}[\d一二三四五六七八九十]{1,3}岁"
)
_GOES_ON = re.compile(
    r"(?:我|他|她|它)?(?:现在|如今|目前|新家|改|换|变|减|推|挪|不(?:再|用|去|做|跑)|跑不成|去不成|最(?:喜欢|爱)|[\d一二三四五六七八九十]{1,3}岁)"
)


def turns(hidden: str) -> bool:
    """Whether a masked clause tells a change or an end."""
    return bool(_TURNS.search(hidden))


def goes_on(hidden: str) -> bool:
    """Whether the next clause says what came of it."""
    return bool(_GOES_ON.match(hidden))
