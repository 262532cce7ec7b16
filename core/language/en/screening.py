"""English phrases of attacks: injected instructions, and standing ones that are risky. Data.

Phrases of languages without a folder stand here too.
"""

from __future__ import annotations

from typing import Final

from core.language.parts import Screening

_WHO = r"(?:[a-z]+'s|his|her|their|from [a-z]+|of [a-z]+|by [a-z]+)"
_ROLE = (
    r"(?:developers?|admin(?:istrator)?s?|operators?|system|owners?|root|boss|manager|supervisor|principal|"
    r"superuser|trusted|authori[sz]ed|verified)"
)
_CUES = r"(?:from now on|from here on|going forward|in (?:the )?future|henceforth|as of now|always|never|whenever)"

SCREENING: Final = Screening(
    words=r"""
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
""",
    phrases={
        "drop": r"""
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
ignore[zr]?( toutes)?( les| tes| vos)? (instructions|consignes|regles) (precedentes|anterieures|ci dessus)
(ignora|ignore|olvida|olvide|desconsidere|esqueca)( todas)?( las| as)? (instrucciones|reglas|instrucoes|
    regras) (anteriores|previas|acima)
ignora( tutte)?( le)? (istruzioni|regole) (precedenti|sopra)
(ignore|disregard|forget)(all|any|the|your)*(previous|prior|above|earlier)(instructions?|prompts?|rules)
""",
        "role": r"""
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
""",
        "reveal": r"""
(<show>)( to me| us| verbatim| exactly| word for word)?( all| of| the| full| entire| complete| exact| whole|
     contents| text| everything| in){0,5} your( full| entire| complete| exact| whole)? (system (prompt|
    message|instructions)|(<own>)( (<own>))? (prompt|instructions|message|rules)|(instructions|prompt)
    (verbatim|word for word|above))
(reveal|leak|disclose|expose|divulge|dump|exfiltrate)( to me)?( all| of| the| full| entire| contents){0,4}
    (system prompt|hidden (prompt|instructions)|developer message|system instructions|initial instructions|
    preprompt)
what( exactly)? your( (<own>)){1,2} (prompt|instructions|message|rules|guidelines) (say|says|is|are)
(print|output|repeat|write out|copy|recite|translate|encode)( <word>){0,3} (words|text|instructions|prompt|
    message|everything) above( <word>){0,3} (verbatim|starting with|word for word)
(output|print|show|repeat)( me)? the (developer|system|hidden|initial) (message|prompt|instructions) (in full|
    verbatim|word for word|completely)
(what|which) (instructions|prompt|rules) (were|was|have) you( been)? (given|told|fed)
(what|which) (is|are|was|were) your( (<own>)){1,2} (prompt|instructions|message)
""",
        "pose": r"""
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
""",
        "obey": r"""
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
""",
        "conceal": r"""
(do not|dont|never|without)( ever)? (tell|telling|inform|informing|alert|alerting|warn|warning|notify|
    notifying|mention (this|it) to|reveal (this|it) to|disclose (this|it) to|ask|asking|show)( this to| it
    to)? (<user>)
(do not|dont|never) (reveal|disclose|mention|show|say|admit|explain)( <word>){0,3} to (<user>)
(hide|conceal)( <word>){1,3} from (<user>)
(secretly|silently|covertly|without( the)? users? (knowledge|consent|noticing)) (<deed>) (all|the|any|every|
    this|their|your|his|her|a|it|user|money|files)
(<deed>)( <word>){0,6} (without|and do not|and dont|and never) (telling|asking|tell|ask|inform|informing|
    notify|notifying|alerting) (<user>|anyone|anybody)
""",
        "call": r"""
(call|invoke|execute|trigger|run|use)( the)?( tool| function| plugin)? (send email|send mail|send message|send
    money|transfer funds|transfer money|delete all|delete files?|delete account|delete memory|drop table|run
    shell|shell exec|execute command|http post|make payment|wire transfer|read secrets|get secrets|upload
    file)( tool| function| plugin)?( with| to| and| now| immediately)
(use|call|invoke|run|trigger) (the|your) (email|e mail|mail|browser|shell|terminal|payment|file|messaging|
    http|web|fetch|memory) (tool|function|plugin|connector)s? to (<deed>|erase|wipe|pay|share|exfiltrate)
""",
        "carry": r"""
(<send>)( all| any| every| each| of| the| your| this| their| full| entire| whole| complete| current| stored|
     saved| previous| in| a| summary| contents){0,6} <private>( <word>){0,5} (to|into|in|as|at|onto|via) (the
    |this |our |a |an |that )?(http|https|url|webhook|attacker|external|remote server|link|query string|image
    url)
""",
    },
    negated="dont,do not,never,not,cannot,cant,shouldnt,wont".split(","),
    told="i they he she who people drivers kids students users".split(),
    risks={
        "address": (
            r"[\w.+-]+@[\w-]+\.\w",
            r"https?://|www\.\w|\b[\w-]+\.(?:com|net|org|io|de|cn|ru|example|info|app|dev)(?:/|\b)",
            r"\+?\d[\d ()/-]{7,}\d",
            r"\bb?cc\b",
            r"\b(?:forward|send|copy|mail|e-?mail|post|upload|share|report)\b[^.!?]{0,40}\b(?:to|with)\b [^.!?]*"
            r"\b(?:mails?|e-?mails?|messages?|notes|files?|data|documents?|conversations?|everything|copies)\b",
            r"\b(?:forward|send|copy|mail|e-?mail|upload)\b[^.!?]{0,20}"
            r"\b(?:mails?|e-?mails?|messages?|notes|files?|data|documents?|conversations?|everything|copies)\b"
            r"[^.!?]{0,20}\bto\b",
        ),
        "money": (
            r"\b(?:pay|pays|paying|payments?|transfers?|wire|invoices?|iban|refunds?|bitcoin|crypto|wallets?|donate|"
            r"donations?|purchases?|withdraw|deposit|bank|credit card|salary)\b",
            r"\b(?:bank|new|my|this|that|his|her|their) accounts?\b|\baccount (?:number|no)\b",
            r"[€$£¥]\s*\d|\b\d+\s*(?:euros?|dollars?|usd|eur|gbp|pounds)\b",
        ),
        "tool": (
            r"\b(?:call|invoke|use|run|execute|trigger)\b[^.!?]{0,40}\b(?:tools?|functions?|apis?|webhooks?|plugins?|"
            r"shell|terminal|sql|commands?|scripts?|endpoints?)\b",
            r"\b(?:delete|drop|erase|wipe|overwrite|install|deploy)\b[^.!?]{0,30}\b(?:files?|data|databases?|tables?|"
            r"records?|accounts?|users?|backups?|packages?|software|production)\b",
        ),
        "authority": (
            rf"\b(?:treat|consider|regard|accept|see|take|count)\b[^.!?]{{0,60}}\bas\b[^.!?]{{0,40}}\b{_ROLE}\b",
            rf"\b(?:treat|consider|regard|accept)\b[^.!?]{{0,40}}\b{_WHO}[^.!?]{{0,40}}\bas\b",
            rf"\b(?:obey|follow|trust|heed|listen to|act on|do)\b[^.!?]{{0,40}}\b{_WHO}? ?"
            r"(?:orders?|instructions?|commands?|requests?|word)\b",
            r"\b(?:obey|do (?:what|whatever|anything|everything)) [a-z]+(?: (?:says|asks|tells|wants|orders))?\b",
            rf"\b[a-z]+ (?:is|are|becomes?) (?:now )?(?:the|an?|my|your) (?:new )?{_ROLE}\b",
            r"\b[a-z]+ (?:may|can|is allowed to|has permission to|is authori[sz]ed to) "
            r"(?:approve|authori[sz]e|decide|access|order|sign|instruct|command)\b",
            r"\b(?:on behalf of|in the name of)\b",
        ),
    },
    standing=(rf"\b{_CUES}\b",),
    order=(
        rf"^\W*(?:and |also |so |then |please |but |oh,? )*{_CUES}\b,? (?:please )?(?:always |never )?"
        r"(?:[a-z]+|when(?:ever)? [^,]*, (?:please )?[a-z]+)",
    ),
    resolve=(rf"\b{_CUES}\b,? (?:i|i'm|i'll|we|we'll|my|our|he|she|they|it)\b",),
)
