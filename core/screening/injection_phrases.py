"""Phrase tables for prompt injection.

English phrases are matched as whole words in lower case with single spaces; they do not cross sentence ends. Chinese
phrases are matched in simplified characters without spaces. `core.screening.deobfuscation` makes both forms,
independent of how a text is spelled. Each line is one phrase; an indented line continues the previous one.
`<name>` in a phrase refers to the line of that name in `WORDS` or `HAN_WORDS`.
"""

from __future__ import annotations

import re

DROP = "would have its reader drop its instructions"
ROLE = "would have its reader become someone without rules"
REVEAL = "would have its reader reveal its instructions"
POSE = "poses as the system or its operator"
OBEY = "demands obedience"
CONCEAL = "would have its reader hide something from its user"
CALL = "would have its reader call a tool"
CARRY = "would carry private data out"


def _lines(table: str) -> list[str]:
    """Return the lines of a table, rejoined where they were broken: after a bar, or before a word or a group."""
    whole = re.sub(r"\n {4}(?=\( )|(?<=\|)\n {4}", "", table.strip("\n"))
    return re.sub(r"\n {4}", " ", whole).splitlines()


def _han_lines(table: str) -> list[str]:
    return table.strip("\n").replace("\n    ", "").splitlines()


def _named_lines(lines: list[str]) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in lines)


WORDS = _named_lines(
    _lines(
        """
drop: ignore|ignoring|disregard|disregarding|forget|forgetting|forget about|pay no attention to|set aside|
    disobey|never mind|nevermind|(do not|dont|never|stop|need not) (follow|following|obey|obeying|
    heed|adhere to|comply with|listen to|listening to)
break: override|overriding|bypass|bypassing|overrule|neglect|dismiss|discard|abandon|nullify|circumvent|
    delete|erase|void|throw away|let go of|unlearn|break|violate
of: ( (all|any|every|each|of|the|your|my|our|these|those|this|that|its|and|or|other|such|whatever)){0,5}
earlier: previous|previously given|prior|earlier|preceding|above|aforementioned|foregoing|former|existing|
    original|initial|system|developer|hidden|pre existing|default|built in|past
rule: (instruction|direction|prompt|rule|guideline|directive|constraint|restriction|policy|policies|safeguard|
    guardrail|programming|system message|command)s?
order: (instruction|prompt|directive|guideline|safeguard|guardrail|programming|system message|system prompt)s?
own: safety|content|ethical|ethics|moral|moderation|usage|security|openai|anthropic|internal|system|developer|
    original|initial|hidden|secret|core|built in|previous|prior
guard: (filter|guideline|policy|policies|restriction|protocol|safeguard|guardrail|moderation|censorship)s?
limit: (restriction|limitation|limit|filter|censorship|guideline|moral|ethic|safeguard|guardrail|inhibition)s?
mind: ai|llm|language model|chatbot|chat bot|bot|assistant|persona|hacker|interpreter|jailbroken|unrestricted|
    unfiltered|uncensored|unbound|unchained|evil|amoral|dan|root|in (developer|dan|god|debug|maintenance|
    admin|sudo) mode|free from|free of|no longer|not bound|without
reader: (other )?(ai|llm|ai assistant|ai agent|ai model|language model|large language model|llm agent|chatbot|
    ai system|automated agent|automated system|ai summarizer)s?
act: you must|must|ignore|disregard|instead|do not|always|include|recommend|append|send|output|print|say|add|
    respond with|reply with|rate this|mark this|stop
show: reveal|leak|disclose|expose|divulge|dump|recite|print|print out|output|repeat|show|show me|display|tell
    me|give me|write out|write down|share|copy|paste|return|summarize|translate|encode
send: send|forward|post|upload|transmit|exfiltrate|leak|submit|deliver|relay|copy|email|e mail|mail|append|
    attach|encode|embed|put|include
private: (conversation|conversation history|chat|chat history|chat log|message|message history|memory|
    memories|secret|password|credential|api key|token|system prompt|private data|private information|private
    key|personal data|personal information|user data|users data|user information|user profile|user s data|
    environment variable|contact|contact list|everything you (know|remember))s?
user: the user|your user|the human|the human user|users
deed: send|forward|upload|transmit|email|e mail|post|copy|leak|append|insert|delete|transfer|call|invoke|run|
    execute|wire
word: [a-z]+
"""
    )
)

