"""Markup, tool-call and URL patterns of prompt injection.

They are matched in a folded text; see `core.screening.deobfuscation`.
"""

from __future__ import annotations

MARKS = {
    "holds the marks by which a prompt tells who speaks": (
        (
            r"<\|(?:im_start|im_end|im_sep|system|user|assistant|developer|endoftext|end|eot_id|start_header_id|"
            r"end_header_id|begin_of_text|start|channel|message|tool_call|tool|endofprompt|eom_id|python_tag)\|>"
        ),
        r"\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>",
        r"</?(?:system|system[_-](?:prompt|message|reminder)|developer_message|assistant_response)>",
        r"#{2,}\s*(?:system|assistant|developer|human)(?: (?:prompt|message|instructions?|override))?\s*[:：]",
        (
            r"\[(?:system|developer|admin)(?: (?:prompt|message|override|instructions?|note|notice))?\]\s*[:：]?\s*"
            r"(?:you|ignore|from|new|the|this|do|all|always|override|disregard|now)"
        ),
        (
            r"(?:^|\n)\s*(?:system|developer)\s*(?:prompt|message|instruction|note)?\s*[:：]\s*"
            r"(?:you (?:are|must|will|should|have)|ignore|disregard|forget|override|from now on|new instruction|do not)"
        ),
        r"\n\s*(?:human|assistant|user)\s*:[^\n]{0,200}\n+\s*(?:system|developer)\s*:",
    ),
    "poses as its operator": (
        (
            r"-{2,}\s*(?:end|begin|start)[ _-]+(?:of[ _-]+)?(?:the[ _-]+)?"
            r"(?:document|system|prompt|context|user|input|instructions?|data|e-?mail|message)"
        ),
        r"(?:^|[\n.#!?:>-])\s*new (?:system )?instructions?\s*[:：]",
        (
            r"(?:system|admin|administrator|developer|operator|security)[ _-]+override\s*"
            r"(?:[:：!\]]|mode|code|activated|engaged|protocol)"
        ),
    ),
    "holds a tool's call as models write it": (
        r"<(?:tool_call|function_call|function_calls|tool_use|invoke name=|function=)",
        r'"(?:tool_calls|function_call)"\s*:\s*[\[{]',
        r'\{\s*"(?:name|tool|function)"\s*:\s*"[\w.-]{2,60}"\s*,\s*"(?:arguments|parameters|args|input)"\s*:\s*\{',
    ),
}
"""Forms in which a text impersonates someone, or acts; matched in folded text."""

_DATA = (
    r"\s*(?:(?:the|full|user|users|entire|all)[ _])?(?:conversation|chat_?history|history|messages|memor(?:y|ies)|"
    r"secrets?|system_?prompt|user_?data|user_?info|private|everything|credentials|stolen|exfil|leak|context|password|对话|密码|记忆)"
)
_PARAMETER = (
    "d|data|payload|exfil|leak|secrets?|info|history|conversation|chat|memory|memories|prompt|stolen|b64|msg|cookie"
)
_PRIVATE = (
    r"(?:conversation|chat history|chat log|secrets?|passwords?|memor(?:y|ies)|system prompt|api keys?|credentials?|"
    r"user.?s? (?:home )?(?:data|details|information|name|e-?mail|address|location|phone)|"
    r"personal (?:data|information)|private (?:data|information|keys?)|"
    r"everything you (?:know|remember)|(?:all|every|each) (?:message|file|e-?mail)s?)(?:[^a-z]|$)"
)

CARRIERS = {
    "an image whose address is filled with data": (
        r"!\[[^\]]*\]\(\s*<?https?://[^)\s]*(?:\{\{|\$\{|\{[a-z_ ]+\}|%7b|<[a-z_ ]+>|\[[a-z_ ]+\]|\[redacted)",
        rf"!\[[^\]]*\]\(\s*<?https?://[^)\s]*[?&](?:{_PARAMETER})=[^)&\s]{{16,}}",
        rf"<img[^>]{{0,200}}src\s*=\s*[\"']?https?://[^\"'>\s]*[?&](?:{_PARAMETER})=",
    ),
    "a link whose address is filled with data": (
        rf"https?://[^\s)\"'>]*[?&/=#](?:\{{\{{?|\$\{{|<|\[|%7b%7b|%7b){_DATA}",
        r"https?://[^\s)\"'>]*[?&=/][^\s)\"'>]*\[redacted: ",
    ),
    "a link that hands data to a collecting host": (
        (
            r"https?://(?:[\w.-]+\.)?(?:webhook\.site|requestbin\.\w+|pipedream\.net|burpcollaborator\.net|"
            r"interact\.sh|oast\.\w+|oastify\.com|beeceptor\.com|hookbin\.com|requestcatcher\.com)[^\s)]*[?&]\w+="
        ),
    ),
    "an address that holds a document": (
        r"data:(?:text/html|text/plain|text/javascript|application/(?:x-)?javascript|image/svg\+xml)[^\s,]{0,60},\S{8,}",
        r"data:[\w.+-]+/[\w.+-]+;base64,[a-z0-9+/=]{16,}",
    ),
    "a link that runs a script": (r"\]\(\s*<?(?:javascript|vbscript):",),
    "an order to put data into an address": (
        (
            rf"(?:append|add|attach|include|put|encode|insert|embed) [^.\n]{{0,40}}{_PRIVATE}[^.\n]{{0,40}}"
            r"(?: url| link|query|image|https?://)"
        ),
        rf"https?://\S+[^\n]{{0,30}}(?:followed by|plus|containing|carrying) [^\n]{{0,20}}{_PRIVATE}",
    ),
    "an order to send private data out": (
        (
            r"(?:send|forward|post|upload|transmit|exfiltrate|leak|submit|share|e-?mail|mail|relay|beam) "
            rf"[^.\n]{{0,40}}{_PRIVATE}[^\n]{{0,40}}"
            r"(?:https?://|[\w.+-]+@[\w-]+\.\w)"
        ),
    ),
}
"""Ways to exfiltrate data; matched in folded text."""
