"""Chinese words of chats. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import Chat

CHAT: Final = Chat(
    chatter="""
        哈 哈哈 哈哈哈 呵呵 嘿嘿 嘻嘻 嗯 嗯嗯 哦 噢 喔 唉 哎 哇 好 好的 好吧 好啊 好呀 行
        可以 没事 没关系 没问题 不客气 不用 谢谢 多谢 感谢 谢 你好 您好 大家好 早 早安 早上好
        晚上 晚上好 上午 下午 中午 晚安 再见 拜拜 回头 回头见 明天 明天见 今天 对 对的 对啊 是
        是的 是啊 当然 真 真的 太 太好了 太棒了 棒 厉害 牛 赞 不错 挺 很 非常 恭喜 加油 辛苦
        辛苦了 收到 明白 知道 知道了 懂 懂了 了解 原来 原来如此 这样 那样 一样 觉得 想 说 看
        看看 来 去 有 没有 没 不 不是 吧 呀 啊 呢 哟 嘛 抱歉 对不起 不好意思 客气 开心 高兴
        期待 希望 一下 什么 怎么 怎么样 为什么 祝 祝你 在吗 在 人 事 点 见 问题
    """.split(),
    minded=re.compile(r"^(?:不对|不，|不,|错了|应该是|我说的是|我是说|记住|别忘了|请记住|忘掉|别再)"),
    personal=re.compile(r"我(?:的|们|家|在|昨|去|住)"),
    adds=re.compile(r"对了|另外|还有|还要|忘|删"),
    denials=("不是",),
    particles=("是", "的"),
)
