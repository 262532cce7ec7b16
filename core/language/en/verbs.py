"""Verb forms used for rewriting, and the adverbs that may precede verbs."""

from __future__ import annotations

ADVERBS = frozenset(
    "really just also always never usually often still currently recently actually only even already mostly sometimes "
    "finally definitely probably absolutely generally normally typically rarely hardly barely now then truly totally "
    "honestly simply mainly certainly regularly occasionally frequently personally both all basically eventually "
    "originally officially strongly especially particularly kind sort of deeply highly seriously "
    "mostly firmly strictly "
    "gladly happily proudly literally almost nearly quite soon ever too no longer".split()
)
LY_VERBS = frozenset("fly rely apply reply supply comply multiply rally bully tally".split())
UNCHANGED = frozenset(
    "will would can could should must might may shall had was did cannot ought been used went got made met took found "
    "bought won saw ran left quit wrote gave built began spent came brought lost felt thought knew "
    "told said grew became "
    "heard kept taught sold fell broke drew drove ate drank slept spoke stood sat sang swam threw "
    "understood wore held paid "
    "sent caught chose fought flew forgot led lent rode rose shot stuck struck swore tore woke "
    "rewrote redid forgave froze "
    "hid dug fed fled bent bled bred dealt dreamt leapt learnt lit meant meditated hung laid lay "
    "let put cut hit hurt set "
    "shut split spread bet cost burst cast upset rang sank blew shook sought spun swung stole sped "
    "stung strode bound clung crept overcame underwent undertook withdrew "
    "s not who whom that which and or but with in on at for to from as the a an".split()
)
PRESENT_ED = frozenset("need feed speed proceed succeed exceed breed bleed weed seed heed embed".split())
BASE_VERBS = frozenset(
    "live work love like enjoy want need have play go run study teach speak eat drink drive own use "
    "make take try plan hope "
    "prefer hate know think feel believe write paint draw cook bake dance sing swim hike travel "
    "visit help volunteer coach "
    "practice train read watch collect grow keep spend get give find see meet look start do am come bring build create "
    "design code develop manage lead sell buy save earn pay wake sleep walk ride cycle bike climb "
    "ski surf fish hunt garden "
    "knit sew listen record perform compete attend tend care worry miss value appreciate support "
    "struggle suffer dislike "
    "avoid wear wish dream believe consider commute jog meditate stretch relax rest stay remember "
    "follow share teach".split()
)
_NO_VERBS = frozenset(
    "s not who whom that which and or but with in on at for to from as the a an cut set split spread cost bet "
    "cast".split()
)
PAST = "|".join(sorted(UNCHANGED - _NO_VERBS))
"""Irregular pasts and modals, as alternatives of a pattern."""
