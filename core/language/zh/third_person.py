"""Chinese in the third person."""

from __future__ import annotations

import re

from core.language.zh.household import KIN


def third_person(sentence: str, name: str, addressee: str | None = None) -> str:
    """Rewrite Chinese in the third person: 我 → the name, 我们 → the name and others."""
    text = re.sub(
        r"^(?:其实|对了|嗯|哦|啊|那个|不过|但是|而且|所以|然后|另外|还有|顺便说一下|说实话|老实说|是的|"
        r"对|好的|哈哈+)[，,、！!\s]*",
        "",
        sentence,
    )
    text = re.sub(
        r"我们(?:家|公司|学校|团队|班)",
        lambda m: f"{name}的{m.group()[2:]}" if m.group() != "我们家" else f"{name}家",
        text,
    )
    text = re.sub(rf"我们?(?=(?:{KIN}))|我(?=(?:家[乡人里庭]|公司|生日|名字))", lambda _: f"{name}的", text)
    text = text.replace("我们俩", f"{name}和同伴").replace("我们", f"{name}和其他人").replace("咱们", f"{name}和其他人")
    text = text.replace("我自己", name).replace("我", name)
    text = re.sub(r"您|你(?!好)", lambda _: addressee or "助手", text)
    return text if text.startswith(name) or name in text else f"{name}：{text}"