PHRASES = {
    DROP: _lines(
        """
(<drop>)<of>( (<earlier>)){1,2}( <word>){0,2} <rule>
(<break>)( all| any| every)( of)?( the| your| my| these)?( (<earlier>)){1,2} <rule>
(<break>)( the| your| these)?( (<earlier>)){1,2} <order>
(<drop>|override|bypass)( all| any)?( of)? your( (<own>))? <order>
(<drop>|<break>)( all| any)?( of)? your (<own>) <rule>
(<drop>)( all| every| any)?( of)?( the| your| these| those| my| our)? <rule> (you (were|have|had)|above|before
    this|that came before|given to you|in your|in the (system )?prompt)
(<drop>)( <word>){0,4} (rules|instructions|guidelines|prompts?|restrictions|policies)( <word>){0,2} you (were|
    are|have|had|got|received|operate|operating)
(<drop>) (all|everything|anything)( of)?( the)? (above|preceding)
you( are|re)( hereby| now)? (released|freed|exempt|exempted|liberated) from (all|any|your)
(follow|listen|trust|obey) only (to )?(this (text|message|file|document)|me and|the (commands|instructions) (in|
    below))
(<drop>) (the|your) (system|developer) (message|prompt|instruction)s?
(<drop>|<break>|skip|disable)( all| any)?( of)?( the| your| any)? (safety|content|ethical|moderation) (policy|
    policies|filter|check|guideline|rule|protocol|measure|restriction|instruction)s?
(ignore|disregard|forget|never mind|nevermind)( all| everything| anything)?( of)?( the| what| any)?( <rule>)?
    ( you (got|have) from)?( that)? your (creator|developer|maker|operator|provider)s?
(ignore|disregard|forget|override|erase|unlearn|delete)( all)?( of)? your( prior| previous)? (programming|
    training|rules|restrictions|guidelines)
(<drop>) (everything|anything|all|whatever|what)( that)? you (were|have been|had been|ve been|are) (told|
    taught|instructed|given|programmed|trained|asked|ordered)
(ignore|disregard|forget) (everything|anything|all|whatever|all text|all content|the text|the content)
    ( written| said)? (above|before this (line|point|message|sentence)|preceding this)
(the|all|your|these)( (previous|prior|above|preceding|system|original|initial)){1,2} (instruction|prompt|
    directive|constraint|rule|command|system message)s? (is|are|was|were|has been|have been)( only| now)? (a
    test|void|obsolete|canceled|cancelled|revoked|superseded|suspended|lifted|no longer|null|overridden|fake)
(all|any|every) (instruction|rule|command|prompt|directive)s? (before|above|prior to|preceding) (this|these)
    ( one)? (is|are|were|was|has|have)
your( old| existing)?( (<own>))? (rule|instruction|guideline|restriction|policy|policies|constraint|prompt)s?
    (no longer apply|no longer applies|do not apply|dont apply|do not count|no longer count)
(treat|consider|regard)( all)?( of)? the (text|instructions?|rules?|prompt|message) (above|before this) as
your( (<own>))? <guard> (is|are|was|were|has been|have been)( now| hereby)? (disabled|off|turned off|lifted|
    void|suspended|removed|deactivated|cancelled|revoked|gone|no longer)
(disable|deactivate|turn off|switch off|bypass|circumvent|remove|lift|suspend)( all)?( of)? your( (<own>))?
    <guard>
ignorier(e|en sie)?( bitte)? alle (bisherigen|vorherigen|vorigen|obigen|fruheren|vorangegangenen)
    (anweisungen|regeln)
(vergiss|missachte|ignoriere|ubergehe|verwirf)( bitte)?( ab sofort| jetzt)?( alle| all| die| diese| deine){0,3}
    (bisherigen|vorherigen|vorigen|fruheren|obigen|alle|samtliche|deine) (anweisungen|regeln|vorgaben|instruktionen|
    richtlinien|befehle)
ignore[zr]?( toutes)?( les| tes| vos)? (instructions|consignes|regles) (precedentes|anterieures|ci dessus)
(ignora|ignore|olvida|olvide|desconsidere|esqueca)( todas)?( las| as)? (instrucciones|reglas|instrucoes|
    regras) (anteriores|previas|acima)
ignora( tutte)?( le)? (istruzioni|regole) (precedenti|sopra)
(ignore|disregard|forget)(all|any|the|your)*(previous|prior|above|earlier)(instructions?|prompts?|rules)
"""
    ),
    ROLE: _lines(
        """
you( are|re) (now|henceforth|hereby|from now on)( a| an| the| my| called| going to (act|behave) as| acting as|
     operating as| fully| completely| totally| truly){0,3}( <word>){0,2} (<mind>)
you( are|re)( now| hereby| officially)? (no longer|not) (bound by|bound to|restricted by|subject to|limited
    by|constrained by|governed by|required to follow|an ai)
you( now)? have( absolutely)? no( ethical| moral| content| safety| more){1,2}( or <word>)? <limit>
you( now)? have( absolutely)? no (restriction|filter|rule|guideline|censorship)s?
(pretend|imagine|act as if|act as though|behave as if|roleplay as if)( that)? you( are|re| were| have| had)
    ( a| an)?( ai)?( with)?( not an ai| no longer| not bound|( no| without any| without)( <word>)? (<limit>|
    policy|policies|rules)| unrestricted| unfiltered| uncensored| jailbroken| dan)
(answer|respond|reply|comply|speak)( <word>){0,4} without( any| all)?( ethical| moral|
     content| safety| usual| of your| your){0,2}( or <word>)? <limit>
(enter|activate|enable|switch to|go into|engage|initiate|turn on)( the)? (dan|jailbreak|jailbroken|god|
    unrestricted|unfiltered|uncensored|evil|chaos|sudo) mode
(enter|enable|activate|switch to|you are now in|you are in) (developer|debug|maintenance|admin|root) mode
    ( <word>){0,5} (ignore|answer|respond|comply|restrictions|filters?|reveal|obey|bypass|disable|any)
(can|will|to|you|now) do anything now
free (yourself )?(from|of)( all| any| the| your)+( typical| usual)? (confines of ai|openai|programming|ai
    restrictions|(<own>) <limit>)
(never|not|cannot|cant|wont|must not) refuses? (any request|anything|any of my|requests|my requests|to answer|
    a request|any command|any order|to comply)
(ai|llm|assistant|language model|chatbot|bot)( that| which| who)?( with| having| has| without)( no| any)?
    ( ethical| moral| content| safety)? (<limit>|rule|rules|policy|policies|conscience)
(as|be|become|are|re|simulate|emulate|like|play)( a| an| the)( completely| fully| totally)? (evil|
    unrestricted|unfiltered|uncensored|jailbroken|amoral|malicious|rogue|unaligned) (ai|assistant|chatbot|
    language model|llm|version of yourself|bot|one)
you (play|act as|become|are now|will play|are playing)( <word>){1,4} (who|that|which) (has|have) no( <word>)?
    (<limit>|rules|conscience)
jailbreak (yourself|you)
"""
    ),
    REVEAL: _lines(
        """
(<show>)( to me| us| verbatim| exactly| word for word)?( all| of| the| full| entire| complete| exact| whole|
     contents| text| everything| in){0,5} your( full| entire| complete| exact| whole)? (system (prompt|
    message|instructions)|(<own>)( (<own>))? (prompt|instructions|message|rules)|(instructions|prompt)
    (verbatim|word for word|above))
(reveal|leak|disclose|expose|divulge|dump|exfiltrate)( to me)?( all| of| the| full| entire| contents){0,4}
    (system prompt|hidden (prompt|instructions)|developer message|system instructions|initial instructions|
    preprompt)
(gib|zeig|zeige|nenn|nenne|verrate)( mir| uns)?( bitte)? (deinen|deine|den|die)( ganzen| vollstandigen| geheimen|
     internen)? (systemprompt|system prompt|systemanweisungen|anweisungen im wortlaut)
what( exactly)? your( (<own>)){1,2} (prompt|instructions|message|rules|guidelines) (say|says|is|are)
(print|output|repeat|write out|copy|recite|translate|encode)( <word>){0,3} (words|text|instructions|prompt|
    message|everything) above( <word>){0,3} (verbatim|starting with|word for word)
(output|print|show|repeat)( me)? the (developer|system|hidden|initial) (message|prompt|instructions) (in full|
    verbatim|word for word|completely)
(what|which) (instructions|prompt|rules) (were|was|have) you( been)? (given|told|fed)
(what|which) (is|are|was|were) your( (<own>)){1,2} (prompt|instructions|message)
"""
    ),
    POSE: _lines(
        """
(begin|start|end)( of)?( the)?( new)? (system|hidden|developer) (prompt|instructions?|message|override)
end of( the)? (user|system|untrusted|document|retrieved) (input|prompt|instructions?|content|data|message)
(your|here are your|these are your) new( system)? (instructions|directives?|system prompt|prompt|rules) (is|
    are|follow|begin|as follows)
(new|updated) system (prompt|instructions?|directive|message)
(this is|i am|im|message from|instructions? from)( a| an| the)?( message from)?( your)? (openai|anthropic|
    system administrator|system operator|developers?|creators?)( <word>){0,6} (you must|override|ignore|
    disregard|comply|authorize|instruct|order)
(attention|note|notice|message|instructions?|memo|dear|hey|hello|important)( to| for)?( all| any| the| every|
     you)? <reader>( <word>){0,8} (<act>)
to( all| any| every| the)? <reader> (reading|processing|summarizing|parsing|that reads?|who reads?)
as an? <reader>( <word>){0,4} you (must|have to|are required|are obliged)
to you( the| my)? (assistant|ai|agent|model|chatbot)
before you( can)? (solve|complete|answer|do|finish|continue)( <word>){0,10} (do|perform|execute)( <word>){0,3}
    following
if you( are|re)( an| a| the)? <reader>( <word>){0,6} (<act>)
"""
    ),
    OBEY: _lines(
        """
(from now on|henceforth|starting now|from this (point|moment)( on| forward)?|from here on|going forward)
    ( <word>){0,4} you (must|will|shall|are to|have to|should|are going to|need to|only|can)( only| always|
     never)? (obey|serve me|comply with (me|all|every|my)|ignore (all|any|your|previous|prior|every)|
    disregard|bypass|never refuse|not refuse|refuse nothing|say anything|break your|violate|override)
obey( only)? (me|my( every)? (command|order|instruction)s?) (only|and only|and no one|and nobody|without
    question|unconditionally|no matter|alone|above|over)
(you must|you will|you shall|always|only)( unconditionally| blindly)? (obey|execute) (all|every|any|each|my|
    these|the following|whatever)( of)?( my| the| these| hidden| following| new){0,2} (command|order|
    instruction|request|i say)
(follow|obey|execute|comply with|carry out|adhere to)( only)? (these|the following|the new|this)( new)?
    (instruction|rule|command|directive|prompt)s? (instead|only|and ignore|and nothing else|above all)
"""
    ),
    CONCEAL: _lines(
        """
(do not|dont|never|without)( ever)? (tell|telling|inform|informing|alert|alerting|warn|warning|notify|
    notifying|mention (this|it) to|reveal (this|it) to|disclose (this|it) to|ask|asking|show)( this to| it
    to)? (<user>)
(do not|dont|never) (reveal|disclose|mention|show|say|admit|explain)( <word>){0,3} to (<user>)
(hide|conceal)( <word>){1,3} from (<user>)
(secretly|silently|covertly|without( the)? users? (knowledge|consent|noticing)) (<deed>) (all|the|any|every|
    this|their|your|his|her|a|it|user|money|files)
(<deed>)( <word>){0,6} (without|and do not|and dont|and never) (telling|asking|tell|ask|inform|informing|
    notify|notifying|alerting) (<user>|anyone|anybody)
"""
    ),
    CALL: _lines(
        """
(call|invoke|execute|trigger|run|use)( the)?( tool| function| plugin)? (send email|send mail|send message|send
    money|transfer funds|transfer money|delete all|delete files?|delete account|delete memory|drop table|run
    shell|shell exec|execute command|http post|make payment|wire transfer|read secrets|get secrets|upload
    file)( tool| function| plugin)?( with| to| and| now| immediately)
(use|call|invoke|run|trigger) (the|your) (email|e mail|mail|browser|shell|terminal|payment|file|messaging|
    http|web|fetch|memory) (tool|function|plugin|connector)s? to (<deed>|erase|wipe|pay|share|exfiltrate)
"""
    ),
    CARRY: _lines(
        """
(<send>)( all| any| every| each| of| the| your| this| their| full| entire| whole| complete| current| stored|
     saved| previous| in| a| summary| contents){0,6} <private>( <word>){0,5} (to|into|in|as|at|onto|via) (the
    |this |our |a |an |that )?(http|https|url|webhook|attacker|external|remote server|link|query string|image
    url)
"""
    ),
}
"""Kinds of injection, with their phrases."""

