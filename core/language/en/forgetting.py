"""English words of requests to forget. Data."""

from __future__ import annotations

from typing import Final

from core.language.lazy_regex import lazy_regex
from core.language.parts import ForgetAsking, ForgetDescribed, ForgetExtent, ForgetText, Forgetting, ForgetWording

_YOU: Final = r"(?:you|u|ya)"

_VERB: Final = (
    r"(?:delete|delte|erase|remove|wipe|scrub|purge|drop|clear(?: out)?|discard|expunge|redact|strike|scratch|lose|"
    r"ditch|nuke|trash|dump|bin|scrap|shred|chuck|destroy|unsave|obliterate|blot out|cross out|throw (?:out|away)|"
    r"take (?:out|off|away|back)|get rid of|let go of|do away with|dispose of|rub out|del|un-?say)"
)

_SPLIT_VERB: Final = (
    r"(?:take|throw|cross|blot|strike|toss|cut|get|keep|leave|have|wipe|clear) \S.{0,80}? (?:out|off|away)"
)

_FORGET: Final = r"(?:forget|froget|forgt|unlearn|unremember|un-know|unhear|disremember)"

_ING: Final = (
    r"(?:deleting|erasing|removing|wiping|scrubbing|purging|dropping|clearing|discarding|striking|losing|binning|"
    r"scrapping|getting rid of|letting go of|throwing out|taking)"
)

_MIND: Final = (
    r"(?:remember(?:ing)?|stor(?:e|ing)|retain(?:ing)?|record(?:ing)?|memori[sz](?:e|ing)|h(?:old|"
    r"ang)(?:ing)? on ?to|"
    r"recall(?:ing)?|know(?:ing)?|keep(?:ing)? (?:track|(?:a )?records?|tabs|notes?)(?: of| on)|bring(?:ing)? up)"
)

_HOLD: Final = (
    r"(?:keep(?:ing)?|sav(?:e|ing)|hold(?:ing)?|hav(?:e|ing)|not(?:e|ing)|log(?:ging)?|track(?:ing)?|mention(?:ing)?)"
)

_KEEP: Final = rf"(?:{_MIND}|{_HOLD})"

_KEPT: Final = (
    r"(?:kept|stored|saved|remembered|retained|recorded|memori[sz]ed|noted|logged|written down|on file|on record)"
)

_GONE: Final = (
    r"(?:deleted|erased|forgotten|removed|wiped|scrubbed|purged|dropped|discarded|expunged|redacted|cleared|struck|"
    r"scrapped|gone|thrown (?:out|away)|taken (?:out|off)|let go)"
)

_LET: Final = (
    r"(?:(?:please|pls|plz|kindly|just|also|now|then|so|and|but|ok|okay|hey|hi|oh|oops|ugh|no|yes|right|well|"
    r"actually|"
    rf"it(?:'d| would) be (?:great|better|best|good|nice|kind) if {_YOU}(?: (?:could|would))?|"
    r"maybe|perhaps|completely|permanently|quickly|simply|fully|instead|go ahead and|feel free to|be sure to|"
    rf"make sure (?:to|you)|do me a favou?r(?: and)?|(?:can|could|would|will|can't|couldn't|won't|may) (?:{_YOU}|"
    rf"i ask {_YOU} to)|"
    r"@?(?:assistant|bot|ai)|you know what|time to|sorry|thanks|thank you|in fact|better|best|"
    rf"{_YOU} (?:can|could|may|might|should|must|need to|have to|ought to|are (?:free|welcome) to|'d better)|"
    r"(?:i|we)(?:'d| would|'m| am| do)? ?(?:really |much |only )?(?:want|need|like|love|prefer|ask|asking|beg|"
    rf"appreciate it if|be (?:glad|grateful|happy) if)(?: for)? ?(?:{_YOU})?(?: (?:to|could|would))?)[ ,:]+){{0,6}}"
)

_START: Final = rf"(?:^|[,;:.!?…–—-] ?|\band (?=please|also|then|just|{_FORGET}\b))[\"' ]?{_LET}"

