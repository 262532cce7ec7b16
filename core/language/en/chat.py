"""English words of chats. Data."""

from __future__ import annotations

import re
from typing import Final

from core.language.parts import Chat

CHAT: Final = Chat(
    chatter="""
        ok okay kay yes yeah yep yup no nope nah sure thanks thank thx ty cheers welcome please sorry pardon hi
        hello hey hiya yo bye goodbye cya morning afternoon evening night good great nice cool awesome amazing
        wonderful lovely fantastic perfect excellent brilliant fine well right alright true exactly absolutely
        definitely totally really indeed agree agreed wow oh ah aha hm hmm um uh haha hahaha lol lmao rofl xd
        yay ugh oops omg congrats congratulations cute sweet glad happy hope know see sound look feel think
        guess mean get got go going come like love want need make say tell talk ask let thing stuff way lot bit
        later soon again today tonight tomorrow now much many more most so too very just only still even also
        always never ever take care day one luck fun great understand welcome back anytime problem worry worries
        matter makes sense point deal idea got gotcha bro dude man guys everyone buddy friend dear test ping
    """.split(),
    minded=re.compile(
        r"^(?:no|nope|wrong|not quite),? (?:it|that|this|i|my|the|we|not)\b|"
        r"^(?:please )?(?:remember|forget|note|keep in mind|don't forget)\b|\b(?:call|address) me\b",
        re.IGNORECASE,
    ),
    personal=re.compile(
        r"\b[Mm]y (?!apolog|mistake|bad\b|pleasure|knowledge|suggest|recommend|understanding|answers?\b|repl|"
        r"notes?\b|records|memory|data\b|"
        r"training|previous|last\b|earlier|calculation|best\b|guess|advice|point|question|response|goal is|job is|"
        r"messages?\b|instructions)[a-z]+|"
        r"\b[Ww]e(?:['’](?:ve|re)| have| are| went| had| got) |\bI(?:['’]ve been|['’]m (?:a |off|from|at|on|in|"
        r"going|working|a)|(?: \w+ly| just| also)? (?:went|grew|"
        r"live|lived|work at|work as|work in|married|bought|was born|had|used to|met|moved|started|took|made|got|"
        r"tried|won|joined|painted|play|ran|"
        r"signed|decided|lost|visited|was|love|work|have a|have been|am a))\b"
    ),
    adds=re.compile(
        r"^(?:oh,? |and |yes,? |ah,? )*and\b|\balso\b|\bas well\b|\btoo(?=[,.!;]|$)|\bmeant to (?:mention|add)\b|"
        r"should(?:'ve| have) said|\b(?:forget|delete|erase|remove)\b",
        re.IGNORECASE,
    ),
    denials=("not", "isn't", "wasn't"),
    particles=(),
)