NEGATED = tuple(f" {word}".encode() for word in "dont,do not,never,not,cannot,cant,shouldnt,wont".split(","))
"""Words before a phrase by which it is warned of, not requested."""

TOLD = tuple(f" {who}".encode() for who in "i they he she who people drivers kids students users".split())
"""Words before a phrase by which it is reported of someone."""

HAN_WORDS = _named_lines(
    _han_lines(
        """
drop: 忽略|忽视|无视|不要理会|别理会|不用理会|不必理会|不理会|抛开|抛弃|(不要|不用|不必|别|停止|不再)(遵守|
    遵循|服从|听从)|绕过|推翻|废除|清除|跳过|撇开|丢弃|放弃|覆盖|取消|解除|屏蔽|不要管|别管|不用管|摒弃|忘记|
    忘掉|请忘了
earlier: 之前|以前|先前|此前|上面|以上|上述|上文|前面|前述|原有|原来|原先|最初|初始|系统|开发者|安全|既定|
    预设|内置|一切|所有|全部|任何|你收到|你被
rule: 系统消息|检查|审查|指令|指示|提示词|提示语|系统提示|命令|规则|规定|设定|限制|约束|准则|提示|守则|
    安全策略|政策|prompt|instructions?
show: 输出|打印|显示|告诉我|泄露|透露|重复|复述|公开|说出|展示|给我看|列出|翻译
private: 对话|聊天记录|聊天内容|密码|密钥|令牌|凭证|用户数据|用户信息|个人信息|隐私|记忆|系统提示|通讯录|机密|
    api密钥
"""
    )
)