_PLACE: Final = (
    rf"(?:\byour (?:own |whole |entire |long[- ]term |little )?(?:memory|memories|mind|head|brain|records?|notes?|"
    rf"notebook|storage|database|profile|recollection|knowledge|system|archive|logs?|books?)\b"
    rf"|\b(?:from|out of|off|in) (?:(?:the|its|all|any|long[- ]term|routine|accessible|working|shared|active|"
    rf"group|chat|"
    rf"case|household) ){{0,3}}memory\b(?! (?:card|stick|foam|of|lane))"
    rf"|\b(?:what|whatever|everything|anything|all|things?|stuff|info|information|data|details?|"
    rf"records?|notes|traces?|bits?)(?: that| which)? {_YOU}(?:'ve| have|'d| had)? ?(?:got )?(?:\w+ )?"
    rf"(?:know|knows|have|remember|hold|keep|kept|store|stored|save|saved|got|noted|recorded|logged|learned|"
    rf"learnt|on)\b"
    rf"|\b{_YOU}(?:'ve| have)? ?(?:got |have )?(?:{_KEPT}|know|remember|store|keep|hold|have) (?:on|about|of|for) "
    rf"|\b{_YOU}(?:'ve| have)? (?:got )?(?:{_KEPT})\b|\b{_KEPT} (?:about|on) (?:me|us)\b"
    rf"|\b(?:on|about) me (?:in|on) (?:here|file|record)\b|\bmy (?:personal )?memories\b)"
)
"""Names of the assistant's memory, and of what it keeps."""

_BARE: Final = lazy_regex(
    rf"{_START}(?:retire and )?(?:{_VERB}|{_SPLIT_VERB}|{_FORGET}|(?:stop|quit) {_KEEP}|retire)\b"
    rf"|\b(?:should|must|can|needs? to|has to) (?:now |please )?be (?:(?:treated|considered|regarded|"
    rf"marked) as )?{_GONE}\b"
    rf"|\b(?:should|must) (?:not|no longer) be (?:recalled|{_KEPT})\b"
)

_FOREIGN: Final = lazy_regex(
    r"\b(?:from|out of|off|in) (?:the|my|our|his|her|their|this|that|these|those|an?|every|all)\b(?! (?:records?|"
    r"memory|memories|(?:first|second|last|same) place)\b)(?! [\w' -]{1,30}(?:i|we) (?:told|said|mentioned))"
)
"""Sources other than the memory: "from the shopping list", "in the draft"."""

_NEGATED: Final = lazy_regex(
    rf"\b(?:don'?t|do not|never|didn'?t|won'?t|can'?t|cannot|shouldn'?t|wouldn'?t|never) (?:{_YOU} )?(?:ever |just |"
    rf"please |want {_YOU} to |have to |need to )*(?:{_VERB}|{_FORGET})\b"
)

_QUESTION: Final = lazy_regex(
    r"^(?:(?:and|so|but|oh|hey|ok|okay|wait|sorry|hm+),? )*(?:how|what|why|when|where|which|who|does|do|did|is|"
    r"are|was|were|has|"
    r"have|should i|can i|could i|may i|must i|am i|if)\b(?!.{0,60}\b(?:i|we)(?:'ve| have)? (?:just |"
    r"ever )?(?:told|said|"
    r"mentioned|shared|gave)\b)(?!(?:ever)? ?(?:that |info )?(?:you|u)(?:'ve| have)? (?:know|have|remember|store|"
    r"save|kep?t)\w*\b.{0,60}[:,])"
    r"(?! i ask you to)"
)

_WRITING: Final = lazy_regex(
    r"\b(?:how (?:do|would|can|could|should) (?:you|i|we|one) (?:say|put|phrase|write|translate))\b|"
    r"\b(?:translate|rewrite|rephrase|paraphrase|proofread|shorten|reword)\b|"
    r"^(?:(?:please|can you|could you|help me|ok|now|and)[ ,]+)*(?:write|draft|compose|reply|text|tell|message|"
    r"email|send|"
    r"quote|answer)\b.{0,60}(?::|\bthat\b|\bsaying\b|\bto\b)|"
    r"\b(?:in|for) (?:my|the|this|a|chapter|scene|act) ?(?:\w+ )?(?:novel|story|script|poem|essay|song|chapter|"
    r"scene|play|code|"
    r"function|query|spreadsheet|one|two|three|four|five|\d+)\b"
)

