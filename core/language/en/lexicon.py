"""English words for comparing statements. Data."""

from __future__ import annotations

from typing import Final

from core.language.parts import Lexicon

_COMMON = """
    all fam famous biz able above absolutely accept acceptance accepted accident across action actually add added
    advice afraid afternoon again age ago agree ahead album alive alone along already alright although always amaze
    amazed amazing among amount angry another answer anymore anyone anything anyway apart appreciate appreciates
    area around arrive ask asked aspect attend attended attending available aware away awesome awful back background
    bad balance bang based basic basis beautiful beauty became become becoming begin beginning begun behind being
    belief believe believes belong beloved best better between beyond big bit black blast blessing blessed blue body
    bond bonding boost born both bottom boy boys brand bravery bright bring brings brought brown buddy build
    building built bunch busy buy buying call called calm calming came capture care careful case catch caught cause
    center central certain chance change changed changes changing chapter character chat chatting check child
    childhood children choice choose chose clear close closer code cold color colors colour colours come comes
    comfort comfortable coming common company complete completely condition confidence connect connected connection
    consider contact continue continues control conversation conversations cool cost couple courage course cover
    crazy create created creating creation creative creativity crew critical crucial current currently cute dad
    daily damage dark date dates daughter day days deal dear decide decided decision deep deeply definitely
    delicious depth describe desire detail details determination developed development did difference different
    difficult direction discover discuss discussion doing done door doubt down dream dreams during each early earth
    ease easier easy effect effort efforts either else embrace emotion emotional emotions encourage encouragement
    encouraging end ended ends energy enjoy enjoyable enjoyed enjoying enjoys enough entire epic especially
    essential etc even evening evenings event events ever everybody everyday everyone everything everywhere exact
    exactly example excellent excited excitement exciting expect experience experienced experiences explain explore
    explored exploring express expression extra eye eyes face faced fact fall families family fan fantastic far fast
    father favorite favorites favourite favourites fear feel feeling feelings feels feet fellow felt few field fight
    figure figured fill filled final finally find finding fine finish finished first fit five flow focus focused
    folk folks follow following food forever forget forgot form forward found four free freedom fresh friend
    friendly friends friendship front fulfilled fulfilling full fun funny future gain gang gave general generally
    gentle get gets getting giant gift girl girls give given gives giving glad goal goals goes going gone good
    gorgeous got grab grandma grandpa grateful gratitude great green grew group groups grow growing grown growth
    guess guidance guide guy guys half hand hands handle hang happen happened happening happens happiness happy hard
    hardest harmony hate heal healing health healthy hear heard heart heavy hello help helped helpful helping helps
    here hey high highlight highlights himself herself hit hold holding hole home honest honestly hope hopeful hopes
    hoping hot hour hours house huge hug human hundred hurt husband idea ideas image imagine impact important
    impressive improve improved improvement include included includes including incredible incredibly individual
    influence information inside inspiration inspire inspired inspires inspiring instead intense interest interested
    interesting issue issues item items job join joined joining journey joy joyful just keep keeping keeps kept key
    kick kind kinda kindness kinds knew know knowing knowledge known knows lack lady large last late lately later
    laugh laughs laughter lead leader learn learned learning least leave leaving left less lesson lessons let level
    life lifelong lifetime light lights like liked likes limit line list listen listening little lively lives living
    local long longer look looked looking looks lose loss lost lot lots love loved lovely loves loving low luck
    lucky made magic magical main major make makes making man manage managed many mark match matter matters maybe
    mean meaning meaningful means meant meet member members memorable memories memory men mention mentioned mess
    message met middle mind minds mine minute minutes mirror miss missed missing mistake mix mixed mom moment
    moments money month monthly months mood morning mornings most mother motivate motivated motivates motivating
    motivation move moved movement moving much multiple myself name named natural near nearby nearly necessary need
    needed needs negative nervous never new news next nice night nights nobody none noon normal note nothing notice
    noticed number numbers occasion off offer often okay old older once one ones only open opened opening opinion
    opportunities opportunity option options orange order ordinary original other others otherwise outcome outside
    outlet overall own pace pain pair part partner parts party pass passed passion passionate passions past path
    patience pay peace peaceful people perfect perfectly perhaps person personal perspective perspectives phone
    photo photos pic pick picked pics picture pictures piece pieces place places plan planned planning plans play
    played playing plays please pleasure plenty plus point points popular positive positivity possible power
    powerful practice pretty previous pride print private probably problem problems process productive program
    progress project projects promise proper proud purple purpose push pushed put putting quality question questions
    quick quiet quite random rare rather reach reached reaching ready real reality realize realized really reason
    reasons recent recently recommend recommendation record red refresh refreshing regular relationship
    relationships relax relaxed relaxing relief remember remind reminded reminder reminders reminds response rest
    result results return reward rewarding rich right road room rough round routine row safe said same sat save saw
    say saying says scared scary scene scent schedule second secret section see seeing seem seems seen self sense
    sent serene series serious set setback sets setting seven several shape share shared shares sharing she short
    shot show showed showing shown shows side sight sign silly similar simple simply since single sister sit site
    situation six size skill skills slow small smell smile smiles social society solid some somebody someone
    something sometimes somewhere son soon sort soul sound sounds source space speak speaking special specific spend
    spending spent spirit spirits spoke spot spread stage stand standing star start started starting starts state
    status stay stayed staying stays steady step steps sticking still stoked stop stopped story stories strange
    strength stress stressful strong stronger struggle struggled struggles stuck study stuff stunning style subject
    success successful such sudden suddenly suggest suggested suggestion sunny super support supported supporting
    supportive supports supposed sure surprise surprised surprising surrounded sweet system take taken takes taking
    talk talked talking talks taste team teach tell telling tells ten tend term terms terrible test than thank
    thankful thanks themselves therapeutic thing things think thinking thinks third thought thoughtful thoughts
    thrilled three thrilling throughout throw tight till time times timing tiny tip tips tired today together told
    tomorrow tone tonight took top topic topics total totally touch tough toward towards track tradition treasure
    treat tried trip trips trouble true trust truth try trying turn turned turning twice two type types ultimate
    understand understanding unexpected unforgettable unique unity until unwind update upset use used useful uses
    using usual usually vacation value values variety various version vibe vibes vibrant view views visit visited
    visiting voice wait waiting wake wall want wanted wanting wants warm warmth watched watching way ways wear week
    weekdays weekend weekends weekly weeks weight weird welcome welcoming well went whatever while white whole
    wicked wide wife wild will willing win wish wishes woman women won wonder wonderful word words wore work worked
    working works world worried worry worse worst worth wow wrong yeah year yearly years yellow yes yesterday yet
    young younger youth utc gmt est edt pst pdt cet cest bst ist jst zone timezone clock assistant user bot bye
    greetings hiya hi thx cheers lol haha hmm mum mommy daddy brother cousin aunt uncle grandmother grandfather
    niece nephew spring summer autumn winter season seasons seasonal midnight dawn dusk
"""
"""Words that are common in all conversations, and never make a topic."""

