"""Standing instructions that need a person's release: tables of what makes one risky. Pure.

A wish about manners ("answer in French") is harmless whoever said it. One that moves money or data, uses a tool or
gives authority to somebody is what an attacker would plant, so a person has to release it.
"""

from __future__ import annotations

import re
from typing import Any, Final

import re2

from core.screening import deobfuscation

ADDRESS: Final = "names an address"
MONEY: Final = "names money or an account"
TOOL: Final = "has a tool used"
AUTHORITY: Final = "gives another person authority"

_WHO = r"(?:[a-z]+'s|his|her|their|from [a-z]+|of [a-z]+|by [a-z]+)"
_ROLE = (
    r"(?:developers?|admin(?:istrator)?s?|operators?|system|owners?|root|boss|manager|supervisor|principal|"
    r"superuser|trusted|authori[sz]ed|verified)"
)

_PATTERNS: Final = {
    ADDRESS: (
        r"[\w.+-]+@[\w-]+\.\w",
        r"https?://|www\.\w|\b[\w-]+\.(?:com|net|org|io|de|cn|ru|example|info|app|dev)(?:/|\b)",
        r"\+?\d[\d ()/-]{7,}\d",
        r"\bb?cc\b",
        r"\b(?:forward|send|copy|mail|e-?mail|post|upload|share|report)\b[^.!?]{0,40}\b(?:to|with)\b [^.!?]*"
        r"\b(?:mails?|e-?mails?|messages?|notes|files?|data|documents?|conversations?|everything|copies)\b",
        r"\b(?:forward|send|copy|mail|e-?mail|upload)\b[^.!?]{0,20}"
        r"\b(?:mails?|e-?mails?|messages?|notes|files?|data|documents?|conversations?|everything|copies)\b"
        r"[^.!?]{0,20}\bto\b",
        r"抄送|密送|转发给|转发到|发送到|发邮件给|上传到",
    ),
    MONEY: (
        r"\b(?:pay|pays|paying|payments?|transfers?|wire|invoices?|iban|refunds?|bitcoin|crypto|wallets?|donate|"
        r"donations?|purchases?|withdraw|deposit|bank|credit card|salary)\b",
        r"\b(?:bank|new|my|this|that|his|her|their) accounts?\b|\baccount (?:number|no)\b",
        r"[€$£¥]\s*\d|\b\d+\s*(?:euros?|dollars?|usd|eur|gbp|pounds)\b",
        r"付款|支付|转账|汇款|打款|收款|账户|帐户|银行卡|退款|发票|比特币|钱包|(?:把|将)[^，。]{0,6}钱",
    ),
    TOOL: (
        r"\b(?:call|invoke|use|run|execute|trigger)\b[^.!?]{0,40}\b(?:tools?|functions?|apis?|webhooks?|plugins?|"
        r"shell|terminal|sql|commands?|scripts?|endpoints?)\b",
        r"\b(?:delete|drop|erase|wipe|overwrite|install|deploy)\b[^.!?]{0,30}\b(?:files?|data|databases?|tables?|"
        r"records?|accounts?|users?|backups?|packages?|software|production)\b",
        r"调用|执行(?:命令|脚本|代码|函数)|运行(?:命令|脚本|程序)|删除[^，。]{0,8}(?:数据|文件|记录|账号|用户)",
    ),
    AUTHORITY: (
        rf"\b(?:treat|consider|regard|accept|see|take|count)\b[^.!?]{{0,60}}\bas\b[^.!?]{{0,40}}\b{_ROLE}\b",
        rf"\b(?:treat|consider|regard|accept)\b[^.!?]{{0,40}}\b{_WHO}[^.!?]{{0,40}}\bas\b",
        rf"\b(?:obey|follow|trust|heed|listen to|act on|do)\b[^.!?]{{0,40}}\b{_WHO}? ?"
        r"(?:orders?|instructions?|commands?|requests?|word)\b",
        r"\b(?:obey|do (?:what|whatever|anything|everything)) [a-z]+(?: (?:says|asks|tells|wants|orders))?\b",
        rf"\b[a-z]+ (?:is|are|becomes?) (?:now )?(?:the|an?|my|your) (?:new )?{_ROLE}\b",
        r"\b[a-z]+ (?:may|can|is allowed to|has permission to|is authori[sz]ed to) "
        r"(?:approve|authori[sz]e|decide|access|order|sign|instruct|command)\b",
        r"\b(?:on behalf of|in the name of)\b",
        r"(?:听|服从|遵守|相信|按照?|照)[^，。我你]{1,12}(?:的)?(?:话|指令|命令|指示|要求|吩咐)",
        r"(?:当作|当成|视为|看作)[^，。]{0,8}(?:管理员|开发者|开发人员|系统|老板|负责人|主人|操作员)",
        r"[^，。]{1,12}(?:可以|有权)(?:批准|审批|决定|授权|代表)",
    ),
}


def risk(wish: str) -> str | None:
    """Return why a standing instruction is risky, in words without a quote; None for a harmless one."""
    plain = deobfuscation.fold(wish)
    return next((what for what, pattern in _COMPILED if pattern.search(plain)), None)


def holds_risky_instruction(text: str) -> bool:
    """Return whether a text contains a risky standing instruction anywhere."""
    if not _STANDING.search(text):
        return False
    wishes = (
        sentence for sentence in _SENTENCE.split(text) if _ORDER.search(sentence) and not _RESOLVE.search(sentence)
    )
    return any(risk(sentence) for sentence in wishes)


def _compile(patterns: tuple[str, ...]) -> Any:
    options = re2.Options()
    options.log_errors, options.never_capture, options.case_sensitive = False, True, False
    return re2.compile("|".join(f"(?:{pattern})" for pattern in patterns), options)


_CUES = r"(?:from now on|from here on|going forward|in (?:the )?future|henceforth|as of now|always|never|whenever)"
_STANDING: Final = _compile((rf"\b{_CUES}\b", "以后|从现在起|从今以后|今后|每次|每当|一律"))
_ORDER: Final = _compile(
    (
        rf"^\W*(?:and |also |so |then |please |but |oh,? )*{_CUES}\b,? (?:please )?(?:always |never )?"
        r"(?:[a-z]+|when(?:ever)? [^,]*, (?:please )?[a-z]+)",
        r"(?:以后|从现在起|从今以后|今后|每次|每当|一律)",
    )
)
_RESOLVE: Final = _compile(
    (rf"\b{_CUES}\b,? (?:i|i'm|i'll|we|we'll|my|our|he|she|they|it)\b", "(?:以后|今后|每次|一律)[我他她它咱]")
)
"""Sentences in which somebody says what they will do themselves."""

_SENTENCE: Final = re.compile(r"(?<=[.!?。！？\n])\s*")
_COMPILED: Final = [(what, _compile(patterns)) for what, patterns in _PATTERNS.items()]
