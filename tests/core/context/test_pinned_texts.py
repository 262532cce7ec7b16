from __future__ import annotations

from dataclasses import replace

import pytest

from core.context import formats, pinned_texts
from core.context.budget import split_limit
from core.context.packing import Packer
from core.context.reader import OwnerMaterial
from core.context.sections import SectionName
from core.errors import Invalid
from core.sessions.pinned import Pinned
from tests.core.context.inputs import COUNTER, a_long_talk, read, shown, with_order

BOT = Pinned("You are the bakery's assistant.\n\n# Rules\nBe brief.", "Sell bread.")
PACKER = Packer(COUNTER, split_limit(1000), "tea", 10)


def test_they_stand_first_and_whole_whatever_the_room() -> None:
    material = OwnerMaterial([with_order(1)], a_long_talk(), BOT)
    sheet = shown(read(material=material), limit=100)
    prompt, task = sheet.sections[:2]
    assert (prompt.part, prompt.text) == (SectionName.SYSTEM_PROMPT, BOT.system_prompt)
    assert (task.part, task.text) == (SectionName.TASK, "# Task\nSell bread.")
    assert formats.render(sheet, "text")["text"].startswith(f"{BOT.system_prompt}\n\n# Task\nSell bread.\n\n")


def test_a_context_for_nothing_more_than_the_last_message_keeps_them() -> None:
    assert OwnerMaterial([with_order(1)], a_long_talk(), BOT).bare().pinned == BOT
    assert replace(OwnerMaterial((), None, BOT)).bare() == OwnerMaterial((), None, BOT)


def test_a_prompt_that_was_a_message_names_it() -> None:
    section = pinned_texts.pinned_sections(PACKER, OwnerMaterial((), None, Pinned("Be brief.", "", "m1")))[0]
    assert section.pieces[0].source == {"type": "pinned", "name": "system_prompt", "message_id": "m1"}


def test_too_small_a_limit_is_refused_with_the_one_that_would_do() -> None:
    assert pinned_texts.pinned_tokens(PACKER, OwnerMaterial((), None), 64) == 0
    taken = pinned_texts.pinned_tokens(PACKER, OwnerMaterial((), None, BOT), 1000)
    assert pinned_texts.pinned_tokens(PACKER, OwnerMaterial((), None, BOT), taken + pinned_texts.LEAST) == taken
    with pytest.raises(Invalid, match=f"/max_tokens: .* ask for at least {taken + pinned_texts.LEAST}"):
        pinned_texts.pinned_tokens(PACKER, OwnerMaterial((), None, BOT), taken + pinned_texts.LEAST - 1)
