"""Credential patterns."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import re2


class SecretShape(NamedTuple):
    """A secret located by the pattern's only group; `certain`: no example looks like it."""

    label: str
    pattern: Any
    certain: bool = False


def _compile(*parts: str, captures: bool = True) -> Any:
    options = re2.Options()
    options.log_errors, options.max_mem, options.never_capture = False, 64 << 20, not captures
    return re2.compile("".join(parts), options)


PLAIN = {
    **{chr(0xFF01 + i): chr(0x21 + i) for i in range(94)},
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\u3000", " "),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("\u201c\u201d", '"'),
}
"""Translation that maps one character to one, so that positions stay valid."""

TYPED = re.compile(f"[{re.escape(''.join(PLAIN))}]")

_API_KEYS = "|".join(
    r"""
    sk-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{16,}
    [rs]k_(?:live|test)_[A-Za-z0-9]{16,}
    gh[pousr]_[A-Za-z0-9]{20,}
    github_pat_[A-Za-z0-9_]{22,}
    glpat-[A-Za-z0-9_-]{16,}
    xox[abeoprs]-[A-Za-z0-9-]{10,}
    xapp-[0-9]-[A-Za-z0-9-]{10,}
    A(?:KIA|SIA|ROA|IDA)[A-Z0-9]{16}
    AIza[A-Za-z0-9_-]{30,}
    ya29\.[A-Za-z0-9_-]{20,}
    GOCSPX-[A-Za-z0-9_-]{20,}
    hf_[A-Za-z0-9]{25,}
    npm_[A-Za-z0-9]{30,}
    pypi-[A-Za-z0-9_-]{40,}
    SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
    dop_v1_[a-f0-9]{40,}
    shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}
    (?:gsk|xai|pplx|tvly|r8|nvapi|lin_api|ntn|whsec|sbp|dckr_pat|hvs)[_-][A-Za-z0-9_=+/-]{20,}
    key-[0-9a-f]{32}
    sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}
    AGE-SECRET-KEY-1[A-Z0-9]{40,}
    [0-9]{8,10}:AA[A-Za-z0-9_-]{30,}
    imp\.[A-Za-z0-9_-]+\.[a-f0-9]{32}\.[A-Za-z0-9_-]{20,}
    """.split()
)

SHAPES = (
    SecretShape(
        "private key",
        _compile(r"(?s)(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*-----|\z))"),
        certain=True,
    ),
    SecretShape("api key", _compile(rf"(?:^|[^A-Za-z0-9_])({_API_KEYS})")),
    SecretShape(
        "token",
        _compile(r"(?:^|[^A-Za-z0-9_])(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*)"),
        certain=True,
    ),
    SecretShape(
        "webhook address",
        _compile(
            r"(https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}|"
            r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/[0-9]{10,}/[A-Za-z0-9_-]{20,})"
        ),
        certain=True,
    ),
    SecretShape(
        "token",
        _compile(r"(?i)(?:bearer|authorization['\"]?\s*[:=]\s*['\"]?(?:basic|token))\s+([A-Za-z0-9._~+/=-]{16,})"),
    ),
    SecretShape("key", _compile(r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{20,})"), certain=True),
    SecretShape(
        "token",
        _compile(r"[?&](?:sig|signature|access_token|api_?key|auth_token|client_secret)=([A-Za-z0-9%._~+/-]{16,})"),
    ),
    SecretShape(
        "recovery phrase",
        _compile(
            r"(?i)(?:seed|recovery|mnemonic|backup|secret recovery)\s+(?:phrase|words)(?:[^:=\n]{0,30}[:=]|\s+is:?)",
            r"\s*[\"']?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})",
        ),
        certain=True,
    ),
)