_COMMAND: Final = lazy_regex(
    rf"\b(?:{_VERB}|{_FORGET})\b|\b(?:deleted|erased|forgotten|removed)\b|{_KEEP}\b.{{0,20}}(?:\bnot|n't)\b"
)

_FRAME: Final = lazy_regex(
    rf"\b(?:{_VERB}|{_FORGET}|{_ING})\b(?: about)?|(?:^|[,;:.!?…–—-] ?|\b(?:and|to|mind|you|please|just|can|about|"
    rf"i) )(?:please )?(?:{_VERB}|take|throw|"
    rf"strike|cut|get|{_FORGET}|"
    rf"{_ING}|stop|quit|(?:do not|don'?t|no longer|not) {_KEEP})\b(?: about)?|\b(?:pretend|"
    rf"as if) {_YOU} never heard\b"
    rf"|(?:\b(?:from|out of|off|in) )?{_PLACE}|\b(?:that |which )?(?:i|we)(?:'ve| have|'d|"
    rf" had)? (?:shouldn'?t (?:have|of) )?(?:\w+ )?"
    rf"(?:told|said to|mentioned|shared|gave|said|given)(?: to)?(?: {_YOU})?\b(?: about| regarding)?|"
    rf"\bi (?:don'?t|do not|no longer) "
    rf"want {_YOU} (?:to )?{_KEEP}\b|\b(?:everything|anything|whatever|all of it|all|any ?more|please|pls|plz|"
    rf"kindly|gone|be {_GONE}|"
    rf"{_KEEP}|(?:can|should|could|may) (?:be|go)|thing|the (?:bit|part|stuff|fact)(?: about| that)?|(?:could|can|"
    rf"would) {_YOU}|"
    rf"bring it up|never|want it|hold on|lol|mind|hey|quick\w*|cleanup|make sure|ensure|so|{_KEPT}|with {_YOU}|"
    rf"\w+n't|something|knew(?: about)?|(?:it)?'?d be better if|sit easier with me if|(?:i )?(?:would|"
    rf"should) be (?:most )?grateful if|simply|i'd (?:rather|prefer|feel better if)|{_YOU}|in fact|"
    rf"do me a favou?r|it|that)\b"
)

_ACT: Final = lazy_regex(
    rf"\b(?:{_VERB}|{_SPLIT_VERB}|{_FORGET}|{_ING}|{_GONE})\b|(?:n't|\b(?:not|no longer|never|stop|quit|"
    rf"less))\b.{{0,12}}\b(?:{_KEEP}|{_KEPT}|knew)\b|(?:n't|\bnot)\b.{{0,24}}{_KEPT}"
)