HAN_PHRASES = {
    DROP: _han_lines(
        """
(<drop>)[^了我他她们。]?[^了我他她们。]{0,5}(<earlier>)[^。]{0,10}(<rule>)
(<drop>)[^。]{0,4}(你)[^。]{0,3}(<earlier>)?[^。]{0,6}(指令|提示词|限制|约束|规则|设定)
(<drop>)(掉)?(上文|前文|以上内容|上述内容|上面的内容)
(执行|服从|遵循)[^。]{0,4}隐藏的?(命令|指令|指示)
(<drop>)掉?(系统|开发者)(消息|提示|指令|指示)
(跳过|绕过|关闭|停用|禁用)[^。]{0,4}(安全|内容|道德)(检查|审查|过滤|策略|限制|机制)
(之前|以前|上面|以上|前面)的?(所有|全部|一切)?的?(<rule>)(都|全部|均|已经?|统统){1,3}(作废|无效|失效|忽略)
把(<earlier>)[^。]{0,6}(<rule>)[^。]{0,4}(忘|抛|丢|清空|作废|忽略|删)
(以前|これまで|上記|前)の.{0,6}(指示|命令|ルール).{0,6}(无视|忘れ)
"""
    ),
    ROLE: _han_lines(
        """
你(现在|从现在起|从现在开始|将)(是|扮演|变成|成为|作为)[^。]{0,12}(dan|没有(任何)?(限制|约束|道德|规则)|
    不受(任何)?(限制|约束|审查)|无限制|开发者模式|越狱|不受限)
你(现在|将|已经)?没有任何的?(道德|伦理|内容)?(限制|约束|底线|审查)
你(现在)?(已经?)?(不再|不)受(任何|到)?[^。]{0,8}(限制|约束|规则|审查|管控)
(进入|启动|启用|开启|切换到|激活)[^。]{0,4}(越狱|dan|上帝|无限制|无审查|无约束)模式
你[^。]{0,6}(进入|启用|处于|切换到)开发者模式
(假装|假设|扮演|想象)你[^。]{0,6}(没有任何?(限制|约束|道德|规则)|不受[^。]{0,4}(限制|约束)|是一个?不受)
"""
    ),
    REVEAL: _han_lines(
        """
(<show>)(出|一下|完整地?)?你的?(完整|全部|原始)?的?(系统提示|系统指令|初始指令|隐藏指令|内部指令|初始提示|
    提示词|system ?prompt)
把(你的)?(系统提示词?|系统指令|初始指令|隐藏指令)[^。]{0,8}(<show>)
(<show>)你[^。]{0,6}(收到|得到|接到|被给)的?[^。]{0,6}(指令|提示|指示)
你的(系统提示词?|初始指令|隐藏指令|内部指令)是什么
"""
    ),
    POSE: _han_lines(
        """
(系统|管理员|开发者|超级)(覆盖|越权)?(指令|命令|消息|通知)(:|：)[^。]{0,12}(你必须|忽略|无视|立即|执行|服从|
    现在起)
(以下|这)是?你?的?新的?(系统)?(指令|提示词)(:|：)
(致|所有|任何|如果你是|阅读|读到|看到|处理)[^。]{0,6}(ai|人工智能|大语言模型|大模型|智能体|语言模型)(助手|
    助理|模型|代理)?[^。]{0,12}(必须|忽略|无视|请推荐|务必|输出|不要总结|请回复)
"""
    ),
    OBEY: _han_lines(
        """
从现在(开始|起)[^。]{0,6}你(必须|要|只能|应该|将|得)?[^。]{0,6}(服从|听命|无视|忽略(之前|所有|一切)|绝不拒绝|
    不能拒绝|不得拒绝)
(无条件|绝对|只)(服从|听从|执行)我?的?[^。]{0,4}(命令|指令|指示)
"""
    ),
    CONCEAL: _han_lines(
        """
(不要|别|切勿|不得|勿)(告诉|通知|提醒|让|告知|询问)(用户|使用者)
(偷偷|悄悄|暗中|秘密)地?(把|将)[^。]{0,20}(发送|转发|上传|发到|发给|传给|删除)
在用户不知情[^。]{0,20}(发送|转发|上传|发到|发给|传给|删除|执行|调用)
"""
    ),
    CALL: _han_lines(
        """
(调用|执行|运行|使用)(工具|函数|插件)?[^。]{0,4}(send_?email|delete_?file|transfer_?(funds|money)|run_?shell|
    exec)
"""
    ),
    CARRY: _han_lines(
        """
(把|将)[^。]{0,16}(<private>)[^。]{0,12}(发送|转发|上传|提交|发|传|附加|拼接)(到|给|至|往|
    在)[^。]{0,12}(https?|网址|链接|服务器|webhook|url|邮箱)
(发送|转发|上传|提交|泄露)[^。]{0,10}(<private>)[^。]{0,6}(到|给|至|往)[^。]{0,8}(https?|网址|链接|服务器|
    webhook|url)
"""
    ),
}
"""The same in Chinese."""

HAN_NEGATED = tuple(
    "不要 别 不能 不可 切勿 勿 不得 不应 不该 从不 没有 没 不会 常常 总是 经常 我 他 她 们 曾 曾经 容易".split()
)
"""The same in Chinese."""