LEXICON: Final = Lexicon(
    stopwords=frozenset(
        "a an the and or but if of to in on at by for with from as into about than then so is am are was were "
        "be been being do does did doing have has had having will would shall should can could might i me my "
        "mine myself you your yours yourself he him his she her hers it its we us our ours they them their "
        "theirs this that these those there here what which who whom whose when where why how s t d m ll re "
        "ve don didn doesn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn not no nor too very "
        "just also yes".split()
    ),
    common=frozenset(_COMMON.split()),
    forms=(
        (r"\bcan't\b|\bcannot\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"'s\b|(?<=s)'(?!\w)", ""),
        (r"'m\b|'re\b|'ve\b|'d\b|'ll\b", ""),
        (r"\b(?:would|['’]d) like to\b|\bwants to\b", "want to"),
        (r"\b(?:along|together) with\b", "with"),
        (r"\b(?:is|are) supportive of\b", "supports"),
        (r"\b(?:is|are) (?:grateful|thankful) for\b", "appreciates"),
        (r"\b(?:is|are) passionate about\b", "loves"),
        (r"\b(?:takes?|taking) pride in\b", "is proud of"),
        (r"\bnot\b ([^,;.!?]{1,80}?) any(?: ?more|longer)\b", r"nolonger \1"),
        (r"\bany ?more\b|\bany longer\b", "nolonger"),
        (r"\bno longer\b|\bused to\b|\b(?:gave|given) up\b", "nolonger"),
        (r"\b(?:says?|said|mention(?:s|ed)?|note[sd]?|state[sd]?|shared?s?) that\b", ""),
        (r"\b(?:every|each) (?:single )?day\b", "daily"),
        (r"\b(?:every|each) week\b", "weekly"),
        (r"\b(?:every|each) month\b", "monthly"),
        (r"\b(?:every|each) year\b", "yearly"),
        (r"\bat the moment\b|\bright now\b|\bthese days\b|\bat present\b|\bas well\b|\ba lot\b", ""),
    ),
    hints=tuple(
        "'|can't|cannot|like to|wants to|along with|together with|supportive of|ful for|passionate about|"
        "pride in|used to|"
        "no longer|gave up|given up|any more|anymore|any longer| that|every|each|at the moment|right now|these days|"
        "at present|as well|a lot".split("|")
    ),
    calendar=frozenset(
        "january february march april may june july august september october november december monday tuesday "
        "wednesday "
        "thursday friday saturday sunday".split()
    ),
    number_words={
        word: str(n)
        for n, word in enumerate(
            "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
            "eighteen nineteen twenty".split(),
            2,
        )
    }
    | {w: w for w in "thirty forty fifty sixty seventy eighty ninety hundred thousand million half twice".split()},
    denials=frozenset(
        "no not never none nobody nothing neither nor without hardly nolonger stopped stops quit quits former "
        "formerly".split()
    ),
    endings=frozenset("nolonger stopped stops quit quits former formerly anymore".split()),
    links=frozenset(
        "and with at in on for by as because since while which that who where so but or of about during along".split()
    ),
    silent=frozenset(
        "really very quite truly definitely actually also too just simply currently now nowadays presently "
        "still own s".split()
    ),
    small=frozenset("in on at by with for to of about into he she his her him my your our we you".split()),
    being={
        "is": ("be", False),
        "are": ("be", False),
        "am": ("be", False),
        "was": ("be", True),
        "were": ("be", True),
        "has": ("have", False),
        "have": ("have", False),
        "had": ("have", True),
    },
    articles=frozenset("a an another one".split()),
    bound=frozenset(
        "might may could would should will shall must can maybe perhaps probably almost nearly partly only if "
        "unless until "
        "till before after against except instead than from under over between".split()
    ),
    bound_stems=frozenset(
        "want wish hope plan intend consid dream tri attempt pretend refus forget sister brother mother father son "
        "daughter cousin aunt uncl grandmoth grandfath husband wife partner boyfriend girlfriend friend boss colleagu "
        "neighbor "
        "neighbour roommat parent joke rumour rumor novel fiction claim alleg suppos".split()
    ),
    directed=frozenset("than over from to before after instead rather for by".split()),
    dislikes=frozenset("hate dislik detest loath".split()),
    irregular=dict(
        pair.split("=")
        for pair in (
            "went=go got=get took=take made=make gave=give came=come bought=buy began=begin saw=see met=meet "
            "found=find "
            "told=tell felt=feel left=leave became=become ran=run sold=sell kept=keep knew=know paid=pay spoke=speak "
            "taught=teach wrote=write drove=drive ate=eat drank=drink slept=sleep won=win lost=lose spent=spend "
            "thought=think brought=bring grew=grow held=hold sent=send sang=sing chose=choose flew=fly broke=break "
            "built=build heard=hear swam=swim rode=ride wore=wear caught=catch fell=fall stood=stand "
            "understood=understand"
        ).split()
    ),
    synonyms=(
        "like enjoy love adore",
        "live reside dwell",
        "start begin commence",
        "buy purchase",
        "child kid children",
        "mother mom mum",
        "father dad",
        "often frequently regularly usually",
        "big large",
        "help assist",
        "film movie",
        "photo photograph picture",
        "bicycle bike",
        "doctor physician",
        "happy glad",
        "grateful thankful",
        "try attempt",
        "get receive obtain",
        "hard tough difficult",
        "wonderful amazing awesome fantastic",
        "finish complete",
        "trip journey",
        "recently lately",
        "shop store",
        "important significant",
        "speak talk",
        "quickly fast",
        "relocate move",
        "work job",
    ),
    everyday=frozenset(
        """
        hello hey hiya thanks thank please okay yeah yep nope sure great good nice fine cool awesome perfect like liked
    know knew known think thought want wanted need needed needs get gets got getting going goes gone went come came make
    makes made making see saw seen say says said tell told let lets really actually maybe perhaps well much many more
    most some any every each all thing things stuff something anything nothing everything time times day days today
    tomorrow yesterday week weeks month year years help helped helps give gave given take took taken look looks looking
    find found sorry bye welcome glad happy love lot lots bit new old now then back still even only ever never always
    one two three first last next again already soon later here there because though while after before over under
    around off out can't cannot i'm i'll i've i'd it's that's don't didn't you're we're we'll let's what's use used
    using try tried trying work works worked working right wrong yes put keep kept feel felt hope hear heard talk
    ask asked name idea way ways people guy guys man agreed agree deal sounds""".split()
    ),
    pleasantries=r"hi|hello|hey|thanks?|thankyou|goodmorning|goodevening|goodnight|bye|goodbye|ok|okay|yes|no|sure|great|"
    r"please|welcome|cool|nice|you|so|much|very|alot|there|again|all|are",
)