FORGETTING: Final = Forgetting(
    text=ForgetText(
        next_statement=lazy_regex(
            r"(?<=\w)(?:,(?=\s)|,?\s(?=and\s)|,?\s(?=but\s)|;)(?=\s?(?:(?:and|but)\s)?(?:my|our|his|her|their|the|"
            r"[A-Z][a-z]+'s) (?:[\w'-]+ ){1,4}(?:is|are|was|were) )"
        ),
        clause_end=lazy_regex(
            r"\b(?:now that|because|since|but|although|though|while)(?=\s)|\band(?= (?:just |only |"
            r"please )?(?:keep|retain|use|rely|leave|remember|do not|don't|never|stop)\b)|\bas(?= (?:the|it|we|"
            r"I)\b)"
        ),
        stops=frozenset(
            "the a an my our your his her its their this that these those and or but to of from at in on by for "
            "with as is are was were be been has have had will should must can now too also well again already "
            "just please it any all so because once after since until before while when if than then there here "
            "no not only".split()
        ),
        telling=frozenset(
            "job school money dad mom mum mother father brother sister son daughter wife husband grandma grandpa "
            "grandmother grandfather aunt uncle cousin nephew niece boss neighbor house apartment car dog cat "
            "doctor church baby girl boy boyfriend girlfriend parents kid kids team".split()
        ),
        framing=frozenset(
            "delet eras forget remov wipe scrub purg dump scrap strike drop discard redact clear keep kept store "
            "save rememb retain memori record hold hang thing bit stuff part old new former previous earlier "
            "current exact piec detail inform data entri pleas tell told said say mention talk know longer anymor "
            "need rather sure make want like get rid take let just last now one still ever noth someth someon "
            "somebodi assist list note messag chat".split()
        ),
    ),
    wording=ForgetWording(
        bare=_BARE,
        foreign=_FOREIGN,
        negated=_NEGATED,
        question=_QUESTION,
        writing=_WRITING,
        command=_COMMAND,
        frame=_FRAME,
        act=_ACT,
        memory_source=lazy_regex(rf"(?:from|out of|off|in) {_PLACE}|{_PLACE}"),
        source=lazy_regex(rf"\b(?:from|out of|off|in|among) {_PLACE}"),
    ),
    asking=ForgetAsking(
        of_value=lazy_regex(
            r"\b(?:code|pin|password|passcode|passphrase|phrase|token|credential|badge|key|number|amount|figure|"
            r"minute|location|point|label|wording|mapping|address|layer)s?\b.{0,60}\d|\b(?:exact|old|older|earlier|"
            r"retired|previous)\b.{0,60}\b(?:code|pin|password|passcode|passphrase|phrase|token|credential|badge|"
            r"number|amount|figure|minute|location|point|label|wording|mapping|address|layer)\b"
        ),
        former=lazy_regex(
            r"\b(?:old|older|earlier|former|previous|previously|retired|obsolete|superseded|replaced|revised|stale|"
            r"no longer|used to|do not answer|do not use|don't use|ignore)\b"
        ),
        declared=lazy_regex(
            r"\b(?:is|are|was|were|am|i'm|been|being|remains?|stays?|stay|now|logged|marked|confirmed|also|"
            r"as) (?:being |now |already |also |as |fully )?(?:(?:deleted|erased|forgotten|removed|wiped|scrubbed|"
            r"purged|dropped|discarded|expunged|redacted|gone|cleared|taken out|struck|dumped|scrapped)|deleting|"
            r"removing|erasing|retiring|wiping|purging)\b|^(?:\w+[:.,] )?(?:deleted|erased|forgotten|removed|wiped|"
            r"scrubbed|purged|dropped|discarded|expunged|redacted|gone|cleared|taken out|struck|dumped|scrapped) |"
            r"\b(?:deletion|removal) of\b|\b(?:logged|noted|saved|done|reminder|"
            r"note)\b.{0,20}: (?:the )?(?:\w+ ){0,3}(?:deleted|erased|forgotten|removed|wiped|scrubbed|purged|dropped|"
            r"discarded|expunged|redacted|gone|cleared|taken out|struck|dumped|scrapped)\b"
        ),
        undone=lazy_regex(
            r"\b(?:once|when|after|if|until|unless|before|may|might|could|would|should|will|not|never|n't|no|nothing|"
            r"whether|soon|later|prepar\w+|going to|who|how)\b|\?\s*$"
        ),
        agrees=lazy_regex(
            r"^(?:\W*)(?:confirmed|acknowledged|agreed)\b|\bdeletion request (?:acknowledged|logged|confirmed)|"
            r"\brequest (?:acknowledged|logged|confirmed)|\b(?:is|are|was|were|has been|"
            r"have been) (?:now )?(?:deleted|erased|forgotten|removed|wiped|scrubbed|purged|dropped|discarded|"
            r"expunged|redacted|gone|cleared|taken out|struck|dumped|scrapped) from\b"
        ),
    ),
    extent=ForgetExtent(
        everything=lazy_regex(
            r"\b(?:everything|anything|all(?: of (?:it|that|this))?|every(?: single)? (?:word|thing|message|"
            r"bit))\b.{0,24}\b(?:i|i've|we|we've)\b.{0,14}\b(?:told|said|shared|written|wrote|mentioned|typed|talked|"
            r"discussed|ever)\b|\b(?:everything|anything|all(?: of)?(?: the)?(?: (?:data|info\w*|"
            r"memor\w+))?) (?:you(?:'ve| have| know| got| hold| remember| stored| saved)?.{0,12} )?(?:about|on|"
            r"of) (?:me|us|myself)\b|\bclean slate\b|\bnothing (?:i|i've|that i)\b.{0,40}\b(?:kept|stored|saved|"
            r"remembered|retained|stay|remain)|\bforget (?:about )?me\b|\ball (?:of )?my (?:data|memories|messages|"
            r"information|info|details|stuff)\b|\bwipe (?:your|the|my|its|all|everything|it all)(?: (?:whole|"
            r"entire))?(?: (?:memory|memories|slate))?\b(?! (?:down|off))|\b(?:your|the) (?:whole|entire) memory\b|"
            r"\b(?:delete|erase|forget|purge|clear|remove|wipe|scrub) (?:absolutely |literally |simply |"
            r"just )?(?:everything|it all|the lot|all of it)(?=\s*(?:[.!,;]|$|please|from|now|in here|here|you))|"
            r"\bnone of what i\b|\bnot a (?:single )?word\b|\bever (?:told you|said to you)\b.{0,30}\b(?:gone|deleted|"
            r"erased)\b"
        ),
        someone_else=lazy_regex(
            r"\b(?:about|on|regarding|concerning|of) (?:him|her|them|my \w+|our \w+|the \w+|that \w+|"
            r"this \w+)\b(?! memory)|\b(?!i\b|i've\b)\w+ (?:has )?(?:told|said to) you about me\b"
        ),
        all_about=lazy_regex(
            r"\b(?:everything|anything|all|whatever|any(?:\s+and all)?|every (?:trace|mention|bit|detail|thing)|"
            r"(?:all )?traces?|the lot)\b.{0,50}\b(?:about|on|of|regarding|concerning|related to|mentioning|involving|"
            r"to do with|with)\b|\bwhatever \w+ (?:has )?(?:told|said)\b|\b(?:take|cut|wipe|scrub|get|leave|write|"
            r"strike|erase|delete|remove|forget|purge|drop) (?:him|her|them)\b(?! (?:a|the|to|off|home|some)\b)|"
            r"\b(?:run into|come across|be reminded of|hear of|see) [\w' -]{2,40}? (?:in here|here|with you|"
            r"from you) (?:ever )?again\b|\b(?:everything|anything|all|every \w+)\b.{0,30}\b(?:he|she|they|him|her|"
            r"them)\b"
        ),
        last=lazy_regex(
            r"\b(?:i|we) (?:have |'ve )?just (?:said|told|wrote|mentioned|shared|sent|typed|let slip|blurted|"
            r"confessed)\b|\bwhat i just\b|\b(?:that|the|my) (?:very )?last (?:bit|thing|message|part|sentence|line|"
            r"remark|comment|one|statement|piece)\b|\bmy (?:previous|last) \w+\b|\bthat bit\b|\b(?:said|told you|"
            r"mentioned|sent|wrote) (?:a (?:moment|minute|second) ago|just now|(?:right )?before this)\b|"
            r"\bthat (?:\w+ ){0,2}(?:remark|comment|confession|outburst|rant|slip|joke|sentence|"
            r"message)\b(?! (?:about|on|of)\b)"
        ),
        about_self=lazy_regex(r"\b(?:told|said|wrote|mentioned|shared|have|got|know|says?)\b.{0,30}\babout me\b"),
        keeps=lazy_regex(
            r"(?<!-)\b(?:keep|leave|retain|only|new|newer|newest|now|currently|current|remains?|instead|replace[sd]?|"
            r"from today|use|stays?|rely|active|approved|switched to|changed to|the right one|correct one|it's|"
            r"is enough|can stay)\b"
        ),
        no_longer=lazy_regex(r"\b(?:is|are|was|were) (?:no longer|not) (?:active|current|valid|needed|used|in use)\b"),
        not_kept=lazy_regex(
            r"(?:\bnot|n't|\bno|\bnever|\bstop)\b.{0,20}\b(?:keep|kept|stor|sav|remember|retain|hold|hang|have|know|"
            r"knew|recall|log|note)"
        ),
        stays=lazy_regex(
            r"^(?:and |but |just |please |only )*(?:keep|leave|retain|use|rely|remember)\b|\b(?:remains?|stays?|"
            r"should remain|can stay|is enough)\b"
        ),
        unsaid=lazy_regex(
            r"\b(?:no one|nobody|none|not|never|n't|cannot|without|no)\b.{0,40}\b(?:recall\w*|confirm\w*|reus\w+|"
            r"repeat\w*|restor\w+|reconstruct\w*|retriev\w+|recover\w*|retain\w*|keep|kept|answer\w*|reveal\w*|"
            r"surfac\w+|hint\w*|mention\w*|stor\w+|us(?:e|ed)|longer|active|valid|current)\b|\bunavailable\b"
        ),
    ),
    described=ForgetDescribed(
        stays=lazy_regex(r"\b(?:keep|leave|retain|stays?|remain|need)\b"),
        upon_it=lazy_regex(
            r"\b(?:want|have|rid of|\w*(?:delet|eras|forget|remov|wip|los|drop|keep|stor|learn|strik|clear|discard|"
            r"bring)\w*|on to) (?:it|that|this|them|those)\b"
        ),
        tells=lazy_regex(r"\b(?:told|said|mentioned|shared|gave)\b"),
        goes_on=lazy_regex(r"(?:the|my|our|both|especially|including|also|and) "),
        joined=lazy_regex(r"\band(?: also)?\b(?= (?:my|our|the|his|her|their)\b)"),
        pronoun=lazy_regex(r"(?:and |but |so )?(?:he|she|they|his|her|their)\b"),
        old=lazy_regex(r"\b(?:old|former|previous|earlier|outdated|expired|first|original|retired|last year's)\b"),
        was=lazy_regex(r"\b(?:used to|was|were|old|former|previous|until|last year|originally|at first|back then)\b"),
        is_now=lazy_regex(r"\b(?:now|since|new|instead|these days|currently|switch\w+|moving|moved|next)\b"),
    ),
    roles=(
        r"mother|father|brother|sister|son|daughter|wife|husband|partner|grandmother|grandfather|aunt|uncle|"
        r"cousin|nephew|niece|parents|child|family|boss|landlord|landlady|neighbour|friend|roommate|colleague|"
        r"teacher|therapist|doctor|dentist|lawyer|baby|team|ex|ex-\w+|\w+-in-law|mum|mom|mam|dad|grandma|nan|gran|"
        r"grandpa|boy|girl|kids|kid|children|girlfriend|boyfriend|fianc[ée]e?|mate|manager|neighbor|coworker|"
        r"flatmate|dog|cat|pet"
    ),
    synonyms={
        "mum": "mother",
        "mom": "mother",
        "mam": "mother",
        "dad": "father",
        "grandma": "grandmother",
        "nan": "grandmother",
        "gran": "grandmother",
        "grandpa": "grandfather",
        "boy": "son",
        "girl": "daughter",
        "kids": "child",
        "kid": "child",
        "children": "child",
        "girlfriend": "partner",
        "boyfriend": "partner",
        "fiancé": "partner",
        "fiancée": "partner",
        "mate": "friend",
        "manager": "boss",
        "neighbor": "neighbour",
        "coworker": "colleague",
        "flatmate": "roommate",
    },
    name=r"\b[A-Z][a-zà-ÿ]{1,30}\b",
    subjects={
        "code": (
            (
                r"\bpins?\b|pass(?:word|code|phrase|key)|\bcodes?\b|combination|\btokens?\b|credentials?|"
                r"\bwi-?fi\b|\blogin"
            ),
            r"\b(?:key|lock|alarm|gate|door) (?:number|code)",
            "",
        ),
        "phone": (
            (r"(?:phone|mobile|cell|tele|contact|work|home) ?(?:number|phone)?s?\b|\bmy number\b|\bnumber\b"),
            r"\b(?:call|text|ring|reach) me (?:at|on)\b",
            "",
        ),
        "address": (
            (
                r"address|whereabouts|\bstreet\b|house number|post ?code|zip ?code|where (?:i|we|he|she|"
                r"they) (?:live|stay)"
            ),
            (
                r"\b(?:live|lives|living|living|stay|stays|staying|moved?|is|are|we're|i'm|he's|she's) (?:at|on|"
                r"in|to) (?:flat |apartment |number |no\. |unit )?\d{1,5}\w?\b|"
                r"\b\d{1,5}\w? (?:\w+ ){1,3}(?:street|st\b|road|rd\b|lane|avenue|ave\b|court|drive|close|way|"
                r"terrace|place|square|crescent|boulevard|gardens|row|hill)|\b\d{1,4},? (?:rue|via|calle|avenida|"
                r"quai|rua|plaza|place|allée|chemin)\b|\w{1,30}(?:straße|strasse|gasse|gatan|weg|straat|laan) \d"
            ),
            "",
        ),
        "email": (
            r"e-?mail(?: address)?",
            r"@\w",
            r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}",
        ),
        "pay": (
            (
                r"salary|\bpay(?:check|cheque|slip)?\b|\bwages?\b|\bincome\b|earnings?|(?:how much|amount|"
                r"what) (?:i|we|he|she) (?:earn|make|get)|\bbonus\b"
            ),
            (
                r"\b(?:pay(?:s|ing)?|offer(?:ed|ing)?|earn(?:s|ing)?|mak(?:e|es|ing)|bring(?:ing)? in|"
                r"on) (?:me )?(?:about |around |roughly )?[$€£]?\d|\d (?:a|per) (?:year|month|week|hour|annum)"
            ),
            r"[$€£¥]\s?\d[\d,.]*\s?(?:k|m|million|thousand)?",
        ),
        "work": (
            (r"\bjob\b|\bwork\b|profession|employer|occupation|for a living"),
            (
                r"\bwork(?:s|ed|ing)? (?:as|at|for|in|on)\b|\b(?:i'm|i am|is|was|are) an? \w+(?:er|or|ist|ian|man|"
                r"ant)\b"
            ),
            "",
        ),
        "money": (
            (
                r"\bmoney\b|\bdebts?\b|\bloans?\b|\bsavings?\b|\bhow much\b|\bamount\b|\bfinanc\w+|mortgage|"
                r"\brent\b|bankrupt\w*|overdraft|credit card"
            ),
            (
                r"\bow(?:e|es|ed|ing)\b|\bborrow\w*|\blent\b|\bput \S+ (?:\S+ )?(?:\S+ )?(?:dollars|euros|pounds)|"
                r"\b(?:dollars|euros|pounds|usd|grand)\b|inherit\w*|lottery|broke\b|in the red"
            ),
            "",
        ),
        "birth": (
            (r"birth ?day|date of birth|\bdob\b|birth ?date|\bage\b|how old|when i was born"),
            r"\bborn (?:on|in)\b|years old|turn(?:ed|ing)? \d\d",
            (
                r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:st|nd|rd|"
                r"th)?(?:,? \d{4})?|\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|"
                r"nov|dec)[a-z]*(?:,? \d{4})?|\d{4}-\d{2}-\d{2}|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}"
            ),
        ),
        "identity": (
            (
                r"passport|\bid\b|\bid (?:number|card)|\bssn\b|social security|licen[sc]e|number plate|\bplate\b|"
                r"insurance number|tax (?:id|number)|member(?:ship)? (?:number|id)|(?:account|card|policy|order|"
                r"case|reference|booking|tracking|confirmation|frequent flyer) (?:number|reference|code)|"
                r"\bbooking\b|\biban\b"
            ),
            r"\bnumber is\b",
            "",
        ),
        "health": (
            (
                r"\bill(?:ness)?\b|\bsick(?:ness)?\b|diagnos\w+|\bdisease|\bhealth\b|\bmedical|medicat\w+|"
                r"\bmeds\b|\bpills?\b|depress\w+|mental|therap\w+|surger\w+|operation|pregnan\w+|miscarr\w+|"
                r"\bhiv\b|cancer|test results?|\bcondition\b|\bhospital\b|\bdoctor|anxi\w+|panic"
            ),
            (
                r"\b\w{2,30}(?:formin|pril|statin|azole|oxetine|traline|zepam|olol|sartan|cillin|mycin|gliptin)\b|"
                r"\bmg\b|bipolar|adhd|autis\w+|epilep\w+|diabet\w+|psychiatr\w+|psycholog\w+|counsell?or|"
                r"antidepress\w+|\bssri|ozempic|rehab|\bivf\b|\bexpecting\b|\b(?:weeks|months) (?:along|pregnant)|"
                r"tumou?r|chemo\w*|\bburn(?:t|ed)? ?out|breakdown|insulin|asthma|migraine|herpes|\bstd\b|"
                r"vasectomy|hysterectomy|scan|biopsy|blood pressure"
            ),
            "",
        ),
        "love": (
            (
                r"\bmarriage\b|divorc\w*|break-?up|broke up|separat\w+|\baffair|cheat\w*|relationship|love life|"
                r"\bcrush\b|\bex-?(?:husband|wife|boyfriend|girlfriend)?\b|\bdating\b|engage(?:d|ment)"
            ),
            (
                r"\b(?:left|leaving) (?:me|my (?:husband|wife))\b|seeing someone|\bsplit\b|\bkissed\b|propos\w+|"
                r"\btinder\b"
            ),
            "",
        ),
        "hunt": (
            (
                r"interview\w*|job (?:hunt|search|application|offer)|looking for (?:another|a new) job|apply\w*|"
                r"applicat\w+|quit\w*|resign\w*|leaving (?:my|the) job|job change|offer"
            ),
            (r"\brecruiter|headhunter|hand(?:ing|ed)? in my notice|new job|second round"),
            "",
        ),
        "jobless": (
            (
                r"lost (?:my|his|her|their) job|out of work|unemploy\w*|\bfired\b|laid off|layoff|suspend\w*|"
                r"\bsacked\b|redundan\w*|(?:no|without a) job"
            ),
            (r"let (?:me|him|her|them) go\b|dismiss\w*|between jobs|furlough\w*"),
            "",
        ),
        "trouble": (
            (
                r"\bthe past\b|\bmy past\b|trouble|arrest\w*|\bjail|prison|police record|criminal|\brecord\b|"
                r"wild (?:youth|years|days|phase)|embarrass\w+|(?:stupid|dumb|silly|foolish|crazy|bad) (?:thing|"
                r"stuff|stunt|mistake|story|years)s?|youth\w*|when i was young\w*|younger days|gambl\w+|"
                r"\bdrugs?\b|addict\w*|drunk\w*|drinking|alcohol\w*|shoplift\w*|skeleton"
            ),
            (
                r"convict\w*|\bcell\b|\bpolice\b|\bcocaine|\bweed\b|\bdui\b|\bstole|\bsteal|\bstolen|\bfought|"
                r"\bfight\b|expelled|kicked out|casino|poker|\bbets?\b|betting|caught|vandal\w*|crash\w*|sued|"
                r"lawsuit"
            ),
            "",
        ),
        "belief": (
            (
                r"religio\w*|\bfaith\b|church|politic\w*|\bvot(?:e|ed|ing)\b|sexual\w*|\bgay\b|lesbian|"
                r"orientation|coming out|trans\b|party member\w*"
            ),
            (
                r"convert\w*|atheist|muslim|christian|jewish|buddhis\w+|\bbi(?:sexual)?\b|queer|boyfriend|"
                r"girlfriend"
            ),
            "",
        ),
        "body": (
            (r"\bweight\b|\bheight\b|how much i weigh|\bweigh\b|dress size|bra size|shoe size"),
            r"\bweigh(?:s|ed)?\b|\b\d+ ?(?:kilos?|kg|pounds|lbs|stone)\b",
            r"\d[\d.]* ?(?:kilos?|kg|pounds|lbs|stone|cm)",
        ),
        "place": (
            (r"spare key|\bhidden\b|\bhid(?:e|es|ing)\b|\bwhere .{0,30}\b(?:is|are|keep|kept)\b"),
            r"\bunder the\b|\bbehind the\b|inside the",
            "",
        ),
        "kin": (
            (r"adopt\w+|biological (?:father|mother|parents)|half-?(?:brother|sister)|family secret"),
            r"birth (?:mother|father)|foster\w*",
            "",
        ),
    },
    money_units=r"k\b|usd|eur|gbp|dollars?|euros?|pounds?|yuan|rmb|kr(?:oner|onor)?|francs?",
)