ADDRESSES = _compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,64}:([^\s/@\"'<>]{1,128})@[A-Za-z0-9\[]")
"""A password within the address of a server."""

_JOINT = (
    r"(?:\s*(?:=>|:=|->|→|[:=])\s*|"
    r"\s+(?:is|was|are|to|be)(?:\s+(?:now|still|set to|simply|just|currently))?:?\s+|"
    r"\s*(?:是|为|為|改成|改为|換成|换成|设为|设成|設為|叫)了?\s*:?\s*)"
)
_VALUE = r"([!#-&(-+\--:=?-_a-~]{4,128})"
"""Printable ASCII but for quotes, commas, semicolons and angles."""

PASSWORDS = (
    _compile(
        r"(?i)(?:pass[ _-]?(?:word|phrase|code|wd)|passwd|pwd|密码|密碼|口令)s?[\"'`*\])]{0,3}",
        r"(?:\s+(?:for|to|of|on|at|in|under)(?:\s+[^\s:=]{1,30}){1,5}?|[^，。；,;:=\s]{0,8})??",
        rf"({_JOINT})[\"'`*(「]{{0,3}}{_VALUE}",
    ),
    _compile(
        r"(?i)(?:^|[^a-z])(?:pass|pw|passwort|kennwort|contraseña|mot de passe|senha|parola|wachtwoord)",
        rf"(\s*[:=]\s*|\s+(?:is|ist|es|est|lautet|è|é)\s+)[\"'`]?{_VALUE}",
    ),
    _compile(rf"(?i)(?:pass ?word|pass ?code|pass ?phrase)(\s+){_VALUE}"),
)
"""A word for a password, the joint to the value (group 1), and the value (group 2)."""

LOGIN = _compile(
    r"(?i)(?:log[- ]?in|sign[- ]?in|credential|cred|account|账号|帐号|登录)s?\s*[:=：]\s*",
    rf"[^\s/|,;:]{{1,64}}\s*(?:/|\||,|:)\s*{_VALUE}",
)
"""A user name followed by the password (group 1)."""

CALLED = _compile(
    rf"{_VALUE}[\"'`]?\s+(?i:is|was)\s+(?i:my|our|the|his|her|their|your)\s+(?:[^\s]{{1,20}}\s+){{0,3}}?",
    r"(?i:pass ?word|pass ?code|pass ?phrase|pwd|pin)\b",
)
"""A value (group 1) followed by a word that calls it a password."""

PASSPHRASE = _compile(
    r"(?i)pass[ _-]?phrase[\"'`]?\s*(?:[:=]\s*[\"'`]?|(?:is|was)\s*:?\s*[\"'`])",
    r"((?:[a-z0-9]{2,14}[ -]){2,11}[a-z0-9]{2,14})",
)
"""Passphrases of several words: after a sign, or in quotation marks."""

KEY = _compile(
    r"(?i)([a-z]*)[ _-]?(?:key|token|secret|credential|密钥|密鑰|秘钥|令牌)s?[\"'`*\])]{0,3}",
    r"(?:\s+[a-z0-9'_.-]{1,20}){0,5}?",
    rf"(?:{_JOINT}|\s+)[\"'`*(]{{0,3}}([A-Za-z0-9_+/=.~-]{{12,}})",
)
"""The word before "key" (group 1), and a possible key (group 2)."""

CODES = _compile(
    r"(?i)(?:^|[^a-z])(?:pin(?: ?codes?| numbers?)?|cvv2?|cvc2?|",
    r"(?:door|gate|alarm|garage|safe|lock|locker|entry|access|security|unlock|verification|one[- ]time|otp|",
    r"2fa|mfa|sms|backup|recovery|vault|screen lock) (?:pin|pass)?codes?|",
    r"(?:safe|lock|locker|vault|padlock)(?:'s)? combination|otp|",
    r"验证码|驗證碼|门禁码|安全码|PIN码)(?:\s+(?:for|to|of|on|at)(?:\s+[^\s:=]{1,20}){1,4}?)?",
    rf"(?:{_JOINT}|\s+)[\"'`#]?([0-9](?:[ -]?[0-9]){{2,9}})(?:[^0-9A-Za-z%]|$)",
)

POSTAL = re.compile(r"(?i)pin ?code\D*[1-8]\d{5}\W?$")
"""An Indian PIN code is an address."""

TRAILING = ".,;!?)]}\"'`*:"
ENDS = "\n\r.,;!\"'"
SIGNS = frozenset("!@#$%^&*+=?~|\\_")

NAMED = re.compile(
    r"sha-?\d+|md5|argon2\w*|bcrypt|oauth2|base64|utf-?8|windows\d+|win\d+|v\d[\d.]*|[a-z]{1,3}\d|\d+(?:st|nd|rd|th)"
)
"""Words with digits that follow "password" but are none."""

MEASURE = re.compile(
    r"\d+[- ]?(?:characters?|chars?|digits?|letters?|days?|hours?|minutes?|times?|bits?|words?|years?|months?|"
    r"weeks?|x|th|st|nd|rd)(?:[- ][a-z]+)?|.*'s|\d{1,3}%|2fa.*|https?:.*|.*@.*\..*"
)
"""Durations, frequencies, places."""

GROUPED = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){2,}")
"""Keys in groups: UUIDs, licences."""

FILE = re.compile(r"\.[a-z]{2,4}$|^/|\.\w+/")

STANDIN = re.compile(
    r"^[<{$%\[(*.…#-]|\[redacted|\*{3}|x{4}|your[_-]?|_here|\{\{|<[a-z_ -]+>|placeholder|\.\.\.|process\.env|os\.|"
    r"getenv|self\.|config\.|settings\.|request\.|user\.|args\.|input\(|::|\(\)|_env|env\[|redacted"
)
STANDINS = frozenset(
    "password passwd secret changeme example string str none null true false undefined text varchar required".split()
)
"""Placeholders of secrets."""

NO_PASSWORDS = frozenset("password pass pwd secret passwd pw".split())

ORDINARY = frozenset(
    """
    required optional string text wrong incorrect right correct invalid valid secret weak strong safe secure
    unsafe same different unknown known empty blank expired lost stolen gone missing hidden visible encrypted
    hashed salted stored saved changed reset forgotten remembered here there below above attached included
    provided given sent needed necessary mandatory protected private public personal long short simple complex
    easy hard difficult important unique random temporary permanent default shared compromised leaked exposed
    breached guessed cracked crucial critical essential enough something anything nothing everything someone
    please always never maybe probably really very quite still already again better worse good great terrible
    stupid silly funny mine yours ours theirs case sensitive ready available accepted rejected denied confirmed
    verified changing access login account accounts email username usernames manager managers field fields input
    output value values length format policy policies option options hash hashes check checks prompt prompts
    protect enter choose create keep update change remember forget sure myself itself people users others their
    your with from this that these those what which when where after before because about into least either both
    false true none null weekly monthly daily yearly online offline varchar boolean object number unicode ascii
    plain cleartext plaintext
    """.split()
)
ABOUT = ("ed", "ing", "able", "ible", "ly", "tion", "ment", "ness")
"""Remarks about passwords: words and endings that are not one."""

OPEN_KEYS = frozenset(
    """
    primary foreign public partition sort cache idempotency row hash shard composite natural surrogate candidate
    dictionary answer arrow enter escape shift control map piano house car turn low high major minor start end
    cancellation next previous page continuation stop special cls sep pad unk eos bos csrf settle git commit
    image file object s3 host
    """.split()
)
"""Words before "key" or "token" by which it is public."""

DIGITS = re.compile(r"[0-9]+(?:[ -][0-9]+)*")
GLUE = re.compile(r"\+$|[A-Za-z]$|[A-Za-z0-9][-_/]$|[0-9][.,]$")
"""Characters before digits that continue something else."""

FIRST_GROUPS = frozenset({4, 8})
"""Digits of the first group of a card number."""

ISSUER = re.compile(
    r"4(?:\d{15}|\d{18})$|5[1-5]\d{14}$|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}$|3[47]\d{13}$|"
    r"(?:6011|65\d\d|64[4-9]\d)\d{12,15}$|35(?:2[89]|[3-8]\d)\d{12,15}$|3(?:0[0-5]|[689]\d)\d{11,16}$|62\d{14,17}$|"
    r"(?:50|5[6-8]|63|67)\d{14}$"
)
"""Visa, Mastercard, American Express, Discover, JCB, Diners Club, UnionPay, Maestro, with their lengths."""

IBAN = _compile(r"(?i)(?:^|[^A-Za-z0-9])([A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?)")

IBAN_LENGTHS = {
    entry[:2]: int(entry[2:])
    for entry in """
    AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24
    FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32
    LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22
    SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20
    """.split()
}

_CARD = "[2-6][0-9]{3}[ -]?[0-9]{2,}[ -]?[0-9]{2,}[ -]?[0-9]{2,}"

ANY = _compile(
    "|".join(
        [
            *(shape.pattern.pattern for shape in SHAPES),
            *(pattern.pattern for pattern in (*PASSWORDS, LOGIN, CALLED, PASSPHRASE, ADDRESSES, KEY, CODES, IBAN)),
            _CARD,
        ]
    ),
    captures=False,
)
"""Pattern that shows whether a text needs to be examined: one pass for most texts."""

HINT = _compile(
    "(?i)(?:",
    "|".join(
        r"""
        pass pw 密码 密碼 口令 kennwort contraseñ senha parola wachtwoord
        key token secret credential 密钥 密鑰 秘钥 令牌
        (?:log[-\x20]?in|sign[-\x20]?in|credential|cred|account|账号|帐号|登录)s?\s*[:=：]
        (?:^|[^a-z])pin(?:[^a-z]|$|codes?|numbers?) cv[vc] codes? combination otp 验证码 驗證碼 门禁码 安全码
        (?:seed|recovery|mnemonic|backup)\s bearer authorization -----begin
        hooks\.slack\.com discord(?:app)?\.com ://[^\s/]*@ [?&]sig
        (?:^|[^a-z0-9_])(?:sk-|[rs]k_|gh[pousr]_|github_pat|glpat|xox|xapp|a(?:kia|sia|roa|ida)|aiza|ya29|gocspx|hf_|npm_|pypi-|sg\.|dop_v1|shp|gsk|xai|pplx|tvly|r8|nvapi|lin_api|ntn|whsec|sbp|dckr_pat|hvs|sq0|age-|imp\.|eyj)
        [0-9]:aa
        (?:^|[^a-z0-9])[a-z]{2}[0-9]{2}(?:[\x20-]?[a-z0-9]{4}){2}
        """.split()
    ),
    f"|{_CARD})",
    captures=False,
)
"""Pattern that each text with a secret matches as well, with few repetitions that are counted.

The automaton of `ANY` grows with every random id that it reads, and is built anew whenever it has become too large.
"""
